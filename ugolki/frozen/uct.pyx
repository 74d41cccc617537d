"""A frozen opponent: Monte Carlo tree search over max^n values, with so many iterations a move. It
was the engine of 2026-11-21, which knew nothing but distances, and must not improve any more."""

from libc.stdint cimport int32_t, uint32_t, uint64_t

from core.native.bits cimport lowest_bit32
from core.native.clock cimport clock_now
from ugolki.rules cimport (
    DISTANCE, MAX_MOVES, NOBODY, PASS_MOVE, SEATS, Board, Move, Position, generate, make,
    move_tuple, over
)

from core.errors import RuleError
from core.limits import SearchInfo

cdef enum:
    PLAYERS = SEATS
    FIRST_ITERATIONS = 128      # whatever the deadline
    MOST_NODES = 150_000        # of the tree; its memory is touched only as it grows
    MOST_EDGES = 2_000_000
    PLAYOUT_PLIES = 8
    PLAYOUT_NOISE = 8           # sixteenths of a step, uniform, on every move's gain
    MOST_GAIN = 512             # no single move gains or loses more cost
    MOST_LEAD = 2048            # a greater lead counts as this one

cdef float EXPLORATION = 0.8
cdef float PRIOR[2 * MOST_GAIN + 1]     # e^(gain / 16): a step more is e times as likely
cdef float SHARE[MOST_LEAD + 1]         # e^(-cost / 30): two steps more, a third of the share

ctypedef Board State


cdef void fill_tables() noexcept:
    """By multiplication only: libraries' exponentials differ in the last bit, and the fingerprint
    would with them."""
    cdef double step = 1.0644944589178593       # e^(1/16)
    cdef double value = 1
    cdef int i
    for i in range(MOST_GAIN + 1):
        PRIOR[MOST_GAIN + i] = <float>value
        PRIOR[MOST_GAIN - i] = <float>(1 / value)
        value *= step
    step = 0.9672161004820059                   # e^(-1/30)
    value = 1
    for i in range(MOST_LEAD + 1):
        SHARE[i] = <float>value
        value *= step


fill_tables()


# What the search kernel expects.

cdef inline int piece_cost(int seat, int cell) noexcept nogil:
    """In sixteenths of a step."""
    cdef int d = DISTANCE[seat][cell]
    return 16 * d + d * d


cdef inline int cost(const Board* b, int seat) noexcept nogil:
    """The sum over the seat's pieces of 16 d + d * d, d being the steps to its square: stragglers
    are dear."""
    cdef int k
    cdef int total = 0
    cdef uint32_t pieces
    for k in range(4):
        pieces = b.own[seat][k]
        while pieces:
            total += piece_cost(seat, k << 5 | lowest_bit32(pieces))
            pieces &= pieces - 1
    return total


cdef inline int gain(int seat, Move move) noexcept nogil:
    """By how much a move lowers its seat's cost."""
    return piece_cost(seat, move >> 8) - piece_cost(seat, move & 0xFF)


cdef inline int to_move(const Board* b) noexcept nogil:
    return b.ply & 3


cdef inline bint finished(const Board* b) noexcept nogil:
    return over(b)


cdef inline void move_weights(
    const Board* b, int seat, const Move* moves, int count, float* weights
) noexcept nogil:
    cdef int i
    for i in range(count):
        weights[i] = PRIOR[MOST_GAIN + gain(seat, moves[i])]


cdef inline void playout(Board* b, uint64_t* random) noexcept nogil:
    """Everybody takes the greatest gain, give or take the noise."""
    cdef Move moves[MAX_MOVES]
    cdef Move best
    cdef int _ply, i, count, value, best_value
    for _ply in range(PLAYOUT_PLIES):
        if over(b):
            return
        count = generate(b, b.ply & 3, moves)
        best = PASS_MOVE
        best_value = -MOST_GAIN
        for i in range(count):
            # Knuth's MMIX generator; its high bits are good enough for breaking ties.
            random[0] = random[0] * <uint64_t>6364136223846793005 + <uint64_t>1442695040888963407
            value = gain(b.ply & 3, moves[i]) + <int>((random[0] >> 33) % PLAYOUT_NOISE)
            if value > best_value:
                best, best_value = moves[i], value
        make(b, best)


