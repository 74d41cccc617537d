"""Controls of a match on the page: none loses data silently, and the status is true."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from quartet.judge import game as games
from quartet.judge.logs.check import check
from tests.page import Server, Tab, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow
HANGS = f'hangs={sys.executable} -c "import time; time.sleep(1000)"'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("page"), "--player", HANGS) as server:
        yield server


def status(tab: Tab) -> str:
    return str(tab.find("#status").inner_text())


def test_a_game_is_deleted_after_a_confirmation(tab: Tab) -> None:
    tab.start("ataxx", ("person", ""), ("engine:greedy", "nodes:50"))
    assert tab.state() == "asking"
    match = tab.page.url.rpartition("/")[2]
    delete = tab.find("#end")
    assert delete.inner_text() == "Delete game"
    delete.click()
    assert delete.inner_text() == "Confirm deletion"
    assert tab.ask(f"matches/{match}")["ended"] is False
    expect(delete).to_have_text("Delete game")  # the confirmation expires
    other = Tab(tab.page.context, tab.server)
    other.page.goto(tab.page.url)
    assert other.state() == "asking"
    delete.click()
    delete.click()
    tab.find("#lobby").wait_for()
    other.find("#lobby").wait_for()
    assert other.find("#said").inner_text() == "the match was deleted"
    assert "does not exist" in tab.ask(f"matches/{match}")["error"]


def test_the_next_move_can_be_typed_while_the_bot_thinks(tab: Tab) -> None:
    """No letter of it acts as a key of the board, such as U, which takes a move back."""
    tab.start("ataxx", ("person", ""), ("engine:greedy", "nodes:50"))
    assert tab.state() == "asking"
    tab.find("#typed").fill(tab.asking()["position"]["choices"][0]["move"])
    tab.page.keyboard.press("Enter")
    tab.page.keyboard.type("u a r")
    tab.wait_turns(2)
    assert tab.state() == "asking"
    assert tab.find("#typed").input_value().endswith("u a r")
    assert tab.turns == 2


def test_who_resigns_out_of_turn_is_told_when_it_counts(tab: Tab) -> None:
    tab.start("ataxx", ("guest", ""), ("person", ""))
    tab.find('#status[data-state="away"]').wait_for()
    tab.find("#resign").click()
    tab.find("#resign").click()
    expect(tab.find("#said")).to_have_text("You resign when it is your turn.")


def test_a_log_that_reveals_draws_is_saved_after_the_game(tab: Tab) -> None:
    tab.start("connexion", ("person", ""), ("engine:greedy", "nodes:50"))
    assert tab.state() == "asking"
    save = tab.find("#save")
    assert save.get_attribute("href") is None
    assert save.get_attribute("aria-disabled") == "true"
    assert not tab.find("#to-review").is_visible()
    assert "after the game" in tab.find("#save-later").inner_text()
    tab.find("#resign").click()
    tab.find("#resign").click()
    tab.find('#status[data-state="over"]').wait_for()
    assert not tab.find("#save-later").is_visible()
    with tab.page.expect_download() as saved:
        save.click()
    name = saved.value.suggested_filename
    assert re.fullmatch(r"connexion-\d{4}-\d\d-\d\d-human-greedy\.txt", name), name
    assert check(games.load("connexion"), saved.value.path().read_bytes()).complaint is None


def test_the_status_says_what_the_match_waits_for(tab: Tab) -> None:
    """A paused match waits for a click; a match with a player that does not start waits for the
    players."""
    tab.find('input[value="ataxx"]').check()
    for seat in (0, 1):
        tab.find(f"#seat{seat}").select_option("engine:random")
    tab.find("#more summary").click()
    tab.find("#step").check()
    tab.find("#start").click()
    tab.find('#status[data-state="paused"]').wait_for()
    for turns in (1, 2):
        tab.find("#pace-step").click()
        tab.wait_turns(turns)
        tab.find('#status[data-state="paused"]').wait_for()
        assert status(tab) == "Paused"
    tab.find("#speed").select_option("250")
    tab.find("#pace-step").click()
    tab.wait_turns(3)
    tab.find('#status[data-state="paused"]').wait_for()
    assert tab.turns == 3, "another speed plays no turn"
    tab.start("ataxx", ("person", ""), ("program:hangs", ""))
    tab.find('#status:has-text("Starting the players")').wait_for()


def test_a_hint_is_shown_until_the_next_move(tab: Tab) -> None:
    tab.start("ataxx", ("person", ""), ("engine:greedy", "nodes:50"))
    assert tab.state() == "asking"
    tab.find("#hint").click()
    expect(tab.find("#said")).to_contain_text("Hint")
    for cell in ("1 1", "2 2"):
        tab.page.mouse.click(*tab.place(cell))
    tab.wait_turns(2)
    expect(tab.find("#said")).to_be_empty()


def test_a_late_hint_is_not_shown(tab: Tab) -> None:
    """It was meant for the position before the moves that were played meanwhile."""
    tab.start("ataxx", ("person", ""), ("engine:greedy", "nodes:50"))
    assert tab.state() == "asking"
    late: list[Any] = []
    tab.page.route("**/hint", lambda route: late.append((route, route.fetch())))
    with tab.page.expect_request("**/hint"):
        tab.find("#hint").click()
    while not late:
        tab.page.wait_for_timeout(50)
    for cell in ("1 1", "2 2"):
        tab.page.mouse.click(*tab.place(cell))
    tab.wait_turns(2)
    assert tab.state() == "asking"
    (route, answer) = late[0]
    route.fulfill(response=answer)
    tab.page.wait_for_timeout(500)
    assert "Hint" not in tab.find("#said").inner_text()
    assert tab.find("svg.board .hint").count() == 0


def test_an_emptied_engine_option_keeps_its_default(tab: Tab) -> None:
    tab.find('input[value="ugolki"]').check()
    tab.find("#seat1").select_option("engine:bot")
    tab.find(".seat-row:has(#seat1) .engine-options summary").click()
    tab.find('.seat-row:has(#seat1) input[type="number"][data-engine]').first.fill("")
    with tab.page.expect_request("**/api/matches") as request:
        tab.find("#start").click()
    assert request.value.post_data_json["seats"][1]["options"] == {}


def left(tab: Tab) -> float:
    """Return the seconds on the first player's clock, which are less than 60."""
    return float(re.sub(r"[^\d.]", "", tab.find(".player .clock").first.inner_text()))


