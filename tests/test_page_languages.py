"""Texts on the page in the user's language, and what survives a change of the language."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.page import Server, Tab, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow
DIE = "print(input() and 'OK', flush=True); input(); exit('no move at ply 7')"
PARSED = "async json => (await import('./static/language.js')).parsed(json)"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(
        tmp_path_factory.mktemp("page"), "--player", f'dies={sys.executable} -c "{DIE}"'
    ) as server:
        yield server


def switch(tab: Tab, language: str) -> None:
    """Choose a language, and wait until the header is drawn in it."""
    tab.find("#language").select_option(language)
    tab.find(f'html[lang="{language}"]').wait_for()


def test_settings_of_a_new_game_survive(tab: Tab) -> None:
    tab.go("#/?game=ataxx")
    tab.find('input[value="connexion"]').check()
    tab.find("#seat1").select_option("engine:bot")
    options = tab.find(".seat-row:has(#seat1) details")
    options.locator("summary").click()
    options.locator("input").first.fill("7")
    tab.find("#more summary").click()
    tab.find("#clock").fill("12")
    tab.find("#step").check()
    tab.find("#rules summary").click()
    switch(tab, "ru")
    tab.find('h1:text-is("Новая партия")').wait_for()
    for box in (options, tab.find("#more"), tab.find("#rules")):
        expect(box).to_have_attribute("open", "")
    expect(tab.find('input[value="connexion"]')).to_be_checked()
    expect(options.locator("input").first).to_have_value("7")
    expect(tab.find("#clock")).to_have_value("12")
    expect(tab.find("#step")).to_be_checked()


def test_a_position_that_is_being_set_up_survives(tab: Tab) -> None:
    """Also if two languages are chosen one after the other."""
    pieces = tab.find("#board .piece[data-at]")
    tab.go("#/board?game=ataxx")
    tab.find("#edit").click()
    tab.find(".palette button").nth(1).click()
    before = pieces.count()
    for n, cell in enumerate(("3 3", "4 4"), 1):
        tab.page.mouse.click(*tab.place(cell))
        expect(pieces).to_have_count(before + n)
    tab.find("#to-move").select_option("1")
    tab.find("#as-text summary").click()
    tab.find("#language").select_option("ru")
    switch(tab, "ko")
    expect(tab.find("#edit")).to_have_text("이 국면 사용")
    expect(pieces).to_have_count(before + 2)
    expect(tab.find(".palette button").nth(1)).to_have_attribute("aria-pressed", "true")
    expect(tab.find("#to-move")).to_have_value("1")
    expect(tab.find("#as-text")).to_have_attribute("open", "")
    tab.find("#edit").click()
    tab.find(".palette").wait_for(state="hidden")
    expect(pieces).to_have_count(before + 2)


def test_a_match_and_an_exercise_survive(tab: Tab) -> None:
    """The step of a match, and the task of an exercise with what was said of it."""
    slider, text, said = (
        tab.find(name) for name in ("#slider", "#exercise-text", "#exercise-said")
    )
    tab.start("ataxx", *[("engine:random", "nodes:50")] * 2, seed="1")
    tab.find('#status[data-state="over"]').wait_for()
    for _ in range(3):
        tab.find("#back").click()
    step = slider.input_value()
    switch(tab, "ru")
    tab.find('h2:text-is("Ходы")').wait_for()
    expect(slider).to_have_value(step)
    switch(tab, "en")
    tab.go(f"#/review?match={tab.page.url.rpartition('/')[2]}&nodes=64")
    tab.find("#sums:not([hidden])").wait_for()
    tab.find("#exercise-start").click()
    tab.find("#exercise-next").click()
    tab.find("#exercise-show").click()
    step, task, solution = slider.input_value(), text.inner_text(), said.inner_text()
    assert solution.startswith("The engine plays ")
    switch(tab, "ru")
    expect(text).to_contain_text("%")
    expect(tab.find("#exercise h2")).to_contain_text("2")
    expect(said).to_have_text(solution.replace("The engine plays", "Движок играет"))
    expect(slider).to_have_value(step)
    switch(tab, "en")
    expect(text).to_have_text(task)
    expect(said).to_have_text(solution)


def test_plies_count_from_one(tab: Tab) -> None:
    """As in the list of moves; what a program has said stays as it is."""
    tab.start("ataxx", ("program:dies", ""), ("engine:random", "nodes:50"))
    reason = tab.find("#moves li:last-child .reason")
    expect(reason).to_contain_text("ended at ply 1: exit status 1: no move at ply 7")
    expect(tab.find("#moves li:last-child .ply")).to_have_text("1")
    expect(tab.find("#status")).to_contain_text("ended at ply 1: ")
    switch(tab, "ru")
    expect(reason).to_contain_text("на полуходе 1: код завершения 1: no move at ply 7")
    switch(tab, "en")
    answer = {"complaint": "a turn of seat 0 at ply 9, where seat 1 has ply 8", "error": None}
    assert tab.page.evaluate(PARSED, json.dumps(answer)) == {
        "complaint": "a turn of seat 1 at ply 10, where seat 2 has ply 9",
        "error": None,
    }


def test_sentences_about_a_side_are_translated_whole(tab: Tab) -> None:
    cases = {
        "complaint": (
            "line 19: FIRST has 48 cells, by the rules 0",
            "Строка 19: у игрока Первый записано 48 (клетки), а по правилам 0",
        ),
        "error": (
            "line 5: FIRST moves, but it is the other's turn",
            "Строка 5: ходит Первый, хотя очередь другого",
        ),
    }
    answer = json.dumps({key: english for key, (english, _) in cases.items()})
    switch(tab, "ru")
    assert tab.page.evaluate(PARSED, answer) == {key: own for key, (_, own) in cases.items()}


def test_one_has_no_plural(tab: Tab) -> None:
    said = "async n => (await import('./static/language.js')).t('turns_over', { n })"
    assert tab.page.evaluate(said, 1) == "finished after 1 turn"
    assert tab.page.evaluate(said, 21) == "finished after 21 turns"


def test_numbers_of_the_server_have_a_decimal_comma_in_russian(tab: Tab) -> None:
    """Names and what a program has said stay as they are."""
    cases = {
        "reason": (
            "was not ready: closed its output at ply 1; 0.25 s waiting for a processor",
            "не готова: закрыт вывод на полуходе 2; 0,25 с ожидания процессора",
        ),
        "outcome": ("v1.5 52.5 %, v2.0 -0.25, x 1.5e-05", "v1.5 52,5 %, v2.0 -0,25, x 1,5e-05"),
        "note": ("exit status 1: got 0.5, see a1.5", "код завершения 1: got 0.5, see a1.5"),
    }
    answer = json.dumps({key: english for key, (english, _) in cases.items()})
    assert tab.page.evaluate(PARSED, answer)["outcome"] == cases["outcome"][0]
    switch(tab, "ru")
    assert tab.page.evaluate(PARSED, answer) == {key: own for key, (_, own) in cases.items()}
    tab.find('input[value="ugolki"]').check()
    expect(tab.find("#clock")).to_have_attribute("placeholder", "0,5")
