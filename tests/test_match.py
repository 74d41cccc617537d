"""`quartet match` handles every kind of error, ends and ranks games, records them, and rejects bad
input."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from quartet import registry
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.logs.jsonl import Header, Log, read_log
from quartet.judge.match import Match
from quartet.judge.seats.files import FileSeat, turn_seed
from quartet.judge.seats.seat import Answer, Seat
from quartet.judge.table import table_rules
from quartet.judge.turn import Result, Turn, Verdict
from tests.commands import quartet, refusal
from tests.games import WATCHING
from ugolki.geometry import SEATS
from ugolki.reference import PASS, Position

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.rules import Move

ROOT = Path(__file__).parent.parent
PROGRAMS = ROOT / "tests" / "programs"
EXAMPLE = ROOT / "tests" / "data" / "ugolki" / "example_input.txt"
ENOUGH = 60.0

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")


def little(name: str, *arguments: str) -> str:
    """Return a shell command that runs a test program."""
    words = [sys.executable, str(PROGRAMS / name), *arguments]
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


HONEST = little("honest.py")


UGOLKI = games.load("ugolki")


def play(
    programs: Sequence[str | list[str] | None],
    *,
    options: dict[str, bool | int] | None = None,
    seconds: float = ENOUGH,
    megabytes: float = 1024.0,
    seed: int = 0,
    disqualify: bool = False,
) -> tuple[Match, list[Turn]]:
    """Play a game of Ugolki in this process."""
    table = table_rules(
        UGOLKI.info, ms=[1000 * seconds] * SEATS, megabytes=megabytes, disqualify=disqualify
    )
    seats = [None if program is None else FileSeat(program) for program in programs]
    names = [None if program is None else str(program) for program in programs]
    with Match(UGOLKI, seats, names, table, Start(seed, options or {"moves": 1})) as match:
        turns = list(match.play())
    assert match.turns == turns
    return match, turns


def result_of(match: Match) -> Result:
    """Return how a finished game has ended."""
    assert match.result is not None
    return match.result


def match(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run `quartet match ugolki` with a clock that no program exceeds."""
    return quartet("match", "ugolki", *arguments, "--seconds", "60", code=code)


def test_turns_rotate_and_each_player_sees_itself_at_the_top_left() -> None:
    match, turns = play([HONEST] * SEATS, options={"moves": 2})
    assert [turn.seat for turn in turns] == [0, 1, 2, 3] * 2
    assert [turn.verdict for turn in turns] == [Verdict.OK] * 8
    assert all(turn.input.splitlines()[1 + 1].split()[1] == "1" for turn in turns[:4])
    assert [turn.input.splitlines()[0] for turn in turns] == ["0"] * 4 + ["1"] * 4
    scores = match.position.scores()
    assert len(set(scores)) == 1, "the same program from every side"
    assert scores[0] is not None
    assert scores[0] < 52


FAULTS = [
    (little("crash.py", "3"), Verdict.CRASHED, "exit status 3"),
    (
        little("crash.py", "exception"),
        Verdict.CRASHED,
        "exit status 1: RuntimeError: no idea ?[2J (crash.py, line 8)",
    ),
    (little("crash.py", "0"), Verdict.MISSING, "there is no output.txt"),
    (little("answer.py", ""), Verdict.MALFORMED, "the answer is empty"),
    (
        little("answer.py", "1 2 3"),
        Verdict.MALFORMED,
        "expected four integers, got 3 words: '1 2 3'",
    ),
    (little("answer.py", "1 2 3 x"), Verdict.MALFORMED, "'x' is not an integer"),
    (
        little("answer.py", "\\xff\\xfe1 2"),
        Verdict.MALFORMED,
        "byte 0 of the answer is 0xff, which is not ASCII",
    ),
    (little("answer.py", "5 5 5 6"), Verdict.ILLEGAL, "there is no piece on (5, 5)"),
    (
        little("answer.py", "8 1 9 1"),
        Verdict.ILLEGAL,
        "the piece on (8, 1) belongs to another player",
    ),
    (little("answer.py", "1 1 5 5"), Verdict.ILLEGAL, "the piece on (1, 1) cannot reach (5, 5)"),
    (little("answer.py", "-1 0 99 0"), Verdict.ILLEGAL, "(-1, 0) is off the board"),
]


