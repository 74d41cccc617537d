"""Files of weights: a few lines of text that say what they are and where they come from, then the numbers, as the game lays them out.

    quartet weights 1
    game GAME                 and so on, a name and a value a line: the shape, the seed, the data's hash, the command
    bytes 373376              of the numbers
    crc32 0123abcd            of every byte before this line and of the numbers
                              an empty line, then the numbers

`head` shows where a file comes from. An agent reads it without numpy and without parsing what it does not need.
"""

from __future__ import annotations

import zlib

from core.errors import TextError

MAGIC = "quartet weights 1"


def pack(fields: dict[str, str], numbers: bytes) -> bytes:
    """The file that holds these fields and numbers. Raises TextError where a field cannot be a line."""
    lines = [MAGIC, *(f"{name} {value}" for name, value in {**fields, "bytes": str(len(numbers))}.items())]
    for line in lines:
        if "\n" in line:
            raise TextError(f"a field of a file of weights is one line: {line[:60]!r}")
    head = "".join(line + "\n" for line in lines).encode()
    return head + f"crc32 {zlib.crc32(numbers, zlib.crc32(head)):08x}\n\n".encode() + numbers


def unpack(data: bytes, game: str) -> tuple[dict[str, str], bytes]:
    """The fields of a file and its numbers. Raises TextError where it is no such file, damaged, or another game's."""
    head, _, numbers = data.partition(b"\n\n")
    lines = head.decode("utf-8", "replace").split("\n")
    if lines[0] != MAGIC:
        raise TextError(f"this is no file of weights: it begins with {data[: len(MAGIC)]!r}, not with {MAGIC!r}")
    fields = dict(line.partition(" ")[::2] for line in lines[1:])
    checked = head[: head.rfind(b"\n") + 1]
    if fields.get("bytes") != str(len(numbers)):
        raise TextError(f"the file of weights is damaged: {len(numbers)} bytes of numbers instead of {fields.get('bytes')}")
    if lines[-1] != f"crc32 {zlib.crc32(numbers, zlib.crc32(checked)):08x}":
        raise TextError("the file of weights is damaged: its checksum is wrong")
    if fields.get("game") != game:
        raise TextError(f"the weights are for {fields.get('game')!r}, not for {game!r}")
    return fields, numbers
