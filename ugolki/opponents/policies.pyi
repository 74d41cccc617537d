"""Opponent policies, see policies.pxd."""

from core.rules import Move
from ugolki.rules import Position

class Stop:
    """Says when to end.

    Attributes:
        asked: whether somebody wants what goes on to end.
    """

    @property
    def asked(self) -> bool: ...

def predict(position: Position, policy: int, level: int, stop: Stop | None = None) -> list[Move]:
    """The moves of the seat to move by a policy, from 0, at a level, from 0, one as likely as
    another; worthless once `stop` is asked.

    There are none where no piece can move. Raises ValueError for other numbers.
    """

def likelihood(
    position: Position, move: Move, policy: int, level: int, stop: Stop | None = None
) -> float:
    """How likely somebody who always follows the policy makes the move; worthless once `stop` is
    asked. Raises ValueError as `predict` does."""
