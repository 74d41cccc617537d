"""Tournaments and sequential tests play every line-protocol game of the registry."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commands import quartet, refusal
from tests.test_match_lines import LINE_GAMES, PASSER


def tournament(game: str, folder: Path, *arguments: str) -> dict[str, Any]:
    outcome: dict[str, Any] = json.loads(
        quartet("tournament", game, *arguments, "--json", "--out", str(folder)).stdout
    )
    return outcome


@pytest.mark.parametrize("game", LINE_GAMES)
def test_programs_play_in_pairs_and_their_logs_replay(game: str, tmp_path: Path) -> None:
    outcome = tournament(
        game, tmp_path, "--player", "g=greedy", "--player", "r=random", "--games", "2"
    )
    assert outcome["ranking"] == ["g", "r"]
    assert [player["games"] for player in outcome["players"]] == [2, 2]
    results = [json.loads(line) for line in (tmp_path / "games.jsonl").read_text().splitlines()]
    assert sorted(result["seats"] for result in results) == [[0, 1], [1, 0]]
    assert len({result["seed"] for result in results}) == 1  # the same board or bags for both sides
    assert all("wins" in result["reason"] or "draw" in result["reason"] for result in results)
    quartet("replay", game, *map(str, sorted((tmp_path / "games").iterdir())))


@pytest.mark.parametrize("game", LINE_GAMES)
def test_in_process_logs_have_the_format_of_the_judge(game: str, tmp_path: Path) -> None:
    one = tournament(
        game,
        tmp_path / "a",
        "--player",
        "g=greedy",
        "--player",
        "r=random",
        "--games",
        "2",
        "--in-process",
    )
    two = tournament(
        game,
        tmp_path / "b",
        "--player",
        "g=greedy",
        "--player",
        "r=random",
        "--games",
        "2",
        "--in-process",
    )
    assert one["ranking"] == two["ranking"]
    logs = sorted((tmp_path / "a" / "games").iterdir())
    assert len(logs) == 2
    quartet("replay", game, *map(str, logs))


def test_forfeits_are_counted_by_reason_and_clocks_are_per_player(tmp_path: Path) -> None:
    crash, stall = tmp_path / "crash.py", tmp_path / "stall.py"
    crash.write_text(
        "import sys\nsys.stdin.readline(); print('OK', flush=True); sys.exit('out of luck')\n"
    )
    stall.write_text(
        "import sys, time\nsys.stdin.readline(); print('OK', flush=True); time.sleep(60)\n"
    )
    passer = tmp_path / "passer.py"
    passer.write_text(PASSER)
    players = [f"{path.stem}={sys.executable} {path}" for path in (crash, stall, passer)]
    arguments = [word for player in players for word in ("--player", player)]
    outcome = tournament(
        "applegame",
        tmp_path / "out",
        *arguments,
        "--games",
        "2",
        "--clock",
        "20000",
        "--clock",
        "stall=300",
    )
    lost = {player["name"]: player["lost"] for player in outcome["players"]}
    assert lost["passer"] == {}
    assert lost["stall"].keys() == {"late"}
    assert lost["crash"].keys() == {"crashed"}
    forfeits = json.loads(quartet("lost", str(tmp_path / "out"), "--stderr", "--json").stdout)
    assert {forfeit["player"] for forfeit in forfeits} == {"crash", "stall"}
    crashed = [forfeit for forfeit in forfeits if forfeit["player"] == "crash"]
    assert all(
        "exit status 1" in forfeit["reason"] and "crash: out of luck" in forfeit["stderr"]
        for forfeit in crashed
    )
    quartet("replay", "applegame", *(forfeit["log"] for forfeit in forfeits))
    said = quartet("lost", str(tmp_path / "out"), "--player", "stall").stdout.splitlines()
    assert len(said) == len(forfeits) - len(crashed) + 1
    assert all("stall: late:" in line for line in said[:-1])
    assert "no player is called 'x'" in refusal("lost", str(tmp_path / "out"), "--player", "x")
    assert "holds no records" in refusal("lost", str(tmp_path))


def test_a_sequential_test_of_two_players_decides(tmp_path: Path) -> None:
    done = quartet(
        "sprt",
        "connexion",
        "greedy",
        "random",
        "--elo1",
        "200",
        "--in-process",
        "--json",
        "--out",
        str(tmp_path),
    )
    outcome = json.loads(done.stdout)
    assert outcome["decision"] == "H1"
    assert outcome["llr"] >= outcome["bounds"][1] > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--disqualify"], "the first one loses a game of ataxx"),
        (["--option", "walls=3"], "ataxx has no option 'walls'"),
    ],
)
def test_bad_input_gets_one_line(arguments: list[str], words: str) -> None:
    players = ("--player", "g=greedy", "--player", "r=random")
    assert words in refusal("tournament", "ataxx", *players, *arguments)
