"""The Python API, `quartet.game(NAME)`, works for every game of the registry."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import quartet
from core.errors import QuartetError, TextError, UnknownNameError
from quartet.judge.logs import jsonl, official
from tests.games import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.games import GameUnderTest


def test_unknown_games_and_players_are_rejected(whole_game: GameUnderTest) -> None:
    with pytest.raises(UnknownNameError, match="no game is called 'chess'"):
        quartet.game("chess")
    with pytest.raises(UnknownNameError, match="no built-in player 'unknown'"):
        quartet.game(whole_game.name).player("unknown")
    with pytest.raises(TextError):
        quartet.game(whole_game.name).parse("rubbish")


def test_a_move_is_found_written_and_read(whole_game: GameUnderTest) -> None:
    game = quartet.game(whole_game.name)
    position = game.start(3)
    found = game.engine().choose(position, quartet.Limits(nodes=500))
    assert found.move in position.legal()
    assert game.read(game.write(found.move, position), position) == found.move
    assert position.play(found.move).ply == position.ply + 1


def test_a_game_is_played_and_its_log_checked(whole_game: GameUnderTest, tmp_path: Path) -> None:
    game = quartet.game(whole_game.name)
    players = ["bot", *["greedy"] * (game.info.players - 1)]
    match = game.play(players, seed=2, nodes=50)
    assert match.result is not None
    assert match.position.over
    assert sum(match.result.shares) == pytest.approx(1)
    if game.info.lines is not None:
        data = official.text(match).encode()
    else:
        data = jsonl.line(jsonl.header(match))
        data += b"".join(map(jsonl.line, match.turns)) + jsonl.line(match.result)
    (tmp_path / "log").write_bytes(data)
    for log in (data, tmp_path / "log", str(tmp_path / "log")):
        checked = game.check(log)
        assert checked.agrees, checked.complaint
        assert [turn.move for turn in checked.turns] == [turn.move for turn in match.turns]
    review = game.review(data, nodes=50)
    assert len(review.turns) == len(match.turns)
    assert review.scores == match.result.scores
    with pytest.raises(QuartetError, match="empty"):
        game.review(b"")
    with pytest.raises(QuartetError, match="cannot read"):
        game.review(tmp_path / "none")


def test_unknown_options_are_rejected(whole_game: GameUnderTest) -> None:
    game = quartet.game(whole_game.name)
    for make in (game.start, lambda **options: game.parse(game.start().text(), **options)):
        with pytest.raises(QuartetError, match="has no option foo here; there are: "):
            make(foo=1)


@pytest.mark.parametrize("bound", ["nodes", "depth", "multipv"])
def test_a_search_without_nodes_is_rejected(bound: str) -> None:
    """It would not end."""
    with pytest.raises(QuartetError, match=f"{bound} of at least 1, not 0"):
        quartet.Limits(**{bound: 0})


@pytest.mark.parametrize("ms", [0, -1, float("nan"), float("inf")])
def test_a_clock_is_positive_and_finite(ms: float) -> None:
    with pytest.raises(QuartetError, match="a clock must be positive and finite"):
        quartet.game("ataxx").play(["greedy", "greedy"], ms=ms)


def test_import_quartet_is_lazy() -> None:
    code = "import sys, quartet; print([name for name in sys.modules if 'judge' in name])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_the_module_name_of_version_1_0_remains() -> None:
    from quartet import api, face  # noqa: PLC0415

    assert face.Game is api.Game
