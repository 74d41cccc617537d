"""Positions on the command line: text or file, in every game."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import pytest

from core.errors import QuartetError, TextError
from quartet.cli import positions, variants
from tests.games import Game, random_games

if TYPE_CHECKING:
    from pathlib import Path


def test_text_and_file_are_the_same_position(game: Game, tmp_path: Path) -> None:
    file = tmp_path / "position"
    for slow, _ in islice(random_games(game, 20), 20):
        text = slow.text()
        file.write_text(text, encoding="utf-8-sig")
        for rules in (game.reference, game.fast):
            assert positions.read(rules, text).text() == text
            assert positions.read(rules, str(file)).text() == text


@pytest.mark.parametrize(
    "given", ["", "/no/such/file", "x" * 5000, "a\0b", "rubbish\nin two lines"]
)
def test_what_is_neither_is_told_so(game: Game, given: str) -> None:
    with pytest.raises(TextError, match=r" is no file, and no position: .") as told:
        positions.read(game.reference, given)
    assert "\n" not in str(told.value)


def test_a_file_without_a_position_is_told_by_its_name(game: Game, tmp_path: Path) -> None:
    file = tmp_path / "file"
    for content in (b"rubbish", b"", b"\xff\xfe\xfa"):
        file.write_bytes(content)
        with pytest.raises(TextError, match="file") as told:
            positions.read(game.reference, str(file))
        assert "\n" not in str(told.value)
        assert "is no file" not in str(told.value)
    with pytest.raises(TextError, match="cannot read"):
        positions.read(game.reference, str(tmp_path))


def test_the_start_by_options_and_a_position_exclude_each_other(game: Game) -> None:
    text = game.reference.start().text()
    for name, option in game.info.options.items():
        options = variants.read(game.name, [f"{name}={int(option.default)}"])
        assert positions.root(game.name, game.reference, None, options).text() == text
        if option.of_start:
            with pytest.raises(QuartetError, match=name):
                positions.root(game.name, game.reference, text, options)
        else:
            assert positions.root(game.name, game.reference, text, options).text() == text
