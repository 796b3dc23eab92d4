# SPDX-License-Identifier: GPL-2.0-only
"""The files made of a trial: text in the manner of FTAP, BIDS events with their sidecar, and MIDI.

All are pure functions of the trial; times in them are since its start.
"""
from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from tactus.tap.records import FLAG_IN, MESSAGES, NO_SOURCE, Kind, Record
from tactus.tap.trial import Trial

NS_PER_S = 10**9
NA = "NA"  # in the text
BIDS_NA = "n/a"  # in events.tsv
MESSAGE_NAMES = {0x80: "note_off", 0x90: "note_on", 0xA0: "polytouch", 0xB0: "control_change",
                 0xC0: "program_change", 0xD0: "aftertouch", 0xE0: "pitchwheel"}


def message_name(record: Record) -> str:
    status = record.msg[0]
    return "system" if status >= 0xF0 else MESSAGE_NAMES.get(status & 0xF0, NA)


def _decimal(ns: int, unit_ns: int) -> str:
    """A whole number of ns as an exact decimal of a unit."""
    digits = len(str(unit_ns)) - 1
    whole, rest = divmod(abs(ns), unit_ns)
    return f"{'-' if ns < 0 else ''}{whole}.{rest:0{digits}}"


def seconds(ns: int) -> str:
    return _decimal(ns, NS_PER_S)


def milliseconds(ns: int) -> str:
    return _decimal(ns, 10**6)


def text(trial: Trial) -> str:
    """Every message in and out, and every trigger, a line each; ms with six decimals.

    Lines with a # come first: what was asked for, and the experiment's file.
    """
    about = trial.about
    lines = ["# Tactus tap loop, one line an event; times in ms since the start; "
             "NA: does not apply"]
    lines += [f"# {name}: {value}" for name, value in (
        ("task", about.task), ("run", about.run), ("began_ns", about.began_ns),
        ("kernel", about.kernel), ("mode", about.mode), ("port", about.port),
        ("ended by", trial.reason)) if value != ""]
    lines += [f"# config: {line}" for line in about.source.splitlines()]
    names = ("time_ms", "class", "direction", "message", "channel", "note", "velocity", "number",
             "scheduled_ms", "wire_ms", "sequence", "source")
    lines.append("\t".join(names))
    for record in trial.of(*MESSAGES, Kind.TRIGGERED):
        bits = record.message
        channel = str((bits[0] & 15) + 1) if bits and bits[0] < 0xF0 else NA
        data = [str(byte) for byte in bits[1:]] + [NA, NA]
        came = bool(record.flags & FLAG_IN)
        lines.append("\t".join((
            milliseconds(record.actual_ns), Kind(record.kind).name.lower(),
            NA if not bits else "in" if came else "out",
            message_name(record) if bits else NA, channel, data[0], data[1],
            str(record.index if record.kind == Kind.TRIGGERED else record.value),
            NA if came else milliseconds(record.scheduled_ns),
            milliseconds(record.wire_ns) if bits and not came else NA, str(record.sequence),
            NA if record.source == NO_SOURCE else str(record.source))))
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Note:
    """A press with its release, or (end None) without."""

    begin: Record
    end: Record | None


def notes(trial: Trial) -> list[Note]:
    """What sounded, by class: a release ends the oldest press of its class, channel and note.

    SILENCE, at the end, ends notes of whatever class.
    """
    open_notes: dict[tuple[int, int, int], list[Record]] = {}
    ends: dict[int, Record] = {}
    presses = []
    for record in trial.of(*MESSAGES):
        if not record.pressed and not record.released:
            continue
        place = (record.msg[0] & 15, record.msg[1])
        if record.pressed:
            presses.append(record)
            open_notes.setdefault((record.kind, *place), []).append(record)
            continue
        kinds = [kind for kind in Kind if kind != Kind.KEYSTROKE] \
            if record.kind == Kind.SILENCE else [Kind(record.kind)]
        for kind in kinds:
            waiting = open_notes.get((kind, *place))
            if waiting:
                ends[waiting.pop(0).sequence] = record
                break
    return [Note(press, ends.get(press.sequence)) for press in presses]


COLUMNS: dict[str, dict[str, object]] = {
    "onset": {"Description": "When it came in, or was handed to the port; since the start of the "
                             "trial", "Units": "s"},
    "duration": {"Description": "To the release of the same note; 0 of what is no note",
                 "Units": "s"},
    "trial_type": {"Description": "What it belongs to", "Levels": {
        "keystroke": "A key of the participant's", "input": "Another message that came in",
        "feedback": "Sent in answer to a keystroke", "feedback2": "The second answer",
        "through": "Another message, passed on", "metronome": "A beat of the metronome",
        "pacing": "A pacing tone", "masking": "A masking tone",
        "triggered": "A trigger set a parameter"}},
    "direction": {"Description": "in or out", "Levels": {"in": "Came in", "out": "Was sent"}},
    "channel": {"Description": "MIDI channel, 1 to 16"},
    "note": {"Description": "MIDI note number"},
    "velocity": {"Description": "MIDI velocity of the press"},
    "value": {"Description": "Number of the keystroke, beat or masking tone, from 1; of a trigger "
                             "what it set the parameter to"},
    "scheduled": {"Description": "When it was due", "Units": "s"},
    "lateness": {"Description": "onset minus scheduled", "Units": "s"},
    "wire": {"Description": "When its first byte began on the wire", "Units": "s"},
    "sequence": {"Description": "Number of the loop's record"},
    "source": {"Description": "Number of the record that it answers"},
}


