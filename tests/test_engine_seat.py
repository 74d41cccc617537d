"""Built-in players in this process: they play the same, whatever rules the match is judged by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.match import Match
from quartet.judge.seats.engine import EngineSeat, fast_rules
from quartet.judge.table import table_rules

if TYPE_CHECKING:
    from core.engine import Searcher
    from core.rules import Move
    from tests.games import Game

NODES = 300
PLIES = 40


class Deaf:
    """A player that nobody can tell what others do: where programs are started anew for every
    move, only a match by the fast rules tells."""

    def __init__(self, player: Searcher[Any]) -> None:
        self.choose = player.choose


def moves(game: Game, seed: int, *, fast: bool) -> tuple[list[Move | None], str]:
    """What the engine plays against itself, at most so many plies, and where that leads."""
    known = games.load(game.name)
    seats = [
        EngineSeat(game.name, "bot", number, nodes=NODES, clock=False)
        for number in range(game.info.players)
    ]
    if game.info.exchange is not None:
        for seat in seats:
            seat.player = Deaf(seat.player)
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
