"""Nothing that a program does hangs the judge, crashes it, or outlives the move."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import tracemalloc  # noqa: F401  (pytest imports it in a hook, which a signal may interrupt)
import uuid
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import psutil
import pytest

from core.errors import QuartetError
from quartet.judge.process import once
from quartet.judge.process.folder import ANSWER_LIMIT, ProgramFolder
from quartet.judge.process.once import Ending, PipeReader, run
from quartet.judge.process.pipes import STDERR_LIMIT
from quartet.judge.process.spawn import environment
from quartet.judge.process.words import describe_exit, last_words
from tests.processes import living_children

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quartet.judge.process.once import ProcessResult

PROGRAMS = Path(__file__).parent / "programs"
ENOUGH = 60.0
"""Seconds in which anything succeeds on any machine."""
SHORT = 0.3

posix = pytest.mark.skipif(os.name != "posix", reason="forks")


@pytest.fixture
def mark() -> Iterator[str]:
    """Return a word for a program's command line. Afterwards no process with it may run, and no
    child process may remain."""
    word = f"mark-{uuid.uuid4().hex}"
    before = living_children()
    yield word
    assert [
        process
        for process in psutil.process_iter(["cmdline"])
        if word in (process.info["cmdline"] or [])
    ] == []
    assert living_children() - before == set()


def start(
    folder: Path, program: str, *arguments: str, seconds: float = ENOUGH, megabytes: float = 256
) -> ProcessResult:
    """Run a test program."""
    return run(
        [sys.executable, str(PROGRAMS / program), *arguments],
        folder,
        seconds=seconds,
        megabytes=megabytes,
    )


def test_a_program_that_succeeds(tmp_path: Path, mark: str) -> None:
    outcome = start(tmp_path, "answer.py", "1 2 3 4", mark)
    assert (outcome.ending, outcome.exit, outcome.left_behind) == (Ending.EXITED, 0, 0)
    assert (tmp_path / "output.txt").read_text() == "1 2 3 4"
    assert 0 < outcome.seconds < ENOUGH


def test_a_string_goes_through_the_shell(tmp_path: Path) -> None:
    outcome = run("echo hello> a.txt && exit 7", tmp_path, seconds=ENOUGH, megabytes=256)
    assert (outcome.ending, outcome.exit) == (Ending.EXITED, 7)
    assert (tmp_path / "a.txt").read_text().strip() == "hello"


def test_the_environment_is_inherited_and_extended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OURS", "1")
    code = "import os, sys; sys.exit(int(os.environ['OURS'] + os.environ['ADDED']))"
    assert (
        run(
            [sys.executable, "-c", code],
            tmp_path,
            seconds=ENOUGH,
            megabytes=256,
            env={"ADDED": "2"},
        ).exit
        == 12
    )


def test_variables_that_change_programs_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONUTF8", "_STDBUF_O"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("PYTHONPATH", "/theirs")
    monkeypatch.setenv("OURS", "1")
    code = "import os, sys; print(*sorted(os.environ.items()), sep='\\n', file=sys.stderr)"
    outcome = run(
        [sys.executable, "-c", code],
        tmp_path,
        seconds=ENOUGH,
        megabytes=256,
        env={"PYTHONHASHSEED": "7"},
    )
    seen = outcome.stderr.decode().splitlines()
    named = [line for line in seen if line.startswith(("('PYTHON", "('_STDBUF_", "('OURS'"))]
    # A requested one is used.
    assert named == ["('OURS', '1')", "('PYTHONHASHSEED', '7')", "('PYTHONPATH', '/theirs')"]
    assert environment()["PYTHONPATH"] == "/theirs"
    assert environment({"A": "1", "B": "2"}, {"B": "3"}).items() >= {"A": "1", "B": "3"}.items()


def test_a_missing_program(tmp_path: Path) -> None:
    outcome = run(["/no/such/program"], tmp_path, seconds=ENOUGH, megabytes=256)
    assert outcome.ending is Ending.NOT_STARTED
    assert "/no/such/program" in outcome.problem
    assert (
        run(["true"], tmp_path / "gone", seconds=ENOUGH, megabytes=256).ending is Ending.NOT_STARTED
    )


def test_an_exception(tmp_path: Path) -> None:
    outcome = start(tmp_path, "crash.py", "exception")
    assert (outcome.ending, outcome.exit) == (Ending.EXITED, 1)
    assert b"RuntimeError: no idea" in outcome.stderr


@posix
def test_a_signal(tmp_path: Path) -> None:
    outcome = start(tmp_path, "crash.py", "signal")
    assert (outcome.ending, outcome.exit) == (Ending.EXITED, -11)
    assert describe_exit(-11) == "killed by SIGSEGV"


@pytest.mark.parametrize("argument", ["open", "closed"])
def test_a_program_that_does_not_end(tmp_path: Path, mark: str, argument: str) -> None:
    outcome = start(tmp_path, "stall.py", argument, mark, seconds=SHORT)
    assert (outcome.ending, outcome.exit, outcome.left_behind) == (Ending.LATE, None, 0)
    assert outcome.seconds >= SHORT


@posix
def test_a_shell_that_does_not_end(tmp_path: Path, mark: str) -> None:
    command = (
        f"{sys.executable} {PROGRAMS / 'stall.py'} {mark} & {sys.executable} "
        f"{PROGRAMS / 'stall.py'} {mark}; true"
    )
    outcome = run(command, tmp_path, seconds=1, megabytes=256)
    assert outcome.ending is Ending.LATE
    assert outcome.left_behind == 2


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_endless_output(tmp_path: Path, mark: str, stream: str) -> None:
    outcome = start(tmp_path, "noise.py", stream, mark, seconds=1)
    assert outcome.ending is Ending.LATE
    assert len(outcome.stderr) == (STDERR_LIMIT if stream == "stderr" else 0)
    assert outcome.stderr_size >= len(outcome.stderr)


@posix
def test_memory_includes_children(tmp_path: Path, mark: str) -> None:
    outcome = start(tmp_path, "hog.py", "200", mark, megabytes=150)
    assert outcome.ending is Ending.MEMORY
    assert outcome.megabytes > 150
    assert outcome.left_behind == 1


@posix
def test_memory_within_the_limit(tmp_path: Path, mark: str) -> None:
    outcome = start(tmp_path, "hog.py", "100", mark, megabytes=4096, seconds=2)
    assert outcome.ending is Ending.LATE
    assert outcome.megabytes > 50


@posix
@pytest.mark.parametrize("ways", ["child", "daemon", "child+daemon+child+daemon"])
def test_remaining_processes_are_ended(tmp_path: Path, mark: str, ways: str) -> None:
    outcome = start(tmp_path, "litter.py", ways, mark)
    assert (outcome.ending, outcome.exit) == (Ending.EXITED, 0)
    if sys.platform == "linux":
        assert outcome.left_behind == ways.count("+") + 1


@posix
def test_a_process_that_dies_during_a_scan_hides_no_other(
    mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """End the first process of a session before its owner is known: the others of the session are
    found."""
    from quartet.judge.process import posix as means  # noqa: PLC0415  (not on Windows)

    tree = means.PosixTree()
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    with subprocess.Popen(
        [sys.executable, str(PROGRAMS / "stall.py"), mark], start_new_session=True
    ) as child:
        listed = means._sessions
        monkeypatch.setattr(means, "_sessions", lambda: [(gone.pid, child.pid), *listed()])
        try:
            assert child.pid in tree.members()
            monkeypatch.undo()
            assert tree.kill(None) == 1
        finally:
            tree.close()
            child.kill()


@posix
def test_a_fork_bomb(tmp_path: Path, mark: str) -> None:
    outcome = start(tmp_path, "bomb.py", mark, seconds=0.5, megabytes=64)
    assert outcome.ending in {Ending.LATE, Ending.MEMORY}
    assert outcome.left_behind > 0


@posix
def test_other_children_are_left_alone(tmp_path: Path) -> None:
    sleeper = [sys.executable, "-c", "import time; time.sleep(60)"]
    earlier = [subprocess.Popen(sleeper), subprocess.Popen(sleeper, start_new_session=True)]
    later: list[subprocess.Popen[bytes]] = []
    timer = threading.Timer(0.1, lambda: later.append(subprocess.Popen(sleeper)))
    timer.start()
    try:
        assert start(tmp_path, "litter.py", "child+daemon").left_behind == 2
        start(tmp_path, "stall.py", seconds=SHORT)
        timer.join()
        assert [process.poll() for process in earlier + later] == [None, None, None]
    finally:
        timer.join()
        for process in earlier + later:
            process.kill()
            process.wait()


@posix
def test_an_interrupted_judge_ends_the_program(tmp_path: Path, mark: str) -> None:
    code = (
        "import sys; sys.argv[1:] = ['child+daemon']; "
        f"exec(open({str(PROGRAMS / 'litter.py')!r}).read()); time.sleep(60)"
    )
    judge = (
        "import sys; from pathlib import Path; from quartet.judge.process.once import run; "
        "print('ready', flush=True);"
        f"run([sys.executable, '-c', {code!r}, {mark!r}], Path({str(tmp_path)!r}), seconds=60, "
        "megabytes=999)"
    )
    root = Path(__file__).parent.parent
    with subprocess.Popen(
        [sys.executable, "-c", judge], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        give_up = time.monotonic() + ENOUGH
        while (
            len([p for p in psutil.process_iter(["cmdline"]) if mark in (p.info["cmdline"] or [])])
            < 3
        ):
            assert time.monotonic() < give_up
            time.sleep(0.05)
        process.send_signal(2)
        assert process.wait(ENOUGH) != 0


def test_a_pipe_held_by_a_child_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("quartet.judge.process.once.DEATH_SECONDS", 0.1)
    end, writer = os.pipe()
    pipe = os.fdopen(end, "rb")
    reader = PipeReader(pipe)
    os.write(writer, b"still here")
    reader.finish()
    closed = [pipe.closed]
    os.close(writer)
    reader.join(ENOUGH)
    assert [*closed, pipe.closed] == [False, True]
    assert reader.kept == b"still here"


def test_exit_codes_in_words() -> None:
    assert describe_exit(3) == "exit status 3"
    assert describe_exit(0xC0000005) == "exit status 0xc0000005"
    assert describe_exit(-200) == "killed by signal 200"


TRACEBACK = """\
before
Traceback (most recent call last):
  File "/some/where/bot.py", line 40, in <module>
    main()
  File "/some/where/lib/play.py", line 12, in main
    raise RuntimeError("no idea")
