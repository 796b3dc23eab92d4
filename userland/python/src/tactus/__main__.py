# SPDX-License-Identifier: GPL-2.0-only
import sys

from tactus.cli import main

sys.exit(main())
