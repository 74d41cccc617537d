"""`quartet pack alphano GAME`: one Python file, with the compiled core and the weights in it as text.

`build/loader.py` says how the core is found, and what happens without it; what an agent must keep to stands in build/nypc.py.
"""

from __future__ import annotations

import shutil
import sys
import zlib
from base64 import b85encode
from pathlib import Path

from build import bundle

MAIN = "main.py"
VARIANTS = bundle.variants()
LINE = 120
"""Characters; editors and web forms do not like longer ones."""


def make(game: str, out: Path, *, limit: int | None = None) -> Path:
    """Write main.py into `out`, and warn where it has more than `limit` bytes. Raises QuartetError."""
    made = bundle.make(game)
    content = bundle.text(made, embedded=embed(made.data)).encode()
    artefact = out / MAIN
    artefact.write_bytes(content)
    print(f"{MAIN}: {len(content):,} bytes, of which {len(made.data):,} bytes of core and weights, compressed", file=sys.stderr)
    if limit is not None and len(content) > limit:
        print(f"quartet: warning: {MAIN} has {len(content):,} bytes, more than {limit:,}", file=sys.stderr)
    return artefact


def embed(data: bytes) -> str:
    """The data as text that stands between quotation marks: base85 needs neither them nor backslashes."""
    text = b85encode(zlib.compress(data, 9)).decode("ascii")
    return "\n".join(text[begin : begin + LINE] for begin in range(0, len(text), LINE))


def start(artefact: Path, folder: Path) -> list[str]:
    """Put the file into a folder, and start it as the judge does."""
    shutil.copy(artefact, folder)
    return [bundle.PYTHON, artefact.name]
