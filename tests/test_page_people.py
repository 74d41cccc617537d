"""The page for humans: names, a rematch, animated moves, and seats for others by link."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from quartet import registry
from tests.page import Server, Tab, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow
NAME = 'Ада "Л." 엄마]'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("page")) as server:
        yield server


def resign(tab: Tab) -> None:
    for _ in range(2):
        tab.find("#resign").click()
    tab.find('#status[data-state="over"]').wait_for()


def players(tab: Tab) -> list[str | None]:
    match = tab.page.url.rpartition("/")[2]
    found: list[str | None] = tab.ask(f"matches/{match}")["view"]["players"]
    return found


@pytest.mark.parametrize("game", registry.GAMES)
def test_a_name_is_remembered_and_saved(tab: Tab, game: str, tmp_path: Path) -> None:
    """The page, saved files, and their reviews show a human's name; the next form suggests it."""
    tab.find(f'input[value="{game}"]').check()
    tab.find("#seat0").select_option("person")
    tab.find("#name0").fill(NAME)
    tab.find("#seat1").select_option("engine:random")
    tab.find("#start").click()
    assert tab.state() == "asking"
    assert NAME in tab.find("section.players").inner_text()
    assert NAME in tab.find("#status").inner_text()
    choice = next(c for c in tab.asking()["position"]["choices"] if c["parts"] != ["pass"])
    tab.find("#typed").fill(choice["move"])
    tab.page.keyboard.press("Enter")
    tab.wait_turns(2)
    tab.state()
    resign(tab)
    with tab.page.expect_download() as saved:
        tab.find("#save").click()
    saved.value.save_as(tmp_path / "saved.txt")
    tab.go("#/")
    tab.find("#lobby").wait_for()
    assert tab.find("#name0").input_value() == NAME
    tab.go("#/review")
    tab.find("#pick").set_input_files(str(tmp_path / "saved.txt"))
    tab.find("#now").wait_for()
    assert NAME in tab.find("section.players").inner_text()


def test_a_rematch_rotates_the_seats(tab: Tab, browser: Any) -> None:
    """Every tab of the finished game goes to it, and it begins only once."""
    tab.start("ataxx", ("person", ""), ("engine:greedy", "nodes:50"))
    assert tab.state() == "asking"
    assert not tab.find("#rematch").is_visible()
    other = Tab(tab.page.context, tab.server)
    first = tab.page.url
    other.page.goto(first)
    assert other.state() == "asking"
    resign(tab)
    tab.find("#rematch").click()
    other.page.wait_for_url(lambda url: url != first)
    for one in (tab, other):
        one.find('#status:not([data-state="over"])').wait_for()
    assert other.state() == tab.state() == "asking"
    tab.page.wait_for_url(other.page.url)
    assert players(tab) == ["greedy", "human"]
    second = tab.page.url
    tab.page.goto(first)
    tab.find("#rematch").click()
    tab.page.wait_for_url(second)
    assert other.faults == []


def test_a_rematch_of_four_from_a_position(tab: Tab) -> None:
    tab.start(
        "ugolki", ("person", ""), ("engine:greedy", ""), ("engine:random", ""), ("nobody", "")
    )
    assert tab.state() == "asking"
    before, first = players(tab), tab.page.url
    resign(tab)
    tab.find("#rematch").click()
    tab.page.wait_for_url(lambda url: url != first)
    assert players(tab) == [before[3], *before[:3]]


# Animated moves.

COUNTED = """
    window.animations = 0;
    const { animate } = Element.prototype;
    Element.prototype.animate = function (...args) {
        window.animations++;
        return animate.apply(this, args);
    };
    performance.now = () => 0;
"""
"""Count all animations. The clock stands still, because the page omits one that starts late."""
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.mark.parametrize(
    ("game", "motion"),
    [*((game, "no-preference") for game in registry.GAMES), ("ataxx", "reduce")],
)
def test_moves_are_animated(browser: Any, server: Server, game: str, motion: Any) -> None:
    """Forwards, backwards and for a new move, unless the user wants less motion."""
    context = browser.new_context(locale="en-GB", reduced_motion=motion)
    context.add_init_script(COUNTED)
    tab = Tab(context, server)
    tab.enter()
    tab.find(f'input[value="{game}"]').check()
    for seat in range(tab.find(".seat-row").count()):
        tab.find(f"#seat{seat}").select_option("person")
    tab.find("#start").click()
    assert tab.state() == "asking"
    for key, step in ((None, "1"), ("[", "0"), ("]", "1")):
        tab.page.evaluate("window.animations = 0")
        if key is None:
            move(tab)
        else:
            tab.page.keyboard.press(key)
        expect(tab.find("#slider")).to_have_value(step)
        tab.page.evaluate(DRAWN)
        assert (tab.page.evaluate("window.animations") > 0) == (motion == "no-preference")
    tab.page.keyboard.press("End")
    tab.page.wait_for_function(
        "() => !document.querySelector('#board').getAnimations({ subtree: true }).length"
    )
    pieces = tab.find("svg.board .piece").count()
    tab.page.keyboard.press("Home")
    tab.page.keyboard.press("End")
    assert tab.find("svg.board .piece").count() == pieces
    assert tab.faults == []
    context.close()


