"""`quartet replay` confirms valid logs, rejects changed ones, and accepts truncated ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from core.errors import TextError
from quartet.arena import records
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.logs import jsonl, official
from quartet.judge.logs.check import check
from quartet.judge.logs.jsonl import VERSION, JsonFile, JsonLog, Log, read_log
from quartet.judge.match import Match
from quartet.judge.seats.files import FileSeat
from quartet.judge.seats.seat import Answer, NotReadyError, Seat
from quartet.judge.table import table_rules
from quartet.judge.turn import Turn, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

UGOLKI = games.load("ugolki")
ROOT = Path(__file__).parent.parent
PROGRAMS = ROOT / "tests" / "programs"


def little(name: str, *arguments: str) -> list[str]:
    """Return the command of a test program."""
    return [sys.executable, str(PROGRAMS / name), *arguments]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the log of a game with every kind of turn that a quick program can make."""
    commands = [
        little("honest.py"),
        little("answer.py", "9 9\\xff\\x00\\x1b"),
        little("answer.py", "5 5 5 6"),
        little("crash.py", "1"),
    ]
    table = table_rules(UGOLKI.info, ms=[60_000] * 4, megabytes=1024.0)
    seats = [FileSeat(command) for command in commands]
    path = tmp_path_factory.mktemp("log") / "game.jsonl"
    with (
        JsonFile(path) as log,
        Match(UGOLKI, seats, "habc", table, Start(0, {"moves": 2}), watchers=[log]) as match,
    ):
        for turn in match.play():
            assert path.read_bytes().count(b"\n") == 2 + turn.ply, "every line is there at once"
    return path.read_bytes()


def disagreement(log: Log) -> str:
    """Return the errors that `check` finds in a log; empty if there are none."""
    lines = [jsonl.line(log.header), *map(jsonl.line, log.turns)]
    lines += [] if log.result is None else [jsonl.line(log.result)]
    data = b"".join(lines)
    assert read_log(data) == Log(log.header, list(log.turns), log.result)
    return check(UGOLKI, data).complaint or ""


