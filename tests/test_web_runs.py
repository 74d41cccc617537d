"""Runs on the page's server: large and active ones, and running games."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from core.errors import QuartetError
from quartet import registry
from quartet.arena import records
from quartet.arena.unit import Forfeit, GameResult, Use
from quartet.web import views
from quartet.web.errors import Refused
from quartet.web.events import Topic
from quartet.web.followed_runs import MAX_MISSING, FollowedRuns, LiveGame
from quartet.web.payloads import GamesRequest
from quartet.web.run_reader import RunReader
from quartet.web.sources import checked
from tests.commands import ONE_JOB
from tests.games import ROOT
from tests.test_web_review import log_of, played
from tests.webserver import ENOUGH, Page, serving, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow
MANY = 10_000
SPEED = ["--in-process", "--nodes", "a=50", "--nodes", "b=50"]


def result(number: int, players: int = 2) -> GameResult:
    """Make up a game."""
    random = Random(number)
    seats = tuple(random.sample(range(players), 2)) if players > 2 else (number % 2, 1 - number % 2)
    shares = random.choice([(1.0, 0.0), (0.5, 0.5), (0.0, 1.0)])
    use = Use(turns=40, seconds=2.0, longest=0.2, searches=40, depth=280, nodes=9000)
    forfeits = (Forfeit(7, 1, "late", "SECOND gave no answer"),) if number % 100 == 3 else ()
    return GameResult(
        number=number,
        block=number // 2,
        seats=seats,
        seed=number // 2,
        plies=60 + number % 7,
        scores=(25, 24),
        places=(1, 2),
        shares=shares,
        use=(use, use),
        seconds=4.0 + number % 3,
        reason="made up",
        forfeits=forfeits,
    )


def make(folder: Path, number: int, kind: str = "tournament", players: int = 2) -> Path:
    """Write the records of a run of made-up games."""
    (folder / "games").mkdir(parents=True)
    plan = {
        "kind": kind,
        "game": "ataxx",
        "players": [{"name": f"p{n}", "command": "bot"} for n in range(players)],
        "seed": 1,
        "options": {},
        "disqualify": False,
        "megabytes": None,
        "in_process": True,
        "replay_overloaded": 0,
        "games": number,
    }
    (folder / "run.json").write_bytes(msgspec.json.encode(plan))
    append(folder, range(number), players)
    return folder


def append(folder: Path, numbers: range, players: int = 2) -> None:
    with (folder / "games.jsonl").open("ab") as file:
        for number in numbers:
            file.write(msgspec.json.encode(result(number, players)) + b"\n")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("runs")
    make(home / "pair", MANY, "sprt")
    make(home / "many", MANY, players=4)
    (home / "broken").mkdir()
    (home / "broken" / "run.json").write_text("nonsense")
    (home / "no run").mkdir()
    (home / "tuning").mkdir()
    (home / "tuning" / "run.json").write_text('{"kind": "tune", "game": "ataxx"}')
    (home / "tuning" / "games.jsonl").write_text("")
    (home / "tuning" / "trajectory.jsonl").write_text(
        '{"games": 10, "values": {"a": 1, "b": 2.5}, "outcome": 0}\n'
        '{"games": 20, "values": {"a": 3, "b": 2}, "outcome": 0.1}\n{"games": 3'
    )
    (home / "selfplay").mkdir()
    (home / "selfplay" / "plan.json").write_text('{"kind": "selfplay", "game": "ataxx"}')
    return home


@pytest.fixture(scope="module")
def page(home: Path) -> Iterator[Page]:
    with serving("--runs", str(home)) as found:
        yield found


@pytest.mark.parametrize(("name", "players"), [("pair", 2), ("many", 4)])
def test_ten_thousand_games_are_opened_at_once(home: Path, name: str, players: int) -> None:
    """Measured in processor time, which does not depend on other programs."""
    started = time.process_time()
    reader = RunReader(home / name)
    shown = reader.shown()
    assert time.process_time() - started < 1
    assert shown["recorded"] == MANY
    assert len(shown["standings"]) == players
    started = time.process_time()
    reader.shown()
    assert time.process_time() - started < 0.05, "nothing is read again"


def test_the_list(page: Page) -> None:
    found = {line["name"]: line for line in page.get("/api/runs")["runs"]}
    assert set(found) == {"pair", "many", "broken", "selfplay", "tuning"}
    assert found["pair"]["games"] == MANY
    assert found["many"]["players"] == ["p0", "p1", "p2", "p3"]
    assert found["broken"]["kind"] == "?"
    assert "cannot be read" in found["broken"]["state"]
    assert found["selfplay"]["kind"] == "selfplay"
    assert page.get("/api/runs/selfplay")["standings"] == []
    page.get("/api/runs/broken", 422)
    page.get("/api/runs/selfplay/games", 404)
    page.get("/api/runs/selfplay/series", 404)


def test_parameters_of_a_tuning(page: Page) -> None:
    found = page.get("/api/runs/tuning/series")["curves"]
    assert [(c["name"], c["unit"], c["games"], c["values"]) for c in found] == [
        ("a", "parameter", [10, 20], [1, 3]),
        ("b", "parameter", [10, 20], [2.5, 2]),
    ]
    assert page.get("/api/runs/tuning")["kind"] == "tune"


def test_a_run(page: Page) -> None:
    run = page.get("/api/runs/pair")
    assert run["test"]["blocks"] > 100
    assert run["test"]["bounds"][0] < run["test"]["bounds"][1]
    assert run["standings"][0]["elo"] is not None
    table = run["crosstable"]
    assert table[0][0] is None
    assert table[0][1]["games"] == table[1][0]["games"]
    assert table[0][1]["points"] + table[1][0]["points"] == table[0][1]["games"]
    four = page.get("/api/runs/many")
    assert sum(row["games"] for row in four["standings"]) == 2 * MANY
    assert [row["rank"] for row in four["standings"]] == [1, 2, 3, 4]
    curves = page.get("/api/runs/pair/series")["curves"]
    assert [curve["unit"] for curve in curves] == ["Elo", "LLR"]
    for curve in (*curves, *page.get("/api/runs/many/series")["curves"]):
        assert 0 < len(curve["games"]) == len(curve["values"]) <= 80
        assert curve["games"] == sorted(curve["games"])


def test_games_are_chosen_sorted_and_paged(page: Page) -> None:
    def ask(**query: Any) -> Any:
        return page.get("/api/runs/many/games", **query)

    everything = ask(limit=3)
    assert (everything["total"], len(everything["games"])) == (MANY, 3)
    assert [game["number"] for game in ask(offset=9_998)["games"]] == [9_998, 9_999]
    assert [game["number"] for game in ask(order="desc", limit=2)["games"]] == [9_999, 9_998]
    plies = [game["plies"] for game in ask(sort="plies", limit=500)["games"]]
    assert plies == sorted(plies)
    assert len(ask(limit=10**6)["games"]) == 500
    lost = ask(player="p1", result="loss", limit=500)
    expected = [
        number
        for number in range(MANY)
        if 1 in (game := result(number, 4)).seats and game.shares[game.seats.index(1)] == 0
    ]
    assert lost["total"] == len(expected)
    assert [game["number"] for game in lost["games"]] == expected[:500]
    forfeits = ask(forfeit=1)
    assert forfeits["total"] == MANY // 100
    forfeit = forfeits["games"][0]["forfeits"][0]
    assert (forfeit["player"], forfeit["verdict"]) == (forfeits["games"][0]["players"][1], "late")
    assert ask(opening=17)["total"] == 2
    assert ask(least=66, most=66)["total"] == len([n for n in range(MANY) if n % 7 == 6])
    for query in (
        *({"result": "win"}, {"player": "p1", "result": "lost"}),
        *({"sort": "name"}, {"limit": "x"}, {"opening": "x"}),
    ):
        page.get("/api/runs/many/games", 400, **query)
    page.get("/api/runs/many/games", 404, player="nobody")


def test_new_records_are_read(tmp_path: Path) -> None:
    """An incomplete line waits; a run that started again is read again."""
    folder = make(tmp_path / "run", 10)
    plan = (folder / "run.json").read_bytes()
    (folder / "run.json").write_bytes(plan.replace(b'"games":10', b'"games":500'))
    reader = RunReader(folder)
    assert reader.shown()["recorded"] == 10
    changed = reader.changed
    reader.refresh()
    assert reader.changed == changed
    line = msgspec.json.encode(result(10)) + b"\n"
    with (folder / "games.jsonl").open("ab") as file:
        file.write(line[:40])
        file.flush()
        assert reader.shown()["recorded"] == 10
        file.write(line[40:])
        file.flush()
        assert reader.shown()["recorded"] == 11
    append(folder, range(11, 500))
    assert reader.shown()["recorded"] == 500
    assert reader.games(GamesRequest(order="desc", limit=1))["games"][0]["number"] == 499
    os.truncate(folder / "games.jsonl", len(line) * 3)
    assert reader.shown()["recorded"] <= 3
    (folder / "games.jsonl").unlink()
    with pytest.raises(QuartetError):
        reader.shown()


def test_who_follows_later_sees_the_present_running_games(tmp_path: Path) -> None:
    folder = make(tmp_path / "run", 3)
    (folder / "live").mkdir()
    runs = FollowedRuns(tmp_path)

    async def follow() -> Any:
        topic = await runs.topic("run/run")
        assert topic is not None
        topic.join(bell := asyncio.Event())
        (folder / records.live_name(3)).write_bytes(b"{}\n{}\n")
        await asyncio.wait_for(bell.wait(), ENOUGH)
        ((_, block),) = topic.since(None)
        runs.close()
        return msgspec.json.decode(block.partition(b"data: ")[2])["run"]["live"]

    assert asyncio.run(follow()) == [{"number": 3, "turns": 1}]


def test_a_stream_that_resumes_after_its_events_are_gone_gets_the_state() -> None:
    topic = Topic("x", dict)
    topic.publish("first")
    received = topic.number
    topic.publish("second")
    topic.forget()
    assert topic.since(received) == topic.since(None)
    assert topic.since(topic.number) == []


def test_a_number_of_a_game_that_is_too_long_is_no_topic(tmp_path: Path) -> None:
    make(tmp_path / "run", 3)
    assert asyncio.run(FollowedRuns(tmp_path).topic("live/run/" + "9" * 5000)) is None


def test_clocks_of_a_run_are_shown(tmp_path: Path) -> None:
    """An official log does not name them; the judge's would be 10 s."""
    folder = make(tmp_path / "run", 1)
    plan = msgspec.json.decode((folder / "run.json").read_bytes())
    plan["players"][0]["ms"] = 4000
    (folder / "run.json").write_bytes(msgspec.json.encode(plan))
    (folder / records.log_name(0)).write_bytes(log_of(played("ataxx")))
    reader = RunReader(folder)
    assert reader.clocks(0, []) == [4000, None]
    view = views.of_log(*checked(reader.log(0)[0]), reader.clocks(0, []))
    assert view["clock"]["ms"] == [4000, 10_000]
    assert max(turn["clock"] for turn in view["turns"] if turn["seat"] == 0) <= 4000
    names = [player["name"] for player in plan["players"]]
    assert reader.clocks(7, [*names[::-1], None]) == [None, 4000, None], "it is running"


