"""The fast rules of the apple game: the Python class and perft. Searches use rules.pxd."""

from core.native.bits cimport lowest_bit32, popcount32
from libc.string cimport memset
from libc.stdint cimport uint64_t

from applegame.protocol import PASS
from applegame.text import UNOWNED, OWNED, format_text, parse_text
from core.errors import IllegalMoveError, RuleError


cdef tuple move_tuple(Move move):
    """Return the move as (r1, c1, r2, c2)."""
    cdef uint32_t mask
    if move == PASS_MOVE:
        return PASS
    mask = columns(move)
    return top_row(
        move
    ), lowest_bit32(mask), bottom_row(move), lowest_bit32(mask) + popcount32(mask) - 1


cdef uint64_t count_leaves(
    const Board* b, const Move* moves, int count, int depth, bint incremental
) noexcept nogil:
    """Return perft of a position with these rectangles. The last ply is counted in bulk.
    depth >= 1."""
    cdef Move after[MAX_MOVES]
    cdef Board child
    cdef int i, found
    cdef uint64_t leaves = 0
    if b.passes >= 2:
        return 0
    if depth == 1:
        return count + 1
    child = b[0]
    make(&child, PASS_MOVE)
    leaves += count_leaves(&child, moves, count, depth - 1, incremental)
    for i in range(count):
        child = b[0]
        make(&child, moves[i])
        found = regenerate(
            &child, moves[i], moves, count, after
        ) if incremental else generate(&child, after)
        leaves += count_leaves(&child, after, found, depth - 1, incremental)
    return leaves


cdef class Position:
    """An immutable position. See `core.rules.Position`."""

    @staticmethod
    def start(object seed=0):
        # imported here: agents never call this and must start fast
        from applegame.reference import Position as Plain

        return Position.parse(Plain.start(seed).text())

    @staticmethod
    def parse(str text):
        """Return the position that `text` describes. Raises TextError."""
        cdef Position position = Position.__new__(Position)
        cdef Board* b = &position.board
        cdef int row, column, digit, seat
        rows, ply, passes = parse_text(text)
        memset(b, 0, sizeof(Board))
        for row in range(HEIGHT):
            for column in range(WIDTH):
                cell = rows[row][column]
                if cell in OWNED:
                    seat = OWNED.index(cell)
                    b.owned[seat][row] |= <uint32_t>1 << column
                    b.cells[seat] += 1
                    b.hash ^= cell_hash(row, column, KEY_OF_SEAT + seat)
                elif cell != UNOWNED:
                    digit = int(cell)
                    b.digits[row][column] = digit
                    b.standing[row] |= <uint32_t>1 << column
                    b.hash ^= cell_hash(row, column, digit)
        b.ply = ply
        b.passes = passes
        return position

    @property
    def rows(self):
        return tuple(
            ["".join([self._cell(row, column) for column in range(WIDTH)]) for row in range(HEIGHT)]
        )

    def _cell(self, int row, int column):
        """Return the character of a cell."""
        cdef int seat
        for seat in range(2):
            if self.board.owned[seat][row] >> column & 1:
                return OWNED[seat]
        return str(self.board.digits[row][column])  # UNOWNED is the digit 0

    @property
    def ply(self):
        return self.board.ply

    @property
    def passes(self):
        return self.board.passes

    @property
    def to_move(self):
        return self.board.ply & 1

    @property
    def over(self):
        return self.board.passes >= 2

    @property
    def key(self):
        return key(&self.board)

    def recomputed_key(self):
        return Position.parse(self.text()).key

    def text(self):
        return format_text(self.rows, self.board.ply, self.board.passes)

    def legal(self):
        return [] if self.board.passes >= 2 else self.pseudolegal()

    def pseudolegal(self):
        cdef Move moves[MAX_MOVES]
        cdef int count = generate(&self.board, moves)
        return [PASS, *sorted([move_tuple(moves[i]) for i in range(count)])]

    def play(self, tuple move):
        cdef Move moves[MAX_MOVES]
        cdef Move code = PASS_MOVE
        cdef int i, count
        cdef Position position
        if self.board.passes >= 2:
            raise IllegalMoveError("the game is over")
        if move != PASS:
            count = generate(&self.board, moves)
            for i in range(count):
                if move_tuple(moves[i]) == move:
                    code = moves[i]
            if code == PASS_MOVE:
                self._refuse(move)
        position = Position.__new__(Position)
        position.board = self.board
        make(&position.board, code)
        return position

    def _refuse(self, move):
        """Raise IllegalMoveError with the message of the reference rules."""
        from applegame.reference import Position as Plain

        Plain(self.rows, self.board.ply, self.board.passes).play(move)
        raise AssertionError(f"fast and reference rules disagree on {move}")

    def lose_turn(self):
        raise RuleError("a forfeit loses the apple game: there are no forfeited turns")

    def scores(self):
        return self.board.cells[0], self.board.cells[1]

    def perft(self, int depth, bint incremental=True):
        cdef Move moves[MAX_MOVES]
        cdef Board board = self.board
        cdef int count
        cdef uint64_t leaves = 1
        if depth > 0:
            with nogil:
                count = generate(&board, moves)
                leaves = count_leaves(&board, moves, count, depth, incremental)
        return leaves

    def __repr__(self):
        return f"Position.parse({self.text()!r})"
