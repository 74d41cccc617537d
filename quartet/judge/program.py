"""A seat that is played by a program, started anew for every move as the contest's server does."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from core.errors import QuartetError
from quartet.judge.folder import Folder
from quartet.judge.process import Ending, Run, describe_exit, run
from quartet.judge.record import Turn
from quartet.judge.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.rules import FileExchange
    from quartet.judge.table import Table

STDERR_RECORDED = 4096
"""Bytes of standard error that go into a record."""


class Program:
    """A program and its private folder, for one game; `close` removes the folder.

    `command` is a string for the system's shell or a list of arguments. The program finds
    QUARTET_SEED in its environment, a number that depends on the game's seed, the seat and the ply
    alone: what is left to chance can be repeated. `seconds` is its own limit of a turn where it is
        not the header's.
    """

    def __init__(
        self,
        command: str | list[str],
        env: Mapping[str, str] | None = None,
        *,
        seconds: float | None = None,
    ) -> None:
        self._command = command
        self._env = dict(env or {})
        self._seconds = seconds
        self._folder = Folder(command if isinstance(command, str) else " ".join(command))

    def play(self, table: Table) -> Turn:
        """Take the turn of the seat to move. Raises QuartetError only where our own system fails
        us."""
        exchange = exchange_of(table)
        position, header = table.position, table.header
        ply, seat, text = position.ply, position.to_move, position.text()
        self._folder.prepare(exchange.input, text, exchange.output)
        env = {**self._env, "QUARTET_SEED": str(turn_seed(header.seed, seat, ply))}
        seconds = self._seconds or header.seconds
        outcome = run(
            self._command, self._folder.path, seconds=seconds, megabytes=header.megabytes, env=env
        )
        answer = self._folder.read(exchange.output)
        verdict, reason, move = _judge(outcome, seconds, header.megabytes, *table.judge(answer))
        return Turn(
            ply=ply,
            seat=seat,
            input=text,
            output=None if answer.data is None else answer.data.decode("latin-1"),
            output_size=answer.size,
            verdict=verdict,
            reason=reason,
            move=move,
            seconds=round(outcome.seconds, 6),
            megabytes=round(outcome.megabytes, 3),
            exit=outcome.exit,
            stderr=outcome.stderr[:STDERR_RECORDED].decode("latin-1"),
            stderr_size=outcome.stderr_size,
            left_behind=outcome.left_behind,
        )

    def close(self) -> None:
        """Remove the program's folder."""
        self._folder.close()


def exchange_of(table: Table) -> FileExchange:
    """How the game's judge exchanges files. Raises QuartetError where it does not."""
    exchange = table.game.info.exchange
    if exchange is None:
        raise QuartetError(f"the judge of {table.game.info.name} does not speak through files")
    return exchange


def turn_seed(seed: int, seat: int, ply: int) -> int:
    """A number from 0 to 2**32 - 1 for one turn of one game."""
    return int.from_bytes(
        hashlib.blake2b(f"{seed} {seat} {ply}".encode(), digest_size=4).digest(), "big"
    )


def _judge(
    outcome: Run,
    seconds: float,
    megabytes: float,
    verdict: Verdict,
    reason: str,
    move: tuple[int, ...] | None,
) -> tuple[Verdict, str, tuple[int, ...] | None]:
    """What the run makes of the verdict on the answer alone.

    The contest's server looks at the file only, so a legal answer counts whatever the exit status
    is; the status is then a remark.
    """
    if outcome.ending is Ending.NOT_STARTED:
        return Verdict.CRASHED, f"cannot be started: {outcome.problem}", None
    if outcome.ending is Ending.LATE:
        return Verdict.LATE, f"not ended after {seconds:g} s", None
    if outcome.ending is Ending.MEMORY:
        return Verdict.MEMORY, f"{outcome.megabytes:.0f} MB, more than {megabytes:g}", None
    if outcome.exit == 0:
        return verdict, reason, move
    how = describe_exit(outcome.exit or 0)
    if verdict is Verdict.OK:
        return verdict, how, move
    if verdict is not Verdict.MISSING:
        return Verdict.CRASHED, f"{how}; {reason}", None
    words = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
    return Verdict.CRASHED, f"{how}: {printable(words[-1])}" if words else how, None


def printable(text: str) -> str:
    """The beginning of a line for the terminal: no control characters."""
    return "".join(character if character.isprintable() else "?" for character in text[:120])
