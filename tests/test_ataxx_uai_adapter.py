"""UAI engines play under the judge: commands that they receive, and their forfeits."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from ataxx.fen import START as USUAL
from ataxx.rules import Position
from ataxx.uai_adapter import MARGIN_MS, AdapterOptions, parse_arguments
from core.errors import TextError
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.match import Match
from quartet.judge.process.pipes import hub
from quartet.judge.seats.lines import Command, LineSeat
from quartet.judge.seats.players import PlayerSpec
from quartet.judge.seats.seating import START
from quartet.judge.table import table_rules
from quartet.judge.turn import Result, Termination, Turn
from tests.processes import living_children

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parent.parent
DOUBLE = ROOT / "tests" / "programs_lines" / "uai_engine.py"
GAME = games.load("ataxx")
ENOUGH_MS = 60_000
OTHER = "x5o/6o/7/7/7/7/o5x x 7 2"

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = living_children()
    yield
    assert living_children() <= before


def engine(*words: str) -> str:
    """Return the seat of the test engine, which does what the words say."""
    return f"uai:{shlex.join([sys.executable, str(DOUBLE), *words])}"


def play(
    *programs: str,
    clock_ms: int = ENOUGH_MS,
    start: str = USUAL,
    env: Mapping[str, str] | None = None,
) -> tuple[list[Turn], Result, list[int]]:
    """Play a game; return its turns, its result and the final clocks."""
    shared, seats = hub(), []
    for program in programs:
        command, environment = PlayerSpec.parse("ataxx", program).launch()
        seats.append(LineSeat(Command(command, env={**environment, **(env or {})}), shared))
    table = table_rules(GAME.info, ms=[clock_ms] * 2, ready_ms=ENOUGH_MS)
    with Match(GAME, seats, programs, table, Start(0, {}, text=start)) as match:
        return list(match.play()), played(match), match.clocks


def played(match: Match) -> Result:
    """Return the result of a match."""
    assert match.result is not None
    return match.result


@pytest.mark.parametrize("words", [(), ("chatty",), ("full division",), ("spins",), ("halfmoves",)])
def test_an_engine_plays_a_game(words: tuple[str, ...]) -> None:
    turns, result, _ = play(engine(*words), "greedy")
    assert result.termination in (Termination.SCORE, Termination.DRAW), result.reason
    assert result.notes == ()
    # The test engine plays the first legal move.
    position = GAME.position.start()
    for turn in turns:
        if turn.seat == 0:
            assert turn.move == position.legal()[0]
        assert turn.move is not None
        position = position.play(turn.move)


def test_two_engines_play_each_other() -> None:
    turns, result, _ = play(engine(), engine())
    assert result.offender is None
    assert len(turns) > 20


FORFEITS = [
    ("illegal leap", Termination.ILLEGAL, "made an illegal move at ply 0"),
    ("illegal division", Termination.RE, "bestmove d4"),
    ("garbage", Termination.RE, "gave a bad answer at ply 0"),
    ("nothing", Termination.RE, "got 'bestmove'"),
    (
        "no engine",
        Termination.RE,
        (
            "ended before it was ready: exit status 1: the engine ended with exit status 3 before it "
            "said uaiok"
        ),
    ),
    ("dies", Termination.RE, "the engine ended with exit status 1 before it said bestmove"),
]
HARD = [
    ("crashes", Termination.RE, "before it said bestmove"),
    ("silent", Termination.TLE, "gave no answer at ply 0 within 1500 ms"),
    ("deaf", Termination.TLE, "gave no answer at ply 0 within 1500 ms"),
]


@pytest.mark.parametrize(
    ("word", "termination", "sentence"),
    [*FORFEITS, *(pytest.param(*case, marks=posix) for case in HARD)],
)
@pytest.mark.parametrize("seat", [0, 1])
def test_a_bad_engine_forfeits(
    word: str, termination: Termination, sentence: str, seat: int
) -> None:
    programs = [engine(word), "greedy"]
    _, result, _ = play(*(programs if seat == 0 else programs[::-1]), clock_ms=1500)
    assert (result.offender, result.termination) == (seat, termination), result.reason
    assert sentence.replace("ply 0", f"ply {seat}") in result.reason


def test_an_engine_that_cannot_be_started() -> None:
    _, result, _ = play("uai:/no/such/engine", "greedy")
    assert (result.offender, result.termination) == (0, Termination.RE)
    _, result, _ = play("uai:--margin", "greedy")
    assert "ended before it was ready: exit status 2: uai_adapter: " in result.reason


def heard(path: Path, word: str) -> list[list[str]]:
    """Return the lines that begin with a word in the file that an engine wrote."""
    return [line.split() for line in path.read_text().splitlines() if line.startswith(word)]


def test_commands_that_an_engine_receives(tmp_path: Path) -> None:
    book = tmp_path / "heard"
    seat = engine("keep", str(book)).replace(
        "uai:", "uai:--option Hash=16 --option 'Big Book=a b' --margin 7 "
    )
    turns, result, _ = play("greedy", seat)
    assert result.offender is None
    lines = book.read_text().splitlines()
    assert lines[:6] == [
        "uai",
        "setoption name Hash value 16",
        "setoption name Big Book value a b",
        "isready",
        "uainewgame",
        "isready",
    ]
    asked = [turn for turn in turns if turn.seat == 1 and turn.move != (-1, -1, -1, -1)]
    positions, calls = heard(book, "position"), heard(book, "go")
    assert len(positions) == len(calls) == len(asked)
    assert {words[4] for words in positions} == {"0"}, "the halfmove clock is never sent"
    position, left, other = Position.start(), ENOUGH_MS, ENOUGH_MS
    for turn in turns:
        if turn in asked:
            board, side, _, number = position.text().split()
            assert positions.pop(0) == ["position", "fen", board, side, "0", number]
            assert calls.pop(0) == [
                "go",
                "btime",
                str(other),
                "wtime",
                str(left - 7),
                "binc",
                "0",
                "winc",
                "0",
            ]
        if turn.seat == 1:
            left = max(1, left - turn.ms)
        else:
            other = max(1, other - turn.ms)
        assert turn.move is not None
        position = position.play(turn.move)


def test_go_replaces_the_clocks(tmp_path: Path) -> None:
    book = tmp_path / "heard"
    play(engine("keep", str(book)).replace("uai:", 'uai:--go "nodes 500" '), "greedy")
    assert {" ".join(words) for words in heard(book, "go")} == {"go nodes 500"}


def test_an_engine_knows_its_remaining_clock() -> None:
    """Check the clock that the engine is sent: it knows no other."""

    def check(seat: int) -> None:
        programs = (engine("clock"), "greedy") if seat == 0 else ("greedy", engine("clock"))
        _, result, clocks = play(*programs, clock_ms=4000)
        assert result.termination is not Termination.TLE or result.overloaded, result.reason
        assert clocks[seat] < 2000, "it has taken half at least once"

    with ThreadPoolExecutor() as executor:  # each game waits 3 s for the engine
        list(executor.map(check, (0, 1)))


def test_depth_and_speed_of_an_engine_reach_the_arena() -> None:
    turns, result, _ = play(engine("chatty"), "greedy", env={"QUARTET_INFO": "1"})
    said = [line for turn in turns for line in turn.said] + list(result.said)
    infos = [
        text
        for seat, text in said
        if seat == 0 and text.startswith("info depth 3 nodes 3000 seconds ")
    ]
    asked = [turn for turn in turns if turn.seat == 0 and turn.move != (-1, -1, -1, -1)]
    assert len(infos) == len(asked)
    assert {turn.info and (turn.info.depth, turn.info.nodes) for turn in asked} == {(3, 3000)}


def test_a_game_starts_as_the_environment_says(tmp_path: Path) -> None:
    book = tmp_path / "heard"
    turns, result, _ = play(engine("keep", str(book)), "greedy", start=OTHER, env={START: OTHER})
    assert result.offender is None
    assert heard(book, "position")[0] == ["position", "fen", *["x5o/6o/7/7/7/7/o5x", "x", "0", "2"]]
    assert turns[0].ply == 2


@posix
@pytest.mark.parametrize("end", ["FINISH", None, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("word", ["", "spins", "silent"])
def test_the_engine_ends_with_the_adapter(end: str | signal.Signals | None, word: str) -> None:
    """End it after FINISH, at the end of input, and by a signal, also in the middle of a search."""
    mark = f"mark-{os.getpid()}-{time.monotonic_ns()}"
    command = [sys.executable, "-m", "ataxx.uai_adapter", sys.executable, str(DOUBLE), word, mark]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("READY FIRST\n")
        process.stdin.flush()
        assert process.stdout.readline() == "OK\n"
        if word == "silent":
            process.stdin.write("TURN 10000 10000\n")
            process.stdin.flush()
            time.sleep(0.1)
        if isinstance(end, signal.Signals):
            process.send_signal(end)
        elif end is not None:
            process.stdin.write(end + "\n")
        process.stdin.close()
        status = process.wait(timeout=30)
    assert status == (128 + signal.SIGTERM if end is signal.SIGTERM else 0)
    assert not any(
        mark in (found.info["cmdline"] or []) for found in psutil.process_iter(["cmdline"])
    )


def test_arguments_of_the_adapter() -> None:
    assert parse_arguments(["./engine"]) == AdapterOptions("./engine", MARGIN_MS, (), None)
    assert parse_arguments(["./my engine", "x y"]).command == "'./my engine' 'x y'"
    whole = parse_arguments(
        [
            (
                "--margin 30 --option Hash=64 --option='Own Book=no' --go 'movetime 100' ./engine "
                "--margin 5"
            )
        ]
    )
    assert whole == AdapterOptions(
        "./engine --margin 5", 30, (("Hash", "64"), ("Own Book", "no")), "movetime 100"
    )
    for bad in (
        "",
        "--margin",
        "--margin x ./engine",
        "--option Hash ./engine",
        "--what 5 ./engine",
    ):
        with pytest.raises(TextError):
            parse_arguments([bad])
