"""`quartet match` plays every game of the registry."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from core.errors import UnknownNameError
from quartet import registry
from quartet.judge import game as games
from quartet.judge.logs.check import check
from quartet.judge.seats.players import PlayerSpec
from tests.commands import quartet, refusal

MISSING = f"{Path(sys.executable).as_posix()} missing.py"


def table_of(name: str, *players: str) -> list[str]:
    """Return these players, and empty seats for the rest."""
    seats = games.load(name).info.players
    return [*players, *["none"] * (seats - len(players))]


def whole_table(name: str) -> list[str]:
    """Return a fast player for every seat, and few moves if the game has that option."""
    info = games.load(name).info
    return ["greedy"] * info.players + (["--moves", "1"] if "moves" in info.options else [])


@pytest.mark.parametrize("name", registry.GAMES)
@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("./missing.exe", "'./missing.exe' is neither a program nor a built-in player of {game} ("),
        ("gredy", "'gredy' is neither a program nor a built-in player of {game} ("),
        (MISSING, "there is no file missing.py, which {program!r} is to run"),
    ],
    ids=["file", "name", "script"],
)
def test_a_command_that_cannot_be_found_is_rejected(
    name: str, program: str, words: str, tmp_path: Path
) -> None:
    """Check that a bad command line fails with one line, before the first move and without touching
    a log."""
    log = tmp_path / "log"
    log.write_text("of another game")
    for players in ((program, "greedy"), ("greedy", program)):
        arguments = ["match", name, *table_of(name, *players), "--log", str(log)]
        said = refusal(*arguments, cwd=tmp_path)
        assert said.startswith(words.format(game=name, program=program))
    assert log.read_text() == "of another game"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no executable bit")
@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("./bot.py", './bot.py is not executable: run chmod +x, or write "python3 ./bot.py"'),
        ("./bot.py 5", './bot.py is not executable: run chmod +x, or write "python3 ./bot.py"'),
        ("./c.c", './c.c is not executable: run chmod +x, or write "INTERPRETER ./c.c"'),
        ("bot.py", 'bot.py is not executable: run chmod +x, or write "python3 bot.py"'),
        ("./there", "'./there' is a folder, not a program"),
        ("human", "'human' is a player of `quartet match` only"),
        ("uai:./bot.py", "connexion has no players uai:COMMAND; they are for ataxx"),
    ],
)
def test_what_is_no_program_is_named(program: str, words: str, tmp_path: Path) -> None:
    for file in ("bot.py", "c.c"):
        (tmp_path / file).write_text("print()")
    (tmp_path / "there").mkdir()
    players = ("--player", f"a={program}", "--player", "b=sample")
    assert refusal("tournament", "connexion", *players, cwd=tmp_path) == words


@pytest.mark.parametrize("name", registry.GAMES)
def test_shell_commands_are_not_checked(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "mine.py").write_text("")
    program = folder / "mine"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    python = Path(sys.executable).as_posix()
    for command in (
        "greedy",
        str(program),
        f"{python} {folder / 'mine.py'}",
        f"{python} -m whatever",
        f"{python} -u mine.py",
        "exec ./mine",
        "exit 3",
        "cd there && ./mine",
        "MINE=1 ./mine",
        "'",
    ):
        PlayerSpec.parse(name, command).require()
    for command in ("./mine", f"{python} mine.py"):
        PlayerSpec.parse(name, command).require(folder)
        with pytest.raises(UnknownNameError):
            PlayerSpec.parse(name, command).require()


@pytest.mark.parametrize("name", registry.GAMES)
def test_startpos_is_the_usual_start(name: str, tmp_path: Path) -> None:
    start = "--position", "startpos"
    begun = []
    for given in (start, ()):
        log = tmp_path / "log"
        arguments = [*whole_table(name), *given, "--seed", "3", "--seconds", "60", "-s"]
        quartet("match", name, *arguments, "-l", str(log))
        checked = check(games.load(name), log.read_bytes())
        assert checked.complaint is None
        begun.append(checked.positions[0].text())
    assert begun[0] == begun[1]
    usual = quartet("perft", name, "1").stdout
    assert quartet("perft", name, "1", *start).stdout == usual
    said = json.loads(quartet("analyse", name, *start, "--nodes", "50", "--json").stdout)
    assert (
        said["position"]
        == json.loads(quartet("analyse", name, "--nodes", "50", "--json").stdout)["position"]
    )


@pytest.mark.parametrize("name", registry.GAMES)
def test_a_game_starts_from_any_position(name: str, tmp_path: Path) -> None:
    position = games.load(name).position.start(1)
    if name in {"ataxx", "ugolki"}:  # other protocols only have words for the start
        for _ in range(2):
            position = position.play(position.legal()[-1])
    log = tmp_path / "log"
    file = tmp_path / "position"
    file.write_text(position.text())
    for given in (str(file), position.text()):
        arguments = [*whole_table(name), "--position", given, "--seconds", "60", "-s"]
        quartet("match", name, *arguments, "-l", str(log))
        checked = check(games.load(name), log.read_bytes())
        assert checked.complaint is None
        assert checked.notes == []
        if name != "connexion":  # its later draws are later in the log
            assert checked.positions[0].text() == position.text()
        else:
            assert checked.positions[0].legal() == position.legal()


@pytest.mark.parametrize("name", registry.GAMES)
def test_a_finished_position_is_rejected(name: str, tmp_path: Path) -> None:
    position = games.load(name).position.start(0)
    while not position.over:
        position = position.play(position.legal()[0])
    log = tmp_path / "log"
    log.write_text(before := "INIT x5o/7/7/7/7/7/o5x x 0 1\n")  # of another game
    arguments = [*whole_table(name), "--position", position.text(), "-l", str(log)]
    assert refusal("match", name, *arguments).endswith(": the game is over")
    assert log.read_text() == before


def test_everything_is_in_the_json_of_every_game(tmp_path: Path) -> None:
    found = []
    for name in registry.GAMES:
        arguments = [*whole_table(name), "--seconds", "60", "--json"]
        data = json.loads(quartet("match", name, *arguments, cwd=tmp_path).stdout)
        found.append((list(data), [list(seat) for seat in data["seats"]][:2]))
    assert all(keys == found[0] for keys in found)
    former = "game seed options score plies termination reason overloaded games_played notes seats"
    assert set(found[0][0]) == set(former.split())
    of_seats = "seat player score place share disqualified lost foul exit cpu_seconds megabytes"
    assert set(found[0][1][0]) == set(of_seats.split()) | {"left_behind", "stderr"}


def test_usage_lists_the_commands() -> None:
    bare, asked = quartet(), quartet("--help")
    assert bare.stdout == asked.stdout
    assert bare.stdout.startswith("Usage: quartet ")
    assert bare.stderr == ""
    assert all(f"\n  {name} " in bare.stdout for name in ("games", "match", "replay", "tournament"))
