"""A game as the referee sees it: its reference rules and its protocol, with types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

from core.errors import QuartetError
from core.rules import DrawnPosition, GameInfo, LineJudge, LineProtocol, Move
from quartet import registry

if TYPE_CHECKING:
    from collections.abc import Callable


class TablePosition(DrawnPosition, Protocol):
    """A reference position of a game whose seats may stay empty; `text()` is what the seat to move
    is sent."""

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
    """The game called `name`. Raises UnknownNameError, and NotBuiltError where a game needs
    compiled modules even for this."""
    reference = registry.load(name, "reference")
    protocol = registry.load(name, "protocol")
    return Game(
        reference.INFO,
        reference.Position,
        reference.PASS,
        protocol.parse_answer,
        protocol.format_answer,
    )


@dataclass(frozen=True)
class LineGame:
    """What the referee needs of a game whose judge speaks lines.

    Attributes:
        info: the game's data sheet; judge: the part of it that is about lines.
        position: the class of its reference positions.
        pass_move: the game's PASS.
        protocol: the judge's language.
    """

    info: GameInfo
    judge: LineJudge
    position: type[DrawnPosition]
    pass_move: Move
    protocol: LineProtocol


def load_lines(name: str) -> LineGame:
    """The game called `name`. Raises UnknownNameError, and QuartetError where its judge does not
    speak lines."""
    reference = registry.load(name, "reference")
    info: GameInfo = reference.INFO
    if info.lines is None:
        raise QuartetError(f"the judge of {name} does not speak lines")
    protocol: Any = registry.load(name, "protocol")
    return LineGame(info, info.lines, reference.Position, reference.PASS, protocol)
