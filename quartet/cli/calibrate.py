"""`quartet calibrate`: fit the win probability to an engine's scores."""

from __future__ import annotations

import hashlib
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import click
import msgspec

from core.errors import QuartetError
from quartet.arena import builds, notes, records, runner
from quartet.arena.fingerprints import digest_of, reviewer_fingerprint
from quartet.arena.unit import GameResult
from quartet.cli.paths import PathType
from quartet.cli.progress import run_units
from quartet.cli.run_options import RenamedOption, worker_options
from quartet.review import calibration as calibrations
from quartet.review import engines, fitting
from quartet.review.work import LogTask, ResultFolder


@click.command(short_help="Fit the win probability to an engine's scores.")
@click.argument("game")
@click.argument(
    "runs",
    nargs=-1,
    required=True,
    type=PathType(file_okay=False),
    metavar="RUN...",
)
@click.option(
    "--engine",
    default=engines.BOT,
    show_default=True,
    help="The engine: bot, a built-in player, or uai:COMMAND.",
)
@click.option("--nodes", type=click.IntRange(1), help="Nodes per search  [default: the engine's].")
@click.option(
    "--positions", type=click.IntRange(1), default=8, show_default=True, help="Positions per game."
)
@click.option(
    "--held-out",
    "--held-back",
    "held_back",
    cls=RenamedOption,
    type=click.FloatRange(0.01, 0.5),
    default=0.5,
    show_default=True,
    help="Fraction of the openings whose games are held out to measure the error.",
)
@click.option("--seed", default=1, show_default=True, help="Seed of the choice of positions.")
@worker_options
@click.option(
    "--out",
    type=PathType(dir_okay=False),
    help="File to write  [default: calibration.json in the game's folder].",
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
    oversubscribe: bool,
    cluster: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Search positions of the games in RUNs, folders of `quartet tournament`, and fit the win
    probability by score and phase. `quartet review` needs it for labels.

    The games must be of several players: the bot's results against itself do not predict those of
    others. A fraction of the games, in whole openings, is held out to measure the error, with a
    bootstrap interval over games. The same command resumes after an interruption.

    \b
    quartet tournament ataxx --player a=bot --player g=greedy --in-process --nodes 500 --games 1000
    quartet calibrate ataxx runs/ataxx-tournament-1a2b3c4d
    """
    engines.require(game, engine)
    nodes = nodes or engines.usual_nodes(game)
    if len({run.resolve() for run in runs}) < len(runs):
        raise QuartetError("a run is named twice; name each once, so that no game counts twice")
    chosen = list(_games(game, runs))
    players = sorted({_who(player) for plan, _, _ in chosen for player in plan["players"]})
    if len(players) < 2:
        raise QuartetError("these games are of one player; a calibration takes several")
    plan = {
        "kind": "calibrate",
        "game": game,
        "engine": engine,
        "fingerprint": reviewer_fingerprint(game, engine),
        "nodes": nodes,
        "seed": seed,
        "positions": positions,
        "runs": [str(run) for run in runs],
        "games": len(chosen),
        "contents": digest_of([_log(run, result) for _, run, result in chosen]),
    }
    digest = hashlib.sha256(msgspec.json.encode(plan)).hexdigest()[:8]
    folder = Path("runs") / f"{game}-calibrate-{digest}"

    def units() -> Iterator[LogTask]:
        for number, (_, run, result) in enumerate(chosen):
            path = _log(run, result)
            yield LogTask(
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

    with ResultFolder(folder, plan) as kept:
        workers = runner.workers(fitting.sample, jobs, cluster, oversubscribe=oversubscribe)
        run_units("games", units(), len(chosen), workers, kept)
        found_values = [msgspec.json.decode(value) for value in kept.values()]
    samples = [
        msgspec.convert(s, fitting.CalibrationSample)
        for value in found_values
        for s in value["samples"]
    ]
    lengths = [value["plies"] for value in found_values]
    # Whole openings are held out: games of one opening are similar.
    openings = sorted({result.seed for _, _, result in chosen})
    Random(seed).shuffle(openings)
    away = set(openings[: max(1, round(held_back * len(openings)))])
    held = {number for number, (_, _, result) in enumerate(chosen) if result.seed in away}
    found = msgspec.structs.replace(
        fitting.fit(engine, nodes, samples, lengths, held),
        command=shlex.join(["quartet", *sys.argv[1:]]),
        seed=seed,
        commit=builds.head(),
        date=notes.today().isoformat(),
        players=tuple(players),
    )
    file = out or calibrations.place_of(game)
    calibrations.keep(file, found)
    if as_json:
        print(json.dumps(msgspec.to_builtins(found), indent=2))
        return
    print(
        f"{game}, {engine} at {nodes} nodes: fitted to {found.positions} positions of "
        f"{found.games} games; on the {found.held_back} held-out games:"
    )
    print(f"{'predicted':>9} {'happened':>9} {'positions':>9}")
    for expected, outcome, number in found.curve:
        print(f"{expected:9.3f} {outcome:9.3f} {number:9d}")
    if found.error is not None and found.error95 is not None:
        low, high = found.error95
        print(
            f"mean absolute error {100 * found.error:.2f} points ({100 * low:.2f} .. "
            f"{100 * high:.2f})"
        )
    print(file)


def _games(game: str, runs: tuple[Path, ...]) -> Iterator[tuple[dict[str, Any], Path, GameResult]]:
    """Yield the games of the runs without forfeits. Raises QuartetError."""
    for run in runs:
        plan, results = records.read(run)
        if plan["game"] != game:
            raise QuartetError(f"{run} holds games of {plan['game']}")
        for result in sorted(results, key=lambda result: result.number):
            if not result.forfeits:
                yield plan, run, result


def _log(run: Path, result: GameResult) -> Path:
    """Return the path of a game's log."""
    return run / records.log_name(result.number)


def _who(player: dict[str, Any]) -> str:
    """Return a player with its node limit: with fewer nodes it is another player."""
    nodes = player.get("nodes")
    return f"{player['command']} at {nodes} nodes" if nodes else str(player["command"])
