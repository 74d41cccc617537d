"""The page's review and analysis of a game, in the four games and in a fifth one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from quartet import registry
from tests import checkout
from tests.commands import ONE_JOB
from tests.page import Server, Tab, serving
from tests.test_words import OURS

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow
FIFTH = checkout.FIFTH
NODES = 64
CHOICES = (
    "async body => (await (await fetch('api/position', { method: 'POST', headers: "
    "{ 'Content-Type': 'application/json' }, body: JSON.stringify(body) })).json()).choices"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    house = checkout.with_new_game(tmp_path_factory.mktemp("fifth") / "checkout", FIFTH)
    with serving(house, house=house) as server:
        yield server


@pytest.fixture(scope="module")
def matches(browser: Any, server: Server) -> dict[str, str]:
    """The ids of finished games between random players, by game."""
    found = {}
    tab = Tab(browser.new_context(locale="en-GB"), server)
    tab.enter()
    for game in (*registry.GAMES, FIFTH):
        known = next(g for g in tab.ask("games")["games"] if g["name"] == game)
        tab.start(game, *[("engine:random", "nodes:50")] * known["players"], seed="1")
        tab.find('#status[data-state="over"]').wait_for()
        found[game] = tab.page.url.rpartition("/")[2]
    tab.page.context.close()
    return found


@pytest.fixture(params=(*registry.GAMES, FIFTH))
def game(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def reviewed(tab: Tab, matches: dict[str, str], game: str) -> Tab:
    """A tab with a finished review at the start of the game."""
    return opened(tab, matches[game])


def opened(tab: Tab, match: str) -> Tab:
    tab.go(f"#/review?match={match}&nodes={NODES}")
    tab.find("#sums:not([hidden])").wait_for()
    return tab


def values(tab: Tab) -> str:
    return str(tab.find("#value-bar").get_attribute("aria-label"))


def test_the_bar_shows_the_value_of_the_position(reviewed: Tab, game: str) -> None:
    """Win probabilities, or scores without a calibration; those of a running analysis first."""
    tab = reviewed
    package = registry.ROOT / registry.GAMES.get(game, FIFTH)
    calibrated = game in OURS or (package / "calibration.json").is_file()
    kind = "Win probability" if calibrated else "Score"
    assert values(tab).startswith(kind + ": ")
    view = tab.ask("view?match=" + tab.page.url.partition("match=")[2].partition("&")[0])
    tab.find("#last").click()
    shown = {values(tab)}
    if calibrated:
        for seat, place in enumerate(view["result"]["places"]):
            if view["result"]["places"].count(1) == 1:
                share = "100.0 %" if place == 1 else "0.0 %"
                assert f"{view['labels'][seat]} {share}" in values(tab)
    assert tab.find("#value-bar .part").count() >= 2
    tab.find("#first").click()
    before = values(tab)
    assert shown != {before}
    tab.find("#engine").click()
    tab.find(".engine-line").first.wait_for()
    assert tab.find("#value-bar .part").count() >= 2
    tab.find("#engine").click()
    assert values(tab) == before


def pieces(tab: Tab) -> str:
    return str(tab.page.evaluate("() => document.querySelector('#board').innerHTML"))


TWO_PLAYERS_AND_FOUR = pytest.mark.parametrize("game", ["ataxx", "ugolki"])
"""For tests in which games with the same number of players do not differ."""


@TWO_PLAYERS_AND_FOUR
def test_lines_are_previewed_and_entered(reviewed: Tab) -> None:
    """By pointer and by focus, from the engine's lines and from the review's."""
    tab = reviewed
    tab.find("#engine").click()
    tab.find(".engine-line .line-move").first.wait_for()
    tab.page.wait_for_timeout(200)
    tab.find("#engine").focus()
    for act in ("hover", "focus"):
        move = tab.find(".engine-line .line-move").first
        for _ in range(20):  # the line may change before the pointer reaches it
            getattr(move, act)()
            tab.page.wait_for_timeout(500)
            if tab.find("#board.previewed").count():
                break
            tab.find("h1").first.hover()
            tab.find("#engine").focus()
        tab.find("#board.previewed").wait_for()
        assert tab.find("#board .move.played").count() > 0
        tab.find("h1").first.hover()
        tab.find("#engine").focus()
        tab.find("#board:not(.previewed)").wait_for()
    move = tab.find(".engine-line .line-move").first  # at once: the engine's line changes
    text = move.evaluate("button => { button.click(); return button.textContent; }")
    tab.find("#variation:not([hidden])").wait_for()
    assert tab.find("#variation .chip").all_inner_texts() == [text]
    tab.find("#engine").click()
    tab.find("#to-game").click()
    for _ in range(40):
        tab.page.keyboard.press("ArrowRight")
        better = tab.find("#now .best-move .line-move")
        if better.count():
            break
    text = better.first.inner_text()
    better.first.click()
    tab.find("#variation:not([hidden])").wait_for()
    assert tab.find("#variation .chip").all_inner_texts() == [text]


@TWO_PLAYERS_AND_FOUR
def test_two_engines_analyse_side_by_side(reviewed: Tab, game: str) -> None:
    tab = reviewed
    tab.find("#two-engines").check()
    players = tab.find("#engine2-player option").all_inner_texts()
    assert tab.find("#engine-player").input_value() == players[0]
    tab.find("#engine").click()
    tab.find("#engine2").click()
    for column in range(2):
        tab.find(".engines > div").nth(column).locator(".line-move").first.wait_for()
    if game == "ugolki":
        assert "visits" in tab.find(".engine-line").first.inner_text()
    tab.find("#engine2-player").select_option(players[-1])
    tab.find(".engines > div").nth(1).locator(".line-move").first.wait_for()
    tab.find("#two-engines").uncheck()
    assert tab.find(".engines > div").count() == 1
    assert tab.find("#engine").get_attribute("aria-pressed") == "true"
    tab.find("#engine").click()


def retried(tab: Tab) -> None:
    """Check the candidates of a mistake; solve it as an exercise, twice."""
    tab.page.keyboard.press("n")
    row = tab.find("#now tbody tr").first
    assert int(row.locator("td").last.inner_text()) >= 1
    tab.find("#exercise-start").click()
    tab.find("#exercise-show").click()
    solution = tab.find("#exercise-said").inner_text()
    assert tab.find("#board .move.best").count() > 0
    tab.find("#exercise-retry").click()
    assert tab.find("#exercise-said").count() == 0
    assert tab.find("#board .move.best").count() == 0
    tab.find("#exercise-show").click()
    assert tab.find("#exercise-said").inner_text() == solution
    tab.find("#exercise-stop").click()


def test_candidates_have_nodes_and_a_solved_exercise_can_be_retried(
    tab: Tab, matches: dict[str, str]
) -> None:
    retried(opened(tab, matches["ataxx"]))


def attempt(tab: Tab, match: str) -> None:
    """Try the first legal move of an exercise."""
    step = int(tab.find("#slider").input_value())
    choices = tab.page.evaluate(CHOICES, {"match": match, "step": step})
    tab.find("#board").scroll_into_view_if_needed()
    for part in choices[0]["parts"]:
        tab.page.mouse.click(*tab.place(part))


def test_a_try_counts_once_and_after_the_solution_not_at_all(
    tab: Tab, matches: dict[str, str]
) -> None:
    """The server is slow here, and every try is right; at last it does not answer."""
    asked = []

    def late(route: Any) -> None:
        asked.append(route)
        tab.page.wait_for_timeout(700)
        best = {"is_best": True, "loss": 0.0, "move": "x", "parts": []}
        route.fulfill(json=best)

    match = matches["ataxx"]
    opened(tab, match)
    tab.page.route("**/try", late)
    tab.find("#exercise-start").click()
    said = tab.find("#exercise-said")
    attempt(tab, match)
    attempt(tab, match)
    expect(said).to_contain_text("Correct")
    tab.page.wait_for_timeout(1000)
    assert len(asked) == 1
    tab.find("#exercise-retry").click()
    attempt(tab, match)
    tab.find("#exercise-show").click()
    solution = said.inner_text()
    tab.page.wait_for_timeout(1000)
    assert len(asked) == 2
    assert said.inner_text() == solution
    tab.find("#exercise-retry").click()
    tab.page.unroute("**/try")
    tab.page.route("**/try", lambda route: route.abort("connectionrefused"))
    attempt(tab, match)
    tab.find("#said.bad:not(:empty)").wait_for()
    expect(said).to_have_count(0)


def test_another_step_ends_an_exercise(tab: Tab, matches: dict[str, str]) -> None:
    """The board of an exercise is that of one step."""
    opened(tab, matches["ataxx"])
    tab.find("#exercise-start").click()
    step = int(tab.find("#slider").input_value())
    posed = pieces(tab)
    tab.find("#on").click()
    expect(tab.find("#slider")).to_have_value(str(step + 1))
    tab.find("#exercise-start").wait_for()
    assert tab.find("#now").is_visible()
    assert pieces(tab) != posed


def test_the_fifth_has_exercises_after_its_calibration(
    browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Two commands, and no line of code."""
    house = checkout.with_new_game(tmp_path_factory.mktemp("fifth") / "checkout", FIFTH)
    players = ("--player", "a=random", "--player", "b=bot", "--in-process", "--nodes", "20")
    for command in (
        ("tournament", FIFTH, *players, "--games", "100", *ONE_JOB, "--out", "runs/one"),
        ("calibrate", FIFTH, "runs/one", "--nodes", str(NODES), *ONE_JOB),
    ):
        done = checkout.python(house, "-m", "quartet", *command)
        assert done.returncode == 0, done.stderr
    with serving(house, house=house) as server:
        tab = Tab(browser.new_context(locale="en-GB"), server)
        tab.enter()
        for _ in range(10):  # until a random player has made a mistake
            tab.start(FIFTH, ("engine:random", "nodes:50"), ("engine:bot", "nodes:50"))
            tab.find('#status[data-state="over"]').wait_for()
            opened(tab, tab.page.url.rpartition("/")[2])
            if tab.find("#moves .label.mistake, #moves .label.blunder").count():
                break
        retried(tab)
        assert tab.faults == []
        tab.page.context.close()


