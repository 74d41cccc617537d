"""The page in a browser: texts, size, playing, reviewing, and security against other sites."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from quartet.judge import game as games
from quartet.judge.logs.check import check
from tests.games import ROOT
from tests.page import Server, Tab, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

STATIC = ROOT / "quartet" / "web" / "static"
LANGUAGES = ("en", "ru", "ko")
SCRIPTS = sorted(STATIC.glob("*.js"))
LIMIT = 400_000
"""Maximum size of the page with all languages, in bytes."""
TEXTS = {
    language: json.loads((STATIC / "messages" / f"{language}.json").read_text(encoding="utf-8"))
    for language in LANGUAGES
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("page")) as server:
        yield server


# Tests without a browser.


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_every_text(language: str) -> None:
    texts = TEXTS[language]
    assert sorted(texts) == sorted(TEXTS["en"])
    assert [key for key, text in texts.items() if not text.strip()] == []
    for key, text in texts.items():
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", TEXTS["en"][key]))


def test_the_scripts_use_the_texts_that_there_are() -> None:
    code = "".join(script.read_text(encoding="utf-8") for script in SCRIPTS)
    begins = (*re.findall(r'\bt\("(\w+_)" \+', code), "pace_")
    asked = {key for key in re.findall(r'\bt\("(\w+)"', code) if key not in begins}
    assert asked - set(TEXTS["en"]) == set()
    words = set(re.findall(r'"(\w+)"', code))
    assert [k for k in TEXTS["en"] if k not in words and not k.startswith(begins)] == []


def test_the_page_is_small_and_whole() -> None:
    assert sum(file.stat().st_size for file in STATIC.rglob("*") if file.is_file()) < LIMIT
    assert "MIT" in (STATIC / "vendor" / "uPlot.LICENSE.txt").read_text(encoding="utf-8")
    for file in [*SCRIPTS, STATIC / "index.html", *STATIC.glob("*.css")]:
        text = file.read_text(encoding="utf-8")
        assert re.findall(r"https?://(?!www\.w3\.org/)", text) == [], "it needs no network"
        assert re.findall(r"\.innerHTML|\beval\(|document\.write", text) == []


def test_no_game_is_known_to_the_page() -> None:
    text = "".join(script.read_text(encoding="utf-8") for script in SCRIPTS)
    assert re.findall(r"ataxx|ugolki|connexion|applegame|noughts", text, re.IGNORECASE) == []


# Playing.


def click(tab: Tab, *cells: str) -> None:
    for cell in cells:
        tab.page.mouse.click(*tab.place(cell))


def test_a_game_by_mouse_taken_back_reloaded_and_resigned(tab: Tab, context: Any) -> None:
    tab.start("ataxx", ("person", ""), ("engine:greedy", "nodes:50"))
    assert tab.state() == "asking"
    click(tab, "1 1")
    assert tab.find("svg.board .target").count() == 8
    click(tab, "2 2")
    tab.wait_turns(2)
    assert tab.state() == "asking"
    # A drag does the same.
    tab.page.mouse.move(*tab.place("2 2"))
    tab.page.mouse.down()
    tab.page.mouse.move(*tab.place("3 3"), steps=4)
    tab.page.mouse.up()
    tab.wait_turns(4)
    assert tab.state() == "asking"
    tab.page.reload()
    tab.wait_turns(4)
    assert tab.state() == "asking"
    tab.find("#undo").click()
    tab.find("#moves li").nth(2).wait_for(state="detached")
    # The keys step through the game, and the board shows each position.
    tab.page.keyboard.press("[")
    assert tab.find("#slider").input_value() == "1"
    expect(tab.find("svg.board .piece")).to_have_count(5)  # a removed piece fades out
    tab.page.keyboard.press("]")
    # Another tab sees the same, and either may move.
    other = Tab(context, tab.server)
    other.page.goto(tab.page.url)
    other.wait_turns(2)
    tab.find("#typed").fill("1 1 1 2")
    tab.page.keyboard.press("Enter")
    other.wait_turns(4)
    assert tab.state() == other.state() == "asking"
    tab.find("#hint").click()
    tab.find("svg.board .hint").first.wait_for()
    with tab.page.expect_download() as saved:
        tab.find("#save").click()
    checked = check(games.load("ataxx"), saved.value.path().read_bytes())
    assert len(checked.turns) == 4
    other.find("#resign").click()
    other.find("#resign").click()
    tab.find('#status[data-state="over"]').wait_for()
    assert "SECOND" in tab.find("#status").inner_text()
    assert other.faults == []


def test_a_game_from_a_position(tab: Tab) -> None:
    tab.go("#/play?game=ataxx&position=xxxxxxx/xxxxxxx/xxxxxxx/xxxxxxx/xxxxxxx/xxxxxxx/oo3xx o 0 1")
    tab.find("#lobby").wait_for()
    tab.find("#seat0").select_option("person")
    tab.find("#seat1").select_option("engine:greedy")
    tab.find("#start").click()
    assert tab.state() == "asking"
    tab.page.keyboard.press("ArrowRight")
    tab.page.keyboard.press("Enter")
    tab.page.keyboard.press("Enter")
    tab.wait_turns(1)


def test_a_rectangle_shows_while_it_is_drawn(browser: Any, server: Server) -> None:
    """By mouse and by touch. An illegal one is dashed, and does not play a move."""
    context = browser.new_context(
        locale="en-GB", has_touch=True, viewport={"width": 360, "height": 740}
    )
    tab = Tab(context, server)
    tab.enter()
    tab.start("applegame", ("person", ""), ("person", ""))
    touch = context.new_cdp_session(tab.page)

    def finger(kind: str, *cells: str) -> None:
        points = [dict(zip("xy", tab.place(cell), strict=True)) for cell in cells]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    for turn in range(2):
        assert tab.state() == "asking"
        tab.page.evaluate("() => scrollTo(0, 0)")
        choices = [choice["parts"] for choice in tab.asking()["position"]["choices"]]
        start, end = next(parts for parts in choices if len(parts) == 2)
        other = next(
            cell
            for cell in (f"{r} {c}" for r in range(10) for c in range(17))
            if cell != start and [start, cell] not in choices
        )
        if turn == 0:
            tab.page.mouse.move(*tab.place(start))
            tab.page.mouse.down()
            tab.page.mouse.move(*tab.place(other))
        else:
            finger("touchStart", start)
            finger("touchMove", other)
        tab.find("svg.board .span:not(.can)").wait_for()
        if turn == 0:
            tab.page.mouse.up()
            assert tab.turns == turn
            assert tab.find("svg.board .taken").count() == 0, "nothing stays selected"
            click(tab, start)
            tab.page.mouse.move(*tab.place(end))
            tab.find("svg.board .span.can").wait_for()
            assert tab.find("svg.board .badge-text").text_content() == "10"
            click(tab, end)
        else:
            finger("touchMove", end)
            tab.find("svg.board .span.can").wait_for()
            finger("touchEnd")
        tab.wait_turns(turn + 1)
    assert tab.find("svg.board rect.move.played").count() == 1
    assert tab.faults == []
    context.close()


# Reviewing.


def test_a_log_is_dropped_and_reviewed(tab: Tab, tmp_path: Path) -> None:
    tab.start("ataxx", ("engine:greedy", "nodes:50"), ("engine:random", "nodes:50"), seed="1")
    tab.state()
    with tab.page.expect_download() as saved:
        tab.find("#save").click()
    text = saved.value.path().read_text(encoding="utf-8")
    tab.go("#/runs")
    tab.find("#results").wait_for()
    tab.page.evaluate(
        """text => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([text], "dropped.log"));
            const event = { dataTransfer: transfer, cancelable: true, bubbles: true };
            document.dispatchEvent(new DragEvent("drop", event));
        }""",
        text,
    )
    tab.find("#moves li").first.wait_for()
    tab.find("#sums:not([hidden])").wait_for()
    assert tab.find("#graph path.curve").count() == 2
    tab.page.keyboard.press("ArrowRight")
    tab.page.wait_for_url(lambda url: "step=1" in url)
    assert tab.find("#now").inner_text() != ""
    # A variation is kept in the address.
    tab.find("#board.choosing").wait_for()
    tab.find("#board").focus()
    for key in ("ArrowRight", "Enter", "Enter"):
        tab.page.keyboard.press(key)
    tab.find("#variation:not([hidden])").wait_for()
    tab.page.wait_for_url(lambda url: "moves=" in url)
    shared = tab.page.url
    other = Tab(tab.page.context, tab.server)
    other.page.goto(shared)
    other.find("#variation:not([hidden])").wait_for()
    assert other.find("#variation .chip").count() == 1
    assert other.faults == []
    tab.find("#to-game").click()
    tab.page.wait_for_url(lambda url: "moves=" not in url)
    if tab.find("#exercise-start").is_visible():
        tab.find("#exercise-start").click()
        tab.find("#exercise-show").click()
        assert tab.find("#exercise-said").inner_text() != ""
        tab.find("#exercise-stop").click()
    tab.find("#engine").click()
    tab.find(".engine-line").first.wait_for()
    tab.find("#engine").click()


def test_a_malformed_log_is_listed_with_its_error(tab: Tab, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("<img src=x onerror=alert(1)>\n", encoding="utf-8")
    tab.go("#/review")
    tab.find("#pick").set_input_files(str(wrong))
    tab.find("#logs .bad").wait_for()
    assert "wrong.txt" in tab.find("#logs").inner_text()


# Language, theme, missing pages.


def test_languages_and_themes(tab: Tab) -> None:
    for language, word in (("ru", "Новая партия"), ("ko", "새 대국"), ("en", "New game")):
        tab.find("#language").select_option(language)
        tab.find(f'h1:text-is("{word}")').wait_for()
    tab.find("#theme").select_option("dark")
    dark = tab.page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    tab.find("#theme").focus()
    tab.find("#theme").select_option("light")
    assert tab.page.evaluate("() => document.activeElement.id") == "theme"
    assert dark != tab.page.evaluate("() => getComputedStyle(document.body).backgroundColor")


@pytest.mark.parametrize("view", ["#/match/none", "#/run/none", "#/review?log=none", "#/nowhere"])
def test_a_missing_page_shows_one_line(tab: Tab, view: str) -> None:
    tab.go(view)
    tab.find("main .bad").wait_for()
    assert tab.find("main .bad").inner_text() != ""


# Another origin.


class Hostile(BaseHTTPRequestHandler):
    """A hostile site that knows the port."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!DOCTYPE html><title>hostile</title><p>hello")

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        """Print nothing."""


