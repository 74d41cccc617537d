"""`quartet replay`: go through the log of a game, and check that it is what the rules say; put a
player before one of its positions."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import track

from core.errors import QuartetError
from quartet import registry
from quartet.arena import builds
from quartet.cli import drawing
from quartet.cli.screen import Screen, pacing
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.logs.check import CheckedLog, check, question
from quartet.judge.process.pipes import hub
from quartet.judge.seats import players as seating
from quartet.judge.seats.asked import AskedError
from quartet.judge.seats.players import Player

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.rules import Position
    from quartet.judge.game import Game
    from quartet.judge.match import Match
    from quartet.judge.seats.seat import Answer


@click.command(short_help="Check the logs of games, and redraw them.")
@click.argument("game")
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="LOG...")
@click.option(
    "--draw/--quiet",
    default=None,
    help="Draw every position, or only say what came out  [default: draw a single log].",
)
@pacing
@click.option(
    "--at",
    "ply",
    type=click.IntRange(min=0),
    metavar="PLY",
    help="Do not redraw: put a player before the position after PLY plies.",
)
@click.option(
    "--ask", "program", metavar="PROGRAM", help="The player for --at, as for `quartet match`."
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print JSON, and nothing else: for every log whether it agrees, and the line about it.",
)
def command(
    game: str,
    logs: tuple[Path, ...],
    draw: bool | None,
    step: bool,
    delay: int,
    ply: int | None,
    program: str | None,
    as_json: bool,
) -> None:
    """Check each LOG of GAME against the reference rules, redraw it, and say in one line what came
    out. A folder stands for all logs in it.

    Logs are the real judge's, where it writes any, or ours (JSON Lines). A log is checked by
    judging its game again: the texts that programs were sent, what their answers were worth, the
    moves, and the result. Passes that are printed twice, or not at all, and a missing end are
    noted. The log of a game that was broken off is checked as far as it goes. Exit status 1: a log
    disagrees with the rules or cannot be read; the line names the place.

    With --at and --ask, PROGRAM says what it would play in that position. Where the judge speaks
    lines, a program that is not built in plays its way there, and must find the log's moves for its
    seat by itself; exit status 1: it did not, or its answer is foul.

    \b
    quartet replay connexion *.txt
    quartet replay ugolki game.jsonl --at 17 --ask ./mine.exe
    """
    known = games.load(game)  # an unknown game is an error of the command line, not of every log
    console = Console(highlight=False)
    if as_json and (draw or step or program is not None):
        raise QuartetError(
            "--json is for checking: leave away --draw, --step and --ask; "
            "`quartet analyse LOG --at PLY --json` asks an engine"
        )
    paths = _files(logs)
    if ply is not None or program is not None:
        if ply is None or program is None or len(paths) != 1:
            raise QuartetError("--at and --ask go together, with a single log")
        sys.exit(0 if _ask(known, paths[0], ply, program, console) else 1)
    draw = draw if draw is not None else len(paths) == 1 and not as_json
    screen = Screen(console, delay=delay / 1000, step=step) if draw or step else None
    outcomes: list[dict[str, object]] = []
    for path in track(
        paths,
        "checking",
        console=Console(stderr=True),
        transient=True,
        disable=screen is not None or not sys.stderr.isatty(),
    ):
        outcome, agrees = _replay(known, path, screen)
        outcomes.append({"log": str(path), "agrees": agrees, "outcome": outcome})
        if not as_json:
            console.print(f"{path}: {outcome}", markup=False, soft_wrap=True)
    if as_json:
        print(json.dumps(outcomes, indent=2))
    if not all(found["agrees"] for found in outcomes):
        sys.exit(1)


def _files(paths: Sequence[Path]) -> list[Path]:
    """The logs; of a folder all that lie in it. Raises QuartetError where there are none."""
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(file for file in path.iterdir() if file.suffix in LOGS)
        if not inside:
            raise QuartetError(f"{path}: there are no logs in this folder ({', '.join(LOGS)})")
        found += inside
    return found


LOGS = (".txt", ".log", ".jsonl")
"""Ends of the names of logs, in a folder."""


def _replay(game: Game, path: Path, screen: Screen | None) -> tuple[str, bool]:
    """Check one log; gives a sentence about it, and whether it agrees."""
    try:
        data = path.read_bytes()
    except OSError as error:
        return f"cannot be read: {error.strerror}", False
    checked = check(game, data, [] if screen is None else [screen])
    return checked.sentence(), checked.agrees


def _ask(game: Game, path: Path, ply: int, program: str, console: Console) -> bool:
    """Put a player before a position; whether it has moved there. Raises QuartetError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise QuartetError(f"{path}: cannot be read: {error.strerror}") from error
    checked = check(game, data)
    if not checked.agrees or checked.match is None:
        raise QuartetError(f"{path}: {checked.complaint}")
    position = _position(checked, ply, path)
    program = builds.named(game.info.name, program)
    seating.require(game, program)
    built_in = registry.is_player(game.info.name, program)
    start = Start(0, {}, checked.positions[0].text())
    player = Player(program, env=seating.start_environment(game, start, [program]))
    # Where programs are started for every move, one answers as it did in the game.
    seat = (
        seating.engine_seat(game, player, clock=True)
        if built_in and game.info.lines is not None
        else seating.program_seat(game, player, start, position.to_move, hub())
    )
    follows = not built_in and game.info.lines is not None
    console.print(drawing.position(game.info.name, position))
    with question(game, data, seat, position.to_move, ply, follows=follows) as match:
        answered: AskedError | None = None
        try:
            for _ in match.play():
                pass
        except AskedError as asked:
            answered = asked
        said = [(turn.ply, text) for turn in match.turns for _, text in turn.said]
        said += [(match.position.ply, text) for _, text in match.pending()]
    for when, text in said:
        console.print(f"# ply {when}: {text}", soft_wrap=True, markup=False, style="dim")
    if answered is not None:
        return _tell(console, match, answered)
    # A program that was not ready.
    reason = "" if match.result is None else match.result.reason
    console.print(reason, soft_wrap=True, markup=False)
    return False


