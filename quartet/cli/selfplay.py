"""`quartet selfplay`: an engine plays itself; its searches become samples for training."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from core.errors import QuartetError
from quartet import registry
from quartet.arena import runner
from quartet.arena.fingerprints import fingerprint
from quartet.arena.store import SELFPLAY_GAMES
from quartet.cli.paths import PathType
from quartet.cli.progress import run_units
from quartet.cli.run_options import worker_options
from quartet.judge.seats.players import PlayerSpec
from quartet.training import selfplay
from quartet.training.samples import SampleStore


@click.command(short_help="Let an engine play itself, for training.")
@click.argument("game")
@click.option(
    "--games",
    type=click.IntRange(min=1),
    required=True,
    help=f"Games, rounded up to a multiple of {SELFPLAY_GAMES}.",
)
@click.option(
    "--nodes", type=click.IntRange(min=1), default=2000, show_default=True, help="Nodes per search."
)
@click.option(
    "--player",
    default=selfplay.PLAYER,
    show_default=True,
    metavar="NAME",
    help="The player that plays itself, with options: bot:OPTION=VALUE,...",
)
@click.option(
    "--off-path",
    type=click.FloatRange(0, 1),
    help="Off-path positions per position of a game.  [default: the game's]",
)
@click.option("--seed", default=1, show_default=True, help="Seed of the openings.")
@worker_options
@click.option(
    "--out",
    type=PathType(file_okay=False),
    required=True,
    help="Folder of the samples.",
)
def command(
    game: str,
    games: int,
    nodes: int,
    player: str,
    off_path: float | None,
    seed: int,
    jobs: int | None,
    oversubscribe: bool,
    cluster: str | None,
    out: Path,
) -> None:
    """Play games of GAME's engine against itself. Keep every position with the search's score and
    the game's result.

    Off-path positions, one or two random plies from a game, are kept with a score only: a search
    sees more such positions than good play. A game starts with random plies; lopsided starts are
    dropped. The same command resumes, also with more --games.

    `quartet train` reads the folder, or `python -m GAME.train` if the game has its own samples. In
    Ugolki, `--player opponents` keeps the moves of other programs, and `--player mixed` those of
    the engine at tables with them. `--player gumbel` searches in compiled code: many more positions
    per second, at few nodes.

    \b
    quartet selfplay ataxx --games 100000 --nodes 2000 --out runs/first
    quartet selfplay ugolki --player opponents --games 4864 --out runs/others
    """
    if not registry.has(game, "train.selfplay"):
        raise QuartetError(
            f"{game} has no self-play for training: write {registry.GAMES[game]}/train/selfplay.py "
            "(contract: core/nn/contract.py)"
        )
    runner.check_cluster(jobs, cluster)
    spec = PlayerSpec.parse(game, player)
    player = spec.full
    settings = selfplay.SelfplayUnit(
        number=0, game=game, seed=seed, games=0, nodes=nodes, player=player, off_path=off_path
    )
    selfplay.play(settings)  # no game: only checks them
    plan: dict[str, object] = {
        "kind": "selfplay",
        "game": game,
        "engine": fingerprint(spec),
        "seed": seed,
        "nodes": nodes,
    }
    if player != selfplay.PLAYER:  # plans of earlier versions have no such line
        plan["player"] = player
    if off_path is not None:  # nor this one
        plan["off_path"] = off_path
    with SampleStore(out, game, plan) as store:

        def made() -> int:
            return sum(batch.positions for batch in store.done.values())

        units = -(-games // SELFPLAY_GAMES)
        store.keep_goal(units)
        before, started = made(), time.monotonic()

        def rate() -> float:
            return (made() - before) / max(time.monotonic() - started, 1e-9)

        run_units(
            "units",
            selfplay.schedule(settings, games),
            units,
            runner.workers(selfplay.play, jobs, cluster, oversubscribe=oversubscribe),
            store,
            note=lambda: f"{made():,} positions, {rate():,.0f}/s",
        )
        print(
            f"{made()} positions of {sum(batch.games for batch in store.done.values())} games in "
            f"{out}"
        )
        if made() > before:
            print(f"{rate():,.0f} positions/s", file=sys.stderr)
