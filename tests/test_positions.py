"""The command line accepts positions as text or file, in every game."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import pytest

from core.errors import QuartetError, TextError
from quartet.cli import game_options
from quartet.judge import game as games
from quartet.judge.game import Start
from tests.games import GameUnderTest, random_games

if TYPE_CHECKING:
    from pathlib import Path


def begin(game: GameUnderTest, given: str) -> Start:
    """Return the start that --position gives."""
    return game_options.read_start(games.load(game.name), given, {})


def test_text_and_file_are_the_same_position(game: GameUnderTest, tmp_path: Path) -> None:
    file = tmp_path / "position"
    for slow, _ in islice(random_games(game, 20), 20):
        text = slow.text()
        file.write_text(text, encoding="utf-8-sig")
        for rules in (game.reference, game.fast):
            assert begin(game, text).position(rules).text() == text
            assert begin(game, str(file)).position(rules).text() == text


@pytest.mark.parametrize(
    "given", ["", "/no/such/file", "x" * 5000, "a\0b", "rubbish\nin two lines"]
)
def test_what_is_neither_is_rejected(game: GameUnderTest, given: str) -> None:
    with pytest.raises(TextError, match=r" is neither a file nor a position: .") as told:
        begin(game, given)
    assert "\n" not in str(told.value)


def test_a_file_without_a_position_is_named(game: GameUnderTest, tmp_path: Path) -> None:
    file = tmp_path / "file"
    for content in (b"rubbish", b"", b"\xff\xfe\xfa"):
        file.write_bytes(content)
        with pytest.raises(TextError, match="file") as told:
            begin(game, str(file))
        assert "\n" not in str(told.value)
        assert "is neither" not in str(told.value)
    with pytest.raises(TextError, match="cannot read"):
        begin(game, str(tmp_path))


@pytest.mark.parametrize(
    ("text", "value"), [("on", True), ("true", True), ("1", True), ("Off", False), ("0", False)]
)
def test_switches_of_rules_and_players_are_spelled_alike(text: str, *, value: bool) -> None:
    assert game_options.read_variants("ugolki", [f"play_out={text}"]) == {"play_out": value}


def test_the_start_by_options_and_a_position_exclude_each_other(game: GameUnderTest) -> None:
    known = games.load(game.name)
    text = known.position.start().text()
    for name, option in game.info.options.items():
        options = game_options.read_variants(game.name, [f"{name}={int(option.default)}"])
        assert game_options.read_start(known, None, options).position(known.position).text() == text
        if option.of_start:
            with pytest.raises(QuartetError, match=name):
                game_options.read_start(known, text, options)
        else:
            assert (
                game_options.read_start(known, text, options).position(known.position).text()
                == text
            )
