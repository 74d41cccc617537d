"""A game as the referee sees it: its reference rules and its protocol, with types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

import registry
from core.rules import DrawnPosition, GameInfo, Move

if TYPE_CHECKING:
    from collections.abc import Callable


class TablePosition(DrawnPosition, Protocol):
    """A reference position of a game whose seats may stay empty; `text()` is what the seat to move is sent."""

    def without(self, seat: int) -> Self:
        """The position with nobody on `seat`: its pieces are off the board."""
        ...


@dataclass(frozen=True)
class Game:
    """What the referee needs of a game.

    Attributes:
        info: the game's data sheet.
        position: the class of its reference positions.
        pass_move: the move of a seat that is stuck.
        parse_answer: text, seat -> the move that the seat wrote. Raises TextError.
        format_answer: move, seat -> the text by which the seat plays it.
    """

    info: GameInfo
    position: type[TablePosition]
    pass_move: Move
    parse_answer: Callable[[str, int], Move]
    format_answer: Callable[[Move, int], str]


def load(name: str) -> Game:
    """The game called `name`. Raises UnknownNameError, and NotBuiltError where a game needs compiled modules even for this."""
    reference = registry.load(name, "reference")
    protocol = registry.load(name, "protocol")
    return Game(reference.INFO, reference.Position, reference.PASS, protocol.parse_answer, protocol.format_answer)
