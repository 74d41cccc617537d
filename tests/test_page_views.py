"""Every view of the page: accessibility and width; and runs that change while they are shown."""

from __future__ import annotations

import os
import re
import signal
import time
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from quartet import registry
from tests.commands import ONE_JOB
from tests.games import ROOT
from tests.page import ENOUGH, Server, Tab, quartet, serving, sprt

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow
LOG = ROOT / "tests/data/connexion/logs/0000.txt"
LOOKS = (("light", {"width": 1280, "height": 800}), ("dark", {"width": 360, "height": 740}))
"""Themes, each with a size: the colours do not depend on the size."""
RULES = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
    .map(v => [v.impact, v.id, v.nodes.map(n => n.html.slice(0, 200) + " " + (n.any[0]?.message || "")).slice(0, 4)])"""


def cup() -> list[str]:
    """Return the arguments of a tournament of three players."""
    names = ("a=bot", "b=greedy", "c=random")
    players = [word for name in names for word in ("--player", name)]
    options = ["--in-process", "--clock", "20", *ONE_JOB, "--games", "2"]
    return ["tournament", "ataxx", *players, *options, "--out", "runs/cup"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with finished runs."""
    folder = tmp_path_factory.mktemp("page")
    for arguments in (cup(), sprt(12)):
        assert quartet(folder, *arguments).wait(120) in (0, 1)
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with serving(folder, "--runs", "runs") as server:
        yield server


def lobby(tab: Tab) -> None:
    tab.go("#/")
    tab.find("#more summary").click()


def playing(tab: Tab) -> None:
    tab.start("connexion", ("person", ""), ("engine:greedy", "nodes:50"))
    tab.state()
    tab.page.keyboard.press("ArrowRight")
    tab.page.keyboard.press("Enter")


def options(tab: Tab) -> None:
    """The form with its speed and the options of an engine."""
    tab.go("#/")
    tab.find('input[value="ataxx"]').check()
    for seat in (0, 1):
        tab.find(f"#seat{seat}").select_option("engine:bot")
    tab.find(".engine-options summary").first.click()
    tab.find("[data-engine]").first.wait_for()


def watched(tab: Tab) -> None:
    """Boards of running games, one of them shown before as a whole."""
    tab.start("ugolki", *[("engine:greedy", "nodes:50")] * 4, speed="500")
    tab.find("#pace-pause").click()
    tab.find('#status[data-state="paused"]').wait_for()
    tab.go("#/watch")
    tab.find(".mini .piece").first.wait_for()


def paused(tab: Tab) -> None:
    tab.start("applegame", *[("engine:bot", "nodes:50")] * 2, speed="500")
    tab.wait_turns(2)
    tab.find("#pace-pause").click()
    tab.find('#status[data-state="paused"]').wait_for()


def over(tab: Tab) -> None:
    tab.start("ugolki", *[("engine:greedy", "nodes:50")] * 2, *[("nobody", "")] * 2)
    tab.wait_turns(6)
    tab.find("#files summary").click()
    tab.find("#files pre").first.wait_for()


def reviewed(tab: Tab) -> None:
    tab.go("#/review?run=one&number=0")
    tab.find("#sums:not([hidden])").wait_for()
    tab.page.keyboard.press("n")


def practised(tab: Tab) -> None:
    """The exercise, with its solution."""
    reviewed(tab)
    tab.find("#exercise-start").click()
    tab.find("#exercise-show").click()


def varied(tab: Tab) -> None:
    """A variation from the start of a reviewed game, and an engine that analyses it."""
    reviewed(tab)
    tab.page.keyboard.press("Home")
    tab.find("#board").focus()
    tab.find("svg.board.choosing").wait_for()
    for key in ("ArrowRight", "Enter", "Enter"):
        tab.page.keyboard.press(key)
    tab.find("#variation:not([hidden])").wait_for()
    tab.find("#engine").click()
    tab.find(".engine-line").first.wait_for()


def compared(tab: Tab) -> None:
    """A mistake next to the better move, reviewed deeper, with two engines that analyse."""
    reviewed(tab)
    tab.find("#compare svg.board").nth(1).wait_for()
    tab.find("#deeper").click()
    tab.find(".deeper").wait_for()
    tab.find("#two-engines").check()
    tab.find("#engine2").click()
    tab.find(".engine-line").first.wait_for()


def invited(tab: Tab) -> None:
    tab.start("ataxx", ("person", ""), ("guest", ""))
    tab.find("[data-link]").wait_for()


def guest(tab: Tab) -> None:
    """A game as a guest sees it."""
    invited(tab)
    link = tab.find("[data-link]").input_value()
    tab.page.context.clear_cookies()
    tab.page.goto(link)
    tab.find("#status").wait_for()


def away(tab: Tab) -> None:
    tab.page.route("**/*", lambda route: route.abort("connectionrefused"))
    tab.go("#/runs")
    tab.find("#offline:not([hidden])").wait_for()


