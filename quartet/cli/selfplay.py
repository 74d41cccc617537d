"""`quartet selfplay`: an engine plays itself, and its searches are kept as samples for training."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from core.errors import QuartetError
from quartet import registry
from quartet.arena.fingerprints import engine_fingerprint
from quartet.arena.run import Cluster, Local, Workers, drive
from quartet.judge.seats import players as seating
from quartet.training import selfplay
from quartet.training.samples import Folder


@click.command(short_help="Let an engine play itself, for training.")
@click.argument("game")
@click.option(
    "--games",
    type=click.IntRange(min=1),
    required=True,
    help=f"Rounded up to a multiple of {selfplay.GAMES}.",
)
@click.option(
    "--nodes", type=click.IntRange(min=1), default=2000, show_default=True, help="Of every search."
)
@click.option(
    "--player",
    default=selfplay.PLAYER,
    show_default=True,
    metavar="NAME",
    help="Who plays itself: the engine, with or without options: bot:OPTION=VALUE,...",
)
@click.option(
    "--seed", default=1, show_default=True, help="Of the openings; another seed makes other games."
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Processes  [default: one for each core that no other run plays on].",
)
@click.option(
    "--crowded",
    is_flag=True,
    help="Allow more processes than cores that are free; they take time from each other.",
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Play on the workers of the Dask scheduler there, e.g. tcp://10.0.0.1:8786.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Folder of the samples.",
)
def command(
    game: str,
    games: int,
    nodes: int,
    player: str,
    seed: int,
    jobs: int | None,
    crowded: bool,
    cluster: str | None,
    out: Path,
) -> None:
    """Play games of GAME's engine against itself, and keep every position with the search's score
    and the game's result.

    Beside them are kept, with a score alone, positions that one or two random plies lead to: a
    search sees more of such than of good play. A game begins with random plies; what is lopsided
    then is dropped. The same command goes on where it was stopped, with more --games too; `quartet
    train` reads the folder. A game with samples of its own has them read by `python -m GAME.train`,
    which says more; with `--player opponents` Ugolki keeps what other programs play, with
    `--player mixed` what the engine plays at tables with them.

    \b
    quartet selfplay ataxx --games 100000 --nodes 2000 --out runs/first
    quartet selfplay ugolki --player opponents --games 4864 --out runs/others
    """
    if not registry.has(game, "train.selfplay"):
        raise QuartetError(f"{game} has no self-play for training")
    if cluster is not None and jobs is not None:
        raise QuartetError("--jobs is for this machine; a cluster plays on each of its threads")
    player = seating.whole_player(game, player)
    checked = selfplay.Unit(number=0, game=game, seed=seed, games=0, nodes=nodes, player=player)
    selfplay.play(checked)  # no game, only whether there is such a player
    plan: dict[str, object] = {
        "kind": "selfplay",
        "game": game,
        "engine": engine_fingerprint(game),
        "seed": seed,
        "nodes": nodes,
    }
    if player != selfplay.PLAYER:  # folders of old have no such line
        plan["player"] = player
    with Folder(out, game, plan) as folder:
        workers: Workers[selfplay.Unit, selfplay.Played] = (
            Local(selfplay.play, jobs, crowded=crowded)
            if cluster is None
            else Cluster(selfplay.play, cluster)
        )
        before = sum(batch.positions for batch in folder.done.values())
        started = time.monotonic()
        try:
            with bar() as progress:
                task = progress.add_task(
                    "", total=-(-games // selfplay.GAMES), completed=len(folder.done), rate=""
                )

                def record(played: selfplay.Played) -> None:
                    folder.add(played.result, played.samples)
                    made = sum(batch.positions for batch in folder.done.values())
                    rate = (
                        f"{made:,} positions, "
                        f"{(made - before) / (time.monotonic() - started):,.0f}/s"
                    )
                    progress.update(task, completed=len(folder.done), rate=rate)

                drive(
                    selfplay.schedule(game, seed, games, nodes, player),
                    workers,
                    folder.done,
                    record,
                )
        except (KeyboardInterrupt, SystemExit):
            print(
                f"quartet: left after {len(folder.done)} units; the same command goes on",
                file=sys.stderr,
            )
            raise
        finally:
            workers.close()
        made = sum(batch.positions for batch in folder.done.values())
        rate = (made - before) / max(time.monotonic() - started, 1e-9)
        print(
            f"{made} positions of {sum(batch.games for batch in folder.done.values())} games in "
            f"{out}"
        )
        if made > before:
            print(f"{rate:,.0f} positions/s", file=sys.stderr)


def bar() -> Progress:
    """A bar on standard error, where that is a terminal."""
    columns = [
        TextColumn("units"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TextColumn("{task.fields[rate]}"),
    ]
    return Progress(
        *columns,
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    )
