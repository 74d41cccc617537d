"""Every view of the page: whether everybody can use it, at every width; and runs that go on while
they are looked at."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

from tests.games import ROOT
from tests.page import ENOUGH, Server, Tab, browsing, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow
THEMES = ("light", "dark")
PHONE = {"width": 360, "height": 740}
SERIOUS = ("serious", "critical")
RULES = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
    .map(v => [v.impact, v.id, v.nodes.map(n => n.html.slice(0, 200) + " " + (n.any[0]?.message || "")).slice(0, 4)])"""


def quartet(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """A command that goes on."""
    return subprocess.Popen(
        [sys.executable, "-m", "quartet", *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )


def sprt(games: int) -> list[str]:
    """A test that takes some seconds."""
    options = ["--in-process", "--option", "opening=4", "--clock", "20", "--crowded", "--jobs", "1"]
    wide = ["--elo0", "0", "--elo1", "0.1"]
    return [
        "sprt",
        "ataxx",
        "bot",
        "greedy",
        *options,
        *wide,
        "--games",
        str(games),
        "--out",
        "runs/one",
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a run of some games."""
    folder = tmp_path_factory.mktemp("page")
    assert quartet(folder, *sprt(12)).wait(120) in (0, 1)
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with serving(folder, "--runs", "runs") as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as browser:
        yield browser


def lobby(tab: Tab) -> None:
    tab.go("#/")
    tab.find("#more summary").click()


def playing(tab: Tab) -> None:
    tab.start("connexion", ("person", ""), ("engine:greedy", "nodes:50"))
    tab.state()
    tab.page.keyboard.press("ArrowRight")
    tab.page.keyboard.press("Enter")


def over(tab: Tab) -> None:
    tab.start("ugolki", *[("engine:greedy", "nodes:50")] * 2, *[("nobody", "")] * 2)
    tab.wait_turns(6)
    tab.find("#files summary").click()
    tab.find("#files pre").first.wait_for()


def reviewed(tab: Tab) -> None:
    tab.go("#/review?run=one&number=0")
    tab.find("#sums:not([hidden])").wait_for()
    tab.page.keyboard.press("n")


def view(address: str, found: str) -> Any:
    def come(tab: Tab) -> None:
        tab.go(address)
        tab.find("#results").wait_for()
        tab.find("#results").check()
        tab.find(found).first.wait_for()

    return come


def plain(address: str, found: str) -> Any:
    def come(tab: Tab) -> None:
        tab.go(address)
        tab.find(found).first.wait_for()

    return come


VIEWS = {
    "lobby": lobby,
    "playing": playing,
    "over": over,
    "watch": plain("#/watch", "#matches li"),
    "drop": plain("#/review", "#drop"),
    "review": reviewed,
    "runs": view("#/runs", "#runs-table"),
    "standings": view("#/run/one?tab=standings", "#standings"),
    "crosstable": view("#/run/one?tab=crosstable", "#crosstable"),
    "games": view("#/run/one?tab=games", "#games-table td"),
    "charts": view("#/run/one?tab=charts", "#charts canvas"),
    "plan": view("#/run/one?tab=plan", "#run-body pre"),
    "nothing": plain("#/nowhere", "main .bad"),
}


@pytest.mark.parametrize("name", VIEWS)
def test_everybody_can_use_a_view(browser: Any, server: Server, name: str) -> None:
    """axe-core finds nothing serious in either theme, and nothing is wider than a phone."""
    axe = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    context = browser.new_context(locale="en-GB", viewport=PHONE)
    tab = Tab(context, server)
    tab.enter()
    VIEWS[name](tab)
    for theme in THEMES:
        tab.find("#theme").select_option(theme)
        tab.page.wait_for_timeout(100)
        tab.page.evaluate(axe + "; 0")
        found = [v for v in tab.page.evaluate(RULES) if v[0] in SERIOUS]
        assert found == [], theme
        assert tab.page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    assert tab.faults == []
    context.close()


def test_a_run_is_followed_while_it_is_killed_and_goes_on(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with serving(tmp_path, "--runs", "runs") as server:
        tab = Tab(browser.new_context(locale="en-GB"), server)
        tab.enter("#/runs")
        tab.find("#results").wait_for()
        run = quartet(tmp_path, *sprt(100_000))
        try:
            tab.find("#runs-table td").first.wait_for()
            tab.go("#/run/one")
            tab.find("#run-state").wait_for()
            tab.find("#results").check()
            tab.find("#standings").wait_for()

            def recorded() -> int:
                return int(tab.ask("runs/one")["recorded"])

            def shown() -> str:
                return str(tab.find("#run-state").inner_text())

            def wait(state: str, least: int) -> None:
                deadline = time.monotonic() + ENOUGH / 1000
                while state not in shown() or recorded() < least:
                    assert time.monotonic() < deadline, shown()
                    time.sleep(0.2)

            wait("goes on", 2)
            tab.find("#run-live a").first.wait_for()
            # A game of it is watched from its turns on the disk.
            other = Tab(tab.page.context, server)
            other.page.goto(
                server.base + (tab.find("#run-live a").first.get_attribute("href") or "")
            )
            other.find("#board .piece").first.wait_for()
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            wait("stopped", 2)
            before = recorded()
            run = quartet(tmp_path, *sprt(100_000))
            wait("goes on", before + 2)
            assert f"{recorded()}" != f"{before}"
            assert tab.faults == other.faults == []
        finally:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()


def test_a_match_is_watched_while_the_server_is_away(browser: Any, tmp_path: Path) -> None:
    """Its page says so, and comes back with the server; the match is gone, and told so."""
    with serving(tmp_path) as server:
        tab = Tab(browser.new_context(locale="en-GB"), server)
        tab.enter()
        tab.start("ugolki", *[("engine:bot", "ms:500")] * 4)
        tab.wait_turns(4)
        live = tab.turns
        tab.wait_turns(live + 4)
        assert tab.find(".player").count() == 4
        assert tab.find("#graph path.curve").count() == 4
        tab.find("#pace-pause").click()
        tab.find('#status[data-state="paused"]').wait_for()
        paused = tab.turns
        tab.find("#pace-step").click()
        tab.wait_turns(paused + 1)
        server.end()
        tab.find("#offline:not([hidden])").wait_for()
        server.begin()
        tab.page.goto(server.address)
        tab.find("#lobby").wait_for()
