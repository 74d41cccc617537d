"""`quartet match`: one game between programs, played as the contest's server plays it."""

from __future__ import annotations

import json
import math
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from core.errors import QuartetError
from quartet import registry
from quartet.arena.launch import launch
from quartet.cli import drawing, linematch
from quartet.cli import variants as variant_options
from quartet.cli.human import Human
from quartet.cli.screen import Screen, require_keyboard
from quartet.judge import referee
from quartet.judge.program import Program, exchange_of
from quartet.judge.record import LogWriter, Turn
from quartet.judge.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quartet.judge.referee import Player

NOBODY, PERSON = "none", "human"
OPTION_NAMES = {
    "position": "--position",
    "first": "-a",
    "second": "-b",
    "cwd1": "--cwd1",
    "cwd2": "--cwd2",
    "config": "--config",
    "ready_seconds": "--ready-seconds",
    "cpu": "--cpu",
    "replay_overloaded": "--replay-overloaded",
}
"""Options of `match` that are for games of lines, by their parameters."""


def _positive(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    """Check a limit."""
    if value is not None and not (0 < value < math.inf):
        raise click.BadParameter(f"{value} is not a positive number")
    return value


@click.command(short_help="Play one game between programs.")
@click.argument("game")
@click.argument("programs", nargs=-1, metavar="PROGRAM...")
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Seed of everything that is left to chance.",
)
@click.option(
    "--moves",
    type=click.IntRange(min=1),
    help="Moves for each player until the game is stopped  [default: the game's].",
)
@click.option("--play-out", is_flag=True, help="Finish the round in which a player comes home.")
@variant_options.option
@click.option(
    "--disqualify", is_flag=True, help="The first lost turn puts a player out; it ranks last."
)
@click.option(
    "--seconds",
    type=float,
    callback=_positive,
    help="Wall clock for a move, or for all moves of a game of lines  [default: the judge's].",
)
@click.option(
    "--megabytes",
    type=float,
    callback=_positive,
    help="Memory for a program and its children  [default: the judge's].",
)
@click.option(
    "--log", "-l", "log_file", type=click.Path(path_type=Path), help="Record the game in this file."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, and nothing else.")
@click.option("--quiet", "-s", is_flag=True, help="Print the result only, no boards.")
@click.option(
    "--step",
    is_flag=True,
    help="Wait for a key after every move: i for the next one, p to run on, q to leave.",
)
@click.option(
    "--delay",
    type=click.IntRange(min=0),
    default=0,
    metavar="MS",
    help="Wait so many milliseconds after every move.",
)
@click.option(
    "--position",
    "--input",
    "-i",
    "position",
    metavar="POSITION",
    help="Lines: the start, as the game writes it, or in the tool's input file.",
)
@click.option("-a", "first", metavar="PROGRAM", help="Lines: FIRST, instead of the first PROGRAM.")
@click.option(
    "-b", "second", metavar="PROGRAM", help="Lines: SECOND, instead of the second PROGRAM."
)
@click.option(
    "--cwd1",
    type=click.Path(path_type=Path),
    help="Lines: the folder in which FIRST runs  [default: this one].",
)
@click.option(
    "--cwd2", type=click.Path(path_type=Path), help="Lines: the folder in which SECOND runs."
)
@click.option(
    "--config",
    "-c",
    type=click.Path(path_type=Path),
    help="Lines: a file with INPUT, LOG, EXEC1, EXEC2, CWD1, CWD2, as KEY=VALUE; options come first.",
)
@click.option(
    "--ready-seconds",
    type=float,
    callback=_positive,
    help="Lines: until the answer to READY  [default: the judge's].",
)
@click.option(
    "--cpu",
    is_flag=True,
    help="Lines: clocks count processor time, as NYPC's graders say, instead of wall clock.",
)
@click.option(
    "--replay-overloaded",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Lines: play up to N times again when a time-out came on an overloaded machine.",
)
def command(
    game: str,
    programs: tuple[str, ...],
    seed: int,
    moves: int | None,
    play_out: bool,
    variants: tuple[str, ...],
    disqualify: bool,
    seconds: float | None,
    megabytes: float | None,
    log_file: Path | None,
    as_json: bool,
    quiet: bool,
    step: bool,
    delay: int,
    **of_lines: Any,
) -> None:
    """Play one game of GAME, one PROGRAM for each seat, clockwise from the top left.

    A PROGRAM is an executable file, a shell command, a built-in player (`quartet games` lists
    them), `human` for a person at this terminal, or `none` for an empty seat. `uai:COMMAND` is an
    engine that speaks UAI, for the game that has such engines.

    Where the judge exchanges files, a program runs in a private folder of its own, started anew for
    every move; a shell command needs absolute paths. It sees the board turned so that it is player
    1 at the top left. Whatever it does wrong costs it the turn, with the reason in the log (JSON
    Lines).

    Where the judge speaks lines, two programs run for the whole game in this folder, or where
    --cwd1 and --cwd2 say, and are spoken to on standard input and output. The first foul loses the
    game. The log is the official tool's. Without a PROGRAM the file setting.ini or config.ini of
    this folder says what to do. `human` and `none` cannot play.

    In the end every program is ended, with all its children.

    \b
    quartet match ugolki bot greedy greedy random --log game.jsonl
    quartet match ugolki "python3 $PWD/mine.py" bot none none --moves 30 --quiet
    quartet match ugolki human bot bot bot
    quartet match connexion -i input.txt -l log.txt -a "python3 mine.py" -b sample
    """
    info = registry.load(game, "reference").INFO
    options = variant_options.read(game, variants)
    if moves is not None:
        options["moves"] = moves
    if play_out:
        options["play_out"] = True
    if info.lines is not None:
        if disqualify:
            raise QuartetError(f"--disqualify: the first foul of a game of {game} loses it anyway")
        linematch.command(
            game,
            linematch.Request(
                programs=programs,
                seed=seed,
                options=options,
                seconds=seconds,
                megabytes=megabytes,
                log=log_file,
                as_json=as_json,
                quiet=quiet,
                step=step,
                delay=delay,
                **of_lines,
            ),
        )
        return
    for name, value in of_lines.items():
        if value:
            raise QuartetError(
                f"{OPTION_NAMES.get(name, name)} is for games whose judge speaks lines, and that of {game} does not"
            )
    if not programs:
        raise click.UsageError("Missing argument 'PROGRAM...'", click.get_current_context())
    exchange = info.exchange
    header = referee.header(
        game,
        [None if program == NOBODY else program for program in programs],
        seed=seed,
        options=options,
        disqualify=disqualify,
        seconds=seconds or (exchange.seconds if exchange else 0),
        megabytes=megabytes or (exchange.megabytes if exchange else 0),
    )
    table = Table(header)
    exchange_of(table)
    console = Console(highlight=False)
    if PERSON in programs:
        if as_json or quiet:
            raise QuartetError("a person needs to see the board: leave away --json and --quiet")
        require_keyboard("a person")
    screen = None if as_json or quiet else Screen(console, delay=delay / 1000, step=step)
    with ExitStack() as cleanup:
        players = [_player(game, program, console) for program in programs]
        for player in players:
            if player is not None:
                cleanup.callback(player.close)
        log = None if log_file is None else cleanup.enter_context(LogWriter(log_file))
        try:
            turns = _play(table, players, screen, log)
        except KeyboardInterrupt:
            kept = "" if log_file is None else f"; the log is kept in {log_file}"
            print(
                f"\nquartet: the game was left after {table.position.ply} plies{kept}",
                file=sys.stderr,
            )
            raise
    _print_result(console, table, turns, as_json=as_json)


def _player(game: str, program: str, console: Console) -> Player | None:
    """Whoever plays for what was named on the command line."""
    if program == NOBODY:
        return None
    if program == PERSON:
        return Human(console)
    return Program(*launch(game, program))


def _play(
    table: Table, players: Sequence[Player | None], screen: Screen | None, log: LogWriter | None
) -> list[Turn]:
    """Play to the end, show and record every turn as it happens."""
    turns = []
    if log is not None:
        log.write(table.header)
    if screen is not None:
        screen.show_start(table)
    for _, turn in referee.turns(table, players):
        turns.append(turn)
        if log is not None:
            log.write(turn)
        if screen is not None:
            screen.show(table, turn)
    if log is not None:
        log.write(table.result())
    return turns


def _print_result(console: Console, table: Table, turns: Sequence[Turn], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(referee.summary(table, turns), indent=2))
        return
    result = table.result()
    console.print()
    console.print(
        f"{table.game.info.title}: the game ended after {result.plies} plies", style="bold"
    )
    console.print(drawing.result_table(table, result))
    for line in drawing.reasons(table, turns):
        console.print(line, soft_wrap=True)
