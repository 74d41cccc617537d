"""How to play a game, and how its score came about, on the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import quartet
from quartet import registry
from quartet.web import views
from quartet.web.sources import checked
from tests.page import Server, Tab, browsing, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

BOARDS = """() => [...document.querySelectorAll("#rules section")].map(rule =>
    [...rule.querySelectorAll("svg")].map(board => {
        const centre = element => {
            const { x, y, width, height } = element.getBoundingClientRect();
            return `${Math.round(x + width / 2)} ${Math.round(y + height / 2)}`;
        };
        const cells = [...board.querySelectorAll(".cell")];
        const at = new Map(cells.map(cell => [centre(cell), cell.dataset.cell]));
        return [...board.querySelectorAll(".piece circle")].map(piece => at.get(centre(piece)));
    }))"""
"""Return the cells of the pieces on every board of every rule."""
LOGS = sorted((Path(__file__).parent / "data").glob("*/logs/*.txt"))


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with serving(tmp_path_factory.mktemp("page")) as server, browsing() as browser:
        yield enter(browser, server)


def enter(browser: Any, server: Server, language: str = "en-GB") -> Tab:
    tab = Tab(browser.new_context(locale=language), server)
    tab.enter()
    return tab


def read(tab: Tab, game: str) -> list[list[list[str]]]:
    """Open a game's rules; return for every rule its boards, as the cells of their pieces."""
    tab.go("#/")
    tab.find(f'input[value="{game}"]').check()
    tab.find(f'[data-game="{game}"] #rules').evaluate("box => { box.open = true; }")
    tab.find("#rules svg.board").first.wait_for()
    found: list[list[list[str]]] = tab.page.evaluate(BOARDS)
    return found


def counted(tab: Tab) -> None:
    """Check that the parts of every score add up to the shown score."""
    box = tab.find("#counting")
    box.wait_for()
    for player in box.locator(".counted > div").all():
        score = int(player.locator("b").inner_text().rpartition(" ")[2])
        parts = player.locator("li").all_inner_texts()
        assert sum(int(re.findall(r"\d+", part)[-1]) for part in parts) == score
        assert str(score) in tab.find(".player .score").all_inner_texts()


@pytest.mark.parametrize("log", LOGS, ids=lambda log: f"{log.parents[1].name}-{log.stem}")
def test_the_parts_add_up_to_the_score_of_a_log(log: Path) -> None:
    data = log.read_bytes()
    said = re.findall(rb"^SCORE(?:FIRST|SECOND) (\d+)", data, re.MULTILINE)
    result = views.of_log(*checked(data))["result"]
    assert len(said) == 2
    sums = [sum(part["count"] * part["points"] for part in parts) for parts in result["counted"]]
    assert sums == list(map(int, said))


@pytest.mark.slow
def test_the_two_moves_of_ataxx_look_different(tab: Tab) -> None:
    """A division keeps its piece, a leap does not; then neighbours change sides."""
    divide, leap, infect, end = read(tab, "ataxx")
    assert [sorted(board) for board in divide] == [["2 2"], ["2 2", "3 3"]]
    assert leap == [["2 2"], ["3 4"]]
    assert len(infect[0]) + 1 == len(infect[1])
    assert end == []
    assert tab.find("#rules .piece.s1").count() == 3, "before the infection only"


@pytest.mark.slow
def test_every_game_shows_its_rules(tab: Tab) -> None:
    for game in registry.GAMES:
        rules = read(tab, game)
        assert sum(map(len, rules)) >= 4
        assert all(text.strip() for text in tab.find("#rules section p").all_inner_texts())
    read(tab, "applegame")
    assert tab.find("#rules .pass").count() == 1
    read(tab, "connexion")
    assert tab.find("#rules svg:has(.region)").count() == 2, "groups of both players"
    read(tab, "ugolki")
    assert tab.find("#rules polyline.path").count() == 1
    assert tab.find("#rules .badge-text").all_text_contents() == ["+2", "+1"]
    assert tab.faults == []


@pytest.mark.slow
@pytest.mark.parametrize("game", registry.GAMES)
def test_the_end_shows_how_the_score_came_about(tab: Tab, game: str) -> None:
    names = quartet.game(game).players
    greedy = ("engine:greedy" if "greedy" in names else "engine:random", "nodes:50")
    players = [greedy] * 2
    if game == "ugolki":
        players += [greedy, ("nobody", "")]
    tab.start(game, *players)
    assert tab.state() == "over"
    counted(tab)
    tab.find("#to-review").click()
    tab.find("#now").wait_for()
    tab.find("#last").click()
    counted(tab)
    tab.find("#rules summary").click()
    tab.find("#rules svg.board").first.wait_for()
    assert tab.faults == []
