"""The board without a game: positions are set up, played on, analysed, and looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from quartet import registry
from tests import checkout
from tests.games import ROOT
from tests.page import Server, Tab, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow
FIFTH = checkout.FIFTH
PIECES = """() => [...document.querySelectorAll('#board .piece[data-at]')].map(
piece => [piece.dataset.at, piece.querySelector('text')?.textContent ?? '']).sort()"""
ASK = """game => fetch('api/position', {method: 'POST', body: JSON.stringify({game}),
headers: {'Content-Type': 'application/json'}}).then(answer => answer.json())"""


def play_run(folder: Path, house: Path, game: str) -> None:
    """Play a short tournament; the run has the name of its game."""
    seats = [f"seat{number}=random" for number in range(2 if game != "ugolki" else 4)]
    players = [argument for seat in seats for argument in ("--player", seat)]
    command = ["tournament", game, *players, "--in-process", "--games", "4", "--jobs", "1"]
    out = str(folder / "runs" / game)
    done = checkout.python(house, "-m", "quartet", *command, "--oversubscribe", "--out", out)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("page")
    for game in registry.GAMES:
        play_run(folder, ROOT, game)
    with serving(folder) as server:
        yield server


@pytest.fixture(scope="module")
def fifth(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of a checkout with a fifth game."""
    house = checkout.with_new_game(tmp_path_factory.mktemp("fifth") / "checkout", FIFTH)
    play_run(house, house, FIFTH)
    with serving(house, house=house) as server:
        yield server


def board(tab: Tab) -> list[tuple[str, str]]:
    """Return the pieces of the board with their places on it."""
    found: list[tuple[str, str]] = tab.page.evaluate(PIECES)
    return found


def text(tab: Tab) -> str:
    return str(tab.find("#position").input_value())


def edit_and_play(browser: Any, server: Server, game: str) -> None:
    """Build a position by hand, in the order of its cells; then analyse it and play from it."""
    context = browser.new_context(locale="en-GB", has_touch=True)
    tab = Tab(context, server)
    tab.enter(f"#/board?game={game}")
    tab.find("#status").wait_for()
    tab.page.wait_for_function("() => document.querySelector('#position').value")
    # A move is played, and taken back.
    before = text(tab)
    choices = tab.page.evaluate(ASK, game)["choices"]
    for part in next(c["parts"] for c in choices if c["parts"] != ["pass"]):
        tab.page.mouse.click(*tab.place(part))
    tab.find("#line .chip").wait_for()
    tab.page.wait_for_url(lambda url: "moves=" in url)
    whole, after = board(tab), text(tab)
    assert after != before
    # The same position, set up piece by piece.
    tab.find("#edit").click()
    tab.find(".palette button").first.wait_for()
    tab.page.wait_for_function("() => !document.querySelector('#edit').disabled")
    assert board(tab) == whole
    assert tab.find("#complaint").inner_text() == ""
    tab.find("#clear").click()
    assert board(tab) == []
    cells = tab.find("#board .cell[data-cell]").evaluate_all("all => all.map(c => c.dataset.cell)")
    brushes = tab.find("[data-brush] svg").evaluate_all(
        "all => all.map(s => s.querySelector('.piece text')?.textContent ?? '')"
    )
    for at, mark in whole[:40]:
        brush = tab.find(f'[data-brush="{brushes.index(mark)}"]')
        if brush.get_attribute("aria-pressed") != "true":
            brush.click()
        tab.page.mouse.click(*tab.place(cells[int(at)]))
    expected = [list(piece) for piece in sorted(whole[:40])]
    tab.page.wait_for_function(
        f"expected => JSON.stringify(({PIECES})()) === JSON.stringify(expected)", arg=expected
    )
    cell = cells[int(whole[0][0])]
    remover = tab.find('[data-brush="none"]')
    remover.evaluate("brush => { brush.kept = true; }")
    remover.click()
    assert remover.evaluate("brush => brush === document.activeElement")
    tab.page.mouse.click(*tab.place(cell))
    assert len(board(tab)) == len(whole[:40]) - 1
    with tab.page.expect_response("**/api/compose"):
        tab.page.mouse.click(*tab.place(cell))
    assert remover.evaluate("brush => brush.kept"), "a new element would lose a click"
    tab.find("#cancel").click()
    tab.find("#line .chip").wait_for()
    assert (board(tab), text(tab)) == (whole, after)
    # A wrong text gets one line, and the board stays.
    tab.find("#as-text summary").click()
    tab.find("#position").fill("nonsense")
    tab.find("#set-text").click()
    tab.page.wait_for_function("() => document.querySelector('#complaint').textContent")
    assert "\n" not in tab.find("#complaint").inner_text()
    assert board(tab) == whole
    tab.find("#position").fill(after)
    tab.find("#set-text").click()
    tab.page.wait_for_function("() => !document.querySelector('#complaint').textContent")
    assert text(tab) == after
    # Analyse it, then play from it.
    tab.find("#engine").click()
    tab.find("#analysis .engine-line").first.wait_for()
    tab.find("#value-bar .part").first.wait_for()
    tab.find("#play-on").click()
    tab.find("#lobby").wait_for()
    tab.find("#start").click()
    tab.find("#status[data-state]").wait_for()
    assert tab.faults == []
    context.close()


