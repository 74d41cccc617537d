"""The engine of Ataxx: principal variation search with a neural network's evaluation."""

from libc.stdint cimport uint16_t, uint64_t

from ataxx.nn.evaluate cimport Network, NetworkBase, Weights, evaluate_near, forget_base
from ataxx.rules cimport (
    MAX_MOVES, PASS_MOVE, RING1, RING2, Board, Move, Position, empty_cells, far, generate, key,
    make, move_tuple, moves_onto, near, over,
)
from core.native.bits cimport popcount64
from core.native.rng cimport mix64

from ataxx.nn.evaluate import default_weights
from core.engine import NEW_GAME, MULTIPV, MOVES_TO_GO, STOP, Option, settled
from core.errors import RuleError
from core.limits import Limits
from core.resource import resource
from core.search.options import ab_options

BENCH_LIMITS = Limits(nodes=20_000)     # of each search of the fingerprint
DEFAULT_DEPTH = 8       # of a search without limits, in plies

ctypedef Board State

cdef enum:
    NO_MOVE = 0xFFFF
    SLOTS = 4096
    AB_NOISY = 24           # three captures
    # in the last plies before the limit, the ply is part of a position's key; not tuned
    NEAR_THE_END = 64
    BASES = 32              # stored accumulators

# Interface of the search kernel, see alphabeta.pxi.

cdef inline int slot(const Board* b, Move move) noexcept nogil:
    return move


cdef inline int side(const Board* b) noexcept nogil:
    return b.ply & 1


cdef inline bint immobile(const Board* b) noexcept nogil:
    """Return true if the other side has no move and gets none, so that the side to move wins by
    filling the board. Only for boards without walls."""
    cdef uint64_t theirs = b.pieces[1 - (b.ply & 1)]
    cdef uint64_t empty = empty_cells(b)
    return (
        b.closed == 0
        and far(theirs) & empty == 0
        and popcount64(theirs) <= 24
        and b.ply + 2 * popcount64(empty) < b.last_ply
        and b.halfmove_limit == 0
    )


cdef inline bint finished(const Board* b) noexcept nogil:
    return over(b) or immobile(b)


cdef inline int final_value(const Board* b, int ply) noexcept nogil:
    cdef int ahead = popcount64(b.pieces[b.ply & 1]) - popcount64(b.pieces[1 - (b.ply & 1)])
    if not over(b):
        return AB_WIN - ply - 2 * popcount64(empty_cells(b))
    return AB_WIN - ply if ahead > 0 else ply - AB_WIN if ahead < 0 else 0


cdef inline int legal_moves(const Board* b, Move* moves) noexcept nogil:
    cdef int count = generate(b, moves)
    if count == 0:
        moves[0] = PASS_MOVE
        count = 1
    return count


cdef inline int useful_moves(const Board* b, Move wanted, Move* moves) noexcept nogil:
    """Omit leaps that capture nothing if there are two other moves: the search skips them after two
    moves (docs/experiments/005), and most moves are such leaps (docs/experiments/018)."""
    cdef uint64_t own = b.pieces[b.ply & 1]
    cdef uint64_t empty = empty_cells(b)
    cdef uint64_t captures = near(b.pieces[1 - (b.ply & 1)]) & empty
    cdef int count = moves_onto(own, near(own) & empty, captures, moves)
    cdef int start = wanted >> 6
    if count < 2:
        return legal_moves(b, moves)
    if wanted < PASS_MOVE and (
        RING2[start] & empty & ~captures & <uint64_t>1 << (wanted & 63)
        and own >> start & 1
    ):
        moves[count] = wanted
        count += 1
    return count


cdef inline void make_move(const Board* b, Move move, Board* child) noexcept nogil:
    child[0] = b[0]
    make(child, move)


cdef inline uint64_t state_key(const Board* b) noexcept nogil:
    return key(b) if b.last_ply - b.ply > NEAR_THE_END else key(b) ^ mix64(b.ply)


cdef inline int move_order(const Board* b, Move move) noexcept nogil:
    """8 per captured piece, and 12 for a division; not tuned."""
    cdef int start = move >> 6
    cdef int end = move & 63
    cdef int order
    if move == PASS_MOVE:
        return 0
    order = 8 * popcount64(RING1[end] & b.pieces[1 - (b.ply & 1)])
    if start == end:
        return order + 12
    return order


include "../core/search/alphabeta.pxi"


cdef struct Evaluator:
    const Network* network
    NetworkBase bases[BASES]    # by ply: a search visits similar positions at each ply


cdef inline int evaluate(const AbSearch* s, const Board* b) noexcept nogil:
    """Return the network's value, in the engine's SCORE_UNIT."""
    cdef Evaluator* e = <Evaluator*>s.weights
    return evaluate_near(
        e.network, &e.bases[b.ply % BASES], b.pieces[b.ply & 1], b.pieces[1 - (b.ply & 1)], False
    )


cdef inline void expect_moves(const AbSearch* s, const Board* b) noexcept nogil:
    """Store this position as the base of those after its moves."""
    cdef Evaluator* e = <Evaluator*>s.weights
    evaluate_near(
        e.network, &e.bases[(b.ply + 1) % BASES], b.pieces[1 - (b.ply & 1)], b.pieces[b.ply & 1],
        True
    )


cdef inline int leaf_value(
    const AbSearch* s, const Board* b, int evaluation, int alpha, int beta, int ply
) noexcept nogil:
    return evaluation


cdef class Engine:
    """See engine.pyi."""

    CAPABILITIES = frozenset({STOP, NEW_GAME, MOVES_TO_GO, MULTIPV})
    SCORE_UNIT = "1/260 of the logit of winning"    # --unit in the header of nn/weights.bin
    OPTIONS = (
        Option("weights", str, "", "file of the network's weights [default: the package's own]"),
        # docs/experiments/006
        *ab_options(patience=0.35),
    )

    cdef AbSearch* search
    cdef Weights weights
    cdef Evaluator* evaluator

    def __cinit__(self, **options):
        settings = settled(Engine.OPTIONS, options)
        weights = settings["weights"]
        if weights == "":
            self.weights = default_weights()
        else:
            self.weights = Weights(resource(weights) if isinstance(weights, str) else weights)
        self.evaluator = <Evaluator*>table_new(sizeof(Evaluator))
        if self.evaluator == NULL:
            raise MemoryError
        self.evaluator.network = &self.weights.network
        for i in range(BASES):
            forget_base(&self.evaluator.bases[i])
        self.search = ab_new(settings)
        self.search.weights = self.evaluator

    def __dealloc__(self):
        ab_free(self.search)
        table_free(self.evaluator, sizeof(Evaluator))

    def new_game(self):
        ab_new_game(self.search)

    def stop(self):
        self.search.stopped = True

    def moves_to_go(self, Position position):
        # Less than the moves to come: most searches end before the planned time (patience), most
        # games are decided before they end, and time left on the clock is lost
        # (docs/experiments/006).
        return max(3.0, 0.75 * popcount64(empty_cells(&position.board)) - 2)

    def choose(self, Position position, limits, report=None):
        cdef Board root = position.board
        if over(&root):
            raise RuleError("the game is over")
        unbound = limits.deadline is None and limits.nodes is None and limits.depth is None
        return ab_choose(
            self.search, &root, limits, DEFAULT_DEPTH if unbound else limits.depth or 1000, report
        )
