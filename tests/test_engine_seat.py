"""Built-in players in this process: they play the same, whatever rules the match is judged by."""

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
    from tests.games import Game

NODES = 300
PLIES = 40


class Anyone:
    """Plays any move, the same one however the board is turned to its side: a search's noise comes
    in another order there. Nobody can tell it what others do: where programs are started anew for
    every move, only a match by the fast rules tells."""

    def __init__(self, game: Game) -> None:
        self._write = games.load(game.name).protocol.format_answer

    def choose(
        self,
        position: Any,
        limits: Limits,
        report: Callable[[SearchInfo], None] | None = None,
    ) -> SearchInfo:
        """Of the moves as their player sees them, one that follows from all of them."""
        del limits, report
        found = {self._write(move, position.to_move): move for move in position.legal()}
        texts = sorted(found)
        return SearchInfo(found[texts[crc32("".join(texts).encode()) % len(texts)]])


def moves(game: Game, seed: int, *, fast: bool) -> tuple[list[Move | None], str]:
    """What the engine plays against itself, at most so many plies, and where that leads."""
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


def test_reference_rules_and_fast_rules_see_the_same_game(whole_game: Game) -> None:
    for seed in (1, 2):
        assert moves(whole_game, seed, fast=False) == moves(whole_game, seed, fast=True)
