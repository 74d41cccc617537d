"""The fast rules of Ataxx for Python, and perft; searches use rules.pxd."""

from core.native.bits cimport lowest_bit64, popcount64
from libc.stdint cimport uint64_t

from ataxx.fen import EMPTY, FIRST, SECOND, SIZE, START, WALL, format_fen, parse_fen
from ataxx.protocol import ILLEGAL, PASS
from core.errors import IllegalMoveError, RuleError

PLIES = 400
LONGEST = 20_000    # bound of `plies` and `halfmove_limit`; with a FEN's counters it fits 16 bits


cdef tuple cell_name(int bit):
    """Return (row, column), from 1, as in the judge's protocol."""
    return (bit >> 3) + 1, (bit & 7) + 1


cdef tuple move_tuple(const Board* b, Move move):
    """Return a pseudolegal move as a tuple; a division names the first piece that can divide."""
    cdef int start = move >> 6
    cdef int end = move & 63
    if move == PASS_MOVE:
        return PASS
    if start == end:
        start = lowest_bit64(RING1[end] & b.pieces[b.ply & 1])
    return cell_name(start) + cell_name(end)


cdef Move move_code(tuple move) except? 0xFFFF:
    """Return the code of a tuple; PASS_MOVE also for a move that exists on no board."""
    cdef int start, end
    if len(move) != 4 or not all([1 <= x <= SIZE for x in move]):
        return PASS_MOVE
    start = (move[0] - 1) * 8 + move[1] - 1
    end = (move[2] - 1) * 8 + move[3] - 1
    if RING1[end] >> start & 1:
        start = end
    elif not RING2[end] >> start & 1:
        return PASS_MOVE
    return <Move>(start << 6 | end)


cdef uint64_t count_leaves(const Board* b, int depth) noexcept nogil:
    """Perft with bulk counting: moves of the last ply are counted, not made. depth >= 1."""
    cdef Move moves[MAX_MOVES]
    cdef Board after
    cdef int count, i
    cdef uint64_t leaves = 0
    if stopped(b):
        return 0
    count = count_moves(b) if depth == 1 else generate(b, moves)
    if count == 0:
        if over(b):
            return 0
        moves[0] = PASS_MOVE
        count = 1
    if depth == 1:
        return count
    for i in range(count):
        after = b[0]
        make(&after, moves[i])
        leaves += count_leaves(&after, depth - 1)
    return leaves


cdef inline bint is_sound(const Board* b) noexcept nogil:
    """Always true, but unknown to the compiler, which could otherwise skip making the move."""
    return b.pieces[0] & b.pieces[1] == 0 and b.ply > 0 and b.halfmoves >= 0


cdef uint64_t make_leaves(const Board* b, int depth) noexcept nogil:
    """Perft that makes the moves of the last ply, too. depth >= 1."""
    cdef Move moves[MAX_MOVES]
    cdef Board after
    cdef int count, i
    cdef uint64_t leaves = 0
    if stopped(b):
        return 0
    count = generate(b, moves)
    if count == 0:
        if over(b):
            return 0
        moves[0] = PASS_MOVE
        count = 1
    for i in range(count):
        after = b[0]
        make(&after, moves[i])
        if depth == 1:
            leaves += is_sound(&after)
        else:
            leaves += make_leaves(&after, depth - 1)
    return leaves