def logs(tab: Tab) -> None:
    """The lists of games, of reviews, and of logs, with one that is none."""
    over(tab)
    reviewed(tab)
    tab.go("#/review")
    wrong = {"name": "wrong.txt", "mimeType": "text/plain", "buffer": b"nonsense"}
    right = {**wrong, "name": "right.txt", "buffer": LOG.read_bytes()}
    tab.find("#pick").set_input_files([wrong, right])
    tab.find("#logs .bad").wait_for()
    tab.find("#logs button").wait_for()


def live(tab: Tab) -> None:
    """A game of a run that has ended."""
    tab.go("#/live/one/0")
    tab.find("#board .piece").first.wait_for()


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


def board(tab: Tab) -> None:
    """The board, with the games that have reached its position."""
    tab.go("#/board?run=one&number=0&step=0")
    tab.find("#look-up").check()
    tab.find("#openings-games a").first.wait_for()


def edited(tab: Tab) -> None:
    tab.go("#/board?game=connexion")
    tab.find("#edit").click()
    tab.find("[data-brush]").first.wait_for()


def rules(game: str) -> Any:
    def come(tab: Tab) -> None:
        tab.go("#/")
        tab.find(f'input[value="{game}"]').check()
        tab.find(f'[data-game="{game}"] #rules summary').click()
        tab.find("#rules svg.board").first.wait_for()

    return come


VIEWS = {
    "board": board,
    "edited": edited,
    "lobby": lobby,
    "options": options,
    "playing": playing,
    "paused": paused,
    "over": over,
    "watch": watched,
    "live": live,
    "logs": logs,
    "away": away,
    "review": reviewed,
    "exercise": practised,
    "variation": varied,
    "compared": compared,
    "invited": invited,
    "guest": guest,
    **{"rules of " + game: rules(game) for game in registry.GAMES},
    "runs": view("#/runs", "#runs-table"),
    "standings": view("#/run/one?tab=standings", "#standings"),
    "crosstable": view("#/run/one?tab=crosstable", "#crosstable"),
    "games": view("#/run/one?tab=games", "#games-table td"),
    "charts": view("#/run/one?tab=charts", "#charts canvas"),
    "plan": view("#/run/one?tab=plan", "#run-body pre"),
    "nothing": plain("#/nowhere", "main .bad"),
}


@pytest.mark.parametrize("name", VIEWS)
def test_accessibility(browser: Any, server: Server, name: str) -> None:
    """axe-core finds nothing in either theme, and nothing is wider than the screen."""
    axe = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    context = browser.new_context(locale="en-GB", viewport=LOOKS[0][1])
    tab = Tab(context, server)
    tab.enter()
    VIEWS[name](tab)
    tab.page.evaluate(axe + "; 0")
    for theme, size in LOOKS:
        tab.page.set_viewport_size(size)
        tab.find("#theme").select_option(theme)
        tab.page.wait_for_timeout(100)
        assert tab.page.evaluate(RULES) == [], theme
        assert tab.page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    assert tab.faults == []
    context.close()


def test_a_finished_run_shows_its_results(browser: Any, server: Server) -> None:
    """With one measure of error, named, and hypotheses that cannot be taken for results."""
    context = browser.new_context(locale="en-GB")
    tab = Tab(context, server)
    tab.enter("#/runs")
    tab.find("#runs-table td").first.wait_for()
    assert "Outcome" in tab.find("#runs-table thead").inner_text()
    tab.go("#/run/one")
    tab.find("#standings").wait_for()
    titles = tab.find("#standings th").all_inner_texts()
    assert "Score, % (± 95 %)" in titles
    verdict = tab.find("#verdict").inner_text()
    assert "hypotheses: mean score 50.00 % (H0)" in verdict
    assert "Elo (95 % interval): " in verdict
    tab.find("#tab-crosstable").click()
    tab.find('#crosstable td:has-text("% (12)")').first.wait_for()
    tab.find("#tab-charts").focus()
    tab.page.keyboard.press("ArrowLeft")
    assert tab.page.evaluate("() => document.activeElement.id") != "tab-charts"
    tab.find("#tab-charts").click()
    tab.find("#charts canvas").first.wait_for()
    assert tab.page.evaluate("() => document.activeElement.id") == "tab-charts", "the focus stays"
    tab.find("#results").uncheck()
    tab.find("#hidden-results").wait_for()
    # The clocks of its games are those of the run, 20 ms.
    tab.go("#/review?run=one&number=0")
    tab.find("#moves li").first.wait_for()
    tab.page.keyboard.press("Home")
    assert tab.find(".player .clock").all_inner_texts() == ["0.0 s", "0.0 s"]
    assert tab.faults == []
    context.close()


def test_a_result_is_chosen_for_a_player(browser: Any, server: Server) -> None:
    """Without a player there is no result: not by the controls, and not by the address."""
    context = browser.new_context(locale="en-GB")
    tab = Tab(context, server)
    tab.enter("#/run/one?tab=games&result=win")
    tab.find("#games-total").wait_for()
    every = tab.find("#games-total").inner_text()
    assert tab.find("#filter-result").is_disabled()
    tab.find("#filter-player").select_option(index=1)
    tab.find("#filter-result").select_option("draw")
    expect(tab.find("#games-total")).not_to_have_text(every)
    tab.find("#filter-player").select_option("")
    expect(tab.find("#games-total")).to_have_text(every)
    tab.page.reload()
    expect(tab.find("#games-total")).to_have_text(every)
    assert tab.faults == []
    context.close()