RuntimeError: no idea
"""


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("", ""),
        ("\n \n", ""),
        ("one\ntwo\n\n", "two"),
        (TRACEBACK, "RuntimeError: no idea (play.py, line 12)"),
        (TRACEBACK + "\n\n", "RuntimeError: no idea (play.py, line 12)"),
        ('  File "bot.py", line 3\nthat was a place', "that was a place"),
        ("Traceback (most recent call last):\nKeyError: 1", "KeyError: 1"),
        (TRACEBACK.replace("no idea", "\x1b[2J"), "RuntimeError: ?[2J (play.py, line 12)"),
        (TRACEBACK.replace("play.py", "pl\x07y.py"), "RuntimeError: no idea (pl?y.py, line 12)"),
        ("x" * 200, "x" * 120),
    ],
)
def test_last_words(said: str, words: str) -> None:
    assert last_words(said.split("\n")) == words


def test_last_words_of_a_real_traceback(tmp_path: Path) -> None:
    script = tmp_path / "play.py"
    script.write_text("def f():\n    raise RuntimeError('no idea')\n\nf()\n")
    outcome = run([sys.executable, str(script)], tmp_path, seconds=ENOUGH, megabytes=256)
    said = last_words(outcome.stderr.decode().splitlines())
    assert said == "RuntimeError: no idea (play.py, line 2)"
    script.write_text("def f(:\n")
    outcome = run([sys.executable, str(script)], tmp_path, seconds=ENOUGH, megabytes=256)
    said = last_words(outcome.stderr.decode().splitlines())
    assert said.startswith("SyntaxError: ")


@pytest.fixture
def folder() -> Iterator[ProgramFolder]:
    """Yield a program's folder. Closing it must remove it completely."""
    folder = ProgramFolder("test")
    yield folder
    home = folder.path.parent
    folder.close()
    assert not home.exists()


