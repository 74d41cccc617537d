"""Layout of the page: what a user needs is on the screen without scrolling, and large enough."""

from __future__ import annotations

import json
from math import dist
from typing import TYPE_CHECKING, Any

import pytest

from quartet import registry
from tests.commands import ONE_JOB
from tests.games import ROOT
from tests.page import Server, Tab, quartet, serving
from tests.webserver import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow
SCREENS = {"desktop": (1280, 800), "phone": (390, 844)}
FINGER = 24
"""Least distance of two cells on a phone, in pixels."""
AXES = (9, 18)
"""Height of the labels of the axes in pixels."""
MOVE = """async ([id, step, parts]) => fetch(`api/matches/${id}/move`, { method: "POST",
    headers: { "Content-Type": "application/json" }, body: JSON.stringify({ step, parts }) })"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("page")) as server:
        yield server


@pytest.fixture(params=SCREENS)
def tab(browser: Any, server: Server, request: pytest.FixtureRequest) -> Iterator[Tab]:
    width, height = SCREENS[request.param]
    context = browser.new_context(locale="en-GB", viewport={"width": width, "height": height})
    tab = Tab(context, server)
    tab.enter()
    yield tab
    assert tab.faults == []
    context.close()


def hidden(tab: Tab, *selectors: str) -> list[str]:
    """Return the selectors whose first element is not on the screen as a whole."""
    assert tab.page.evaluate("() => scrollY") == 0
    assert tab.page.evaluate("() => document.documentElement.scrollWidth - innerWidth") == 0
    return [selector for selector in selectors if not tab.sees(selector)]


def is_used(tab: Tab) -> bool:
    """Return True if the column next to the board is not empty at its end; phones have none."""
    wide, high = tab.page.viewport_size["width"], tab.page.viewport_size["height"]
    ends = "all => Math.max(...all.map(card => card.getBoundingClientRect().bottom))"
    return wide < 860 or bool(tab.find(".side .card").evaluate_all(ends) > 0.9 * high)


def seats(tab: Tab, game: str, player: str) -> list[tuple[str, str]]:
    """Return the seats of a match of one player against greedy ones."""
    known = next(g for g in tab.ask("games")["games"] if g["name"] == game)
    return [(player, ""), *[("engine:greedy", "nodes:50")] * (known["players"] - 1)]


@pytest.mark.parametrize("game", registry.GAMES)
def test_a_player_sees_everything_without_scrolling(tab: Tab, game: str) -> None:
    """Board, turn, clock, hint and the last moves; no cell is too small for a finger."""
    tab.find(f'input[value="{game}"]').check()
    tab.find("#more summary").click()
    tab.find("#person-clock").check()
    tab.find("#clock").fill("500")
    tab.begin(*seats(tab, game, "person"))
    match = tab.page.url.rpartition("/")[2]
    for _ in range(2):
        assert tab.state() == "asking"
        step, position = tab.turns, tab.asking()["position"]
        tab.page.evaluate(MOVE, [match, step, position["choices"][0]["parts"]])
        tab.wait_turns(step + 1)
    assert tab.state() == "asking"
    last = "#moves li:last-child"
    needed = ("#board", "#slider", "#status", ".clock:not(:empty)", "#hint", "#resign")
    assert hidden(tab, *needed, last, "#moves li:nth-last-child(2)") == []
    cells = [cell[0] for cell in tab.asking()["position"]["board"]["cells"]]
    places = [tab.place(cell) for cell in cells]
    assert min(dist(places[0], place) for place in places[1:]) >= FINGER
    for axis in tab.find("#board .edge").all():
        box = axis.bounding_box()
        assert box is not None
        assert AXES[0] <= box["height"] <= AXES[1]
    assert tab.find("#resign").inner_text() == "Resign"
    assert tab.find("#end").inner_text() == "Delete game"
    assert is_used(tab)


@pytest.mark.parametrize(("size", "quarters"), [((360, 740), 0), ((412, 915), 1), ((1280, 800), 0)])
def test_a_board_is_turned_if_that_makes_its_cells_larger(
    browser: Any, server: Server, size: tuple[int, int], quarters: int
) -> None:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    tab = Tab(context, server)
    tab.enter("#/")
    usual = """async cells => (await import("./static/board.js")).usualQuarters({ cells })"""
    cells = [[f"{x} {y}", x, y] for x in range(17) for y in range(10)]
    assert tab.page.evaluate(usual, cells) == quarters
    context.close()


@pytest.mark.parametrize("language", ["en", "ru", "ko"])
def test_the_header_has_one_line(tab: Tab, language: str) -> None:
    tab.find("#language").select_option(language)
    catalogue = ROOT / f"quartet/web/static/messages/{language}.json"
    theme = json.loads(catalogue.read_text(encoding="utf-8"))["theme"]
    tab.find(f'#theme[aria-label="{theme}"]').wait_for()
    # the header is drawn again while the view is loaded
    wait_for(lambda: not hidden(tab, "nav a:last-child", "#theme", "#language"))
    tops = "all => all.map(link => link.getBoundingClientRect().top)"
    assert len(set(tab.find("nav a").evaluate_all(tops))) == 1


@pytest.mark.parametrize("game", registry.GAMES)
def test_a_review_shows_graph_and_moves_next_to_the_board(tab: Tab, game: str) -> None:
    tab.start(game, *seats(tab, game, "engine:greedy"))
    tab.find('#status[data-state="over"]').wait_for()
    assert hidden(tab, "#board", "#slider", "#status", "#to-review", "#moves li:last-child") == []
    assert tab.find("#new-game").inner_text() == "New game"
    assert tab.find("#end").inner_text() == "Delete game"
    assert is_used(tab)
    tab.go(f"#/review?match={tab.page.url.rpartition('/')[2]}&nodes=200")
    tab.find("#sums").wait_for()  # until then the list is made again
    tab.find("#moves li").first.click()
    tab.page.evaluate("() => scrollTo(0, 0)")
    assert hidden(tab, "#board", "#slider", "#graph", "#moves li", "#moves li:nth-child(2)") == []
    assert is_used(tab)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a finished run of three players, one of which has a long name."""
    folder = tmp_path_factory.mktemp("runs")
    names = ("random", "greedy", "a-player-with-a-rather-long-name")
    players = [
        word
        for name in names
        for word in ("--player", f"{name}={name if name in names[:2] else 'greedy'}")
    ]
    options = ("--in-process", "--games", "2", "--option", "opening=4", *ONE_JOB)
    run = quartet(folder, "tournament", "ataxx", *players, *options, "--out", "runs/one")
    assert run.wait(120) == 0
    with serving(folder, "--runs", "runs") as server:
        yield server