cdef inline void win_shares(const Board* b, float* shares) noexcept nogil:
    """Where the game is over, 1 divided among the lowest penalties; before, in proportion to
    e^(-cost / 30)."""
    cdef int seat, players = 0
    cdef int costs[PLAYERS]
    cdef int least = 1 << 20
    cdef float total = 0
    cdef bint ended = over(b)
    for seat in range(PLAYERS):
        costs[seat] = NOBODY if b.penalty[seat] == NOBODY else b.penalty[seat] if ended else cost(
            b, seat
        )
        if costs[seat] != NOBODY:
            least = min(least, costs[seat])
            players += 1
    for seat in range(PLAYERS):
        if costs[seat] == NOBODY:
            shares[seat] = 0
        elif ended:
            shares[seat] = 1 if costs[seat] == least else 0
        else:
            shares[seat] = SHARE[min(costs[seat] - least, MOST_LEAD)]
        total += shares[seat]
    for seat in range(PLAYERS):
        shares[seat] /= total
    if players == 1:  # nobody to share with: what counts is to be near home, and soon
        for seat in range(PLAYERS):
            shares[seat] *= SHARE[min((0 if ended else least // 4) + b.ply // 4, MOST_LEAD)]


include "maxn_mcts.pxi"


cdef class Uct:
    """The player `uct:ITERATIONS`; it owns the tree, which it makes anew for every choice."""

    cdef MctsTree* tree
    cdef uint64_t iterations

    def __cinit__(self, uint64_t iterations):
        self.iterations = iterations
        self.tree = mcts_new(MOST_NODES, MOST_EDGES)
        if self.tree == NULL:
            raise MemoryError

    def __dealloc__(self):
        mcts_free(self.tree)

    def choose(self, Position position, limits):
        """The most visited move after the player's iterations, or as many as the limits allow; see
        `core.rules.Searcher`.

        The score is the expected share of the win in thousandths.
        """
        cdef MctsTree* tree = self.tree
        cdef Board root = position.board
        cdef Move moves[MAX_MOVES]
        cdef double started = clock_now()
        cdef double deadline = 0 if limits.deadline is None else limits.deadline
        cdef uint64_t most = self.iterations
        cdef uint64_t done, first
        cdef int32_t best
        cdef int score
        if generate(&root, root.ply & 3, moves) == 0:
            raise RuleError("no piece can move")
        if over(&root):  # a judge that plays on
            return greedy_move(&root)
        if limits.nodes is not None:
            most = min(most, <uint64_t>limits.nodes)
        tree.exploration = EXPLORATION
        tree.first_play = 1
        mcts_start(tree, &root, root.key)
        with nogil:
            first = min(most, <uint64_t>FIRST_ITERATIONS)
            done = mcts_run(tree, &root, first, 0)
            if deadline == 0 or clock_now() < deadline:
                done += mcts_run(tree, &root, most - done, deadline)
        best = mcts_best(tree, 0)
        score = <int>(1000 * tree.edges[best].total / max(<uint32_t>1, tree.edges[best].visits))
        move = move_tuple(tree.edges[best].move)
        return SearchInfo(move, score, 1, done, clock_now() - started, (move,))


cdef greedy_move(const Board* board):
    """The first of the moves that gain the most."""
    cdef Move moves[MAX_MOVES]
    cdef int seat = board.ply & 3
    cdef int i
    cdef int best = 0
    for i in range(1, generate(board, seat, moves)):
        if gain(seat, moves[i]) > gain(seat, moves[best]):
            best = i
    move = move_tuple(moves[best])
    return SearchInfo(move, gain(seat, moves[best]), 1, 1, 0.0, (move,))
