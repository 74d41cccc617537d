"""A game for the judge: its reference rules and its protocol, with types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from core.errors import TextError
from core.messages import SIDES
from core.rules import GameInfo, LineJudge, LineProtocol, Move, Position
from core.scene import SceneModule
from quartet import registry


@dataclass(frozen=True)
class JudgedGame:
    """What the judge needs of a game.

    Attributes:
        info: The game's data sheet.
        position: Class of its reference positions.
        pass_move: The move of a seat that has no other.
        protocol: The judge's protocol. Games by the file protocol have only `parse_answer` and
            `format_answer`.
    """

    info: GameInfo
    position: type[Position]
    pass_move: Move
    protocol: LineProtocol

    def label(self, seat: int) -> str:
        """Return the name of a seat: the judge's, or its number from 1."""
        return SIDES[seat] if self.info.lines is not None else str(seat + 1)

    def check_options(self, options: Mapping[str, bool | int]) -> None:
        """Raise TextError for variants of the rules that the game does not have."""
        for name, value in options.items():
            if name not in self.info.options:
                known = ", ".join(self.info.options) or "none"
                raise TextError(f"{self.info.name} has no option {name!r}; there are: {known}")
            rule = self.info.options[name]
            if type(value) is not type(rule.default) or value < rule.least:
                raise TextError(f"option {name} of {self.info.name} cannot be {value!r}")

    def lasting(self, options: Mapping[str, bool | int]) -> dict[str, bool | int]:
        """Return the options that hold after the start, too."""
        known = self.info.options
        return {name: value for name, value in options.items() if not known[name].of_start}

    @property
    def lines(self) -> LineJudge:
        """The line protocol's settings. Raises ValueError if the judge has another protocol."""
        if self.info.lines is None:
            raise ValueError(f"the judge of {self.info.name} does not speak lines")
        return self.info.lines


@dataclass(frozen=True)
class Start:
    """Where a game begins.

    Attributes:
        seed: Seed of the board, the bag, or the opening.
        options: Variants of the rules, as for `Position.start`.
        text: A position instead, as for `Position.parse`.
    """

    seed: int
    options: Mapping[str, bool | int]
    text: str | None = None

    def position(self, rules: Any) -> Any:
        """Return the start by these rules, the reference or the fast ones. Raises TextError."""
        if self.text is not None:
            return rules.parse(self.text, **self.options)
        return rules.start(self.seed, **self.options)


def scene(game: str) -> SceneModule:
    """Return the `scene.py` of a game. Raises NotBuiltError if it has none."""
    return cast("SceneModule", registry.load(game, "scene"))


@cache
def load(name: str) -> JudgedGame:
    """Return the game called `name`.

    Raises:
        UnknownNameError: There is no such game.
        NotBuiltError: It needs compiled modules even for its rules.
    """
    reference = registry.load(name, "reference")
    protocol: Any = registry.load(name, "protocol")
    return JudgedGame(reference.INFO, reference.Position, reference.PASS, protocol)