@pytest.mark.parametrize("screen", SCREENS)
def test_tables_of_runs_show_the_outcome(browser: Any, runs: Server, screen: str) -> None:
    """Without scrolling, also sideways."""
    width, height = SCREENS[screen]
    context = browser.new_context(locale="en-GB", viewport={"width": width, "height": height})
    tab = Tab(context, runs)
    tab.enter("#/runs")
    for table, title in (
        ("#runs-table", "Outcome"),
        ("#standings", "Score"),
        ("#games-table", "Result"),
    ):
        if table != "#runs-table":
            tab.go(f"#/run/one?tab={table[1:].partition('-')[0]}")
        tab.find(f"{table} tbody tr").first.wait_for()
        titles = tab.find(f"{table} thead th").all_inner_texts()
        number = next(n for n, text in enumerate(titles, 1) if text.startswith(title))
        assert hidden(tab, f"{table} th:nth-child({number})") == []
        assert hidden(tab, f"{table} tbody tr:first-child > :nth-child({number})") == []
    assert tab.faults == []
    context.close()


def test_long_names_can_be_read_on_a_narrow_phone(browser: Any, runs: Server) -> None:
    context = browser.new_context(locale="en-GB", viewport={"width": 360, "height": 740})
    tab = Tab(context, runs)
    tab.enter("#/review?run=one&number=2&nodes=20")
    tab.find("#sums:not([hidden])").wait_for()
    names = tab.find(".player b")
    assert any(name.endswith("-long-name") for name in names.all_inner_texts())
    assert names.evaluate_all("all => all.every(name => name.scrollWidth <= name.clientWidth)")
    tab.go("#/run/one?tab=games")
    tab.find("#games-table tbody tr").first.wait_for()
    assert hidden(tab, "#filter-player") == []
    tab.go("#/run/one?tab=crosstable")
    short = tab.find('#crosstable th:text("greedy")').bounding_box()
    assert short is not None
    assert short["height"] < 40, "a word is not broken"
    assert tab.faults == []
    context.close()
