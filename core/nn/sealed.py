"""Sealed files of weights and samples: a text header that describes them and their origin, then
binary data.

    quartet KIND 1
    game GAME                 and more lines NAME VALUE: shape, seed, hash of the data, command
    bytes 373508              length of the body
    crc32 0123abcd            of all bytes before this line, and of the body
                              an empty line, then the body

`head FILE` shows the origin of a file. Agents read it with almost no imports.
"""

from __future__ import annotations

import zlib

from core.errors import TextError
from core.resource import resource

__all__ = ["resource", "seal", "unseal"]


def seal(kind: str, fields: dict[str, str], body: bytes) -> bytes:
    """Return a file of this kind with these fields and this body. Raises TextError if a field has
    several lines."""
    lines = [
        f"quartet {kind} 1",
        *(f"{name} {value}" for name, value in {**fields, "bytes": str(len(body))}.items()),
    ]
    for line in lines:
        if "\n" in line:
            raise TextError(f"a field of a file of {kind} is one line: {line[:60]!r}")
    head = "".join(line + "\n" for line in lines).encode()
    return head + f"crc32 {zlib.crc32(body, zlib.crc32(head)):08x}\n\n".encode() + body


def unseal(kind: str, data: bytes, game: str) -> tuple[dict[str, str], bytes]:
    """Return the fields and the body of a file. Raises TextError if it is damaged, of another kind,
    or for another game."""
    head, _, body = data.partition(b"\n\n")
    lines = head.decode("utf-8", "replace").split("\n")
    if lines[0] != f"quartet {kind} 1":
        raise TextError(
            f"this is no file of {kind}: it begins with {data[:20]!r}, not with 'quartet {kind} 1'"
        )
    fields = dict(line.partition(" ")[::2] for line in lines[1:])
    if fields.get("bytes") != str(len(body)):
        raise TextError(
            f"the file of {kind} is damaged: {len(body)} bytes after the text instead of "
            f"{fields.get('bytes')}"
        )
    before = head[: head.rfind(b"\n") + 1]
    if lines[-1] != f"crc32 {zlib.crc32(body, zlib.crc32(before)):08x}":
        raise TextError(f"the file of {kind} is damaged: its checksum is wrong")
    if fields.get("game") != game:
        raise TextError(f"the file of {kind} is for {fields.get('game')!r}, not for {game!r}")
    return fields, body
