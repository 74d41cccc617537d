"""A frozen opponent: beam search over three own moves, while all others stand still, on learned numbers of its own. It must not improve."""

import os
import sys
from array import array

from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free

from core.bits cimport lowest_bit32
from core.clock cimport clock_now
from ugolki.rules cimport DISTANCE, MAX_MOVES, Board, Move, Position, generate, move_piece, move_tuple

from core.errors import RuleError, TextError
from core.limits import SearchInfo
from core.sealed import unseal
from ugolki.geometry import SEATS, SIZE, seen

cdef enum:
    PLIES = 3               # own moves
    PIECES = 6
    NUMBERS = 161_700       # triples of 100 cells

cdef struct Candidate:
    Board board
    Move first              # of the moves that lead here
    int32_t cost

cdef int16_t TRIPLES[NUMBERS]       # of cells i < j < k in the player's view: C(k, 3) + C(j, 2) + i; in 1/64 of a move
cdef uint8_t SEEN[4][128]           # [seat][cell code], the cell's number in the seat's view


def read(path):
    """A file of the package, which may lie in an archive."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        loader = getattr(__spec__, "loader", None)
        if not hasattr(loader, "get_data"):
            raise
        return loader.get_data(path)


cdef void fill_tables() except *:
    cdef int i, seat, column, row
    numbers = array("h", unseal("weights", read(os.path.join(os.path.dirname(__file__), "beam.bin")), "ugolki")[1])
    if len(numbers) != NUMBERS:
        raise TextError(f"{len(numbers)} numbers instead of {NUMBERS}")
    if sys.byteorder == "big":
        numbers.byteswap()
    for i in range(NUMBERS):
        TRIPLES[i] = numbers[i]
    for seat in range(SEATS):
        for row in range(SIZE):
            for column in range(SIZE):
                x, y = seen(seat, column, row)
                SEEN[seat][((column & 1) | (row & 1) << 1) << 5 | (row >> 1) * 6 + (column >> 1)] = y * SIZE + x


fill_tables()


cdef inline int32_t cost(const Board* b, int seat) noexcept nogil:
    """The own moves that the seat still needs, in 1/64, and 32 d + 2 d * d for every piece, d being its steps to the square.

    Where pieces are missing, only the latter.
    """
    cdef int cells[PIECES]
    cdef int count = 0
    cdef int k, i, j, d, cell
    cdef uint32_t pieces
    cdef int32_t total = 0
    for k in range(4):
        pieces = b.own[seat][k]
        while pieces:
            d = DISTANCE[seat][k << 5 | lowest_bit32(pieces)]
            total += 32 * d + 2 * d * d
            cell = SEEN[seat][k << 5 | lowest_bit32(pieces)]
            pieces &= pieces - 1
            i = count
            while i > 0 and cells[i - 1] > cell:
                cells[i] = cells[i - 1]
                i -= 1
            cells[i] = cell
            count += 1
    if count != PIECES:
        return total
    for k in range(2, PIECES):
        for j in range(1, k):
            for i in range(j):
                total += TRIPLES[cells[k] * (cells[k] - 1) * (cells[k] - 2) // 6 + cells[j] * (cells[j] - 1) // 2 + cells[i]]
    return total


cdef inline int keep(Candidate* kept, int count, int width, const Candidate* one) noexcept nogil:
    """Put a candidate among the kept ones, cheapest first, the same placement once; returns how many they are now."""
    cdef int at = count
    cdef int i
    if count == width and one.cost >= kept[count - 1].cost:
        return count
    while at > 0 and kept[at - 1].cost > one.cost:
        at -= 1
    i = at
    while i > 0 and kept[i - 1].cost == one.cost:
        i -= 1
        if kept[i].board.key == one.board.key:
            return count
    for i in range(count if count < width else width - 1, at, -1):
        kept[i] = kept[i - 1]
    kept[at] = one[0]
    return min(count + 1, width)


cdef class Beam:
    """The player `beam:WIDTH`."""

    cdef Candidate* kept[2]     # of this own move, and of the next
    cdef int width

    def __cinit__(self, int width):
        cdef int i
        self.width = width
        for i in range(2):
            self.kept[i] = <Candidate*>calloc(width, sizeof(Candidate))
            if self.kept[i] == NULL:
                raise MemoryError

    def __dealloc__(self):
        free(self.kept[0])
        free(self.kept[1])

    def choose(self, Position position, limits):
        """The first move towards the cheapest placement, or the quickest way home; see `core.rules.Searcher`.

        It is quick, so limits do not concern it. The score is minus the cost. Raises RuleError when no piece can move.
        """
        cdef Candidate* now = self.kept[0]
        cdef Candidate* after = self.kept[1]
        cdef Candidate child
        cdef Candidate best
        cdef Move moves[MAX_MOVES]
        cdef double started = clock_now()
        cdef int seat = position.board.ply & 3
        cdef int count = 1
        cdef int depth = 0
        cdef int number, i, j, n
        cdef uint64_t nodes = 0
        now[0].board = position.board
        while depth < PLIES:
            number = 0
            for i in range(count):
                n = generate(&now[i].board, seat, moves)
                for j in range(n):
                    child.board = now[i].board
                    move_piece(&child.board, seat, moves[j] >> 8, moves[j] & 0xFF)
                    child.first = moves[j] if depth == 0 else now[i].first
                    child.cost = cost(&child.board, seat) if child.board.penalty[seat] else -1 << 20  # at home
                    number = keep(after, number, self.width, &child)
                    nodes += 1
            if number == 0:
                break
            depth += 1
            best = after[0]
            if best.board.penalty[seat] == 0:
                break
            now, after, count = after, now, number
        if depth == 0:
            raise RuleError("no piece can move")
        move = move_tuple(best.first)
        return SearchInfo(move, -best.cost, depth, nodes, clock_now() - started, (move,))
