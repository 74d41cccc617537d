"""`python -m ataxx --uai` obeys user interfaces and match tools, and survives bad input."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ataxx.engine import Engine
from ataxx.fen import START
from ataxx.players import player
from ataxx.rules import Position
from ataxx.uai import OPTIONS, UaiProgram
from ataxx.uai_text import format_uai, parse_uai
from core.engine import STOP, write_player
from core.limits import Limits, SearchInfo

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

ROOT = Path(__file__).parent.parent
MAX_LISTENING = 20.0
"""Seconds that a slow machine may take between two lines of a test."""


class UaiSession:
    """A program in this process, and its output."""

    def __init__(self, name: str = "greedy") -> None:
        self.said: list[str] = []
        self.spoke = threading.Condition()
        self.settings: list[Mapping[str, str]] = []
        self.program = UaiProgram(lambda settings: self.make(name, settings), self.say)

    def make(self, name: str, settings: Mapping[str, str]) -> Any:
        self.settings.append(settings)
        return player(write_player(name, settings), 1)

    def say(self, line: str) -> None:
        with self.spoke:
            self.said.append(line)
            self.spoke.notify()

    def hear(self, *lines: str) -> list[str]:
        """Send commands and return the lines printed at once."""
        self.said.clear()
        for line in lines:
            assert self.program.hear(line)
        return list(self.said)

    def until(self, word: str) -> str:
        """Wait for the line that begins with a text."""
        with self.spoke:
            assert self.spoke.wait_for(
                lambda: any(line.startswith(word) for line in self.said), timeout=60
            )
            return next(line for line in self.said if line.startswith(word))

    def best(self, *lines: str) -> str:
        """Send lines and return the move played."""
        self.hear(*lines)
        return self.until("bestmove").split()[1]


class Patient:
    """A player that searches until it is stopped."""

    CAPABILITIES = frozenset({STOP})

    def __init__(self) -> None:
        self.enough = threading.Event()
        self.limits: list[Limits] = []

    def stop(self) -> None:
        self.enough.set()

    def choose(self, position: Position, limits: Limits, report: Any = None) -> SearchInfo:
        self.limits.append(limits)
        report(SearchInfo(position.legal()[0], 12, 3, 1000, 0.5, (position.legal()[0],)))
        self.enough.wait(60)
        return SearchInfo(position.legal()[0])


def test_uai_prints_name_and_options() -> None:
    for name in ("bot", "greedy"):
        said = UaiSession(name).hear("uai")
        assert said[-1] == "uaiok"
        assert [line.split()[:2] for line in said[:2]] == [["id", "name"], ["id", "author"]]
        options = {
            line.split()[2]: line.split()[4::2] for line in said if line.startswith("option")
        }
        if name == "bot":
            names = {option.name for option in Engine.OPTIONS} - {"hash"} | {"Hash"}
            assert options.keys() == OPTIONS.keys() | names
            assert "info string a score of 1 cp is 1/260 of the logit of winning" in said
            assert "option name Hash type spin default 64 min 1 max 65536" in said
            assert "option name patience type string default 0.35" in said
            assert "option name weights type string default <empty>" in said
        else:
            assert options.keys() == OPTIONS.keys() - {"MultiPV"}
        assert {values[0] for values in options.values()} <= {"spin", "string"}
        assert "option name Threads type spin default 1 min 1 max 1" in said
    assert UaiSession().hear("isready") == ["readyok"]


def test_positions_and_moves() -> None:
    program = UaiSession()
    assert program.hear("position startpos") == []
    assert program.hear("position startpos moves f1 b1 a7a5") == []
    # The next search starts there: the answers are legal in the position that the moves lead
    # to.
    position = Position.start()
    for text in ("f1", "b1", "a7a5"):
        position = position.play(parse_uai(text, position))
    assert parse_uai(program.best("go depth 1"), position) in position.legal()
    stuck = "xoo4/ooo4/ooo4/7/7/7/7 x 0 9"
    assert Position.parse(stuck).legal() == [(-1, -1, -1, -1)]
    assert program.best(f"position fen {stuck}", "go movetime 50") == "0000"
    assert program.best(f"position fen {stuck} moves 0000", "go movetime 50") != "0000"
    over = program.hear("position fen xxxxxxx/7/7/7/7/7/7 o 0 9", "go depth 3")
    assert over == ["info string the game is over", "bestmove 0000"]


def test_counts_of_a_fen_are_optional() -> None:
    program = UaiSession()
    board = START.split()[0]
    for fen in (f"{board} o", f"{board} o 7", f"{board} o 7 30"):
        assert program.hear(f"position fen {fen}") == []
        assert parse_uai(program.best("go nodes 5"), Position.parse(f"{board} o 0 1")) is not None


BAD = [
    "foo",
    "_stop",
    "go depth",
    "go depth x",
    "go sideways",
    "position",
    "position fen",
    "position fen x5o/7/7/7/7/7/o5x z 0 1",
    "position startpos moves a1a7",
    "position startpos moves xx",
    "position startpos moves 0000",
    "setoption name Hash value much",
    "setoption name Hash value 0",
    "setoption name Nothing value 1",
    "setoption",
    "\x00\xff",
]


@pytest.mark.parametrize("line", BAD)
def test_bad_commands_print_one_line_and_change_nothing(line: str) -> None:
    program = UaiSession()
    program.hear("position startpos moves f1")
    before = program.program._position.text()
    said = program.hear(line)
    assert len(said) == 1
    assert said[0].startswith("info string ")
    assert "internal error" not in said[0]
    assert program.program._position.text() == before
    assert program.hear("isready", "") == ["readyok"]


WORDS = st.sampled_from(
    [
        "uai",
        "isready",
        "uainewgame",
        "position",
        "startpos",
        "fen",
        "moves",
        "x5o/7/7/7/7/7/o5x",
        "x",
        "o",
        "0",
        "1",
        "f1",
        "b1",
        "setoption",
        "name",
        "value",
        "Hash",
        "Threads",
        "HalfmoveLimit",
        "PlyLimit",
        "go",
        "depth",
        "nodes",
        "2",
        "perft",
        "wtime",
        "btime",
        "winc",
        "movestogo",
        "-5",
        "infinite",
        "stop",
        "ponder",
    ]
)


@given(
    lines=st.lists(
        st.lists(WORDS, max_size=6).map(" ".join)
        | st.text(max_size=20).filter(lambda text: text.strip() != "quit"),
        max_size=8,
    )
)
def test_no_input_ends_the_session(lines: list[str]) -> None:
    program = UaiSession()
    for line in lines:
        if "perft" not in line:
            assert program.program.hear(line)
    program.program.hear("stop")
    assert program.hear("isready") == ["readyok"]
    assert not any("internal error" in line for line in program.said)


def test_limits_of_a_search() -> None:
    program = UaiSession()
    patient = Patient()
    patient.enough.set()
    program.program._player = patient

    def seconds(*words: str, side: str = "x") -> float:
        program.best(f"position fen {START.split()[0]} {side} 0 1", f"go {' '.join(words)}")
        limits = patient.limits[-1]
        assert limits.deadline is not None
        return limits.deadline - started

    started = time.monotonic()
    assert 40 < seconds("movetime", "50000") < 51 + MAX_LISTENING
    # b is x, who moves first; each side looks at its own clock.
    assert seconds("btime", "1000000", "wtime", "1000") > 10
    assert seconds("btime", "1000000", "wtime", "1000", side="o") < 1 + MAX_LISTENING
    assert seconds("btime", "1000", "binc", "100000") <= 1 + MAX_LISTENING, (
        "the increment comes after the move"
    )
    assert seconds("btime", "-20") < MAX_LISTENING, "no clock is no reason to hang"
    program.best("go nodes 77 simulations 77 depth 5")  # other words are ignored
    limits = patient.limits[-1]
    assert (limits.nodes, limits.depth, limits.deadline) == (77, 5, None)


def test_the_halfmove_clock_is_information_only() -> None:
    """Check that only the option HalfmoveLimit ends games by it; this judge's games have no
    limit."""
    program = UaiSession()
    late = f"position fen {START.split()[0]} x 100 80"
    assert program.best(late, "go depth 1") != "0000"
    assert program.hear("setoption name HalfmoveLimit value 100", "go depth 1") == [
        "info string the game is over",
        "bestmove 0000",
    ]
    assert program.best("setoption name halfmovelimit value 0", "go depth 1") != "0000"


def test_a_game_may_continue_beyond_the_last_ply() -> None:
    program = UaiSession()
    assert program.best(f"position fen {START.split()[0]} x 0 201", "go depth 1") != "0000"
    assert program.program._position.ply == 400


def test_setoption_reaches_the_engine() -> None:
    program = UaiSession("bot")
    assert program.hear("setoption name Hash value 2") == []
    assert program.hear("setoption name Late_Moves value 9") == []
    assert program.settings == [{}, {"hash": "2"}, {"hash": "2", "late_moves": "9"}]
    assert program.hear("uainewgame", "setoption name Threads value 1") == []
    for line, complaint in (
        ("patience value long", "patience takes a number from 0.01 to 10, not 'long'"),
        ("hash value 0", "hash takes an integer from 1 to 65536, not '0'"),
        ("weights value nowhere.bin", "cannot read nowhere.bin"),
    ):
        (said,) = program.hear(f"setoption name {line}")
        assert said.startswith("info string ")
        assert complaint in said
    assert program.hear("setoption name weights value <empty>") == []
    assert program.best("go depth 2") != "0000"


def test_several_lines_are_ranked() -> None:
    program = UaiSession("bot")
    program.hear("setoption name MultiPV value 3")
    best = program.best("go depth 4")
    lines = [line.split() for line in program.said if line.startswith("info depth 4 ")]
    assert [line[3:5] for line in lines] == [["multipv", rank] for rank in "123"]
    assert lines[0][lines[0].index("pv") + 1] == best
    program.hear("setoption name MultiPV value 1")
    program.best("go depth 4")
    assert not any("multipv" in line for line in program.said)


def test_an_infinite_search_ends_when_stopped() -> None:
    program = UaiSession()
    program.program._player = Patient()
    assert "readyok" in program.hear("go infinite", "isready")
    assert (
        program.until("info depth") == "info depth 3 score cp 12 nodes 1000 nps 2000 time 500 pv b7"
    )
    assert program.hear("go depth 3") == ["info string a search is running; stop it first"]
    assert program.hear("position startpos") == ["info string a search is running; stop it first"]
    said = program.hear("stop")
    assert len(said) == 1
    assert said[0].startswith("bestmove ")
    assert program.hear("stop", "isready") == ["readyok"]


def test_a_solved_infinite_search_waits_for_stop() -> None:
    program = UaiSession()
    assert program.hear("go infinite") == []
    assert program.hear("stop")[-1].startswith("bestmove ")


def test_a_failing_search_still_gives_a_legal_move() -> None:
    class CrashingEngine:
        def choose(self, position: Position, limits: Limits) -> SearchInfo:  # noqa: ARG002
            raise ZeroDivisionError("a bug\nof ours")

    program = UaiSession()
    program.program._player = CrashingEngine()
    move = program.best("go depth 2")
    assert parse_uai(move, Position.start()) in Position.start().legal()
    assert "info string internal error: ZeroDivisionError: a bug of ours" in program.said


def test_perft() -> None:
    said = UaiSession().hear("go perft 3")
    assert said[-1] == "nodes 6460"
    assert [line.split()[2:5:2] for line in said[:-1]] == [["1", "16"], ["2", "256"], ["3", "6460"]]


def test_it_plays_a_whole_game_against_itself() -> None:
    program = UaiSession("bot")
    program.hear("setoption name Hash value 1")
    position = Position.start()
    moves: list[str] = []
    while not position.over:
        text = program.best(
            f"position startpos{' moves ' if moves else ''}{' '.join(moves)}", "go nodes 300"
        )
        move = parse_uai(text, position)
        position = position.play(move)
        moves.append(format_uai(move))
        infos = [line for line in program.said if line.startswith("info")]
        assert infos
        assert not any("string" in line for line in infos)
    assert len(moves) > 20


class Child:
    """The program as a process."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "ataxx", "--uai", *arguments]
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def say(self, *lines: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("".join(line + "\n" for line in lines))
        self.process.stdin.flush()

    def until(self, word: str) -> str:
        assert self.process.stdout is not None
        return next(line for line in self.process.stdout if line.startswith(word))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.process.kill()
        self.rest, self.errors = self.process.communicate(timeout=60)


def test_a_search_of_the_engine_is_stopped_at_once() -> None:
    """Stop a search immediately or after a while, also by `quit` and at the end of input."""
    for end in ("quit", None):
        with Child() as child:
            child.say("uai")
            child.until("uaiok")
            child.say("go infinite", "stop")
            child.until("bestmove")
            child.say("go infinite")
            child.until("info depth 7")
            child.say("isready")
            child.until("readyok")
            child.say("stop")
            child.until("bestmove")
            child.say("go depth 500")
            child.until("info depth 4")
            if end:
                child.say(end)
        assert (child.process.returncode, child.errors) == (0, "")
        assert child.rest.splitlines()[-1].startswith("bestmove ")


def test_a_simple_player_and_unknown_options() -> None:
    with Child("--player", "random", "--seed", "4") as child:
        child.say("position startpos", "go movetime 1000")
        child.until("bestmove")
    assert (child.process.returncode, child.errors) == (0, "")
    with Child("--player", "unknown") as child:
        pass
    assert child.process.returncode == 2
    assert "unknown" in child.errors
