"""What a worker does with a log: it reviews it, with engines that live as long as the worker."""

from __future__ import annotations

import msgspec

from quartet.arena.cores import pin
from quartet.review.document import THRESHOLDS, Review
from quartet.review.reviewing import Opinion, opinion, review
from quartet.review.work import Piece, Unit

_opinions: dict[tuple[str, str, int | None, str], Opinion] = {}


def play(unit: Unit, cores: tuple[int, ...] | None = None) -> Piece:
    """Review a log; pure and idempotent. Raises QuartetError where an engine fails."""
    pin(cores)
    return Piece(unit.number, unit.name, msgspec.json.encode(reviewed(unit)))


def reviewed(unit: Unit) -> Review:
    """The review of a unit."""
    if unit.complaint:
        return Review(log=unit.name, complaint=unit.complaint)

    def opinions(game: str) -> list[Opinion]:
        return [known(game, engine, unit.nodes, unit.calibration) for engine in unit.engines]

    return review(
        unit.name,
        unit.data,
        opinions,
        game=unit.game,
        thresholds=unit.thresholds or THRESHOLDS,
        candidates=unit.candidates,
    )


def known(game: str, engine: str, nodes: int | None, calibration: str) -> Opinion:
    """An engine of this worker, made when it is first needed."""
    key = game, engine, nodes, calibration
    if key not in _opinions:
        _opinions[key] = opinion(*key)
    return _opinions[key]


def close() -> None:
    """End the engines that are programs."""
    while _opinions:
        _opinions.popitem()[1].asker.close()