cdef class Position:
    """An immutable position of Ataxx; see rules.pyi."""

    @staticmethod
    def start(object seed=0, object plies=PLIES, object halfmove_limit=0, object opening=0):
        if opening == 0:
            return Position.parse(START, plies, halfmove_limit)
        from ataxx.openings import start_fen    # agents never use it

        return Position.parse(start_fen(opening, seed), plies, halfmove_limit)

    @staticmethod
    def parse(str text, object plies=PLIES, object halfmove_limit=0):
        return Position.from_cells(*parse_fen(text), plies, halfmove_limit)

    @staticmethod
    def from_cells(
        cells, object ply=0, object halfmoves=0, object plies=PLIES, object halfmove_limit=0
    ):
        cdef Position position = Position.__new__(Position)
        cdef Board* b = &position.board
        cdef int index, label
        cdef uint64_t cell
        if len(cells) != SIZE * SIZE:
            raise RuleError(f"{len(cells)} cells, not {SIZE * SIZE}")
        for name, value in (
            ("ply", ply), ("halfmoves", halfmoves), ("plies", plies),
            ("halfmove_limit", halfmove_limit)
        ):
            if not 0 <= value <= LONGEST:
                raise RuleError(f"{name} is {value}, not from 0 to {LONGEST}")
        b.pieces[:] = [0, 0]
        b.closed = 0
        for index in range(SIZE * SIZE):
            label = cells[index]
            cell = <uint64_t>1 << (index // 7 * 8 + index % 7)
            if label == FIRST or label == SECOND:
                b.pieces[label - FIRST] |= cell
            elif label == WALL:
                b.closed |= cell
            elif label != EMPTY:
                raise RuleError(f"label {label} at row {index // 7 + 1}, column {index % 7 + 1}")
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
        cdef int row, column, bit
        cells = []
        for row in range(7):
            for column in range(7):
                bit = row * 8 + column
                if self.board.pieces[0] >> bit & 1:
                    cells.append(FIRST)
                elif self.board.pieces[1] >> bit & 1:
                    cells.append(SECOND)
                else:
                    cells.append(WALL if self.board.closed >> bit & 1 else EMPTY)
        return tuple(cells)

    @property
    def ply(self):
        return self.board.ply

    @property
    def halfmoves(self):
        return self.board.halfmoves

    @property
    def plies(self):
        return self.board.last_ply

    @property
    def halfmove_limit(self):
        return self.board.halfmove_limit

    @property
    def to_move(self):
        return self.board.ply & 1

    @property
    def over(self):
        return bool(over(&self.board))

    @property
    def key(self):
        return key(&self.board)

    def recomputed_key(self):
        return Position.from_cells(self.cells, self.ply).key

    def text(self):
        return format_fen(self.cells, self.board.ply, self.board.halfmoves)

    def legal(self):
        if over(&self.board):
            return []
        return self.pseudolegal() or [PASS]

    def pseudolegal(self):
        cdef Move moves[MAX_MOVES]
        cdef int count = generate(&self.board, moves)
        return sorted([move_tuple(&self.board, moves[i]) for i in range(count)])

    def canonical(self, tuple move):
        cdef Move code = move_code(move)
        if code == PASS_MOVE or code >> 6 != code & 63 or not self._owns(move):
            return move
        return move_tuple(&self.board, code)

    def play(self, tuple move):
        cdef Position position
        cdef Move moves[MAX_MOVES]
        cdef Move code = move_code(move)
        cdef int count = generate(&self.board, moves)
        cdef int i
        if over(&self.board):
            raise IllegalMoveError("the game is over", ILLEGAL)
        position = self._copy()
        if count == 0 and move == PASS:
            make(&position.board, PASS_MOVE)
            return position
        for i in range(count):
            if moves[i] == code and self._owns(move):
                make(&position.board, code)
                return position
        raise IllegalMoveError(f"{move} is not legal here", ILLEGAL)

    cdef bint _owns(self, tuple move):
        """Return true if the side to move has a piece on the start cell of a well-formed move."""
        cdef int bit = (move[0] - 1) * 8 + move[1] - 1
        return self.board.pieces[self.board.ply & 1] >> bit & 1

    def lose_turn(self):
        raise RuleError("Ataxx has no forfeited turns: an illegal move loses the game")

    def scores(self):
        return popcount64(self.board.pieces[0]), popcount64(self.board.pieces[1])

    def perft(self, int depth, bint bulk=True):
        cdef Board board = self.board
        cdef uint64_t leaves = 1
        if depth > 0:
            with nogil:
                leaves = count_leaves(&board, depth) if bulk else make_leaves(&board, depth)
        return leaves

    def __repr__(self):
        return (
            f"Position.parse({self.text()!r}, plies={self.plies}, "
            f"halfmove_limit={self.halfmove_limit})"
        )
