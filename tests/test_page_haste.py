"""The page with damaged addresses, slow answers and impatient users."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.page import Server, Tab, quartet, serving, sprt

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow
SLOW = 700
"""Milliseconds of a slow answer."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("haste")
    assert quartet(folder, *sprt(2)).wait(120) in (0, 1)
    with serving(folder, "--runs", "runs") as server:
        yield server


@pytest.fixture
def ended(tab: Tab) -> str:
    """The id of a match that has ended."""
    tab.start("ataxx", ("person", ""), ("engine:greedy", "nodes:50"))
    assert tab.state() == "asking"
    tab.find("#resign").click()
    tab.find("#resign").click()
    tab.find('#status[data-state="over"]').wait_for()
    return str(tab.page.url.rpartition("/")[2])


def held(tab: Tab, pattern: str) -> None:
    """Delay the answers to the requests of a tab that match a pattern."""

    def later(route: Any) -> None:
        tab.page.wait_for_timeout(SLOW)
        route.continue_()

    tab.page.route(pattern, later)


def count(tab: Tab) -> int:
    """Return the number of matches of the server."""
    return len(tab.ask("matches")["matches"])


def test_a_damaged_address_shows_one_line(tab: Tab) -> None:
    for view in (
        *("#/match/%", "#/match/", "#/run/%E0%A4%A", "#/run/", "#/live/one", "#/live/one/x"),
        *("#/review?run=one&number=x", "#/__proto__", "#/constructor"),
    ):
        tab.page.goto("about:blank")
        tab.go(view)
        tab.find("main .bad").wait_for()
        assert tab.find("#top nav a").count() > 0, view
        assert "Expected" not in tab.find("main .bad").inner_text(), view


def test_a_review_with_a_damaged_step_opens_at_the_start(tab: Tab) -> None:
    for step in ("x", "1.5", "-1"):
        tab.page.goto("about:blank")
        tab.go(f"#/review?run=one&number=0&nodes=20&step={step}")
        tab.find("#sums:not([hidden])").wait_for()
        expect(tab.find("#slider")).to_have_value("0")


@pytest.mark.parametrize(
    ("late", "requests"),
    [
        ("#/runs", "**/api/runs"),
        ("#/review?run=one&number=0&nodes=20", "**/api/view*"),
        ("#/run/one", "**/api/runs/one"),
        ("#/live/one/0", "**/api/view*"),
        ("#/board?game=ataxx", "**/api/position"),
    ],
)
def test_a_view_that_is_late_does_not_mix_with_the_next(tab: Tab, late: str, requests: str) -> None:
    held(tab, requests)
    tab.page.evaluate("at => { location.hash = at; }", late)
    tab.page.wait_for_timeout(100)
    tab.page.evaluate("() => { location.hash = '#/watch'; }")
    tab.find("#finished").wait_for()
    tab.page.wait_for_timeout(SLOW + 500)
    assert tab.find("#main h1").all_inner_texts() == ["Running games"]
    assert tab.page.url.endswith("#/watch")
    assert tab.page.title() == "quartet"


def test_a_second_click_starts_no_second_game(tab: Tab) -> None:
    asked: list[str] = []
    tab.page.on("request", lambda request: asked.append(f"{request.method} {request.url}"))
    tab.find("#start").dblclick()
    tab.find("#status").wait_for()
    assert len([line for line in asked if re.search(r"POST .*/api/matches$", line)]) == 1
    tab.go("#/")
    expect(tab.find("#start")).to_be_enabled()


@pytest.mark.parametrize(
    ("field", "wrong"), [("#clock", "-5"), ("#clock", "1e13"), ("#seed", "99999999999")]
)
def test_a_wrong_setting_in_a_closed_box_is_shown(tab: Tab, field: str, wrong: str) -> None:
    """A browser shows its message next to the field, so the box must be open."""
    before = count(tab)
    tab.find("#more summary").click()
    tab.find(field).fill(wrong)
    tab.find("#more summary").click()
    assert not tab.find(field).is_visible()
    tab.find("#start").click()
    expect(tab.find(field)).to_be_focused()
    assert count(tab) == before


def test_the_language_chosen_last_counts(tab: Tab) -> None:
    held(tab, "**/api/words/ru")
    tab.find("#language").select_option("ru")
    tab.find("#language").select_option("ko")
    tab.find('h1:text-is("새 대국")').wait_for()
    tab.page.wait_for_timeout(SLOW + 300)
    expect(tab.find("h1")).to_have_text("새 대국")
    assert tab.page.evaluate("() => document.documentElement.lang") == "ko"


