"""What executables do beside playing, tried without one: the age of the outer process, settings
beside the executable, cleaning up."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import pytest

from core.agent import executable
from core.native.clock import UNKNOWN_AGE
from tests.games import ROOT

if TYPE_CHECKING:
    from pathlib import Path

# Ages

AGE = (
    "import sys; sys._MEIPASS = {folder!r}; from core.native.clock import process_age; "
    "print(process_age())"
)
"""A program that says how old it is; it takes itself for unpacked if the folder says so."""
PARENT = (
    "import subprocess, sys, time; time.sleep({seconds}); subprocess.run([sys.executable, "
    "'-c', sys.argv[1]])"
)


def age_below(parent: list[str], folder: str) -> float:
    """What AGE says, run by a parent that takes the program's text as its last argument."""
    done = subprocess.run(
        [*parent, AGE.format(folder=folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def test_an_unpacked_program_is_as_old_as_the_one_that_unpacked_it() -> None:
    """It runs the same executable, here Python, and is older."""
    assert age_below([sys.executable, "-c", PARENT.format(seconds=0.5)], "/tmp/_MEIabc123") > 0.5  # noqa: S108


def test_a_windows_path_is_a_path() -> None:
    assert (
        age_below(
            [sys.executable, "-c", PARENT.format(seconds=0.5)], "C:\\Users\\me\\Temp\\_MEI12345"
        )
        > 0.5
    )


def test_any_other_program_has_its_own_age() -> None:
    """Whoever started it: the pause is long enough that a start of Python, on a machine however
    slow, is shorter."""
    parent = [sys.executable, "-c", PARENT.format(seconds=5)]
    folders = ("", "/opt/bot/_internal", "/tmp/_MEIabc123/inner")  # noqa: S108
    with ThreadPoolExecutor() as executor:
        assert all(age < 5 for age in executor.map(partial(age_below, parent), folders))


def test_an_unpacked_program_that_lost_its_outer_process_guesses() -> None:
    """The parent is a shell: not the same program."""
    shell = ["sh", "-c", f'sleep 1; "{sys.executable}" -c "$0"; true']
    own, guessed = age_below(shell, ""), age_below(shell, "/tmp/_MEIabc123")  # noqa: S108
    assert guessed > UNKNOWN_AGE
    assert guessed < own + UNKNOWN_AGE + 0.9  # and not the shell's age


# Settings


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"target = 0.4\n", {"QUARTET_TARGET": "0.4"}),
        (b"\xef\xbb\xbftarget=0,4\r\nseed = 7\r\n", {"QUARTET_TARGET": "0,4", "QUARTET_SEED": "7"}),
        ("target = 0.45\r\n".encode("utf-16"), {"QUARTET_TARGET": "0.45"}),
        (b"[bot]\n; target = 0.1\n# nodes = 5\nEarly = 0", {"QUARTET_EARLY": "0"}),
        (b"", {}),
        (b"\x00\xff\xfe=\x01\n = 3\nno equals sign", {}),
    ],
)
def test_settings_beside_the_executable(tmp_path: Path, data: bytes, found: dict[str, str]) -> None:
    (tmp_path / "quartet.ini").write_bytes(data)
    environment: dict[str, str] = {}
    executable.read_settings(str(tmp_path / "quartet.ini"), environment)
    assert environment == found


def test_the_environment_goes_first(tmp_path: Path) -> None:
    (tmp_path / "quartet.ini").write_text("target = 0.4\nseed = 1\n")
    environment = {"QUARTET_TARGET": "0.2"}
    executable.read_settings(str(tmp_path / "quartet.ini"), environment)
    assert environment == {"QUARTET_TARGET": "0.2", "QUARTET_SEED": "1"}


def test_no_settings(tmp_path: Path) -> None:
    environment: dict[str, str] = {}
    executable.read_settings(str(tmp_path / "quartet.ini"), environment)
    executable.read_settings(str(tmp_path), environment)
    assert environment == {}


