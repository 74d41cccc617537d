"""A seat of a program that is started once per move, as on the contest's server."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from quartet.judge.match import Match
from quartet.judge.process.folder import ANSWER_LIMIT, AnswerFile, ProgramFolder
from quartet.judge.process.once import Ending, ProcessResult, run
from quartet.judge.process.words import describe_exit, last_words
from quartet.judge.seats.seat import Answer, Seat, read_info
from quartet.judge.turn import Verdict

STDERR_RECORDED = 4096
"""Bytes of standard error in a record."""


class FileSeat(Seat):
    """A program with its private folder, for one game; `close` removes the folder.

    The environment variable QUARTET_SEED depends only on the game's seed, the seat and the ply, so
    that a program's random choices can be repeated.
    """

    def __init__(self, command: str | list[str], env: Mapping[str, str] | None = None) -> None:
        """Make the folder.

        Args:
            command: A string for the system's shell, or a list of arguments.
            env: Additions to the environment.

        Raises:
            QuartetError: The folder cannot be made.
        """
        super().__init__()
        self._command = command
        self._env = dict(env or {})
        self._folder = ProgramFolder(command if isinstance(command, str) else " ".join(command))

    def ask(self, match: Match) -> Answer:
        """Start the program, and read its answer. Raises QuartetError if the system fails."""
        exchange = match.game.info.exchange
        assert exchange is not None  # noqa: S101  (program_seat checks it)
        position, table = match.position, match.table
        seat = position.to_move
        self._folder.prepare(exchange.input, position.text(), exchange.output)
        seed = turn_seed(match.start.seed, seat, position.ply)
        seconds = match.table.clocks[seat] / 1000
        megabytes = table.megabytes or float("inf")
        outcome = run(
            self._command,
            self._folder.path,
            seconds=seconds,
            megabytes=megabytes,
            env={**self._env, "QUARTET_SEED": str(seed)},
        )
        file = self._folder.read(exchange.output)
        return judged(file, outcome, seconds, megabytes)

    def close(self) -> None:
        """Remove the program's folder."""
        self._folder.close()


def turn_seed(seed: int, seat: int, ply: int) -> int:
    """Return a number from 0 to 2**32 - 1 for one turn of one game."""
    digest = hashlib.blake2b(f"{seed} {seat} {ply}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big")


def judged(file: AnswerFile, outcome: ProcessResult, seconds: float, megabytes: float) -> Answer:
    """Return the answer of a run, before its move is judged.

    The contest's server reads only the file, so a legal answer counts whatever the exit status is;
    the status is noted.

    Args:
        file: The answer file.
        outcome: The run.
        seconds: Limit of wall clock.
        megabytes: Limit of memory.
    """
    stderr = outcome.stderr[:STDERR_RECORDED].decode("utf-8", "replace")
    found: dict[str, Any] = {
        "output": None if file.data is None else file.data.decode("latin-1"),
        "output_size": file.size,
        "seconds": outcome.seconds,
        "megabytes": round(outcome.megabytes, 3),
        "exit": outcome.exit,
        "stderr": stderr,
        "stderr_size": outcome.stderr_size,
        "left_behind": outcome.left_behind,
        "info": read_info(stderr),
    }
    if outcome.ending is Ending.NOT_STARTED:
        problem = f"cannot be started: {outcome.problem}"
        return Answer(verdict=Verdict.CRASHED, reason=problem, **found)
    if outcome.ending is Ending.LATE:
        return Answer(verdict=Verdict.LATE, reason=f"not ended after {seconds:g} s", **found)
    if outcome.ending is Ending.MEMORY:
        words = f"{outcome.megabytes:.0f} MB, more than {megabytes:g}"
        return Answer(verdict=Verdict.MEMORY, reason=words, **found)
    text, verdict, reason = text_of(file)
    died = "" if outcome.exit == 0 else describe_exit(outcome.exit or 0)
    if died and file.data is None:
        words = last_words(outcome.stderr.decode("utf-8", "replace").splitlines())
        died += f": {words}" if words else ""
    if died and verdict.lost:
        verdict, reason = Verdict.CRASHED, f"{died}; {reason}"
    return Answer(text=text, verdict=verdict, reason=reason, died=died, **found)


def text_of(file: AnswerFile) -> tuple[str | None, Verdict, str]:
    """Return the answer in a file as text, or None with a verdict and a reason."""
    if file.data is None:
        return None, Verdict.OK, file.problem or ""
    if file.size > ANSWER_LIMIT:
        return None, Verdict.MALFORMED, f"the answer has {file.size} bytes"
    try:
        return file.data.decode("ascii"), Verdict.OK, ""
    except UnicodeDecodeError as error:
        byte = file.data[error.start]
        words = f"byte {error.start} of the answer is {byte:#04x}, which is not ASCII"
        return None, Verdict.MALFORMED, words
