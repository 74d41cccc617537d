"""`quartet tune`: better values for the options of an engine, by games."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import click
import msgspec
from click.core import ParameterSource
from rich.console import Console, RenderableType

from core.engine import Option, options_of, parse_player, write_player
from core.errors import QuartetError, UnknownNameError
from quartet import registry
from quartet.arena import notes, optimisers, tuning
from quartet.arena.gauntlet import draw_tables
from quartet.arena.optimisers import Cma, Optimiser, Parameter, Parzen, Spsa, Values
from quartet.arena.tuning import Step, Trajectory, TrialGames
from quartet.cli import run_options, tables
from quartet.cli.run_options import RunOptions
from quartet.judge import game as games
from quartet.judge.seats import versions

METHODS = {"spsa": (1, 8), "cma": (32, 16), "parzen": (32, 8)}
"""Default pairs of a trial and trials of a batch, by method."""
SPSA = ("r_end", "a_ratio", "alpha", "gamma")
"""Options of SPSA alone."""
EXPONENT = click.FloatRange(0, 10)
"""Exponents of SPSA; greater ones overflow."""
MAX_LINES = 20
"""Lines of the table of a trajectory, at most."""


@click.command(short_help="Tune options of an engine by games.")
@click.argument("game")
@click.option(
    "--player",
    default="bot",
    show_default=True,
    help="The player to tune, with options that stay fixed and first values of the parameters.",
)
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    required=True,
    metavar="NAME[=LEAST..MOST[/C_END]]",
    help="An option to tune, its range  [default: its whole range], and SPSA's perturbation in the "
    "last iteration  [default: 1/20 of the range].",
)
@click.option(
    "--games",
    type=click.IntRange(min=1),
    required=True,
    help="Games of the run, rounded up to whole trials; with CMA-ES and Parzen estimators to whole "
    "batches.",
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
    help="Pairs of games per trial  [default: 1; 32 for CMA-ES and Parzen estimators].",
)
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    help="Trials per batch, all from the same values  [default: 8; CMA-ES 16].",
)
@click.option(
    "--r-end",
    type=click.FloatRange(min=0, min_open=True),
    default=optimisers.R_END,
    show_default=True,
    help="SPSA: learning rate in the last iteration.",
)
@click.option(
    "--a-ratio",
    type=click.FloatRange(min=0),
    default=optimisers.A_RATIO,
    show_default=True,
    help="SPSA: stability constant A, as a fraction of all iterations.",
)
@click.option(
    "--alpha",
    type=EXPONENT,
    default=optimisers.ALPHA,
    show_default=True,
    help="SPSA: exponent of a.",
)
@click.option(
    "--gamma",
    type=EXPONENT,
    default=optimisers.GAMMA,
    show_default=True,
    help="SPSA: exponent of c.",
)
@click.option(
    "--against",
    multiple=True,
    metavar="NAME",
    help="If more than two play: draw the opponents from those named; repeat it  [default: the "
    "training set of the game's pool].",
)
@run_options.options
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
    """Tune options of a built-in player of GAME. Print the player with its new options, and the
    command that tests them against the old ones.

    A trial is two settings that play each other, both sides of each opening. SPSA perturbs all
    parameters at random and moves them towards the winning side. CMA-ES and the Parzen estimators
    (extra `tune`) try settings against the first ones. If more than two play, both settings take
    every seat in turn, with the same opponents. Players of the pool's test set are rejected.

    If --nodes bounds the search, the outcome depends neither on --jobs nor on interruptions. The
    same command resumes. `quartet runs FOLDER` shows how the values changed.

    \b
    quartet tune ataxx --parameter reduction=1..4 --parameter futility=10..200 --games 20000 \\
        --r-end 0.01 --in-process --nodes 5000 --option opening=4
    quartet tune ugolki --parameter exploration=0.2..1.5 --method cma --games 16000 \\
        --parameter prior_percent=10..100 --in-process --nodes 1000 --option opening=4
    """
    settings = RunOptions.read(options)
    if method != "spsa":
        source = click.get_current_context().get_parameter_source
        given = [name for name in SPSA if source(name) is ParameterSource.COMMANDLINE]
        if given or any("/" in text for text in parameters):
            option = f"--{given[0].replace('_', '-')}" if given else "a perturbation, /C_END,"
            raise QuartetError(f"{option} is for --method spsa")
    chosen = [read_parameter(game, player, text, r_end) for text in parameters]
    names = [parameter.name for parameter in chosen]
    if len(set(names)) < len(names):
        raise QuartetError(f"a parameter is named twice: {', '.join(names)}")
    opponents = opponents_of(game, against)
    config = settings.config(
        game, [("first", player), ("second", player), *((name, name) for name in opponents)]
    )
    usual = METHODS[method]
    pairs, batch = pairs or usual[0], batch or usual[1]

    def written(values: Values) -> str:
        return with_values(game, player, chosen, values)

    trials = TrialGames(config, written, pairs)
    needed = -(-games // trials.pair_games) + pairs * batch
    if opponents:
        numbers = list(range(2, len(config.players)))
        drawn = draw_tables(numbers, config.seats, needed, str(config.seed))
        trials = TrialGames(config, written, pairs, [table[1:] for table in drawn])
    gains = {"a_ratio": a_ratio, "alpha": alpha, "gamma": gamma}
    optimiser = optimiser_of(method, chosen, trials, games, batch, config.seed, gains)
    unit = trials.trial_games * (1 if method == "spsa" else batch)
    total = -(-games // unit) * unit
    facts = {
        "parameters": [msgspec.to_builtins(parameter) for parameter in chosen],
        "method": method,
        "games": games,
        "pairs": pairs,
        "batch": batch,
        **(gains if method == "spsa" else {}),
    }
    with (
        settings.records("tune", config, **facts) as records,
        closing(Trajectory(records)) as trajectory,
    ):
        start = tuning.values_of(records.plan)
        results = run_options.run(
            settings,
            config,
            records,
            lambda done: tuning.schedule(trials, optimiser, done, games, names, trajectory.add),
            lambda _: table(start, trajectory.steps),
            total,
        )
        best = optimiser.best()
        tuned = written(tuple(p.rounded(v) for p, v in zip(chosen, best, strict=True)))
        test = command_of(settings, game, tuned, player, needed)

        def show(console: Console) -> None:
            console.print(table(start, trajectory.steps))
            for line in (
                f"{tuned}, by {len(results)} games",
                f"test against the old values: {test}",
                f"records: {records.folder}",
            ):
                console.print(line, soft_wrap=True, markup=False)

        if settings.as_json:
            found = {
                "folder": str(records.folder),
                "games": len(results),
                "player": tuned,
                "values": dict(zip(names, best, strict=True)),
                "test": test,
            }
            print(json.dumps(found, indent=2))
        else:
            show(tables.wide(Console(highlight=False)))
        settings.keep_note(records, len(results), show, notes.OPEN)


def options_by_name(game: str, player: str) -> dict[str, Option]:
    """Return the options that a built-in player declares."""
    declared = options_of(registry.load(game, "players").player(player))
    return {option.name: option for option in declared}


def read_parameter(game: str, player: str, text: str, r_end: float) -> Parameter:
    """Return the parameter that --parameter describes. Raises QuartetError."""
    if versions.parse(player) is not None or not registry.is_player(game, player):
        raise QuartetError(
            f"{player!r} is not a built-in player of {game}: only these can be tuned"
        )
    bare, given = parse_player(player)
    declared = options_by_name(game, player)
    options = {name: option for name, option in declared.items() if option.kind in {int, float}}
    name, _, rest = text.partition("=")
    if name not in options:
        raise UnknownNameError(
            f"{bare} has no number {name!r} to tune; there are: {', '.join(options) or 'none'}"
        )
    option = options[name]
    span, _, step = rest.partition("/")
    least, most = option.minimum, option.maximum
    start = float(option.read(given[name]) if name in given else option.default)
    try:
        if span:
            low, _, high = span.partition("..")
            least, most = float(low), float(high)
        c_end = float(step) if step else (most - least) / optimisers.C_PARTS
    except ValueError:
        raise QuartetError(f"--parameter wants NAME=LEAST..MOST/C_END, not {text!r}") from None
    if not option.minimum <= least < most <= option.maximum:
        raise QuartetError(f"--parameter {text}: {name} takes {option.range}, the least first")
    if not least <= start <= most:
        raise QuartetError(f"--parameter {text}: {name} begins at {start:g}, out of the range")
    if not 0 < c_end <= most - least:
        raise QuartetError(
            f"--parameter {text}: a perturbation must be positive, and at most the range"
        )
    return Parameter(name, option.kind is int, start, least, most, c_end, r_end)


def opponents_of(game: str, against: Sequence[str]) -> list[str]:
    """Return the opponents of the settings, [] if two play. Raises QuartetError."""
    others = games.load(game).info.players - 1
    if others == 1:
        if against:
            raise QuartetError(
                "--against is for tables of more than two; here settings play each other"
            )
        return []
    found = list(against) or registry.training_set(game)
    if not found:
        raise QuartetError(f"{game} has no pool of opponents; name some with --against")
    registry.require_training(game, map(versions.player_of, found))
    if len(found) < others:
        raise QuartetError(f"--against wants {others} opponents at least, or none")
    return found


def optimiser_of(
    method: str,
    parameters: Sequence[Parameter],
    trials: TrialGames,
    total: int,
    batch: int,
    seed: int,
    gains: dict[str, float],
) -> Optimiser:
    """Return the optimiser of a method. Raises QuartetError."""
    if method == "cma":
        return Cma(list(parameters), batch=batch, seed=seed)
    if method == "parzen":
        return Parzen(list(parameters), batch=batch, seed=seed)
    iterations = trials.pairs * -(-total // trials.trial_games)
    return Spsa(list(parameters), iterations, pairs=trials.pairs, batch=batch, seed=seed, **gains)


def with_values(game: str, player: str, parameters: Sequence[Parameter], values: Values) -> str:
    """Return the player with these values, as a command."""
    bare, given = parse_player(player)
    options = options_by_name(game, bare)
    texts = {
        parameter.name: options[parameter.name].text(int(value) if parameter.whole else value)
        for parameter, value in zip(parameters, values, strict=True)
    }
    return write_player(bare, {**given, **texts})


def command_of(settings: RunOptions, game: str, new: str, old: str, after: int) -> str:
    """Return the command of a sequential test of the tuned player against the old one.

    It plays as the tuning did, from openings after the first `after`. Limits of single players are
    left out: the test has other players.
    """
    words = ["quartet", "sprt", game, new, old]
    for name, value in settings.changed.items():
        words.append(f"--{name.replace('_', '-')}")
        words += [] if value is True else [str(value)]
    for option, texts in (
        ("--nodes", [text for text in settings.nodes if "=" not in text]),
        ("--clock", [text for text in settings.clock if "=" not in text]),
        ("--option", settings.variants),
    ):
        words += [word for text in texts for word in (option, text)]
    return shlex.join([*words, "--seed", str(settings.fields["seed"] + after)])


def table(start: dict[str, float], steps: Sequence[Step]) -> RenderableType:
    """Return some steps of a trajectory as a table, each with the outcome of its batch."""
    grid = tables.grid("games", *start, "outcome")
    grid.add_row("0", *(f"{value:.5g}" for value in start.values()), "")
    last = {len(steps) * i // MAX_LINES - 1 for i in range(1, MAX_LINES + 1)}
    for number in sorted(last & set(range(len(steps)))):
        step = steps[number]
        values = (f"{step.values[name]:.5g}" for name in start)
        grid.add_row(str(step.games), *values, f"{step.outcome:+.3f}")
    return grid
