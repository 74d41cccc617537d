"""Judging of an answer: the verdict, and the position after a legal move."""

from __future__ import annotations

from typing import NamedTuple

from core.errors import IllegalMoveError, TextError
from core.rules import Move, Position
from quartet.judge.game import JudgedGame
from quartet.judge.seats.seat import Answer
from quartet.judge.turn import Verdict

LATE_CODE, MEMORY_CODE, ILLEGAL_CODE, RESIGNED_CODE = "TLE", "MLE", "Not legal", "resigned"
"""What a log says of a forfeit if the game's protocol has no code for it."""
VERDICTS = {
    LATE_CODE: Verdict.LATE,
    MEMORY_CODE: Verdict.MEMORY,
    RESIGNED_CODE: Verdict.RESIGNED,
    **dict.fromkeys(("", "RE", "INVALID READY MESSAGE"), Verdict.CRASHED),
}
"""Verdicts by code. Other codes name what is malformed or illegal; every game has its own."""


class Judgement(NamedTuple):
    """What an answer counts for.

    Attributes:
        verdict: The verdict.
        reason: A sentence about it.
        move: The move, None if the turn is forfeited.
        after: The position after a legal move, else None.
        code: What the game's judge calls the forfeit.
    """

    verdict: Verdict
    reason: str
    move: Move | None = None
    after: Position | None = None
    code: str = ""


def verdict_of(code: str) -> Verdict:
    """Return the verdict of a forfeit that a log records by its code only."""
    is_malformed = code.upper().endswith("PARSE FAILED")
    return VERDICTS.get(code, Verdict.MALFORMED if is_malformed else Verdict.ILLEGAL)


def judge_answer(game: JudgedGame, answer: Answer, before: Position) -> Judgement:
    """Judge an answer to the position `before`."""
    if answer.verdict.lost:
        return Judgement(answer.verdict, answer.reason, code=answer.code)
    move, code = answer.move, ""
    try:
        if move is None and answer.text is None:
            verdict, reason = Verdict.MISSING, answer.reason or "there is no answer"
        else:
            if move is None:
                move = game.protocol.parse_answer(answer.text or "", before.to_move)
            after = before.play(move)
            return Judgement(answer.verdict, answer.died or answer.reason, move, after)
    except TextError as error:
        verdict, reason, code = Verdict.MALFORMED, str(error), error.code
    except IllegalMoveError as error:
        verdict, reason, code = Verdict.ILLEGAL, str(error), error.code or ILLEGAL_CODE
    if answer.died:
        died = answer.died if verdict is Verdict.MISSING else f"{answer.died}; {reason}"
        return Judgement(Verdict.CRASHED, died, code=code)
    return Judgement(verdict, reason, code=code)
