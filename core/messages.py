"""What a judge that speaks lines says to a program, and what its log holds, as values that know no
game.

Plain classes: the agents import them when they start.
"""

from __future__ import annotations

SIDES = ("FIRST", "SECOND")
"""The seats, as these judges call them."""
READY_ANSWER = "OK"


class Value:
    """Equal to another of its kind when all parts are."""

    __slots__: tuple[str, ...] = ()

    def _parts(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Value)
            and type(other) is type(self)
            and other._parts() == self._parts()
        )

    def __hash__(self) -> int:
        return hash((type(self), self._parts()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._parts()))})"


class Ready(Value):
    """A game begins, and this is your seat. To be answered with READY_ANSWER."""

    __slots__ = ("seat",)

    def __init__(self, seat: int) -> None:
        self.seat = seat


class Init(Value):
    """The start position, as a text for `Position.parse`.

    What the judge does not tell (the order of a bag) is left out when it is written, and assumed
    when it is read. Also in logs.
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Turn(Value):
    """It is your turn; the clocks of both, in milliseconds. To be answered with a move."""

    __slots__ = ("mine", "theirs")

    def __init__(self, mine: int, theirs: int) -> None:
        self.mine = mine
        self.theirs = theirs


class Drew(Value):
    """What chance gave you after your move, None when it gave nothing."""

    __slots__ = ("drawn",)

    def __init__(self, drawn: int | None) -> None:
        self.drawn = drawn


class Opponent(Value):
    """The opponent's move, what chance gave it, and the milliseconds it took."""

    __slots__ = ("drawn", "move", "ms")

    def __init__(self, move: tuple[int, ...], drawn: int | None, ms: int) -> None:
        self.move = move
        self.drawn = drawn
        self.ms = ms


class Finish(Value):
    """The game is over: end yourself, with status 0. Also in logs, where the scores follow."""

    __slots__ = ()


class Ply(Value):
    """Logs: the move of a seat, what chance gave it, and the milliseconds it took."""

    __slots__ = ("drawn", "move", "ms", "seat")

    def __init__(self, seat: int, move: tuple[int, ...], drawn: int | None, ms: int) -> None:
        self.seat = seat
        self.move = move
        self.drawn = drawn
        self.ms = ms


class Score(Value):
    """Logs: the final score of a seat."""

    __slots__ = ("score", "seat")

    def __init__(self, seat: int, score: int) -> None:
        self.seat = seat
        self.score = score


class Abort(Value):
    """Logs: a seat has lost by a foul; the reason is the judge's code for it."""

    __slots__ = ("reason", "seat")

    def __init__(self, seat: int, reason: str) -> None:
        self.seat = seat
        self.reason = reason


class Outcome(Value):
    """Logs: who has won, None for a draw."""

    __slots__ = ("winner",)

    def __init__(self, winner: int | None) -> None:
        self.winner = winner


class Tag(Value):
    """Logs: a remark about the game in its header, such as the command of a player."""

    __slots__ = ("name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text


class Debug(Value):
    """Logs: a line that a player wrote to its standard error; seat None where the log does not say
    whose."""

    __slots__ = ("seat", "text")

    def __init__(self, seat: int | None, text: str) -> None:
        self.seat = seat
        self.text = text


Message = Ready | Init | Turn | Drew | Opponent | Finish
Entry = Init | Ply | Finish | Score | Abort | Outcome | Tag | Debug