TRIES = """async base => {
    const found = [], body = JSON.stringify({ game: "ataxx", seats: [{ kind: "engine", name: "bot" }, { kind: "engine", name: "bot" }] });
    const attempt = async (name, path, options) => {
        try {
            const answer = await fetch(base + path, options);
            found.push([name, answer.type, answer.status, answer.type === "opaque" ? "" : await answer.text()]);
        } catch (error) { found.push([name, "refused", 0, ""]); }
    };
    await attempt("read", "api/games", { credentials: "include" });
    await attempt("read blindly", "api/matches", { credentials: "include", mode: "no-cors" });
    await attempt("start", "api/matches", { method: "POST", credentials: "include", headers: { "Content-Type": "application/json" }, body });
    await attempt("start blindly", "api/matches", { method: "POST", credentials: "include", mode: "no-cors", body });
    await attempt("a log", "api/logs?name=a", { method: "POST", credentials: "include", mode: "no-cors", body: "x" });
    found.push(["events", await new Promise(done => {
        const source = new EventSource(base + "api/events?topic=runs", { withCredentials: true });
        source.onmessage = source.onopen = () => done("open");
        source.onerror = () => done("refused");
    }), 0, ""]);
    found.push(["frame", await new Promise(done => {
        const frame = document.createElement("iframe");
        frame.src = base;
        frame.onload = () => { try { done(frame.contentDocument ? frame.contentDocument.title : "refused"); } catch { done("refused"); } };
        document.body.append(frame);
        setTimeout(() => done("refused"), 3000);
    }), 0, ""]);
    found.push(["script", await new Promise(done => {
        const script = document.createElement("script");
        script.src = base + "static/page.js";
        script.onload = () => done("loaded");
        script.onerror = () => done("refused");
        document.body.append(script);
    }), 0, ""]);
    return found;
}"""


def test_a_page_of_another_origin_starts_and_reads_nothing(tab: Tab) -> None:
    """It runs in the browser that has the cookie, on the same host, at another port."""
    before = tab.ask("matches")
    hostile = HTTPServer(("127.0.0.1", 0), Hostile)
    thread = threading.Thread(target=hostile.serve_forever)
    thread.start()
    try:
        page = tab.page.context.new_page()
        page.goto(f"http://127.0.0.1:{hostile.server_port}/")
        found = page.evaluate(TRIES, tab.server.base)
        page.close()
    finally:
        hostile.shutdown()
        hostile.server_close()
        thread.join()
    assert len(found) == 8
    for name, kind, _, text in found:
        assert kind in {"refused", "opaque"}, (name, kind)
        assert text == ""
    assert tab.ask("matches") == before
