"""Help, version and completion of the command line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from quartet.cli import main
from tests.games import ROOT


def quartet(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "quartet", *arguments],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_help_lists_every_command_once_in_its_group() -> None:
    done = quartet()
    assert (done.returncode, done.stderr) == (0, "")
    listed = re.findall(r"^  ([a-z][a-z-]+)  +[A-Z]", done.stdout, re.MULTILINE)
    assert sorted(listed) == sorted(main.COMMANDS)
    assert "..." not in done.stdout.partition("Play:")[2], "no command's line is cut off"


def test_every_module_of_a_command_is_listed() -> None:
    modules = {
        path.stem.replace("_", "-")
        for path in (ROOT / "quartet" / "cli").glob("*.py")
        if "\ndef command(" in path.read_text("utf-8")
    }
    assert modules | {"bench"} == set(main.COMMANDS)


def test_the_version_names_the_commit_and_the_build() -> None:
    done = quartet("--version")
    assert re.fullmatch(
        r"quartet(, not installed \(it runs from its folder\)| \d+\.\d+\.\d+)"
        r"(, commit [0-9a-f]{12}\+?)?(, (release|debug|trace) \S+)?\n",
        done.stdout,
    ), done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_of_the_shell(shell: str) -> None:
    done = quartet("completion", shell)
    assert done.returncode == 0, done.stderr
    assert "_QUARTET_COMPLETE" in done.stdout
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=done.stdout, text=True, check=False)
        assert checked.returncode == 0


def test_a_command_is_completed() -> None:
    done = quartet(_QUARTET_COMPLETE="bash_complete", COMP_WORDS="quartet tourn", COMP_CWORD="1")
    assert done.stdout == "plain,tournament\n"