def test_a_humans_clock_runs_in_a_match_that_pauses_and_after_a_reload(tab: Tab) -> None:
    """A human's turn is never paused, and a reload of the page gives no time back."""
    tab.find('input[value="ataxx"]').check()
    tab.find("#seat0").select_option("person")
    tab.find("#seat1").select_option("engine:greedy")
    tab.find("#more summary").click()
    tab.find("#clock").fill("50")
    tab.find("#person-clock").check()
    tab.find("#step").check()
    tab.find("#start").click()
    assert tab.state() == "asking"
    tab.page.wait_for_timeout(3500)
    before = left(tab)
    assert 0 < before < 48
    tab.page.reload()
    assert tab.state() == "asking"
    tab.page.wait_for_timeout(500)
    assert left(tab) <= before


COVERED = """() => {
    const line = document.querySelector("#said").getBoundingClientRect();
    return [...document.querySelectorAll("a, button, input, select, summary, .board")].filter(e => {
        const box = e.getBoundingClientRect();
        return e.checkVisibility() && box.left < line.right && box.right > line.left &&
            box.top < line.bottom && box.bottom > line.top;
    }).map(e => e.outerHTML.slice(0, 80));
}"""


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_a_message_covers_no_control(tab: Tab, size: tuple[int, int]) -> None:
    tab.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    tab.start("ataxx", ("person", ""), ("engine:greedy", "nodes:50"))
    assert tab.state() == "asking"
    for place in (0, 10_000):
        tab.find("#typed").fill("9 9 9 9")
        tab.page.evaluate("place => scrollTo(0, place)", place)
        tab.page.keyboard.press("Enter")
        tab.find("#said.bad:not(:empty)").wait_for()
        assert tab.page.evaluate(COVERED) == []
        assert 0 <= tab.find("#said").bounding_box()["y"] < size[1] - 30
        tab.page.evaluate("scrollBy(0, place ? -150 : 150)".replace("place", str(place)))
        assert tab.page.evaluate(COVERED) == []
        tab.find("#said").evaluate("line => line.replaceChildren()")
    # The next view has other controls.
    tab.find("#typed").fill("9 9 9 9")
    tab.page.keyboard.press("Enter")
    tab.find("#said.bad:not(:empty)").wait_for()
    tab.go("#/")
    tab.find("#start").wait_for()
    tab.page.wait_for_function(f"() => ({COVERED})().length === 0")
    assert tab.find("#said").inner_text()