# A human at another browser, by a link to a seat.


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for other machines."""
    with serving(tmp_path_factory.mktemp("page"), "--host", "0.0.0.0") as server:  # noqa: S104
        yield server


@contextmanager
def guest(browser: Any, server: Server, link: str) -> Iterator[Tab]:
    """A tab of a browser that has only the link to a seat."""
    context = browser.new_context(locale="en-GB")
    tab = Tab(context, server)
    tab.page.goto(link)
    tab.find("#status").wait_for()
    yield tab
    assert tab.faults == []
    context.close()


def links(tab: Tab) -> list[str]:
    return [field.input_value() for field in tab.find("[data-link]").all()]


def move(tab: Tab) -> None:
    """Play a move that is no pass."""
    before = tab.turns
    choice = next(c for c in tab.asking()["position"]["choices"] if c["parts"] != ["pass"])
    for part in choice["parts"]:
        tab.page.mouse.click(*tab.place(part))
    tab.wait_turns(before + 1)


@pytest.mark.parametrize("game", ["ataxx", "ugolki"])
def test_a_guest_plays_by_link(browser: Any, shared: Server, game: str) -> None:
    """At a table for two and for four, each human moves only at the own seat, and the rematch
    keeps the link."""
    context = browser.new_context(locale="en-GB")
    tab = Tab(context, shared)
    tab.enter()
    tab.find(f'input[value="{game}"]').check()
    for seat in range(2, tab.find(".seat-row").count()):
        tab.find(f"#seat{seat}").select_option("nobody")
    tab.find("#seat0").select_option("person")
    tab.find("#name0").fill("Ada")
    tab.find("#seat1").select_option("guest")
    tab.find("#name1").fill("Grace")
    tab.find("#start").click()
    assert tab.state() == "asking"
    (link,) = links(tab)
    assert not tab.find("#undo").is_visible()
    assert not tab.find("#hint").is_visible()
    with guest(browser, shared, link) as other:
        assert "token" not in other.page.url
        assert other.page.url.endswith(tab.page.url.partition("#")[2])
        other.find('#status[data-state="away"]').wait_for()
        assert "Waiting for" in other.find("#status").inner_text()
        assert "Ada" in other.find("#status").inner_text()
        assert other.find("svg.board .start").count() == 0
        for control in ("#end", "#pace-run", "#to-review", "#play-on", "#undo", "#hint", "#invite"):
            assert not other.find(control).is_visible(), control
        assert other.find("nav a").count() == 0
        move(tab)
        assert other.state() == "asking"
        tab.find('#status[data-state="away"]').wait_for()
        assert tab.find("svg.board .start").count() == 0
        move(other)
        assert tab.state() == "asking"
        other.page.reload()
        other.wait_turns(2)
        for _ in range(2):  # it counts at the guest's next turn
            other.find("#resign").click()
        move(tab)
        if tab.state() == "asking":  # the others play on at a table for more than two
            resign(tab)
        assert not other.find("#rematch").is_visible()
        first = tab.page.url
        tab.find("#rematch").click()
        tab.page.wait_for_url(lambda url: url != first)
        other.page.wait_for_url("**" + tab.page.url.partition("#")[2])
        for one in (tab, other):
            one.find('#status:not([data-state="over"])').wait_for()
        assert "Grace" in (players(tab)[0] or players(tab)[2] or "")
        assert links(tab) == [link]
        if players(tab)[0] == "Grace":
            assert other.state() == "asking"
            move(other)
        other.page.goto(link.partition("?")[0])
        other.find("#matches a").first.wait_for()
        assert other.find("#matches a").count() == 2
    assert tab.faults == []
    context.close()


def test_two_guests_at_a_table_of_four(browser: Any, shared: Server) -> None:
    context = browser.new_context(locale="en-GB")
    tab = Tab(context, shared)
    tab.enter()
    tab.start("ugolki", ("person", ""), ("guest", ""), ("engine:greedy", "nodes:50"), ("guest", ""))
    assert tab.state() == "asking"
    first, second = links(tab)
    with guest(browser, shared, first) as one, guest(browser, shared, second) as two:
        for turn in range(3):
            assert tab.state() == "asking"
            move(tab)
            assert one.state() == "asking"
            assert two.find("#status").get_attribute("data-state") != "asking"
            move(one)
            assert two.state() == "asking"
            move(two)
            tab.wait_turns(4 * turn + 4)
        assert tab.find("#files").is_visible()
        assert not one.find("#files").is_visible(), "a guest may not read them"
    assert tab.faults == []
    context.close()
