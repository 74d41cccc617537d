"""Whole games by mouse, games by touch and by keys alone, also in a new game; misbehaving
programs."""

from __future__ import annotations

import sys
from math import inf
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from quartet import registry
from tests import checkout
from tests.games import ROOT
from tests.page import Server, Tab, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.slow
PROGRAMS = ROOT / "tests" / "programs"
LINES = ROOT / "tests" / "programs_lines" / "play.py"
SHORT = {"moves": 4}
"""Options that make a game short, if it has them."""
FIFTH = checkout.FIFTH


def programs() -> list[str]:
    """Return the command-line options that name misbehaving programs."""
    python = sys.executable
    named = {
        "crash": f"{python} {PROGRAMS / 'crash.py'} 3",
        "stall": f"{python} {PROGRAMS / 'stall.py'}",
        "flood": f'{python} {LINES} 1 "flood"',
    }
    return [word for name, command in named.items() for word in ("--player", f"{name}={command}")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("page"), *programs()) as server:
        yield server


@pytest.fixture(scope="module")
def fifth(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of a checkout with a fifth game."""
    house = checkout.with_new_game(tmp_path_factory.mktemp("fifth") / "checkout", FIFTH)
    with serving(house, house=house) as server:
        yield server


def by_mouse(tab: Tab, random: Random) -> None:
    choice = random.choice(tab.asking()["position"]["choices"])
    for part in choice["parts"]:
        tab.page.mouse.click(*tab.place(part))


def by_touch(tab: Tab, random: Random) -> None:
    choice = random.choice(tab.asking()["position"]["choices"])
    for part in choice["parts"]:
        tab.page.touchscreen.tap(*tab.place(part))


def by_keys(tab: Tab, random: Random) -> None:
    """Press random arrows and Enter until a move is complete."""
    before = tab.turns
    if tab.page.evaluate("() => document.activeElement.id") != "board":
        for _ in range(100):
            tab.page.keyboard.press("Tab")
            if tab.page.evaluate("() => document.activeElement.id") == "board":
                break
    for _ in range(3):
        for _ in range(random.randint(1, 4)):
            tab.page.keyboard.press(random.choice(["ArrowRight", "ArrowDown", "ArrowLeft"]))
        tab.page.keyboard.press("Enter")
        if tab.find("svg.board .taken").count() == 0:
            break
    tab.wait_turns(before + 1)


def play(tab: Tab, game: str, way: Callable[[Tab, Random], None], most: float = inf) -> int:
    """Play a game to its end, or to `most` moves of the human; return their number."""
    known = next(g for g in tab.ask("games")["games"] if g["name"] == game)
    tab.go("#/")
    tab.find(f'input[value="{game}"]').check()
    names = [player["name"] for player in known["built_in"]]
    other = "engine:" + ("greedy" if "greedy" in names else names[0])
    others = [other, "nobody", "nobody"] if known["empty_seats"] else [other]
    tab.find("#seat0").select_option("person")
    for seat, player in enumerate(others[: known["players"] - 1], 1):
        tab.find(f"#seat{seat}").select_option(player)
    if any(option["name"] in SHORT for option in known["options"]):
        tab.find("#more summary").click()
        for name, value in SHORT.items():
            tab.find(f'[data-option="{name}"]').fill(str(value))
    tab.find("#start").click()
    random, moves = Random(7), 0
    while tab.state() == "asking" and moves < most:
        before = tab.turns
        way(tab, random)
        tab.wait_turns(before + 1)
        moves += 1
    return moves


WAYS = {"mouse": by_mouse, "touch": by_touch, "keys": by_keys}


def check_game(browser: Any, server: Server, game: str, way: str) -> None:
    """Play a game and look at it. By touch and by keys, a long one is resigned after 8 moves."""
    context = browser.new_context(has_touch=way == "touch", locale="en-GB")
    tab = Tab(context, server)
    tab.enter()
    assert play(tab, game, WAYS[way], most=inf if way == "mouse" else 8) > 1
    if tab.state() == "asking":
        for _ in range(2):
            tab.find("#resign").click()
        tab.find('#status[data-state="over"]').wait_for()
    assert tab.find("#status").inner_text() != ""
    # Every position can be shown afterwards.
    tab.find("#first").click()
    assert tab.find("#slider").input_value() == "0"
    tab.find("#to-review").click()
    tab.find("#now").wait_for()
    assert tab.turns > 1
    assert tab.faults == []
    context.close()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("game", registry.GAMES)
def test_a_game(browser: Any, server: Server, game: str, way: str) -> None:
    check_game(browser, server, game, way)


@pytest.mark.parametrize("way", WAYS)
def test_a_game_of_the_fifth(browser: Any, fifth: Server, way: str) -> None:
    check_game(browser, fifth, FIFTH, way)


def test_the_fifth_game_has_rules_and_a_score_in_english(browser: Any, fifth: Server) -> None:
    """Its words are English where the page is Russian."""
    context = browser.new_context(locale="ru")
    tab = Tab(context, fifth)
    tab.enter()
    tab.find(f'input[value="{FIFTH}"]').check()
    tab.find(f'[data-game="{FIFTH}"] #rules summary').click()
    tab.find("#rules svg.board").nth(1).wait_for()
    assert "Put a piece on an empty cell" in tab.find("#rules").inner_text()
    assert tab.find("#rules summary").inner_text() == "Как играть"
    play(tab, FIFTH, by_mouse)
    assert "lines: " in tab.find("#counting").inner_text()
    assert tab.faults == []
    context.close()


@pytest.mark.parametrize(
    ("game", "program", "verdict"),
    [
        ("ugolki", "stall", "too late"),
        ("ataxx", "crash", "crashed"),
        ("ataxx", "flood", ""),
    ],
)
def test_a_misbehaving_program_is_shown_with_the_reason(
    browser: Any, server: Server, game: str, program: str, verdict: str
) -> None:
    context = browser.new_context(locale="en-GB")
    tab = Tab(context, server)
    tab.enter()
    known = next(g for g in tab.ask("games")["games"] if g["name"] == game)
    tab.find(f'input[value="{game}"]').check()
    players = [f"program:{program}", "engine:greedy", "nobody", "nobody"][: known["players"]]
    for seat, player in enumerate(players):
        tab.find(f"#seat{seat}").select_option(player)
    tab.find("#more summary").click()
    tab.find("#clock").fill("2" if game == "ataxx" else "0.5")
    for name, value in SHORT.items():
        if any(option["name"] == name for option in known["options"]):
            tab.find(f'[data-option="{name}"]').fill(str(value))
    tab.find("#start").click()
    tab.find('#status[data-state="over"]').wait_for()
    assert tab.find("#moves .foul").count() > 0
    assert verdict in tab.find("#moves .reason").first.inner_text()
    assert tab.faults == []
    # Another match can be played afterwards.
    assert play(tab, "ataxx", by_mouse) > 1
    context.close()
