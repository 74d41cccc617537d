"""`quartet match`: one game, as the game's real judge plays it, between whoever sits at the
table."""

from __future__ import annotations

import json
import math
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from core.errors import QuartetError
from core.messages import SIDES
from quartet import registry
from quartet.arena import builds
from quartet.cli import drawing, human, positions, settings
from quartet.cli import variants as variant_options
from quartet.cli.screen import Screen, pacing, require_keyboard
from quartet.judge import game as games
from quartet.judge.game import Game, Start
from quartet.judge.logs import official
from quartet.judge.logs.jsonl import JsonFile
from quartet.judge.match import Match, Watcher
from quartet.judge.process.pipes import hub
from quartet.judge.seats import players as seating
from quartet.judge.seats import versions
from quartet.judge.seats.person import PersonSeat
from quartet.judge.seats.players import NOBODY, PERSON, Player
from quartet.judge.table import table_rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from quartet.judge.seats.seat import Seat
    from quartet.judge.table import TableRules
    from quartet.judge.turn import Result

OF_LINES = {
    "first": "-a",
    "second": "-b",
    "cwd1": "--cwd1",
    "cwd2": "--cwd2",
    "config": "--config",
    "ready_seconds": "--ready-seconds",
    "cpu": "--cpu",
    "replay_overloaded": "--replay-overloaded",
}
"""Options that are for games whose judge speaks lines, by their parameters."""


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
@variant_options.sandboxed
@click.option(
    "--disqualify", is_flag=True, help="The first lost turn puts a player out; it ranks last."
)
@click.option(
    "--seconds",
    type=float,
    callback=_positive,
    help="Wall clock for a move, or for all moves of a game of lines  [default: the judge's].",
)
@click.option("--human-clock", is_flag=True, help="The clock of a person runs, too.")
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
@pacing
@click.option(
    "--position",
    "--input",
    "-i",
    "position",
    metavar="POSITION",
    help="The start, as the game writes it, or a file that holds it, such as the tool's input.",
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
    help="Lines: a file with INPUT, LOG, EXEC1, EXEC2, CWD1, CWD2, as KEY=VALUE; options come "
    "first.",
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
def command(game: str, programs: tuple[str, ...], variants: tuple[str, ...], **given: Any) -> None:
    """Play one game of GAME, one PROGRAM for each seat, clockwise from the top left.

    A PROGRAM is an executable file, a shell command, a built-in player (`quartet games` lists
    them), `human` for a person at this terminal, or `none` for an empty seat where the rules know
    one. `git:REF` is the bot of a commit of this project, `git:REF:PLAYER` another player of it.
    `uai:COMMAND` is an engine that speaks UAI, for the game that has such engines.

    Where the judge exchanges files, a program runs in a private folder of its own, started anew for
    every move; a shell command needs absolute paths. It sees the board turned so that it is player
    1 at the top left. Whatever it does wrong costs it the turn, with the reason in the log (JSON
    Lines).

    Where the judge speaks lines, two programs run for the whole game in this folder, or where
    --cwd1 and --cwd2 say, and are spoken to on standard input and output. The first foul loses the
    game. The log is the official tool's. Without a PROGRAM the file setting.ini or config.ini of
    this folder says what to do.

    With a person at the table built-in players play in this process, so that moves can be taken
    back; no clock runs for a person without --human-clock. In the end every program is ended, with
    all its children.

    \b
    quartet match ugolki bot greedy greedy random --log game.jsonl
    quartet match ugolki "python3 $PWD/mine.py" bot none none --moves 30 --quiet
    quartet match ataxx human bot
    quartet match connexion -i input.txt -l log.txt -a "python3 mine.py" -b sample
    """
    known = games.load(game)
    options = variant_options.read(game, variants)
    for name in ("moves", "play_out"):
        if given[name] and name not in known.info.options:
            listed = ", ".join(known.info.options) or "none"
            raise QuartetError(f"{game} has no option {name!r}; there are: {listed}")
        if given[name]:
            options[name] = given[name]
    request = Request(
        known,
        programs,
        options,
        **{name: value for name, value in given.items() if name not in {"moves", "play_out"}},
    )
    console = Console(highlight=False)
    match, attempts = play(request, console)
    assert match.result is not None  # noqa: S101  (it was played to its end)
    if request.as_json:
        print(json.dumps(summary(match, match.result, attempts=attempts), indent=2))
    else:
        _print_result(console, match, match.result)


@dataclass(frozen=True)
class Request:
    """What the command line asks for; the options of `quartet match` tell more."""

    game: Game
    programs: tuple[str, ...]
    options: Mapping[str, bool | int]
    seed: int
    position: str | None
    disqualify: bool
    seconds: float | None
    megabytes: float | None
    human_clock: bool
    log_file: Path | None
    as_json: bool
    quiet: bool
    step: bool
    delay: int
    first: str | None
    second: str | None
    cwd1: Path | None
    cwd2: Path | None
    config: Path | None
    ready_seconds: float | None
    cpu: bool
    replay_overloaded: int

    @property
    def has_lines(self) -> bool:
        """Whether the game's judge speaks lines."""
        return self.game.info.lines is not None

    def settings(self) -> dict[str, str]:
        """Those of a file in the official tools' form."""
        named = self.programs or self.first or self.second
        path = self.config or (settings.find() if self.has_lines and not named else None)
        return settings.read(path)

    def check(self) -> None:
        """Raise QuartetError for options that do not fit the game."""
        name = self.game.info.name
        if self.has_lines and self.disqualify:
            raise QuartetError(f"--disqualify: the first foul of a game of {name} loses it anyway")
        if not self.has_lines:
            for parameter, option in OF_LINES.items():
                if getattr(self, parameter):
                    raise QuartetError(
                        f"{option} is for games whose judge speaks lines, "
                        f"and that of {name} does not"
                    )
            if not self.programs:
                raise click.UsageError("Missing argument 'PROGRAM...'", click.get_current_context())


def play(request: Request, console: Console) -> tuple[Match, int]:
    """Play the game, again where the machine was overloaded and that is asked for.

    Returns:
        The match, and how many games were played.

    Raises:
        QuartetError: somebody or something does not fit the game.
    """
    request.check()
    config = request.settings()
    players = _players(request, config)
    table = _table(request)
    start = _start(request, config)
    log = request.log_file or (Path(config["LOG"]) if "LOG" in config else None)
    attempts = 0
    while True:
        attempts += 1
        match = _play(request, players, table, start, log, console)
        assert match.result is not None  # noqa: S101  (it was played to its end)
        if not match.result.overloaded or attempts > request.replay_overloaded:
            return match, attempts
        print(f"quartet: {match.result.reason}; the game is played again", file=sys.stderr)


def _play(
    request: Request,
    players: Sequence[Player | None],
    table: TableRules,
    start: Start,
    log: Path | None,
    console: Console,
) -> Match:
    """Play to the end, show every turn as it happens, and leave a log however the game ends."""
    names = [None if player is None else versions.short(player.command) for player in players]
    with ExitStack() as cleanup:
        watchers: list[Watcher] = []
        seats = _seats(request, players, start, console)
        for seat in seats:
            if seat is not None:
                cleanup.callback(seat.close)
        match = Match(request.game, seats, names, table, start, watchers=watchers)
        if match.position.over:
            raise QuartetError(f"{request.position or 'the start'}: the game is over")
        screen = (
            None
            if request.as_json or request.quiet
            else Screen(console, delay=request.delay / 1000, step=request.step)
        )
        # The log comes last: nothing that is refused touches an old one.
        if log is not None and request.has_lines:
            _write(log, "")  # an error must not wait for the end of the game
        elif log is not None:
            watchers.append(cleanup.enter_context(JsonFile(log)))
        if screen is not None:
            watchers.append(screen)
        try:
            match.play_out()
        except KeyboardInterrupt:
            kept = "" if log is None else f"; the log is kept in {log}"
            plies = match.position.ply
            print(f"\nquartet: the game was left after {plies} plies{kept}", file=sys.stderr)
            raise
        finally:
            if log is not None and request.has_lines:
                _write(log, official.text(match))
    return match


def _players(request: Request, config: Mapping[str, str]) -> list[Player | None]:
    """Who sits where. Raises QuartetError."""
    info = request.game.info
    given = list(request.programs)
    if request.has_lines:
        given = _two(request, config)
    if len(given) != info.players:
        raise QuartetError(f"{info.name} has {info.players} players, not {len(given)}")
    if PERSON in given:
        if request.as_json or request.quiet:
            raise QuartetError("a person needs to see the board: leave away --json and --quiet")
        require_keyboard("a person")
    folders = [request.cwd1 or config.get("CWD1"), request.cwd2 or config.get("CWD2")]
    players: list[Player | None] = []
    for seat, program in enumerate(given):
        folder = folders[seat] if request.has_lines else None
        if folder is not None and not Path(folder).is_dir():
            raise QuartetError(f"there is no folder {folder}")
        if program not in {NOBODY, PERSON}:
            program = builds.named(info.name, program)  # noqa: PLW2901
            seating.require(request.game, program, folder)
        cwd = None if folder is None else Path(folder)
        players.append(None if program == NOBODY else Player(program, cwd, seed=request.seed))
    return players


def _two(request: Request, config: Mapping[str, str]) -> list[str]:
    """The two programs of a game of lines, as the official tools let them be named."""
    given, found = list(request.programs), []
    for option, key in ((request.first, "EXEC1"), (request.second, "EXEC2")):
        program = option or (given.pop(0) if given else config.get(key))
        if program is None:
            raise QuartetError(
                f"{request.game.info.name} has {len(SIDES)} players: name two programs, "
                "or use -a and -b, or a file with EXEC1 and EXEC2"
            )
        found.append(program)
    if given:
        raise QuartetError(
            f"{request.game.info.name} has {len(SIDES)} players; left over: {' '.join(given)}"
        )
    return found


def _seats(
    request: Request, players: Sequence[Player | None], start: Start, console: Console
) -> list[Seat | None]:
    """With a person at the table built-in players play in this process."""
    persons = [player for player in players if player and player.command == PERSON]
    if not persons:
        return seating.seats_of(request.game, players, start)
    programs = [player.command for player in players if player and player.command != PERSON]
    outside = [
        program for program in programs if not registry.is_player(request.game.info.name, program)
    ]
    seating.start_environment(request.game, start, outside)
    choose, shared = human.chooser(console), hub()
    seats: list[Seat | None] = []
    for seat, player in enumerate(players):
        if player is None:
            seats.append(None)
        elif player.command == PERSON:
            seats.append(PersonSeat(choose, clocked=request.human_clock))
        elif player.command in outside:
            seats.append(seating.program_seat(request.game, player, start, seat, shared))
        else:
            seats.append(seating.engine_seat(request.game, player, clock=True))
    return seats


def _table(request: Request) -> TableRules:
    info = request.game.info
    ms = None if request.seconds is None else 1000 * request.seconds
    ready = request.ready_seconds
    return table_rules(
        info,
        ms=[ms] * info.players,
        megabytes=request.megabytes,
        ready_ms=None if ready is None else max(1, round(1000 * ready)),
        cpu=request.cpu,
        disqualify=request.disqualify,
    )


def _start(request: Request, config: Mapping[str, str]) -> Start:
    """Where the game begins. Raises TextError and QuartetError."""
    return positions.start(
        request.game, request.position or config.get("INPUT"), request.options, seed=request.seed
    )


def summary(match: Match, result: Result, *, attempts: int = 1) -> dict[str, object]:
    """A finished game for machines: why it ended, and for every seat what it scored and used."""
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


def _print_result(console: Console, match: Match, result: Result) -> None:
    console.print()
    words = f"{match.game.info.title}: {result.reason}, after {result.plies} plies"
    console.print(words, style="bold", soft_wrap=True, markup=False)
    console.print(drawing.result_table(match, result))
    if result.offender is None:
        for line in drawing.reasons(match):
            console.print(line, soft_wrap=True)
    for note in result.notes:
        console.print(note, style="red", soft_wrap=True, markup=False)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise QuartetError(f"cannot write the log {path}: {error.strerror}") from error
