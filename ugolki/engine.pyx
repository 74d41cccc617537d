"""The engine of Ugolki: best-reply search over the fast rules."""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from core.clock cimport clock_now
from ugolki.evaluate cimport cost, evaluate
from ugolki.rules cimport DISTANCE, MAX_MOVES, SEATS, Board, Move, Position, generate, move_piece, move_tuple, over

from core.errors import RuleError
from core.limits import Limits, SearchInfo

BENCH_LIMITS = Limits(depth=5)
"""Of each search of the fingerprint."""

# What the search kernel expects.
ctypedef Board State
cdef enum:
    PLAYERS = SEATS


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


include "../core/search/brs.pxi"


cdef class Engine:
    """Chooses moves; it owns the search's memory (about 1.6 MB), which it uses for one choice at a time."""

    cdef BrsSearch* search

    def __cinit__(self):
        self.search = <BrsSearch*>calloc(1, sizeof(BrsSearch))
        if self.search == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.search)

    def choose(self, Position position, limits, report=None):
        """The best move within `limits`; `report` is called with the outcome of every iteration. See `core.rules.Searcher`.

        Scores are in sixteenths of a step of lead over the nearest rival; the first iteration is done whatever the limits. Where the
        game is over (a judge that plays on), the move that leaves the least cost. Raises RuleError when no piece can move.
        """
        cdef BrsSearch* s = self.search
        cdef const Board* board = &position.board
        cdef Move moves[MAX_MOVES]
        cdef Move best
        cdef double started = clock_now()
        cdef int count, depth, deepest, index, value
        s.root = board.ply & 3
        count = generate(board, s.root, moves)
        if count == 0:
            raise RuleError("no piece can move")
        if over(board):
            return final_move(board, moves, count)
        memset(s.table, 0, sizeof(s.table))
        s.nodes = 0
        s.stopped = False
        info = None
        # Beyond the last own move before the game is stopped there is nothing to plan.
        deepest = min(BRS_MAX_DEPTH, 2 * ((board.last_ply - board.ply + 3) // SEATS) - 1)
        if limits.depth is not None:
            deepest = max(1, min(deepest, limits.depth))
        for depth in range(1, deepest + 1):
            if depth > 1 and limits.deadline is not None and clock_now() >= limits.deadline:
                break
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
                info = SearchInfo(move, value, info.depth if s.stopped else depth, s.nodes, clock_now() - started, (move,))
                if report is not None:
                    report(info)
            if s.stopped or count == 1 or abs(value) > BRS_WIN:
                break
        info.nodes = s.nodes
        info.seconds = clock_now() - started
        return info


cdef final_move(const Board* board, const Move* moves, int count):
    """The move after which the seat to move has the least cost."""
    cdef Board child
    cdef int seat = board.ply & 3
    cdef int i, value, best = 0, best_value = 1 << 30
    for i in range(count):
        child = board[0]
        apply_move(&child, seat, moves[i])
        value = cost(&child, seat)
        if value < best_value:
            best, best_value = i, value
    move = move_tuple(moves[best])
    return SearchInfo(move, -best_value, 1, count, 0.0, (move,))
