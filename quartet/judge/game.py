"""A game as the judge sees it: its reference rules and its protocol, with types."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, Self

from core.messages import SIDES
from core.rules import GameInfo, LineJudge, LineProtocol, Move, Position
from quartet import registry

if TYPE_CHECKING:
    from collections.abc import Mapping


class TablePosition(Position, Protocol):
    """A reference position of a game whose seats may stay empty; `text()` is what the seat to move
    is sent."""

    def without(self, seat: int) -> Self:
        """The position with nobody on `seat`: its pieces are off the board."""
        ...


@dataclass(frozen=True)
class Game:
    """What the judge needs of a game.

    Attributes:
        info: GameInfo; the game's data sheet.
        position: type; the class of its reference positions.
        pass_move: Move; of a seat that is stuck.
        protocol: the judge's language. Games whose judge exchanges files have `parse_answer` and
            `format_answer` alone.
    """

    info: GameInfo
    position: type[Position]
    pass_move: Move
    protocol: LineProtocol

    def label(self, seat: int) -> str:
        """What people call a seat: as the judge does, or by its number from 1."""
        return SIDES[seat] if self.info.lines is not None else str(seat + 1)

    @property
    def lines(self) -> LineJudge:
        """How the judge speaks lines. Raises ValueError where it does not."""
        if self.info.lines is None:
            raise ValueError(f"the judge of {self.info.name} does not speak lines")
        return self.info.lines


@dataclass(frozen=True)
class Start:
    """Where a game begins.

    Attributes:
        seed: int; of the board, the bag, the opening, where chance chooses them.
        options: Mapping; variants of the rules, as `Position.start` takes them.
        text: str | None; a position instead, as `Position.parse` reads it.
    """

    seed: int
    options: Mapping[str, bool | int]
    text: str | None = None

    def position(self, rules: Any) -> Any:
        """The start by these rules, be they the reference or the fast ones. Raises TextError."""
        if self.text is not None:
            return rules.parse(self.text, **self.options)
        return rules.start(self.seed, **self.options)


@cache
def load(name: str) -> Game:
    """The game called `name`.

    Raises:
        UnknownNameError: there is none.
        NotBuiltError: it needs compiled modules even for this.
    """
    reference = registry.load(name, "reference")
    protocol: Any = registry.load(name, "protocol")
    return Game(reference.INFO, reference.Position, reference.PASS, protocol)
