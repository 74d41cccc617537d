"""Built-in players in this process play the same with both kinds of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

from core.limits import Limits, SearchInfo
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.match import Match
from quartet.judge.seats.engine import EngineSeat, fast_rules
from quartet.judge.table import table_rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.rules import Move
    from tests.games import GameUnderTest

NODES = 300
PLIES = 40


class Anyone:
    """A player whose move does not depend on how the board is rotated.

    A search's noise comes in another order there. It observes no opponents: if programs start once
    per move, only matches by the fast rules report moves to players.
    """

    def __init__(self, game: GameUnderTest) -> None:
        self._write = games.load(game.name).protocol.format_answer

    def choose(
        self,
        position: Any,
        limits: Limits,
        report: Callable[[SearchInfo], None] | None = None,
    ) -> SearchInfo:
        """Return a move that depends on all moves, as their player sees them."""
        del limits, report
        found = {self._write(move, position.to_move): move for move in position.legal()}
        texts = sorted(found)
        return SearchInfo(found[texts[crc32("".join(texts).encode()) % len(texts)]])


def moves(game: GameUnderTest, seed: int, *, fast: bool) -> tuple[list[Move | None], str]:
    """Return the engine's moves against itself, and the final position."""
    known = games.load(game.name)
    seats = [
        EngineSeat(game.name, "bot", number, nodes=NODES, clock=False)
        for number in range(game.info.players)
    ]
    if game.info.exchange is not None:
        for seat in seats:
            seat.player = Anyone(game)
    rules = fast_rules(game.name) if fast else None
    names = ["bot"] * len(seats)
    table = table_rules(game.info)
    with Match(known, seats, names, table, Start(seed, {}), rules=rules) as match:
        for turn in match.play():
            assert not turn.verdict.lost, turn.reason
            if turn.ply == PLIES:
                break
        return [turn.move for turn in match.turns], match.position.text()


def test_both_rules_give_the_same_game(whole_game: GameUnderTest) -> None:
    for seed in (1, 2):
        assert moves(whole_game, seed, fast=False) == moves(whole_game, seed, fast=True)
