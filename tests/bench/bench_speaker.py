# SPDX-License-Identifier: GPL-2.0
"""The speaker driver: the coherence SNR of speech and the pitch of a tone in each mode, and the
punctuality of its ticks by both clocks, idle, under load and with interrupts off for 20 ms at a time.

Figures go to out/bench/speaker-{speech,tone,timing}.json.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent.parent
import speaker_quality as speaker
from measure import figures


def main() -> int:
    """Measure, print, keep, judge."""
    parser = figures.parser(__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="of timing, virtual; default 60")
    options = parser.parse_args()
    where = options.kernel, options.flavour
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch)
        return (
            figures.keep("speaker-speech", lambda: speaker.speech(out / "speech", speaker.MODES, *where),
                         speaker.table_quality, speaker.judge_quality)
            | figures.keep("speaker-tone", lambda: speaker.tone(out / "tone", speaker.MODES, *where),
                           speaker.table_tone, speaker.judge_tone)
            | figures.keep("speaker-timing", lambda: speaker.timing(
                options.seconds, kernel=where[0], flavour=where[1]),
                speaker.table_ticks, speaker.judge_ticks)
        )


if __name__ == "__main__":
    sys.exit(main())
