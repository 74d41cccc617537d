"""Watching: speed, autoplay, the next game of a run, and the boards of all running games."""

from __future__ import annotations

import os
import re
import signal
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.page import Server, Tab, quartet, serving, sprt

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow
BOTS = [("engine:greedy", "nodes:50")] * 2
LIVE = re.compile(r"#/live/one/\d+$")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a run that goes on for longer than the tests."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "runs").mkdir()
    run = quartet(folder, *sprt(100_000))
    try:
        with serving(folder, "--runs", "runs") as server:
            yield server
    finally:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()


def sent(tab: Tab, path: str, selector: str, value: str | None = None) -> Any:
    """Click an element, or choose a value; return the body of the request that follows."""
    with tab.page.expect_request(re.compile(f"{path}$")) as request:
        if value is None:
            tab.find(selector).click()
        else:
            tab.find(selector).select_option(value)
    return request.value.post_data_json


def test_a_match_of_bots_starts_at_a_speed_that_one_can_follow(tab: Tab) -> None:
    tab.find('input[value="ataxx"]').check()
    tab.find("#seat0").select_option("person")
    assert not tab.find("#speed").is_visible(), "a human sets the pace"
    for seat in (0, 1):
        tab.find(f"#seat{seat}").select_option("engine:greedy")
    assert tab.find("#speed").input_value() == "500", "milliseconds between two moves"
    assert sent(tab, "api/matches", "#start")["delay"] == 500
    tab.wait_turns(1)
    assert tab.find("#speed").input_value() == "500"
    assert sent(tab, "/pace", "#speed", "0") == {"pace": "run", "delay": 0}
    tab.find('#status[data-state="over"]').wait_for()
    tab.start("ataxx", ("person", ""), BOTS[1])
    match = tab.page.url.rpartition("/")[2]
    assert tab.ask("matches/" + match)["delay"] == 0
    tab.find("#end").click()
    tab.find("#end").click()


def test_equal_names_are_told_apart(tab: Tab) -> None:
    tab.start("ataxx", *2 * [("engine:greedy", "nodes:50")], seed="4")
    tab.find('#status[data-state="over"]').wait_for()
    match = tab.page.url.rpartition("/")[2]
    places = tab.ask("matches/" + match)["view"]["result"]["places"]
    winner = ("FIRST", "SECOND")[places.index(1)]
    tab.go("#/watch")
    expect(tab.find("#finished li").first).to_contain_text(f"{winner} greedy wins")


def test_a_finished_game_plays_by_itself(tab: Tab) -> None:
    tab.start("ataxx", *BOTS)
    tab.find('#status[data-state="over"]').wait_for()
    for view in ("match", "review"):
        if view == "review":
            tab.find("#to-review").click()
            tab.find("#now").wait_for()
        slider, play = tab.find("#slider"), tab.find("#autoplay")
        steps = slider.get_attribute("max")
        tab.find("#first").click()
        assert slider.input_value() == "0"
        play.click()
        tab.page.wait_for_function(
            "steps => document.querySelector('#slider').value === steps", arg=steps
        )
        tab.find('#autoplay[aria-label="Play the game from here"]').wait_for()
    tab.find("#speed").select_option("2000")
    play.click()
    tab.find('#autoplay[aria-label="Stop playing"]').wait_for()
    assert slider.input_value() == "0", "from the end it starts again"
    tab.page.keyboard.press("a")
    tab.find('#autoplay[aria-label="Play the game from here"]').wait_for()


def test_the_next_game_of_a_run_is_followed(tab: Tab) -> None:
    tab.go("#/run/one")
    tab.find("#run-live a").first.click()
    tab.page.wait_for_url(LIVE)
    for _ in range(2):
        before = tab.page.url
        tab.page.wait_for_url(lambda url, before=before: LIVE.search(url) and url != before)
    tab.find("#follow-next").uncheck()
    before = tab.page.url
    tab.find('#status[data-state="over"]').wait_for()
    assert tab.page.url == before
    tab.find("#follow-next").check()
    tab.page.wait_for_url(lambda url: LIVE.search(url) and url != before)


def test_running_games_are_shown_side_by_side(tab: Tab, browser: Any) -> None:
    """A board per game, which shows new moves; a click leads to the game."""
    tab.start("ataxx", *BOTS, speed="500")
    tab.find("#pace-pause").click()
    tab.find('#status[data-state="paused"]').wait_for()
    match, turns = tab.page.url.rpartition("#")[2], tab.turns
    other = Tab(tab.page.context, tab.server)
    other.go("#/watch")
    mini = other.find(f'.mini[href="#{match}"]')
    mini.locator(f':text("turns: {turns}")').wait_for()
    assert mini.locator(".piece").count() >= 4
    assert mini.locator(".seat").count() == 2
    other.find('.mini[href^="#/live/one/"] .piece').first.wait_for()
    tab.find("#pace-step").click()
    tab.wait_turns(turns + 1)
    mini.locator(f':text("turns: {turns + 1}")').wait_for()
    mini.click()
    other.wait_turns(turns + 1)
    tab.find("#speed").select_option("0")
    tab.find("#pace-run").click()
    other.go("#/watch")
    other.find(f'#finished a[href="#{match}"]').wait_for()
    assert other.faults == []
