"""Damage conversations with whole programs: lines in the wrong order, missing, doubled, cut or
10 MB long, `stop` before `go`, and an end of input at any moment.

The program must end by itself with status 0, print only answers of its protocol, and report errors
in lines without tracebacks.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from contextlib import nullcontext
from random import Random
from typing import TYPE_CHECKING

from core.errors import QuartetError
from core.messages import READY_ANSWER
from quartet import registry
from quartet.judge import game as games
from tests.long.kill import environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tests.long.progress import Attempt

UAI = "ataxx --uai"
"""Name of the engine program; other programs are named as their game."""
ENOUGH = 120.0
"""Seconds in which a program must have ended, also on a busy machine."""
LONG = 10_000_000
"""Bytes of a long line."""
PAUSE = 0.02
"""Seconds between the two parts of an input."""
JUNK = (
    b"",
    b"\0",
    b"READY",
    b"TURN",
    b"stop",
    b"go infinite",
    b"\xff\xfe",
    b"quit now",
    b"-1 -1 -1",
)
UAI_WORDS = re.compile(
    r"(id|option|uaiok|readyok|info|bestmove|perft|[a-g][1-7]|\d|0000|nodes|error)"
)
"""Beginnings of an engine's lines."""


def talk(program: str, random: Random) -> list[bytes]:
    """Return the lines of a valid conversation with a program."""
    from tests import readers  # noqa: PLC0415  (it imports all parsers)

    if program != UAI:
        return readers.conversation(program).splitlines()
    return re.sub(rb"perft\s+\S+", b"perft 1", random.choice(readers.commands())).splitlines()


def damaged(lines: list[bytes], random: Random) -> bytes:
    """Return a conversation with one to three kinds of damage."""
    lines = list(lines)
    for _ in range(random.choice((1, 1, 2, 3))):
        at = random.randrange(len(lines) + 1)
        match random.randrange(7):
            case 0:
                random.shuffle(lines)
            case 1:
                lines[at:] = lines[at + 1 :]  # a line is missing
            case 2:
                lines[at:at] = lines[at : at + 1] * random.choice((1, 50))
            case 3:
                lines.insert(at, random.choice(JUNK))
            case 4:
                lines.insert(at, random.choice((b"A", b"1 ", b"\0")) * (LONG // 2))
            case 5:
                lines[at:] = [line[: len(line) // 2] for line in lines[at : at + 1]]
            case _:
                lines[at:] = []  # the end of input
    end = b"" if random.random() < 0.3 else b"\n"
    return b"\n".join(lines) + end


def check(program: str, data: bytes, random: Random) -> None:
    """Give a program an input in two parts. Raises QuartetError if it breaks its contract."""
    words = [registry.GAMES[program.split(maxsplit=1)[0]], *program.split()[1:]]
    if program != UAI:
        words += ["--nodes", "20"]
    cut = random.randrange(len(data) + 1)
    with subprocess.Popen(
        [sys.executable, "-m", *words],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        try:
            process.stdin.write(data[: min(cut, 1 << 14)])  # what a pipe holds
            process.stdin.flush()
            time.sleep(PAUSE)
        except BrokenPipeError:
            pass  # it has ended
        try:
            out, errors = process.communicate(data[min(cut, 1 << 14) :], timeout=ENOUGH)
        except subprocess.TimeoutExpired:
            process.kill()
            raise QuartetError(f"{program} did not end: input {data[:200]!r}") from None
    said, complaints = out.decode("ascii", "replace"), errors.decode("utf-8", "replace")
    if process.returncode != 0:
        raise QuartetError(f"{program} ended with {process.returncode}: input {data[:200]!r}")
    if "Traceback" in complaints or "internal error" in complaints:
        raise QuartetError(f"{program} printed {complaints[-300:]!r}: input {data[:200]!r}")
    for line in said.splitlines():
        if program == UAI:
            if not UAI_WORDS.match(line):
                raise QuartetError(f"{program} answered {line[:200]!r}: input {data[:200]!r}")
        elif line != READY_ANSWER:
            games.load(program).protocol.parse_answer(line, 0)


def trial(program: str) -> Callable[[], AbstractContextManager[Attempt]]:
    """Return a trial of a program. Each attempt is one conversation."""

    def attempt(number: int) -> tuple[int, str]:
        random = Random(f"torture {program} {number}")
        check(program, damaged(talk(program, random), random), random)
        return 1, ""

    return lambda: nullcontext(attempt)
