"""The line judge handles every kind of misbehaviour, writes reasons and logs, and runs clocks. No
process outlives a game."""

from __future__ import annotations

import errno
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from core.messages import Abort, Debug, Finish, Ply
from quartet.judge.game import Start
from quartet.judge.logs import official
from quartet.judge.match import JudgeError, Match
from quartet.judge.process import live, pipes
from quartet.judge.process.folder import ANSWER_LIMIT
from quartet.judge.process.pipes import STDERR_LIMIT, Hub, PollHub, ThreadHub
from quartet.judge.seats.lines import Command, LineSeat
from quartet.judge.table import Penalty, TableRules
from quartet.judge.turn import Result, Termination
from tests.fakegame import GAME, Position
from tests.games import SANITIZED
from tests.processes import living_children

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from core.messages import Entry

PLAYER = str(Path(__file__).parent / "programs_lines" / "play.py")
RAISES = 1 + Path(PLAYER).read_text().splitlines().index(
    '            raise RuntimeError("no idea")'
)
"""Line of the exception of a program."""
READY, CLOCK = 20_000, 20_000
"""Milliseconds that suffice for everything on any machine."""
SHORT = 700
PATIENT, BRIEF = 20.0, 3.0
"""Seconds in which every well-behaved program ends on any machine; and those for one that never
ends."""
JUDGE_MEGABYTES = 1000 if SANITIZED else 100
"""Megabytes by which a game may let the judge grow."""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the little programs are for POSIX")


@pytest.fixture
def mark() -> Iterator[str]:
    """Return a word for the programs' command lines. Afterwards no process with it may run, and no
    child process may remain."""
    word = f"mark-{uuid.uuid4().hex}"
    before, size = living_children(), psutil.Process().memory_info().rss
    yield word
    assert [
        process
        for process in psutil.process_iter(["cmdline"])
        if word in (process.info["cmdline"] or [])
    ] == []
    assert living_children() - before == set()
    assert psutil.Process().memory_info().rss < size + (JUDGE_MEGABYTES << 20)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give programs that end by themselves, or on request, plenty of time."""
    monkeypatch.setattr(live, "FINISH_SECONDS", PATIENT)
    monkeypatch.setattr(live, "TERMINATE_SECONDS", PATIENT)


@dataclass(frozen=True)
class LoggedProgram:
    """A program with its name in the log."""

    name: str
    command: str | Sequence[str]


def little(number: int, *arguments: str) -> LoggedProgram:
    """Return a program that says this number and does what the arguments name."""
    command = [sys.executable, PLAYER, str(number), *arguments]
    return LoggedProgram(" ".join(arguments) or "honest", command)


def prepared(
    first: LoggedProgram,
    second: LoggedProgram,
    *,
    ready: int = READY,
    clock: int = CLOCK,
    megabytes: float | None = None,
    cpu: bool = False,
    plies: int = 6,
    hub: Hub | None = None,
) -> Match:
    """Return a game that has not begun."""
    shared = hub or pipes.hub()
    players = (first, second)
    table = TableRules(
        clocks=(clock, clock),
        per_move=False,
        penalty=Penalty.GAME,
        megabytes=megabytes,
        ready_ms=ready,
        cpu=cpu,
        asks_stuck=True,
    )
    seats = [LineSeat(Command(player.command), shared) for player in players]
    names = [player.name for player in players]
    return Match(GAME, seats, names, table, Start(0, {}, text=Position(plies).text()))


def play(first: LoggedProgram, second: LoggedProgram, **how: Any) -> Match:
    """Return a finished game; `how` as for `prepared`."""
    with prepared(first, second, **how) as match:
        match.play_out()
    return match


def result(match: Match) -> Result:
    assert match.result is not None
    return match.result


def entries(match: Match) -> list[Entry]:
    """Return the judge's log."""
    return official.entries(match)


