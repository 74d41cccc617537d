"""The page's server after a restart with the same data folder: nothing is lost."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from random import Random
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from quartet import registry
from quartet.judge import game as games
from quartet.judge.logs.check import check
from quartet.web import data_folder, sources
from quartet.web.data_folder import DataFolder
from quartet.web.sources import Sources, checked
from tests.test_web_play import PERSON, QUICK, RANDOM, others, play, short
from tests.test_web_review import log_of, played, review
from tests.webserver import ENOUGH, Page, serving, wait_for

if TYPE_CHECKING:
    from pathlib import Path

SLOW = 3_000_000
"""Nodes with which a review does not end soon."""
COUNTED = """
import sys
sys.argv[1:] = ["--player", "random", "--seed", "1"]
import runpy
runpy.run_module("applegame", run_name="__main__", alter_sys=True)
"""


def kill(page: Page, how: signal.Signals = signal.SIGTERM) -> None:
    page.process.send_signal(how)
    page.process.wait(ENOUGH)


def turns_of(page: Page, match: str) -> int:
    return len(page.state(match)["view"]["turns"])


def moves(page: Page, match: str, count: int, random: Random) -> Any:
    """Play some random moves for the human; return the position after them."""
    for _ in range(count):
        asking = page.asking(match)
        choice = random.choice(asking["position"]["choices"])
        step = asking["step"]
        page.post(f"/api/matches/{match}/move", {"step": step, "parts": choice["parts"]})
        while turns_of(page, match) == step:
            time.sleep(0.02)
    return page.asking(match)


@pytest.mark.slow
@pytest.mark.parametrize("game", registry.GAMES)
def test_matches_resume(tmp_path: Path, game: str) -> None:
    """The address, the token, the turns, the clocks and the humans' seats are as before."""
    random = Random(4)
    with serving("--data", str(tmp_path)) as page:
        clocks: dict[str, Any] = {"clock": 60_000, "person_clock": True, "seed": 9}
        match = page.match(game, PERSON, *others(game, QUICK), **clocks, **short(game))
        asking = moves(page, match, 2, random)
        before = page.state(match)
        first = page.address
        kill(page, signal.SIGKILL)
    with serving("--data", str(tmp_path)) as page:
        assert page.address == first
        again = page.asking(match)
        assert again == asking
        state = page.state(match)
        assert state["people"] == [0]
        for key in ("turns", "scores", "clock", "clocks", "board", "players"):
            assert state["view"][key] == before["view"][key], key
        page.post(f"/api/matches/{match}/undo", {"step": again["step"]})
        wait_for(lambda: turns_of(page, match) < len(state["view"]["turns"]))
        kill(page)
    with serving("--data", str(tmp_path)) as page:
        asking = page.asking(match)
        assert asking["step"] < again["step"], "what was taken back stays so"
        last = play(page, match, random)
        assert (last["error"], last["view"]["complaint"]) == ("", "")
        assert last["view"]["result"]["reason"]
        text = page.client.get("/api/text", params={"match": match}).content
        assert check(games.load(game), text).complaint is None
        (line,) = page.get("/api/matches")["matches"]
        assert line["places"] == last["view"]["result"]["places"]
        kill(page)
    with serving("--data", str(tmp_path)) as page:
        assert page.get("/api/matches")["matches"] == [line]
        assert page.state(match)["view"] == last["view"]
        assert page.client.get("/api/text", params={"match": match}).content == text
        page.post(f"/api/matches/{match}/move", {"step": 0, "text": "x"}, 409)


@pytest.mark.slow
def test_a_match_between_bots_resumes_at_its_pace(tmp_path: Path) -> None:
    """Two restarts; a stream that was open gets the whole state again."""
    with serving("--data", str(tmp_path)) as page:
        running = page.match("ugolki", *[RANDOM] * 4, delay=500)
        paused = page.match("ugolki", *[RANDOM] * 4, pace="pause")
        page.post(f"/api/matches/{paused}/pace", {"pace": "step"})
        wait_for(lambda: turns_of(page, paused) == 1)
        with page.follow(f"match/{running}") as tab:
            tab.until("turn", number=2)
            last = tab.last
        kill(page)
    for how in (signal.SIGINT, signal.SIGKILL):
        with serving("--data", str(tmp_path)) as page:
            with page.follow(f"match/{running}", after=last) as tab:
                assert tab.until("state")[0]["state"]["view"]["turns"]
                tab.until("turn", number=2)
                last = tab.last
            state = page.state(paused)
            assert (state["pace"], len(state["view"]["turns"])) == ("pause", 1)
            kill(page, how)
    with serving("--data", str(tmp_path)) as page:
        for match in (running, paused):
            page.post(f"/api/matches/{match}/pace", {"pace": "run"})
            assert page.ended(match)["view"]["result"]["reason"]