@pytest.mark.parametrize(("program", "verdict", "reason"), FAULTS)
def test_an_error_forfeits_the_turn_and_the_game_continues(
    program: str, verdict: Verdict, reason: str
) -> None:
    match, turns = play([program, HONEST, None, None], options={"moves": 2})
    assert [turn.seat for turn in turns] == [0, 1, 0, 1]
    assert (turns[0].verdict, turns[0].reason, turns[0].move) == (verdict, reason, None)
    assert match.lost == [2, 0, 0, 0]
    result = result_of(match)
    assert result.scores[0] == 52
    assert result.places == (2, 1, None, None)


@posix
@pytest.mark.parametrize("kind", ["directory", "pipe", "link", "device"])
def test_a_missing_file_is_a_missing_answer(kind: str) -> None:
    _, turns = play([little("replace.py", kind), None, None, None])
    assert turns[0].verdict is Verdict.MISSING
    assert turns[0].output is None
    assert "not a file" in turns[0].reason


@posix
def test_a_huge_answer() -> None:
    _, turns = play([little("replace.py", "huge"), None, None, None])
    assert turns[0].verdict is Verdict.MALFORMED
    assert turns[0].output_size == 1 << 40
    assert turns[0].output == "\0" * 4096


@posix
def test_a_signal_is_named() -> None:
    _, turns = play([f"exec {little('crash.py', 'signal')}", None, None, None])
    assert (turns[0].verdict, turns[0].reason) == (Verdict.CRASHED, "killed by SIGSEGV")


