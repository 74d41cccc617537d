"""The end of a match: programs are ended, and the result says who has won, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.messages import SIDES
from quartet.judge.process.words import printable
from quartet.judge.seats.seat import Seat
from quartet.judge.turn import Result, Termination, Turn, Verdict

if TYPE_CHECKING:
    from quartet.judge.match import Match

PHRASES = {Verdict.MALFORMED: "gave a bad answer", Verdict.ILLEGAL: "made an illegal move"}
"""What a player did whose forfeit the rules or the protocol have found."""


def end(match: Match, seats: Sequence[Seat | None], forfeit: Turn | None) -> Result:
    """End all seats of a match and return its result.

    Args:
        match: The match.
        seats: Its seats, None for an empty one.
        forfeit: The turn that lost the game; None if the game was played to its end.
    """
    offender = None if forfeit is None else forfeit.seat
    sitting = [(seat, player) for seat, player in enumerate(seats) if player is not None]
    notes = _same_engines([player for _, player in sitting])
    for seat, player in sitting:
        if seat != offender:
            player.dismiss(match)
    exits = [
        None if player is None else player.end(at_once=seat == offender)
        for seat, player in enumerate(seats)
    ]
    disqualified = () if offender is not None else tuple(sorted(match.disqualified))
    if offender is not None:
        match.disqualified.add(offender)
    scores, place, share = match.standing()
    ended = Termination.SCORE if place.count(1) == 1 else Termination.DRAW
    for seat, player in sitting:
        notes += [f"{match.game.label(seat)} {note}" for note in dict.fromkeys(player.notes)]
    return Result(
        plies=match.position.ply,
        scores=tuple(scores),
        places=tuple(place),
        shares=tuple(share),
        lost=tuple(match.lost),
        disqualified=disqualified,
        termination=ended if forfeit is None else Termination.of(forfeit.verdict),
        reason=_reason(match, forfeit, scores, place),
        offender=offender,
        code="" if forfeit is None else forfeit.code,
        overloaded=forfeit is not None and forfeit.overloaded,
        notes=tuple(notes),
        exits=tuple(exits) if any(exits) else (),
        said=match.pending(),
    )


def phrase(turn: Turn) -> str:
    """Return what the player of a forfeited turn did, as the rest of a sentence."""
    known = PHRASES.get(turn.verdict)
    reason = printable(turn.reason) if turn.verdict is Verdict.MALFORMED else turn.reason
    return f"{known} at ply {turn.ply}: {reason}" if known else reason


def _reason(
    match: Match,
    forfeit: Turn | None,
    scores: Sequence[int | None],
    place: Sequence[int | None],
) -> str:
    """Return why the game ended, in one sentence."""
    if forfeit is not None:
        return f"{match.game.label(forfeit.seat)} {phrase(forfeit)}"
    joint = " to " if len(scores) == len(SIDES) else ", "
    words = joint.join("-" if score is None else str(score) for score in scores)
    words += f" {match.game.info.score_name}"
    if place.count(1) != 1:
        return f"a draw, {words}"
    return f"{match.game.label(place.index(1))} wins, {words}"


def _same_engines(seats: Sequence[Seat]) -> list[str]:
    """Return a note for each engine file that both programs have loaded.

    Two versions under test are one if both find the same file first on their path.
    """
    if len(seats) != len(SIDES) or all(player.built_in for player in seats):
        return []
    both = seats[0].loaded() & seats[1].loaded()
    return [f"both sides have loaded the same engine, {path}" for path in sorted(both)]