# Name, verdict, words of the sentence, what the log calls it, limits.
HOSTILE = [
    ("bad ready", Termination.RE, "was not ready: expected OK, got 'YES'", "NOT READY", {}),
    (
        "late ready",
        Termination.TLE,
        "gave no answer before it was ready within 700 ms of wall clock",
        "TLE",
        {"ready": SHORT},
    ),
    ("dies at ready", Termination.RE, "ended before it was ready: exit status 3", "NOT READY", {}),
    ("silent death", Termination.RE, "ended before it was ready: exit status 0", "NOT READY", {}),
    ("flood", Termination.RE, "wrote a line without end before it was ready", "NOT READY", {}),
    (
        "binary flood",
        Termination.RE,
        "wrote a line without end before it was ready",
        "NOT READY",
        {},
    ),
    ("hog", Termination.MEMORY, "MB before it was ready, more than 100", "MLE", {"megabytes": 100}),
    ("deaf", Termination.TLE, "gave no answer at ply", "TLE", {"clock": SHORT}),
    ("never reads", Termination.TLE, "gave no answer at ply", "TLE", {"clock": SHORT}),
    ("format", Termination.RE, "expected SAY and a number, got '\\x1b[2J'", "PARSE", {}),
    ("rubbish", Termination.RE, "gave a bad answer at ply", "PARSE", {}),
    ("empty", Termination.RE, "gave a bad answer at ply", "PARSE", {}),
    (
        "illegal",
        Termination.ILLEGAL,
        "made an illegal move at ply {ply}: 7 is not from 1 to 3",
        "RANGE",
        {},
    ),
    (
        "stall",
        Termination.TLE,
        "gave no answer at ply {ply} within 700 ms of wall clock",
        "TLE",
        {"clock": SHORT},
    ),
    ("ignores signals", Termination.TLE, "gave no answer at ply {ply}", "TLE", {"clock": SHORT}),
    ("no newline", Termination.TLE, "gave no answer at ply {ply}", "TLE", {"clock": SHORT}),
    (
        "raises",
        Termination.RE,
        f"ended at ply {{ply}}: exit status 1: RuntimeError: no idea (play.py, line {RAISES})",
        "PARSE",
        {},
    ),
    ("segfault", Termination.RE, "ended at ply {ply}: killed by SIGSEGV", "PARSE", {}),
    ("closes stdout", Termination.RE, "closed its output at ply {ply}", "PARSE", {}),
    ("closes all", Termination.RE, "closed its output at ply {ply}", "PARSE", {}),
    ("bomb", Termination.TLE, "gave no answer at ply {ply}", "TLE", {"clock": SHORT}),
    ("orphan hog", Termination.MEMORY, "more than 100", "MLE", {"megabytes": 100}),
]


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    ("what", "termination", "words", "code", "limits"), HOSTILE, ids=[row[0] for row in HOSTILE]
)
def test_a_forfeit_loses_the_game(
    mark: str,
    seat: int,
    what: str,
    termination: Termination,
    words: str,
    code: str,
    limits: dict[str, int],
) -> None:
    amount = "150" if "hog" in what else "-"
    hostile, honest = little(2, what, amount, mark), little(1, "", mark)
    started = time.monotonic()
    match = play(*((hostile, honest) if seat == 0 else (honest, hostile)), **limits)  # type: ignore[arg-type]
    outcome = result(match)
    assert (outcome.termination, outcome.offender, outcome.winner) == (termination, seat, 1 - seat)
    assert outcome.reason.startswith("FIRST " if seat == 0 else "SECOND ")
    assert words.format(ply=seat) in outcome.reason
    assert outcome.code == code
    assert outcome.shares[1 - seat] == 1
    assert entries(match)[-1] == Abort(seat, code)
    forfeit = match.turns[-1]
    assert (forfeit.seat, forfeit.verdict.lost, forfeit.move, forfeit.code) == (
        seat,
        True,
        None,
        code,
    )
    assert Termination.of(forfeit.verdict) is termination
    assert not any(turn.verdict.lost for turn in match.turns[:-1])
    assert outcome.lost == ((1, 0) if seat == 0 else (0, 1))
    assert outcome.disqualified == ()
    assert time.monotonic() - started < 20
    report = outcome.exits[1 - seat]
    if report is not None:  # one that was never started leaves nothing
        assert (report.exit, report.asked) == (0, False)


HARMLESS = [
    ("shouts", ()),
    ("endless stderr", ("FIRST left 1 process running",)),
    ("children", ("FIRST left 3 processes running",)),
    ("daemons", ("FIRST left 3 processes running",) if sys.platform == "linux" else None),
    ("early", ("FIRST writes before it is asked",)),
    ("crlf", ()),
    ("ignores finish", ("FIRST had to be asked to end after FINISH",)),
    ("ignores finish and signals", ("FIRST had to be killed after FINISH",)),
    ("fails in the end", ("FIRST ended with exit status 5 after FINISH",)),
    ("talks on", ("FIRST had to be asked to end after FINISH",)),
    ("leaves a child", ("FIRST left 1 process running",)),
]


