"""Who plays a match and how it starts, from a request; the record of a match."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from core.engine import options_of, write_player
from core.errors import QuartetError
from quartet.judge import game as games
from quartet.judge.game import JudgedGame, Start
from quartet.judge.process.words import printable
from quartet.judge.seats import players as seating
from quartet.judge.seats.players import PERSON, PlayerSpec
from quartet.web.data_folder import Record
from quartet.web.errors import Refused
from quartet.web.payloads import Delay, MatchRequest, Pace, SeatRequest, Source
from quartet.web.sources import Sources

MAX_NAME = 40
"""Characters of a human's name."""


class SeatSpec(NamedTuple):
    """Who takes a seat of a match.

    Attributes:
        kind: person, engine, program or nobody.
        name: Name to show.
        command: Command of a program, or an engine with its options.
        seconds: Seconds per search of an engine.
        nodes: Nodes per search of an engine.
        link: Key of a guest's link to the seat; empty for any other player.
    """

    kind: str
    name: str = ""
    command: str = ""
    seconds: float | None = None
    nodes: int | None = None
    link: str = ""

    @property
    def is_limited(self) -> bool:
        """True for an engine that searches by its own limits, not by the match's clock."""
        return self.seconds is not None or self.nodes is not None


class MatchRecord(Record, kw_only=True):
    """A match: its worker plays by it, and the data folder has it next to the log.

    Attributes:
        payload: The request: clocks and penalty.
        seats: Who plays, in the match's order of seats.
        seed, options, position: The start.
        pace, delay: As humans have set them last.
        turns: Number of turns, if the match has ended.
        places: Places of all seats, if the match was played to its end.
        ended: True if nothing more will happen.
        error: Why the match was aborted.
        text: The judge's log.
        rematch: Id of the match that follows with the same players; empty if there is none.
    """

    payload: MatchRequest
    seats: list[SeatSpec]
    seed: int
    options: dict[str, bool | int]
    position: str | None
    pace: Pace
    delay: Delay
    turns: int = 0
    places: list[int | None] | None = None
    ended: bool = False
    error: str = ""
    text: str = ""
    rematch: str = ""

    @property
    def start(self) -> Start:
        """The first position."""
        return Start(self.seed, self.options, self.position)

    @property
    def humans(self) -> list[int]:
        """The seats of humans."""
        return [seat for seat, who in enumerate(self.seats) if who.kind == "person"]

    @property
    def guests(self) -> list[int]:
        """The seats of humans with a link."""
        return [seat for seat, who in enumerate(self.seats) if who.link]

    @property
    def engines(self) -> dict[int, str]:
        """Built-in players by seat."""
        return {seat: who.command for seat, who in enumerate(self.seats) if who.kind == "engine"}

    @property
    def running_clocks(self) -> list[bool]:
        """For every seat whether its clock runs."""
        return [
            who.kind == "program"
            or (who.kind == "person" and self.payload.person_clock)
            or (who.kind == "engine" and not who.is_limited)
            for who in self.seats
        ]


def match_record(
    payload: MatchRequest, sources: Sources, programs: Mapping[str, str]
) -> MatchRecord:
    """Return a new match; `programs` are commands by name. Raises QuartetError."""
    game = games.load(payload.game)
    game.check_options(payload.options)
    if len(payload.seats) != game.info.players:
        raise QuartetError(f"{payload.game} has {game.info.players} seats")
    seats = [_seat_spec(game, seat, programs) for seat in payload.seats]
    start = Start(payload.seed, payload.options)
    if payload.source is not None:
        located = sources.located(payload.source)
        if located.game is not game:
            raise Refused(f"this is a position of {located.game.info.name}", 400)
        start, shift = located.start(), located.shift
        seats = [*seats[shift:], *seats[:shift]]
        payload = msgspec.structs.replace(
            payload,
            seats=[*payload.seats[shift:], *payload.seats[:shift]],
            source=Source(game=payload.game, position=start.text, options=dict(start.options)),
        )
    return MatchRecord(
        game=payload.game,
        players=[None if seat.kind == "nobody" else printable(seat.name) for seat in seats],
        time=time.time(),
        payload=payload,
        seats=seats,
        seed=start.seed,
        options=dict(start.options),
        position=start.text,
        pace=payload.pace,
        delay=payload.delay,
    )


def _seat_spec(game: JudgedGame, payload: SeatRequest, programs: Mapping[str, str]) -> SeatSpec:
    """Return who takes a seat; `programs` are commands by name. Raises QuartetError."""
    name = payload.name
    if payload.kind == "nobody":
        if not game.info.empty_seats:
            raise QuartetError(f"every seat of {game.info.name} needs a player")
        return SeatSpec("nobody")
    if payload.kind in {"person", "guest"}:
        name = printable(" ".join(name.split()))[:MAX_NAME]
        unnamed = PERSON if payload.kind == "person" else payload.kind
        return SeatSpec("person", name or unnamed, link=payload.link)
    if payload.kind == "program":
        if name not in programs:
            raise Refused(f"no --player of `quartet serve` is called {name[:40]!r}", 422)
        PlayerSpec.parse(game.info.name, programs[name]).require()
        return SeatSpec("program", name, programs[name])
    command = player(game, name, payload.options)
    seconds = payload.ms and payload.ms / 1000
    return SeatSpec("engine", command, command, seconds, payload.nodes)


def player(game: JudgedGame, name: str, options: Mapping[str, bool | int | float]) -> str:
    """Return a built-in player with typed options, none of which names a file.

    Raises QuartetError for unknown names and options and for values out of range.
    """
    if name not in seating.names(game.info.name):
        raise QuartetError(f"{game.info.name} has no player {name[:40]!r}")
    declared = options_of(seating.built_in(game.info.name, name)) if options else ()
    by_name = {option.name: option for option in declared if option.kind is not str}
    settings = {}
    for key, value in options.items():
        if key not in by_name:
            raise QuartetError(f"{name} has no option {key[:40]!r}")
        settings[key] = by_name[key].text(by_name[key].check(value))
    return write_player(name, settings)
