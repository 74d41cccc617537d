"""`quartet pack nypc GAME`: `main.py`, which is all Python of the agent, and `data.bin`, its
compiled core and weights.

The judge compiles main.py (`python3 -m py_compile main.py`) and starts `python3
__pycache__/main.cpython-312.pyc NYPC` in a folder in which data.bin lies. `build/loader.py` says
how the core is found, and what happens without it.

What a game's agent must keep to, for its bundle to play on without a core:

- `GAME/__main__.py` has `main(arguments) -> int`, the exit status. What it imports, it and all
  modules that it needs when they are imported, is plain Python; compiled modules are imported when
  they are used, inside `main` or `player`.
- Where a compiled module is missing, and nobody has asked for a player by name, it plays `greedy`
  on the reference rules: `core.agent.cli.equip` does that.
- Package data (weights) lies in `GAME/*.bin`, and a module reads what lies beside it by
  `core.nn.sealed.resource(os.path.join(os.path.dirname(__file__), "weights.bin"))`: there may be no
  such file on any disk.
- With QUARTET_NODES=N every search visits N nodes instead of looking at the clock, and with
  QUARTET_SEED nothing is left to chance: `core.agent.lines` sees to both. At equal nodes the same
      conversation must come out, on any machine; the proof compares.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from build import bundle
from core.errors import QuartetError
from quartet.arena.files import write_whole

MAIN, DATA = "main.py", "data.bin"
MOST_CODE, MOST_DATA = 1 << 20, 10 << 20
"""Bytes that the judge takes."""
VARIANTS = bundle.variants()
WORD = "NYPC"
"""What the judge says to every program."""


def make(game: str, out: Path) -> Path:
    """Write main.py and data.bin into `out`; gives the former. Raises QuartetError."""
    made = bundle.make(game)
    text = bundle.text(made).encode()
    files = ((MAIN, text, MOST_CODE), (DATA, made.data, MOST_DATA))
    for name, content, most in files:
        if len(content) > most:
            raise QuartetError(f"{name} has {len(content):,} bytes, more than the judge's {most:,}")
    (out / DATA).unlink(missing_ok=True)
    for name, content, most in files:
        if content:
            write_whole(out / name, content)
            print(f"{name}: {len(content):,} bytes of {most:,}", file=sys.stderr)
        else:
            print(f"{name}: none, for nothing of {game} is compiled", file=sys.stderr)
    return out / MAIN


def start(artefact: Path, folder: Path, python: str | None = None) -> list[str]:
    """Put the bundle into a folder as the judge does. Raises QuartetError where Python cannot
    compile it."""
    for file in (artefact, artefact.with_name(DATA)):
        if file.exists():
            shutil.copy(file, folder)
    return [*compiled(folder, python or bundle.PYTHON), WORD]


def compiled(folder: Path, python: str) -> list[str]:
    """Compile main.py in that folder, and how to start it then. Raises QuartetError."""
    done = subprocess.run(
        [python, "-m", "py_compile", MAIN], cwd=folder, capture_output=True, text=True, check=False
    )
    files = sorted(folder.glob("__pycache__/main.*.pyc"))
    if done.returncode or not files:
        raise QuartetError(
            f"python cannot compile {MAIN}: {(done.stderr.splitlines() or ['no reason given'])[-1]}"
        )
    return [python, str(files[-1].relative_to(folder))]