@pytest.mark.parametrize(("what", "notes"), HARMLESS, ids=[row[0] for row in HARMLESS])
def test_minor_misbehaviour_is_noted(
    mark: str, monkeypatch: pytest.MonkeyPatch, what: str, notes: tuple[str, ...] | None
) -> None:
    if what in {"ignores finish", "ignores finish and signals", "talks on"}:
        monkeypatch.setattr(live, "FINISH_SECONDS", BRIEF)
    if what == "ignores finish and signals":
        monkeypatch.setattr(live, "TERMINATE_SECONDS", BRIEF)
    outcome = result(play(little(2, what, mark), little(1, "", mark)))
    assert (outcome.termination, outcome.winner, outcome.scores) == (Termination.SCORE, 0, (6, 3))
    assert outcome.reason == "FIRST wins, 6 to 3 points"
    if notes is not None:
        assert outcome.notes == notes


@pytest.mark.skipif(sys.platform != "linux", reason="the judge reads /proc")
def test_two_programs_with_one_engine_are_noted(mark: str, tmp_path: Path) -> None:
    """Two versions under test are one if both have loaded the same file."""
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "engine.so").write_bytes(b"code")
    old, new = (str(tmp_path / folder / "engine.so") for folder in ("old", "new"))
    same = result(play(little(2, "maps", old, mark), little(1, "maps", old, mark)))
    assert same.notes == (f"both sides have loaded the same engine, {old}",)
    other = result(play(little(2, "maps", old, mark), little(1, "maps", new, mark)))
    assert other.notes == ()


def test_an_unfinished_last_line_counts(mark: str) -> None:
    outcome = result(play(little(2, "last line", mark), little(1, "", mark), plies=1))
    assert (outcome.termination, outcome.scores) == (Termination.SCORE, (2, 0))


@pytest.mark.parametrize("what", ["last line", "dies between turns"])
def test_an_exit_between_turns_is_noticed_at_the_next_turn(mark: str, what: str) -> None:
    outcome = result(play(little(2, what, mark), little(1, "", mark)))
    assert (outcome.termination, outcome.plies, outcome.offender) == (Termination.RE, 2, 0)
    assert f"ended at ply 2: exit status {0 if what == 'last line' else 4}" in outcome.reason


def test_early_lines_are_answers_and_use_bounded_memory(
    mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "FINISH_SECONDS", BRIEF)
    outcome = result(play(little(2, "endless lines", mark), little(1, "", mark), plies=200))
    assert (outcome.termination, outcome.scores) == (Termination.DRAW, (100, 100))
    assert outcome.reason == "a draw, 100 to 100 points"
    assert outcome.shares == (0.5, 0.5)


def test_the_beginning_of_a_long_answer_is_recorded(mark: str) -> None:
    match = play(little(2, "long line", mark), little(1, "", mark))
    assert result(match).termination is Termination.SCORE
    assert match.turns[0].output == "SAY 2".ljust(ANSWER_LIMIT)
    assert match.turns[0].output_size == 60_005


@pytest.mark.skipif(sys.platform != "linux", reason="there it escapes")
@pytest.mark.parametrize("seat", [0, 1])
def test_a_process_that_hides_its_origin_is_ended(mark: str, seat: int) -> None:
    naked, honest = little(2, "naked daemon", mark), little(1, "", mark)
    assert (
        result(play(*((naked, honest) if seat == 0 else (honest, naked)))).termination
        is Termination.SCORE
    )


def test_a_missing_program() -> None:
    outcome = result(play(LoggedProgram("x", ["/no/such/program"]), little(1)))
    assert (outcome.termination, outcome.offender, outcome.code) == (Termination.RE, 0, "NOT READY")
    assert outcome.reason == "FIRST cannot be started: No such file or directory: /no/such/program"
    outcome = result(play(little(1), LoggedProgram("x", "/no/such/program 2>&1 >&-")))
    assert (outcome.termination, outcome.offender) == (Termination.RE, 1)


def test_no_player_loses_by_an_error_of_the_judge(mark: str) -> None:
    sentence = "the judge failed: ZeroDivisionError: the referee is broken"
    with (
        prepared(little(2, "breaks the referee", mark), little(1, "", mark)) as match,
        pytest.raises(JudgeError) as raised,
    ):
        match.play_out()
    assert str(raised.value) == sentence
    assert match.result is None
    assert match.turns == []
    assert not any(isinstance(entry, Abort | Finish) for entry in entries(match))


def test_no_player_loses_by_an_error_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*words: object, **how: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(psutil, "Popen", start)
    with prepared(little(2), little(1)) as match, pytest.raises(JudgeError) as raised:
        match.play_out()
    assert str(raised.value) == "the judge failed: OSError: [Errno 24] Too many open files"
    assert match.result is None