def event_rows(trial: Trial) -> Iterator[dict[str, str]]:
    """The rows of events.tsv in the order of their onsets."""
    found: list[tuple[int, int, dict[str, str]]] = []

    def add(record: Record, duration: str, **more: str) -> None:
        row = dict.fromkeys(COLUMNS, BIDS_NA)
        row |= {"onset": seconds(record.actual_ns), "duration": duration,
                "trial_type": Kind(record.kind).name.lower(), "value": str(record.value),
                "sequence": str(record.sequence)} | more
        if record.source not in (NO_SOURCE, record.sequence):
            row["source"] = str(record.source)
        if record.message:
            row["direction"] = "in" if record.flags & FLAG_IN else "out"
            if record.msg[0] < 0xF0:
                row["channel"] = str((record.msg[0] & 15) + 1)
        if not record.flags & FLAG_IN:
            row["scheduled"] = seconds(record.scheduled_ns)
            row["lateness"] = seconds(record.actual_ns - record.scheduled_ns)
            if record.message:
                row["wire"] = seconds(record.wire_ns)
        found.append((record.actual_ns, record.sequence, row))

    for note in notes(trial):
        add(note.begin, BIDS_NA if note.end is None
            else seconds(note.end.actual_ns - note.begin.actual_ns),
            note=str(note.begin.msg[1]), velocity=str(note.begin.msg[2]))
    for record in trial.of(*MESSAGES, Kind.TRIGGERED):
        if not record.pressed and not record.released:
            add(record, seconds(0))
    yield from (row for _, _, row in sorted(found, key=lambda entry: entry[:2]))


def events_tsv(trial: Trial) -> str:
    rows = [list(COLUMNS), *(list(row.values()) for row in event_rows(trial))]
    return "".join("\t".join(row) + "\n" for row in rows)


def sidecar(trial: Trial) -> str:
    """events.json: what the columns mean, and what was asked for."""
    about = trial.about
    title = about.parameters.get("TITLE")
    return json.dumps(COLUMNS | {"TaskName": about.task} | (
        {"TaskDescription": title} if title else {}) | {
        "StimulusPresentation": {"OperatingSystem": f"Linux {about.kernel}".strip(),
                                 "SoftwareName": "Tactus tap", "SoftwareVersion": about.software},
        "Tap": asdict(about) | {"ended_by": trial.reason}}, indent=2) + "\n"


def _beat_us(trial: Trial) -> int:
    """What a quarter note of the MIDI file is: the metronome's beat if that has fine ticks."""
    beat = trial.about.parameters.get("MSPB", 0)
    us = round(beat * 1000) if isinstance(beat, (int, float)) else 0
    return us if 1000 <= us < 1 << 24 and _tick_us(us) <= us // 1000 else 500_000


def _tick_us(beat_us: int) -> int:
    """The finest tick of whole us that a beat is a whole number of, with at most 32767 of them."""
    return next(tick for tick in range(-(-beat_us // 32767), beat_us + 1) if beat_us % tick == 0)


def midi(trial: Trial) -> bytes | None:
    """A Standard MIDI File, format 1: the tempo, then a track for each class that has messages.

    A tick is a whole number of us; a message is at the tick nearest to its actual time, in exact
    order. System messages are left out: a file cannot hold them as they were. None: there is no
    mido.
    """
    try:
        import mido
    except ImportError:
        return None
    beat_us = _beat_us(trial)
    tick_ns = _tick_us(beat_us) * 1000
    file = mido.MidiFile(type=1, ticks_per_beat=beat_us * 1000 // tick_ns)
    tempo = file.add_track("tempo")
    tempo.append(mido.MetaMessage("set_tempo", tempo=beat_us))
    for kind in MESSAGES:
        messages = [record for record in trial.of(kind)
                    if record.message and record.msg[0] < 0xF0]
        if not messages:
            continue
        messages.sort(key=lambda record: (record.actual_ns, record.sequence))
        track = file.add_track(kind.name.lower())
        last = 0
        for record in messages:
            tick = max(record.actual_ns + tick_ns // 2, 0) // tick_ns
            track.append(mido.Message.from_bytes(record.message, time=tick - last))
            last = tick
    written = io.BytesIO()
    file.save(file=written)
    return written.getvalue()
