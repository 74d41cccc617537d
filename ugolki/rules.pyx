"""The fast rules of Ugolki for Python, and perft; searches use rules.pxd."""

from core.native.bits cimport lowest_bit32
from libc.stdint cimport uint32_t, uint64_t

from core.errors import IllegalMoveError, RuleError
from ugolki.geometry import HOME, PIECES, SIZE, absolute
from ugolki.protocol import MOVES, PASS, format_input, parse_input


cdef tuple cell_place(int cell):
    """Return (column, row) of a cell code."""
    cdef int bit = cell & 31
    return (bit % 6) << 1 | (cell >> 5) & 1, (bit // 6) << 1 | cell >> 6


cdef tuple move_tuple(Move move):
    """Return a move as a tuple."""
    return PASS if move == PASS_MOVE else cell_place(move >> 8) + cell_place(move & 0xFF)


cdef Move move_code(tuple move) except? 0xFFFF:
    """Return the code of a tuple; PASS_MOVE also for an impossible move."""
    if len(move) != 4 or not all(0 <= x < SIZE for x in move):
        return PASS_MOVE
    return <Move>(cell_code(move[0], move[1]) << 8 | cell_code(move[2], move[3]))


cdef uint64_t full_key(const Board* b) noexcept nogil:
    """Return the Zobrist key, computed from scratch."""
    cdef uint64_t key = turn_key(b.ply & 3)
    cdef int seat, k
    cdef uint32_t pieces
    for seat in range(SEATS):
        for k in range(4):
            pieces = b.own[seat][k]
            while pieces:
                key ^= piece_key(seat, k << 5 | lowest_bit32(pieces))
                pieces &= pieces - 1
    return key


cdef uint64_t count_leaves(Board* b, int depth) noexcept nogil:
    """Perft with bulk counting: moves of the last ply are counted, not made. depth >= 1."""
    cdef Move moves[MAX_MOVES]
    cdef int count, i
    cdef uint64_t leaves = 0
    if over(b):
        return 0
    if depth == 1:
        return max(1, count_moves(b, b.ply & 3))
    count = generate(b, b.ply & 3, moves)
    if count == 0:
        moves[0] = PASS_MOVE
        count = 1
    for i in range(count):
        make(b, moves[i])
        leaves += count_leaves(b, depth - 1)
        unmake(b, moves[i])
    return leaves


cdef class Position:
    """An immutable position of Ugolki; see rules.pyi."""

    @staticmethod
    def start(object seed=0, int moves=MOVES, bint play_out=False, int opening=0):
        cells = [0] * (SIZE * SIZE)
        for seat in range(SEATS):
            for place in HOME:
                column, row = absolute(seat, *place)
                cells[row * SIZE + column] = seat + 1
        position = Position.from_cells(cells, 0, moves, play_out)
        if opening:
            from random import Random  # agents never use it: it is slow to import
            random = Random(seed)
            while position.ply < opening and not position.over:
                position = position.play(random.choice(position.legal()))
        return position

    @staticmethod
    def parse(str text, int moves=MOVES, bint play_out=False):
        turn, cells = parse_input(text)
        return Position.from_cells(cells, SEATS * turn, moves, play_out)

    @staticmethod
    def from_cells(cells, int ply=0, int moves=MOVES, bint play_out=False):
        # see rules.pyi
        cdef Position position = Position.__new__(Position)
        cdef Board* b = &position.board
        cdef int index, label, seat, cell
        if len(cells) != SIZE * SIZE:
            raise RuleError(f"{len(cells)} cells, not {SIZE * SIZE}")
        b.penalty[:] = [NOBODY, NOBODY, NOBODY, NOBODY]
        for index in range(SIZE * SIZE):
            label = cells[index]
            if label == 0:
                continue
            if not 1 <= label <= SEATS:
                raise RuleError(f"label {label} at column {index % SIZE}, row {index // SIZE}")
            seat = label - 1
            cell = cell_code(index % SIZE, index // SIZE)
            b.own[seat][cell >> 5] |= <uint32_t>1 << (cell & 31)
            b.occupied[cell >> 5] |= <uint32_t>1 << (cell & 31)
            b.penalty[seat] = max(0, b.penalty[seat]) + DISTANCE[seat][cell]
        for label in range(1, SEATS + 1):
            if list(cells).count(label) > PIECES:
                raise RuleError(
                    f"player {label} has {list(cells).count(label)} pieces, more than {PIECES}"
                )
        position.moves = moves
        b.ply = ply
        b.last_ply = SEATS * moves
        b.play_out = play_out
        b.key = full_key(b)
        return position

    cdef Position _copy(self):
        cdef Position position = Position.__new__(Position)
        position.board = self.board
        position.moves = self.moves
        return position

    @property
    def cells(self):
        cells = [0] * (SIZE * SIZE)
        for seat in range(SEATS):
            for cell in range(128):
                if self.board.own[seat][cell >> 5] >> (cell & 31) & 1:
                    column, row = cell_place(cell)
                    cells[row * SIZE + column] = seat + 1
        return tuple(cells)

    @property
    def ply(self):
        return self.board.ply

    @property
    def play_out(self):
        return bool(self.board.play_out)

    @property
    def to_move(self):
        return self.board.ply & 3

    @property
    def over(self):
        return bool(over(&self.board))

    @property
    def key(self):
        return self.board.key

    def recomputed_key(self):
        return full_key(&self.board)

    def without(self, int seat):
        cells = [0 if label == seat + 1 else label for label in self.cells]
        return Position.from_cells(cells, self.board.ply, self.moves, self.board.play_out)

    def text(self):
        return format_input(self.cells, self.board.ply)

    def legal(self):
        if over(&self.board):
            return []
        return self.pseudolegal() or [PASS]

    def pseudolegal(self):
        cdef Move moves[MAX_MOVES]
        cdef int count = generate(&self.board, self.board.ply & 3, moves)
        return sorted([move_tuple(moves[i]) for i in range(count)])

    def play(self, tuple move):
        cdef Position position
        cdef Move moves[MAX_MOVES]
        cdef Move code = move_code(move)
        cdef int count = generate(&self.board, self.board.ply & 3, moves)
        cdef int i
        if over(&self.board):
            raise IllegalMoveError("the game is over")
        position = self._copy()
        for i in range(count):
            if moves[i] == code:
                make(&position.board, code)
                return position
        if count == 0 and move == PASS:
            make(&position.board, PASS_MOVE)
            return position
        raise IllegalMoveError(f"{move} is not legal here")

    def lose_turn(self):
        cdef Position position = self._copy()
        make(&position.board, PASS_MOVE)
        return position

    def scores(self):
        return tuple([
            None if self.board.penalty[seat] == NOBODY else self.board.penalty[seat]
            for seat in range(SEATS)
        ])

    def perft(self, int depth):
        cdef Board board = self.board
        cdef uint64_t leaves = 1
        if depth > 0:
            with nogil:
                leaves = count_leaves(&board, depth)
        return leaves

    def __repr__(self):
        return (
            f"Position.from_cells({list(self.cells)}, ply={self.ply}, moves={self.moves}, "
            f"play_out={self.play_out})"
        )