# What killed runs leave behind


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a run that has just been started; there is all the time in the world to clean
    up."""
    monkeypatch.setattr(executable, "BUDGET", 60)
    return left_folder(tmp_path / "_MEIown", seconds_ago=0)


def left_folder(folder: Path, *, seconds_ago: float = 3600, files: int = 3) -> Path:
    (folder / "lib-dynload").mkdir(parents=True)
    for number in range(files):
        (folder / f"{number}.so").write_bytes(b"x")
    (folder / "lib-dynload" / "inner.so").write_bytes(b"x")
    (folder / executable.MARK).touch()
    os.utime(folder / executable.MARK, (time.time() - seconds_ago,) * 2)
    return folder


def test_folders_of_killed_runs_go(own: Path) -> None:
    left = [left_folder(own.parent / f"_MEI{number}") for number in range(3)]
    assert executable.clean_up(str(own)) == 3
    assert not any(folder.exists() for folder in left)
    assert (own / "lib-dynload" / "inner.so").exists()


@pytest.mark.parametrize("kind", ["young", "no mark", "other name", "link"])
def test_other_folders_stay(own: Path, tmp_path: Path, kind: str) -> None:
    folder = left_folder(
        tmp_path / ("thing" if kind in {"other name", "link"} else "_MEIxyz"),
        seconds_ago=5 if kind == "young" else 3600,
    )
    if kind == "no mark":
        (folder / executable.MARK).unlink()
    if kind == "link":
        (tmp_path / "_MEIlink").symlink_to(folder)
    assert executable.clean_up(str(own)) == 0
    assert (folder / "lib-dynload" / "inner.so").exists()


def test_what_a_folder_links_to_stays(own: Path, tmp_path: Path) -> None:
    folder = left_folder(tmp_path / "_MEIxyz")
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    (folder / "link").symlink_to(tmp_path / "precious")
    assert executable.clean_up(str(own)) == 1
    assert (tmp_path / "precious" / "file").exists()


def test_the_folder_of_a_living_run_stays(own: Path, tmp_path: Path) -> None:
    """However old it is: what counts is the lock of its process, until that dies."""
    folder = left_folder(tmp_path / "_MEIliving")
    program = (
        "import sys, time; from core.agent import executable; "
        "executable.clean_up(sys.argv[1]); print(flush=True); time.sleep(600)"
    )
    living = subprocess.Popen(
        [sys.executable, "-c", program, str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
    )
    try:
        assert living.stdout is not None
        living.stdout.readline()
        assert executable.clean_up(str(own)) == 0
        assert (folder / "lib-dynload" / "inner.so").exists()
    finally:
        living.kill()
        living.communicate()
    assert executable.clean_up(str(own)) == 1
    assert not folder.exists()


def test_cleaning_stops_in_time_and_goes_on_later(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = left_folder(tmp_path / "_MEIxyz", files=20)
    ticks = iter(range(10_000))
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks))
    monkeypatch.setattr(executable, "BUDGET", 8)  # looks at the clock
    starts = 0
    while folder.exists():
        assert (folder / executable.MARK).exists(), "without its mark nobody would know it again"
        executable.clean_up(str(own))
        starts += 1
        assert starts < 50
    assert starts > 2


def test_a_folder_without_its_own_mark_is_no_failure(tmp_path: Path) -> None:
    assert executable.clean_up(str(tmp_path / "_MEInone")) == 0


# The whole


def test_exit_statuses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bot"))

    def ends(arguments: list[str]) -> int:
        if arguments == ["usage"]:
            raise SystemExit(2)
        if arguments == ["bug"]:
            raise RuntimeError("of ours")
        return 7

    assert [executable.run(ends, [word]) for word in ("fine", "usage", "bug")] == [7, 2, 1]
    assert capsys.readouterr().err == "internal error: RuntimeError: of ours\n"
