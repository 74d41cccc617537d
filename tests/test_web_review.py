"""Logs on the page's server: upload, view, review and analysis."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import quartet
from quartet import registry
from quartet.judge import game as games
from quartet.judge.logs import jsonl, official
from tests.webserver import Page, serving, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from quartet.judge.match import Match

pytestmark = pytest.mark.slow

NODES = 64


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with serving() as found:
        yield found


def played(game: str, seed: int = 5) -> Match:
    """Play a short game between random players."""
    known = quartet.game(game)
    options: dict[str, Any] = {"moves": 4} if "moves" in known.info.options else {}
    return known.play(["random"] * known.info.players, seed=seed, **options)


def log_of(match: Match, *, ours: bool = False) -> bytes:
    """Return the log of a match: the judge's if it has one and not `ours`, else the toolkit's."""
    if match.game.info.lines is not None and not ours:
        return official.text(match).encode()
    assert match.result is not None
    records = [jsonl.header(match), *match.turns, match.result]
    return b"".join(map(jsonl.line, records))


@pytest.fixture(scope="module", params=registry.GAMES)
def game(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("ours", [False, True])
def test_upload(page: Page, game: str, ours: bool) -> None:
    """The server detects the game, and returns every position."""
    match = played(game)
    data = log_of(match, ours=ours)
    found = page.upload(data, "my game.log")
    view = found["view"]
    assert (view["game"], view["complaint"], found["name"]) == (game, "", "my game.log")
    assert page.upload(data)["id"] == found["id"]
    assert page.get("/api/view", log=found["id"])["scores"] == view["scores"]
    scores = [list(position.scores()) for position in [*match.positions, match.position]]
    assert view["scores"][-1] == scores[-1]
    assert len(view["turns"]) == len(match.turns)
    for step in (0, len(match.turns) // 2, len(match.turns)):
        position = page.post("/api/position", {"log": found["id"], "step": step})
        assert position["scores"] == view["scores"][step]
        assert position["over"] == (step == len(match.turns))
        assert {choice["move"] for choice in position["choices"]} >= set(
            [view["turns"][step]["move"]] if step < len(match.turns) else []
        )
    page.post("/api/position", {"log": found["id"], "step": len(match.turns) + 1}, 404)
    page.post("/api/position", {"log": found["id"], "step": 0, "moves": ["nonsense"]}, 422)
    page.post("/api/position", {"log": found["id"], "step": 0, "moves": ["x"] * 1000}, 413)
    assert page.client.get("/api/text", params={"log": found["id"]}).content == data


@pytest.mark.parametrize(
    "data", [b"", b" \n", b"hello", b"\xff\xfe\x00", b'{"type":"header"}\n', b"INIT nonsense\n"]
)
def test_malformed_logs_are_refused(page: Page, data: bytes) -> None:
    assert page.upload(data, code=422)["error"].count("\n") == 0


def test_an_incorrect_log_is_refused_with_its_line(page: Page) -> None:
    lines = log_of(played("ataxx")).splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if line.startswith(b"FIRST"))
    error = page.upload(b"".join([*lines[: place + 1], b"FIRST 1 1 1 1 5\n"]), code=422)["error"]
    assert error.startswith(f"line {place + 2}:")


def review(page: Page, source: dict[str, Any], **more: Any) -> tuple[str, Any]:
    """Return id and state of a review with few nodes when it has ended."""
    key = page.post("/api/reviews", {"from": source, "nodes": NODES, **more}, 201)["id"]
    done = wait_for(
        lambda: (
            found
            if (found := page.get(f"/api/reviews/{key}"))["state"] in {"done", "failed"}
            else None
        )
    )
    return key, done


def test_a_review_appears_while_it_is_computed(page: Page, game: str, tmp_path: Path) -> None:
    """Turns arrive from the last to the first; the whole equals that of `quartet review`."""
    data = log_of(played(game, seed=6))
    log = page.upload(data)["id"]
    payload = {"from": {"log": log}, "nodes": NODES}
    # One review runs at a time, so this one waits until the tab follows it.
    long = page.upload(log_of(played("ugolki", seed=8)))["id"]
    first = page.post("/api/reviews", {"from": {"log": long}, "nodes": 3_000_000}, 201)["id"]
    key = page.post("/api/reviews", payload, 201)["id"]
    with page.follow(f"review/{key}") as tab:
        assert tab.until("state")[0]["review"]["state"] == "waiting"
        page.delete(f"/api/reviews/{first}")
        (end,) = tab.until("end", "failed")
    assert "error" not in end, end
    document = end["document"]
    turns = tab.named("turn")
    assert [turn["number"] for turn in turns] == sorted(
        (turn["number"] for turn in turns), reverse=True
    )
    for early in turns:
        late = document["turns"][early["number"]]
        assert late.items() >= early["turn"].items()
    assert page.post("/api/reviews", payload, 201)["id"] == key
    state = page.get(f"/api/reviews/{key}")
    assert (state["state"], state["total"]) == ("done", len(document["turns"]))
    assert state["document"] == document
    file = tmp_path / "game.log"
    file.write_bytes(data)
    command = [sys.executable, "-m", "quartet", "review", str(file), "--json", "--nodes"]
    done = subprocess.run([*command, str(NODES)], capture_output=True, check=True)
    assert json.loads(done.stdout) | {"log": ""} == document | {"log": ""}


def test_the_better_move_is_found(page: Page, game: str) -> None:
    log = page.upload(log_of(played(game, seed=7)))["id"]
    key, done = review(page, {"log": log})
    document = done["document"]
    numbers = [
        number
        for number, turn in enumerate(document["turns"])
        if turn.get("best") and not turn.get("is_best") and turn.get("label") != "forced"
    ]
    number = max(numbers, key=lambda n: document["turns"][n].get("loss") or 0)
    turn = document["turns"][number]
    attempt = f"/api/reviews/{key}/try"
    best = page.post(attempt, {"number": number, "move": turn["best"]["move"]})
    assert (best["is_best"], best["score_loss"]) == (True, 0)
    calibrated = document["start"] is not None
    assert (best["loss"], best["label"]) == ((0, "best") if calibrated else (None, ""))
    played_again = page.post(attempt, {"number": number, "parts": turn["parts"]})
    assert played_again["is_best"] is False
    assert played_again["move"] == turn["move"]
    assert not calibrated or 0 <= played_again["loss"] <= 1
    deeper = page.post(f"/api/reviews/{key}/deeper", {"number": number, "nodes": 4 * NODES})
    assert (deeper["move"], deeper["seat"]) == (turn["move"], turn["seat"])
    page.post(f"/api/reviews/{key}/deeper", {"number": 9999, "nodes": NODES}, 422)
    page.post(f"/api/reviews/{key}/deeper", {"number": number, "nodes": 0}, 400)
    page.post(attempt, {"number": number, "move": "nonsense"}, 422)
    page.post(attempt, {"number": number, "parts": ["nowhere"]}, 422)
    page.post(attempt, {"number": 9999, "move": turn["move"]}, 422)
    page.post("/api/reviews/none/try", {"number": 0, "move": "x"}, 404)


def test_a_review_is_stopped(page: Page) -> None:
    log = page.upload(log_of(played("ugolki", seed=8)))["id"]
    key = page.post("/api/reviews", {"from": {"log": log}, "nodes": 3_000_000}, 201)["id"]
    wait_for(lambda: page.get(f"/api/reviews/{key}")["state"] == "running")
    page.delete(f"/api/reviews/{key}")
    found = wait_for(
        lambda: found if (found := page.get(f"/api/reviews/{key}"))["state"] != "running" else None
    )
    assert (found["state"], found["error"]) == ("failed", "the review was stopped")
    _, done = review(page, {"log": page.upload(log_of(played("ataxx")))["id"]})
    assert done["state"] == "done", "the next one begins"


def test_refused_reviews(page: Page) -> None:
    running = page.match("ataxx", {"kind": "person"}, {"kind": "person"})
    page.asking(running)
    page.post("/api/reviews", {"from": {"match": running}}, 409)
    page.post("/api/reviews", {"from": {"log": "none"}}, 404)
    log = page.upload(log_of(played("ataxx")))["id"]
    page.post("/api/reviews", {"from": {"log": log}, "engine": "uai:touch x"}, 422)
    page.post("/api/reviews", {"from": {"log": log}, "nodes": 10**12}, 400)


def analysis(page: Page, source: dict[str, Any], **more: Any) -> str:
    found = page.post("/api/analyses", {"from": source, **more}, 201)
    return str(found["id"])


def test_a_position_is_analysed(page: Page, game: str) -> None:
    """Lines arrive until the analysis is stopped; their moves are legal."""
    log = page.upload(log_of(played(game, seed=9)))["id"]
    source = {"log": log, "step": 2}
    key = analysis(page, source, lines=2)
    with page.follow(f"analysis/{key}") as tab:
        (state,) = tab.until("state")
        if not state["analysis"]["over"]:
            wait_for(lambda: page.get(f"/api/analyses/{key}")["lines"])
            page.delete(f"/api/analyses/{key}")
            tab.until("end")
    shown = page.get(f"/api/analyses/{key}")
    assert (shown["over"], shown["error"]) == (True, "")
    for line in shown["lines"]:
        assert len(line["line"]) == len(line["parts"]) >= 1
        assert line["nodes"] >= 0
        if not games.load(game).info.chance:
            trail = {**source, "moves": line["line"], "trail": True}
            positions = page.post("/api/position", trail)["positions"]
            assert [p["last"]["parts"] for p in positions[1:]] == line["parts"]
    known = page.get(f"/api/games/{game}")
    assert (shown["lines"][0]["share"] is not None) == known["engine"]["calibrated"]
    choices = page.post("/api/position", source)["choices"]
    assert shown["best"]["move"] in {choice["move"] for choice in choices}


def test_an_analysis_ends_by_itself(page: Page) -> None:
    done = analysis(page, {"game": "ataxx"}, nodes=500)
    wait_for(lambda: page.get(f"/api/analyses/{done}")["over"])
    alone = analysis(page, {"game": "ataxx"})
    wait_for(lambda: page.get(f"/api/analyses/{alone}")["over"], 60)
    first, *others = (analysis(page, {"game": "ataxx", "seed": n}) for n in range(5))
    assert page.get(f"/api/analyses/{first}")["over"], "four at a time"
    for key in others:
        page.delete(f"/api/analyses/{key}")
    page.post("/api/analyses", {"from": {"game": "ataxx"}, "lines": 99}, 400)
    page.post("/api/analyses", {"from": {"game": "nothing"}}, 422)
    page.get("/api/analyses/none", 404)


def test_a_killed_analysis_worker_is_replaced(page: Page) -> None:
    done = analysis(page, {"game": "ataxx"}, nodes=100)
    wait_for(lambda: page.get(f"/api/analyses/{done}")["over"])
    key = analysis(page, {"game": "ataxx"})
    with page.follow(f"analysis/{key}") as tab:
        tab.until("state", "line")
        page.kill_workers()
        (end,) = tab.until("end")
    assert end["error"] == "its process has died"
    again = analysis(page, {"game": "ataxx"}, nodes=100)
    wait_for(lambda: page.get(f"/api/analyses/{again}")["over"])
    assert page.get(f"/api/analyses/{again}")["best"]["move"]


def test_lenses(page: Page, game: str) -> None:
    log = page.upload(log_of(played(game, seed=11)))["id"]
    known = next(g for g in page.get("/api/games")["games"] if g["name"] == game)
    lenses = page.post("/api/lenses", {"log": log, "step": 6})["lenses"]
    assert list(dict.fromkeys(lens["name"] for lens in lenses)) == known["lenses"]
    for lens in lenses:
        assert set(lens) == {"name", "title", "seat", "values", "regions", "paths"}
        assert all(set(region) == {"cells", "value", "seat"} for region in lens["regions"])


def test_games_list_their_players_and_options(page: Page, game: str) -> None:
    found = page.get(f"/api/games/{game}")
    names = [player["name"] for player in found["built_in"]]
    assert "bot" in names
    listed = next(g for g in page.get("/api/games")["games"] if g["name"] == game)
    assert [player["name"] for player in listed["built_in"]] == names
    for player in found["built_in"]:
        for option in player["options"]:
            assert option["type"] in {"integer", "number", "switch"}
    assert found["engine"]["unit"]
