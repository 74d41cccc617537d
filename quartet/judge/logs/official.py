"""The log of a judge that speaks lines, as the official tool writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.messages import SIDES, Abort, Debug, Entry, Finish, Init, Outcome, Ply, Score, Tag

if TYPE_CHECKING:
    from quartet.judge.match import Match


def entries(match: Match) -> list[Entry]:
    """What the log of a match holds, of one that goes on, or was broken off, so far as it is."""
    found: list[Entry] = [
        Tag(side, f"COMMAND: {' '.join((name or '').split())}")
        for side, name in zip(SIDES, match.names, strict=True)
    ]
    result = match.result
    if result is not None:
        found.append(Outcome(result.winner))
    found.append(Init(match.first().text()))
    for turn in match.turns:
        found += [Debug(seat, text) for seat, text in turn.said]
        if turn.move is not None:
            found.append(Ply(turn.seat, turn.move, turn.drawn, turn.ms))
    if result is None:
        return [*found, *(Debug(seat, text) for seat, text in match.pending())]
    found += [Debug(seat, text) for seat, text in result.said]
    if result.offender is not None:
        return [*found, Abort(result.offender, result.code)]
    scores = [Score(seat, score or 0) for seat, score in enumerate(result.scores)]
    return [*found, Finish(), *scores]


def text(match: Match) -> str:
    """The log of a match in the words of its judge."""
    lines = [match.game.protocol.format_entry(entry) for entry in entries(match)]
    return "".join(line + "\n" for line in lines if line is not None)
