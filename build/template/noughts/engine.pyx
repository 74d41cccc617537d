"""The engine of noughts and crosses: a full search."""

from libc.stdint cimport uint64_t

from noughts.rules cimport Board, Position, has_line, make, over

from core.engine import NEW_GAME, STOP, settled
from core.errors import RuleError
from core.limits import Limits, SearchInfo

BENCH_LIMITS = Limits(depth=9)


cdef int value(const Board* b, int depth, uint64_t* nodes) noexcept nogil:
    """Return the value for the seat to move: 1 for a win, -1 for a loss, else 0."""
    cdef Board child
    cdef int cell, best = -1
    nodes[0] += 1
    if over(b) or depth == 0:
        return has_line(b.own[b.ply & 1]) - has_line(b.own[b.ply & 1 ^ 1])
    for cell in range(9):
        if best < 1 and not (b.own[0] | b.own[1]) >> cell & 1:
            child = b[0]
            make(&child, cell)
            best = max(best, -value(&child, depth - 1, nodes))
    return best


cdef class Engine:
    """Chooses moves."""

    CAPABILITIES = frozenset({STOP, NEW_GAME})
    SCORE_UNIT = "1 for a win, -1 for a loss"
    OPTIONS = ()

    def __init__(self, **options):
        """Create an engine. `options` are those of OPTIONS. Raises UnknownNameError, TextError."""
        settled(Engine.OPTIONS, options)

    def new_game(self):
        """Do nothing: the engine stores nothing between searches."""

    def stop(self):
        """Do nothing: a search takes too little time to be stopped."""

    def choose(self, Position position, limits, report=None):
        """Search and return the best move. Only `limits.depth` has an effect: a full search visits
        at most 94,977 nodes.

        `report` is called once, with the result. Raises RuleError if the board is full.
        """
        cdef Board child
        cdef uint64_t nodes = 0
        cdef int depth = limits.depth or 9
        cdef int score, best_score = -2
        best = None
        for move in position.pseudolegal():
            child = position.board
            make(&child, 3 * move[1] + move[0])
            score = -value(&child, depth - 1, &nodes)
            if score > best_score:
                best, best_score = move, score
        if best is None:
            raise RuleError("the board is full")
        found = SearchInfo(best, best_score, depth, nodes, 0.0, (best,))
        if report is not None:
            report(found)
        return found
