"""The fast rules of Ataxx; rules.pxd holds what searches use, this is the thin Python face and perft."""

from libc.stdint cimport uint64_t

from core.bits cimport lowest_bit64, popcount64

from ataxx.fen import EMPTY, FIRST, MOST, SECOND, SIZE, START, WALL, format_fen, parse_fen
from ataxx.protocol import PASS
from core.errors import IllegalMoveError, RuleError

PLIES = 400
"""Actions of both players together until the game is stopped."""


cdef int bit_of(int index) noexcept:
    """The bit of a cell that is counted row by row."""
    return index // 7 * 8 + index % 7


cdef tuple cell_name(int bit):
    """(row, column) from 1, as the judge says it."""
    return (bit >> 3) + 1, (bit & 7) + 1


cdef int cell_bit(object row, object column) except? -1:
    """The bit of a cell by its name, -1 off the board."""
    return (row - 1) * 8 + column - 1 if 1 <= row <= SIZE and 1 <= column <= SIZE else -1


cdef tuple move_name(const Board* b, Move move):
    """A move of the position as `legal` names it: of the pieces that could divide into a cell, the first one."""
    cdef int start = move >> 6
    cdef int end = move & 63
    if move == PASS_MOVE:
        return PASS
    if start == end:
        start = lowest_bit64(BESIDE[end] & b.pieces[b.ply & 1])
    return cell_name(start) + cell_name(end)


cdef Move move_code(const Board* b, tuple move) except? 0xFFFF:
    """The code of a legal move by any of its names, PASS_MOVE where it is none."""
    cdef int start, end
    cdef uint64_t own = b.pieces[b.ply & 1]
    if len(move) != 4:
        return PASS_MOVE
    start, end = cell_bit(move[0], move[1]), cell_bit(move[2], move[3])
    if start < 0 or end < 0 or not empty_cells(b) >> end & 1 or not own >> start & 1:
        return PASS_MOVE
    if BESIDE[end] >> start & 1:
        return <Move>(65 * end)
    return <Move>(start << 6 | end) if LEAPS[end] >> start & 1 else PASS_MOVE


cdef uint64_t count_leaves(const Board* b, int depth, bint bulk) noexcept nogil:
    """Perft; in bulk the last ply is counted, not made."""
    cdef Move moves[MAX_MOVES]
    cdef Board child
    cdef int count, i
    cdef uint64_t leaves = 0
    if depth == 0:
        return 1
    if over(b):
        return 0
    if depth == 1 and bulk:
        return max(1, count_moves(b))
    count = generate(b, moves)
    if count == 0:
        moves[0] = PASS_MOVE
        count = 1
    for i in range(count):
        child = b[0]
        make(&child, moves[i])
        leaves += count_leaves(&child, depth - 1, bulk)
    return leaves


cdef class Position:
    """A position of Ataxx, a value: `play` gives a new one. See `core.rules.Position`."""

    @staticmethod
    def start(object seed=0, int plies=PLIES, int halfmove_limit=0):
        return Position.parse(START, plies, halfmove_limit)

    @staticmethod
    def parse(str text, int plies=PLIES, int halfmove_limit=0):
        cells, ply, halfmoves = parse_fen(text)
        return Position.from_cells(cells, ply, halfmoves, plies, halfmove_limit)

    @staticmethod
    def from_cells(cells, int ply=0, int halfmoves=0, int plies=PLIES, int halfmove_limit=0):
        """The position with these 49 labels; see `reference.Position`. Raises RuleError for what no board can hold."""
        cdef Position position = Position.__new__(Position)
        cdef Board* b = &position.board
        cdef int index
        if len(cells) != SIZE * SIZE:
            raise RuleError(f"{len(cells)} cells, not {SIZE * SIZE}")
        for number in (ply, halfmoves, plies, halfmove_limit):
            if not 0 <= number <= 2 * MOST + 1:
                raise RuleError(f"{number} is not a number of plies")
        for index, label in enumerate(cells):
            if label in (FIRST, SECOND):
                b.pieces[label - FIRST] |= <uint64_t>1 << bit_of(index)
            elif label == WALL:
                b.closed |= <uint64_t>1 << bit_of(index)
            elif label != EMPTY:
                raise RuleError(f"label {label} at row {index // SIZE + 1}, column {index % SIZE + 1}")
        b.ply = ply
        b.halfmoves = halfmoves
        b.last_ply = plies
        b.halfmove_limit = halfmove_limit
        return position

    cdef Position _copy(self):
        cdef Position position = Position.__new__(Position)
        position.board = self.board
        return position

    @property
    def cells(self):
        cdef Board* b = &self.board
        cdef int bit
        labels = []
        for index in range(SIZE * SIZE):
            bit = bit_of(index)
            labels.append(
                FIRST if b.pieces[0] >> bit & 1 else SECOND if b.pieces[1] >> bit & 1 else WALL if b.closed >> bit & 1 else EMPTY
            )
        return tuple(labels)

    @property
    def ply(self):
        return self.board.ply

    @property
    def halfmoves(self):
        return self.board.halfmoves

    @property
    def to_move(self):
        return self.board.ply & 1

    @property
    def over(self):
        return bool(over(&self.board))

    @property
    def key(self):
        return key(&self.board)

    def text(self):
        return format_fen(self.cells, self.board.ply, self.board.halfmoves)

    def legal(self):
        if over(&self.board):
            return []
        return self.pseudolegal() or [PASS]

    def pseudolegal(self):
        cdef Move moves[MAX_MOVES]
        cdef int count = generate(&self.board, moves)
        return sorted([move_name(&self.board, moves[i]) for i in range(count)])

    def canonical(self, tuple move):
        """The name under which `legal` has a move: whichever piece divides, the first one is named. Other tuples come back as they are."""
        cdef Move code = move_code(&self.board, move)
        return move if code == PASS_MOVE else move_name(&self.board, code)

    def play(self, tuple move):
        """The position after `move`, by any of its names. Raises IllegalMoveError."""
        cdef Position position = self._copy()
        cdef Move code = move_code(&self.board, move)
        if over(&self.board):
            raise IllegalMoveError("the game is over")
        if code == PASS_MOVE and (move != PASS or count_moves(&self.board) > 0):
            raise IllegalMoveError(f"{move} is not legal here")
        make(&position.board, code)
        return position

    def lose_turn(self):
        raise RuleError("Ataxx knows no lost turn: a foul loses the game")

    def scores(self):
        return popcount64(self.board.pieces[0]), popcount64(self.board.pieces[1])

    def perft(self, int depth, bint bulk=True):
        """See `core.rules.Position`; without `bulk` the last ply is made, too, instead of counted."""
        cdef Board board = self.board
        cdef uint64_t leaves
        with nogil:
            leaves = count_leaves(&board, depth, bulk)
        return leaves

    def __repr__(self):
        b = self.board
        return f"Position.from_cells({list(self.cells)}, {b.ply}, {b.halfmoves}, plies={b.last_ply}, halfmove_limit={b.halfmove_limit})"
