"""Values of options that no command can use are rejected in one line, before anything starts."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from rich.console import Console

from quartet.cli import seats, tables
from quartet.cli.terminal import drawing
from quartet.judge.seats.players import PlayerSpec
from quartet.judge.seats.seating import SeatSetup
from tests.commands import refusal
from tests.games import ROOT

PLAYERS = ["--player", "a=bot", "--player", "b=bot", "--in-process", "--oversubscribe"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["analyse", "ataxx", "--seconds", "nan"], "'--seconds': nan is not a finite number"),
        (["analyse", "ataxx", "--seconds", "inf"], "'--seconds': inf is not a finite number"),
        (["analyse", "ataxx", "--nodes", "9" * 20], "'--nodes': 9+ does not fit into 64 bits"),
        (["analyse", "ataxx", "--depth", "9" * 10], "'--depth': 9+ is not in the range"),
        (["analyse", "game.lgo"], "'game.lgo' is neither a log nor a game; the games are: ataxx"),
        (["perft", "ataxx", "9" * 20], "'DEPTH': 9+ is not in the range"),
        (["match", "ataxx", "greedy", "greedy", "--delay", "9" * 20], "'--delay': 9+ is not in"),
        (["tournament", "ataxx", *PLAYERS, "--megabytes", "nan"], "nan is not a finite number"),
        (["tournament", "ataxx", *PLAYERS, "--megabytes", "9"], "--megabytes is for programs"),
        (["tournament", "ataxx", *PLAYERS, "--replay-overloaded", "2"], "is for programs: omit it"),
        (
            ["tournament", "ugolki", *PLAYERS[:4], "--replay-overloaded", "2"],
            "--replay-overloaded is for line protocols, not for ugolki",
        ),
        (["sprt", "ataxx", "bot", "bot", "--elo0", "-200000"], "'--elo0': -200000.0 is not in"),
        (["gauntlet", "ataxx", "--table", "a,b"], "a table takes 1 opponent, separated"),
        (["gauntlet", "ataxx", "--scale", "2", "--clock", "-5"], "'-5' is not a positive number"),
        (
            ["calibrate", "ataxx", "x", "--held-out", "0.9"],
            "'--held-out'.*: 0.9 is not in the range",
        ),
        (
            ["sprt", "ataxx", "bot", "bot", "--games", "1"],
            "has 2 games: --games must be at least 2",
        ),
        (["sprt", "ugolki", "bot", "bot", "--games", "7"], "--games must be at least 8"),
        (["bench", "ataxx", "--speed", "--check"], "--check, --record and --speed exclude each"),
        (["bench", "ataxx", "--check", "--record"], "--check, --record and --speed exclude each"),
        (["bench", "ataxx", "--depth", "3"], "--depth is for --speed"),
        (["match", "ataxx", "bot", "bot", "--quiet", "--step"], "--step .*: omit it or --quiet"),
        (
            ["match", "ataxx", "bot", "bot", "--json", "--delay", "5"],
            "--delay .*: omit it or --json",
        ),
        (
            ["match", "ugolki", "--moves", "3", "--option", "moves=2", "bot"],
            "two values for .* moves",
        ),
        (["tournament", "ataxx", *PLAYERS, "--nodes", "a=5", "--nodes", "a=6"], "two values for a"),
        (
            ["tournament", "ataxx", *PLAYERS, "--clock", "5", "--clock", "6"],
            "for all players; pass",
        ),
        *(
            ([*command, ""], f"'{command[-1]}'.*: the path is empty")
            for command in (
                ["tournament", "ataxx", *PLAYERS, "--out"],
                ["selfplay", "ataxx", "--games", "1", "--out"],
                ["review", "game.log", "--html"],
                ["match", "connexion", "--log"],
                ["pack", "nypc", "connexion", "--out"],
            )
        ),
        (["runs", ""], r"'\[FOLDER\]': the path is empty"),
        (["report", "--out", "nowhere/report.txt"], "cannot write nowhere/report.txt"),
        (["tournament", "ataxx", *PLAYERS, "--nodes", "0.5"], "--nodes: 0.5 is not an integer"),
        (
            ["tournament", "ataxx", *PLAYERS, "--nodes", "1e30"],
            r"--nodes: 1e\+30 is not an integer",
        ),
    ],
)
def test_such_a_value_is_rejected(arguments: list[str], says: str) -> None:
    assert re.search(says, refusal(*arguments))


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("match connexion sample sample -i input.txt -l ./input.txt", "input.txt"),
        ("match connexion 'python3 bot.py' sample --log bot.py", "bot.py"),
        ("match connexion 'python3 x.py --weights=bot.py' sample --log bot.py", "bot.py"),
        ("match connexion 'WEIGHTS=bot.py python3 x.py' sample --log bot.py", "bot.py"),
        ("match connexion -c my.ini --log my.ini", "my.ini"),
        ("match connexion sample 'python3 bot.py' --cwd2 there --log there/bot.py", "there/bot.py"),
        ("report ./bot.py --out bot.py", "bot.py"),
        ("report --out input.txt", "input.txt"),
    ],
)
def test_no_command_overwrites_what_it_reads(command: str, file: str, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "my.ini").write_text("EXEC1=sample\nEXEC2=sample\n")
    for name in ("bot.py", "there/bot.py", "input.txt"):
        (tmp_path / name).write_text(f"old {name}")
    before = (tmp_path / file).read_bytes()
    assert file in refusal(*shlex.split(command), cwd=tmp_path)
    assert (tmp_path / file).read_bytes() == before


@pytest.mark.parametrize("player", ["bot:weights=my.bin", "git:HEAD:bot:hash=1,weights=my.bin"])
def test_a_file_in_an_option_of_a_player_is_read(player: str) -> None:
    read = seats.files([SeatSetup(PlayerSpec.parse("ataxx", player))])
    assert "my.bin" in {path.name for path in read}


def test_ctrl_c_ends_a_deep_perft() -> None:
    script = """import sys
