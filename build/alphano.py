"""`quartet pack alphano GAME`: one Python file, with the compiled core and the weights in it as
text.

It is the bundle of `build/nypc.py` with the data inside, compressed by zlib, which no Python is
without, and written in base85. As there is no file to be opened in place, the core is copied into
memory (memfd) first. To save room it has two levels of processor, not three.
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
"""Characters of a line of data."""


def make(game: str, out: Path, limit: int | None = None) -> Path:
    """Write GAME.py into `out`; warns on stderr when it has more than `limit` bytes. Raises
    QuartetError."""
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
    """Put the file into a folder."""
    shutil.copy(artefact, folder)
    return [python or bundle.PYTHON, artefact.name]
