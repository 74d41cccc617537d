"""`quartet match`: one game as the game's real judge plays it."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click
from rich.console import Console

from core.errors import QuartetError
from quartet.cli import game_options, outputs, seats, settings, tables
from quartet.cli.paths import PathType
from quartet.cli.seats import Setup
from quartet.cli.terminal import drawing
from quartet.cli.terminal.screen import Screen, pacing, require_keyboard
from quartet.judge import game as games
from quartet.judge.game import JudgedGame, Start
from quartet.judge.logs import official
from quartet.judge.logs.check import origin
from quartet.judge.logs.jsonl import JsonFile
from quartet.judge.match import Match, Watcher
from quartet.judge.seats.players import PERSON
from quartet.judge.seats.seat import Seat
from quartet.judge.seats.seating import SeatSetup
from quartet.judge.table import TableRules, table_rules
from quartet.judge.turn import Result

LINE_OPTIONS = {
    "first": "-a",
    "second": "-b",
    "cwd1": "--cwd1",
    "cwd2": "--cwd2",
    "config": "--config",
    "ready_seconds": "--ready-seconds",
    "cpu": "--cpu",
    "replay_overloaded": "--replay-overloaded",
}
"""Parameter -> option, for those of line-protocol games."""


def _positive(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    """Check a limit."""
    if value is not None and not (0 < value < math.inf):
        raise click.BadParameter(f"{value} is not a positive number")
    return value


@click.command(short_help="Play one game.")
@click.argument("game")
@click.argument("programs", nargs=-1, metavar="PROGRAM...")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of everything random in the game."
)
@click.option(
    "--moves",
    type=click.IntRange(min=1),
    help="Stop the game after N moves of each player  [default: the game's].",
    metavar="N",
)
@click.option("--play-out", is_flag=True, help="Finish the round in which a player comes home.")
@game_options.variants
@game_options.sandboxed
@click.option(
    "--disqualify",
    is_flag=True,
    help="Disqualify a player at its first forfeited turn; it ranks last.",
)
@click.option(
    "--seconds",
    type=float,
    callback=_positive,
    help="Wall clock for a move; in a line-protocol game for all moves  [default: the judge's].",
)
@click.option("--human-clock", is_flag=True, help="Run the clock of a human, too.")
@click.option(
    "--megabytes",
    type=float,
    callback=_positive,
    help="Memory of a program and its children, in MiB  [default: the judge's].",
)
@click.option("--log", "-l", "log_file", type=PathType(), help="Record the game in this file.")
@click.option("--json", "as_json", is_flag=True, help="Print only the result, as JSON.")
@click.option("--quiet", "-s", is_flag=True, help="Print only the result, no boards.")
@pacing
@click.option(
    "--position",
    "--input",
    "-i",
    "position",
    metavar="POSITION",
    help="Start from this position: in the game's notation, or a file such as the tool's input.",
)
@click.option("-a", "first", metavar="PROGRAM", help="Line protocol: program of FIRST.")
@click.option("-b", "second", metavar="PROGRAM", help="Line protocol: program of SECOND.")
@click.option(
    "--cwd1",
    type=PathType(),
    help="Line protocol: working directory of FIRST  [default: the current one].",
)
@click.option(
    "--cwd2",
    type=PathType(),
    help="Line protocol: working directory of SECOND  [default: the current one].",
)
@click.option(
    "--config",
    "-c",
    type=PathType(),
    help="Line protocol: settings file with INPUT, LOG, EXEC1, EXEC2, CWD1, CWD2 as KEY=VALUE; "
    "options override it.",
)
@click.option(
    "--ready-seconds",
    type=float,
    callback=_positive,
    help="Line protocol: time until the answer to READY  [default: the judge's].",
)
@click.option(
    "--cpu",
    is_flag=True,
    help="Line protocol: clocks count processor time, as NYPC's graders say, not wall clock.",
)
@click.option(
    "--replay-overloaded",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Line protocol: after a time-out on an overloaded machine, play up to N times again.",
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
    human_clock: bool,
    megabytes: float | None,
    log_file: Path | None,
    as_json: bool,
    quiet: bool,
    step: bool,
    delay: int,
    position: str | None,
    first: str | None,
    second: str | None,
    cwd1: Path | None,
    cwd2: Path | None,
    config: Path | None,
    ready_seconds: float | None,
    cpu: bool,
    replay_overloaded: int,
) -> None:
    """Play one game of GAME, with one PROGRAM for each seat, clockwise from the top left.

    A PROGRAM is one of:

    \b
    - a built-in player (`quartet games` lists the usual ones), with or without options
    - an executable file or a shell command
    - `git:REF`, the bot of a commit of this project, or `git:REF:PLAYER`
    - `uai:COMMAND`, an engine that speaks UAI (Ataxx)
    - `human`, a human at this terminal
    - `none`, an empty seat (Ugolki)

    File protocol: each program runs in a private folder, once per move; a shell command needs
    absolute paths. It sees the board turned so that it is player 1 at the top left. An illegal,
    late or missing move forfeits the turn; the log (JSON Lines) gives the reason.

    Line protocol: two programs run for the whole game in this folder, or in those of --cwd1 and
    --cwd2, and communicate by standard input and output. The first forfeit loses the game. The log
    has the official tool's format. Without a PROGRAM the settings are read from setting.ini or
    config.ini in this folder.

    With a human at the table, built-in players play in this process, so that moves can be taken
    back. A human's clock runs only with --human-clock. At the end every program is ended, with all
    its children.

    \b
    quartet match ugolki bot greedy greedy random --log game.jsonl
    quartet match ugolki "python3 $PWD/mine.py" bot none none --moves 30 --quiet
    quartet match ataxx human bot
    quartet match connexion -i input.txt -l log.txt -a "python3 mine.py" -b sample
    """
    known = games.load(game)
    info, has_lines = known.info, known.info.lines is not None
    if (as_json or quiet) and (step or delay):
        shown, omitted = ("--step" if step else "--delay"), ("--json" if as_json else "--quiet")
        raise QuartetError(f"{shown} is for boards: omit it or {omitted}")
    texts = [*variants]
    if moves is not None:
        texts.append(f"moves={moves}")
    if play_out:
        texts.append("play_out=true")
    options = game_options.read_variants(game, texts)
    if has_lines and not (programs or first or second):
        config = config or settings.find()
    keys = _settings(known, config)
    if has_lines:
        programs = (*seats.two_programs(known, programs, (first, second), keys),)
    if PERSON in programs and len(programs) == info.players:
        if as_json or quiet:
            raise QuartetError("a human needs to see the board: omit --json and --quiet")
        require_keyboard("a human")
    folders = [cwd1 or keys.get("CWD1"), cwd2 or keys.get("CWD2")]
    setups = seats.setups(known, programs, folders, seed)
    log = log_file or (Path(keys["LOG"]) if "LOG" in keys else None)
    read = [config, position or keys.get("INPUT"), *seats.files(setups)]
    outputs.require("--log", log, inputs=read, is_own=lambda data: origin(data) is not None)
    if log is not None and has_lines and (lasting := known.lasting(options)):
        print(
            f"quartet: the judge's log format does not record the option {next(iter(lasting))}, so replay and "
            "review may reject this log",
            file=sys.stderr,
        )
    table = table_rules(
        info,
        ms=[None if seconds is None else 1000 * seconds] * info.players,
        megabytes=megabytes,
        ready_ms=None if ready_seconds is None else max(1, round(1000 * ready_seconds)),
        cpu=cpu,
        disqualify=disqualify,
    )
    try:
        start = game_options.read_start(known, position or keys.get("INPUT"), options, seed=seed)
    except QuartetError as error:
        if position or "INPUT" not in keys:
            raise
        raise QuartetError(f"{config}: INPUT: {error}") from error
    console = tables.wide(Console(highlight=False))
    shows = not (as_json or quiet)
    attempts = 0
    while True:
        attempts += 1
        screen = Screen(console, delay=delay / 1000, step=step) if shows else None
        players = seats.make(known, setups, start, console, human_clock=human_clock)
        match, result = _play(known, setups, players, table, start, log, screen)
        if not result.overloaded or attempts > replay_overloaded:
            break
        print(f"quartet: {result.reason}; the game is played again", file=sys.stderr)
    if as_json:
        print(json.dumps(_summary(match, result, attempts), indent=2))
    else:
        _show(console, match, result)


def _settings(game: JudgedGame, config: Path | None) -> dict[str, str]:
    """Return the settings of a file in the official tools' form, and check options.

    Args:
        game: The game.
        config: The file, None for no settings.

    Raises:
        QuartetError: An option does not fit the game.
    """
    context = click.get_current_context()
    if game.info.lines is not None:
        if context.params["disqualify"]:
            raise QuartetError(
                f"--disqualify: the first forfeit of a game of {game.info.name} loses it anyway"
            )
        return settings.read(config)
    for parameter, option in LINE_OPTIONS.items():
        if context.params[parameter]:
            raise QuartetError(
                f"{option} is for line-protocol games, and {game.info.name} is not one"
            )
    if not context.params["programs"]:
        raise click.UsageError("Missing argument 'PROGRAM...'", context)
    return {}


def _play(
    game: JudgedGame,
    setups: Sequence[Setup],
    players: Sequence[Seat | None],
    table: TableRules,
    start: Start,
    log: Path | None,
    screen: Screen | None,
) -> tuple[Match, Result]:
    """Play a game to its end, and write a log however it ends."""
    names = [s.player.label if isinstance(s, SeatSetup) else s for s in setups]
    watchers: list[Watcher] = []
    with ExitStack() as cleanup:
        match = cleanup.enter_context(Match(game, players, names, table, start, watchers=watchers))
        if match.position.over:
            raise QuartetError(
                f"{'the start' if start.text is None else 'POSITION'}: the game is over"
            )
        # The log comes last: a command that is rejected does not touch an old one.
        if log is not None and game.info.lines is not None:
            _write(log, "")  # an error must not wait for the end of the game
            cleanup.callback(lambda: _write(log, official.text(match)))
        elif log is not None:
            watchers.append(cleanup.enter_context(JsonFile(log)))
        if screen is not None:
            watchers.append(screen)
        try:
            result = match.play_out()
        except KeyboardInterrupt:
            kept = "" if log is None else f"; the log is in {log}"
            plies = match.position.ply
            print(f"\nquartet: the game was aborted after {plies} plies{kept}", file=sys.stderr)
            raise
    return match, result


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise QuartetError(f"cannot write the log {path}: {error.strerror}") from error


def _summary(match: Match, result: Result, attempts: int) -> dict[str, object]:
    """Return a match for JSON: why it ended, and what every seat scored and used."""
    said = [
        (turn.ply, turn.seat, text) for turn in match.turns for text in turn.stderr.splitlines()
    ]
    said += [(turn.ply, seat, text) for turn in match.turns for seat, text in turn.said]
    said += [(result.plies, seat, text) for seat, text in result.said]
    seats = []
    for seat, name in enumerate(match.names):
        report = result.exits[seat] if result.exits else None
        seats.append(
            {
                "seat": seat,
                "player": name,
                "score": result.scores[seat],
                "place": result.places[seat],
                "share": result.shares[seat],
                "foul": result.code if seat == result.offender else None,
                "disqualified": seat in result.disqualified,
                "lost": [
                    {"ply": turn.ply, "verdict": turn.verdict.value, "reason": turn.reason}
                    for turn in match.turns
                    if turn.seat == seat and turn.verdict.lost
                ],
                "exit": report and report.exit,
                "cpu_seconds": report and round(report.seconds, 6),
                "megabytes": report and round(report.megabytes, 3),
                "left_behind": report and report.left_behind,
                "stderr": [{"ply": ply, "text": text} for ply, own, text in said if own == seat],
            }
        )
    return {
        "game": match.game.info.name,
        "seed": match.start.seed,
        "options": dict(match.start.options),
        "score": match.game.info.score_name,
        "plies": result.plies,
        "termination": result.termination.value,
        "reason": result.reason,
        "overloaded": result.overloaded,
        "games_played": attempts,
        "notes": list(result.notes),
        "seats": seats,
    }


def _show(console: Console, match: Match, result: Result) -> None:
    """Print the result of a match."""
    console.print()
    words = f"{match.game.info.title}: {result.reason}, after {result.plies} plies"
    console.print(words, style="bold", soft_wrap=True, markup=False)
    console.print(drawing.result_table(match, result))
    if result.offender is None:
        for line in drawing.reasons(match):
            console.print(line, soft_wrap=True)
    for note in result.notes:
        console.print(note, style="red", soft_wrap=True, markup=False)
