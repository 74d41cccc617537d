"""Executables know the age of the outer process, read settings next to them, and clean up. They are
tested from source."""

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
"""A program that prints its age and believes that it was unpacked into the folder."""
PARENT = (
    "import subprocess, sys, time; time.sleep({seconds}); subprocess.run([sys.executable, "
    "'-c', sys.argv[1]])"
)


def age_below(parent: list[str], folder: str) -> float:
    """Return AGE's output, run by a parent that gets the program as its last argument."""
    done = subprocess.run(
        [*parent, AGE.format(folder=folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def test_an_unpacked_program_is_as_old_as_the_one_that_unpacked_it() -> None:
    """Start an outer process with the same executable, here Python: its age counts."""
    assert age_below([sys.executable, "-c", PARENT.format(seconds=0.5)], "/tmp/_MEIabc123") > 0.5  # noqa: S108


def test_a_windows_path_is_a_path() -> None:
    assert (
        age_below(
            [sys.executable, "-c", PARENT.format(seconds=0.5)], "C:\\Users\\me\\Temp\\_MEI12345"
        )
        > 0.5
    )


@pytest.mark.slow
def test_any_other_program_has_its_own_age() -> None:
    """Check that the age does not depend on the parent. The pause is longer than Python's start on
    any machine."""
    parent = [sys.executable, "-c", PARENT.format(seconds=5)]
    folders = ("", "/opt/bot/_internal", "/tmp/_MEIabc123/inner")  # noqa: S108
    with ThreadPoolExecutor() as executor:
        assert all(age < 5 for age in executor.map(partial(age_below, parent), folders))


def test_an_unpacked_program_without_outer_process_estimates_its_age() -> None:
    """Start it from a shell, which is not the same program."""
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
    ],
)
def test_settings_next_to_the_executable(
    tmp_path: Path, data: bytes, found: dict[str, str]
) -> None:
    (tmp_path / "quartet.ini").write_bytes(data)
    environment: dict[str, str] = {}
    assert executable.read_settings(str(tmp_path / "quartet.ini"), environment)
    assert environment == found


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"\x00\xff\xfe=\x01\n = 3\nno equals sign", 1),
        (b"target = 0.4\ntarrget = 0.1\nearly 0\n", 2),
        (b"target 0.2\n", 1),
    ],
)
def test_a_line_that_is_no_setting_is_reported(
    tmp_path: Path, data: bytes, line: int, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "quartet.ini").write_bytes(data)
    assert not executable.read_settings(str(tmp_path / "quartet.ini"), {})
    said = capsys.readouterr().err
    assert f"quartet.ini, line {line}: " in said
    assert said.count("\n") == 1


def test_the_environment_overrides_settings(tmp_path: Path) -> None:
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
    """Return the folder of a run that has just started, without a time limit for cleaning up."""
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


def test_folders_of_killed_runs_are_removed(own: Path) -> None:
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


def test_targets_of_links_stay(own: Path, tmp_path: Path) -> None:
    folder = left_folder(tmp_path / "_MEIxyz")
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    (folder / "link").symlink_to(tmp_path / "precious")
    assert executable.clean_up(str(own)) == 1
    assert (tmp_path / "precious" / "file").exists()


def test_the_folder_of_a_living_run_stays(own: Path, tmp_path: Path) -> None:
    """Check that a folder of any age stays while its process holds the lock."""
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


def test_cleaning_stops_in_time_and_resumes_later(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = left_folder(tmp_path / "_MEIxyz", files=20)
    ticks = iter(range(10_000))
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks))
    monkeypatch.setattr(executable, "BUDGET", 8)  # looks at the clock
    starts = 0
    while folder.exists():
        assert (folder / executable.MARK).exists(), (
            "without its mark, no later run would recognise it"
        )
        executable.clean_up(str(own))
        starts += 1
        assert starts < 50
    assert starts > 2


def test_a_folder_without_its_mark_is_tolerated(tmp_path: Path) -> None:
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