def test_no_process_remains_after_an_aborted_game(mark: str) -> None:
    with prepared(little(2, "daemons", mark), little(1, "", mark)) as match:
        for turn in match.play():
            if turn.ply == 2:
                break
    assert match.result is None
    assert official.text(match).count("\n") == 2 + 1 + 3, "header, INIT and three plies"


def test_simultaneous_games_are_independent(mark: str) -> None:
    programs = little(2, "daemons", mark), little(1, "children", mark)
    with prepared(*programs) as one, prepared(*programs) as two:
        turns = zip(one.play(), two.play(), strict=True)
        assert len(list(turns)) == 6
    for match in (one, two):
        outcome = result(match)
        assert outcome.termination is Termination.SCORE
        assert [report and report.left_behind for report in outcome.exits] == [
            3,
            3,
        ] or sys.platform != "linux"


@pytest.mark.parametrize("kind", [PollHub, ThreadHub])
@pytest.mark.parametrize(
    "what", ["", "shouts", "endless stderr", "flood", "closes stdout", "stall", "raises"]
)
def test_both_hubs_behave_alike(mark: str, kind: type[Hub], what: str) -> None:
    outcome = result(
        play(
            little(2, what, mark),
            little(1, "", mark),
            hub=kind(),
            clock=CLOCK if what != "stall" else SHORT,
        )
    )
    expected = {
        "flood": Termination.RE,
        "closes stdout": Termination.RE,
        "raises": Termination.RE,
        "stall": Termination.TLE,
    }
    assert outcome.termination is expected.get(what, Termination.SCORE)


FLUSH = "; it is running and has written nothing: does it flush its output?"


@pytest.mark.parametrize(
    ("what", "limits"),
    [("late ready", {"ready": SHORT}), ("never flushes", {"ready": 3 * SHORT})],
)
def test_a_silent_running_program_gets_a_hint_about_flushing(
    mark: str, what: str, limits: dict[str, int]
) -> None:
    match = play(little(2, what, mark), little(1, "", mark), **limits)
    outcome = result(match)
    assert (outcome.termination, outcome.offender) == (Termination.TLE, 0)
    assert outcome.reason.endswith(FLUSH)
    assert match.turns[-1].reason.endswith(FLUSH)


@pytest.mark.parametrize("what", ["stall", "no newline", "deaf", "bomb"])
def test_a_program_that_has_written_gets_no_hint(mark: str, what: str) -> None:
    outcome = result(play(little(2, what, mark), little(1, "", mark), clock=SHORT))
    assert (outcome.termination, outcome.offender) == (Termination.TLE, 0)
    assert "flush" not in outcome.reason


