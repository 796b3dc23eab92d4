# SPDX-License-Identifier: GPL-2.0-only
"""The slope filter of the thesis's speaker driver, from the meaning of its samples.

The driver (Appendix B) maps each mu-law byte to a rank by ``x & 0x80 ? 382 - x : x`` and puts
out 1 when the rank has risen. This model does not use that formula: it decodes each byte
to its loudness as ITU-T G.711 defines it and asks whether the sound wave rises. Both agree
because mu-law ranks are in the order of loudness, which test_model.py checks for all pairs.

The driver starts from rank 0, the rank of byte 0x00: the deepest trough of the wave.
"""

from __future__ import annotations

from collections.abc import Iterable

_BIAS = 33
"""G.711 mu-law adds this to the magnitude (14-bit scale) before coding it."""

_FIRST_BEFORE = 0x00


def decode(code: int) -> int:
    """One G.711 mu-law byte as a 14-bit sample, -8031 to 8031."""
    if not 0 <= code <= 255:
        raise ValueError(f"not a byte: {code}")
    bits = code ^ 0xFF  # sent inverted
    segment, step = (bits >> 4) & 7, bits & 15
    magnitude = (((step << 1) + _BIAS) << segment) - _BIAS
    return -magnitude if bits & 0x80 else magnitude


def slope_bits(data: Iterable[int]) -> list[int]:
    """The speaker's bit for each byte of `data`, played from the driver's loading on."""
    bits = []
    before = decode(_FIRST_BEFORE)
    for code in data:
        level = decode(code)
        bits.append(int(level > before))
        before = level
    return bits