@pytest.mark.parametrize("game", registry.GAMES)
def test_a_position_is_set_up(browser: Any, server: Server, game: str) -> None:
    edit_and_play(browser, server, game)


def test_a_position_of_the_fifth_is_set_up(browser: Any, fifth: Server) -> None:
    edit_and_play(browser, fifth, FIFTH)


WATCH_SIDE = """() => {
    window.sideShown = false;
    const side = document.querySelector("#to-move");
    const look = () => { window.sideShown ||= side.checkVisibility(); };
    new MutationObserver(look).observe(side.closest(".editor"), { subtree: true, attributes: true });
}"""
"""Note whether the side to move can be chosen, even for a moment."""


def test_an_illegal_position_is_refused_in_one_line(browser: Any, server: Server) -> None:
    """By the game's own check; the side to move is chosen."""
    context = browser.new_context(locale="en-GB")
    tab = Tab(context, server)
    tab.enter("#/board?game=connexion")
    tab.find("#edit").wait_for()
    tab.page.evaluate(WATCH_SIDE)
    tab.find("#edit").click()
    tab.find('[data-brush="0"]').click()
    for cell in ("a1+", "b1-", "b1+", "c1-", "c1+"):
        tab.page.mouse.click(*tab.place(cell))
    tab.find("#complaint:has-text('there are 5 tiles R1, not 4')").wait_for()
    assert tab.find("#edit").is_disabled()
    assert not tab.page.evaluate("window.sideShown"), "the tiles imply it: nothing jumps"
    tab.go("#/board?game=ataxx")
    tab.find("#edit").click()
    tab.find("#to-move").select_option("1")
    tab.page.wait_for_function("() => document.querySelector('#position').value.includes(' o ')")
    tab.find("#edit").click()
    tab.find("#status:has-text('SECOND to move')").wait_for()
    assert tab.faults == []
    context.close()


def look_up(browser: Any, server: Server, game: str) -> None:
    """Look a position of a run up, follow its moves, and open one of its games at the position."""
    context = browser.new_context(locale="en-GB")
    tab = Tab(context, server)
    tab.enter(f"#/board?run={game}&number=0&step=0")
    assert tab.find("#openings-note").is_hidden(), "nothing is read unasked"
    tab.find("#look-up").check()
    tab.find("#openings-games a").first.wait_for()
    tab.find("#openings-note:has-text('of 4.')").wait_for()
    rows = "#openings tbody tr"
    counts = [int(text) for text in tab.find(f"{rows} td:nth-child(2)").all_inner_texts()]
    assert sum(counts[:-1]) == counts[-1], "the last row has all games"
    assert tab.find("#openings-games a").count() == counts[-1]
    move = tab.find(rows).first.locator("button").inner_text()
    tab.find(rows).first.locator("button").click()
    tab.find(f"#line .chip:has-text('{move}')").wait_for()
    tab.find(f"#openings-note:has-text('{counts[0]} of 4.')").wait_for()
    tab.find("#openings-games a").first.click()
    tab.find("#moves [aria-current]").wait_for()
    tab.page.wait_for_url(lambda url: "step=1" in url)
    assert tab.find("#moves [aria-current] .what").inner_text() == move
    # The review looks up, too, and enters the moves.
    tab.find(f"#openings-note:has-text('{counts[0]} of 4.')").wait_for()
    following = tab.find(rows).first.locator("button")
    move = following.inner_text()
    following.click()
    tab.page.wait_for_function("() => /step=2|moves=/.test(location.hash)")
    tab.find("#look-up").uncheck()
    assert tab.find(rows).count() == 0
    # A match looks its positions up; its moves lead to the board.
    tab.start(game, ("person", ""))
    assert tab.state() == "asking"
    tab.find("#look-up").check()
    tab.page.wait_for_function("() => document.querySelector('#openings-note').textContent")
    hidden = "hidden until the game is over" in tab.find("#openings-note").inner_text()
    assert hidden == (game == "connexion")
    if game in {"ataxx", "ugolki", FIFTH}:  # all games start alike
        tab.find(f"{rows} a").first.click()
        tab.find("#line .chip").wait_for()
        tab.find("#openings-games a").first.wait_for()
    assert tab.faults == []
    context.close()


@pytest.mark.parametrize("game", ["ataxx", "connexion", "ugolki"])
def test_a_position_is_looked_up(browser: Any, server: Server, game: str) -> None:
    look_up(browser, server, game)


def test_a_position_of_the_fifth_is_looked_up(browser: Any, fifth: Server) -> None:
    look_up(browser, fifth, FIFTH)
