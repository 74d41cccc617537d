"""A frozen opponent: best-reply search to a fixed depth. It was the engine before tree search beat
it, and must not improve any more."""

from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from core.native.bits cimport lowest_bit32
from core.native.clock cimport clock_now
from ugolki.rules cimport (
    DISTANCE, MAX_MOVES, NOBODY, SEATS, Board, Move, Position, generate, move_piece, move_tuple
)

from core.errors import RuleError
from core.limits import SearchInfo

# What the search kernel expects.
ctypedef Board State
cdef enum:
    PLAYERS = SEATS
    NO_RIVAL = 1 << 20


cdef inline void apply_move(Board* b, int seat, Move move) noexcept nogil:
    move_piece(b, seat, move >> 8, move & 0xFF)


cdef inline int winner(const Board* b) noexcept nogil:
    cdef int seat
    for seat in range(SEATS):
        if b.penalty[seat] == 0:
            return seat
    return -1


cdef inline int32_t move_order(const Board* b, int seat, Move move) noexcept nogil:
    """Steps gained first; of equal gains, the piece that is farther behind."""
    cdef int start = DISTANCE[seat][move >> 8]
    return 16 * (start - <int>DISTANCE[seat][move & 0xFF]) + start


cdef inline uint64_t state_key(const Board* b) noexcept nogil:
    return b.key


cdef inline int cost(const Board* b, int seat) noexcept nogil:
    """The sum over the seat's pieces of 16 d + d * d, d being the steps to its square: stragglers
    are dear."""
    cdef int k, d
    cdef int total = 0
    cdef uint32_t pieces
    for k in range(4):
        pieces = b.own[seat][k]
        while pieces:
            d = DISTANCE[seat][k << 5 | lowest_bit32(pieces)]
            total += 16 * d + d * d
            pieces &= pieces - 1
    return total


cdef inline int evaluate(const Board* b, int root) noexcept nogil:
    """The lead of the seat `root` over its nearest rival, in sixteenths of a step; against nobody,
    minus its own cost."""
    cdef int seat
    cdef int rival = NO_RIVAL
    for seat in range(SEATS):
        if seat != root and b.penalty[seat] != NOBODY:
            rival = min(rival, cost(b, seat))
    return (0 if rival == NO_RIVAL else rival) - cost(b, root)


include "brs.pxi"


cdef class BestReply:
    """The player `brs:DEPTH`; it owns the search's memory, about 1.6 MB."""

    cdef BrsSearch* search
    cdef int depth

    def __cinit__(self, int depth):
        self.depth = depth
        self.search = <BrsSearch*>calloc(1, sizeof(BrsSearch))
        if self.search == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.search)

    def choose(self, Position position, limits):
        """The best move at the player's depth, or at the depth that the limits allow; see
        `core.rules.Searcher`."""
        cdef BrsSearch* s = self.search
        cdef const Board* board = &position.board
        cdef Move moves[MAX_MOVES]
        cdef Move best
        cdef double started = clock_now()
        cdef int count, depth, index, value
        s.root = board.ply & 3
        count = generate(board, s.root, moves)
        if count == 0:
            raise RuleError("no piece can move")
        memset(s.table, 0, sizeof(s.table))
        s.nodes = 0
        s.stopped = False
        info = None
        for depth in range(1, self.depth + 1):
            s.max_nodes = limits.nodes if depth > 1 and limits.nodes is not None else 0
            s.deadline = limits.deadline if depth > 1 and limits.deadline is not None else 0
            with nogil:
                index = brs_iteration(s, board, depth, moves, count, &value)
            if index >= 0:
                best = moves[index]
                while index > 0:  # the best move leads the next iteration
                    moves[index] = moves[index - 1]
                    index -= 1
                moves[0] = best
                move = move_tuple(best)
                info = SearchInfo(
                    move, value, info.depth if s.stopped else depth, s.nodes, clock_now() - started,
                    (move,)
                )
            if s.stopped or abs(value) > BRS_WIN:
                break
        return info
