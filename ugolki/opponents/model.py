"""What the engine knows of the other players: one object that is told their moves, learns from them
which opponent policy each seat follows, and says how far that can be relied on.

An agent that is started anew for every move keeps it in a file between its moves. It imports next
to nothing.
"""

from __future__ import annotations

import os

from core.errors import QuartetError
from core.native.clock import now
from ugolki.geometry import SEATS, SIZE
from ugolki.opponents.beliefs import LEVELS, POLICIES, Beliefs
from ugolki.opponents.policies import Stop, likelihood
from ugolki.rules import Position

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.rules import Move

FILE = "memory.txt"
"""The file's name; it lies beside input.txt."""
WRITING = os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0)
HEAD, TAIL = "ugolki memory 1", "end"
"""The first and the last line: a file that was not written to its end is worth nothing."""


class OpponentModel:
    """What is known of the players of one game.

    Attributes:
        beliefs: at each level, of each seat.
        observed: positions and the moves made there, not learned from yet.
    """

    __slots__ = ("_ply", "beliefs", "observed")

    def __init__(self) -> None:
        self._ply = 0
        self.beliefs = prior_beliefs()
        self.observed: list[tuple[Position, Move]] = []

    def see(self, position: Position) -> None:
        """The game has come to this position. Where another one has begun, all is forgotten: the
        others may be others."""
        if position.ply < self._ply:
            self.beliefs, self.observed = prior_beliefs(), []
        self._ply = position.ply

    def observe(self, position: Position, move: Move) -> None:
        """The seat to move made this move. What that tells is left to `learn`, which takes time."""
        self.see(position)
        self.observed.append((position, (*move,)))

    def learn(self, likelihoods: Sequence[float], deadline: float, stop: Stop) -> None:
        """Learn from what was observed, and from nothing twice.

        All moves are compared with what the policies predict at one level before one is at the
        next, which takes more time.

        Args:
            likelihoods: for each of `observed`, how likely somebody who follows no policy makes the
                move; 0 where there was no choice.
            deadline: on core.native.clock; what is not learned by then is lost. 0: none.
            stop: ends it before, within a few milliseconds.
        """
        choices = [
            (position, move, likely)
            for (position, move), likely in zip(self.observed, likelihoods, strict=True)
            if likely > 0
        ]
        self.observed = []
        for level in range(LEVELS):
            for position, move, likely in choices:
                if 0 < deadline <= now():
                    return
                hits = [
                    likelihood(position, move, policy, level, stop) for policy in range(POLICIES)
                ]
                if stop.asked:
                    return
                self.beliefs[level][position.to_move].learn(hits, likely)

    def expectation(self, seat: int, level: int) -> tuple[int, float]:
        """The opponent policy that predicts the seat best at a level, and the confidence in its
        predictions: how likely the next move is among them; 0 where that is too little."""
        return self.beliefs[level][seat].expectation()

    def load(self, folder: str, position: Position) -> bool:
        """Take up what `save` has written, and observe what was played since.

        False where there is no such file, or it is spoilt, or of another game: then nothing is
        changed. `position` is the one on the board now, with us, seat 0, to move.
        """
        try:
            with open(_path(folder), encoding="ascii") as file:  # noqa: PTH123
                head, ply, cells, *rows, tail = file.read(1 << 16).splitlines()
            if (head, int(ply) + SEATS - 1, len(rows), tail) != (
                HEAD,
                position.ply,
                LEVELS * SEATS,
                TAIL,
            ):
                return False
            beliefs = [Beliefs.parse(row) for row in rows]
            played = moves_between(
                Position.from_cells([int(digit) for digit in cells], int(ply), position.moves),
                position.cells,
            )
        except (OSError, ValueError, QuartetError):
            return False
        if played is None:
            return False
        self.beliefs = [beliefs[i : i + SEATS] for i in range(0, len(beliefs), SEATS)]
        for before, move in played:
            self.observe(before, move)
        return True

    def save(self, folder: str, position: Position) -> None:
        """Write down what is believed, and the position that our move has led to; a folder that
        cannot be written to is no reason to fail."""
        rows = [
            HEAD,
            str(position.ply),
            "".join(map(str, position.cells)),
            *(one.text() for row in self.beliefs for one in row),
            TAIL,
        ]
        # Over the old one: ext4 writes a file to the disk at once that was emptied before, and the
        # answer waits for the end of the process.
        try:
            number = os.open(_path(folder), WRITING, 0o666)
            try:
                os.ftruncate(number, os.write(number, ("\n".join(rows) + "\n").encode("ascii")))
            finally:
                os.close(number)
        except OSError:
            pass


def prior_beliefs() -> list[list[Beliefs]]:
    """What is believed at first: at each level, of each seat."""
    return [[Beliefs() for _ in range(SEATS)] for _ in range(LEVELS)]


def _path(folder: str) -> str:
    return os.path.join(folder, FILE)  # noqa: PTH118  (pathlib would cost milliseconds)


def moves_between(position: Position, cells: tuple[int, ...]) -> list[tuple[Position, Move]] | None:
    """What the others, one after the other, have played since `position` if the board is now
    `cells`; None if no moves lead there.

    A seat that has not moved, by losing its turn or because it was stuck, is left out.
    """
    played: list[tuple[Position, Move]] = []
    while position.to_move != 0:
        label = position.to_move + 1
        left = [cell for cell in range(SIZE * SIZE) if position.cells[cell] == label != cells[cell]]
        came = [cell for cell in range(SIZE * SIZE) if position.cells[cell] != label == cells[cell]]
        if left or came:
            if len(left) != 1 or len(came) != 1:
                return None
            move = (left[0] % SIZE, left[0] // SIZE, came[0] % SIZE, came[0] // SIZE)
            if move not in position.legal():
                return None
            played.append((position, move))
            position = position.play(move)
        else:
            position = position.lose_turn()
    return played if position.cells == cells else None
