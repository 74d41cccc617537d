"""The bodies and queries of requests; docs/web-api.md lists the routes that take them."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from quartet.arena.catalogue import Filter

MAX_SECONDS = 600.0
"""Seconds after which a search or an analysis ends by itself."""
MAX_GAMES = 500
"""Games on one page of a run's list."""
MAX_LOG = 2 * 2**20
"""Bytes of a log."""
MAX_SEED = 2**31
"""Seeds of games are below it."""
MAX_WAIT = 10**12
"""Milliseconds of a clock, or before a turn of a player that is no human."""
Seed = Annotated[int, msgspec.Meta(ge=0, lt=MAX_SEED)]
Nodes = Annotated[int, msgspec.Meta(ge=1, le=10**9)]
Pace = Literal["run", "pause", "step"]
Delay = Annotated[int, msgspec.Meta(ge=0, le=MAX_WAIT)]
Options = dict[str, bool | int | float]


class Source(msgspec.Struct, frozen=True):
    """A position: of a match, a log, a game of a run, or a game's start.

    Attributes:
        match: Id of a match.
        log: Id of a log.
        run: Name of a run.
        number: Number of the run's game.
        game: Name of a game.
        position: Text of the game's position; None for its start.
        options: Variants of the game's rules.
        seed: Seed of the game's start.
        step: Number of turns before the position; None for all.
        moves: Moves that follow.
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


class PositionRequest(Source, frozen=True):
    """A source. With `trail` all positions on its line of moves are requested."""

    trail: bool = False


class ComposeRequest(Source, frozen=True):
    """A source whose pieces are replaced: names of cells with numbers in the game's palette."""

    board: dict[str, int] | None = None
    to_move: int = 0


class SeatRequest(msgspec.Struct, frozen=True):
    """Who plays on a seat: a human by any name, or a player or program by its name. A guest is a
    human with a link."""

    kind: Literal["person", "guest", "engine", "program", "nobody"]
    name: str = ""
    link: str = ""
    options: Options = {}
    ms: Annotated[float, msgspec.Meta(gt=0, le=1000 * MAX_SECONDS)] | None = None
    nodes: Nodes | None = None


class MatchRequest(msgspec.Struct, frozen=True):
    """A new match."""

    game: str
    seats: list[SeatRequest]
    seed: Seed = 0
    options: dict[str, bool | int] = {}
    clock: Annotated[float, msgspec.Meta(ge=1, le=MAX_WAIT)] | None = None
    person_clock: bool = False
    cpu: bool = False
    disqualify: bool = False
    source: Source | None = msgspec.field(name="from", default=None)
    pace: Pace = "run"
    delay: Delay = 0


class ActionRequest(msgspec.Struct, frozen=True):
    """What a human does in a match: `move` takes `step` and `parts` or `text`; `pace` the rest."""

    step: int | None = None
    parts: list[str] | None = None
    text: str | None = None
    seat: int | None = None
    pace: Pace = "run"
    delay: Delay = 0


class ReviewRequest(msgspec.Struct, frozen=True):
    """A new review."""

    source: Source = msgspec.field(name="from")
    nodes: Nodes | None = None
    engine: str = "bot"
    candidates: Annotated[int, msgspec.Meta(ge=0, le=20)] = 3


class RetryRequest(msgspec.Struct, frozen=True):
    """Another move for a turn of a review, as text or parts."""

    number: int
    move: str | None = None
    parts: list[str] = []


class DeeperRequest(msgspec.Struct, frozen=True):
    """A turn of a review, to be reviewed again with other nodes per search."""

    number: int
    nodes: Nodes


class AnalysisRequest(msgspec.Struct, frozen=True):
    """A new analysis of a position."""

    source: Source = msgspec.field(name="from")
    player: str = "bot"
    options: Options = {}
    seconds: float | None = None
    nodes: Nodes | None = None
    lines: Annotated[int, msgspec.Meta(ge=1, le=20)] = 1


class OpeningsRequest(msgspec.Struct, frozen=True):
    """A position, to be looked up, and how many of its games to list."""

    source: Source = msgspec.field(name="from")
    limit: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 10


class GamesRequest(Filter, frozen=True):
    """A page of a run's games."""

    result: Literal["win", "draw", "loss"] | None = None
    sort: Literal["number", "plies", "seconds"] = "number"
    order: str = "asc"
    offset: int = 0
    limit: int = 100
