# SPDX-License-Identifier: GPL-2.0-only
"""What a trial does, computed the slow way: from docs/tap-language.md, without its code.

One list of everything that will happen, searched for its earliest again and again. Times are ns.
"""
from __future__ import annotations

from dataclasses import dataclass, field

MS = 10**6
HOUR = 3600 * 1000 * MS
MASK64 = 2**64 - 1
FIRST, SECOND, MASKING = range(3)
Event = tuple[int, str, bytes]
"""when it is due, its class, its bytes (none: a silent beat)"""


def mix(x: int) -> int:
    """The output function of SplitMix64 (Steele, Lea and Flood, 2014)."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK64
    return x ^ x >> 31


@dataclass
class Note:
    """A key's answer that its release will end."""

    name: str
    press: int
    due: int
    delay: int
    channel: int
    note: int
    lmode: int
    lmul: int
    ladd: int


@dataclass
class Stream:
    """A metronome: `name` is its class, `prefix` that of its parameters."""

    name: str
    prefix: str
    on: str
    interval: str
    beat: int = 0
    last: int = 0
    next: int = 0
    shift: int = 0
    counts: bool = False


@dataclass
class Oracle:
    """One trial. `values` and `arrays` as tactus-tapfile --json has them, `triggers` as its
    rows."""

    values: dict[str, int]
    arrays: dict[str, list[int]]
    triggers: list[dict[str, object]]
    events: list[Event] = field(default_factory=list)
    fired: list[tuple[int, int]] = field(default_factory=list)
    """(when, number) of each trigger"""
    end: int | None = None

    def run(self, keys: list[tuple[int, int, int, int]], until: int) -> None:
        """`keys`: time, status, note, velocity, in order."""
        self.presses, self.held = 0, {}
        self.streams = [Stream("metronome", "MET", "METRON_ON", "MSPB"),
                        Stream("pacing", "PACE", "PACE_ON", "PACE_MSPB")]
        for stream in self.streams:
            stream.counts = bool(self.values[stream.on]) or any(
                t["param"] == stream.on or (t["type"] == "M" and stream.prefix == "MET")
                for t in self.triggers)
            stream.shift = self.values[stream.prefix + "_SHIFT"]
            self.plan(stream, 0)
        self.seed()
        self.mask = 0 if self.values["MASK_ON"] else None
        waiting = [t for t in self.triggers]
        todo = list(keys)
        while self.end is None:
            # (time, rank): a trigger before beats, beats before keys of the same time.
            moments = [(int(str(t["count"])) * MS, 0, n, t) for n, t in enumerate(waiting)
                       if t["type"] == "T"]
            moments += [(s.next, 1, n, s) for n, s in enumerate(self.streams) if s.counts and (
                not self.values[s.prefix + "_COUNT"] or
                s.beat < self.values[s.prefix + "_COUNT"])]
            if self.mask is not None:
                moments.append((self.mask, 1, 2, None))
            if todo:
                moments.append((todo[0][0], 2, 0, todo[0]))
            moments = [m for m in moments if m[0] <= until]
            if not moments:
                break
            when, rank, _, what = min(moments, key=lambda m: m[:3])
            if rank == 0:
                waiting.remove(what)
                self.fire(what, when)
            elif what is None:
                self.masking(when)
            elif rank == 1:
                self.beat(what, when)
                if what.prefix == "MET":
                    self.count("M", what.beat, when, waiting)
            else:
                todo.pop(0)
                self.key(*what)
                if what[1] & 0xF0 == 0x90 and what[3]:
                    self.count("K", self.presses, when, waiting)
        last = until if self.end is None else self.end
        self.events = sorted((e for e in self.events if e[0] <= last), key=lambda e: e[0])

    def count(self, kind: str, count: int, when: int, waiting: list[dict[str, object]]) -> None:
        for t in [t for t in waiting if t["type"] == kind and t["count"] == count]:
            waiting.remove(t)
            if self.end is None:
                self.fire(t, when)

    def fire(self, trigger: dict[str, object], when: int) -> None:
        self.fired.append((when, int(str(trigger["number"]))))
        name, value = str(trigger["param"]), int(str(trigger["value"]))
        if name == "END_EXP":
            self.end = when
            return
        self.values[name] = value
        if name == "SEED":
            self.seed()
        if name == "MASK_ON" and not value:
            self.mask = None
        elif name == "MASK_ON" and self.mask is None:
            self.mask = when
        for stream in self.streams:
            if name == stream.prefix + "_SHIFT":
                stream.shift += value
            if name in (stream.prefix + "_SHIFT", stream.interval):
                self.plan(stream, when)

    def seed(self) -> None:
        self.state = [mix((self.values["SEED"] * 3 + i + 1) & MASK64) for i in range(3)]

    def random(self, which: int, a: int, b: int) -> int:
        self.state[which] = (self.state[which] + 0x9E3779B97F4A7C15) & MASK64
        return min(a, b) + (mix(self.state[which]) * (abs(b - a) + 1) >> 64)

    def masking(self, when: int) -> None:
        of = {k[5:]: v for k, v in self.values.items() if k.startswith("MASK_")}
        note = self.random(MASKING, of["NMIN"], of["NMAX"])
        self.events.append((when, "masking", bytes([0x8F + of["CHAN"], note, of["VEL"]])))
        self.events.append((when + of["LEN"], "masking", bytes([0x7F + of["CHAN"], note, 0])))
        self.mask = when + of["MSPT"]

    def plan(self, s: Stream, least: int) -> None:
        ahead = self.values[s.interval] if s.beat else self.values[s.prefix + "_DELAY"]
        s.next = max(least, s.last + ahead + s.shift)

    def element(self, stream: Stream, array: str, usual: int) -> int:
        values = self.arrays[f"{stream.prefix}_{array}_ARRAY"]
        return values[(stream.beat - 1) % len(values)] if values else usual

    def beat(self, s: Stream, when: int) -> None:
        s.beat, s.last, s.shift = s.beat + 1, when, 0
        self.plan(s, when)
        if not (self.values[s.on] and self.element(s, "PATTERN", 1)):
            self.events.append((when, s.name, b""))
            return
        of = self.values
        channel = self.element(s, "CHAN", of[s.prefix + "_CHAN"]) - 1
        note = self.element(s, "NOTE", of[s.prefix + "_NOTE"])
        loud = self.element(s, "VEL", of[s.prefix + "_VEL"])
        self.events.append((when, s.name, bytes([0x90 | channel, note, loud])))
        self.events.append((when + of[s.prefix + "_LEN"], s.name, bytes([0x80 | channel, note, 0])))

    def key(self, when: int, status: int, note: int, velocity: int) -> None:
        channel, down = status & 15, status & 0xF0 == 0x90 and velocity > 0
        self.presses += down
        for name in ("FEED", "FEED2"):
            held = self.held.pop((name, channel, note), None)
            if held:
                self.release(held, when)
            if down and self.answers(name, note):
                self.press(name, when, channel, note, velocity)

    def answers(self, name: str, note: int) -> bool:
        if self.values["FEED_ON"] == 3:
            return (note >= self.values["SPLIT_POINT"]) == (name == "FEED2")
        return bool(self.values[name + "_ON"])

    def press(self, name: str, when: int, channel: int, key: int, velocity: int) -> None:
        of = {k[len(name) + 1:]: v for k, v in self.values.items() if k.startswith(name + "_")}
        melody = self.arrays[name + "_NOTE_ARRAY"]
        scaled = {"P": int(key * of["PMUL"] / 100) + of["PADD"],
                  "V": int(velocity * of["VMUL"] / 100) + of["VADD"]}
        which = SECOND if name == "FEED2" else FIRST
        delay = {0: 0, 1: of["DVAL"],
                 3: min(HOUR, max(0, of["DVAL"] + min(HOUR, max(
                     -HOUR, of["DSTEP"] * (self.presses - 1)))))}.get(of["DMODE"])
        if delay is None:
            delay = self.random(which, of["DMIN"], of["DMAX"])
        note = {0: key, 1: of["NOTE"], 3: min(127, max(0, scaled["P"])),
                4: melody[(self.presses - 1) % len(melody)] if melody else key}.get(of["PMODE"])
        if note is None:
            note = self.random(which, of["PMIN"], of["PMAX"])
        loud = {0: velocity, 1: of["VEL"], 3: min(127, max(1, scaled["V"]))}.get(of["VMODE"])
        if loud is None:
            loud = self.random(which, of["VMIN"], of["VMAX"])
        length = of["LEN"] or None if of["LMODE"] == 0 else None
        if of["LMODE"] == 1:
            length = self.random(which, of["LMIN"], of["LMAX"])
        out = of["CHAN"] - 1 if of["CHAN"] else channel
        cls, due = name.lower().replace("feed", "feedback"), when + delay
        self.events.append((due, cls, bytes([0x90 | out, note, loud])))
        if length is not None:
            self.events.append((due + length, cls, bytes([0x80 | out, note, 0])))
        else:
            self.held[name, channel, key] = Note(cls, when, due, delay, out, note, of["LMODE"],
                                                 of["LMUL"], of["LADD"])

    def release(self, n: Note, when: int) -> None:
        due = when + n.delay
        if n.lmode == 2:
            length = (when - n.press) * n.lmul // 100 + n.ladd
            due = max(when, n.due + max(0, length))
        self.events.append((max(due, n.due), n.name, bytes([0x80 | n.channel, n.note, 0])))
