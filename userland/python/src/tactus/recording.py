# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of FIFOs: what a record is made of, and the files that `tactus record` writes.

A self-describing recording is a line of JSON, then frames: a head of 16 bytes and, for data, the
bytes.

    kind u4, bytes u4, value u8      little-endian
    kind 1: data; value is when they were read (CLOCK_REALTIME, ns)
    kind 2: loss before what follows; value is how much: puts refused (bytes 0) or, with bytes 1,
            bytes overwritten
    kind 3: the FIFO was destroyed here; what follows, if anything, is of its successor
"""
from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

from tactus.errors import ToolError

CODES = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q",
         "f4": "f", "f8": "d"}
FRAME = struct.Struct("<IIQ")
DATA, LOSS, END = 1, 2, 3
HEADER_MAX_BYTES = 1 << 20
Value = int | float


@dataclass(frozen=True)
class Field:
    """One field of a record: `mv:8i2` is eight signed numbers of two bytes."""

    name: str
    type: str
    count: int = 1

    def columns(self) -> list[str]:
        return [self.name] if self.count == 1 else [f"{self.name}{n}" for n in range(self.count)]


class Fields:
    """What a record is made of: little-endian, without padding."""

    def __init__(self, fields: list[Field]) -> None:
        self.fields = fields
        self._struct = struct.Struct("<" + "".join(f"{f.count}{CODES[f.type]}" for f in fields))
        self.columns = [column for f in fields for column in f.columns()]

    @property
    def record_bytes(self) -> int:
        return self._struct.size

    def rows(self, data: bytes) -> Iterator[tuple[Value, ...]]:
        """The records in `data`, which are whole."""
        return self._struct.iter_unpack(data)

    def text(self) -> str:
        return ",".join(f"{f.name}:{f.count if f.count > 1 else ''}{f.type}" for f in self.fields)

    @classmethod
    def parse(cls, text: str) -> Fields:
        """"time_ns:u8,mv:8i2" -> two fields."""
        fields = []
        for part in text.split(","):
            name, _, kind = part.partition(":")
            count, code = kind[:-2] or "1", kind[-2:]
            if not name.isidentifier() or code not in CODES or not count.isdigit() \
                    or not 1 <= int(count) <= 4096:
                raise ToolError(f"{part!r} is not NAME:[COUNT]TYPE with a type of "
                                + " ".join(CODES), 2)
            fields.append(Field(name, code, int(count)))
        if len({field.name for field in fields}) < len(fields):
            raise ToolError("two fields have the same name", 2)
        return cls(fields)


def header(fifo: str, fields: Fields | None, record_bytes: int, began_ns: int,
           more: Mapping[str, object] | None = None) -> bytes:
    """The first line of a self-describing recording; `more` is what else it shall hold."""
    return json.dumps({"tactus_recording": 1, "fifo": fifo, "record_bytes": record_bytes,
                       "fields": fields.text() if fields else None,
                       "began_ns": began_ns, **(more or {})}).encode() + b"\n"


class Frame(NamedTuple):
    """One frame of a recording."""

    kind: int
    value: int
    data: bytes
    bytes: int


@dataclass(frozen=True)
class Recording:
    """An open self-describing recording."""

    fifo: str
    record_bytes: int
    fields: Fields | None
    began_ns: int
    told: dict[str, Any]  # the whole first line
    _file: IO[bytes]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._file.close()

    def position(self) -> int:
        """How many bytes of the file have been read."""
        return self._file.tell()

    def frames(self) -> Iterator[Frame]:
        """All frames; one that was cut short (a crash) ends them."""
        while len(head := self._file.read(FRAME.size)) == FRAME.size:
            kind, count, value = FRAME.unpack(head)
            data = self._file.read(count) if kind == DATA else b""
            if kind == DATA and len(data) < count:
                return
            yield Frame(kind, value, data, count)

    def rows(self) -> Iterator[tuple[Value, ...]]:
        """The records alone."""
        if self.fields is None:
            raise ToolError("the recording does not say what its records are made of")
        for frame in self.frames():
            yield from self.fields.rows(frame.data)


def open_recording(path: Path) -> Recording:
    """A file that `tactus record --format records` wrote."""
    file = path.open("rb")
    try:
        told = json.loads(file.readline(HEADER_MAX_BYTES))
        if told["tactus_recording"] != 1:
            raise ValueError
        fields = Fields.parse(told["fields"]) if told["fields"] else None
        return Recording(told["fifo"], told["record_bytes"], fields, told["began_ns"], told, file)
    except (ValueError, KeyError, TypeError) as problem:
        file.close()
        raise ToolError(f"{path} is not a recording") from problem
