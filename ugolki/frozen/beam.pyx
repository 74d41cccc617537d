"""A frozen opponent: beam search over three own moves, while all others stand still. It must not
improve."""

from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free

from core.native.bits cimport lowest_bit32
from core.native.clock cimport clock_now
from ugolki.rules cimport (
    DISTANCE, MAX_MOVES, Board, Move, Position, generate, move_piece, move_tuple
)

from core.errors import RuleError
from core.limits import SearchInfo

cdef enum:
    PLIES = 3               # own moves

cdef struct Candidate:
    Board board
    Move first              # of the moves that lead here
    int32_t cost


cdef inline int32_t cost(const Board* b, int seat) noexcept nogil:
    """32 d + 2 d * d for every piece of the seat, d being its steps to the square."""
    cdef int k, d
    cdef uint32_t pieces
    cdef int32_t total = 0
    for k in range(4):
        pieces = b.own[seat][k]
        while pieces:
            d = DISTANCE[seat][k << 5 | lowest_bit32(pieces)]
            total += 32 * d + 2 * d * d
            pieces &= pieces - 1
    return total


cdef inline int keep(Candidate* kept, int count, int width, const Candidate* one) noexcept nogil:
    """Put a candidate among the kept ones, cheapest first, the same placement once; returns how
    many they are now."""
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
        """The first move towards the cheapest placement, or the quickest way home; see
        `core.rules.Searcher`.

        It is quick, so limits do not concern it. The score is minus the cost. Raises RuleError when
        no piece can move.
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
                    # at home
                    child.cost = cost(&child.board, seat) if child.board.penalty[seat] else -1 << 20
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
