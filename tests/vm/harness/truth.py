"""Where a kernel image's cli, sti and save_fl sites truly are: read from the image itself.

Each such site was compiled as a paravirt call with an entry in `.altinstructions` that
says which native instruction replaces it. A kernel forgets that section after boot, so a
module can only search for the result; here it is the ground truth for that search.
"""

from __future__ import annotations

import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

KINDS = {b"\xfa": "cli", b"\xfb": "sti", b"\x9c\x58": "save_fl"}

# What a bzImage's payload may be packed with: magic, command, bytes of the size behind it.
PACKERS = [
    (b"\x02\x21\x4c\x18", ["lz4", "-dc"], 4),
    (b"\x1f\x8b", ["gzip", "-dc"], 0),
    (b"\x28\xb5\x2f\xfd", ["zstd", "-dc"], 4),
    (b"\xfd7zXZ", ["xz", "-dc", "--single-stream"], 4),
]


def unpack(image: bytes) -> bytes:
    """The vmlinux inside a bzImage (boot protocol: payload_offset, payload_length)."""
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (image[0x1F1] + 1) * 512 + offset
    payload = image[start:start + length]
    for magic, command, tail in PACKERS:
        if payload.startswith(magic):
            packed = payload[:-tail] if tail else payload
            return subprocess.run(command, input=packed, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, check=False).stdout
    raise ValueError(f"unknown packing {payload[:6].hex()}")


@dataclass(frozen=True)
class Section:
    name: str
    type: int
    address: int
    offset: int
    size: int


class Elf:
    """Just enough of a 64-bit little-endian ELF file: its sections and their bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        table, = struct.unpack_from("<Q", data, 0x28)
        count, strings = struct.unpack_from("<HH", data, 0x3C)
        raw = [struct.unpack_from("<IIQQQQ", data, table + 64 * i) for i in range(count)]
        base = raw[strings][4]
        self.sections = [
            Section(data[base + name:data.index(b"\0", base + name)].decode(), type_, address,
                    offset, size)
            for name, type_, _, address, offset, size in raw
        ]

    def section(self, name: str) -> Section:
        return next(s for s in self.sections if s.name == name)

    def at(self, address: int, size: int) -> bytes:
        for s in self.sections:
            if s.type == 1 and s.address and s.address <= address < s.address + s.size:
                start = s.offset + address - s.address
                return self.data[start:start + size]
        return b""


def entries(elf: Elf) -> list[tuple[int, bytes]]:
    """(address, replacement) of each alternative. The record grew in 6.3: 12 bytes, then 14."""
    table = elf.section(".altinstructions")
    for size in (14, 12):
        found = []
        for i in range(table.size // size):
            address = table.address + i * size
            record = elf.at(address, size)
            instr, repl = struct.unpack_from("<ii", record)
            repl_len = record[-1]
            where = address + instr
            if not elf.at(where, 1) or repl_len > 64:
                break
            found.append((where, elf.at(address + 4 + repl, repl_len)))
        else:
            if table.size % size == 0:
                return found
    raise ValueError("the record size of .altinstructions is unknown")


def true_sites(vmlinuz: Path) -> dict[int, str]:
    """Address to kind of every site in the text that stays after boot (no KASLR)."""
    elf = Elf(unpack(vmlinuz.read_bytes()))
    text = elf.section(".text")
    return {
        where: KINDS[replacement]
        for where, replacement in entries(elf)
        if replacement in KINDS and text.address <= where < text.address + text.size
    }


def found_sites(text: str) -> dict[int, str]:
    """The cli, sti and save_fl that slots_list says; a cli that stays hard was found all the
    same."""
    rows = (line.split() for line in text.splitlines())
    return {
        int(row[0], 16): row[1].removesuffix("_hard")
        for row in rows
        if len(row) == 2 and row[1] in ("cli", "cli_hard", "sti", "save_fl")
    }