@pytest.mark.parametrize("game", ["ataxx", FIFTH])
def test_variations_form_a_tree_in_the_list_of_moves(
    tab: Tab, matches: dict[str, str], game: str
) -> None:
    opened(tab, matches[game])

    def play(step: int, number: int, line: list[str]) -> str:
        """Play the move `number` of those that are legal after a line; return it."""
        body = {"match": matches[game], "step": step, "moves": line}
        choices = tab.page.evaluate(
            CHOICES,
            body,
        )
        move = str(choices[number]["move"])
        moves = ";".join([*line, move])
        tab.go(f"#/review?match={matches[game]}&nodes={NODES}&step={step}&moves={moves}")
        tab.find(f'.variations [aria-current]:has-text("{move}")').wait_for()
        return move

    first = play(2, 6, [])
    second = play(2, 1, [first])
    play(2, 2, [first])
    play(2, 5, [])
    assert tab.find("#moves > li").nth(2).locator(".variations .line-move:not(.dim)").count() == 4
    tab.page.reload()
    tab.find(f'.variations button:has-text("{second}")').first.click()
    tab.find("#variation:not([hidden])").wait_for()
    assert tab.find("#variation .chip").all_inner_texts() == [first, second]
    assert tab.find(".variations [aria-current]").count() == 1
    tab.find("#to-game").click()
    tab.find(".variations [aria-current]").wait_for(state="detached")
    tab.find(".variations .dim[title]").first.click()
    assert tab.find(".variations .line-move:not(.dim)").count() == 3


