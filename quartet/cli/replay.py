"""`quartet replay`: check logs against the rules and redraw them; ask a player at a position of
one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track

from core.errors import QuartetError
from core.rules import Position
from quartet.arena import builds
from quartet.cli.following import log_files
from quartet.cli.paths import PathType
from quartet.cli.terminal import drawing
from quartet.cli.terminal.screen import Screen, pacing
from quartet.judge import game as games
from quartet.judge.ending import phrase
from quartet.judge.game import JudgedGame, Start
from quartet.judge.judging import judge_answer
from quartet.judge.logs.check import check, question
from quartet.judge.logs.checked import CheckedLog
from quartet.judge.match import Match
from quartet.judge.process.pipes import hub
from quartet.judge.seats import seating
from quartet.judge.seats.logged import AskedError
from quartet.judge.seats.players import Kind
from quartet.judge.seats.seat import Answer
from quartet.judge.seats.seating import SeatSetup
from quartet.judge.turn import Turn


@click.command(short_help="Check logs of games against the rules, and redraw them.")
@click.argument("game")
@click.argument("logs", nargs=-1, required=True, type=PathType(), metavar="LOG...")
@click.option(
    "--draw/--quiet",
    default=None,
    help="Draw every position, or print only the outcome  [default: draw a single log].",
)
@pacing
@click.option(
    "--at",
    "ply",
    type=click.IntRange(min=0),
    metavar="PLY",
    help="Ask a player at the position after PLY plies, instead of redrawing.",
)
@click.option(
    "--ask", "program", metavar="PROGRAM", help="Player for --at, as for `quartet match`."
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print only JSON: for every log whether it agrees, and its line.",
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
    """Check each LOG of GAME against the reference rules, redraw it, and print the outcome in one
    line. A folder stands for all logs in it.

    Logs are those of the real judge, or JSON Lines. The game is judged again: the input of
    programs, the verdicts on their answers, the moves, and the result. Passes that are printed
    twice, or not at all, and a missing end are noted. The log of an aborted game is checked up to
    its end. Exit status 1: a log disagrees with the rules or cannot be read; its line names the
    place.

    With --at and --ask, PROGRAM gives its move in that position. In a line-protocol game, a program
    that is not built in plays its way there, and must find the log's moves for its seat by itself.
    Exit status 1: it did not, or its answer is not a legal move.

    \b
    quartet replay connexion *.txt
    quartet replay ugolki game.jsonl --at 17 --ask ./mine.exe
    """
    known = games.load(game)  # an unknown game is an error of the command line, not of each log
    console = Console(highlight=False)
    if as_json and (draw or step or program is not None):
        raise QuartetError(
            "--json is for checks: omit --draw, --step and --ask; "
            "`quartet analyse LOG --at PLY --json` asks an engine"
        )
    paths = log_files(logs)
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


def _replay(game: JudgedGame, path: Path, screen: Screen | None) -> tuple[str, bool]:
    """Check one log; return a sentence about it, and whether it agrees."""
    try:
        data = path.read_bytes()
    except OSError as error:
        return f"cannot be read: {error.strerror}", False
    checked = check(game, data, [] if screen is None else [screen])
    return checked.sentence(), checked.agrees


def _ask(game: JudgedGame, path: Path, ply: int, program: str, console: Console) -> bool:
    """Ask a player at a position; return True if it makes a move there. Raises QuartetError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise QuartetError(f"{path}: cannot be read: {error.strerror}") from error
    checked = check(game, data)
    if not checked.agrees or checked.match is None:
        raise QuartetError(f"{path}: {checked.complaint}")
    position = _position(checked, ply, path)
    spec = builds.resolve(game.info.name, program)
    built_in = spec.kind is Kind.BUILT_IN
    start = Start(0, {}, checked.positions[0].text())
    setup = SeatSetup(spec, env=seating.start_environment(game, start, [spec]))
    # By the file protocol, the agent answers as in the game: it is started for the move.
    seat = (
        seating.engine_seat(game, setup, clock=True)
        if built_in and game.info.lines is not None
        else seating.program_seat(game, setup, start, position.to_move, hub())
    )
    follows = not built_in and game.info.lines is not None
    console.print(drawing.position(game.info.name, position))
    with question(game, data, seat, position.to_move, ply, follows=follows) as match:
        try:
            sentence, is_move = match.play_out().reason, False  # the program was not ready
        except AskedError as asked:
            sentence, is_move = _sentence(match, asked)
        said = [(turn.ply, text) for turn in match.turns for _, text in turn.said]
        said += [(match.position.ply, text) for _, text in match.pending()]
    for when, text in said:
        console.print(f"# ply {when}: {text}", soft_wrap=True, markup=False, style="dim")
    console.print(sentence, soft_wrap=True, markup=False)
    return is_move


def _position(checked: CheckedLog, ply: int, path: Path) -> Position:
    """Return the position to ask about. Raises QuartetError if no player is asked there."""
    match = checked.match
    assert match is not None  # noqa: S101  (the log agrees)
    asked = [p for p in checked.positions if not p.over]
    found = [p for p in asked if p.ply == ply]
    if not found:
        plies = f", but at plies {asked[0].ply} to {asked[-1].ply}" if asked else ""
        raise QuartetError(f"{path}: no player is asked at ply {ply}{plies}")
    position: Position = found[0]
    if not match.table.asks_stuck and position.legal() == [match.game.pass_move]:
        raise QuartetError(f"{path}: no player is asked at ply {ply}: no move is possible")
    return position


def _sentence(match: Match, asked: AskedError) -> tuple[str, bool]:
    """Describe the player's answer; return True if it is a move at the position asked about."""
    position = match.position
    verdict, reason, move, after, _ = judge_answer(match.game, asked.answer, position)
    label = match.game.label(position.to_move)
    if after is None and match.game.info.lines is None:
        return f"{position.ply} {label}: {verdict.value}: {reason}", False
    if after is None:
        turn = Turn(position.ply, position.to_move, verdict=verdict, reason=reason)
        return f"{label} {phrase(turn)}", False
    played = drawing.write(match.game.info.name, move, position)
    logged = _logged(match, asked.logged)
    if not asked.arrived:
        where = f"the program leaves the log at ply {position.ply}"
        return f"{where}, with {played!r} where it has {logged!r}", False
    spent = f"{asked.answer.seconds:.2f} s"
    info = asked.answer.info
    if info is not None:
        spent = f"score {info.score} at depth {info.depth}, {spent}"
    other = "the log ends here" if logged is None else f"the log has {logged}"
    return f"{position.ply} {label}: {played}  {spent}; {other}", True


def _logged(match: Match, answer: Answer | None) -> str | None:
    """Return the log's move in the judge's notation, None if it has none."""
    if answer is None:
        return None
    move = judge_answer(match.game, answer, match.position).move
    return drawing.write(match.game.info.name, move, match.position)
