"""A seat that is played by a program which is started anew for every move, as the contest's server
does it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from quartet.judge.process.folder import ANSWER_LIMIT, Folder
from quartet.judge.process.folder import Answer as FileAnswer
from quartet.judge.process.once import Ending, Run, run
from quartet.judge.process.words import describe_exit, last_words
from quartet.judge.seats.seat import Answer, Seat, read_info
from quartet.judge.turn import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from quartet.judge.match import Match

STDERR_RECORDED = 4096
"""Bytes of standard error that go into a record."""


class FileSeat(Seat):
    """A program and its private folder, for one game; `close` removes the folder.

    The program finds QUARTET_SEED in its environment, a number that depends on the game's seed, the
    seat and the ply alone: what is left to chance can be repeated.
    """

    def __init__(self, command: str | list[str], env: Mapping[str, str] | None = None) -> None:
        """`command`: a string for the system's shell or a list of arguments; `env`: on top of ours.

        Raises QuartetError where the system gives no folder.
        """
        super().__init__()
        self._command = command
        self._env = dict(env or {})
        self._folder = Folder(command if isinstance(command, str) else " ".join(command))

    def ask(self, match: Match) -> Answer:
        """Start the program, and read what it leaves. Raises QuartetError where our system
        fails."""
        exchange = match.game.info.exchange
        assert exchange is not None  # noqa: S101  (the builder of seats looks)
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
    """A number from 0 to 2**32 - 1 for one turn of one game."""
    digest = hashlib.blake2b(f"{seed} {seat} {ply}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big")


def judged(file: FileAnswer, outcome: Run, seconds: float, megabytes: float) -> Answer:
    """What a run and the file that it left are worth, before anybody looks at the move.

    The contest's server looks at the file only, so a legal answer counts whatever the exit status
    is; the status is then a remark.
    """
    stderr = outcome.stderr[:STDERR_RECORDED].decode("latin-1")
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


def text_of(file: FileAnswer) -> tuple[str | None, Verdict, str]:
    """The answer in a file as text; else a verdict and a reason."""
    if file.data is None:
        return None, Verdict.OK, file.problem or ""
    if file.size > ANSWER_LIMIT:
        return None, Verdict.MALFORMED, f"the answer has {file.size} bytes"
    try:
        return file.data.decode("ascii"), Verdict.OK, ""
    except UnicodeDecodeError as error:
        byte = file.data[error.start]
        words = f"byte {error.start} of the answer is {byte:#04x}, no character of a move"
        return None, Verdict.MALFORMED, words