@TWO_PLAYERS_AND_FOUR
def test_a_move_is_compared_and_reviewed_deeper(reviewed: Tab) -> None:
    """Both boards are drawn after their moves; more nodes give one more verdict on the move."""
    tab = reviewed
    for _ in range(60):
        tab.page.keyboard.press("ArrowRight")
        if tab.find("#now .best-move").count():
            break
    tab.find("#compare svg.board").nth(1).wait_for()
    shown = [tab.find("#compare svg.board").nth(n).inner_html() for n in range(2)]
    assert shown[0] != shown[1]
    assert tab.find("#compare .move.played").count() > 0
    assert tab.find("#compare .move.best").count() > 0
    better = tab.find("#now .best-move .line-move").first.inner_text()
    assert better in tab.find("#compare figcaption").nth(1).inner_text()
    assert f"{4 * NODES} nodes" in tab.find("#deeper").inner_text()
    tab.find("#deeper").click()
    tab.find(".deeper").wait_for()
    assert f"{4 * NODES} nodes" in tab.find(".deeper").inner_text()
    assert f"{4 * NODES} nodes" not in tab.find("#deeper").inner_text(), "still more"
    tab.find("#deeper-all").click()
    tab.find(f'#sums:has-text("{4 * NODES} nodes per position")').wait_for()
    assert f"nodes={4 * NODES}" in tab.page.url