def _position(checked: CheckedLog, ply: int, path: Path) -> Position:
    """The position at which somebody is asked. Raises QuartetError where nobody is."""
    match = checked.match
    assert match is not None  # noqa: S101  (the log agrees)
    first, last = checked.positions[0].ply, match.position.ply
    position: Position
    for position in checked.positions:
        if position.ply == ply and not position.over:
            if not match.table.asks_stuck and position.legal() == [match.game.pass_move]:
                raise QuartetError(f"{path}: nobody is asked at ply {ply}: no move is possible")
            return position
    raise QuartetError(
        f"{path}: nobody is asked at ply {ply}; the log goes from ply {first} to {last}"
    )


def _tell(console: Console, match: Match, asked: AskedError) -> bool:
    """Say what the player has answered; whether it is a move, where it was asked."""
    position = match.position
    verdict, reason, move, after, _ = match.read(asked.answer, position)
    label = match.game.label(position.to_move)
    if after is None and match.game.info.lines is None:
        words = f"{position.ply} {label}: {verdict.value}: {reason}"
        console.print(words, soft_wrap=True, markup=False)
        return False
    if after is None:
        phrase = {"malformed": "gave a bad answer", "illegal": "made an illegal move"}
        foul = phrase.get(verdict.value, "")
        words = f"{label} {foul} at ply {position.ply}: {reason}" if foul else f"{label} {reason}"
        console.print(words, soft_wrap=True, markup=False)
        return False
    name = match.game.info.name
    logged = _logged(match, asked.logged)
    if asked.arrived:
        spent = f"{asked.answer.seconds:.2f} s"
        info = asked.answer.info
        if info is not None:
            spent = f"score {info.score} at depth {info.depth}, {spent}"
        other = "the log ends here" if logged is None else f"the log has {logged}"
        line = f"{position.ply} {label}: {drawing.write(name, move, position)}  {spent}; {other}"
        console.print(line, soft_wrap=True, markup=False)
        return True
    console.print(
        f"the program leaves the log at ply {position.ply}, with "
        f"{drawing.write(name, move, position)!r} where it has {logged!r}",
        soft_wrap=True,
        markup=False,
    )
    return False


def _logged(match: Match, answer: Answer | None) -> str | None:
    """The log's move in words, None where it has none."""
    if answer is None:
        return None
    move = match.read(answer, match.position)[2]
    return drawing.write(match.game.info.name, move, match.position)
