"""A tournament on a Dask scheduler with two workers, one of which is killed by SIGKILL half way and
comes back: all games must be there once.

`python -m quartet.bench.cluster GAME --games 80` is the shape of it.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from core.errors import QuartetError
from quartet.bench.kill import complete, environment, games_on_record, results, tournament

START_SECONDS = 60.0


def survive(game: str, folder: Path, games: int) -> dict[str, Any]:
    """Play on two workers, kill one when half of the games are done, and compare with a run on this
    machine alone."""
    for name in ("whole", "cluster"):
        (folder / name).mkdir()
    complete(tournament(game, games), folder / "whole")
    with ExitStack() as cleanup:
        address = f"tcp://127.0.0.1:{free_port()}"
        _start(
            cleanup,
            folder,
            "distributed.cli.dask_scheduler",
            "--port",
            address.rpartition(":")[2],
            "--no-dashboard",
            "--no-show",
        )

        def worker(name: str) -> subprocess.Popen[bytes]:
            one = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name)
            return _start(cleanup, folder, "distributed.cli.dask_worker", address, *one)

        workers = [worker("one"), worker("two")]
        _wait_for_workers(address, len(workers))
        run = subprocess.Popen(
            [
                *(sys.executable, "-m", "quartet"),
                *tournament(game, games, where=("--cluster", address)),
            ],
            cwd=folder / "cluster",
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        cleanup.callback(run.kill)
        while len(results(folder / "cluster")) < games // 2:
            if run.poll() is not None:
                raise QuartetError(f"the run ended too early: {run.communicate()[1].decode()}")
            time.sleep(0.02)
        at = len(results(folder / "cluster"))
        workers[0].kill()
        worker("one again")
        _, errors = run.communicate(timeout=600)
        if run.returncode != 0 or workers[1].poll() is not None:
            raise QuartetError(f"the run failed: {errors.decode()}")
    found, wanted = (games_on_record(folder / name) for name in ("cluster", "whole"))
    if found != wanted:
        raise QuartetError("the results are not those of a run on this machine alone")
    del found["results"]
    return {
        "games": games,
        "killed one of two workers after": at,
        **found,
        "equal to the undisturbed run's": True,
    }


def free_port() -> int:
    """A port that nobody listens on."""
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
@click.option("--games", default=80, show_default=True)
def main(game: str, games: int) -> None:
    """Show that a tournament of GAME on a cluster survives the loss of a worker; GAMES must be
    whole blocks."""
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(survive(game, Path(folder), games), indent=2))


if __name__ == "__main__":
    try:
        main()
    except QuartetError as error:
        raise SystemExit(f"quartet: {error}") from None