def shares(texts: list[str]) -> list[float]:
    """Return percentages of the page as probabilities."""
    return [float(text.partition(" %")[0]) / 100 for text in texts]


def test_a_review_on_the_page_does_not_contradict_itself(tab: Tab, matches: dict[str, str]) -> None:
    """The value before a move is that of the best candidate; losses, bar and total agree."""
    opened(tab, matches["applegame"])
    lost, flawed = [0.0, 0.0], 0
    for step in range(tab.turns):
        before = shares([text.split()[-2] for text in values(tab)[17:].split(", ")])
        tab.page.keyboard.press("ArrowRight")
        expect(tab.find("#slider")).to_have_value(str(step + 1))
        told = tab.find("#now").inner_text()
        seat = 0 if "FIRST" in told.split(":")[0] else 1
        candidates = shares(tab.find("#now tbody td:nth-child(3)").all_inner_texts())
        assert candidates == sorted(candidates, reverse=True), told
        loss = float(told.partition("loss ")[2].partition(" %")[0] or 0) / 100
        lost[seat] += loss
        if candidates:
            assert before[seat] == pytest.approx(candidates[0], abs=0.0011), told
            after = shares([text.split()[-2] for text in values(tab)[17:].split(", ")])
            assert loss == pytest.approx(candidates[0] - after[seat], abs=0.0021), told
            flawed += 1
        if tab.find("#now .best-move").count():
            better = shares([tab.find("#now p:has(.best-move)").inner_text().partition(": ")[2]])[0]
            assert better == pytest.approx(before[seat], abs=0.0011), told
            assert tab.find("#now .label.best").count() == 0, told
    assert flawed, "random players err"
    for row, name in enumerate(("FIRST", "SECOND")):
        cells = tab.find("#sums tbody tr").nth(row).locator("td").all_inner_texts()
        assert name in cells[0]
        assert float(cells[2]) == pytest.approx(lost[row], abs=0.001 * tab.turns)


def test_few_decisions_have_no_accuracy(tab: Tab) -> None:
    tab.start("ataxx", ("person", ""), ("engine:greedy", "nodes:50"))
    assert tab.state() == "asking"
    for cell in ("1 1", "2 2"):
        tab.page.mouse.click(*tab.place(cell))
    tab.wait_turns(2)
    assert tab.state() == "asking"
    for _ in range(2):
        tab.find("#resign").click()
    tab.find('#status[data-state="over"]').wait_for()
    opened(tab, tab.page.url.rpartition("/")[2])
    for row in tab.find("#sums tbody tr").all():
        assert row.locator("td").nth(1).inner_text() == "too few decisions"
    tab.find("#last").click()
    expect(tab.find("#now")).to_contain_text("resigned")
    assert tab.find("#now .label, #now .best-move").count() == 0, "to resign is no move"
    assert tab.find(".list .label.foul").count() == 0
