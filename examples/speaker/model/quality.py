# SPDX-License-Identifier: GPL-2.0-only
"""How well a sound was played: the coherence signal-to-noise ratio in the telephone band.

What is linear in the original (gain, delay, a filter) counts as signal, and whatever is
not coherent with it as noise: of the power heard at each frequency the share gamma^2
(magnitude-squared coherence) is signal. Both are summed over 300 to 3400 Hz. Needs numpy and
scipy (Debian's python3-numpy, python3-scipy).
"""

from __future__ import annotations

from collections.abc import Sequence

RATE_HZ = 48_000
"""Rate at which sounds are compared."""
BAND_HZ = (300.0, 3400.0)
_WINDOW = 2048
_OVERSAMPLED = 8


def _array(levels: Sequence[float]) -> np.ndarray:  # type: ignore[name-defined] # noqa: F821
    import numpy as np

    return np.asarray(levels, float)


def to_rate(levels: Sequence[float], rate_hz: int, wanted_hz: int = RATE_HZ) -> Sequence[float]:
    """The sound at another rate, band-limited."""
    from math import gcd

    from scipy.signal import resample_poly

    common = gcd(rate_hz, wanted_hz)
    return resample_poly(_array(levels), wanted_hz // common, rate_hz // common)


def heard(edges: Sequence[Edge], start_ns: float,  # type: ignore[name-defined] # noqa: F821
          end_ns: float) -> Sequence[float]:
    """The wave of the speaker's edges (pit.py) as samples at RATE_HZ, carriers filtered out."""
    from .pit import sampled

    fast = sampled(edges, start_ns, end_ns, RATE_HZ * _OVERSAMPLED)
    return to_rate(fast, RATE_HZ * _OVERSAMPLED)


def aligned(reference: Sequence[float], sound: Sequence[float],
            most_s: float = 0.05) -> tuple[Sequence[float], Sequence[float], float]:
    """Both without their delay, equally long, and that delay in seconds (of `sound`)."""
    import numpy as np
    from scipy.signal import correlate

    x, y = _array(reference), _array(sound)
    x, y = x - x.mean(), y - y.mean()
    likeness = correlate(y, x, mode="full", method="fft")
    most = int(most_s * RATE_HZ)
    middle = len(x) - 1
    low = max(0, middle - most)
    at = int(np.argmax(np.abs(likeness[low:middle + most + 1]))) + low - middle
    x, y = (x[:], y[at:]) if at >= 0 else (x[-at:], y)
    size = min(len(x), len(y))
    return x[:size], y[:size], at / RATE_HZ


def coherence_snr_db(reference: Sequence[float], sound: Sequence[float]) -> float:
    """Signal to noise of `sound`, both at RATE_HZ; a constant delay of up to 50 ms is taken off."""
    import numpy as np
    from scipy.signal import coherence, welch

    x, y, _ = aligned(reference, sound)
    frequencies, share = coherence(x, y, fs=RATE_HZ, nperseg=_WINDOW)
    _, power = welch(y, fs=RATE_HZ, nperseg=_WINDOW)
    band = (frequencies >= BAND_HZ[0]) & (frequencies <= BAND_HZ[1])
    signal = float(np.sum(share[band] * power[band]))
    noise = float(np.sum((1 - share[band]) * power[band]))
    return 10 * float(np.log10(signal / max(noise, 1e-30)))
