"""`quartet replay`: go through the log of a game, and check that it is what the rules say; put a
program before one of its positions."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import track

from core.agent.lines import CLOCK, SHARE
from core.errors import QuartetError, RuleError, TextError
from core.limits import Limits
from core.messages import SIDES
from quartet import registry
from quartet.arena.launch import launch, start_environment
from quartet.cli import drawing
from quartet.cli.screen import Screen
from quartet.judge import check, gamelog
from quartet.judge import game as games
from quartet.judge.interview import Interview
from quartet.judge.lines import Contestant, Terms
from quartet.judge.program import Program
from quartet.judge.record import read_log

if TYPE_CHECKING:
    from core.rules import Move
    from quartet.judge.game import LineGame
    from quartet.judge.gamelog import Replay
    from quartet.judge.record import Log
    from quartet.judge.table import Table


@click.command(short_help="Check the logs of games, and redraw them.")
@click.argument("game")
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="LOG...")
@click.option(
    "--draw/--quiet",
    default=None,
    help="Draw every position, or only say what came out  [default: draw a single log].",
)
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
    "--at",
    "ply",
    type=click.IntRange(min=0),
    metavar="PLY",
    help="Do not redraw: put a program before the position after PLY plies.",
)
@click.option(
    "--ask", "program", metavar="PROGRAM", help="The program for --at, as for `quartet match`."
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
    out.

    Where the judge exchanges files, logs are ours: checked are the text that every program was
    sent, what its answer was worth, the moves, and the result. Where it speaks lines, logs are the
    judge's own: checked are the moves and the score; passes that are printed twice, or not at all,
    and a missing end are noted. The log of a game that was broken off is checked as far as it goes.
    Exit status 1: a log disagrees with the rules or cannot be read; the line names the place.

    With --at and --ask, PROGRAM says what it would play in that position. Where the judge speaks
    lines, a program that is not built in plays its way there, and must find the log's moves for its
    seat by itself; exit status 1: it did not, or its answer is foul.

    \b
    quartet replay connexion *.txt
    quartet replay ugolki game.jsonl --at 17 --ask ./mine.exe
    """
    # an unknown game is an error of the command line, not of every log
    info = registry.load(game, "reference").INFO
    console = Console(highlight=False)
    if as_json and (draw or step or program is not None):
        raise QuartetError("--json is for checking: leave away --draw, --step and --ask")
    if ply is not None or program is not None:
        if ply is None or program is None or len(logs) != 1:
            raise QuartetError("--at and --ask go together, with a single log")
        ask = _ask_lines if info.lines is not None else _ask_files
        sys.exit(0 if ask(game, logs[0], ply, program, console) else 1)
    draw = draw if draw is not None else len(logs) == 1 and not as_json
    screen = Screen(console, delay=delay / 1000, step=step) if draw or step else None
    outcomes: list[dict[str, object]] = []
    progress = track(
        logs,
        "checking",
        console=Console(stderr=True),
        transient=True,
        disable=screen is not None or not sys.stderr.isatty(),
    )
    for path in progress:
        agrees = True
        try:
            outcome = (
                _replay(game, path, screen)
                if info.lines is None
                else _replay_lines(games.load_lines(game), path, screen, console)
            )
        except (TextError, RuleError) as error:
            outcome, agrees = str(error), False
        outcomes.append({"log": str(path), "agrees": agrees, "outcome": outcome})
        if not as_json:
            console.print(f"{path}: {outcome}", markup=False, soft_wrap=True)
    if as_json:
        print(json.dumps(outcomes, indent=2))
    if not all(found["agrees"] for found in outcomes):
        sys.exit(1)


def _replay(game: str, path: Path, screen: Screen | None) -> str:
    """Check one log; gives a sentence about it. Raises TextError or RuleError."""
    log = _read_log(game, path)
    table = check.open_table(log)
    if screen is not None:
        screen.show_start(table)
    for _, turn in check.turns(log, table):
        if screen is not None:
            screen.show(table, turn)
    return _sentence(log, table)


def _sentence(log: Log, table: Table) -> str:
    result = table.result()
    scores = " ".join("-" if score is None else str(score) for score in result.scores)
    places = " ".join("-" if place is None else str(place) for place in result.places)
    standing = f"{result.plies} plies, {table.game.info.score_name} {scores}, places {places}"
    if log.result is not None:
        return f"ok, {standing}"
    return f"ok as far as it goes (the game was broken off{', in the middle of a line' if log.cut else ''}), {standing}"


def _replay_lines(game: LineGame, path: Path, screen: Screen | None, console: Console) -> str:
    """Check one log of a judge that speaks lines; gives a sentence about it. Raises TextError or
    RuleError."""
    replay = _read_line_log(game, path)
    if screen is not None and replay.positions:
        console.print(drawing.board(replay.positions[0]))
        for ply, position in zip(replay.plies, replay.positions[1:], strict=True):
            said = game.protocol.format_answer(ply.move, ply.seat)
            screen.present(
                drawing.said_line(
                    f"{position.ply - 1} {SIDES[ply.seat]}", ply.seat, said, f"{ply.ms} ms"
                ),
                drawing.board(position),
            )
    sentence = replay.sentence(game.info.score_name)
    if not replay.agrees:
        raise gamelog.DisagreementError(sentence)
    return sentence


