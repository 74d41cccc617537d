"""Check a log against the reference rules: what every program was sent, what its answer was worth,
how the game ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import RuleError, TextError, UnknownNameError
from quartet.judge.folder import Answer
from quartet.judge.table import Table
from quartet.judge.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quartet.judge.game import TablePosition
    from quartet.judge.record import Log, Turn

FIRST_TURN_LINE = 2


class DisagreementError(RuleError):
    """The log can be read, but says something that the rules do not; the message names the line."""


def open_table(log: Log) -> Table:
    """The start of the logged game. Raises DisagreementError."""
    try:
        return Table(log.header)
    except (TextError, UnknownNameError) as error:
        raise DisagreementError(f"line 1: {error}") from error


def turns(log: Log, table: Table) -> Iterator[tuple[TablePosition, Turn]]:
    """Every turn of the log, checked, with the position before it; `table.position` is the one
    after it.

    Raises DisagreementError at the first line that does not fit. A log that was cut short is
    checked as far as it goes.
    """
    line = FIRST_TURN_LINE
    for line, turn in enumerate(log.turns, start=FIRST_TURN_LINE):
        if not table.wait():
            raise DisagreementError(f"line {line}: a turn after the end of the game")
        before = table.position
        complaint = _complaint(table, turn)
        if complaint is not None:
            raise DisagreementError(f"line {line}: {complaint}")
        try:
            table.take(turn)
        except RuleError as error:
            raise DisagreementError(f"line {line}: {error}") from error
        yield before, turn
    if log.result is None:
        return
    line = FIRST_TURN_LINE + len(log.turns)
    if table.wait():
        raise DisagreementError(f"line {line}: the result stands before the end of the game")
    expected = table.result()
    for field in expected.__struct_fields__:
        if getattr(log.result, field) != getattr(expected, field):
            raise DisagreementError(
                f"line {line}: {field} {getattr(log.result, field)}, by the rules {getattr(expected, field)}"
            )


def _complaint(table: Table, turn: Turn) -> str | None:
    """What is wrong with a turn, in one sentence, or None. Whether it is its time, and its move
    legal, the table finds out."""
    if turn.seat == table.position.to_move and turn.input != table.position.text():
        return "the input is not what the rules would send"
    if turn.verdict.lost != (turn.move is None):
        return f"verdict {turn.verdict.value!r} and move {turn.move} do not fit together"
    if table.stuck or turn.verdict is Verdict.PASS:
        return (
            None
            if table.stuck and turn.verdict is Verdict.PASS
            else "a turn passes if, and only if, no move is possible"
        )
    data = None if turn.output is None else turn.output.encode("latin-1", "replace")
    verdict, reason, move = table.judge(Answer(data, turn.output_size))
    match turn.verdict:
        case Verdict.OK:
            if move != turn.move:
                return f"move {turn.move}, but the answer says {move or reason}"
        case Verdict.MISSING | Verdict.MALFORMED | Verdict.ILLEGAL:
            if verdict is not turn.verdict:
                return f"verdict {turn.verdict.value!r}, but the answer is {verdict.value!r}: {reason or move}"
        case Verdict.CRASHED:
            if verdict is Verdict.OK and turn.exit is not None:
                return f"verdict 'crashed', but the answer is legal: {move}"
        case Verdict.LATE | Verdict.MEMORY | Verdict.PASS:
            pass  # the answer, if any, came from a program that was stopped
    return None
