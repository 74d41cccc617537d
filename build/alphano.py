"""`quartet pack alphano GAME`: one Python file that contains the compiled core and the weights as
text.

It is the bundle of `build/nypc.py` with the data inside, compressed by zlib and written in base85.
Since there is no file to open in place, the core is copied into memory (memfd) first. To save space
it has two processor levels, not three.
"""

from __future__ import annotations

import base64
import shutil
import sys
import zlib
from pathlib import Path

from build import bundle

LEVELS = ("v3", "v2")
VARIANTS = bundle.variants(LEVELS)
WIDTH = 120
"""Characters per line of data."""


def make(game: str, out: Path, limit: int | None = None) -> Path:
    """Write GAME.py into `out` and return it. Warns on stderr if it has more than `limit` bytes.
    Raises QuartetError."""
    made = bundle.make(game, LEVELS)
    data = base64.b85encode(zlib.compress(made.data, 9)).decode() if made.data else None
    lines = (
        None if data is None else "\n".join(data[i : i + WIDTH] for i in range(0, len(data), WIDTH))
    )
    text = bundle.text(made, embedded=lines).encode()
    file = out / f"{game}.py"
    file.write_bytes(text)
    print(
        f"{file.name}: {len(text):,} bytes, of which {len(data or ''):,} are {len(made.data):,} "
        "bytes of core and weights",
        file=sys.stderr,
    )
    if limit is not None and len(text) > limit:
        print(f"quartet: warning: that is more than {limit:,} bytes", file=sys.stderr)
    return file


def start(artefact: Path, folder: Path, python: str | None = None) -> list[str]:
    """Copy the file into a folder and return the command that starts it."""
    shutil.copy(artefact, folder)
    return [python or bundle.PYTHON, artefact.name]
