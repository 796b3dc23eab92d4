# SPDX-License-Identifier: GPL-2.0-only
"""A simulated tapper, number for number that of examples/tap/tapper/tapper.h, where the model is
told.

All times are whole ns of one clock of the user's.
"""
from __future__ import annotations

from dataclasses import dataclass

_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class TapperParams:
    """Who taps; as struct tapper_params."""

    seed: int = 1
    interval_ns: int = 0  # 0: the distance of the first two tones
    timekeeper_sd_ns: int = 10_000_000
    motor_ns: int = 30_000_000
    motor_sd_ns: int = 5_000_000
    correction_permille: int = 250
    listen: int = 4  # tones to hear before the first tap; 0: begin at start_ns
    start_ns: int = 0


class Tapper:
    """When it taps, given the tones it hears."""

    def __init__(self, params: TapperParams) -> None:
        self.params = params
        self._state = params.seed & _MASK
        self._interval = params.interval_ns
        self._tick = None if params.listen else params.start_ns
        self._delay = params.motor_ns + self._deviate(params.motor_sd_ns)
        self._last = self._tone = 0
        self._early = False
        self.taps = self.tones = 0

    def _random(self) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def _deviate(self, sd_ns: int) -> int:
        total = -393210
        for _ in range(3):
            bits = self._random()
            total += sum(bits >> shift & 0xFFFF for shift in (0, 16, 32, 48))
        return total * sd_ns >> 16

    def next_ns(self) -> int | None:
        """When the next tap is; None: not before a tone."""
        return None if self._tick is None else self._tick + self._delay

    def _correct(self, asynchrony_ns: int) -> None:
        assert self._tick is not None
        self._tick -= asynchrony_ns * self.params.correction_permille // 1000

    def tapped(self) -> None:
        """The moment of next_ns() has come."""
        assert self._tick is not None
        self._last = self._tick + self._delay
        self.taps += 1
        self._tick += self._interval + self._deviate(self.params.timekeeper_sd_ns)
        if self._early:
            self._correct(self._last - self._tone)
        self._early = False
        self._delay = self.params.motor_ns + self._deviate(self.params.motor_sd_ns)

    def heard(self, now_ns: int) -> None:
        """A tone sounded."""
        before, self._tone = self._tone, now_ns
        self.tones += 1
        if not self._interval and self.tones == 2:
            self._interval = now_ns - before
        coming = self.next_ns()
        if self._tick is None or coming is None:
            if self.tones >= self.params.listen and self._interval:
                self._tick = now_ns + self._interval - self.params.motor_ns
        elif self.taps and now_ns - self._last <= coming - now_ns:
            self._correct(self._last - now_ns)
        else:
            self._early = True