@pytest.mark.slow
def test_a_signal_to_all_processes_ends_no_match(tmp_path: Path) -> None:
    """As when the machine is shut down."""
    with serving("--data", str(tmp_path)) as page:
        match = page.match("ugolki", *[RANDOM] * 4, delay=200)
        wait_for(lambda: turns_of(page, match))
        server = psutil.Process(page.process.pid)
        for process in (server, *server.children(recursive=True)):
            process.terminate()
        page.process.wait(ENOUGH)
    with serving("--data", str(tmp_path)) as page:
        assert not page.state(match)["ended"]
        page.post(f"/api/matches/{match}/pace", {"pace": "run"})
        assert page.ended(match)["view"]["result"]["reason"]


@pytest.mark.slow
def test_programs_resume_if_they_are_named_again(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(COUNTED)
    data, named = str(tmp_path / "data"), f"mine={sys.executable} {program}"
    with serving("--data", data, "--player", named) as page:
        match = page.match("applegame", PERSON, {"kind": "program", "name": "mine"})
        asking = moves(page, match, 2, Random(2))
        kill(page)
    with serving("--data", data) as page:
        state = page.state(match)
        assert state["ended"] is True
        assert '--player "mine=COMMAND"' in state["error"]
        assert len(state["view"]["turns"]) == asking["step"]
        kill(page)
    with serving("--data", data, "--player", named) as page:
        assert page.asking(match) == asking
        assert moves(page, match, 1, Random(2))["step"] > asking["step"]
        program.write_text("print('NO')")
        kill(page)
    with serving("--data", data, "--player", named) as page:
        assert "cannot resume" in page.ended(match)["error"]
        program.write_text(COUNTED)
        kill(page)
    with serving("--data", data, "--player", named) as page:
        assert play(page, match, Random(2))["view"]["result"]["reason"]


@pytest.mark.slow
def test_reviews_continue_and_links_work(tmp_path: Path) -> None:
    data = log_of(played("ataxx"))
    with serving("--data", str(tmp_path)) as page:
        log = page.upload(data, "final.log")["id"]
        key, done = review(page, {"log": log})
        slow = page.post("/api/reviews", {"from": {"log": log}, "nodes": SLOW}, 201)["id"]
        wait_for(lambda: page.get(f"/api/reviews/{slow}")["state"] == "running")
        quick = {"from": {"log": log}, "nodes": 16}
        waiting = page.post("/api/reviews", quick, 201)["id"]
        shared = {"log": log, "step": 2}
        link = page.post("/api/position", shared), page.get("/api/view", log=log)
        kill(page, signal.SIGKILL)
    with serving("--data", str(tmp_path)) as page:
        assert (page.post("/api/position", shared), page.get("/api/view", log=log)) == link
        assert page.get("/api/logs")["logs"][0]["name"] == "final.log"
        again = page.get(f"/api/reviews/{key}")
        assert (again["state"], again["document"]) == ("done", done["document"])
        move = done["document"]["turns"][0]["move"]
        page.post(f"/api/reviews/{key}/try", {"number": 0, "move": move})
        assert page.post("/api/reviews", {"from": {"log": log}, "nodes": 64}, 201)["id"] == key
        wait_for(lambda: page.get(f"/api/reviews/{slow}")["state"] == "running")
        page.delete(f"/api/reviews/{slow}")
        wait_for(lambda: page.get(f"/api/reviews/{waiting}")["state"] == "done")
        kill(page)
    with serving("--data", str(tmp_path)) as page:
        listed = {line["id"]: line["state"] for line in page.get("/api/reviews")["reviews"]}
        assert listed == {key: "done", waiting: "done"}, "what was stopped does not start again"
        page.delete(f"/api/logs/{log}")
        page.get("/api/view", 404, log=log)
        page.get(f"/api/reviews/{key}", 404)
        assert page.get("/api/logs")["logs"] == page.get("/api/reviews")["reviews"] == []
    assert [*tmp_path.glob("logs/*"), *tmp_path.glob("reviews/*")] == []


@pytest.mark.slow
def test_deleted_games_are_deleted(tmp_path: Path) -> None:
    with serving("--data", str(tmp_path)) as page:
        running = page.match("ataxx", PERSON, RANDOM)
        over = page.match("ataxx", RANDOM, RANDOM)
        page.ended(over)
        key, _ = review(page, {"match": over})
        for match in (running, over):
            assert list(tmp_path.glob(f"matches/{match}/*"))
            page.delete(f"/api/matches/{match}")
            page.get(f"/api/matches/{match}", 404)
        page.get(f"/api/reviews/{key}", 404)
        assert page.get("/api/matches")["matches"] == []
    assert [*tmp_path.glob("matches/*"), *tmp_path.glob("reviews/*")] == []


def stopped(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "quartet", "serve", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.slow
def test_damaged_files_are_skipped(tmp_path: Path) -> None:
    """One message each; they stay as they are, and nothing else is lost."""
    with serving("--data", str(tmp_path)) as page:
        good, bad, worse = (page.match("ataxx", PERSON, RANDOM) for _ in range(3))
        over = page.match("ataxx", RANDOM, RANDOM)
        page.ended(over)
        key, _ = review(page, {"match": over})
        kill(page)
    files = {
        tmp_path / "matches" / bad / "record.json": b'{"game": "atax',
        tmp_path / "matches" / worse / "log.jsonl": b"\xff\xfe\n",
        tmp_path / "server.json": b"[]",
    }
    others = {
        tmp_path / "matches" / over / "log.jsonl": b"nothing\n",
        tmp_path / "reviews" / key / "review.json": b"{",
    }
    for file, content in (files | others).items():
        file.write_bytes(content)
    with serving("--data", str(tmp_path), stderr=subprocess.PIPE) as page:
        assert {line["id"] for line in page.get("/api/matches")["matches"]} == {good, over}
        assert page.asking(good)
        page.get(f"/api/matches/{over}", 422)
        with page.follow(f"match/{over}", f"review/{key}") as tab:
            assert tab.until("gone")[0]["topic"] == f"match/{over}"
        found = page.get(f"/api/reviews/{key}")
        assert (found["state"], found["document"]) == ("failed", None)
        kill(page)
        assert page.process.stderr is not None
        said = page.process.stderr.read().splitlines()
    assert len(said) == len(files)
    assert all(any(str(file) in line for line in said) for file in files)
    del files[tmp_path / "server.json"]
    for file, content in (files | others).items():
        assert file.read_bytes() == content


@pytest.mark.slow
def test_one_server_uses_a_data_folder(tmp_path: Path) -> None:
    with serving("--data", str(tmp_path)) as page:
        second = stopped("--data", str(tmp_path))
        assert (second.returncode, second.stdout) == (2, "")
        assert second.stderr.count("\n") == 1
        assert str(tmp_path) in second.stderr
        assert "--data" in second.stderr
        assert page.get("/api/games")
    file = tmp_path / "file"
    file.write_text("")
    assert stopped("--data", str(file / "folder")).stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_a_full_disk_costs_no_game(tmp_path: Path) -> None:
    """One message. The game continues, and is whole on the disk as soon as there is room."""
    with serving("--data", str(tmp_path), stderr=subprocess.PIPE) as page:
        match = page.match("ataxx", PERSON, RANDOM)
        moves(page, match, 1, Random(3))
        log = tmp_path / "matches" / match / "log.jsonl"
        for name in ("log.jsonl", "log.jsonl.new", "record.json.new"):
            log.with_name(name).unlink(missing_ok=True)
            log.with_name(name).symlink_to("/dev/full")
        asking = moves(page, match, 2, Random(3))
        log.with_name("log.jsonl.new").unlink()
        asking = moves(page, match, 1, Random(3))
        (tmp_path / "matches").rename(tmp_path / "away")
        (tmp_path / "matches").touch()
        new = page.match("ataxx", PERSON, RANDOM)
        moves(page, new, 1, Random(3))
        (tmp_path / "matches").unlink()
        (tmp_path / "away").rename(tmp_path / "matches")
        later = moves(page, new, 1, Random(3))
        kill(page)
        assert page.process.stderr is not None
        said = page.process.stderr.read().splitlines()
    assert len(said) == 1
    assert all(text in said[0] for text in (str(log), "No space left on device", "may be lost"))
    with serving("--data", str(tmp_path)) as page:
        assert page.asking(match) == asking
        assert page.asking(new) == later


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="XDG")
def test_the_default_is_the_data_directory_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("QUARTET_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    folder = data_folder.default_folder()
    assert folder == tmp_path / "quartet"
    with serving(own_data=False) as page:
        first = page.address
        assert (folder / "server.json").is_file()
        kill(page)
    with serving(own_data=False) as page:
        assert page.address == first
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    found = stopped()
    assert (found.returncode, found.stderr.count("\n")) == (2, 1)
    assert f"cannot use the data folder {tmp_path / 'file' / 'quartet'}" in found.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_the_token_is_private_and_stays(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    access = data_folder.Access(folder.access().token, 1234)
    folder.set_access(access)
    assert folder.access() == access
    assert (folder.path / "server.json").stat().st_mode & 0o777 == 0o600
    assert folder.path.stat().st_mode & 0o777 == 0o700
    for bad in (b"", b'{"token": "short"}', b'{"token": 1}', b"\xff"):
        (folder.path / "server.json").write_bytes(bad)
        assert len(folder.access().token) >= 20
    folder.close()


def test_the_oldest_logs_are_deleted_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = [log_of(played("ataxx", seed)) for seed in range(4)]
    monkeypatch.setattr(sources, "MAX_LOGS", sum(map(len, logs[1:])))

    def none(*_: object) -> tuple[bytes, bool]:
        raise AssertionError

    folder = DataFolder(tmp_path)
    kept = Sources(folder, none, none)
    keys = [kept.upload(data, f"{n}.log", checked(data)[1]) for n, data in enumerate(logs)]
    assert [line["id"] for line in kept.lines()] == keys[:0:-1]
    assert {path.name for path in tmp_path.glob("logs/*")} == set(keys[1:])
    again = Sources(folder, none, none)
    assert again.lines() == kept.lines()
    assert json.dumps(again.lines()).count("ataxx") == 3
    folder.close()
