"""`quartet report`: describe this machine, and test on it what can be tested, as one text."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import psutil

from core.errors import QuartetError, printable
from quartet import registry
from quartet.arena.cores import usable_cores
from quartet.cli import outputs
from quartet.cli.paths import PathType
from quartet.cli.version import version
from quartet.judge import game as games

LAST_LINES = 25
"""Lines of output that are shown of a failed step; of another one, one line."""
SECONDS = 1800.0
"""Limit of a step."""
PLAIN = ("--seed", "1", "--seconds", "60", "--quiet")
TOOLS = ("gcc", "clang", "cl", "git", "bwrap", "wine", "chromium")
SETTINGS = ("QUARTET_", "PYTHON", "LC_", "LANG")
"""Prefixes of the environment variables in the report; others are private."""


@click.command(short_help="Test this machine, and write a report for bug reports.")
@click.argument("programs", nargs=-1, metavar="[PROGRAM]...")
@click.option(
    "--tests", is_flag=True, help="Run the test suite, too; it takes minutes and needs a checkout."
)
@click.option("--out", type=PathType(dir_okay=False), help="Write the report to this file.")
def command(programs: tuple[str, ...], tests: bool, out: Path | None) -> None:
    """Describe this machine, play a game with the agent of every game, compare the engines' choices
    with the recorded ones, and print it all as one text.

    A PROGRAM is an executable file that `quartet pack` made; it runs its self-test. The text
    contains no user name and no path of the user. Exit status 1: a step failed.

    \b
    quartet report --out report.txt
    quartet report dist/ugolki.exe
    """
    lines: list[str] = []
    failed = 0
    outputs.require("--out", out, inputs=programs, begins=b"quartet")
    if out is not None:
        _write(out, "", "a")  # before the work: a report that cannot be written would be lost
    for text, is_good in _parts(programs, tests=tests):
        failed += not is_good
        lines.append(_private(text))
        if out is not None:
            print(lines[-1].splitlines()[0], file=sys.stderr)
        else:
            print(lines[-1], flush=True)
    if out is not None:
        _write(out, "\n".join(lines) + "\n")
    sys.exit(1 if failed else 0)


def _write(out: Path, text: str, mode: str = "w") -> None:
    try:
        with out.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise QuartetError(f"cannot write {out}: {error.strerror}") from error


def _parts(programs: Sequence[str], *, tests: bool) -> Iterator[tuple[str, bool]]:
    """Yield every part of the text, and whether it succeeded."""
    yield f"{version()}, Python {platform.python_version()} ({sys.implementation.name})", True
    memory = psutil.virtual_memory()
    parts = (
        platform.platform(),
        platform.machine(),
        f"{os.cpu_count()} cores ({len(usable_cores())} usable)",
        f"{memory.total >> 20} MB ({memory.available >> 20} free)",
        f"load {' '.join(f'{one:.1f}' for one in psutil.getloadavg())}",
    )
    yield f"machine: {', '.join(parts)}", True
    yield "tools: " + (", ".join(tool for tool in TOOLS if shutil.which(tool)) or "none"), True
    yield "packages: " + ", ".join(_packages()), True
    names = [name for name in sorted(os.environ) if name.startswith(SETTINGS)]
    yield "settings: " + (", ".join(f"{n}={os.environ[n]}" for n in names) or "none"), True
    for name in registry.GAMES:
        for part in ("rules", "engine"):
            yield _imported(name, part)
        players = games.load(name).info.players
        seats = ["bot", *["greedy"] * (players - 1)]
        short = ("--moves", "3") if "moves" in games.load(name).info.options else ()
        yield _step(
            f"{name}: a game of programs, bot at 200 nodes",
            [sys.executable, "-m", "quartet", "match", name, *seats, *short, *PLAIN],
            QUARTET_NODES="200",
        )
    yield _step(
        "choices of the engines (quartet.bench --check)",
        [sys.executable, "-m", "quartet.bench", "--check"],
    )
    for program in programs:
        yield _step(
            f"{Path(program).name} --selftest", [str(Path(program).resolve()), "--selftest"]
        )
    if tests:
        yield _step("tests", [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"])


def _packages() -> Iterator[str]:
    """Yield the required and optional packages that are installed, with their versions."""
    try:
        needed = importlib.metadata.requires("quartet") or []
    except importlib.metadata.PackageNotFoundError:
        needed = []
    for name in dict.fromkeys(re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in needed):
        try:
            yield f"{name} {importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            continue


def _imported(game: str, part: str) -> tuple[str, bool]:
    """Import a compiled module; return a line, and whether it succeeded."""
    try:
        importlib.import_module(f"{registry.GAMES[game]}.{part}")
    except ImportError as error:
        return f"FAILED  {game}.{part}: {printable(str(error))}", False
    return f"ok      {game}.{part} is compiled", True


def _step(title: str, words: list[str], **more: str) -> tuple[str, bool]:
    """Run a command; return its title with its output, and whether it succeeded."""
    started = time.monotonic()
    try:
        done = subprocess.run(
            words,
            cwd=registry.ROOT,
            env={**os.environ, "PYTHONPATH": str(registry.ROOT), **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
        said, is_good = done.stdout.decode("utf-8", "replace"), done.returncode == 0
        how = "" if is_good else f", exit status {done.returncode}"
    except OSError as error:
        said, is_good, how = str(error), False, ", it could not be started"
    except subprocess.TimeoutExpired as error:
        said, is_good, how = str(error), False, ", it did not finish"
    lines = [printable(line) for line in said.splitlines() if line.strip()]
    kept = lines[-1 if is_good else -LAST_LINES :]
    head = f"{'ok    ' if is_good else 'FAILED'}  {title}: {time.monotonic() - started:.1f} s{how}"
    return "\n".join([head, *(f"        {line}" for line in kept)]), is_good


def _private(text: str) -> str:
    """Return a text without the user's paths."""
    for folder, short in ((str(registry.ROOT), "QUARTET"), (str(Path.home()), "~")):
        text = text.replace(folder, short)
    return text
