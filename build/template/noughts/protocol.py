"""Parse and format the files of noughts and crosses."""

from __future__ import annotations

from core.errors import TextError

PASS = (-1, -1)
"""Never legal: a seat can always move. Every game must name its pass."""
TURNS = 9


def parse_input(text: str) -> tuple[int, list[int]]:
    """Return the ply and nine labels. Raises TextError."""
    words = text.split()
    if len(words) != 10 or not all(len(word) == 1 and word in "0123456789" for word in words):
        raise TextError("expected ten digits: the ply and nine cells")
    ply, *cells = map(int, words)
    if max(cells) > 2:
        raise TextError(f"there is no player {max(cells)}")
    return ply, cells


def format_input(cells: list[int], ply: int) -> str:
    return "".join(
        f"{line}\n" for line in (ply, *(" ".join(map(str, cells[i : i + 3])) for i in (0, 3, 6)))
    )


def parse_answer(text: str, seat: int) -> tuple[int, ...]:  # noqa: ARG001  (both seats see the same)
    """Return the move of an output.txt. Raises TextError."""
    words = text.split()
    if len(words) != 2 or not all(
        word.isascii() and word.isdigit() and len(word) < 5 for word in words
    ):
        raise TextError("expected two numbers: column and row")
    return int(words[0]), int(words[1])


def format_answer(move: tuple[int, ...], seat: int) -> str:  # noqa: ARG001
    return f"{move[0]} {move[1]}\n"