def spoil(folder: ProgramFolder, program: str, *arguments: str) -> None:
    """Run a misbehaving program in the folder."""
    folder.prepare("input.txt", "hello\n", "output.txt")
    assert start(folder.path, program, *arguments).exit == 0


def test_an_answer(folder: ProgramFolder) -> None:
    spoil(folder, "answer.py", "1 2 3 4\\xff")
    answer = folder.read("output.txt")
    assert (answer.data, answer.size, answer.problem) == (b"1 2 3 4\xff", 8, None)


def test_an_old_answer_is_removed_and_other_files_stay(folder: ProgramFolder) -> None:
    spoil(folder, "answer.py", "1 2 3 4")
    (folder.path / "memory").write_text("x")
    folder.prepare("input.txt", "again\n", "output.txt")
    assert folder.read("output.txt").problem == "there is no output.txt"
    assert (folder.path / "memory").read_text() == "x"
    assert (folder.path / "input.txt").read_bytes() == b"again\n"


def test_an_input_that_cannot_be_written_is_an_error(folder: ProgramFolder) -> None:
    with pytest.raises(QuartetError, match=r"^cannot write no/input\.txt for .*: No such file"):
        folder.prepare("no/input.txt", "1\n", "output.txt")
    folder.prepare("input.txt", "1\n", "output.txt")
    assert (folder.path / "input.txt").read_bytes() == b"1\n"


