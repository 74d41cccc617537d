"""Opponent policies, see policies.pxd."""

from core.rules import Move
from ugolki.rules import Position

def predict(position: Position, policy: int, level: int) -> list[Move]:
    """The moves of the seat to move by a policy, from 0, at a level, from 0, one as likely as
    another.

    There are none where no piece can move. Raises ValueError for other numbers.
    """

def likelihood(position: Position, move: Move, policy: int, level: int) -> float:
    """How likely somebody who always follows the policy makes the move. Raises ValueError as
    `predict` does."""
