"""Parser and writer of input.txt and output.txt, for agent and referee.

The module imports almost nothing, because the agent starts once per move.
"""

from __future__ import annotations

from core.errors import TextError
from ugolki.geometry import PIECES, SEATS, SIZE, absolute, seen

MOVES = 50
"""Turns per player before the game is stopped, in the contest."""
PASS = (-1, -1, -1, -1)
"""The ply of a player without a legal move. It has no text: output.txt is missing then."""
UNREADABLE = SEATS + 1
"""The label of an unreadable cell, which pieces cannot enter or jump over."""

CELLS = SIZE * SIZE


class Reading:
    """The contents of an input.txt, as far as it is readable.

    Attributes:
        turn: Move number, from 0.
        cells: 100 labels row by row, in the reader's view: 1 is the reader.
        complaint: The first error in the text, in one sentence, or None.
        doubtful: Rows of the wrong length, whose cells are a guess.
    """

    __slots__ = ("cells", "complaint", "doubtful", "turn")

    def __init__(
        self, turn: int, cells: list[int], complaint: str | None, doubtful: list[int]
    ) -> None:
        self.turn = turn
        self.cells = cells
        self.complaint = complaint
        self.doubtful = doubtful


def read_input(data: bytes) -> Reading:
    """Read an input.txt as far as possible. An error does not raise; it is the complaint.

    These are accepted without complaint:

    - any white space or none between the digits, CRLF, a byte order mark, no newline at the end
    - absent players, and other players with fewer pieces
    """
    number, rows, complaint = _layout(_decode(data))
    doubtful = [r for r, row in enumerate(rows) if len(row) != SIZE]
    turn = 0
    if number.isascii() and number.isdigit() and len(number) < 10:
        turn = int(number)
    elif complaint is None:
        complaint = f"the move number is {number[:20]!r}, not a number"
    cells: list[int] = []
    for r, row in enumerate(rows):
        for c, digit in enumerate((row + "?" * SIZE)[:SIZE]):
            if digit in "01234":
                cells.append(int(digit))
            else:
                cells.append(UNREADABLE)
                if complaint is None:
                    complaint = f"unknown digit {digit!r} at column {c}, row {r}"
    if complaint is None:
        complaint = _miscount(cells)
    return Reading(turn, cells, complaint, doubtful)


def parse_input(text: str) -> tuple[int, list[int]]:
    """Return the move number and the 100 labels of an input.txt. Raises TextError on any error."""
    reading = read_input(text.encode())
    if reading.complaint is not None:
        raise TextError(reading.complaint)
    return reading.turn, reading.cells


def format_input(cells: tuple[int, ...], ply: int) -> str:
    """Return the input.txt for the seat to move at `ply`; `cells` as in `reference.Position`."""
    seat = ply % SEATS
    lines = [str(ply // SEATS)]
    for row in range(SIZE):
        labels = []
        for column in range(SIZE):
            c, r = absolute(seat, column, row)
            label = cells[r * SIZE + c]
            labels.append(str((label - 1 - seat) % SEATS + 1 if label else 0))
        lines.append(" ".join(labels))
    return "\n".join(lines) + "\n"


def parse_answer(text: str, seat: int) -> tuple[int, ...]:
    """Parse the output.txt of `seat` to a move in absolute coordinates. Raises TextError."""
    words = text.split()
    if len(words) != 4:
        raise TextError(
            f"expected four integers, got {len(words)} words: {text[:40]!r}"
            if words
            else "the answer is empty"
        )
    for word in words:
        if not (word.isascii() and word.removeprefix("-").isdigit() and len(word) < 10):
            raise TextError(f"{word[:40]!r} is not an integer")
    c1, r1, c2, r2 = map(int, words)
    return absolute(seat, c1, r1) + absolute(seat, c2, r2)


def format_answer(move: tuple[int, ...], seat: int) -> str:
    """Return the output.txt of `seat` for a move in absolute coordinates."""
    c1, r1, c2, r2 = move
    return "{} {} {} {}\n".format(*seen(seat, c1, r1), *seen(seat, c2, r2))


def _decode(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


def _layout(text: str) -> tuple[str, list[str], str | None]:
    """Split the text: (move number, ten rows, complaint if the layout is wrong or None). A row that
    is not ten characters long is doubtful."""
    lines = ["".join(line.split()) for line in text.splitlines() if line.strip()]
    if not lines:
        return "0", [""] * SIZE, "it is empty"
    if len(lines) == 1 + SIZE:
        number, *rows = lines
        wrong = [
            f"row {r} has {len(row)} cells, not {SIZE}"
            for r, row in enumerate(rows)
            if len(row) != SIZE
        ]
        return number, rows, wrong[0] if wrong else None
    if len(lines) == SIZE and all(len(line) == SIZE for line in lines):
        return "0", lines, "the move number is missing"
    number, *words = text.split()
    cells = "".join(words)
    # no white space between the number and the board
    if len(cells) != CELLS and CELLS < len(number + cells) < CELLS + 4:
        number, cells = (number + cells)[:-CELLS], (number + cells)[-CELLS:]
    complaint = (
        None if len(cells) == CELLS else f"{len(cells)} cells after the move number, not {CELLS}"
    )
    return number, [cells[i : i + SIZE] for i in range(0, CELLS, SIZE)], complaint


def _miscount(cells: list[int]) -> str | None:
    """Return the error in the numbers of pieces, or None: the reader must have six, and no other
    player may have more."""
    ours = cells.count(1)
    if ours == 0:
        return "none of your pieces (1) is on the board"
    if ours != PIECES:
        return f"{ours} of your pieces (1) are on the board, not {PIECES}"
    for label in range(2, SEATS + 1):
        if cells.count(label) > PIECES:
            return f"player {label} has {cells.count(label)} pieces, more than {PIECES}"
    return None