def _ask_files(game: str, path: Path, ply: int, program: str, console: Console) -> bool:
    """Ask a program that is started for every move; whether its answer is a move. Raises
    QuartetError."""
    log = _read_log(game, path)
    table = check.open_table(log)
    logged = None
    for before, turn in check.turns(log, table):
        if before.ply == ply:
            table.position, logged = before, turn
            break
    else:
        if not table.wait() or table.position.ply != ply:
            raise QuartetError(
                f"{path}: nobody is asked at ply {ply}; the log goes to ply {table.position.ply}"
            )
    if table.stuck:
        raise QuartetError(f"{path}: nobody is asked at ply {ply}: no move is possible")
    console.print(drawing.board(table.position))
    with closing(Program(*launch(game, program))) as player:
        turn = player.play(table)
    console.print(drawing.turn_line(table, turn), soft_wrap=True)
    if logged is not None:
        console.print(f"the log has {drawing.move_text(logged.move)}", soft_wrap=True, markup=False)
    return not turn.verdict.lost


def _ask_lines(name: str, path: Path, ply: int, program: str, console: Console) -> bool:
    """Ask a program that lives for the whole game, or a built-in player; whether it has moved
    there. Raises QuartetError."""
    game = games.load_lines(name)
    replay = _read_line_log(game, path)
    if not replay.agrees:
        raise QuartetError(f"{path}: {replay.complaint}")
    first, last = replay.positions[0].ply, replay.positions[-1].ply
    if not first <= ply <= last or replay.positions[ply - first].over:
        raise QuartetError(
            f"{path}: nobody is asked at ply {ply}; the log goes from ply {first} to {last}"
        )
    side = f"{ply} {SIDES[replay.positions[ply - first].to_move]}"
    ply -= first
    position = replay.positions[ply]
    console.print(drawing.board(position))
    logged = (
        game.protocol.format_answer(replay.plies[ply].move, position.to_move)
        if ply < len(replay.plies)
        else None
    )
    if registry.is_player(name, program):
        move = _choice(name, game, replay, ply, program)
        console.print(
            drawing.said_line(
                side,
                position.to_move,
                game.protocol.format_answer(move, position.to_move),
                _compared(logged),
            )
        )
        return True
    how, env = launch(name, program)
    env = {**env, **start_environment(name, replay.positions[0], [program])}
    with Interview(
        game, Contestant(program, how, env=env), Terms.of(game.judge), replay, ply
    ) as interview:
        statement = interview.ask()
    for when, text in statement.remarks:
        console.print(f"# ply {when}: {text}", soft_wrap=True, markup=False, style="dim")
    if statement.foul is not None:
        console.print(statement.foul, soft_wrap=True, markup=False)
        return False
    turn = statement.turn
    assert turn is not None  # noqa: S101  (without a foul it has moved)
    if statement.arrived:
        console.print(
            drawing.said_line(side, turn.seat, turn.answer, f"{turn.ms} ms; {_compared(logged)}"),
            soft_wrap=True,
        )
        return True
    played = game.protocol.format_answer(statement.logged or turn.move, turn.seat)
    console.print(
        f"the program leaves the log at ply {turn.ply}, with {turn.answer!r} where it has {played!r}",
        soft_wrap=True,
        markup=False,
    )
    return False


def _choice(name: str, game: LineGame, replay: Replay, ply: int, player: str) -> Move:
    """What a built-in player, which can be shown any position, plays with the time that is left by
    the log."""
    rules = registry.load(name, "rules").Position if registry.has(name, "rules") else game.position
    position = rules.parse(replay.positions[ply].text())
    used = sum(played.ms for played in replay.plies[:ply] if played.seat == position.to_move)
    deadline = CLOCK() + max(1, game.judge.clock_ms - used) / 1000 / SHARE
    move: Move = (
        registry.load(name, "players")
        .player(player)
        .choose(position, Limits(deadline=deadline))
        .move
    )
    return move


def _compared(logged: str | None) -> str:
    return "the log ends here" if logged is None else f"the log has {logged}"


def _read_log(game: str, path: Path) -> Log:
    log = read_log(_read(path))
    if log.header.game != game:
        raise TextError(f"line 1: this is a game of {log.header.game!r}, not of {game!r}")
    return log


def _read_line_log(game: LineGame, path: Path) -> Replay:
    text = _read(path).decode("utf-8-sig", "replace")
    return gamelog.replay(text, game.info, game.protocol, game.position, game.pass_move)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TextError(f"cannot be read: {error.strerror}") from error