@posix
@pytest.mark.parametrize(
    ("kind", "word"),
    [("directory", "a directory"), ("pipe", "a pipe"), ("link", "a link"), ("device", "a link")],
)
def test_an_answer_that_is_not_a_file(folder: ProgramFolder, kind: str, word: str) -> None:
    spoil(folder, "replace.py", kind)
    answer = folder.read("output.txt")
    assert (answer.data, answer.problem) == (None, f"output.txt is {word}, not a file")
    spoil(folder, "answer.py", "1 2 3 4")
    assert folder.read("output.txt").data == b"1 2 3 4"


@posix
def test_a_huge_answer_is_read_in_part(folder: ProgramFolder) -> None:
    spoil(folder, "replace.py", "huge")
    answer = folder.read("output.txt")
    assert answer.data == bytes(ANSWER_LIMIT)
    assert answer.size == 1 << 40


@posix
def test_a_link_in_place_of_the_input_is_not_followed(folder: ProgramFolder) -> None:
    spoil(folder, "replace.py", "link", "input.txt")
    folder.prepare("input.txt", "new\n", "output.txt")
    assert (folder.path / "elsewhere").read_text() == "3 1 4 1"
    assert (folder.path / "input.txt").read_text() == "new\n"


@posix
@pytest.mark.parametrize("how", ["delete", "replace", "forbid", "fill"])
def test_a_damaged_folder_is_repaired(folder: ProgramFolder, tmp_path: Path, how: str) -> None:
    (tmp_path / "output.txt").write_text("not ours to remove")
    spoil(folder, "vandal.py", how, str(tmp_path))
    folder.read("output.txt")
    spoil(folder, "answer.py", "1 2 3 4")
    assert folder.read("output.txt").data == b"1 2 3 4"
    assert (folder.path / "input.txt").read_text() == "hello\n"
    assert (tmp_path / "output.txt").read_text() == "not ours to remove"
    assert stat.S_IMODE(folder.path.stat().st_mode) == stat.S_IRWXU


@posix
def test_very_deep_directories_are_removed() -> None:
    folder = ProgramFolder("test")
    home = folder.path.parent
    try:
        spoil(folder, "replace.py", "deep")
        spoil(folder, "answer.py", "1 2 3 4")
        assert folder.read("output.txt").data == b"1 2 3 4"
        folder.close()  # it may fail to remove them, but it does not raise
    finally:
        subprocess.run(["rm", "-rf", str(home)], check=False)
        shutil.rmtree(home, ignore_errors=True)


@posix
# an interrupted Popen leaves its pipes to the collector
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("number", range(20))
def test_a_signal_while_a_program_is_being_started(tmp_path: Path, mark: str, number: int) -> None:
    """Send a signal at any time, even during the start: no process remains."""
    timer = threading.Timer(0.0005 * number, os.kill, [os.getpid(), signal.SIGUSR1])
    before = signal.signal(signal.SIGUSR1, _interrupt)
    try:
        # The signal may arrive before the program starts.
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012
            timer.start()
            run(
                [sys.executable, "-c", "import time; time.sleep(60)", mark],
                tmp_path,
                seconds=20,
                megabytes=256,
            )
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def test_the_wait_for_an_exit_is_short() -> None:
    waits: list[float] = []

    class Endless:
        def wait(self, seconds: float) -> None:
            waits.append(seconds)
            raise psutil.TimeoutExpired(seconds)

    tree = SimpleNamespace(members=list)
    main: Any = Endless()
    ending, _, peak, status = once._watch(main, cast("Any", tree), time.perf_counter(), 0.05, 100)
    assert (ending, peak, status) == (once.Ending.LATE, 0.0, None)
    assert waits[0] == once.FIRST_SAMPLE
    assert min(waits) >= 0
    assert max(waits) <= once.LONGEST_PAUSE  # as after a sample that a busy machine delays
    assert once.pause_after(0) == once.SAMPLE_EVERY