def test_any_cell_can_be_a_corner(tab: Tab) -> None:
    """A drag draws its rectangle and sum from any cell; legal cells are marked only if asked."""
    tab.start("applegame", ("person", ""), ("person", ""))
    assert tab.state() == "asking"
    assert tab.find("svg.board .start, svg.board .target").count() == 0
    starts = {choice["parts"][0] for choice in tab.asking()["position"]["choices"]}
    cells = [f"{row} {column}" for row in range(10) for column in range(16)]
    start = next(cell for cell in cells if cell not in starts)
    row, column = start.split()
    tab.page.mouse.move(*tab.place(start))
    tab.page.mouse.down()
    tab.page.mouse.move(*tab.place(f"{row} {int(column) + 1}"), steps=3)
    tab.find("svg.board .span:not(.can)").wait_for()
    assert int(tab.find("svg.board .badge-text").text_content() or "") > 1
    tab.page.mouse.up()
    assert tab.find("svg.board .taken, svg.board .span").count() == 0
    assert tab.turns == 0
    tab.find("#show-moves").check()
    assert tab.find("svg.board .start").count() == len(starts)


def test_moves_and_logs_are_named(tab: Tab, tmp_path: Path) -> None:
    """Turns count from 1, a pass is a word, and an upload adds to the list of logs."""
    tab.start("applegame", ("person", ""), ("person", ""))
    for turn in range(2):
        assert tab.state() == "asking"
        tab.page.mouse.click(*tab.place("pass"))
        tab.wait_turns(turn + 1)
    tab.find('#status[data-state="over"]').wait_for()
    rows = tab.find("#moves li").all_inner_texts()
    assert [row.split()[0] for row in rows] == ["1", "2"]
    assert all("Pass" in row and "-1" not in row for row in rows)
    assert "Bars: time per turn" in tab.find("p.legend").inner_text()
    with tab.page.expect_download() as saved:
        tab.find("#save").click()
    log = saved.value.path().read_bytes()
    for name in ("first.txt", "second.txt"):
        tab.go("#/review")
        (tmp_path / name).write_bytes(log + b"\n" * (name == "second.txt"))
        tab.find("#pick").set_input_files(str(tmp_path / name))
        tab.find("#now").wait_for()
    tab.go("#/review")
    tab.find("#logs li a").nth(1).wait_for()
    assert tab.find("#logs li a").all_inner_texts() == ["second.txt", "first.txt"]
    (tmp_path / "wrong.txt").write_text("nonsense")
    tab.find("#pick").set_input_files(str(tmp_path / "wrong.txt"))
    tab.find("#logs .bad").wait_for()
    assert tab.find("#logs li a").count() == 2


def test_a_file_chosen_before_the_list_is_loaded_stays_listed(tab: Tab, tmp_path: Path) -> None:
    tab.page.route("**/api/logs", lambda _: None)  # until unroute
    with tab.page.expect_request("**/api/logs"):
        tab.go("#/review")
    (tmp_path / "wrong.txt").write_text("nonsense")
    tab.find("#pick").set_input_files(str(tmp_path / "wrong.txt"))
    tab.page.wait_for_timeout(300)
    tab.page.unroute("**/api/logs")
    tab.find("#logs .bad").wait_for()
    tab.page.wait_for_timeout(300)
    assert tab.find("#logs .bad").count() == 1