def test_a_language_that_cannot_be_loaded_changes_nothing(tab: Tab) -> None:
    """The page keeps its texts, and works when the server is there again."""
    tab.page.route("**/messages/ru.json", lambda route: route.abort())
    tab.find("#language").select_option("ru")
    tab.find("#said.bad:not(:empty)").wait_for()
    assert "does not answer" in tab.find("#said").inner_text()
    expect(tab.find("#language")).to_have_value("en")
    tab.page.unroute("**/messages/ru.json")
    tab.go("#/runs")
    tab.find("#runs-table").wait_for()
    tab.find("#language").select_option("ru")
    tab.find('h1:text-is("Серии")').wait_for()
    tab.faults = [fault for fault in tab.faults if "ERR_FAILED" not in fault]


def test_a_listed_review_opens_with_its_nodes(tab: Tab, ended: str) -> None:
    for source in ("run=one&number=0", f"match={ended}"):
        tab.go(f"#/review?{source}&nodes=37")
        tab.find("#sums:not([hidden])").wait_for()
        reviews = len(tab.ask("reviews")["reviews"])
        tab.go("#/review")
        line = tab.find("#reviews li").first
        line.wait_for()
        assert "37 nodes" in line.inner_text()
        assert ("one #0" in line.inner_text()) == source.startswith("run")
        line.locator("a").click()
        tab.find("#sums:not([hidden])").wait_for()
        assert "37 nodes" in tab.find("#sums").inner_text()
        assert len(tab.ask("reviews")["reviews"]) == reviews


def test_numbers_can_be_read(tab: Tab) -> None:
    """No sign before 0, and no two numbers that look like one: thousands are spaced in Russian."""
    tab.find("#language").select_option("ru")
    tab.find('h1:text-is("Новая партия")').wait_for()
    zero = "async () => (await import('/static/language.js')).number(-0.001)"
    assert tab.page.evaluate(zero) == "0"
    info = "async () => (await import('/static/game.js')).infoText({ depth: 5, nps: 404000, line: [] })"
    assert tab.page.evaluate(info).startswith("глубина 5, 404")


def test_a_refused_stream_is_asked_for_after_a_pause(tab: Tab) -> None:
    asked: list[str] = []

    def refuse(route: Any) -> None:
        asked.append(route.request.url)
        route.fulfill(status=400, json={"error": "refused"})

    tab.page.route("**/api/events?*", refuse)
    tab.start("ataxx", ("person", ""), ("engine:greedy", "nodes:50"))
    tab.page.wait_for_timeout(5000)
    assert len(asked) < 20, "without a pause, it would be many more"
    tab.page.unroute("**/api/events?*")
    assert tab.state() == "asking"


def cut_off(tab: Tab, pattern: str) -> None:
    """Let the requests that match a pattern fail, as without a server."""
    tab.page.route(pattern, lambda route: route.abort("connectionrefused"))


def move_on_board(tab: Tab) -> None:
    """Play a move of ataxx from its start on the analysis board."""
    for cell in ("1 1", "2 2"):
        tab.page.mouse.click(*tab.place(cell))


def test_a_move_that_the_server_did_not_get_is_not_kept(tab: Tab) -> None:
    """It can be played again, and a line can be cut again."""
    tab.go("#/board?game=ataxx")
    tab.find("#board .piece").first.wait_for()
    cut_off(tab, "**/api/position")
    move_on_board(tab)
    tab.find("#said.bad:not(:empty)").wait_for()
    tab.page.unroute("**/api/position")
    move_on_board(tab)
    tab.find("#line .chip").wait_for()
    assert tab.find("#line .chip").count() == 1
    cut_off(tab, "**/api/position")
    tab.find("#shorten").click()
    tab.find("#said.bad:not(:empty)").wait_for()
    tab.page.unroute("**/api/position")
    assert tab.find("#line .chip").count() == 1
    tab.find("#engine").click()
    tab.find(".engine-line .line-move").first.wait_for()
    tab.find("#engine").click()
    tab.find("#shorten").click()
    tab.find("#line .chip").wait_for(state="detached")


def test_an_edited_position_is_used_as_it_is_shown(tab: Tab) -> None:
    """Also if the server has not answered the last change."""
    tab.go("#/board?game=ataxx")
    tab.find("#edit").click()
    tab.find(".palette button").first.wait_for()
    tab.page.wait_for_timeout(SLOW)
    before = tab.find("#board .piece[data-at]").count()
    held(tab, "**/api/compose")
    tab.page.mouse.click(*tab.place("3 3"))
    expect(tab.find("#board .piece[data-at]")).to_have_count(before + 1)
    tab.find("#edit").click()
    tab.find(".palette").wait_for(state="hidden")
    expect(tab.find("#board .piece[data-at]")).to_have_count(before + 1)


