"""Measure the time and memory of programs from start to exit: `python -m tests.bench.startup
COMMAND...`.

The commands take turns, so that other load affects all of them. A Python that does nothing is
always among them: compare runs by the ratio to it.
"""

from __future__ import annotations

import math
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import click
import msgspec
import psutil
from rich.console import Console
from rich.progress import track

from core.commands.program import execute
from tests.bench.latency import busy

PYTHON: str = getattr(sys, "_base_executable", sys.executable)
NOTHING = [PYTHON, "-S", "-E", "-c", "pass"]
"""The shortest program in Python."""
MEMORY_RUNS = 5
"""Runs that measure memory, which slows them down."""


def once(command: list[str], folder: str) -> float:
    """Run a process and return its seconds. Raises CalledProcessError if it fails."""
    started = time.perf_counter()
    subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True
    )
    return time.perf_counter() - started


def peak_megabytes(command: list[str], folder: str) -> float:
    """Run a process and return the peak of its resident memory, descendants included, in 2**20
    bytes. The memory is read as often as possible."""
    peak = 0
    with psutil.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ) as process:
        while process.poll() is None:
            total = 0
            with suppress(psutil.Error):
                for member in (process, *process.children(recursive=True)):
                    total += member.memory_info().rss
            peak = max(peak, total)
    return peak / (1 << 20)


@click.command()
@click.argument("commands", nargs=-1, required=True, metavar="COMMAND...")
@click.option(
    "--runs", default=30, show_default=True, type=click.IntRange(min=1), help="Runs per command."
)
@click.option(
    "--busy",
    "spinners",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Number of other processes that keep a core busy.",
)
@click.option(
    "--put",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    help="File to copy into the working directory.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    commands: tuple[str, ...], runs: int, spinners: int, put: tuple[str, ...], as_json: bool
) -> None:
    """Print median, 95th percentile and maximum of the milliseconds that each COMMAND takes, and
    the peak of its memory.

    A COMMAND is one argument, with its own arguments in it: "./bot --selftest leave". Programs are
    found from the current folder, and run in another one.
    """
    words = [NOTHING, *(shlex.split(text) for text in commands)]
    if not all(words):
        raise click.UsageError("a COMMAND is empty")
    words = [[shutil.which(first) or first, *rest] for first, *rest in words]
    words = [
        [str(Path(first).absolute()) if Path(first).exists() else first, *rest]
        for first, *rest in words
    ]
    took: list[list[float]] = [[] for _ in words]
    with tempfile.TemporaryDirectory() as folder:
        for file in put:
            shutil.copy(file, folder)
        try:
            for each in words:
                once(each, folder)  # fill the system's cache
            peaks = [
                max(peak_megabytes(each, folder) for _ in range(MEMORY_RUNS)) for each in words
            ]
            with busy(spinners):
                for _ in track(
                    range(runs),
                    "starting",
                    console=Console(stderr=True),
                    disable=not sys.stderr.isatty(),
                ):
                    for each, times in zip(words, took, strict=True):
                        times.append(once(each, folder))
        except (OSError, subprocess.CalledProcessError) as error:
            raise SystemExit(f"quartet: {error}") from None
    rows = [
        {
            "command": " ".join(each),
            "median ms": round(1000 * statistics.median(times), 1),
            "p95 ms": round(1000 * sorted(times)[math.ceil(0.95 * runs) - 1], 1),
            "max ms": round(1000 * max(times), 1),
            "times nothing": round(statistics.median(times) / statistics.median(took[0]), 2),
            "MB": round(peak, 1),
        }
        for each, times, peak in zip(words, took, peaks, strict=True)
    ]
    if as_json:
        print(msgspec.json.encode(rows).decode())
        return
    for row in rows:
        print(
            "  ".join(f"{name} {figure}" for name, figure in list(row.items())[1:]),
            row["command"],
            sep="  ",
        )


if __name__ == "__main__":
    execute(command)