from quartet.cli import main, perft
print("imported", flush=True)
sys.argv = ["quartet", "perft", "ataxx", "100"]
main.main()"""
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as counting:
        assert counting.stdout is not None
        assert counting.stdout.readline() == b"imported\n"
        time.sleep(1)
        counting.send_signal(signal.SIGINT)
        try:
            assert counting.wait(20) == 130
        finally:
            counting.kill()


@pytest.mark.parametrize("name", ["\u00b1.log", "\udcff.log"])
def test_any_character_can_be_printed(name: str, tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(os.fsencode(name))).touch()
    done = subprocess.run(
        [sys.executable, "-m", "quartet", "replay", "ataxx", tmp_path],
        check=False,
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"?.log: line 1: INIT must come first" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="a shell that closes streams")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_discard_the_output(closed: str) -> None:
    line = f'"$0" -m quartet perft ataxx 2 {closed}'
    done = subprocess.run(
        ["/bin/sh", "-c", line, sys.executable],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_during_imports_is_no_traceback() -> None:
    script = """import runpy, sys
class Interrupted:
    def __getattr__(self, name): raise KeyboardInterrupt
sys.modules["quartet.cli.main"] = Interrupted()
runpy.run_module("quartet", run_name="__main__")"""
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, cwd=ROOT, timeout=60
    )
    assert (done.returncode, done.stderr) == (130, b"")


@pytest.mark.parametrize(
    "arguments",
    [
        ["latency", "ugolki", "--calls", "0"],
        ["latency", "ugolki", "--program", "/nowhere/x"],
        ["startup", ""],
        ["judge_overhead", "ataxx", "--games", "0"],
    ],
)
def test_measurements_reject_such_values(arguments: list[str]) -> None:
    name, *options = arguments
    done = subprocess.run(
        [sys.executable, "-m", f"tests.bench.{name}", *options],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
    )
    assert done.returncode in {1, 2}
    assert "Traceback" not in done.stderr
    assert done.stderr


def test_names_in_tables_are_no_markup() -> None:
    console = Console(width=200)
    with console.capture() as shown:
        console.print(tables.table([], ["[/b]", "[red]x", "a\n\x1b[2J"], [0, 1, 2], {}))
        console.print(tables.rows([{"player": "[/b]", "[/i]": "2 of 4"}]))
    text = shown.get()
    assert [text.count(name) for name in ("[/b]", "[red]x", "a ?[2J", "[/i]")] == [3, 2, 2, 1]


def test_long_names_stay_different_in_the_table_of_a_match() -> None:
    paths = ["/home/someone/a/long/path/to/the/folder/of/bots/" + name for name in ("old", "new")]
    match, result = MagicMock(), MagicMock()
    match.names, match.game.info.score_name, match.game.label = paths, "points", "AB".__getitem__
    result.places, result.scores, result.shares, result.lost = (1, 2), (3, 1), (1.0, 0.0), (0, 0)
    result.exits, result.disqualified, result.offender = (), (), None
    for width in (60, 80, 200):
        console = Console(width=width)
        with console.capture() as shown:
            console.print(drawing.result_table(match, result))
        assert all(name in shown.get() for name in ("old", "new", "lost turns"))
