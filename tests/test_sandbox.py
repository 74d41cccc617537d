"""A sandbox stops attacks of a hostile program on its judge; without one, its user's rights
apply."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from core.errors import QuartetError
from quartet.judge.process import once, sandbox
from quartet.judge.process.folder import ProgramFolder
from quartet.judge.process.live import LiveProgram, ReadStatus
from quartet.judge.process.pipes import hub
from tests.games import ROOT
from tests.processes import living_children
from tests.tools import need

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the little programs are for POSIX")
PROGRAMS = Path(__file__).parent / "programs"
ENOUGH = 60.0
BOMB = 100
"""Processes of a fork bomb; few enough for any machine."""


def little(name: str, *words: object) -> list[str]:
    return [sys.executable, str(PROGRAMS / name), *map(str, words)]


@pytest.fixture
def folder() -> Iterator[ProgramFolder]:
    made = ProgramFolder("a test")
    yield made
    made.close()


@pytest.fixture
def sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    need("bubblewrap", "bwrap")
    sandbox.require()
    monkeypatch.setenv(sandbox.WANTED, "1")


def spied(folder: ProgramFolder) -> dict[str, object]:
    """Return what a program can do in a folder."""
    other = ProgramFolder("another test")
    secret, target = other.path / "stall.txt", other.path / "new"
    secret.write_text("what an opponent remembers")
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            env = {
                "SECRET": str(secret),
                "TARGET": str(target),
                "PORT": str(server.getsockname()[1]),
                "JUDGE": str(os.getpid()),
            }
            run = once.run(little("spy.py"), folder.path, seconds=ENOUGH, megabytes=500, env=env)
        assert (run.ending, run.exit) == (once.Ending.EXITED, 0), run.stderr
        found: dict[str, object] = json.loads((folder.path / "output.txt").read_text())
        return {**found, "writes": target.exists()}
    finally:
        signal.signal(signal.SIGUSR1, before)
        other.close()


def test_without_a_sandbox_a_program_has_its_users_rights(folder: ProgramFolder) -> None:
    found = spied(folder)
    assert [found[name] for name in ("reads", "writes", "speaks", "signals")] == [True] * 4


@pytest.mark.usefixtures("sealed")
def test_in_a_sandbox_a_program_has_only_its_own_resources(folder: ProgramFolder) -> None:
    found = spied(folder)
    assert [found[name] for name in ("reads", "writes", "speaks", "signals")] == [False] * 4
    assert found["limit"] == sandbox.MAX_PROCESSES
    assert found["processes"] in {2, 3}  # itself, and what bubblewrap keeps


@pytest.mark.parametrize("is_sealed", [False, True])
def test_a_fork_bomb_of_sessions_leaves_no_process(
    is_sealed: bool, folder: ProgramFolder, request: pytest.FixtureRequest
) -> None:
    if is_sealed:
        request.getfixturevalue("sealed")
    before = living_children()
    run = once.run(little("sessions.py", BOMB), folder.path, seconds=2, megabytes=10**6)
    assert run.ending is once.Ending.LATE
    assert living_children() == before


@pytest.mark.usefixtures("sealed")
def test_a_line_program_answers_from_its_sandbox(tmp_path: Path) -> None:
    code = "import os; print(input(), os.getcwd(), flush=True); open('x', 'w')"
    shared = hub()
    program = LiveProgram(shared, [sys.executable, "-c", code], cwd=None)
    program.send("hello")
    reply = program.receive(ENOUGH)
    assert (reply.status, reply.line) == (ReadStatus.LINE, f"hello {Path.cwd()}".encode())
    status = next(filter(None, (program.last_words() for _ in range(100))), None)
    assert status == 1  # the folder is not its own
    assert "Read-only file system" in program.pipes.stderr.lines[-1]
    assert program.end().left_behind == 0


@pytest.mark.usefixtures("sealed")
def test_a_late_program_leaves_no_sandbox_behind(folder: ProgramFolder) -> None:
    run = once.run(["sleep", "60"], folder.path, seconds=1, megabytes=10**6)
    assert (run.ending, run.left_behind) == (once.Ending.LATE, 0)


def quartet(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "quartet", *words],
        cwd=ROOT,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "words",
    [("ataxx", "greedy", "greedy"), ("ugolki", "greedy", "greedy", "greedy", "random")],
)
def test_a_match_in_sandboxes(words: tuple[str, ...]) -> None:
    need("bubblewrap", "bwrap")
    given = ("match", *words, "--seed", "1", "--quiet", "--json", "--seconds", "60")
    option = ("--moves", "2") if words[0] == "ugolki" else ()
    plain, sealed = quartet(*given, *option), quartet(*given, *option, "--sandbox")
    assert (sealed.returncode, sealed.stderr) == (0, "")
    figures = [json.loads(done.stdout) for done in (plain, sealed)]
    assert figures[0]["reason"] == figures[1]["reason"]


def test_a_machine_without_a_sandbox_prints_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    done = quartet("match", "ataxx", "greedy", "greedy", "--sandbox", PATH="/nonexistent")
    assert done.returncode == 2
    assert done.stderr.startswith("quartet: there is no sandbox on this machine: bwrap is missing")
    assert done.stderr.count("\n") == 1
    sandbox._problem.cache_clear()
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(QuartetError):
        sandbox.require()
    sandbox._problem.cache_clear()


def test_a_cluster_needs_separate_sandbox_settings(tmp_path: Path) -> None:
    need("bubblewrap", "bwrap")
    players = ("--player", "a=greedy", "--player", "b=random", "--games", "2")
    out = tmp_path / "run"
    place = ("--cluster", "tcp://127.0.0.1:1", "--out", str(out))
    done = quartet("tournament", "ataxx", *players, "--sandbox", *place)
    assert done.returncode == 2
    assert "--sandbox is for this machine" in done.stderr
    assert not out.exists()


@pytest.mark.usefixtures("sealed")
def test_a_quoted_program_in_a_temporary_folder_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "two words" / "program.py"
    file.parent.mkdir()
    file.write_text("print('here')")
    words = sandbox.started(f'{sys.executable} "{file}"', None, {})
    assert subprocess.run(words, capture_output=True, check=False).stdout == b"here\n"
    assert sandbox.started(f"{sys.executable} 'unmatched", None, {})


def test_all_temporary_folders_are_hidden(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    need("bubblewrap", "bwrap")
    monkeypatch.setenv(sandbox.WANTED, "1")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    words = sandbox.started(["/bin/true"], tmp_path, {})
    assert words[words.index("--bind") + 1] == str(tmp_path)
    assert ("--tmpfs", str(tmp_path)) in set(pairwise(words))