def test_a_program_that_cannot_be_started(tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text("no program")
    _, turns = play([[str(tmp_path / "plain.txt")], None, None, None], seconds=1, megabytes=99)
    assert turns[0].verdict is Verdict.CRASHED
    assert "cannot be started" in turns[0].reason


def test_a_late_answer_forfeits_the_turn(tmp_path: Path) -> None:
    script = tmp_path / "late.py"
    script.write_text("import time\nopen('output.txt', 'w').write('3 1 4 1')\ntime.sleep(60)\n")
    _, turns = play(
        [subprocess.list2cmdline([sys.executable, str(script)]), None, None, None], seconds=2
    )
    assert (turns[0].verdict, turns[0].reason, turns[0].move) == (
        Verdict.LATE,
        "not ended after 2 s",
        None,
    )


@posix
def test_too_much_memory() -> None:
    _, turns = play([little("hog.py", "200"), None, None, None], megabytes=100)
    assert turns[0].verdict is Verdict.MEMORY
    assert turns[0].reason.endswith("MB, more than 100")


def test_a_legal_answer_counts_with_any_exit_status() -> None:
    _, turns = play([little("honest.py", "2"), None, None, None])
    assert (turns[0].verdict, turns[0].reason, turns[0].exit) == (Verdict.OK, "exit status 2", 2)
    assert turns[0].move is not None


def test_disqualification() -> None:
    match, turns = play(
        [HONEST, little("crash.py", "0"), HONEST, None], options={"moves": 3}, disqualify=True
    )
    assert [turn.seat for turn in turns] == [0, 1, 2, 0, 2, 0, 2]
    result = result_of(match)
    assert result.disqualified == (1,)
    assert result.places == (1, 3, 1, None)
    assert result.shares == (0.5, 0, 0.5, 0)


def test_the_game_ends_when_all_are_disqualified() -> None:
    match, turns = play(
        [little("crash.py", "0")] * 2 + [None] * 2, options={"moves": 50}, disqualify=True
    )
    assert len(turns) == 2
    assert result_of(match).places == (1, 1, None, None)


def test_empty_seats_get_no_pieces_and_no_turns() -> None:
    match, turns = play([None, HONEST, None, HONEST], options={"moves": 2})
    assert [turn.ply for turn in turns] == [1, 3, 5, 7]
    assert result_of(match).scores[0] is None
    assert sum(label != 0 for label in match.position.cells) == 12  # type: ignore[attr-defined]


class MoveSeat(Seat):
    """A seat that plays given moves, without a program."""

    def __init__(self, *moves: Move) -> None:
        super().__init__()
        self._moves = iter(moves)

    def ask(self, match: Match) -> Answer:
        del match
        return Answer(move=next(self._moves))


def almost_home(seats: Sequence[Seat], *, play_out: bool = False) -> Match:
    """Return a match in which seat 0 is one step from home and the others are at the start."""
    match = Match(UGOLKI, seats, "abcd", table_rules(UGOLKI.info), Start(0, {}))
    cells = [0 if label in {1, 3} else label for label in Position.start().cells]
    for column, row in ((9, 9), (8, 9), (9, 8), (6, 9), (9, 6), (5, 6)):
        cells[row * 10 + column] = 1
    for column, row in ((0, 0), (0, 9), (9, 0), (1, 0), (0, 4), (1, 4)):
        cells[row * 10 + column] = 3
    position: Any = Position(tuple(cells), play_out=play_out)
    match.position = position
    return match


def test_the_game_ends_when_a_player_is_home() -> None:
    match = almost_home([MoveSeat((5, 6, 6, 6)), MoveSeat(), MoveSeat(), MoveSeat()])
    assert len(list(match.play())) == 1
    result = result_of(match)
    assert result.scores[0] == 0
    assert result.places[0] == 1


def test_the_round_can_be_played_out() -> None:
    others = MoveSeat((6, 1, 5, 1)), MoveSeat((1, 4, 2, 4)), MoveSeat((3, 8, 4, 8))
    match = almost_home([MoveSeat((5, 6, 6, 6)), *others], play_out=True)
    assert len(list(match.play())) == SEATS


def test_a_seat_without_a_legal_move_passes_unasked() -> None:
    match = almost_home([MoveSeat() for _ in range(SEATS)])
    cells = [2] * 100
    cells[0] = 1
    position: Any = Position(tuple(cells), moves=1)
    match.position = position
    turn = next(match.play())
    assert (turn.verdict, turn.move) == (Verdict.PASS, PASS)
    assert match.positions == [position]
    assert match.position.ply == position.ply + 1
    assert match.lost == [0] * SEATS


def test_seeds_of_turns_are_repeatable_and_differ(tmp_path: Path) -> None:
    script = tmp_path / "seed.py"
    script.write_text("import os\nopen('output.txt', 'w').write(os.environ['QUARTET_SEED'])\n")
    command = subprocess.list2cmdline([sys.executable, str(script)])
    _, turns = play([command, command, None, None], seed=7)
    assert [turn.output for turn in turns] == [str(turn_seed(7, 0, 0)), str(turn_seed(7, 1, 1))]
    assert len({turn_seed(seed, seat, seat) for seed in range(10) for seat in range(4)}) == 40


def test_files_of_a_program_remain_for_its_next_move(tmp_path: Path) -> None:
    script = tmp_path / "memory.py"
    script.write_text(
        "open('notes', 'a').write('x')\nopen('output.txt', 'w').write(open('notes').read())\n"
    )
    command = subprocess.list2cmdline([sys.executable, str(script)])
    _, turns = play([command, command, None, None], options={"moves": 3})
    assert [turn.output for turn in turns] == ["x", "x", "xx", "xx", "xxx", "xxx"]


# The command line


def read(path: Path) -> Log:
    return read_log(path.read_bytes())


def test_a_match_is_drawn_ranked_and_logged(tmp_path: Path) -> None:
    log_file = tmp_path / "game.jsonl"
    done = match(
        HONEST,
        "none",
        little("answer.py", "1 2 3"),
        HONEST,
        "--moves",
        "2",
        "--seed",
        "5",
        "--log",
        str(log_file),
    )
    assert done.stderr == ""
    assert done.stdout.count("  0 1 2 3 4 5 6 7 8 9  ") == 1 + 6
    first, second = done.stdout.split("\n0 1 ")[1], done.stdout.split("\n2 3 ")[1]
    assert re.match(rf"{re.escape(HONEST)}: \d \d \d \d  \d\.\d\d s\n", first)
    assert re.match(r".* '1 2 3': -  malformed: expected .*, got 3 words: .*  \d\.\d\d s\n", second)
    assert "malformed: expected four integers, got 3 words" in done.stdout
    assert "malformed 2 times, first at ply 2: expected four integers" in done.stdout
    words = (
        r"Ugolki .*: a draw, (\d+), -, 52, \1 penalty, after 8 plies\nplace +player .* lost turns\n"
    )
    assert re.search(words, done.stdout)
    log = read(log_file)
    assert isinstance(log.header, Header)
    assert log.header.players == (HONEST, None, little("answer.py", "1 2 3"), HONEST)
    assert (log.header.seed, log.header.options) == (5, {"moves": 2})
    assert [turn.seat for turn in log.turns] == [0, 2, 3, 0, 2, 3]
    assert log.turns[1].output == "1 2 3"
    assert log.result is not None
    assert log.result.lost == (0, 0, 2, 0)


def test_json_is_all_that_is_printed() -> None:
    done = match(HONEST, little("crash.py", "0"), "none", "none", "--moves", "1", "--json")
    data = json.loads(done.stdout)
    assert data["plies"] == 4
    assert data["score"] == "penalty"
    assert (data["game"], data["seed"], data["options"]) == ("ugolki", 0, {"moves": 1})
    assert (data["termination"], data["overloaded"], data["games_played"]) == ("score", False, 1)
    assert data["reason"] == f"1 wins, {data['seats'][0]['score']}, 52, -, - penalty"
    assert [seat["disqualified"] for seat in data["seats"]] == [False] * 4
    assert [seat["share"] for seat in data["seats"]] == [1, 0, 0, 0]
    assert [seat["place"] for seat in data["seats"]] == [1, 2, None, None]
    assert data["seats"][1]["lost"] == [
        {"ply": 1, "verdict": "missing", "reason": "there is no output.txt"}
    ]


def test_quiet_prints_only_the_result() -> None:
    done = match(HONEST, "none", "none", "none", "--moves", "1", "--quiet")
    assert "0 1 2 3" not in done.stdout
    assert ", after 4 plies" in done.stdout


def test_built_in_players_play_from_any_folder(tmp_path: Path) -> None:
    arguments = (
        "match",
        "ugolki",
        "bot",
        "greedy",
        "random",
        "random",
        "--moves",
        "1",
        "--seconds",
        "60",
        "--json",
    )
    data = json.loads(quartet(*arguments, cwd=tmp_path).stdout)
    assert [seat["lost"] for seat in data["seats"]] == [[]] * 4
    again = json.loads(quartet(*arguments, cwd=tmp_path).stdout)
    assert [seat["score"] for seat in again["seats"]][1:] == [
        seat["score"] for seat in data["seats"]
    ][1:]


@posix
def test_a_relative_path_to_a_program_works(tmp_path: Path) -> None:
    program = tmp_path / "my program"
    program.write_text("#!/bin/sh\necho 3 1 4 1 > output.txt\n")
    program.chmod(0o755)
    done = quartet(
        "match",
        "ugolki",
        "./my program",
        "none",
        "none",
        "none",
        "--moves",
        "1",
        "--json",
        "--seconds",
        "60",
        cwd=tmp_path,
    )
    assert json.loads(done.stdout)["seats"][0]["score"] == 51


BAD = [
    (["match", "chess", "a"], f"no game is called 'chess'; there are: {', '.join(registry.GAMES)}"),
    (["match", "ugolki", "bot"], "ugolki has 4 players, not 1"),
    (["match", "ugolki", "none", "none", "none", "none"], "all seats are empty"),
    (["match", "ugolki", "bot", "bot", "bot", "bot", "--moves", "0"], "--moves"),
    (
        ["match", "ugolki", "bot", "bot", "bot", "bot", "--seconds", "nan"],
        "nan is not a positive number",
    ),
    (
        ["match", "ugolki", "bot", "bot", "bot", "bot", "--megabytes", "-1"],
        "-1.0 is not a positive number",
    ),
    (
        ["match", "ugolki", "bot", "bot", "bot", "bot", "--log", "/no/such/folder/x"],
        "cannot write the log",
    ),
    (["match", "ugolki", "human", "bot", "bot", "bot"], "a human needs a keyboard"),
    (
        ["match", "ugolki", "human", "bot", "bot", "bot", "--json"],
        "a human needs to see the board",
    ),
    (["match", "ugolki", "bot", "bot", "bot", "bot", "--step"], "--step needs a keyboard"),
    (["match"], "Missing argument 'GAME'"),
    (["what"], "No such command 'what'"),
    (["perft", "ugolki", "--", "-1"], "-1 is not in the range"),
    (
        ["perft", "ugolki", "1", "--position", "/no/such/file"],
        "'/no/such/file' is neither a file nor a position: ",
    ),
    (["perft", "ugolki", "1", "--position", __file__], "test_match.py:"),
    (["perft", "ugolki", "1", "--position", str(ROOT)], f"cannot read {ROOT}: "),
    (["perft", "ugolki", "1", "--option", "walls=1"], "ugolki has no option 'walls'"),
    (
        ["perft", "ugolki", "1", "--option", "play_out=maybe"],
        "--option wants NAME=NUMBER, NAME=on or NAME=off, not 'play_out=maybe'",
    ),
    (
        ["perft", "ugolki", "1", "--option", "opening=1", "--position", str(EXAMPLE)],
        "the option opening chooses a start",
    ),
    (
        ["match", "ataxx", "random", "random", "--option", "plies=0"],
        "option plies of ataxx cannot be 0",
    ),
    (
        ["match", "ugolki", *["random"] * 4, "--option", "moves=0"],
        "option moves of ugolki cannot be 0",
    ),
    (["analyse", "chess"], "'chess' is neither a log nor a game; the games are: ataxx"),
    (["analyse", "ugolki", "--player", "unknown"], "no built-in player 'unknown'"),
    (["analyse", "ugolki", "--seconds", "0"], "0.0 is not in the range"),
    (["analyse", "ugolki", "--position", "over"], "'over' is neither a file nor a position: "),
    (["replay", "chess", "x"], "no game is called 'chess'"),
]


@pytest.mark.parametrize(
    ("arguments", "words"), BAD, ids=[" ".join(arguments)[:60] for arguments, _ in BAD]
)
def test_bad_input_gets_one_line(arguments: list[str], words: str) -> None:
    assert words in refusal(*arguments)


@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_match_keeps_the_log_and_leaves_nothing(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    log_file = tmp_path / "game.jsonl"
    mark = f"mark-{tmp_path}"
    arguments = [
        HONEST,
        little("stall.py", mark),
        HONEST,
        HONEST,
        "--seconds",
        "60",
        "--quiet",
        "--log",
        str(log_file),
    ]
    environment = {"TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin", **WATCHING}
    command = [sys.executable, "-m", "quartet", "match", "ugolki", *arguments]
    with subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        give_up = time.monotonic() + ENOUGH
        while not any(
            mark in (p.info["cmdline"] or []) and p.pid != process.pid
            for p in psutil.process_iter(["cmdline"])
        ):
            assert time.monotonic() < give_up
            time.sleep(0.05)
        process.send_signal(number)
        _, errors = process.communicate(timeout=ENOUGH)
    assert process.returncode == code
    assert "Traceback" not in errors
    assert not any(mark in (p.info["cmdline"] or []) for p in psutil.process_iter(["cmdline"]))
    log = read(log_file)
    assert len(log.turns) == 1
    assert log.result is None
    assert not list(tmp_path.glob("quartet-*"))


def test_perft() -> None:
    for extra in ([], ["--reference"], ["--divide"]):
        done = quartet("perft", "ugolki", "2", *extra)
        lines = done.stdout.splitlines()
        assert lines[-1] == "485"
        assert len(lines) == (23 if extra == ["--divide"] else 1)
        assert done.stderr != ""
    data = json.loads(quartet("perft", "ugolki", "2", "--json", "--divide").stdout)
    assert (data["count"], sum(data["moves"].values()), len(data["moves"])) == (485, 485, 22)


def test_perft_from_a_file() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "input.txt")
        file.write_text(Position.start().text())
        assert quartet("perft", "ugolki", "1", "--position", str(file)).stdout == "22\n"


def test_games() -> None:
    data = json.loads(quartet("games", "--json").stdout)
    assert [row["name"] for row in data] == list(registry.GAMES)
    assert all({"greedy", "random"} <= set(row["builtin"]) for row in data)
    assert "ugolki" in quartet("games").stdout


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["match"],
        ["replay"],
        ["perft"],
        ["analyse"],
        ["games"],
        ["bench"],
        ["tournament"],
        ["sprt"],
        ["lost"],
    ],
)
def test_help(arguments: list[str]) -> None:
    done = quartet(*arguments, "--help")
    assert "Usage: quartet" in done.stdout
    assert done.stderr == ""
