"""`quartet calibrate`: from an engine's scores to the probability of winning."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from core.errors import QuartetError
from quartet.arena import builds, records
from quartet.cli import running
from quartet.cli.progress import work_off
from quartet.review import calibration as calibrations
from quartet.review import engines, fitting
from quartet.review.work import Kept, Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quartet.arena.unit import GameResult


@click.command(short_help="Fit what an engine's scores mean: the probability of winning.")
@click.argument("game")
@click.argument(
    "runs",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    metavar="RUN...",
)
@click.option(
    "--engine",
    default=engines.BOT,
    show_default=True,
    help="Whose scores: bot, a built-in player, or uai:COMMAND.",
)
@click.option("--nodes", type=click.IntRange(1), help="Of each search  [default: the engine's].")
@click.option(
    "--positions", type=click.IntRange(1), default=8, show_default=True, help="Of a game."
)
@click.option(
    "--held-back",
    type=click.FloatRange(0.01, 0.99),
    default=0.5,
    show_default=True,
    help="The part of the games on which the error is measured.",
)
@click.option("--seed", default=1, show_default=True, help="Of the choice of positions.")
@click.option("--jobs", type=click.IntRange(1), help="Games at a time  [default: one a core].")
@click.option("--crowded", is_flag=True, help="Share cores with other runs.")
@click.option("--cluster", metavar="ADDRESS", help="Work on the Dask scheduler there.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file  [default: calibration.json in the game's folder].",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else.")
def command(
    game: str,
    runs: tuple[Path, ...],
    engine: str,
    nodes: int | None,
    positions: int,
    held_back: float,
    seed: int,
    jobs: int | None,
    crowded: bool,
    cluster: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Ask an engine about positions of the games in RUNs, folders of `quartet tournament`, and fit
    the probability of winning by score and phase. `quartet review` needs it for labels.

    The games must be of several players: how often the bot wins against itself says little of
    other people. A part of the games, whole openings, is held back; on it the error is measured,
    with an interval by bootstrap over games. The same command goes on where it was stopped.

    \b
    quartet tournament ataxx --player a=bot --player g=greedy --in-process --nodes 500 --games 1000
    quartet calibrate ataxx runs/ataxx-tournament-1a2b3c4d
    """
    engines.require(game, engine)
    nodes = nodes or engines.usual_nodes(game)
    chosen = list(_games(game, runs))
    players = sorted({_who(player) for plan, _, _ in chosen for player in plan["players"]})
    if len(players) < 2 or players == [engines.BOT]:
        raise QuartetError("these games are of one player; a calibration takes several")
    plan = {
        "kind": "calibrate",
        "game": game,
        "engine": engine,
        "nodes": nodes,
        "seed": seed,
        "positions": positions,
        "runs": [str(run) for run in runs],
        "games": len(chosen),
    }
    digest = hashlib.sha256(msgspec.json.encode(plan)).hexdigest()[:8]
    folder = Path("runs") / f"{game}-calibrate-{digest}"

    def units() -> Iterator[Unit]:
        for number, (_, run, result) in enumerate(chosen):
            path = run / records.log_name(result.number)
            yield Unit(
                number=number,
                game=game,
                name=str(path),
                data=path.read_bytes(),
                engines=(engine,),
                nodes=nodes,
                seed=seed,
                positions=positions,
                shares=result.shares,
            )

    with Kept(folder, plan) as kept:
        workers = running.workers(fitting.sample, jobs, cluster, crowded=crowded)
        work_off("games", units(), len(chosen), workers, kept)
        told = [msgspec.json.decode(value) for value in kept.values()]
    samples = [msgspec.convert(s, fitting.Sample) for value in told for s in value["samples"]]
    lengths = [value["plies"] for value in told]
    step = round(1 / held_back) if held_back <= 0.5 else 1
    # whole openings are held back: games of one opening are alike
    held = {
        number
        for number, (_, run, result) in enumerate(chosen)
        if int(hashlib.sha256(f"{run.name} {result.seed}".encode()).hexdigest(), 16) % step == 0
    }
    found = msgspec.structs.replace(
        fitting.fit(engine, nodes, samples, lengths, held),
        command=shlex.join(["quartet", *sys.argv[1:]]),
        seed=seed,
        commit=builds.head(),
        date=dt.datetime.now(dt.UTC).date().isoformat(),
        players=tuple(players),
    )
    file = out or calibrations.place_of(game)
    calibrations.keep(file, found)
    if as_json:
        print(json.dumps(msgspec.to_builtins(found), indent=2))
        return
    print(f"{game}, {engine} at {nodes} nodes: {found.positions} positions of {found.games} games")
    print(f"{'predicted':>9} {'happened':>9} {'positions':>9}")
    for expected, outcome, number in found.curve:
        print(f"{expected:9.3f} {outcome:9.3f} {number:9d}")
    if found.error is not None and found.error95 is not None:
        low, high = found.error95
        print(
            f"mean absolute error {100 * found.error:.2f} points ({100 * low:.2f} .. "
            f"{100 * high:.2f}) on {found.held_back} held-back games"
        )
    print(file)


def _games(game: str, runs: tuple[Path, ...]) -> Iterator[tuple[dict[str, Any], Path, GameResult]]:
    """The games of the runs, without those that ended by a foul. Raises QuartetError."""
    for run in runs:
        plan, results = records.read(run)
        if plan["game"] != game:
            raise QuartetError(f"{run} holds games of {plan['game']}")
        for result in sorted(results, key=lambda result: result.number):
            if not result.fouls:
                yield plan, run, result


def _who(player: dict[str, Any]) -> str:
    """A player; one with fewer nodes is another."""
    nodes = player.get("nodes")
    return f"{player['command']} at {nodes} nodes" if nodes else str(player["command"])