def test_ratings_come_into_the_shown_table(browser: Any, server: Server) -> None:
    """With what the page itself needs, they are computed while the table is shown."""
    tab = Tab(browser.new_context(locale="en-GB"), server)
    tab.enter("#/run/cup")
    tab.find('#standings th:has-text("Elo (95 % interval)")').wait_for()
    assert tab.find("#standings tbody tr").count() == 3
    assert " above " in tab.find("#standings tbody tr").first.inner_text()  # it won every game
    tab.find("#tab-charts").click()
    tab.find("#charts figcaption").first.wait_for()
    assert "%, 95 % interval" in tab.find("#charts figcaption").first.inner_text()
    assert tab.faults == []
    tab.page.context.close()


def test_a_finished_test_is_inconclusive(browser: Any, server: Server) -> None:
    tab = Tab(browser.new_context(locale="en-GB"), server)
    tab.enter("#/run/one")
    expect(tab.find("#verdict b")).to_have_text("Inconclusive")
    expect(tab.find("#verdict")).to_contain_text("Elo (95 % interval): ")
    tab.page.context.close()


def test_a_chart_writes_numbers_in_the_chosen_language(browser: Any, server: Server) -> None:
    """Not in the browser's, which may be another one."""
    tab = Tab(browser.new_context(locale="en-GB"), server)
    tab.enter("#/run/one?tab=charts")
    tab.find("#charts canvas").first.wait_for()
    tab.find("#language").select_option("ru")
    tab.find("html[lang=ru] #charts canvas").first.wait_for()
    box = tab.find("#charts .u-over").first.bounding_box()
    values = set()
    for place in range(1, 20):
        tab.page.mouse.move(box["x"] + box["width"] * place / 20, box["y"] + 50)
        values |= {shown.inner_text() for shown in tab.find("#charts .u-value").all()}
    assert any(re.fullmatch(r"\d+,\d+", value) for value in values), values
    assert not any("." in value for value in values), values
    tab.page.context.close()


def test_a_chart_that_is_drawn_again_keeps_its_zoom(browser: Any, server: Server) -> None:
    tab = Tab(browser.new_context(locale="en-GB"), server)
    tab.enter("#/run/cup?tab=charts")
    chart = tab.find("#charts canvas").first
    chart.wait_for()

    def image() -> str:
        pixels: str = chart.evaluate(
            "canvas => new Promise(drawn => requestAnimationFrame(() =>"
            " requestAnimationFrame(() => drawn(canvas.toDataURL()))))"
        )
        return pixels

    whole = image()
    box = tab.find("#charts .u-over").first.bounding_box()
    tab.page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 50)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 50, steps=4)
    tab.page.mouse.up()
    tab.page.mouse.move(0, 0)
    zoomed = image()
    assert zoomed != whole
    before = chart.element_handle()
    tab.page.evaluate("() => document.dispatchEvent(new Event('themed'))")
    tab.page.wait_for_function("before => !before.isConnected", arg=before)
    chart.wait_for()
    assert image() == zoomed
    assert tab.faults == []
    tab.page.context.close()


def test_a_run_is_followed_while_it_is_killed_and_resumed(browser: Any, tmp_path: Path) -> None:
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

            wait("running", 2)
            # Its tables are updated in place.
            for key, part in (("standings", "tbody tr"), ("games", "th:nth-child(4) button")):
                tab.find(f"#tab-{key}").click()
                tab.find(f"#run-body {part}").first.wait_for()
                tab.page.evaluate(
                    "part => { const it = document.querySelector('#run-body ' + part);"
                    " it.marked = true; it.focus(); }",
                    part,
                )
                before = tab.find("#run-body").inner_text()
                tab.page.wait_for_function(
                    "before => document.querySelector('#run-body').innerText !== before", arg=before
                )
                assert tab.page.evaluate(
                    "part => document.querySelector('#run-body ' + part).marked", part
                )
            assert tab.page.evaluate("document.activeElement.marked"), "the focus stays"
            tab.find("#run-live a").first.wait_for()
            # A game of it is watched from its turns on the disk.
            other = Tab(tab.page.context, server)
            other.page.goto(
                server.base + (tab.find("#run-live a").first.get_attribute("href") or "")
            )
            other.find("#board .piece").first.wait_for()
            assert other.find(".player .clock").first.inner_text() == "0.0 s"
            assert (
                other.find("#save-later").text_content() == "The log can be saved after the game."
            )
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            wait("stopped", 2)
            before = recorded()
            run = quartet(tmp_path, *sprt(100_000))
            wait("running", before + 2)
            assert f"{recorded()}" != f"{before}"
            assert tab.faults == other.faults == []
        finally:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()


def test_a_match_is_watched_while_the_server_is_away(browser: Any, tmp_path: Path) -> None:
    """The page shows that the connection is lost; a new server shows the start page."""
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
