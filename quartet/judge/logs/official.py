"""The log of a line-protocol judge, as the official tool writes it."""

from __future__ import annotations

from core.dialect import annotation
from core.messages import SIDES, Abort, Debug, Entry, Finish, Init, Ply, Score, Tag, Winner
from quartet.judge.match import Match


def entries(match: Match) -> list[Entry]:
    """Return the log's entries for a match, whether it has ended, is running, or was aborted."""
    found: list[Entry] = [
        Tag(side, f"COMMAND: {' '.join((name or '').split())}")
        for side, name in zip(SIDES, match.names, strict=True)
    ]
    result = match.result
    if result is not None:
        found.append(Winner(result.winner))
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


def text(match: Match, *, named: bool = False) -> str:
    """Return the log of a match as text.

    Args:
        match: The match.
        named: True to write the players' names even if the judge's logs have none.
    """
    write = match.game.protocol.format_entry
    lines = [
        write(entry) or (annotation(entry) if named and isinstance(entry, Tag) else None)
        for entry in entries(match)
    ]
    return "".join(line + "\n" for line in lines if line is not None)
