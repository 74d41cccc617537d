"""The engine of noughts and crosses: a full search."""

from collections.abc import Callable
from typing import Any

from core.engine import Option
from core.limits import Limits, SearchInfo
from noughts.rules import Position

BENCH_LIMITS: Limits

class Engine:
    """Chooses moves."""

    CAPABILITIES: frozenset[str]
    SCORE_UNIT: str
    OPTIONS: tuple[Option, ...]

    def __init__(self, **options: Any) -> None:
        """Create an engine. `options` are those of OPTIONS. Raises UnknownNameError, TextError."""

    def new_game(self) -> None:
        """Do nothing: the engine stores nothing between searches."""

    def stop(self) -> None:
        """Do nothing: a search takes too little time to be stopped."""

    def choose(
        self, position: Position, limits: Limits, report: Callable[[SearchInfo], None] | None = None
    ) -> SearchInfo:
        """Search and return the best move. Only `limits.depth` has an effect.

        `report` is called once, with the result. Raises RuleError if the board is full.
        """
