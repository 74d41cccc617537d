"""Messages of the line protocol, and entries of its logs, as values that know no game.

Plain classes, because agents import them when they start.
"""

from __future__ import annotations

SIDES = ("FIRST", "SECOND")
"""The judge's names of the seats."""
READY_ANSWER = "OK"


class Value:
    """A value: equal to another one of its class if all parts are equal."""

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
    """The judge starts a game and names the program's seat; the answer is READY_ANSWER."""

    __slots__ = ("seat",)

    def __init__(self, seat: int) -> None:
        self.seat = seat


class Init(Value):
    """The start position, as a text for `Position.parse`. Also an entry of logs.

    Writing omits what the judge keeps secret (the order of a bag); reading assumes something.
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class YourTurn(Value):
    """The judge asks for a move.

    Attributes:
        mine: Milliseconds on the program's clock.
        theirs: Milliseconds on the opponent's clock.
    """

    __slots__ = ("mine", "theirs")

    def __init__(self, mine: int, theirs: int) -> None:
        self.mine = mine
        self.theirs = theirs


class Drew(Value):
    """What the program has drawn after its move; None if nothing."""

    __slots__ = ("drawn",)

    def __init__(self, drawn: int | None) -> None:
        self.drawn = drawn


class Opponent(Value):
    """The opponent's move, its draw, and its time in milliseconds."""

    __slots__ = ("drawn", "move", "ms")

    def __init__(self, move: tuple[int, ...], drawn: int | None, ms: int) -> None:
        self.move = move
        self.drawn = drawn
        self.ms = ms


class Finish(Value):
    """The game is over, and the program must exit with status 0. Also in logs, before the
    scores."""

    __slots__ = ()


class Ply(Value):
    """Logs: the move of a seat, its draw, and its time in milliseconds."""

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
    """Logs: a seat has forfeited the game; the reason is the judge's code."""

    __slots__ = ("reason", "seat")

    def __init__(self, seat: int, reason: str) -> None:
        self.seat = seat
        self.reason = reason


class Winner(Value):
    """Logs: the seat that has won, None for a draw."""

    __slots__ = ("winner",)

    def __init__(self, winner: int | None) -> None:
        self.winner = winner


class Tag(Value):
    """Logs: a header field, such as the command of a player."""

    __slots__ = ("name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text


class Debug(Value):
    """Logs: a line of a player's standard error; seat None if the log does not name the player."""

    __slots__ = ("seat", "text")

    def __init__(self, seat: int | None, text: str) -> None:
        self.seat = seat
        self.text = text


Message = Ready | Init | YourTurn | Drew | Opponent | Finish
Entry = Init | Ply | Finish | Score | Abort | Winner | Tag | Debug
