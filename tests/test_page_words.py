"""Every view of the page in Russian and Korean: no text is left in English."""

from __future__ import annotations

import os
import re
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest

from quartet import registry
from quartet.judge import game as games
from tests.games import ROOT
from tests.page import Server, Tab, quartet, serving, sprt
from tests.test_words import translated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow
LANGUAGES = ("ru", "ko")
CRASH = f"crash={sys.executable} {ROOT / 'tests' / 'programs' / 'crash.py'} 3"
ALLOWED = {
    *("Enter", "Escape", "Tab", "Home", "End"),  # keys
    *(
        "quartet",
        "serve",
        "host",
        "crash",
        "first",
        "txt",
        "one",
        "two",
        *LANGUAGES,
        "QUARTET",
        "THREADS",
    ),  # names
    *("MOVE", "PUT"),  # notation of moves
    *("LLR", "H0", "H1", "Elo", "ASCII", "MB", "ms", "input", "output"),
}
"""Words in Latin letters that every language has: keys, names, notation, units."""
ALLOWED |= {
    word
    for game in {*registry.GAMES}
    - {game for language in LANGUAGES for game in translated(language)}
    for word in re.findall(r"[A-Za-z][A-Za-z0-9]+", games.load(game).info.title)
}
NOTATION = re.compile(r"'[^']*'|\b[a-f][1-6][+-]|\b[RGBY][1-4]\b")
"""What a user has typed, cells and tiles."""
SHOWN = """() => {
    const found = [], latin = text => /[A-Za-z]{2}/.test(text) && found.push(text.trim());
    const own = node => node.closest('[translate="no"]') ||
        node.closest("[lang]")?.lang !== document.documentElement.lang;
    const seen = node => node.checkVisibility({ visibilityProperty: true }) || node.closest("select")?.checkVisibility();
    for (const node of document.querySelectorAll("body, body *")) {
        if (own(node) || !seen(node) || ["SCRIPT", "STYLE"].includes(node.tagName)) continue;
        for (const child of node.childNodes) if (child.nodeType === Node.TEXT_NODE) latin(child.data);
        for (const name of ["title", "aria-label", "aria-valuetext", "placeholder", "alt", "label"])
            latin(node.getAttribute(name) ?? "");
    }
    latin(document.title.replace("quartet", ""));
    return found;
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("words")
    assert quartet(folder, *sprt(12)).wait(120) in (0, 1)
    with serving(folder, "--runs", "runs", "--player", CRASH) as server:
        yield server


RUSSIAN, KOREAN = (
    pytest.mark.parametrize("tab", [language], indirect=True) for language in LANGUAGES
)
"""A test has one of the languages: text that is left in English is so in both of them, and
tests/test_words.py compares their words."""
BY_GAME = pytest.mark.parametrize(
    ("tab", "game"),
    [
        (language, game)
        for number, game in enumerate(registry.GAMES)
        if game in translated(language := LANGUAGES[number % 2])
    ],
    indirect=["tab"],
)
"""Every translated game, in one of the languages."""


@pytest.fixture
def tab(request: pytest.FixtureRequest, browser: Any, server: Server) -> Iterator[Tab]:
    context = browser.new_context(locale=request.param)
    tab = Tab(context, server)
    tab.enter()
    yield tab
    assert tab.faults == []
    context.close()


def english(tab: Tab) -> list[str]:
    """Return the visible texts with words in Latin letters that are not allowed."""
    return [
        text
        for text in dict.fromkeys(tab.page.evaluate(SHOWN))
        if {*re.findall(r"[A-Za-z][A-Za-z0-9]+", NOTATION.sub("", text))} - ALLOWED
    ]


def test_english_is_found(browser: Any, server: Server) -> None:
    """The check is not blind: in English it finds texts of every kind."""
    context = browser.new_context(locale="en")
    tab = Tab(context, server)
    tab.enter()
    found = english(tab)
    assert {"New game", "Theme", "Player on seat 1", "Built-in players", "greedy"} <= {*found}
    assert any(text.startswith("Ataxx") for text in found)
    context.close()


@RUSSIAN
def test_the_number_of_a_line_does_not_disturb_a_translation(tab: Tab) -> None:
    """Every text of the server is translated behind "line 5: " as it is without."""
    differ = """async () => {
        const { word } = await import("./static/language.js");
        const texts = Object.keys(await (await fetch("api/words/ru")).json());
        return texts.filter(text => !text.startsWith("line "))
            .map(text => text.replaceAll("{}", "7"))
            .filter(text => word("line 5: " + text) !== word("line 5: @").replace("@", word(text)));
    }"""
    assert tab.page.evaluate(differ) == []


def complaint(tab: Tab) -> None:
    """Wait for the message of a refused request, and check it."""
    tab.find("#said.bad:not(:empty)").wait_for()
    assert english(tab) == []


@BY_GAME
def test_a_game_is_set_up_played_and_reviewed(tab: Tab, game: str) -> None:
    tab.go("#/")
    tab.find(f'input[value="{game}"]').check()
    tab.find("#more summary").click()
    players = tab.find("#seat0 option").evaluate_all("all => all.map(o => o.value)")
    for player in players:
        tab.find("#seat0").select_option(player)
        tab.page.wait_for_timeout(100)
        for options in tab.find(".engine-options:not([open]) summary").all():
            if options.is_visible():
                options.click()
        assert english(tab) == [], player
    tab.find("#rules summary").click()
    tab.find("#rules svg.board").first.wait_for()
    assert english(tab) == []
    known = next(g for g in tab.ask("games")["games"] if g["name"] == game)
    empty = ["nobody"] * (known["players"] - 2)
    tab.start(
        game, ("person", ""), ("engine:greedy", "nodes:50"), *[(player, "") for player in empty]
    )
    assert tab.state() == "asking"
    assert english(tab) == []
    tab.find("#hint").click()
    tab.find("svg.board .hint").first.wait_for()
    assert english(tab) == []
    for wrong in ("x", "9 9 9 9", "put a1+ R9", "5 5 5 5"):
        tab.find("#said").evaluate("line => line.replaceChildren()")
        tab.find("#typed").fill(wrong)
        tab.page.keyboard.press("Enter")
        complaint(tab)
    tab.find("#typed").fill("")
    tab.find("#board").focus()
    for key in ("ArrowRight", "Enter", "Enter"):
        tab.page.keyboard.press(key)
    tab.find("#resign").click()
    assert english(tab) == []
    tab.find("#resign").click()
    tab.find('#status[data-state="over"]').wait_for()
    tab.find("#counting").wait_for()
    assert english(tab) == []
    tab.find("#to-review").click()
    tab.find("#sums:not([hidden]), #progress.bad").first.wait_for()
    for _ in range(3):
        assert english(tab) == []
        tab.page.keyboard.press("ArrowRight")
        tab.page.wait_for_timeout(200)
    tab.page.keyboard.press("Home")
    tab.find("#engine").click()
    tab.find(".engine-line").first.wait_for()
    assert english(tab) == []


@KOREAN
def test_a_game_between_programs(tab: Tab) -> None:
    tab.start("ugolki", ("program:crash", ""), *[("engine:random", "")] * 3)
    tab.wait_turns(9)
    tab.find("#files summary").click()
    tab.find("#files pre").first.wait_for()
    assert tab.find("#moves .reason").count() > 0
    assert english(tab) == []
    tab.go("#/watch")
    tab.find(".mini, #finished li a").first.wait_for()
    assert english(tab) == []
    tab.start("ataxx", ("program:crash", ""), ("engine:random", "nodes:50"))
    tab.find('#status[data-state="over"]').wait_for()
    assert english(tab) == []


@BY_GAME
def test_a_position_is_set_up(tab: Tab, game: str) -> None:
    """It is refused, analysed, and looked up in games, too."""
    tab.go(f"#/board?game={game}")
    tab.find("#board .cell").first.wait_for()
    assert english(tab) == []
    tab.find("#look-up").check()
    tab.find("#openings-note:not(:empty)").wait_for()
    assert english(tab) == []
    tab.find("#engine").click()
    tab.find("#analysis .engine-line").first.wait_for()
    assert english(tab) == []
    tab.find("#engine").click()
    tab.find("#edit").click()
    tab.find(".palette button").first.wait_for()
    assert english(tab) == []
    tab.find("#as-text summary").click()
    tab.find("#position").fill("nonsense")
    tab.find("#set-text").click()
    tab.find("#complaint:not(:empty)").wait_for()
    tab.find("#position").fill("")
    assert english(tab) == []
    tab.find("#clear").click()
    tab.page.wait_for_timeout(300)
    assert english(tab) == []


@RUSSIAN
def test_an_exercise(tab: Tab) -> None:
    """Random moves are mistakes to find better moves for."""
    tab.start("ataxx", ("engine:random", "nodes:50"), ("engine:greedy", "nodes:50"), seed="1")
    tab.state()
    tab.find("#to-review").click()
    tab.find("#sums:not([hidden])").wait_for()
    tab.page.keyboard.press("n")
    tab.page.keyboard.press("b")
    assert english(tab) == []
    tab.find("#exercise-start").click()
    tab.find("#exercise-text").wait_for()
    assert english(tab) == []
    tab.find("#board.choosing").wait_for()
    tab.find("#board").focus()
    for key in ("ArrowRight", "Enter", "Enter", "Enter"):
        tab.page.keyboard.press(key)
        tab.page.wait_for_timeout(100)
    tab.find("#exercise-said").wait_for()
    assert english(tab) == []
    tab.find("#exercise-show, #exercise-next").first.click()
    assert english(tab) == []


@KOREAN
def test_the_board(tab: Tab) -> None:
    tab.go("#/board?run=one&number=0&step=0")
    tab.find("#look-up").check()
    tab.find("#openings-games a").first.wait_for()
    assert english(tab) == []
    tab.find("#edit").click()
    tab.find("[data-brush]").first.wait_for()
    assert english(tab) == []


@RUSSIAN
def test_runs_and_logs(tab: Tab, tmp_path: Path) -> None:
    tab.go("#/runs")
    tab.find("#runs-table td").first.wait_for()
    assert english(tab) == []
    for name in ("standings", "crosstable", "games", "charts", "plan"):
        tab.go(f"#/run/one?tab={name}")
        tab.find(f'#tab-{name}[aria-selected="true"]').wait_for()
        tab.find("#run-body table, #run-body canvas, #run-body pre").first.wait_for()
        assert english(tab) == [], name
    tab.find("#results").uncheck()
    tab.go("#/run/one?tab=charts")
    tab.find("#hidden-results").wait_for()
    assert english(tab) == []
    tab.go("#/review")
    tab.find("#drop").wait_for()
    for text in ("", "nonsense", '{"version": 1}', "INIT x", "FIRST 1 1 2 2 50"):
        (tmp_path / "first.txt").write_text(text)
        tab.find("#pick").set_input_files(str(tmp_path / "first.txt"))
        tab.find("#logs .bad").first.wait_for()
        assert english(tab) == [], text
    for place in ("#/nowhere", "#/match/none", "#/run/none", "#/review?log=none"):
        tab.go(place)
        tab.find("main .bad").wait_for()
        assert english(tab) == [], place


@KOREAN
def test_a_running_game_of_a_run(tab: Tab, server: Server) -> None:
    # A run of one language is killed, but the page lists its last game for some seconds. So the
    # next language needs another run, and waits until that one has begun.
    name = f"two-{tab.page.evaluate('document.documentElement.lang')}"
    run = quartet(server.folder, *sprt(100_000)[:-1], f"runs/{name}")
    try:
        for place, link in (
            ("#/watch", f'#live-games a[href*="{name}"]'),
            (f"#/run/{name}", "#run-live a"),
        ):
            tab.go(place)
            tab.find(link).first.wait_for()
            assert english(tab) == [], place
        tab.go("#/runs")
        tab.find(f'#runs-table a[href$="{name}"]').wait_for()
        assert english(tab) == []
        for part in ("standings", "crosstable", "games", "charts"):  # results are hidden
            tab.go(f"#/run/{name}?tab={part}")
            tab.find(f'#tab-{part}[aria-selected="true"]').wait_for()
            assert english(tab) == [], part
        tab.find("#run-live a").first.click()
        tab.wait_turns(3)
        assert english(tab) == []
    finally:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()


@RUSSIAN
def test_a_guest(tab: Tab, browser: Any, server: Server) -> None:
    """What the host and the guest see, while they wait, play, and after the game."""
    tab.start("ataxx", ("person", ""), ("guest", ""))
    assert tab.state() == "asking"
    locale = tab.page.evaluate("document.documentElement.lang")
    context = browser.new_context(locale=locale)
    guest = Tab(context, server)
    guest.page.goto(tab.find("[data-link]").input_value())
    guest.find('#status[data-state="away"]').wait_for()
    assert english(tab) == english(guest) == []
    for cell in ("1 1", "2 2"):
        tab.page.mouse.click(*tab.place(cell))
    assert guest.state() == "asking"
    tab.find('#status[data-state="away"]').wait_for()
    assert english(tab) == english(guest) == []
    for _ in range(2):
        guest.find("#resign").click()
    for one in (guest, tab):
        one.find('#status[data-state="over"]').wait_for()
    assert english(tab) == english(guest) == []
    guest.page.goto(server.base)
    guest.find("#matches a").wait_for()
    assert english(guest) == []
    guest.page.goto(server.base + "#/runs")
    guest.page.reload()
    guest.find("#main > *").first.wait_for()
    assert english(guest) == []
    assert guest.faults == []
    context.close()


@KOREAN
def test_lists_after_a_restart(tab: Tab, server: Server, tmp_path: Path) -> None:
    """Finished and running games, logs and reviews; and a tab without server or access."""
    tab.start("ataxx", ("person", ""), ("engine:greedy", "nodes:50"))
    tab.state()
    tab.start("connexion", ("engine:greedy", "nodes:50"), ("program:crash", ""))
    tab.find('#status[data-state="over"]').wait_for()
    with tab.page.expect_download() as saved:
        tab.find("#save").click()
    saved.value.save_as(tmp_path / "first.txt")
    tab.go("#/review")
    tab.find("#pick").set_input_files(str(tmp_path / "first.txt"))
    tab.find("#sums:not([hidden]), #progress.bad").first.wait_for()
    server.end()
    tab.go("#/watch")
    tab.find("#offline:not([hidden])").wait_for()
    assert english(tab) == []
    server.begin()
    for place, found in (
        ("#/watch", "#finished a"),
        ("#/review", "#logs a"),
        ("#/", "#going a"),
    ):
        tab.go(place)
        tab.find(found).first.wait_for()
        assert english(tab) == [], place
    tab.page.context.clear_cookies()
    tab.go("#/watch")
    tab.find("#offline:not([hidden])").wait_for()
    assert english(tab) == []