def test_reading_writes_nothing(home: Path) -> None:
    def stamps() -> dict[str, tuple[int, int]]:
        about = {path: path.stat() for path in home.rglob("*") if path.name != "lock"}
        return {str(path): (a.st_mtime_ns, a.st_size) for path, a in about.items()}

    before = stamps()
    runs = FollowedRuns(home)
    runs.lines()
    reader = runs.reader("pair")
    reader.shown()
    reader.series()
    reader.rate()
    with pytest.raises(Refused):
        runs.reader("..")
    with pytest.raises(Refused):
        reader.log(5)
    assert stamps() == before


@pytest.mark.parametrize("game", registry.GAMES)
def test_a_game_is_watched_line_by_line(game: str, tmp_path: Path) -> None:
    """Events arrive as the file grows; in the end the view equals that of the whole log."""
    folder = make(tmp_path / "run", 3)
    data = log_of(played(game), ours=True)
    live = folder / records.live_name(3)
    live.parent.mkdir()
    watched = LiveGame(RunReader(folder), 3)
    turns: list[Any] = []
    names = []
    step = max(1, len(data) // 50)
    for end in [*range(1, len(data), step), len(data)]:
        live.write_bytes(data[:end])
        for name, event in watched.events():
            names.append(name)
            turns += [event["turn"]] if name == "turn" else []
    assert (names[0], names[-1], names.count("end")) == ("state", "end", 1)
    view = watched.view
    assert view is not None
    assert [turn["move"] for turn in turns] == [turn["move"] for turn in view["turns"]][
        -len(turns) :
    ]
    assert len(view["turns"]) == len(view["scores"]) - 1 == len(view["board"]["frames"]) - 1
    assert view["result"]["reason"]
    live.unlink()
    assert watched.events() == []
    again = LiveGame(RunReader(folder), 3)
    for _ in range(MAX_MISSING):  # its record may follow in a moment
        assert again.events() == []
    assert [name for name, _ in again.events()] == ["end"]


def half_played(tmp_path: Path, number: int) -> tuple[LiveGame, Path, bytes]:
    """Return a game of a run, its file with the first half of a log, and the log."""
    folder = make(tmp_path / "run", 3)
    data = log_of(played("ataxx"), ours=True)
    live = folder / records.live_name(number)
    live.parent.mkdir()
    live.write_bytes(data[: len(data) // 2])
    return LiveGame(RunReader(folder), number), live, data


def test_a_restarted_game_is_shown_from_the_start(tmp_path: Path) -> None:
    watched, live, data = half_played(tmp_path, 3)
    ((name, first),) = watched.events()
    assert name == "state"
    assert len(first["view"]["turns"]) > 3
    header = data.index(b"\n") + 1
    live.write_bytes(data[:header])
    ((name, second),) = watched.events()
    assert (name, second["view"]["turns"]) == ("state", [])


def test_the_last_turns_of_a_watched_game_are_shown(tmp_path: Path) -> None:
    """Its file may be deleted before they are read; the record has them."""
    watched, live, _ = half_played(tmp_path, 1)
    ((_, first),) = watched.events()
    live.unlink()
    (tmp_path / "run" / records.log_name(1)).write_bytes(log_of(played("ataxx")))
    (state, whole), (end, last) = watched.events()
    assert (state, end) == ("state", "end")
    assert len(whole["view"]["turns"]) > len(first["view"]["turns"])
    assert last["result"] == whole["view"]["result"]
    for turn, seen in zip(whole["view"]["turns"], first["view"]["turns"], strict=False):
        assert (turn["move"], turn["info"]) == (seen["move"], seen["info"])
    assert watched.events() == []


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_a_run_is_followed_while_it_is_killed_and_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "ataxx"
    folder.parent.mkdir()
    players = ["--player", "a=bot", "--player", "b=bot", "--option", "opening=4"]
    command = [sys.executable, "-m", "quartet", "tournament", "ataxx", *players, *SPEED]
    command += ["--games", "160", *ONE_JOB, "--out", str(folder)]

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    with serving("--runs", str(folder.parent)) as page:
        run = start()
        try:
            lines = folder / "games.jsonl"
            wait_for(lambda: lines.is_file() and lines.stat().st_size)
            with page.follow("run/ataxx", "runs") as tab:
                os.killpg(run.pid, signal.SIGKILL)
                run.wait(ENOUGH)
                wait_for(lambda: any(e.get("run", {}).get("recorded") for e in tab.named("state")))
                stopped = page.get("/api/runs/ataxx")["recorded"]
                assert stopped < 160
                run = start()
                wait_for(
                    lambda: [
                        event
                        for event in tab.named("state")
                        if event.get("run", {}).get("state") == "finished"
                    ]
                )
            assert run.wait(ENOUGH) == 0
            assert page.get("/api/runs/ataxx")["recorded"] == 160
            view = page.get("/api/view", run="ataxx", number=7)
            assert set(view["players"]) == {"a", "b"}
            assert len(view["turns"]) > 10
            ply = next(t["ply"] for t in view["turns"] if view["players"][t["seat"]] == "b")
            remark = f"ply {ply}, b: hello: you\nnonsense\n"
            (folder / records.stderr_name(7)).write_text(remark)
            view = page.get("/api/view", run="ataxx", number=7)
            b = view["players"].index("b")
            assert [t["said"] for t in view["turns"] if t["ply"] == ply] == [[[b, "hello: you"]]]
            assert view["result"]["reason"]
            text = page.client.get("/api/text", params={"run": "ataxx", "number": 7}).content
            assert text == (folder / records.log_name(7)).read_bytes()
            position = page.post("/api/position", {"run": "ataxx", "number": 7, "step": 3})
            assert position["scores"] == view["scores"][3]
            page.get("/api/view", 404, run="ataxx", number=999)
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
                run.wait(ENOUGH)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_a_game_of_a_run_is_watched_live(tmp_path: Path) -> None:
    """One player waits until a file exists."""
    proceed = tmp_path / "proceed"
    wait = f"while [ ! -e '{proceed}' ]; do sleep 0.05; done; "
    slow = f"echo OK; {wait}echo -1 -1 -1 -1; {wait}echo -1 -1 -1 -1; exec cat > /dev/null"
    out = tmp_path / "runs" / "live"
    out.parent.mkdir()
    command = [sys.executable, "-m", "quartet", "tournament", "applegame", "--player", "a=greedy"]
    command += [
        "--player",
        f"b={slow}",
        "--clock",
        "a=4000",
        "--clock",
        "b=60000",
        "--games",
        "1",
    ]
    command += [*ONE_JOB, "--out", str(out), "--pairing", "gauntlet"]
    run = subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        with serving("--runs", str(out.parent)) as page:
            number = wait_for(
                lambda: (
                    (found := page.client.get("/api/runs/live")).status_code == 200
                    and next((g["number"] for g in found.json()["live"]), -1) >= 0
                    and found.json()["live"]
                )
            )[0]["number"]
            topic = f"live/live/{number}"
            with page.follow(topic) as tab:
                (state,) = tab.until("state")
                own = {"a": 4000, "b": 60_000}
                for view in (state["view"], page.get("/api/view", run="live", number=number)):
                    assert sorted(view["players"]) == ["a", "b"]
                    assert view["clock"]["ms"] == [own[name] for name in view["players"]]
                proceed.touch()
                tab.until("turn", "end", number=2)
                tab.until("end")
            assert run.wait(ENOUGH) == 0
            view = page.get("/api/view", run="live", number=number)
            assert view["result"]
            shown = state["view"]["turns"] + [event["turn"] for event in tab.named("turn")]
            moves = [turn["move"] for turn in shown]
            assert moves == [turn["move"] for turn in view["turns"]][: len(moves)]
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait(ENOUGH)
