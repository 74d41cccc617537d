"""`quartet tune`: better values for an engine's options, by games."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any

import click
import msgspec
from rich.console import Console, RenderableType

from core.engine import Option, options_of, parse_player, write_player
from core.errors import QuartetError, UnknownNameError
from quartet import registry
from quartet.arena import exam, notes, optimisers, tuning
from quartet.arena.optimisers import Cma, Optimiser, Parameter, Parzen, Spsa, Values
from quartet.arena.tuning import Match, Step, Trajectory
from quartet.cli import running, tables
from quartet.cli.running import Settings
from quartet.judge import game as games
from quartet.judge.seats import versions

METHODS = {"spsa": (1, 8), "cma": (32, 16), "parzen": (32, 8)}
"""Name -> pairs of a trial, and trials of a batch, where nothing else is asked for."""
LINES = 20
"""Of the table of a trajectory, at most."""


@click.command(short_help="Tune options of an engine by games.")
@click.argument("game")
@click.option(
    "--player",
    default="bot",
    show_default=True,
    help="Who is tuned, with the options that stay as they are and those that it begins with.",
)
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    required=True,
    metavar="NAME[=LEAST..MOST[/C_END]]",
    help="An option to be tuned, its range  [default: all that it takes], and SPSA's perturbation "
    "in the last iteration  [default: a twentieth of the range].",
)
@click.option(
    "--games",
    type=click.IntRange(min=1),
    required=True,
    help="Games of the whole run; the last batch is played whole.",
)
@click.option(
    "--method",
    type=click.Choice(list(METHODS)),
    default="spsa",
    show_default=True,
    help="SPSA as fishtest and OpenBench run it, CMA-ES, or a tree of Parzen estimators (Bayesian).",
)
@click.option(
    "--pairs",
    type=click.IntRange(min=1),
    help="Pairs of games of a trial  [default: 1; 32 for CMA-ES and Parzen estimators].",
)
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    help="Trials at a time, all from the same values  [default: 8; CMA-ES 16].",
)
@click.option(
    "--r-end",
    type=click.FloatRange(min=0, min_open=True),
    default=optimisers.R_END,
    show_default=True,
    help="SPSA: rate of learning in the last iteration.",
)
@click.option(
    "--a-ratio",
    type=click.FloatRange(min=0),
    default=optimisers.A_RATIO,
    show_default=True,
    help="SPSA: stability constant A, as a part of all iterations.",
)
@click.option(
    "--alpha", type=float, default=optimisers.ALPHA, show_default=True, help="SPSA: exponent of a."
)
@click.option(
    "--gamma", type=float, default=optimisers.GAMMA, show_default=True, help="SPSA: exponent of c."
)
@click.option(
    "--against",
    multiple=True,
    metavar="NAME",
    help="Tables of more than two: an opponent; those at a table are drawn from all that are named  "
    "[default: the pool's training half].",
)
@running.options
def command(
    game: str,
    player: str,
    parameters: Sequence[str],
    games: int,
    method: str,
    pairs: int | None,
    batch: int | None,
    r_end: float,
    a_ratio: float,
    alpha: float,
    gamma: float,
    against: Sequence[str],
    **options: Any,
) -> None:
    """Tune options of a built-in player of GAME, and print it with the options as they should be
    written, and the command that tests them against the old ones.

    A trial is two settings, which play each other, both sides of each opening. SPSA moves all
    parameters a little up or down at random, and towards the side that wins. CMA-ES and the Parzen
    estimators (extra `tune`) try settings against those at the beginning. At tables of more than
    two, both settings take every seat in turn, with the same opponents; nobody of the test half of a
    pool is among them.

    The outcome depends neither on --jobs nor on interruptions where --nodes bounds the search; the
    same command goes on where it stopped. `quartet runs FOLDER` shows the way that it took.

    \b
    quartet tune ataxx --parameter reduction=1..4 --parameter futility=10..200 --games 20000 \\
        --r-end 0.01 --in-process --nodes 5000 --option opening=4
    quartet tune ugolki --parameter exploration=0.2..1.5 --method cma --games 16000 \\
        --parameter prior_percent=10..100 --in-process --nodes 1000 --option opening=4
    """
    settings = Settings(**options)
    chosen = [read_parameter(game, player, text, r_end) for text in parameters]
    names = [parameter.name for parameter in chosen]
    if len(set(names)) < len(names):
        raise QuartetError(f"every parameter is named once: {', '.join(names)}")
    opponents = opponents_of(game, against)
    casting = settings.casting(
        game, [("first", player), ("second", player), *((name, name) for name in opponents)]
    )
    usual = METHODS[method]
    pairs, batch = pairs or usual[0], batch or usual[1]

    def written(values: Values) -> str:
        return with_values(game, player, chosen, values)

    match = Match(casting, written, pairs)
    needed = -(-games // match.pair_games) + pairs * batch
    numbers = list(range(2, len(casting.players)))
    drawn = exam.drawn(numbers, casting.seats, needed, f"{settings.seed}") if numbers else []
    match = Match(casting, written, pairs, [table[1:] for table in drawn])
    optimiser = optimiser_of(
        method,
        chosen,
        match,
        games,
        batch,
        settings.seed,
        gains={
            "a_ratio": a_ratio,
            "alpha": alpha,
            "gamma": gamma,
        },
    )
    facts = {
        "parameters": [msgspec.to_builtins(parameter) for parameter in chosen],
        "method": method,
        "games": games,
        "pairs": pairs,
        "batch": batch,
        **({"a_ratio": a_ratio, "alpha": alpha, "gamma": gamma} if method == "spsa" else {}),
    }
    with settings.records("tune", casting, **facts) as records:
        trajectory = Trajectory(records.folder)
        results = running.run(
            settings,
            records,
            lambda done: tuning.schedule(match, optimiser, done, games, names, trajectory.add),
            lambda _: table(tuning.values_of(records.plan), trajectory.steps),
            games,
        )
        best = optimiser.best()
        tuned = written(tuple(p.rounded(v) for p, v in zip(chosen, best, strict=True)))
        test = command_of(settings, game, tuned, player, needed)
        if settings.as_json:
            found = {
                "folder": str(records.folder),
                "games": len(results),
                "player": tuned,
                "values": dict(zip(names, best, strict=True)),
                "test": test,
            }
            print(json.dumps(found, indent=2))

        def show(console: Console) -> None:
            console.print(table(tuning.values_of(records.plan), trajectory.steps))
            console.print(f"{tuned}, by {len(results)} games", soft_wrap=True, markup=False)
            console.print(f"against the old ones: {test}", soft_wrap=True, markup=False)
            console.print(f"records: {records.folder}", soft_wrap=True, markup=False)

        if not settings.as_json:
            show(tables.wide(Console(highlight=False)))
        settings.keep_note(records, len(results), show, notes.OPEN)


def read_parameter(game: str, player: str, text: str, r_end: float) -> Parameter:
    """What --parameter says. Raises QuartetError."""
    if versions.parse(player) is not None or not registry.is_player(game, player):
        raise QuartetError(f"{player!r} is no built-in player of {game}, which alone can be tuned")
    bare, given = parse_player(player)
    declared = options_of(registry.load(game, "players").player(player))
    options = {option.name: option for option in declared if option.kind in {int, float}}
    name, _, rest = text.partition("=")
    if name not in options:
        raise UnknownNameError(
            f"{bare} has no number {name!r} to tune; there are: {', '.join(options) or 'none'}"
        )
    option = options[name]
    span, _, step = rest.partition("/")
    least, most = option.least, option.most
    start = float(option.read(given[name]) if name in given else option.default)
    try:
        if span:
            low, _, high = span.partition("..")
            least, most = float(low), float(high)
        c_end = float(step) if step else (most - least) / optimisers.C_PARTS
    except ValueError:
        raise QuartetError(f"--parameter wants NAME=LEAST..MOST/C_END, not {text!r}") from None
    if not option.least <= least < most <= option.most:
        raise QuartetError(f"--parameter {text}: {name} takes {option.range}, the least first")
    if not least <= start <= most:
        raise QuartetError(f"--parameter {text}: {name} begins at {start:g}, out of the range")
    if not c_end > 0:
        raise QuartetError(f"--parameter {text}: a perturbation must be positive")
    return Parameter(name, option.kind is int, start, least, most, c_end, r_end)


def opponents_of(game: str, against: Sequence[str]) -> list[str]:
    """Who sits at the tables beside the settings; nobody where two play. Raises QuartetError."""
    others = games.load(game).info.players - 1
    if others == 1:
        if against:
            raise QuartetError(
                "--against is for tables of more than two; here settings play theirs"
            )
        return []
    pool = registry.pool(game)
    found = list(against)
    if not found:
        if pool is None:
            raise QuartetError(f"{game} has no pool of opponents; name some with --against")
        found = [n for half, names in pool.HALVES.items() if half != pool.TEST_HALF for n in names]
    registry.require_training(game, map(versions.player_of, found))
    if len(found) < others:
        raise QuartetError(f"--against wants {others} opponents at least, or none")
    return found


def optimiser_of(
    method: str,
    parameters: Sequence[Parameter],
    match: Match,
    total: int,
    batch: int,
    seed: int,
    gains: dict[str, float],
) -> Optimiser:
    """The optimiser of a method. Raises QuartetError."""
    if method == "cma":
        return Cma(list(parameters), batch=batch, seed=seed)
    if method == "parzen":
        return Parzen(list(parameters), batch=batch, seed=seed)
    iterations = match.pairs * -(-total // match.trial_games)
    return Spsa(list(parameters), iterations, pairs=match.pairs, batch=batch, seed=seed, **gains)


def with_values(game: str, player: str, parameters: Sequence[Parameter], values: Values) -> str:
    """The player with these values, as it is written."""
    bare, given = parse_player(player)
    declared = options_of(registry.load(game, "players").player(bare))
    options: dict[str, Option] = {option.name: option for option in declared}
    texts = {
        parameter.name: options[parameter.name].text(int(value) if parameter.whole else value)
        for parameter, value in zip(parameters, values, strict=True)
    }
    return write_player(bare, {**given, **texts})


def command_of(settings: Settings, game: str, new: str, old: str, after: int) -> str:
    """The sequential test of the tuned player against the old one, as the games were, from openings
    behind the first `after`."""
    words = ["quartet", "sprt", game, new, old]
    words += ["--in-process"] if settings.in_process else []
    for option, texts in (
        ("--nodes", settings.nodes),
        ("--clock", settings.clock),
        ("--option", settings.variants),
    ):
        words += [word for text in texts for word in (option, text)]
    return shlex.join([*words, "--seed", str(settings.seed + after)])


def table(start: dict[str, float], steps: Sequence[Step]) -> RenderableType:
    """The way that the values took, in some lines; the outcome is that of the batch before."""
    grid = tables.grid("games", *start, "outcome")
    grid.add_row("0", *(f"{value:.5g}" for value in start.values()), "")
    shown = {len(steps) * i // LINES - 1 for i in range(1, LINES + 1)} & set(range(len(steps)))
    for number in sorted(shown):
        step = steps[number]
        values = (f"{step.values[name]:.5g}" for name in start)
        grid.add_row(str(step.games), *values, f"{step.outcome:+.3f}")
    return grid