def replay(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `quartet replay ugolki`."""
    command = [sys.executable, "-m", "quartet", "replay", "ugolki", *arguments]
    return subprocess.run(
        command,
        check=False,
        capture_output=True,
        cwd=ROOT,
        text=True,
        encoding="utf-8",
        timeout=600,
        stdin=subprocess.DEVNULL,
    )


def test_a_true_log_is_confirmed_and_drawn(played: bytes, tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    path.write_bytes(played)
    done = replay(str(path))
    assert done.returncode == 0
    assert done.stdout.count("  0 1 2 3 4 5 6 7 8 9  ") == 1 + 8
    assert done.stdout.splitlines()[-1].startswith(f"{path}: ok, 8 plies, penalty ")
    assert replay("--quiet", str(path)).stdout.count("\n") == 1


def test_output_is_stored_byte_for_byte(played: bytes) -> None:
    log = read_log(played)
    assert log.turns[1].output == "9 9\xff\x00\x1b"
    assert log.turns[1].output_size == 6
    assert [turn.verdict for turn in log.turns[:4]] == [
        Verdict.OK,
        Verdict.MALFORMED,
        Verdict.ILLEGAL,
        Verdict.CRASHED,
    ]


def test_a_truncated_log_is_checked_to_its_end(played: bytes) -> None:
    header_end = played.index(b"\n") + 1
    whole = played.count(b"\n")
    for end in range(header_end, len(played) - 1, 97):
        log = read_log(played[:end])
        assert log.result is None
        assert log.cut == (played[end - 1 : end] != b"\n")
        assert disagreement(log) == ""
    assert len(read_log(played[: played.rindex(b"\n", 0, -1) + 1]).turns) == whole - 2


def test_a_truncated_log_is_noted(played: bytes, tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    path.write_bytes(played[:-10])
    done = replay("--quiet", str(path))
    assert done.returncode == 0
    assert done.stdout.startswith(f"{path}: ok, 8 plies, penalty ")
    assert done.stdout.endswith("; the game was aborted after 8 plies, in the middle of a line\n")
    path.write_bytes(played[: played.rindex(b"\n", 0, -1) + 1])
    assert replay("--quiet", str(path)).stdout.endswith("; the game was aborted after 8 plies\n")


def test_a_name_that_is_not_utf8_is_logged() -> None:
    log, table = JsonLog(), table_rules(UGOLKI.info)
    seats = [FileSeat(little("honest.py")), None, None, None]
    names = ["\udcff", None, None, None]
    with Match(UGOLKI, seats, names, table, Start(0, {"moves": 1}), watchers=[log]) as match:
        match.play_out()
    assert read_log(bytes(log.data)).header.players == ("?", None, None, None)


def test_an_endless_time_is_a_complaint(played: bytes) -> None:
    header, rest = played.split(b"\n", 1)
    changed = json.loads(header) | {"seconds": 1e306}
    found = check(UGOLKI, json.dumps(changed).encode() + b"\n" + rest)
    assert (found.complaint or "").startswith("line 1: ")


def edit_turn(index: int, **changes: Any) -> Callable[[Log], Log]:
    """Change one turn of a log."""

    def edit(log: Log) -> Log:
        turns = list(log.turns)
        turns[index] = msgspec.structs.replace(turns[index], **changes)
        return Log(log.header, turns, log.result)

    return edit


def edit_result(**changes: Any) -> Callable[[Log], Log]:
    """Change the result of a log."""

    def edit(log: Log) -> Log:
        assert log.result is not None
        return Log(log.header, log.turns, msgspec.structs.replace(log.result, **changes))

    return edit


def edit_header(**changes: Any) -> Callable[[Log], Log]:
    """Change the header of a log."""
    return lambda log: Log(msgspec.structs.replace(log.header, **changes), log.turns, log.result)


FORGERIES = [
    (edit_turn(0, input="0\n"), "line 2: the input is not what the rules would send"),
    (edit_turn(0, move=(2, 1, 2, 0)), "line 2: move (2, 1, 2, 0), but the answer says"),
    (edit_turn(0, output="2 1 2 0"), "line 2: move "),
    (edit_turn(0, output=None), "line 2: verdict 'ok', but the answer is 'missing'"),
    (edit_turn(0, move=None), "line 2: verdict 'ok' and move None do not fit together"),
    (
        edit_turn(0, verdict=Verdict.ILLEGAL, move=None),
        "line 2: verdict 'illegal', but the answer is 'ok'",
    ),
    (
        edit_turn(0, verdict=Verdict.CRASHED, move=None, exit=1),
        "line 2: verdict 'crashed', but the answer is 'ok'",
    ),
    (
        edit_turn(0, verdict=Verdict.PASS, move=(-1, -1, -1, -1)),
        "line 2: a turn passes if, and only if, no move is possible",
    ),
    (
        edit_turn(1, verdict=Verdict.MISSING),
        "line 3: verdict 'missing', but the answer is 'malformed'",
    ),
    (edit_turn(2, verdict=Verdict.OK, move=(5, 5, 5, 6)), "line 4: "),
    (edit_turn(1, seat=2), "line 3: a turn of seat 2 at ply 1, where seat 1 has ply 1"),
    (edit_turn(1, ply=2), "line 3: a turn of seat 1 at ply 2"),
    (edit_result(plies=9), "line 10: plies 9, by the rules 8"),
    (edit_result(scores=(0, 52, 52, 52)), "line 10: scores (0, 52, 52, 52), by the rules"),
    (edit_result(places=(4, 1, 1, 1)), "line 10: places"),
    (edit_result(lost=(0, 0, 0, 0)), "line 10: lost"),
    (edit_header(options={"moves": 1}), "line 6: a turn after the end of the game"),
    (edit_header(options={"moves": 3}), "line 10: the result comes before the end of the game"),
    (edit_header(options={"board": 3}), "line 1: ugolki has no option 'board'"),
    (edit_header(options={"moves": True}), "line 1: option moves of ugolki cannot be True"),
    (edit_header(players=("a", "b")), "line 1: ugolki has 4 players, not 2"),
    (edit_header(game="chess"), "line 1: this is a game of chess, not of ugolki"),
    (edit_header(game="ataxx"), "line 1: this is a game of ataxx, not of ugolki"),
    (edit_header(disqualify=True), "line 7: a turn after the end of the game"),
    (
        edit_header(players=("h", None, "b", "c")),
        "line 2: the input is not what the rules would send",
    ),
]


@pytest.mark.parametrize(("forge", "words"), FORGERIES)
def test_a_forged_log_is_rejected(played: bytes, forge: Callable[[Log], Log], words: str) -> None:
    log = read_log(played)
    assert disagreement(log) == ""
    assert disagreement(forge(log)).startswith(words)


def test_output_of_late_and_oversized_programs_is_ignored(played: bytes) -> None:
    log = read_log(played)
    for verdict in (Verdict.LATE, Verdict.MEMORY):
        assert disagreement(edit_turn(1, verdict=verdict, output="1 1")(log)) == ""


def test_exit_status_of_the_command_line(played: bytes, tmp_path: Path) -> None:
    good, bad, missing = tmp_path / "good", tmp_path / "bad", tmp_path / "missing"
    good.write_bytes(played)
    bad.write_bytes(played.replace(b'"plies":8', b'"plies":7'))
    done = replay(str(good), str(bad), str(missing))
    assert done.returncode == 1
    first, second, third = done.stdout.splitlines()
    assert first.startswith(f"{good}: ok")
    assert second == f"{bad}: line 10: plies 7, by the rules 8"
    assert third == f"{missing}: cannot be read: No such file or directory"
    assert done.stderr == ""


HEADER = (
    f'{{"type":"header","game":"ugolki","version":{VERSION},"players":["a","b","c","d"],"seed":0,"options":{{}},'
    '"disqualify":false,"seconds":0.5,"megabytes":256,"date":""}\n'
).encode()
RESULT = (
    b'{"type":"result","plies":0,"scores":[],"places":[],"shares":[],"lost":[],"disqualified":[]}\n'
)

BAD_TEXT = [
    (b"", "line 1: the log is empty"),
    (HEADER[:-20], "line 1: the header is incomplete"),
    (b"\n", "line 1: "),
    (b"\xff\xfe\n", "line 1: "),
    (b"[" * 100_000 + b"\n", "line 1: "),
    (RESULT, "line 1: a log begins with its header, not with a result"),
    (
        HEADER.replace(b'"version":1', b'"version":2'),
        "line 1: the log has format version 2; this program reads version 1",
    ),
    (HEADER.replace(b'"seed":0', b'"seed":"x"'), "line 1: Expected `int`, got `str`"),
    (HEADER.replace(b'"seed":0', b'"seed":0,"x":1'), "line 1: Object contains unknown field `x`"),
    (HEADER + b"{}\n", "line 2: "),
    (HEADER + b'{"type":"turn","ply":-1,"seat":0,"input":""}\n', "line 2: Expected `int` >= 0"),
    (
        HEADER + b'{"type":"turn","ply":0,"seat":0,"input":"","verdict":"fine"}\n',
        "line 2: Invalid enum value 'fine'",
    ),
    (HEADER + HEADER, "line 2: there is a header only on line 1"),
    (HEADER + RESULT + RESULT, "line 3: nothing may follow the result"),
    (HEADER + RESULT + b"x", "line 3: nothing may follow the result"),
]


@pytest.mark.parametrize(("data", "words"), BAD_TEXT, ids=range(len(BAD_TEXT)))
def test_errors_name_the_line(data: bytes, words: str) -> None:
    with pytest.raises(TextError) as caught:
        read_log(data)
    assert str(caught.value).startswith(words)
    assert "\n" not in str(caught.value)


def test_a_turn_round_trips(played: bytes) -> None:
    for turn in read_log(played).turns:
        assert msgspec.json.decode(msgspec.json.encode(turn), type=Turn) == turn


# Logs that earlier versions wrote


OLD = ROOT / "tests" / "data" / "old"


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ("ugolki.jsonl", "ok, 8 plies, penalty 48 52 - 52, places 1 2 - 2"),
        ("person.jsonl", "ok, 4 plies, penalty 53 50 - -, places 2 1 - -"),
        ("run-files/games/000000.log", "ok, 8 plies, penalty 48 48 55 48, places 1 1 4 1"),
    ],
)
def test_logs_of_earlier_versions_are_read(file: str, sentence: str) -> None:
    data = (OLD / file).read_bytes()
    assert check(UGOLKI, data).sentence() == sentence
    log = read_log(data)
    assert log.result is not None
    assert disagreement(log) == ""
    assert disagreement(edit_turn(0, move=(2, 1, 2, 0))(log)).startswith("line 2: move ")


def test_runs_of_earlier_versions_are_read() -> None:
    plan, results = records.read(OLD / "run-lines")
    assert plan["game"] == "applegame"
    assert [result.number for result in results] == [1, 0]
    assert [result.use[1 - result.number].lost for result in results] == [{"tle": 1}] * 2
    assert all("before it was ready" in result.reason for result in results)
    plan, results = records.read(OLD / "run-files")
    assert (plan["kind"], len(results)) == ("tournament", 8)
    for result in results:
        assert sum(result.shares) == pytest.approx(1)
        assert all(use.turns == 2 for use in result.use)


# Logs of ours of games whose judge speaks lines


class AnswerSeat(Seat):
    """A seat that gives these answers in turn; for None it is not ready."""

    def __init__(self, *answers: str | None) -> None:
        super().__init__()
        self._answers = list(answers)

    def open(self, match: Match, seat: int) -> None:  # noqa: ARG002  (as every seat)
        if self._answers == [None]:
            raise NotReadyError(Verdict.CRASHED, "was not ready: no", "NOT READY")

    def ask(self, match: Match) -> Answer:  # noqa: ARG002
        return Answer(text=self._answers.pop(0), seconds=0.003)


APPLES = " ".join((ROOT / "tests/data/applegame/example_input.txt").read_text().split())


def ours(seats: Sequence[Seat]) -> bytes:
    """Return quartet's log of a game of apples."""
    game, log = games.load("applegame"), JsonLog()
    start = Start(0, {}, APPLES)
    with Match(game, seats, "ab", table_rules(game.info), start, watchers=[log]) as match:
        match.play_out()
    return bytes(log.data)


PASSING = "-1 -1 -1 -1"


@pytest.mark.parametrize(
    ("seats", "sentence"),
    [
        ([AnswerSeat(PASSING), AnswerSeat(PASSING)], "ok, 2 plies, cells 0 0"),
        ([AnswerSeat(PASSING), AnswerSeat("0 0 0 0")], "ok, 1 plies, cells 0 0"),
        ([AnswerSeat("what"), AnswerSeat()], "ok, 0 plies, cells 0 0"),
        ([AnswerSeat(), AnswerSeat(None)], "ok, 0 plies, cells 0 0"),
        ([AnswerSeat(None), AnswerSeat()], "ok, 0 plies, cells 0 0"),
    ],
)
def test_own_logs_of_line_protocol_games_are_confirmed(seats: list[Seat], sentence: str) -> None:
    data = ours(seats)
    game = games.load("applegame")
    assert check(game, data).sentence() == sentence
    log = read_log(data)
    assert log.header.position == APPLES
    lines = data.splitlines(keepends=True)
    for count in range(1, len(lines)):
        checked = check(game, b"".join(lines[:count]))
        assert checked.agrees, checked.complaint
    assert log.result is not None
    for forged in (
        Log(log.header, log.turns, msgspec.structs.replace(log.result, plies=7)),
        Log(log.header, log.turns, msgspec.structs.replace(log.result, places=(3, 3))),
    ):
        records_of = (forged.header, *forged.turns, forged.result)
        bad = check(game, b"".join(jsonl.line(record) for record in records_of if record))
        assert not bad.agrees
    stray = check(game, b"".join([*lines[:-1], *lines[1:]]))
    assert stray.complaint is not None


def test_a_folder_means_its_logs(played: bytes, tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_bytes(played)
    (tmp_path / "a.log").write_bytes((OLD / "ugolki.jsonl").read_bytes())
    (tmp_path / "c.txt").write_bytes(ours([AnswerSeat(PASSING), AnswerSeat(PASSING)]))
    (tmp_path / "notes.md").write_text("no log")
    done = replay(str(tmp_path))
    assert done.returncode == 1
    said = [line.removeprefix(f"{tmp_path}/").split(": ", 1) for line in done.stdout.splitlines()]
    assert [name for name, _ in said] == ["a.log", "b.jsonl", "c.txt"]
    assert said[0][1].startswith("ok, 8 plies")
    assert said[1][1].startswith("ok, 8 plies")
    assert said[2][1] == "line 1: this is a game of applegame, not of ugolki"
    (tmp_path / "c.txt").unlink()
    assert replay(str(tmp_path)).returncode == 0
    empty = tmp_path / "empty"
    empty.mkdir()
    nothing = replay(str(empty))
    assert nothing.returncode == 2
    assert nothing.stderr == (
        f"quartet: {empty}: there are no logs in this folder (.txt, .log, .jsonl)\n"
    )


def test_official_logs_of_another_game_are_reported() -> None:
    for name in ("applegame", "connexion"):
        data = (ROOT / "tests" / "data" / name / "logs" / "0000.txt").read_bytes()
        for other in ("applegame", "connexion", "ataxx"):
            checked = check(games.load(other), data)
            words = f"line 1: this is a game of {name}, not of {other}"
            assert checked.complaint == (None if other == name else words)
        complaint = check(UGOLKI, data).complaint
        assert complaint == f"line 1: this is a game of {name}, not of ugolki"


def test_the_official_log_has_every_ply() -> None:
    game = games.load("applegame")
    seats = [AnswerSeat(PASSING), AnswerSeat(PASSING)]
    with Match(game, seats, "ab", table_rules(game.info), Start(0, {}, APPLES)) as match:
        match.play_out()
    text = official.text(match)
    assert check(game, text.encode()).sentence() == "ok, 2 plies, cells 0 0"