def test_a_late_answer_replaces_neither_a_typed_text_nor_its_complaint(tab: Tab) -> None:
    tab.go("#/board?game=ataxx")
    tab.find("#as-text summary").click()
    asked: list[Any] = []

    def keep(route: Any) -> None:
        asked.append(route)
        if len(asked) == 1:  # for the palette
            route.continue_()

    tab.page.route("**/api/compose", keep)
    tab.find("#edit").click()
    tab.find(".palette button").first.wait_for()
    while len(asked) < 2:
        tab.page.wait_for_timeout(50)
    tab.find("#position").fill("nonsense")
    tab.find("#set-text").click()
    tab.find("#complaint:not(:empty)").wait_for()
    with tab.page.expect_response("**/api/compose"):
        asked[1].continue_()
    tab.page.wait_for_timeout(SLOW)
    expect(tab.find("#position")).to_have_value("nonsense")
    assert tab.find("#complaint").inner_text()


def running(tab: Tab) -> str:
    return str(tab.find("#engine").get_attribute("aria-pressed"))


def test_a_running_analysis_shows_no_lines_after_the_end_of_a_game(tab: Tab) -> None:
    """In a review and on the board; in the position before, it goes on."""
    turns = tab.ask("view?run=one&number=0")["turns"]
    tab.go(f"#/review?run=one&number=0&nodes=20&step={len(turns) - 1}")
    tab.find("#sums:not([hidden])").wait_for()
    tab.find("#engine").click()
    tab.find(".engine-line").first.wait_for()
    tab.find("#last").click()
    tab.find(".engine-line").first.wait_for(state="detached")
    tab.page.wait_for_timeout(SLOW)
    assert tab.find(".engine-line").count() == 0
    assert tab.find("#said").inner_text() == ""
    tab.find("#back").click()
    tab.find(".engine-line").first.wait_for()
    tab.go(f"#/board?run=one&number=0&step={len(turns) - 1}")
    tab.find("h1:has-text('Analysis board')").wait_for()
    tab.find("#engine").click()
    tab.find(".engine-line").first.wait_for()
    for cell in turns[-1]["parts"]:
        tab.page.mouse.click(*tab.place(cell))
    tab.find("#line .chip").wait_for()
    tab.find(".engine-line").first.wait_for(state="detached")
    assert tab.find("#board .move.hint").count() == 0
    assert running(tab) == "true"
    tab.find("#shorten").click()
    tab.find(".engine-line").first.wait_for()


def test_an_analysis_that_cannot_start_is_off(tab: Tab) -> None:
    """Its button starts it again."""
    tab.go("#/board?game=ataxx")
    tab.find("#board .piece").first.wait_for()
    cut_off(tab, "**/api/analyses")
    tab.find("#engine").click()
    tab.find("#said.bad:not(:empty)").wait_for()
    expect(tab.find("#engine")).to_have_attribute("aria-pressed", "false")
    tab.page.unroute("**/api/analyses")
    tab.find("#engine").click()
    tab.find(".engine-line").first.wait_for()
    assert running(tab) == "true"


def test_the_openings_are_those_of_the_shown_position(tab: Tab) -> None:
    """Also while games are being read, and if another position is in equally many games."""

    def answer(route: Any) -> None:
        length = len(route.request.post_data_json["from"].get("moves", []))
        total = {"games": 2, "share": 0.5}
        moves = [{**total, "move": f"after {length}", "parts": ["1 1"]}]
        found = {"read": 9, "left": 3, "to_move": 0, "all": total, "moves": moves, "games": []}
        route.fulfill(json=found)

    tab.page.route("**/api/openings", answer)
    tab.go("#/board?game=ataxx")
    tab.find("#look-up").check()
    tab.find("#openings td:has-text('after 0')").wait_for()
    move_on_board(tab)
    tab.find("#openings td:has-text('after 1')").wait_for()


PREVIEW = """async () => {
    const { Lines } = await import("/static/lines.js"), shown = [];
    const lines = new Lines(position => shown.push(position?.game ?? null), () => {});
    const line = ["1 1 2 2"], pause = () => new Promise(done => setTimeout(done, 500));
    for (const reach of [() => Promise.reject(new TypeError("offline")), window.fetch.bind(window)]) {
        window.fetch = reach;
        lines.preview({ game: "ataxx" }, line, 0);
        await pause();
        lines.end();
    }
    return shown;
}"""
CUT = """async () => {
    const body = new ReadableStream({ start: stream => stream.error(new TypeError("cut")) });
    window.fetch = async () => new Response(body);
    const { get } = await import("/static/page.js");
    return get("games").catch(error => [error.status, error.message]);
}"""
CHARTS = """() => import("/static/run_charts.js").then(charts => charts.drawCharts("one", 400)).then(
drawn => drawn.element.id || drawn.element.className, error => error.message)"""


