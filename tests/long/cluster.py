"""Run a task on a Dask scheduler with four workers, of which one is slow and two are killed with
SIGKILL: nothing may be lost or counted twice.

    python -m tests.long.cluster GAME --what tournament --size 80

With `--kill 0`, no worker is slow either, and with `--workers 2` the seconds compare a cluster with
two local processes.

The result must equal that of a run on this machine alone.
"""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.commands.program import execute
from core.errors import QuartetError
from tests.long.kill import HERE, TASKS, complete, environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from tests.long.progress import Attempt

START_SECONDS, RUN_SECONDS = 60.0, 1200.0
WORKERS, KILLED = 4, 2
AWAKE, ASLEEP = 0.05, 0.2
"""Seconds for which the slow worker runs and stands still in turn."""


def survive(
    what: str, game: str, folder: Path, size: int, kills: int = KILLED, count: int = WORKERS
) -> dict[str, Any]:
    """Run a task on the workers, kill some, each after another part of the work, and compare with a
    local run. Raises QuartetError."""
    task = TASKS[what]
    words = task.words(game, size)
    if before := task.prepare(game, size):
        complete(before, folder)
    for name in ("whole", "cluster"):
        (folder / name).mkdir()
    local = complete(words, folder / "whole")
    total = task.done(folder / "whole")
    with ExitStack() as cleanup:
        address, workers = cluster(cleanup, folder, count)
        if kills:
            cleanup.enter_context(slow(workers[-1]))
        started = time.monotonic()
        run = subprocess.Popen(
            [sys.executable, "-m", "quartet", *on_cluster(words, address)],
            cwd=folder / "cluster",
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        cleanup.callback(run.kill)
        killed = []
        for number, worker in enumerate(workers[:kills], 1):
            while (at := task.done(folder / "cluster")) < total * number // (kills + 1):
                if run.poll() is not None:
                    raise QuartetError(f"the run ended too early: {run.communicate()[1].decode()}")
                time.sleep(0.02)
            worker.kill()
            killed.append(at)
        _, errors = run.communicate(timeout=RUN_SECONDS)
        seconds = time.monotonic() - started
        if run.returncode != 0 or any(worker.poll() is not None for worker in workers[kills:]):
            raise QuartetError(f"the run failed: {errors.decode()}")
    found, wanted = (task.outcome(folder / name) for name in ("cluster", "whole"))
    if found != wanted:
        raise QuartetError(f"{what}: the results are not those of a run on this machine alone")
    return {
        "done": total,
        "workers killed after": killed,
        "seconds alone": round(local, 1),
        "seconds on the cluster": round(seconds, 1),
        "equal to the run on this machine alone": True,
    }


def on_cluster(words: Sequence[str], address: str) -> list[str]:
    """Return a task's command with the cluster instead of this machine's cores."""
    text = list(words)
    at = text.index(HERE[0])
    if text[at : at + len(HERE)] != list(HERE):
        raise QuartetError(f"{' '.join(HERE)} is not in {' '.join(words)}")
    return [*text[:at], "--cluster", address, *text[at + len(HERE) :]]


def cluster(
    cleanup: ExitStack, folder: Path, count: int
) -> tuple[str, list[subprocess.Popen[bytes]]]:
    """Start a scheduler and workers with one thread each. Returns its address and the workers."""
    address = f"tcp://127.0.0.1:{free_port()}"
    port = address.rpartition(":")[2]
    quiet = ("--no-dashboard", "--no-show")
    _start(cleanup, folder, "distributed.cli.dask_scheduler", "--port", port, *quiet)
    one = ("--nthreads", "1", "--no-nanny", "--no-dashboard")
    workers = [
        _start(cleanup, folder, "distributed.cli.dask_worker", address, *one, "--name", f"{number}")
        for number in range(count)
    ]
    _wait_for_workers(address, count)
    return address, workers


@contextmanager
def slow(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Stop and continue a process in turn during the block."""
    over = threading.Event()

    def alternate() -> None:
        while not over.wait(AWAKE):
            process.send_signal(signal.SIGSTOP)
            over.wait(ASLEEP)
            process.send_signal(signal.SIGCONT)

    thread = threading.Thread(target=alternate)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def trial(what: str, game: str, size: int) -> Callable[[], AbstractContextManager[Attempt]]:
    """Return a trial in which each attempt is a run of a task that loses two workers."""

    def attempt(_: int) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            survive(what, game, Path(folder), size)
        return KILLED, ""

    return lambda: nullcontext(attempt)


def free_port() -> int:
    """Return an unused port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _start(
    cleanup: ExitStack, folder: Path, module: str, *arguments: str
) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        env=environment(),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    cleanup.callback(process.wait)
    cleanup.callback(process.kill)
    return process


def _wait_for_workers(address: str, count: int) -> None:
    code = (
        f"import distributed; distributed.Client({address!r}, "
        f"timeout='{START_SECONDS}s').wait_for_workers({count}, {START_SECONDS})"
    )
    subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, check=True)


@click.command()
@click.argument("game")
@click.option("--what", type=click.Choice(list(TASKS)), default="tournament", show_default=True)
@click.option("--size", default=80, show_default=True, help="Games; complete blocks.")
@click.option("--kill", "kills", type=click.IntRange(min=0), default=KILLED, show_default=True)
@click.option("--workers", type=click.IntRange(1), default=WORKERS, show_default=True)
def main(game: str, what: str, size: int, kills: int, workers: int) -> None:
    """Show that a task of GAME on a cluster survives the loss of workers."""
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(survive(what, game, Path(folder), size, kills, workers), indent=2))


if __name__ == "__main__":
    execute(main)
