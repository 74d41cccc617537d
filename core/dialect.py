"""The common part of the line judges' protocols; a game's `protocol.py` adds the rest.

Agents import this module when they start, so it imports almost nothing.
"""

from __future__ import annotations

from core.errors import TextError
from core.messages import (
    READY_ANSWER,
    SIDES,
    Abort,
    Debug,
    Drew,
    Entry,
    Finish,
    Init,
    Message,
    Opponent,
    Ply,
    Ready,
    Score,
    Tag,
    Winner,
    YourTurn,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DEBUG = "# Debug "
RESULTS = {"1-0": 0, "0-1": 1, "1/2-1/2": None}
"""Text of the log's RESULT -> winner's seat, None for a draw."""


class Dialect:
    """One judge's protocol, without Init and the answers, which differ in every game.

    Attributes:
        clock: The word that asks for a move.
        ply_words: move, drawn -> the text of a ply, between the side and the milliseconds.
        parse_ply: The words of that text -> move, drawn. Raises TextError.
        abort_sides: Names of the two seats in an ABORT line of the log.
        annotated: True if logs are written with header tags and the players' standard error. They
            are read in every dialect.
    """

    def __init__(
        self,
        clock: str,
        ply_words: Callable[[tuple[int, ...], int | None], str],
        parse_ply: Callable[[Sequence[str]], tuple[tuple[int, ...], int | None]],
        abort_sides: tuple[str, str],
        *,
        annotated: bool,
    ) -> None:
        self.clock = clock
        self.ply_words = ply_words
        self.parse_ply = parse_ply
        self.abort_sides = abort_sides
        self.annotated = annotated

    def format_message(self, message: Message) -> str:
        """Return the judge's line for any message but Init and Drew."""
        match message:
            case Ready():
                return f"READY {SIDES[message.seat]}"
            case YourTurn():
                return f"{self.clock} {message.mine} {message.theirs}"
            case Opponent():
                return f"OPP {self.ply_words(message.move, message.drawn)} {message.ms}"
            case Finish():
                return "FINISH"
            case Init() | Drew():
                raise ValueError(f"this judge does not say {message!r}")

    def parse_message(self, line: str) -> Message:
        """Return the message of a judge's line, unless it is Init or Drew. Raises TextError."""
        word, *rest = line.split() or [""]
        if word == "READY":
            return Ready(side(only(rest, "READY")))
        if word == self.clock:
            return YourTurn(*_two(rest, word))
        if word == "OPP":
            return Opponent(*self._ply(rest))
        if word == "FINISH" and not rest:
            return Finish()
        raise TextError(f"{line[:40]!r} is not a message of this judge")

    def format_entry(self, entry: Entry) -> str | None:
        """Return the log's line for any entry but Init; None if these logs have no such line."""
        match entry:
            case Ply():
                return f"{SIDES[entry.seat]} {self.ply_words(entry.move, entry.drawn)} {entry.ms}"
            case Finish():
                return "FINISH"
            case Score():
                return f"SCORE{SIDES[entry.seat]} {entry.score}"
            case Abort():
                return f"ABORT {self.abort_sides[entry.seat]} {entry.reason}"
            case Winner() | Tag() | Debug():
                return annotation(entry) if self.annotated else None
            case Init():
                raise ValueError("every game writes its own INIT")

    def parse_entry(self, line: str) -> Entry:
        """Return the entry of a log's line, unless it is Init. Raises TextError."""
        if line.startswith("#"):
            return _debug(line)
        if line.startswith("["):
            return _tag(line)
        word, *rest = line.split() or [""]
        if word in SIDES:
            return Ply(SIDES.index(word), *self._ply(rest))
        if word == "FINISH" and not rest:
            return Finish()
        if word in ("SCOREFIRST", "SCORESECOND"):
            return Score(side(word.removeprefix("SCORE")), integer(only(rest, word)))
        if word == "ABORT" and rest:
            seat = int(rest[0]) if rest[0] in ("0", "1") else side(rest[0])
            return Abort(seat, " ".join(rest[1:]))
        raise TextError(f"a log has no line {line[:40]!r}")

    def _ply(self, words: Sequence[str]) -> tuple[tuple[int, ...], int | None, int]:
        if not words:
            raise TextError("the move is missing")
        ms = integer(words[-1])
        return (*self.parse_ply(words[:-1]), ms)


def annotation(entry: Winner | Tag | Debug) -> str:
    """Return the log's line for an entry that not every judge writes."""
    match entry:
        case Winner():
            text = next(text for text, winner in RESULTS.items() if winner == entry.winner)
            return f'[RESULT "{text}"]'
        case Tag():
            return f'[{entry.name} "{entry.text}"]'
        case Debug():
            return f"{DEBUG}{'' if entry.seat is None else SIDES[entry.seat] + ': '}{entry.text}"


def check_ready(answer: str, code: str) -> None:
    """Raise TextError with this code unless a program's answer is exactly READY_ANSWER."""
    if answer != READY_ANSWER:
        raise TextError(f"expected {READY_ANSWER}, got {answer[:40]!r}", code)


def side(word: str) -> int:
    """Return the seat of a name. Raises TextError."""
    if word not in SIDES:
        raise TextError(f"{word[:40]!r} is neither {SIDES[0]} nor {SIDES[1]}")
    return SIDES.index(word)


def integer(word: str) -> int:
    """Return the integer of a word. Raises TextError."""
    if not (word.isascii() and word.removeprefix("-").isdigit() and len(word) < 10):
        raise TextError(f"{word[:40]!r} is not an integer")
    return int(word)


def only(words: Sequence[str], after: str) -> str:
    """Return the only word that follows `after`. Raises TextError."""
    if len(words) != 1:
        raise TextError(f"{after} has {len(words)} words after it, not 1")
    return words[0]


def four_integers(words: Sequence[str], code: str = "") -> tuple[int, ...]:
    """Return a move of four numbers. Raises TextError with this code."""
    if len(words) != 4:
        raise TextError(f"a move is four integers, not {len(words)} words", code)
    try:
        return tuple(map(integer, words))
    except TextError as error:
        raise TextError(str(error), code) from None


def _two(words: Sequence[str], after: str) -> tuple[int, int]:
    if len(words) != 2:
        raise TextError(f"{after} has {len(words)} words after it, not 2")
    return integer(words[0]), integer(words[1])


def _tag(line: str) -> Tag | Winner:
    """Parse a line [NAME "text"]."""
    name, space, text = line.strip().removeprefix("[").removesuffix("]").partition(" ")
    if not (line.rstrip().endswith('"]') and space and text.startswith('"') and len(text) > 1):
        raise TextError(f'a header line has the form [NAME "text"], not {line[:40]!r}')
    text = text[1:-1]
    if name == "RESULT":
        if text not in RESULTS:
            raise TextError(f"the result is {text[:40]!r}, not one of {', '.join(RESULTS)}")
        return Winner(RESULTS[text])
    return Tag(name, text)


def _debug(line: str) -> Debug:
    """Parse a line `# Debug FIRST: text`; any other comment has no seat."""
    said = line.removeprefix(DEBUG)
    for seat, name in enumerate(SIDES):
        if said != line and said.startswith(name + ":"):
            return Debug(seat, said[len(name) + 1 :].removeprefix(" "))
    return Debug(None, said if said != line else line[1:].strip())