def test_a_preview_is_asked_for_again_after_an_error(tab: Tab) -> None:
    choice = tab.page.evaluate(
        """() => fetch("api/position", { method: "POST", body: '{"game": "ataxx"}',
        headers: { "Content-Type": "application/json" } }).then(answer => answer.json())"""
    )["choices"][0]
    preview = PREVIEW.replace("1 1 2 2", choice["move"])
    assert tab.page.evaluate(preview) == [None, "ataxx", None]


def test_an_answer_that_is_cut_off_is_no_fault(tab: Tab) -> None:
    """It counts as a server that cannot be reached."""
    status, message = tab.page.evaluate(CUT)
    assert status == 0
    assert "does not answer" in message


def test_the_library_of_the_charts_is_loaded_again_after_an_error(tab: Tab) -> None:
    cut_off(tab, "**/vendor/uPlot.js")
    assert tab.page.evaluate(CHARTS) == "uPlot"
    tab.page.unroute("**/vendor/uPlot.js")
    assert tab.page.evaluate(CHARTS) != "uPlot"


def test_the_options_of_an_engine_are_asked_for_again_after_an_error(tab: Tab) -> None:
    cut_off(tab, "**/api/games/ugolki")
    tab.find('input[value="ugolki"]').check()
    tab.find("#seat0").select_option("engine:bot")
    tab.find("#said.bad:not(:empty)").wait_for()
    tab.page.unroute("**/api/games/ugolki")
    tab.find("#seat0").select_option("person")
    tab.find("#seat0").select_option("engine:bot")
    tab.find(".seat-row:has(#seat0) [data-engine]").first.wait_for(state="attached")


PRESS = """([key, code]) => document.body.dispatchEvent(
new KeyboardEvent("keydown", { key, code, bubbles: true }))"""


def test_shortcuts_work_in_every_layout(tab: Tab) -> None:
    """In Russian and in Korean, with Caps Lock, and where a letter has another place."""
    tab.go("#/review?run=one&number=0&nodes=20")
    tab.find("#sums:not([hidden])").wait_for()
    step, shown = tab.find("#slider"), 0
    forward = (("]", "BracketRight"), ("ъ", "BracketRight"), ("]", "Digit0"))
    for key in forward:
        tab.page.evaluate(PRESS, key)
        shown += 1
        expect(step).to_have_value(str(shown))
    tab.page.evaluate(PRESS, ("х", "BracketLeft"))
    expect(step).to_have_value(str(shown - 1))
    before = tab.find("#before")
    for number, key in enumerate((("и", "KeyB"), ("ㅠ", "KeyB"), ("B", "KeyB"), ("b", "KeyN"))):
        tab.page.evaluate(PRESS, key)
        expect(before).to_be_checked(checked=number % 2 == 0)
    tab.page.evaluate(PRESS, ("q", "KeyB"))
    expect(before).not_to_be_checked()


DRAWN = """() => {
    window.drawings = 0;
    new MutationObserver(() => { window.drawings += 1; }).observe(document.querySelector("#graph"), { childList: true });
}"""
BUSY = "() => { const until = performance.now() + 1500; while (performance.now() < until); }"


def test_many_turns_at_once_are_drawn_once(tab: Tab) -> None:
    """Bots may play faster than a page can draw; a long game must not block it for minutes."""
    tab.find('input[value="ugolki"]').check()
    for seat in range(4):
        tab.find(f"#seat{seat}").select_option("engine:random")
    tab.find("#speed").select_option("0")
    tab.find("#more summary").click()
    tab.find('[data-option="moves"]').fill("100")
    tab.find("#step").check()
    tab.find("#start").click()
    tab.find('#status[data-state="paused"]').wait_for()
    tab.page.evaluate(DRAWN)
    tab.find("#pace-run").click()
    tab.wait_turns(1)
    tab.page.evaluate(BUSY)
    tab.find('#status[data-state="over"]').wait_for()
    assert tab.turns > 300
    assert int(tab.find("#slider").get_attribute("max")) == tab.turns
    expect(tab.find("#slider")).to_have_value(str(tab.turns))
    assert tab.page.evaluate("() => window.drawings") < tab.turns / 2
