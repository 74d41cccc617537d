"""The page looks positions up: which games reached them, which moves followed, with which score."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections import defaultdict
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

import quartet
from quartet import registry
from quartet.judge.logs import jsonl, official
from tests import webserver
from tests.commands import ONE_JOB

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from core.rules import Move
    from quartet.judge.match import Match
    from tests.webserver import Page

GAMES = 12
RANDOM = {"kind": "engine", "name": "random"}


def played(name: str, number: int, **more: Any) -> Match:
    """Return a game with a random first player; every third game has the same start."""
    game = quartet.game(name)
    other = "greedy" if "greedy" in game.players else "random"
    players = ["random", *[other] * (game.info.players - 1)]
    return game.play(players, seed=number, position=game.start(number % 3).text(), **more)


def log(match: Match) -> bytes:
    """Return the log of a match in the form of its judge."""
    if match.game.info.lines is None:
        records = (jsonl.header(match), *match.turns, match.result)
        return b"".join(jsonl.line(record) for record in records if record is not None)
    return official.text(match).encode()


@pytest.fixture(scope="module")
def matches(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Match]:
    """Games of all kinds as files of a folder, next to files that are no logs."""
    folder = tmp_path_factory.mktemp("games")
    (folder / "deep").mkdir()
    (folder / "readme.txt").write_text("no log")
    (folder / "half.txt").write_bytes(log(played("ataxx", 0))[:-40])
    four = played("ugolki", 0)
    assert four.result is not None
    four.result = replace(four.result, shares=())
    (folder / "no-shares.log").write_bytes(log(four))
    made = {}
    for name in registry.GAMES:
        for number in range(GAMES):
            path = folder / ("deep" if number % 2 else "") / f"{name}{number}.log"
            match = played(name, number)
            path.write_bytes(log(match))
            made[path] = match
    return made


@pytest.fixture(scope="module")
def page(matches: dict[Path, Match], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = next(path.parent for path in matches if path.parent.name != "deep")
    with webserver.serving("--games", str(folder), cwd=tmp_path_factory.mktemp("page")) as page:
        yield page


def look(page: Page, source: dict[str, Any], limit: int = 100) -> dict[str, Any]:
    """Return what is known of a position once all games have been read."""
    found: dict[str, Any] = {"left": -1}
    while found["left"]:
        found = page.post("/api/openings", {"from": source, "limit": limit})
    return found


def shares_of(match: Match) -> Sequence[float]:
    assert match.result is not None
    return match.result.shares


def positions(match: Match) -> list[Any]:
    return [*match.positions, match.position]


@pytest.mark.parametrize("name", registry.GAMES)
def test_positions_are_counted(page: Page, matches: dict[Path, Match], name: str) -> None:
    """Every position of some games, compared with all positions of all games."""
    rules = quartet.game(name)
    own = [match for match in matches.values() if match.game.info.name == name]
    reached: dict[int, dict[int, int]] = defaultdict(dict)  # key -> game -> step
    for number, match in enumerate(own):
        for step, position in enumerate(positions(match)):
            reached[position.key].setdefault(number, step)
    first = own[0].positions[0]
    everything = look(page, {"game": name, "position": first.text()})["games"]
    source = next(game["source"] for game in everything if game["name"] == f"{name}0.log")
    for step, position in list(enumerate(positions(own[0])))[:12]:
        found = look(page, {**source, "step": step})
        hits = reached[position.key]
        shares = [shares_of(own[number])[position.to_move] for number in hits]
        error = 1.96 * stdev(shares) / math.sqrt(len(shares)) if len(set(shares)) > 1 else None
        assert found["read"] == GAMES
        assert found["all"]["games"] == len(shares)
        assert found["all"]["share"] == pytest.approx(fmean(shares), abs=1e-4)
        assert found["all"]["error95"] == (error and pytest.approx(error, abs=1e-4))
        moves: dict[str, int] = defaultdict(int)
        for number, at in hits.items():
            turns = own[number].turns
            if at < len(turns) and (move := turns[at].move):
                if rules.info.move_aliases:
                    move = position.canonical(move)
                moves[rules.write(move, position)] += 1
        assert {row["move"]: row["games"] for row in found["moves"]} == moves
        here = page.post("/api/position", {**source, "step": step})["board"]
        for game in found["games"][:3]:
            there = page.post("/api/position", {**game["source"], "step": game["step"]})
            assert there["board"] == here


def with_moves(match: Match, moves: list[Move]) -> bytes:
    """Return a log with other moves in its first turns, and no more turns."""
    turns = [replace(turn, move=move) for turn, move in zip(match.turns, moves, strict=False)]
    assert match.result is not None
    records = (jsonl.header(match), *turns, match.result)
    return b"".join(jsonl.line(record) for record in records)


@pytest.mark.slow
def test_transpositions_are_found(tmp_path: Path) -> None:
    """The same moves in another order lead to the same games, also while games are added."""
    match = played("ugolki", 0)
    one, two = [move for move in match.position.start().legal() if move != (2, 1, 2, 0)][:5:4]
    others = [turn.move for turn in match.turns[1:4] if turn.move is not None]
    games = tmp_path / "games"
    games.mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(games / "pipe")  # to read it would take for ever
    (games / "first").write_bytes(with_moves(match, [one, *others, two]))
    write = quartet.game("ugolki").write
    start = match.position.start()
    line = [write(move, start) for move in (two, *others, one)]
    with webserver.serving("--games", str(games), cwd=tmp_path) as page:
        found = look(page, {"game": "ugolki", "moves": line})
        assert [game["name"] for game in found["games"]] == ["first"]
        assert look(page, {"game": "ugolki", "moves": line[:4]})["all"]["games"] == 0
        (games / "second").write_bytes(with_moves(match, [two, *others, one]))
        (games / "torn").write_bytes(with_moves(match, [two, *others, one])[:-5])
        while found["all"]["games"] < 2:
            found = look(page, {"game": "ugolki", "moves": line})
        assert {game["name"] for game in found["games"]} == {"first", "second"}
        assert [game["step"] for game in found["games"]] == [5, 5]
        (games / "first").unlink()
        while found["all"]["games"] > 1:
            found = look(page, {"game": "ugolki", "moves": line})
        assert [game["name"] for game in found["games"]] == ["second"]
        # moves in a different order are different moves of the start
        assert [row["move"] for row in look(page, {"game": "ugolki"})["moves"]] == [line[0]]


def test_games_of_a_run_and_of_the_page_are_looked_up(tmp_path: Path) -> None:
    """Runs with the players' names and results; finished matches of the page."""
    options = ["--in-process", "--clock", "20", *ONE_JOB, "--games", "2"]
    players = ["--player", "greedy=greedy", "--player", "random=random"]
    command = ["-m", "quartet", "tournament", "ataxx", *players, *options]
    done = subprocess.run(
        [sys.executable, *command, "--out", "runs/one"], cwd=tmp_path, check=False
    )
    assert done.returncode == 0
    with webserver.serving("--runs", "runs", cwd=tmp_path) as page:
        found = look(page, {"game": "ataxx"})
        assert [game["source"] for game in found["games"]] == [
            {"run": "one", "number": 1},
            {"run": "one", "number": 0},
        ]
        assert {*found["games"][0]["players"]} == {"greedy", "random"}
        seats = [{"kind": "engine", "name": "greedy"}, RANDOM]
        match = page.post("/api/matches", {"game": "ataxx", "seats": seats}, 201)["id"]
        while not page.get(f"/api/matches/{match}")["ended"]:
            time.sleep(0.1)
        while found["read"] < 3:
            found = look(page, {"game": "ataxx"})
        assert found["games"][0]["source"] == {"match": match}
        assert found["all"] == found["all"] | {"games": 3}


def test_what_cannot_be_looked_up(page: Page) -> None:
    """Empty seats, hidden draws, and positions of variants of the rules."""
    seats = [RANDOM, RANDOM, {"kind": "nobody"}, {"kind": "nobody"}]
    match = page.post("/api/matches", {"game": "ugolki", "seats": seats}, 201)["id"]
    said = page.post("/api/openings", {"from": {"match": match, "step": 0}}, 409)
    assert said["error"] == "games with an empty seat are not looked up"
    seats = [{"kind": "person"}, RANDOM]
    match = page.post("/api/matches", {"game": "connexion", "seats": seats}, 201)["id"]
    said = page.post("/api/openings", {"from": {"match": match, "step": 0}}, 409)
    assert "hidden" in said["error"]
    variant = {"game": "ataxx", "options": {"plies": 50}}
    assert look(page, variant)["all"]["games"] == 0
