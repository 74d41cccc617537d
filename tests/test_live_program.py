"""Each process is assigned to its persistent program, even if several are running."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from typing import TYPE_CHECKING

import psutil
import pytest

from quartet.judge.process import live
from quartet.judge.process.live import LiveProgram, NotStartedError, ReadStatus
from quartet.judge.process.pipes import (
    LINE_LIMIT,
    STDERR_LIMIT,
    Hub,
    Pipes,
    PollHub,
    StderrLog,
    ThreadHub,
)
from quartet.judge.process.tree import Tree
from tests.processes import living_children

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the little programs are for POSIX")

ENOUGH = 30.0
ECHO = (
    "import sys\nfor line in sys.stdin:\n    sys.stderr.write('heard ' + line)\n"
    "    sys.stderr.flush()\n    print('said', line, end='', flush=True)\n"
)

Talk = "Callable[..., LiveProgram]"


@pytest.fixture(params=[PollHub, ThreadHub])
def hub(request: pytest.FixtureRequest) -> Hub:
    made: Hub = request.param()
    return made


@pytest.fixture
def talk(hub: Hub) -> Iterator[Callable[..., LiveProgram]]:
    """Start programs from their source text. Afterwards they are ended, and none of their processes
    may run."""
    mark = f"mark-{uuid.uuid4().hex}"
    begun: list[LiveProgram] = []

    def start(
        code: str, *arguments: str, megabytes: float | None = None, cwd: Path | None = None
    ) -> LiveProgram:
        begun.append(
            LiveProgram(
                hub,
                [sys.executable, "-c", code, *arguments, mark],
                megabytes=megabytes,
                cwd=cwd,
                env={"ADDED": "2"},
            )
        )
        return begun[-1]

    yield start
    for program in begun:
        program.end(at_once=True)
    assert hub.watchers == []
    assert not any(
        mark in (process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])
    )


def test_two_programs_answer_in_turn(talk: Callable[..., LiveProgram], hub: Hub) -> None:
    programs = [talk(ECHO), talk(ECHO)]
    for ply in range(20):
        program = programs[ply % 2]
        program.send(f"ply {ply}")
        reply = program.receive(ENOUGH)
        assert (reply.status, reply.line) == (ReadStatus.LINE, f"said ply {ply}".encode())
        deadline = time.monotonic() + ENOUGH
        while (
            isinstance(hub, ThreadHub)
            and len(program.pipes.stderr.lines) <= ply // 2
            and time.monotonic() < deadline
        ):
            # another thread reads standard error, and may be later than the answer's
            hub.wait(hub.lag)
        assert len(program.pipes.stderr.lines) == ply // 2 + 1
    for program in programs:
        assert program.end(at_once=True).exit is None
    assert programs[1].pipes.stderr.lines == [f"heard ply {ply}" for ply in range(1, 20, 2)]


def test_buffered_lines_are_sent_with_the_next(talk: Callable[..., LiveProgram]) -> None:
    program = talk(ECHO)
    program.send("one", more=True)
    program.send("two")
    assert [program.receive(ENOUGH).line for _ in range(2)] == [b"said one", b"said two"]


def test_a_time_limit_ends_on_time(talk: Callable[..., LiveProgram]) -> None:
    program = talk("import time; time.sleep(60)")
    started = time.perf_counter()
    reply = program.receive(0.2)
    assert (reply.status, reply.line) == (ReadStatus.LATE, None)
    assert 0.2 < reply.seconds <= time.perf_counter() - started < 5


def test_a_program_that_never_reads_delays_no_other(talk: Callable[..., LiveProgram]) -> None:
    program, other = talk("import time; time.sleep(60)"), talk(ECHO)
    for _ in range(3000):
        program.send("x" * 100)
    other.send("hello")
    assert other.receive(ENOUGH).line == b"said hello"


def test_unread_input_arrives_later(talk: Callable[..., LiveProgram]) -> None:
    program = talk(
        "import sys, time\ntime.sleep(0.3)\n"
        "print(sum(len(sys.stdin.readline()) for _ in range(3000)), flush=True)"
    )
    for _ in range(3000):
        program.send("x" * 100)
    assert program.receive(ENOUGH).line == b"303000"


def test_a_program_that_floods_is_served_while_another_is_asked(
    talk: Callable[..., LiveProgram],
) -> None:
    loud, other = talk("import os\nwhile True: os.write(2, b'z' * 65536)"), talk(ECHO)
    for _ in range(50):
        other.send("hello")
        assert other.receive(ENOUGH).line == b"said hello"
    assert loud.receive(0.1).status is ReadStatus.LATE
    assert loud.pipes.stderr.size > STDERR_LIMIT
    assert loud.pipes.stderr.lines[-1] == f"(only the first {STDERR_LIMIT} bytes are kept)"


def test_output_is_bounded(talk: Callable[..., LiveProgram]) -> None:
    program = talk("import os\nwhile True: os.write(1, b'z' * 65536)")
    assert program.receive(ENOUGH).status is ReadStatus.FLOOD
    for _ in range(20):
        program.receive(0.01)
    assert len(program.pipes.received) < 3 * LINE_LIMIT


def test_status_and_last_words(talk: Callable[..., LiveProgram]) -> None:
    program = talk("import sys; sys.stderr.write('no idea'); sys.exit(3)")
    assert program.receive(ENOUGH).status is ReadStatus.GONE
    assert program.last_words() == 3
    assert program.pipes.stderr.lines == ["no idea"]
    assert program.end().exit == 3


def test_output_held_open_by_a_child_is_not_life(talk: Callable[..., LiveProgram]) -> None:
    program = talk("import os, time\nif os.fork() == 0: time.sleep(60)\nelse: os._exit(7)")
    started = time.perf_counter()
    assert program.receive(ENOUGH).status is ReadStatus.GONE
    assert time.perf_counter() - started < ENOUGH / 2
    assert program.last_words() == 7
    assert program.end().left_behind == 1


def test_memory_is_watched_while_another_is_asked(talk: Callable[..., LiveProgram]) -> None:
    fat = talk("import time\nx = b'x' * (150 << 20)\ntime.sleep(60)", megabytes=100)
    other = talk("import time; time.sleep(60)")
    assert other.receive(1).status is ReadStatus.LATE
    assert fat.receive(ENOUGH).status is ReadStatus.MEMORY
    assert fat.end(at_once=True).megabytes > 100


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not find such a process")
def test_a_process_outside_the_group_cannot_outgrow_the_limit_meanwhile(
    talk: Callable[..., LiveProgram],
) -> None:
    fat = talk(
        "import os, sys, time\n"
        "if os.fork():\n    time.sleep(60)\n"
        "os.setsid()\nprint(os.getpid(), flush=True)\n"
        "x = b'x' * (150 << 20)\ntime.sleep(60)",
        megabytes=100,
    )
    child = int(fat.receive(ENOUGH).line or 0)
    other = talk("import time; time.sleep(60)")
    deadline = time.perf_counter() + ENOUGH
    while psutil.pid_exists(child) and time.perf_counter() < deadline:
        assert other.receive(0.1).status is ReadStatus.LATE
    assert not psutil.pid_exists(child)
    assert fat.receive(ENOUGH).status is ReadStatus.MEMORY


def test_folder_and_environment(talk: Callable[..., LiveProgram], tmp_path: Path) -> None:
    program = talk("import os; print(os.getcwd(), os.environ['ADDED'])", cwd=tmp_path)
    assert program.receive(ENOUGH).line == f"{tmp_path} 2".encode()


def test_variables_that_change_programs_are_removed(
    talk: Callable[..., LiveProgram], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    monkeypatch.setenv("PYTHONPATH", "/theirs")
    code = "import os; print([os.environ.get(n) for n in ('PYTHONUNBUFFERED', 'PYTHONPATH')])"
    assert talk(code).receive(ENOUGH).line == b"[None, '/theirs']"


def test_any_output_is_noted(talk: Callable[..., LiveProgram]) -> None:
    silent = talk("import sys, time; sys.stderr.write('busy'); sys.stderr.flush(); time.sleep(60)")
    brief = talk("import sys, time; sys.stdout.write('x'); sys.stdout.flush(); time.sleep(60)")
    assert silent.receive(0.3).status is ReadStatus.LATE
    deadline = time.monotonic() + ENOUGH
    while not brief.pipes.written and time.monotonic() < deadline:
        assert brief.receive(0.1).status is ReadStatus.LATE
    assert [silent.pipes.written, brief.pipes.written] == [False, True]


def test_a_program_that_cannot_be_started(hub: Hub) -> None:
    with pytest.raises(NotStartedError, match="/no/such/program"):
        LiveProgram(hub, ["/no/such/program"])
    assert hub.watchers == []


def test_processor_time_of_the_whole_tree(talk: Callable[..., LiveProgram]) -> None:
    burn = (
        "\nimport os, time\ndef burn(s):\n    end = time.process_time() + s\n"
        "    while time.process_time() < end: pass\n"
    )
    # 0.2 s itself, 0.2 s in a child that it waits for, 0.2 s in one that lives on.
    code = (
        burn + "burn(0.2)\nif os.fork() == 0: burn(0.2); os._exit(0)\nos.wait()\n"
        "if os.fork() == 0: burn(0.2); print('done', flush=True); time.sleep(60)\n"
        "time.sleep(60)"
    )
    program = talk(code)
    assert program.receive(ENOUGH).line == b"done"
    time.sleep(0.02)
    assert 0.55 < program.cpu() < 1.5
    assert program.end(at_once=True).seconds > 0.55


@pytest.mark.skipif(sys.platform != "linux", reason="there it is lost")
def test_processor_time_of_dead_orphans_is_counted(talk: Callable[..., LiveProgram]) -> None:
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        end = time.process_time() + 0.3\n"
        "        while time.process_time() < end: pass\n"
        "    os._exit(0)\n"
        "time.sleep(60)\n"
    )
    program = talk(code)
    deadline = time.monotonic() + ENOUGH
    while program.cpu() < 0.25 and time.monotonic() < deadline:
        assert program.receive(0.1).status is ReadStatus.LATE
    assert program.cpu() > 0.25


def test_processor_time_ends_the_waiting(talk: Callable[..., LiveProgram]) -> None:
    program = talk("while True: pass")
    reply = program.receive(ENOUGH, cpu_until=0.3)
    assert reply.status is ReadStatus.LATE
    assert 0.3 < program.cpu() < 2


def test_a_polite_end(talk: Callable[..., LiveProgram], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "FINISH_SECONDS", ENOUGH)
    program = talk("import sys\nfor line in sys.stdin:\n    if line == 'BYE\\n': sys.exit(5)")
    program.dismiss("BYE")
    report = program.end()
    assert (report.exit, report.asked) == (5, False)
    assert program.end() is report


def test_an_interrupted_end_still_ends_the_program(
    talk: Callable[..., LiveProgram], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(program: LiveProgram) -> None:
        raise KeyboardInterrupt

    program = talk("import time; time.sleep(60)")
    monkeypatch.setattr(LiveProgram, "_let_end", interrupt)
    with pytest.raises(KeyboardInterrupt):
        program.end()
    assert living_children() == set()
    assert program.end(at_once=True).exit is not None


@pytest.mark.slow
def test_two_programs_share_the_time_to_end(
    talk: Callable[..., LiveProgram], monkeypatch: pytest.MonkeyPatch
) -> None:
    finish, terminate = 4.0, 0.2
    monkeypatch.setattr(live, "FINISH_SECONDS", finish)
    monkeypatch.setattr(live, "TERMINATE_SECONDS", terminate)
    stubborn = (
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print(flush=True)\ntime.sleep(60)"
    )
    programs = [talk(stubborn), talk(stubborn)]
    assert [program.receive(ENOUGH).line for program in programs] == [b"", b""]
    started = time.perf_counter()
    for program in programs:
        program.dismiss("BYE")
    assert [program.end().exit for program in programs] == [None, None]
    together = finish + 2 * terminate
    assert together <= time.perf_counter() - started < together + finish


def test_overload_without_scheduler_statistics(
    talk: Callable[..., LiveProgram], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tree, "waited", lambda _: None)
    program = talk("import time; time.sleep(60)")
    monkeypatch.setattr(live, "_idle_seconds", lambda: 1.0)
    program.begin_load()
    assert "no processor was idle" in (program.overload(1.0) or "")
    monkeypatch.setattr(live, "_idle_seconds", lambda: 2.0)
    assert program.overload(1.0) is None


# Attribution of processes

DAEMON = (
    "import os, time\nif os.fork() == 0:\n    os.setsid()\n"
    "    if os.fork() == 0: time.sleep(60)\n    os._exit(0)\nos.wait()\n"
)


def spawn(tree: Tree, code: str, *, bare: bool = False) -> psutil.Popen:
    """Start a program in a tree; it is known to run when it has said so. Without its mark if
    `bare`."""
    env = {} if bare else {**os.environ, **tree.environment}
    command = [sys.executable, "-c", f"{code}\nprint(flush=True)\nimport time; time.sleep(60)"]
    main = psutil.Popen(command, env=env, stdout=subprocess.PIPE, start_new_session=True)
    tree.adopt(main)
    main.stdout.readline()
    main.stdout.close()
    return main


@pytest.mark.skipif(sys.platform != "linux", reason="there orphans escape")
@pytest.mark.parametrize("bare", [False, True])
def test_orphans_are_assigned_by_their_mark(bare: bool) -> None:
    one, two = Tree(), Tree()
    programs = spawn(one, DAEMON, bare=bare), spawn(two, DAEMON, bare=bare)
    # Without a mark they cannot be attributed, so they end with the last program.
    assert [len(one.members()), len(two.members())] == ([1, 1] if bare else [2, 2])
    assert one.kill(programs[0]) == (0 if bare else 1)
    assert two.members() != []
    assert two.kill(programs[1]) == (2 if bare else 1)
    assert living_children() == set()


def test_descendants_are_assigned_to_their_ancestor() -> None:
    one, two = Tree(), Tree()
    code = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], env={}, "
        "start_new_session=True)"
    )
    programs = spawn(one, code), spawn(two, "")
    assert [len(one.members()), len(two.members())] == [2, 1]
    assert [two.kill(programs[1]), one.kill(programs[0])] == [0, 1]


def test_two_trees_leave_other_children_alone() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True
    ) as earlier:
        one, two = Tree(), Tree()
        programs = spawn(one, ""), spawn(two, "")
        assert [one.kill(programs[0]), two.kill(programs[1])] == [0, 0]
        assert earlier.poll() is None
        earlier.kill()


# Lines


def test_lines_of_pipes() -> None:
    pipes = Pipes()
    pipes.received += b"one\r\ntwo\n\nfour"
    assert [pipes.line() for _ in range(4)] == [b"one", b"two", b"", None]
    pipes.ended = True
    assert [pipes.line(), pipes.line()] == [b"four", None]


def test_standard_error_is_split_into_printable_lines() -> None:
    remarks = StderrLog()
    remarks.feed(b"on")
    remarks.feed(b"e\ntwo\x1b[2J\x85\xff\tx\r\n\nthree")
    assert remarks.lines == ["one", "two?[2J�� x", ""]
    remarks.finish()
    assert remarks.lines[-1] == "three"
    assert all(len(text.splitlines()) <= 1 for text in remarks.lines)
