"""Many reviews together: where, when and how games were lost."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import msgspec

from quartet.review import figures
from quartet.review.document import FORCED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from quartet.review.document import Review


class Loss(msgspec.Struct, frozen=True):
    """A turn that lost something.

    Attributes:
        number: int; of the log. log: str. game: str. turn: int; its number. ply: int.
        player: str. seat: int. move: str. best: str.
        loss: float | None; win probability. score_loss: float | None; in the engine's unit.
        label: str. kind: str. phase: str.
    """

    number: int
    log: str
    game: str
    turn: int
    ply: int
    player: str
    seat: int
    move: str
    best: str
    loss: float | None
    score_loss: float | None
    label: str
    kind: str
    phase: str


class Group(msgspec.Struct, frozen=True):
    """Turns that have something in common.

    Attributes:
        name: str. turns: int; with a choice. loss: float; win probability in all.
        mistakes: int; mistakes and blunders. accuracy: float | None; 0 to 100.
        games: int. shares: float; games won, by players alone.
    """

    name: str
    turns: int
    loss: float
    mistakes: int
    accuracy: float | None
    games: int = 0
    shares: float = 0.0


class Summary(msgspec.Struct, frozen=True):
    """What many reviews say.

    Attributes:
        logs: int. reviewed: int. complaints: list of [log, complaint].
        worst: list[Loss]. players, phases, kinds: list[Group].
    """

    logs: int
    reviewed: int
    complaints: list[tuple[str, str]]
    worst: list[Loss]
    players: list[Group]
    phases: list[Group]
    kinds: list[Group]


def losses(number: int, review: Review) -> Iterable[Loss]:
    """Every turn of a review that lost something."""
    for place, turn in enumerate(review.turns):
        if (turn.loss or 0) > 0 or (turn.loss is None and (turn.score_loss or 0) > 0):
            yield Loss(
                number,
                review.log,
                review.game,
                place,
                turn.ply,
                player(review, turn.seat),
                turn.seat,
                turn.move,
                turn.best.move if turn.best is not None else "-",
                turn.loss,
                turn.score_loss,
                turn.label,
                turn.kind,
                figures.phase(place, len(review.turns)),
            )


def player(review: Review, seat: int) -> str:
    """Who sat there."""
    return review.players[seat] or review.names[seat]


def summary(reviews: Sequence[Review], worst: int) -> Summary:
    """All reviews together."""
    good = [(number, review) for number, review in enumerate(reviews) if not review.complaint]
    every = [loss for number, review in good for loss in losses(number, review)]
    every.sort(key=lambda loss: (-(loss.loss or 0.0), -(loss.score_loss or 0.0), loss.number))
    groups: dict[str, dict[str, list[tuple[float, str]]]] = {
        "player": defaultdict(list),
        "phase": defaultdict(list),
        "kind": defaultdict(list),
    }
    played: dict[str, list[float]] = defaultdict(list)
    for _, review in good:
        for seat in review.seats:
            if seat.player is not None and review.shares:
                played[seat.player].append(review.shares[seat.seat])
        for number, turn in enumerate(review.turns):
            if turn.loss is None or turn.label == FORCED:
                continue
            entry = turn.loss, turn.label
            groups["player"][player(review, turn.seat)].append(entry)
            groups["phase"][figures.phase(number, len(review.turns))].append(entry)
            if turn.kind:
                groups["kind"][turn.kind].append(entry)
    order = {"opening": 0, "middle": 1, "end": 2}
    return Summary(
        logs=len(reviews),
        reviewed=len(good),
        complaints=[(r.log, r.complaint) for r in reviews if r.complaint],
        worst=every[:worst],
        players=sorted(
            (
                msgspec.structs.replace(
                    _group(name, turns), games=len(played[name]), shares=sum(played[name])
                )
                for name, turns in groups["player"].items()
            ),
            key=lambda group: -(group.accuracy or 0.0),
        ),
        phases=sorted(
            (_group(n, t) for n, t in groups["phase"].items()), key=lambda g: order[g.name]
        ),
        kinds=sorted((_group(n, t) for n, t in groups["kind"].items()), key=lambda g: -g.loss),
    )


def _group(name: str, turns: Sequence[tuple[float, str]]) -> Group:
    return Group(
        name,
        len(turns),
        round(sum(loss for loss, _ in turns), 4),
        sum(figures.severity(label) >= figures.severity("mistake") for _, label in turns),
        figures.accuracy([loss for loss, _ in turns]),
    )


def document(reviews: Sequence[Review], found: Summary) -> dict[str, Any]:
    """Both for machines."""
    return {
        "version": 1,
        "summary": msgspec.to_builtins(found),
        "reviews": [msgspec.to_builtins(review) for review in reviews],
    }
