"""Where positions come from: a match, a log, a game of a run, a text; and a line of moves from
there."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import msgspec

from core.errors import QuartetError
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.logs.check import check, origin
from quartet.web import views
from quartet.web.errors import Refused

if TYPE_CHECKING:
    from quartet.judge.game import Game
    from quartet.judge.logs.check import CheckedLog
    from quartet.web.views import Json

LARGEST = 2 * 2**20
"""Bytes of a log that is handed in."""
KEPT = 64 * 2**20
"""Bytes of the logs that are kept; the one that was not looked at for longest goes first."""
Seed = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
LONGEST_LINE = 400
"""Moves of a variation."""


class Source(msgspec.Struct, frozen=True):
    """Where a position comes from: of match, log, run with number, and game one.

    Attributes:
        match, log, run, game: str | None; a name. number: int | None; of a run's game.
        position: str | None; options: dict; seed: int; of a game's start.
        step: int | None; after so many turns, None for all of them.
        moves: list[str]; played from there.
    """

    match: str | None = None
    log: str | None = None
    run: str | None = None
    number: int | None = None
    game: str | None = None
    position: str | None = None
    options: dict[str, bool | int] = {}
    seed: Seed = 0
    step: int | None = None
    moves: list[str] = []


@dataclass(frozen=True)
class Place:
    """A position, and what is known of how it came about.

    Attributes:
        game: Game. truth: Position; by the reference rules.
        options: dict; variants of the rules, without those that choose a start.
        absent: frozenset[int]; seats where nobody sits.
        last: Json | None; seat and parts of the move before.
        secret: bool; whether chance goes on, so that its text would tell too much.
    """

    game: Game
    truth: Any
    options: dict[str, bool | int]
    absent: frozenset[int] = frozenset()
    last: Json | None = None
    secret: bool = False

    def shown(self) -> Json:
        """As the page looks at it."""
        return views.position(self.game, self.truth, self.last, secret=self.secret)

    def after(self, text: str) -> Place:
        """The place after a move. Raises QuartetError."""
        if self.secret:
            raise Refused("what chance will give is not known while the game goes on")
        scene, truth = views.scenes(self.game.info.name), self.truth
        move = scene.read(text, truth)
        last = {"seat": truth.to_move, "parts": list(scene.parts(move, truth))}
        truth = truth.play(move)
        while not truth.over and truth.to_move in self.absent:
            truth = truth.lose_turn()
        return Place(self.game, truth, self.options, self.absent, last)

    def start(self) -> Start:
        """Where a match begins that goes on from here."""
        return Start(0, self.options, self.truth.text())

    @property
    def shift(self) -> int:
        """The seat that sits first in such a match: a position whose text is seen by the seat to
        move turns the table."""
        parsed = self.start().position(self.game.position)
        return int(self.truth.to_move - parsed.to_move) % self.game.info.players


class Origin(Protocol):
    """Who has the logs of matches and runs."""

    def match_log(self, name: str) -> tuple[bytes, bool]:
        """The log of a match so far, in our form, and whether it goes on. Raises Refused."""
        ...

    def run_log(self, name: str, number: int) -> tuple[bytes, bool]:
        """The log of a run's game, and whether it goes on. Raises Refused."""
        ...


class Logs:
    """The logs that were handed in."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[str, bytes]] = OrderedDict()

    def add(self, name: str, data: bytes) -> str:
        """Keep a log; the same content has the same id."""
        key = hashlib.sha256(data).hexdigest()[:16]
        self._kept[key] = (name, data)
        self._kept.move_to_end(key)
        while sum(len(kept) for _, kept in self._kept.values()) > KEPT:
            self._kept.popitem(last=False)
        return key

    def get(self, key: str) -> tuple[str, bytes]:
        """Name and content. Raises Refused."""
        if key not in self._kept:
            raise Refused("this log is not here any more; drop it on the page again", 404)
        self._kept.move_to_end(key)
        return self._kept[key]


class Sources:
    """All of them together; what takes long is to be done in a thread."""

    def __init__(self, logs: Logs, origin: Origin) -> None:
        self.logs, self._origin = logs, origin

    def data(self, source: Source) -> tuple[bytes, bool]:
        """The log of a source, and whether its game goes on. Raises Refused."""
        if source.match is not None:
            return self._origin.match_log(source.match)
        if source.log is not None:
            return self.logs.get(source.log)[1], False
        if source.run is not None and source.number is not None:
            return self._origin.run_log(source.run, source.number)
        raise Refused("name a match, a log, or a run and the number of its game", 400)

    def checked(self, source: Source) -> tuple[CheckedLog, bool]:
        """The log, checked, and whether its game goes on. Raises Refused and QuartetError."""
        data, goes_on = self.data(source)
        return checked(data), goes_on

    def place(self, source: Source) -> Place:
        """The position that a source names. Raises Refused and QuartetError."""
        place = self._root(source)
        for text in source.moves:
            place = place.after(text)
        return place

    def trail(self, source: Source) -> list[Place]:
        """The same, with all positions on the line of moves."""
        found = [self._root(source)]
        for text in source.moves:
            found.append(found[-1].after(text))
        return found

    def _root(self, source: Source) -> Place:
        if len(source.moves) > LONGEST_LINE:
            raise Refused("such a long line of moves is not followed", 413)
        if source.game is not None:
            game = games.load(source.game)
            views.check_options(game, source.options)
            start = Start(source.seed, source.options, source.position)
            return Place(game, start.position(game.position), lasting(game, source.options))
        found, goes_on = self.checked(source)
        match = found.match
        if match is None:
            raise QuartetError(found.complaint or "there is no game")
        steps = len(found.turns)
        step = steps if source.step is None else source.step
        if not 0 <= step <= steps:
            raise Refused(f"there is no step {step}; the game has {steps}", 404)
        last = None
        if step > 0 and (turn := found.turns[step - 1]).move is not None:
            scene = views.scenes(found.game.info.name)
            parts = list(scene.parts(turn.move, found.positions[step - 1]))
            last = {"seat": turn.seat, "parts": parts}
        return Place(
            found.game,
            found.positions[step],
            lasting(found.game, dict(match.start.options)),
            frozenset(seat for seat, name in enumerate(match.names) if name is None),
            last,
            goes_on and found.game.info.chance,
        )


def lasting(game: Game, options: dict[str, bool | int]) -> dict[str, bool | int]:
    """The options that a position has, too."""
    known = game.info.options
    return {name: value for name, value in options.items() if not known[name].of_start}


@lru_cache(maxsize=64)
def checked(data: bytes) -> CheckedLog:
    """A log of a game that is found out. Raises QuartetError."""
    if not data.strip():
        raise QuartetError("the log is empty")
    name = origin(data)
    if name is None:
        raise QuartetError("this is no log of a game that is known here")
    return check(games.load(name), data)
