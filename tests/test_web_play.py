"""Matches on the page's server: whole games, what humans can do, and misbehaving programs."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from quartet import registry
from quartet.judge import game as games
from quartet.judge.logs.check import check
from tests.processes import command, outliving
from tests.webserver import Page, serving, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow
PROGRAM = """
import os, subprocess, sys, time
what = sys.argv[1]
if what == "leaves":
    sleeps = [sys.executable, "-c", "import time; time.sleep(1234)", __file__]
    subprocess.Popen(sleeps, start_new_session=True)
for line in sys.stdin:
    if line.startswith("READY"):
        print("OK", flush=True)
    elif line.startswith("TURN") or line.startswith("TIME"):
        print("thinking as", os.getpid(), file=sys.stderr, flush=True)
        if what == "crashes":
            sys.exit("no idea")
        if what in {"stalls", "leaves"}:
            time.sleep(1000)
        while what == "floods":
            os.write(1, b"x" * 65536)
        while what == "shouts":
            os.write(2, b"y" * 65536)
        print("nonsense", flush=True)
"""
ANSWERS = ["crashes", "stalls", "floods", "shouts", "talks", "leaves"]
PERSON: dict[str, Any] = {"kind": "person"}
RANDOM: dict[str, Any] = {"kind": "engine", "name": "random"}
QUICK: dict[str, Any] = {"kind": "engine", "name": "bot", "nodes": 64}
LINES = [name for name in registry.GAMES if games.load(name).info.lines is not None]
SHORT = {"options": {"moves": 3}}


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    program = tmp_path_factory.mktemp("programs") / "program.py"
    program.write_text(PROGRAM)
    named = [f"{what}={sys.executable} {program} {what}" for what in ANSWERS]
    with serving(*(word for name in named for word in ("--player", name))) as found:
        yield found


def others(game: str, seat: dict[str, Any]) -> list[dict[str, Any]]:
    """The other seats of a match with one human."""
    return [seat] * (games.load(game).info.players - 1)


def short(game: str) -> dict[str, Any]:
    return SHORT if "moves" in games.load(game).info.options else {}


def play(page: Page, match: str, random: Random, *, by_text: bool = False) -> Any:
    """Play random moves for the humans until the game ends; return the last state."""
    while (asking := page.asking(match)) is not None:
        choice = random.choice(asking["position"]["choices"])
        chosen = {"text": choice["move"]} if by_text else {"parts": choice["parts"]}
        page.post(f"/api/matches/{match}/move", {"step": asking["step"], **chosen})
    return page.state(match)


def shown(view: Any) -> tuple[Any, ...]:
    """Return the parts of a view that do not depend on how it was made."""
    names = ("game", "turns", "scores", "to_move", "over", "ply")
    return tuple(view[name] for name in names) + tuple(view["board"]["frames"])


@pytest.mark.parametrize("game", registry.GAMES)
def test_a_whole_game(page: Page, game: str) -> None:
    """By parts; a tab that listened all the time, one that comes late, and the log, all know the
    same."""
    match = page.match(game, PERSON, *others(game, RANDOM), seed=3, **short(game))
    with page.follow(f"match/{match}") as tab:
        last = play(page, match, Random(1))
        (ended,) = tab.until("end")
    view = last["view"]
    assert (last["error"], ended["error"], view["complaint"]) == ("", "", "")
    assert ended["result"] == view["result"]
    assert view["result"]["reason"]
    assert tab.events[0][0] == "state"
    turns = tab.named("turn")
    first = tab.events[0][1]["state"]["view"]
    assert [turn["turn"] for turn in turns] == view["turns"][len(first["turns"]) :]
    assert [turn["frame"] for turn in turns] == view["board"]["frames"][len(first["scores"]) :]
    assert len(view["board"]["frames"]) == len(view["scores"]) == len(view["turns"]) + 1
    seqs = [event["seq"] for _, event in tab.events]
    assert seqs == sorted(seqs)
    log = page.client.get("/api/text", params={"match": match}).content
    checked = check(games.load(game), log)
    assert checked.complaint is None
    assert [list(position.scores()) for position in checked.positions] == view["scores"]
    again = page.upload(log)["view"]
    assert again["scores"] == view["scores"]
    assert [t["move"] for t in again["turns"]] == [t["move"] for t in view["turns"]]


def test_moves_can_be_typed(page: Page) -> None:
    match = page.match("ataxx", PERSON, PERSON)
    asking = page.asking(match)
    move = f"/api/matches/{match}/move"
    for wrong in ("hello", "MOVE 1 1 5 5", "", "x" * 5000):
        error = page.post(move, {"step": 0, "text": wrong}, 422)["error"]
        assert error.count("\n") == 0
    page.post(move, {"step": 0, "parts": ["1 1", "5 5"]}, 422)
    page.post(move, {"step": 0}, 400)
    page.post(move, {"step": 1, "text": "MOVE 1 1 2 2"}, 409)
    page.post(move, {"step": 0, "text": "MOVE 1 1 2 2"})
    page.post(move, {"step": 0, "text": "MOVE 1 1 2 2"}, 409)
    assert page.asking(match)["step"] == 1
    assert asking["can_undo"] is False
    last = play(page, match, Random(2), by_text=True)
    assert last["view"]["result"]["termination"] in {"score", "draw"}


def test_a_reload_and_a_second_tab_see_the_same(page: Page) -> None:
    match = page.match("ataxx", PERSON, QUICK)
    with page.follow(f"match/{match}") as one, page.follow(f"match/{match}") as two:
        for _ in range(4):
            asking = page.asking(match)
            choice = asking["position"]["choices"][0]
            page.post(
                f"/api/matches/{match}/move", {"step": asking["step"], "parts": choice["parts"]}
            )
        one.until("turn", number=6)
        two.until("turn", number=6)
        page.asking(match)
        reloaded = page.state(match)
        assert reloaded["asking"]["step"] == 8
        wait_for(lambda: len(one.named("turn")) == len(two.named("turn")) >= 7)
        assert [t["turn"] for t in one.named("turn")][-6:] == [
            t["turn"] for t in two.named("turn")
        ][-6:]
    found = page.get("/api/matches")["matches"]
    assert match in {line["id"] for line in found}


def test_an_interrupted_stream_resumes(page: Page) -> None:
    match = page.match("ataxx", QUICK, QUICK, pace="pause")
    topic = f"match/{match}"
    with page.follow(topic) as tab:
        page.post(f"/api/matches/{match}/pace", {"pace": "step"})
        tab.until("turn")
        heard = tab.last
    for _ in range(3):
        before = len(page.state(match)["view"]["turns"])
        page.post(f"/api/matches/{match}/pace", {"pace": "step"})
        wait_for(lambda: len(page.state(match)["view"]["turns"]) > before)  # noqa: B023
    with page.follow(topic, after=heard) as tab:
        turns = tab.until("turn", number=3)
        assert [turn["step"] for turn in turns] == [2, 3, 4]
        assert not tab.named("state"), "no event is repeated"
    for unknown in ("nonsense", f"{topic}=1", f"{topic}=99999999999999", "other=5;;="):
        with page.follow(topic, after=unknown) as tab:
            (state,) = tab.until("state")
            assert len(state["state"]["view"]["turns"]) == 4
    with page.follow(topic, "match/none", "review/none", "run/none", "live/none/1", "x") as tab:
        assert {event["topic"] for event in tab.until("gone", number=5)} == {
            "match/none",
            "review/none",
            "run/none",
            "live/none/1",
            "x",
        }


@pytest.mark.parametrize("game", registry.GAMES)
def test_take_back_and_hint(page: Page, game: str) -> None:
    match = page.match(game, PERSON, *others(game, QUICK), seed=5)
    act = f"/api/matches/{match}"
    start = page.asking(match)
    page.post(f"{act}/undo", {"step": 0}, 409)
    hint = page.post(f"{act}/hint", {"step": 0})
    assert hint in [{"parts": c["parts"], "move": c["move"]} for c in start["position"]["choices"]]
    page.post(f"{act}/move", {"step": 0, "parts": hint["parts"]})
    asking = page.asking(match)
    assert asking["can_undo"] is True
    assert asking["step"] >= 2
    assert len(asking["position"]["last"]["parts"]) > 0
    page.post(f"{act}/undo", {"step": asking["step"]})
    again = wait_for(lambda: found if (found := page.asking(match))["step"] == 0 else None)
    assert again["position"]["choices"] == start["position"]["choices"]
    assert page.state(match)["view"]["turns"] == []
    page.delete(act)
    page.get(act, 404)


@pytest.mark.parametrize("game", registry.GAMES)
def test_resigning_loses(page: Page, game: str) -> None:
    match = page.match(game, PERSON, *others(game, RANDOM), **short(game))
    page.asking(match)
    page.post(f"/api/matches/{match}/resign", {"seat": 1}, 409)
    page.post(f"/api/matches/{match}/resign", {})
    found = page.ended(match)
    assert found["view"]["turns"][0]["verdict"] == "resigned"
    if game in LINES:
        assert found["view"]["result"]["offender"] == 0
        assert found["view"]["result"]["reason"] == "FIRST resigned"
    else:
        own = [turn["verdict"] for turn in found["view"]["turns"] if turn["seat"] == 0]
        assert set(own) == {"resigned"}, "it forfeits its turns, and the others continue"
        assert len(own) > 1
    log = page.client.get("/api/text", params={"match": match}).content
    assert check(games.load(game), log).complaint is None
    page.post(f"/api/matches/{match}/resign", {}, 409)


def test_two_clicks_start_one_rematch(page: Page) -> None:
    match = page.match("ugolki", *[RANDOM] * 4, **SHORT)
    page.ended(match)

    def click(_: int) -> str:
        return str(page.post(f"/api/matches/{match}/rematch", code=201)["id"])

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(click, range(2))
    assert first == second != match


def test_a_human_on_a_clock_loses_on_time(page: Page) -> None:
    match = page.match("ataxx", PERSON, RANDOM, clock=300, person_clock=True)
    result = page.ended(match)["view"]["result"]
    assert (result["termination"], result["offender"]) == ("tle", 0)


def test_empty_seats_and_exchanged_files(page: Page) -> None:
    nobody = {"kind": "nobody"}
    match = page.match("ugolki", PERSON, nobody, RANDOM, nobody, options={"moves": 2})
    found = play(page, match, Random(4))
    assert found["view"]["players"] == ["human", None, "random", None]
    assert [turn["seat"] for turn in found["view"]["turns"]] == [0, 2, 0, 2]
    for step, turn in enumerate(found["view"]["turns"], start=1):
        assert turn["files"]
        files = page.get("/api/files", match=match, step=step)
        assert files["input"].split()[0] == str((step - 1) // 2)
        assert len(files["output"].split()) == 4
    page.get("/api/files", 404, match=match, step=9)
    later = page.post("/api/position", {"match": match, "step": 1})
    assert {piece[0] for piece in later["board"]["pieces"]} == {0, 2}
    choice = later["choices"][0]["move"]
    after = page.post("/api/position", {"match": match, "step": 1, "moves": [choice]})
    assert after["to_move"] == 0, "the empty seat is skipped"


def test_a_match_continues_from_any_position(page: Page) -> None:
    for game in registry.GAMES:
        log = match = page.match(game, *[RANDOM] * games.load(game).info.players, **short(game))
        page.ended(log)
        source = {"match": match, "step": 3}
        position = page.post("/api/position", source)
        choice = position["choices"][-1]
        trail = page.post("/api/position", {**source, "moves": [choice["move"]], "trail": True})
        assert trail["positions"][0] == position
        assert trail["positions"][1]["last"] == {
            "seat": position["to_move"],
            "parts": trail["positions"][1]["last"]["parts"],
        }
        # if seats are renumbered, the human keeps the same seat
        seats = [PERSON, *others(game, RANDOM)]
        seats = [*seats[-position["to_move"] :], *seats[: -position["to_move"]]]
        assert seats[position["to_move"]] == PERSON
        new = page.match(game, *seats, **{"from": source})
        asking = page.asking(new)
        assert asking["step"] == 0
        assert sorted(map(str, asking["position"]["scores"])) == sorted(
            map(str, position["scores"])
        )
        assert len(asking["position"]["choices"]) == len(position["choices"])
        page.delete(f"/api/matches/{new}")


def test_pace(page: Page) -> None:
    match = page.match("ataxx", QUICK, QUICK, pace="pause")
    act = f"/api/matches/{match}"
    time.sleep(0.5)
    assert page.state(match)["view"]["turns"] == []
    page.post(f"{act}/pace", {"pace": "step"})
    wait_for(lambda: len(page.state(match)["view"]["turns"]) == 1)
    time.sleep(0.3)
    assert len(page.state(match)["view"]["turns"]) == 1
    page.post(f"{act}/pace", {"pace": "hop"}, 400)
    page.post(f"{act}/pace", {"pace": "run", "delay": 1})
    assert page.ended(match)["view"]["result"]


def test_a_running_search_is_reported(page: Page) -> None:
    slow = {"kind": "engine", "name": "bot", "ms": 700}
    match = page.match("ataxx", PERSON, slow)
    with page.follow(f"match/{match}") as tab:
        asking = page.asking(match)
        parts = asking["position"]["choices"][0]["parts"]
        page.post(f"/api/matches/{match}/move", {"step": 0, "parts": parts})
        infos = [event["info"] for event in tab.until("thinking", number=3)]
        page.asking(match)
    assert infos[0] is None
    assert infos[-1]["depth"] >= 1
    assert infos[-1]["line"]
    assert len(infos[-1]["line"]) == len(infos[-1]["parts"])
    assert 0 < infos[-1]["share"] < 1
    assert page.state(match)["view"]["turns"][1]["info"]["nodes"] > 0


def test_draws_are_hidden_until_they_happen(page: Page) -> None:
    match = page.match("connexion", PERSON, RANDOM)
    asking = page.asking(match)
    assert asking["position"]["text"] == ""
    assert page.post("/api/position", {"match": match})["text"] == ""
    move = asking["position"]["choices"][0]["move"]
    page.post("/api/position", {"match": match, "moves": [move]}, 409)
    page.get("/api/text", 409, match=match)
    both = [PERSON, RANDOM]
    page.post("/api/matches", {"game": "connexion", "seats": both, "from": {"match": match}}, 409)
    page.delete(f"/api/matches/{match}")


@pytest.mark.parametrize(
    ("what", "termination"),
    [("crashes", "re"), ("stalls", "tle"), ("floods", "re"), ("shouts", "tle"), ("talks", "re")],
)
def test_misbehaving_programs_lose_and_harm_no_other_match(
    page: Page, what: str, termination: str
) -> None:
    """Other matches continue, and the server answers within 5 s."""
    program = {"kind": "program", "name": what}
    other = page.match("ataxx", PERSON, RANDOM)
    match = page.match("ataxx", RANDOM, program, clock=1500)
    slowest = 0.0
    while not page.state(match)["ended"]:
        started = time.monotonic()
        page.get("/api/matches")
        slowest = max(slowest, time.monotonic() - started)
        time.sleep(0.05)
    found = page.state(match)
    assert found["error"] == ""
    result = found["view"]["result"]
    assert (result["offender"], result["termination"]) == (1, termination)
    assert result["reason"].startswith("SECOND ")
    assert slowest < 5
    assert play(page, other, Random(1))["view"]["result"]
    if what in {"crashes", "talks"}:
        # what it said stands at its ply, or with the result
        said = [line for turn in found["view"]["turns"] for line in turn["said"]]
        assert any(seat == 1 and "thinking as" in text for seat, text in [*said, *result["said"]])


def test_a_program_is_killed_from_outside(page: Page) -> None:
    match = page.match("ataxx", {"kind": "program", "name": "stalls"}, RANDOM, clock=60000)
    program = wait_for(lambda: descendants(page, "stalls"))
    time.sleep(0.5)
    os.kill(program[-1], signal.SIGKILL)
    result = page.ended(match)["view"]["result"]
    assert (result["offender"], result["termination"]) == (0, "re")
    assert "kill" in result["reason"].lower()


def test_the_process_of_a_match_is_killed(page: Page) -> None:
    match = page.match("ataxx", PERSON, RANDOM)
    page.asking(match)
    page.kill_workers()
    found = page.ended(match)
    assert found["error"] == "its process has died"
    page.post(f"/api/matches/{match}/move", {"step": 0, "text": "MOVE 1 1 2 2"}, 409)
    assert play(page, page.match("ataxx", PERSON, RANDOM), Random(3))["view"]["result"]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_everything_ends_with_the_server(tmp_path: Path, how: signal.Signals) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    with serving("--player", f"leaves={sys.executable} {program} leaves") as page:
        page.match("ataxx", {"kind": "program", "name": "leaves"}, RANDOM, clock=60000)
        page.match("ataxx", PERSON, RANDOM)
        page.post("/api/analyses", {"from": {"game": "ataxx"}}, 201)
        left = wait_for(
            lambda: [p for p in psutil.process_iter() if command(p)[-1:] == [str(program)]]
        )
        processes = psutil.Process(page.process.pid).children(recursive=True) + left
        with page.follow("runs"):
            page.process.send_signal(how)
            started = time.monotonic()
            page.process.wait(60)
            assert time.monotonic() - started < 30
        assert outliving(processes, 30) == []


def descendants(page: Page, word: str) -> list[int]:
    """Return the processes of the server whose last argument is `word`."""
    return [
        process.pid
        for process in psutil.Process(page.process.pid).children(recursive=True)
        if command(process)[-1:] == [word]
    ]


def test_at_most_sixteen_matches_run() -> None:
    with serving() as page:
        made: list[int] = []

        def one() -> None:
            seats = [PERSON, RANDOM]
            found = page.client.post("/api/matches", json={"game": "ataxx", "seats": seats})
            made.append(found.status_code)

        for _ in range(4):
            threads = [threading.Thread(target=one) for _ in range(5)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert made.count(429) >= 1
        assert made.count(201) >= 16
        assert set(made) == {201, 429}
