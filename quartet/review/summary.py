"""Many reviews together: where, when and how games were lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from quartet.review import figures
from quartet.review.document import FORFEITED, Review


class Loss(msgspec.Struct, frozen=True):
    """A turn that lost something.

    Attributes:
        number: Number of the log.
        log, game: Path of the log and name of the game.
        turn, ply: Number of the turn and its ply.
        player, seat: Who moved.
        move, best: The move played and the best one.
        loss: Win probability lost; None without a calibration.
        score_loss: The same in the engine's unit.
        label, kind, phase: As in TurnReview; third of the game.
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
        name: Player, phase or kind of loss.
        turns: Number of turns with a choice.
        loss: Win probability lost in all of them together.
        mistakes: Number of mistakes and blunders.
        accuracy: 0 to 100; None if too few turns matter.
        games: Number of games, of players alone.
        shares: Games won, of players alone; a tie of k counts 1/k.
        forfeits: Number of forfeited turns.
    """

    name: str
    turns: int
    loss: float
    mistakes: int
    accuracy: float | None
    games: int = 0
    shares: float = 0.0
    forfeits: int = 0


class Summary(msgspec.Struct, frozen=True):
    """The summary of many reviews.

    Attributes:
        logs: Number of logs.
        reviewed: Number of logs without a complaint.
        complaints: [log, complaint] of the others.
        worst: The worst losses, the worst first.
        players, phases, kinds: Turns grouped.
    """

    logs: int
    reviewed: int
    complaints: list[tuple[str, str]]
    worst: list[Loss]
    players: list[Group]
    phases: list[Group]
    kinds: list[Group]


def losses(number: int, review: Review) -> Iterable[Loss]:
    """Yield every turn of a review that lost something."""
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
    """Return the name of a seat's player, or that of the seat."""
    return review.players[seat] or review.names[seat]


def summary(reviews: Sequence[Review], worst: int) -> Summary:
    """Summarise reviews, listing up to `worst` losses."""
    good = [(number, review) for number, review in enumerate(reviews) if not review.complaint]
    every = sorted(
        (loss for number, review in good for loss in losses(number, review)),
        key=lambda loss: (-(loss.loss or 0.0), -(loss.score_loss or 0.0), loss.number),
    )
    players, phases, kinds = (defaultdict[str, list[figures.WeightedLoss]](list) for _ in range(3))
    won: dict[str, list[float]] = defaultdict(list)
    for _, review in good:
        for seat in review.seats:
            if seat.player is not None and review.shares:
                won[player(review, seat.seat)].append(review.shares[seat.seat])
        for number, decision in figures.weighted_losses(review.start, review.turns).items():
            turn = review.turns[number]
            keys = player(review, turn.seat), figures.phase(number, len(review.turns)), turn.kind
            for groups, key in zip((players, phases, kinds), keys, strict=True):
                if key:
                    groups[key].append(decision)
    ranked = (_group(name, turns, won[name]) for name, turns in players.items())
    return Summary(
        logs=len(reviews),
        reviewed=len(good),
        complaints=[(r.log, r.complaint) for r in reviews if r.complaint],
        worst=every[:worst],
        players=sorted(ranked, key=lambda group: -(group.accuracy or 0.0)),
        phases=[_group(name, phases[name]) for name in figures.PHASES if name in phases],
        kinds=sorted((_group(n, t) for n, t in kinds.items()), key=lambda g: -g.loss),
    )


def _group(name: str, turns: Sequence[figures.WeightedLoss], won: Sequence[float] = ()) -> Group:
    return Group(
        name,
        len(turns),
        round(sum(decision.loss for decision in turns), 4),
        sum(decision.label in figures.MISTAKES for decision in turns),
        figures.accuracy(turns),
        len(won),
        sum(won),
        sum(decision.label == FORFEITED for decision in turns),
    )


def document(reviews: Sequence[Review], found: Summary) -> dict[str, Any]:
    """Return summary and reviews as JSON can hold them."""
    return {
        "version": 1,
        "summary": msgspec.to_builtins(found),
        "reviews": [msgspec.to_builtins(review) for review in reviews],
    }
