"""`quartet pack nypc GAME`: `main.py` with all Python of the agent, and `data.bin` with its
compiled core and weights.

The judge compiles main.py (`python3 -m py_compile main.py`) and starts `python3
__pycache__/main.cpython-312.pyc NYPC` in the folder of data.bin. `build/loader.py` describes how
the core is found, and what happens without it.

For its bundle to play without a core, a game's agent follows these rules:

- `GAME/__main__.py` has `main(arguments) -> int`, the exit status. It and all modules that it
  imports at the top are plain Python. Compiled modules are imported when they are used, inside
  `main` or `player`.
- If a compiled module is missing and no player was named, the agent plays `greedy` on the reference
  rules: `core.agent.cli.equip` does that.
- Package data (weights) is in `GAME/*.bin`, and a module reads data next to it by
  `core.resource.resource(os.path.join(os.path.dirname(__file__), "weights.bin"))`: there may be no
  such file on any disk.
- With QUARTET_NODES=N every search visits N nodes and ignores the clock. QUARTET_SEED makes all
  random choices repeatable. `core.agent.lines` implements both. At equal nodes the conversation
  must be the same on every machine; the proof compares them.
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
MAX_CODE, MAX_DATA = 1 << 20, 10 << 20
"""Size limits of the judge in bytes."""
VARIANTS = bundle.variants()
WORD = "NYPC"
"""The argument that the judge gives to every program."""


def make(game: str, out: Path) -> Path:
    """Write main.py and data.bin into `out` and return main.py. Raises QuartetError."""
    made = bundle.make(game)
    text = bundle.text(made).encode()
    files = ((MAIN, text, MAX_CODE), (DATA, made.data, MAX_DATA))
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
    """Put the bundle into a folder as the judge does and return the command. Raises QuartetError if
    Python cannot compile it."""
    for file in (artefact, artefact.with_name(DATA)):
        if file.exists():
            shutil.copy(file, folder)
    return [*compiled(folder, python or bundle.PYTHON), WORD]


def compiled(folder: Path, python: str) -> list[str]:
    """Compile main.py in a folder and return the command that starts it. Raises QuartetError."""
    done = subprocess.run(
        [python, "-m", "py_compile", MAIN], cwd=folder, capture_output=True, text=True, check=False
    )
    files = sorted(folder.glob("__pycache__/main.*.pyc"))
    if done.returncode or not files:
        raise QuartetError(
            f"python cannot compile {MAIN}: {(done.stderr.splitlines() or ['no reason given'])[-1]}"
        )
    return [python, str(files[-1].relative_to(folder))]
