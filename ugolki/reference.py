"""The reference rules of Ugolki in plain Python, slow and readable; the referee uses them. RULES.md
describes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from core.errors import IllegalMoveError
from core.rules import FileExchange, GameInfo, Move, RuleOption
from ugolki import protocol
from ugolki.geometry import HOME, SEATS, SIZE, absolute, distance

INFO = GameInfo(
    name="ugolki",
    title="Ugolki (four-player Corners)",
    players=SEATS,
    chance=False,
    lower_wins=True,
    score_name="penalty",
    exchange=FileExchange(
        input="input.txt", output="output.txt", seconds=0.5, megabytes=256, search_ms=280
    ),
    options={
        "moves": RuleOption(protocol.MOVES, "moves per player before the game is stopped", least=1),
        "play_out": RuleOption(False, "finish the round in which a player comes home"),
        "opening": RuleOption(
            0,
            "random plies, from the seed, before the players move: games between the same players "
            "differ",
            of_start=True,
        ),
    },
    lenses=("jumps",),
    empty_seats=True,
)

PASS: Move = protocol.PASS

Cell = tuple[int, int]
LABELS = range(1, SEATS + 1)
DIRECTIONS = ((1, 0), (0, 1), (-1, 0), (0, -1))


@dataclass(frozen=True)
class Position:
    """A position of Ugolki; `core.rules.Position` describes the methods.

    Attributes:
        cells: 100 labels row by row from the top left of the absolute board. 0 is empty, 1 to 4 are
            the pieces of seats 0 to 3. `protocol.UNREADABLE` is a wall, which pieces cannot enter
            or jump over.
        ply: Plies played; the seat to move is ply mod 4.
        moves: Turns per player before the game is stopped.
        play_out: Finish the round in which a player comes home.
    """

    cells: tuple[int, ...]
    ply: int = 0
    moves: int = protocol.MOVES
    play_out: bool = False

    @classmethod
    def start(
        cls, seed: int = 0, moves: int = protocol.MOVES, play_out: bool = False, opening: int = 0
    ) -> Position:
        """Return the start position, or the position after `opening` random plies, which `seed`
        determines."""
        cells = [0] * (SIZE * SIZE)
        for seat in range(SEATS):
            for column, row in HOME:
                c, r = absolute(seat, column, row)
                cells[r * SIZE + c] = seat + 1
        position, random = cls(tuple(cells), 0, moves, play_out), Random(seed)
        while position.ply < opening and not position.over:
            position = position.play(random.choice(position.legal()))
        return position

    @classmethod
    def parse(cls, text: str, moves: int = protocol.MOVES, play_out: bool = False) -> Position:
        """Parse an input.txt; seat 0 is its reader and is to move. Raises TextError."""
        turn, cells = protocol.parse_input(text)
        return cls(tuple(cells), SEATS * turn, moves, play_out)

    def text(self) -> str:
        """Return the input.txt of the seat to move."""
        return protocol.format_input(self.cells, self.ply)

    def without(self, seat: int) -> Position:
        """Return the position without the pieces of `seat`."""
        return replace(self, cells=tuple(0 if label == seat + 1 else label for label in self.cells))

    @property
    def to_move(self) -> int:
        return self.ply % SEATS

    @property
    def over(self) -> bool:
        """Return True if the game has ended.

        It ends when a player is home (with `play_out`, at the end of that round), or after `moves`
        turns each.
        """
        round_done = not self.play_out or self.to_move == 0
        return self.ply >= SEATS * self.moves or (0 in self.scores() and round_done)

    def legal(self) -> list[Move]:
        if self.over:
            return []
        return self.pseudolegal() or [PASS]

    def pseudolegal(self) -> list[Move]:
        moves = []
        for index, label in enumerate(self.cells):
            if label == self.to_move + 1:
                start = (index % SIZE, index // SIZE)
                moves += [start + end for end in self.destinations(start)]
        return sorted(moves)

    def destinations(self, start: Cell) -> set[Cell]:
        """Return the cells that the piece on `start` can reach: by one step, or by one or more
        jumps, each over one piece onto the next cell."""
        steps = {cell for cell, _ in self._neighbours(start) if self._at(cell) == 0}
        landed: set[Cell] = set()
        frontier = [start]
        while frontier:
            for over, behind in self._neighbours(frontier.pop()):
                # the piece is in the air, its own cell is empty
                is_free = self._at(behind) == 0 or behind == start
                if self._at(over) in LABELS and is_free and behind not in landed:
                    landed.add(behind)
                    frontier.append(behind)
        return steps | (landed - {start})

    def play(self, move: Move) -> Position:
        if move not in self.legal():
            raise IllegalMoveError(self._why_illegal(move))
        if move == PASS:
            return self.lose_turn()
        start, end = move[1] * SIZE + move[0], move[3] * SIZE + move[2]
        cells = list(self.cells)
        cells[start], cells[end] = 0, cells[start]
        return replace(self, cells=tuple(cells), ply=self.ply + 1)

    def lose_turn(self) -> Position:
        """Forfeit the turn: as on the contest server, the pieces stay where they are."""
        return replace(self, ply=self.ply + 1)

    def scores(self) -> tuple[int | None, ...]:
        """Return each seat's penalty: the sum of its pieces' distances to the target square; None
        for a seat without pieces."""
        penalties: list[int | None] = [None] * SEATS
        for index, label in enumerate(self.cells):
            if label in LABELS:
                seat = label - 1
                penalties[seat] = (penalties[seat] or 0) + distance(
                    seat, index % SIZE, index // SIZE
                )
        return tuple(penalties)

    def perft(self, depth: int) -> int:
        if depth == 0:
            return 1
        return sum(self.play(move).perft(depth - 1) for move in self.legal())

    def _at(self, cell: Cell) -> int | None:
        """Return the label on a cell, or None off the board."""
        column, row = cell
        return self.cells[row * SIZE + column] if 0 <= column < SIZE and 0 <= row < SIZE else None

    def _neighbours(self, cell: Cell) -> list[tuple[Cell, Cell]]:
        """Return the next cell and the one behind it, in each of the four directions."""
        column, row = cell
        return [((column + dc, row + dr), (column + 2 * dc, row + 2 * dr)) for dc, dr in DIRECTIONS]

    def _why_illegal(self, move: Move) -> str:
        """Return the reason why a move is illegal."""
        if self.over:
            return "the game is over"
        if move == PASS:
            return "a pass is legal only when no piece can move"
        if len(move) != 4:
            return f"a move has four numbers, not {len(move)}"
        start, end = (move[0], move[1]), (move[2], move[3])
        for cell in (start, end):
            if self._at(cell) is None:
                return f"{cell} is off the board"
        if self._at(start) == 0:
            return f"there is no piece on {start}"
        if self._at(start) != self.to_move + 1:
            return f"the piece on {start} belongs to another player"
        if start == end:
            return f"the piece on {start} must leave its cell"
        if self._at(end) != 0:
            return f"{end} is occupied"
        return f"the piece on {start} cannot reach {end}"
