"""The page in a browser while its server ends and another one starts: a match, a review and a
shared link continue in open tabs."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.games import ROOT
from tests.page import ENOUGH, Server, Tab, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

LOG = ROOT / "tests" / "data" / "connexion" / "logs" / "0000.txt"
AWAY = "#offline:not([hidden])"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path) as server:
        yield server


def sourced(tab: Tab) -> str:
    """Return the id of the log that a tab reviews."""
    return str(tab.page.url).partition("log=")[2].partition("&")[0]


OLD = "document.querySelectorAll('#moves li').forEach(row => { row.old = true; })"
NEW = "() => [...document.querySelectorAll('#moves li')].every(row => !row.old)"


def restart(server: Server, *tabs: Tab, how: signal.Signals = signal.SIGTERM) -> None:
    """End the server, and start another one when all tabs have said so; wait until they show what
    it has sent."""
    server.end(how)
    for tab in tabs:
        assert "quartet serve" in tab.find(AWAY).inner_text()
        tab.page.evaluate(OLD)
    server.begin()
    for tab in tabs:
        tab.find(AWAY).wait_for(state="detached")
        tab.page.wait_for_function(NEW)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_match_continues_in_its_tab(tab: Tab, server: Server, how: signal.Signals) -> None:
    """With its turns and clocks. Afterwards it is listed, and can be deleted."""
    tab.find("#more summary").click()
    tab.find("#clock").fill("300")
    tab.find("#person-clock").check()
    tab.find('input[value="ataxx"]').check()
    tab.find("#seat0").select_option("person")
    tab.find("#seat1").select_option("engine:greedy")
    tab.find("#start").click()
    assert tab.state() == "asking"
    for turns, cells in ((2, ("1 1", "2 2")), (4, ("2 2", "3 3"))):
        for cell in cells:
            tab.page.mouse.click(*tab.place(cell))
        tab.wait_turns(turns)
        assert tab.state() == "asking"
        if turns == 2:
            before, clocks = tab.asking(), left(tab)
            assert 0 < clocks[0] < 300_000
            restart(server, tab, how=how)
            assert tab.state() == "asking"
            assert (tab.asking(), left(tab), tab.turns) == (before, clocks, 2)
            assert tab.find(".player .clock").first.inner_text() != ""
    for _ in range(2):
        tab.find("#resign").click()
    tab.find('#status[data-state="over"]').wait_for()
    server.end(how)
    server.begin()
    tab.go("#/watch")
    expect(tab.find("#finished li")).to_contain_text("greedy wins")
    tab.find("#finished a").click()
    tab.wait_turns(4)
    for _ in range(2):
        tab.find("#end").click()
    tab.find("#lobby").wait_for()
    tab.go("#/watch")
    tab.find("#finished .dim").wait_for()
    assert tab.find("#finished a").count() == 0


def left(tab: Tab) -> list[int]:
    """Return the milliseconds on the clocks of the match in a tab."""
    found: list[int] = tab.ask("matches/" + tab.page.url.rpartition("/")[2])["view"]["clocks"]
    return found


def test_a_link_to_a_seat_continues(browser: Any, tmp_path: Path) -> None:
    """In the guest's open tab, and in another browser."""
    with serving(tmp_path, "--host", "0.0.0.0") as server:  # noqa: S104
        tabs = host, guest, later = [
            Tab(browser.new_context(locale="en-GB"), server) for _ in range(3)
        ]
        host.enter()
        host.start("ataxx", ("guest", ""), ("person", ""))
        link = host.find("[data-link]").input_value()
        guest.page.goto(link)
        moves = (
            (guest, "1 1", "2 2"),
            (host, "1 7", "2 6"),
            (guest, "2 2", "3 3"),
            (host, "7 1", "6 2"),
            (later, "3 3", "4 4"),
        )
        for number, (tab, *cells) in enumerate(moves):
            if number == 1:
                restart(server, host, guest, how=signal.SIGKILL)
                assert host.find("[data-link]").input_value() == link
                later.page.goto(link)
            assert tab.state() == "asking"
            for cell in cells:
                tab.page.mouse.click(*tab.place(cell))
            for other in tabs if number else tabs[:2]:
                other.wait_turns(number + 1)
        for tab in tabs:
            assert tab.faults == []
            tab.page.context.close()


