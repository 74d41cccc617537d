"""The built-in players of Ugolki, by name. All strong players but `bot` are frozen: opponents in
measurements must not change with the engine."""

from __future__ import annotations

from random import Random

from core.engine import configured
from core.errors import RuleError
from core.players import Greedy, Uniform, frozen_player
from ugolki.geometry import distance
from ugolki.protocol import PASS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from core.engine import Searcher
    from core.rules import Move, Position

PACKED = ("bot", "greedy", "random")
"""The players that a submission contains."""
NAMES = (*PACKED, "brs:5", "uct:1000", "beam:100", "bot2611", "ucb", "pool:3", "pool:9", "pool:17")


def player(name: str, seed: int | None = None) -> Searcher[Any]:
    """Return a built-in player by name, with options as in bot:weights=FILE.

    Args:
        name: Name and options.
        seed: Seed of its random choices; None: not reproducible.

    Raises:
        UnknownNameError: There is no such player.
        TextError: An option is wrong.
        ImportError: The player's module is not compiled, or not in this package.
    """
    return configured(name, lambda bare: _maker(bare, seed))


def _frozen() -> Callable[..., Any]:
    from ugolki.frozen.players import player  # noqa: PLC0415  (no package has it)

    return player


def _maker(name: str, seed: int | None) -> Callable[..., Searcher[Any]]:
    if name == "bot":
        from ugolki.engine import Engine  # noqa: PLC0415  (compiled)

        return Engine
    if name == "greedy":
        return lambda: Greedy(Random(seed), gain, playing_on)  # one ply, own penalty only
    if name == "random":
        return lambda: Uniform(Random(seed), playing_on)
    return frozen_player(_frozen, name, PACKED, (*NAMES, "or other numbers"), seed)


def gain(position: Position, move: Move) -> int:
    """Return the reduction of the mover's penalty by a move."""
    seat = position.to_move
    return (
        0 if move == PASS else distance(seat, move[0], move[1]) - distance(seat, move[2], move[3])
    )


def playing_on(position: Position) -> list[Move]:
    """Return the playable moves, even if a player is home: a judge may finish the round. Raises
    RuleError if no piece can move."""
    moves = position.legal() or position.pseudolegal()
    if not moves:
        raise RuleError("no piece can move")
    return moves
