"""The command line has help, a version and shell completion."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys

import click
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
        r"(, commit [0-9a-f]{12}\+?)?(, (release|debug|trace|asan|ubsan|tsan) \S+)?\n",
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


def examples(command: click.Command) -> list[str]:
    """Return the example calls in a command's help."""
    text = (command.help or "").replace("\\\n", "")
    return re.findall(
        r"^ *(?:\w+ +eval \"\$\()?quartet (.*?)(?:  .*|\).*| [|>] .*)?$", text, re.MULTILINE
    )


@pytest.mark.parametrize("name", main.COMMANDS)
def test_examples_of_the_help_are_understood(name: str) -> None:
    """Check that commands and options exist. Files and players that they name need not exist."""
    context = click.Context(main.cli)
    command = main.cli.get_command(context, name)
    assert command is not None
    assert examples(command)
    for example in [*examples(command), *examples(main.cli)]:
        called, *arguments = shlex.split(example)
        shown = main.cli.get_command(context, called)
        assert shown is not None, example
        parser = shown.make_parser(click.Context(shown, context))
        values, left, _ = parser.parse_args(arguments)  # raises if an option is wrong
        assert not left, example
        needed = [one for one in shown.params if isinstance(one, click.Argument) and one.required]
        assert all(values[one.name or ""] for one in needed), example


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
@pytest.mark.parametrize(
    ("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)]
)
def test_colours_at_a_terminal_only(environment: dict[str, str], coloured: bool) -> None:
    import pty  # noqa: PLC0415  (not on Windows)

    command = [sys.executable, "-m", "quartet", "match", "ataxx", "random", "random", "--seed", "1"]
    inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    leader, follower = pty.openpty()
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env={**inherited, "TERM": "xterm-256color", **environment},
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=subprocess.DEVNULL,
    ):
        os.close(follower)
        shown = b""
        try:
            while data := os.read(leader, 1 << 16):
                shown += data
        except OSError:  # the writer has gone
            pass
    os.close(leader)
    colour = re.compile(rb"\x1b\[(?:\d+;)*[349][0-7][;m]")
    assert bool(colour.search(shown)) == coloured
    assert shown
    if not environment:
        piped = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
        assert b"\x1b" not in piped.stdout
