# SPDX-License-Identifier: GPL-2.0
import sys

from tactus.cli import main

sys.exit(main())
