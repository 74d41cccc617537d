"""What the languages of the line judges have in common; a game's `protocol.py` says the rest.

It imports next to nothing: the agents need it when they start.
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
    Outcome,
    Ply,
    Ready,
    Score,
    Tag,
    Turn,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DEBUG = "# Debug "
RESULTS = {"1-0": 0, "0-1": 1, "1/2-1/2": None}
"""The winner's seat by the text of the log's RESULT."""


class Dialect:
    """One judge's language, without what only this judge says: Init, and the answers.

    Attributes:
        clock: the word that calls for a move.
        ply_words: move, drawn -> the text of a ply, between the side and the milliseconds.
        parse_ply: the words of that text -> move, drawn. Raises TextError.
        abort_sides: how an ABORT line of the log calls the two seats.
        annotated: whether logs have header tags and the players' standard error. (Every dialect
            reads them.)
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
        """The judge's line, for all but Init and Drew."""
        match message:
            case Ready():
                return f"READY {SIDES[message.seat]}"
            case Turn():
                return f"{self.clock} {message.mine} {message.theirs}"
            case Opponent():
                return f"OPP {self.ply_words(message.move, message.drawn)} {message.ms}"
            case Finish():
                return "FINISH"
            case Init() | Drew():
                raise ValueError(f"this judge does not say {message!r}")

    def parse_message(self, line: str) -> Message:
        """What the judge said, for all but Init and Drew. Raises TextError."""
        word, *rest = line.split() or [""]
        if word == "READY":
            return Ready(side(only(rest, "READY")))
        if word == self.clock:
            return Turn(*_two(rest, word))
        if word == "OPP":
            return Opponent(*self._ply(rest))
        if word == "FINISH" and not rest:
            return Finish()
        raise TextError(f"the judge says {line[:40]!r}, which means nothing")

    def format_entry(self, entry: Entry) -> str | None:
        """The log's line, for all but Init; None where these logs have no such line."""
        match entry:
            case Ply():
                return f"{SIDES[entry.seat]} {self.ply_words(entry.move, entry.drawn)} {entry.ms}"
            case Finish():
                return "FINISH"
            case Score():
                return f"SCORE{SIDES[entry.seat]} {entry.score}"
            case Abort():
                return f"ABORT {self.abort_sides[entry.seat]} {entry.reason}"
            case Outcome() | Tag() | Debug():
                return self._annotation(entry) if self.annotated else None
            case Init():
                raise ValueError("every game writes its own INIT")

    def parse_entry(self, line: str) -> Entry:
        """What a line of a log says, for all but Init. Raises TextError."""
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

    @staticmethod
    def _annotation(entry: Outcome | Tag | Debug) -> str:
        match entry:
            case Outcome():
                text = next(text for text, winner in RESULTS.items() if winner == entry.winner)
                return f'[RESULT "{text}"]'
            case Tag():
                return f'[{entry.name} "{entry.text}"]'
            case Debug():
                return (
                    f"{DEBUG}{'' if entry.seat is None else SIDES[entry.seat] + ': '}{entry.text}"
                )


def check_ready(answer: str, code: str) -> None:
    """Raises TextError with that code where a program's answer is not READY_ANSWER, to the
    letter."""
    if answer != READY_ANSWER:
        raise TextError(f"expected {READY_ANSWER}, got {answer[:40]!r}", code)


def side(word: str) -> int:
    """The seat of that name. Raises TextError."""
    if word not in SIDES:
        raise TextError(f"{word[:40]!r} is neither {SIDES[0]} nor {SIDES[1]}")
    return SIDES.index(word)


def integer(word: str) -> int:
    """The number that a word says. Raises TextError."""
    if not (word.isascii() and word.removeprefix("-").isdigit() and len(word) < 10):
        raise TextError(f"{word[:40]!r} is not an integer")
    return int(word)


def only(words: Sequence[str], after: str) -> str:
    """The one word that follows another. Raises TextError."""
    if len(words) != 1:
        raise TextError(f"{after} has {len(words)} words after it, not 1")
    return words[0]


def four_integers(words: Sequence[str], code: str = "") -> tuple[int, ...]:
    """A move of four numbers. Raises TextError with that code."""
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


def _tag(line: str) -> Tag | Outcome:
    """A line like [NAME "text"]."""
    name, space, text = line.strip().removeprefix("[").removesuffix("]").partition(" ")
    if not (line.rstrip().endswith('"]') and space and text.startswith('"') and len(text) > 1):
        raise TextError(f'a header line has the form [NAME "text"], not {line[:40]!r}')
    text = text[1:-1]
    if name == "RESULT":
        if text not in RESULTS:
            raise TextError(f"the result is {text[:40]!r}, not one of {', '.join(RESULTS)}")
        return Outcome(RESULTS[text])
    return Tag(name, text)


def _debug(line: str) -> Debug:
    """A line like # Debug FIRST: text; any other comment is taken as it is."""
    said = line.removeprefix(DEBUG)
    for seat, name in enumerate(SIDES):
        if said != line and said.startswith(name + ":"):
            return Debug(seat, said[len(name) + 1 :].removeprefix(" "))
    return Debug(None, said if said != line else line[1:].strip())