def test_a_review_and_a_shared_link_continue(tab: Tab, browser: Any, server: Server) -> None:
    tab.go("#/review")
    tab.find("#pick").set_input_files(LOG)
    tab.find("#sums:not([hidden])").wait_for()
    log = sourced(tab)
    tab.go(f"#/review?log={log}&nodes=3000")
    tab.find("#sums:not([hidden])").wait_for(state="detached")
    tab.find("#progress progress:not([hidden])").wait_for()
    tab.page.keyboard.press("End")
    expect(tab.find("#slider")).not_to_have_value("0")
    shared = tab.page.url
    restart(server, tab, how=signal.SIGKILL)
    tab.find("#sums:not([hidden])").wait_for(timeout=5 * ENOUGH)
    # The link opens the same position in another browser, also after another restart.
    server.end()
    server.begin()
    context = browser.new_context(locale="en-GB")
    other = Tab(context, server)
    other.enter()
    other.page.goto(shared)
    other.find("#sums:not([hidden])").wait_for()
    assert other.find("#slider").input_value() == tab.find("#slider").input_value() != "0"
    other.go("#/review")
    expect(other.find("#logs")).to_contain_text(LOG.name)
    other.find("#reviews a").first.click()
    other.find("#sums:not([hidden])").wait_for()
    other.go("#/review")
    other.find("#logs button").click()
    other.find("#logs button").click()
    other.find("#logs button").wait_for(state="detached")
    assert other.find("#reviews a").count() == 0
    assert other.faults == []
    context.close()


def test_a_review_begins_when_the_server_is_back(tab: Tab, server: Server) -> None:
    """The server ends when the page asks for the review."""
    tab.go("#/review")
    tab.find("#pick").set_input_files(LOG)
    tab.find("#sums:not([hidden])").wait_for()

    def cut(route: Any) -> None:
        server.end(signal.SIGKILL)
        route.abort("connectionrefused")

    tab.page.route("**/api/reviews", cut, times=1)
    tab.go(f"#/review?log={sourced(tab)}&nodes=100")
    tab.find(AWAY).wait_for()
    expect(tab.find("#progress")).to_contain_text("The server does not answer")
    server.begin()
    tab.find("#sums:not([hidden])").wait_for()


def test_an_analysis_starts_again(tab: Tab, server: Server) -> None:
    tab.go("#/review")
    tab.find("#pick").set_input_files(LOG)
    tab.find("#engine").click()
    tab.find("#analysis .engine-line").first.wait_for()
    restart(server, tab)
    tab.find("#analysis .engine-line").first.wait_for()
    assert tab.find("#engine").get_attribute("aria-pressed") == "true"


def test_a_tab_without_a_valid_token_says_how_to_open_the_page(tab: Tab, server: Server) -> None:
    tab.start("ataxx", ("person", ""), ("engine:greedy", "nodes:50"))
    server.end()
    tab.find(AWAY).wait_for()
    file = server.data / "server.json"
    token = file.read_text()
    file.unlink()
    server.begin()
    tab.find(AWAY).get_by_text("Open the address").wait_for()
    # With its address the page opens, and the match is there.
    match = tab.page.url.rpartition("#")[2]
    tab.enter("#" + match)
    assert tab.state() == "asking"
    assert file.read_text() != token


def test_a_view_that_could_not_be_opened_opens_by_itself(tab: Tab, server: Server) -> None:
    server.end()
    tab.find('nav a[href="#/watch"]').click()
    tab.find(AWAY).wait_for()
    server.begin()
    tab.find("#finished").wait_for()
    tab.find(AWAY).wait_for(state="detached")
