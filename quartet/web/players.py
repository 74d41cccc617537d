"""Players as requests name them."""

from __future__ import annotations

from collections.abc import Mapping

from core.engine import options_of, write_player
from core.errors import QuartetError
from quartet.judge.game import JudgedGame
from quartet.judge.process.words import printable
from quartet.judge.seats import players as seating
from quartet.judge.seats.players import PERSON, PlayerSpec
from quartet.web.errors import Refused
from quartet.web.match_worker import SeatSpec
from quartet.web.payloads import SeatRequest

MAX_NAME = 40
"""Characters of a human's name."""


def seat_spec(game: JudgedGame, payload: SeatRequest, programs: Mapping[str, str]) -> SeatSpec:
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