def test_a_program_that_never_flushes_loses_in_any_environment(
    mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Set PYTHONUNBUFFERED, with which the program would be ready."""
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    limits = {"ready": 3 * SHORT}
    outcome = result(play(little(2, "never flushes", mark), little(1, "", mark), **limits))
    assert (outcome.termination, outcome.offender) == (Termination.TLE, 0)
    assert outcome.reason.endswith(FLUSH)


# Reasons and logs


def test_the_log_has_the_format_of_the_judge(mark: str) -> None:
    match = play(little(2, "explains"), little(3))
    plies = [entry for entry in entries(match) if isinstance(entry, Ply)]
    assert [(ply.seat, ply.move, ply.drawn) for ply in plies] == [
        (i % 2, (3 if i % 2 else 2,), i + 1) for i in range(6)
    ]
    assert all(ply.ms >= 1 for ply in plies)
    lines = official.text(match).splitlines()
    assert lines[:5] == [
        '[FIRST "COMMAND: explains"]',
        '[SECOND "COMMAND: honest"]',
        '[RESULT "0-1"]',
        "INIT 6",
        "# Debug FIRST: turn 0",
    ]
    assert lines[5].startswith("FIRST 2 1 ")
    assert lines[-3:] == ["FINISH", "SCOREFIRST 6", "SCORESECOND 9"]


def test_standard_error_is_stored_in_lines_up_to_a_limit() -> None:
    match = play(little(2, "shouts"), little(1))
    said = [entry.text for entry in entries(match) if isinstance(entry, Debug)]
    assert said[0] == "y" * 99
    assert said[-1] == f"(only the first {STDERR_LIMIT} bytes are kept)"
    assert len(said) == STDERR_LIMIT // 100 + 2


def test_programs_receive_the_lines_of_the_judge(tmp_path: Path) -> None:
    script = tmp_path / "listens.py"
    script.write_text(
        "import sys\n"
        "for line in sys.stdin:\n"
        "    print(line.strip(), file=sys.stderr)\n"
        "    print({'R': 'OK', 'T': 'SAY 2'}.get(line[0], ''), end='\\n' if line[0] in 'RT' else "
        "'', flush=True)\n"
        "    if line == 'FINISH\\n': break\n"
    )
    match = play(
        LoggedProgram("ears", [sys.executable, str(script)]),
        little(3, "sleeps", "0.05"),
        clock=5000,
        plies=3,
    )
    heard = [entry.text for entry in entries(match) if isinstance(entry, Debug)]
    ms = [entry.ms for entry in entries(match) if isinstance(entry, Ply)]
    assert heard == [
        "READY FIRST",
        "INIT 3",
        "TIME 5000 5000",
        "GET 1",
        f"OPP 3 2 {ms[1]}",
        f"TIME {5000 - ms[0]} {5000 - ms[1]}",
        "GET 3",
        "FINISH",
    ]
    assert ms[1] >= 50


# Clocks


def test_the_clock_is_for_the_whole_game(mark: str) -> None:
    match = play(little(2, "sleeps", "0.2", mark), little(1, "", mark), clock=500)
    outcome = result(match)
    assert (outcome.termination, outcome.offender, outcome.overloaded) == (
        Termination.TLE,
        0,
        False,
    )
    assert outcome.plies in {2, 4}
    assert match.clocks[0] < 320


def test_sleep_counts_as_wall_clock_only(mark: str) -> None:
    sleeper = little(2, "sleeps", "0.4", mark)
    assert result(play(sleeper, little(1), clock=500)).termination is Termination.TLE
    assert result(play(sleeper, little(1), clock=500, cpu=True)).termination is Termination.SCORE


@pytest.mark.slow
def test_processor_time_includes_the_opponents_turns(mark: str) -> None:
    ponderer, slow = little(2, "ponders", "0.3", mark), little(1, "sleeps", "0.5", mark)
    assert result(play(ponderer, slow, clock=60_000)).termination is Termination.SCORE
    outcome = result(play(ponderer, slow, clock=500, cpu=True))
    assert (outcome.termination, outcome.offender) == (Termination.TLE, 0)
    assert "ms of processor time" in outcome.reason


def test_processor_time_includes_children(tmp_path: Path, mark: str) -> None:
    script = tmp_path / "delegates.py"
    burner = "import time\nend = time.process_time() + 0.4\nwhile time.process_time() < end: pass"
    script.write_text(
        "import subprocess, sys\n"
        "for line in sys.stdin:\n"
        "    if line[0] == 'R': print('OK', flush=True)\n"
        f"    if line[0] == 'T': subprocess.run([sys.executable, '-c', {burner!r}]); print('SAY "
        "2', flush=True)\n"
        "    if line[0] == 'F': break\n"
    )
    delegator = LoggedProgram("boss", [sys.executable, str(script), mark])
    outcome = result(play(delegator, little(1), clock=600, cpu=True))
    assert (outcome.termination, outcome.offender) == (Termination.TLE, 0)
    assert outcome.exits[0] is not None
    assert outcome.exits[0].seconds > 0.2  # its own is far less; load may end it early


def test_an_idle_program_cannot_stall_a_processor_time_clock(mark: str) -> None:
    started = time.monotonic()
    outcome = result(play(little(2, "stall", mark), little(1), clock=300, cpu=True))
    assert outcome.termination is Termination.TLE
    assert time.monotonic() - started < 10
    assert not outcome.overloaded


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's accounts")
def test_a_time_out_on_an_overloaded_machine_is_marked(mark: str) -> None:
    cores = len(psutil.Process().cpu_affinity() or [0])
    code = f"import time\nend = time.monotonic() + 20\n'{mark}'\nwhile time.monotonic() < end: pass"
    # Each in its session: Linux shares processors fairly between sessions first.
    spinners = [
        psutil.Popen([sys.executable, "-c", code], start_new_session=True) for _ in range(4 * cores)
    ]
    try:
        outcome = result(play(little(2, "burns", "5", mark), little(1, "", mark), clock=1500))
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()
    assert (outcome.termination, outcome.offender, outcome.overloaded) == (Termination.TLE, 0, True)
    assert "the machine was overloaded" in outcome.reason
    sleeper = result(play(little(2, "stall", mark), little(1), clock=SHORT))
    assert (sleeper.termination, sleeper.overloaded) == (Termination.TLE, False)
