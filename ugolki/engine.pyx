"""The engine of Ugolki: Monte Carlo tree search over max^n values, with short playouts that end in an estimate.

Measured against three `greedy`, and against best-reply search, which was the engine before it: docs/results.md.
"""

from libc.stdint cimport int32_t, uint32_t, uint64_t

from core.clock cimport clock_now
from ugolki.evaluate cimport cost, gain
from ugolki.rules cimport MAX_MOVES, NOBODY, PASS_MOVE, SEATS, Board, Move, Position, generate, make, move_tuple, over

from core.errors import RuleError
from core.limits import Limits, SearchInfo

BENCH_LIMITS = Limits(nodes=1000)
"""Of each search of the fingerprint."""

DEFAULT_ITERATIONS = 10_000
"""Where the limits give neither nodes nor a deadline."""

cdef enum:
    PLAYERS = SEATS
    FIRST_ITERATIONS = 128      # before the first report, whatever the deadline: less than a millisecond
    MOST_NODES = 150_000        # of the tree; with the edges about 42 MB, touched only as the tree grows
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
    """By multiplication only: libraries' exponentials differ in the last bit, and the fingerprint would with them."""
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

cdef inline int to_move(const Board* b) noexcept nogil:
    return b.ply & 3


cdef inline bint finished(const Board* b) noexcept nogil:
    return over(b)


cdef inline void move_weights(const Board* b, int seat, const Move* moves, int count, float* weights) noexcept nogil:
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
    """Where the game is over, 1 divided among the lowest penalties; before, in proportion to e^(-cost / 30)."""
    cdef int seat, players = 0
    cdef int costs[PLAYERS]
    cdef int least = 1 << 20
    cdef float total = 0
    cdef bint ended = over(b)
    for seat in range(PLAYERS):
        costs[seat] = NOBODY if b.penalty[seat] == NOBODY else b.penalty[seat] if ended else cost(b, seat)
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


include "../core/search/maxn_mcts.pxi"


cdef class Engine:
    """Chooses moves; it owns the tree, which it makes anew for every choice."""

    cdef MctsTree* tree
    cdef Board root             # of the tree
    cdef bint stopped

    def __cinit__(self):
        self.tree = mcts_new(MOST_NODES, MOST_EDGES)
        if self.tree == NULL:
            raise MemoryError

    def __dealloc__(self):
        mcts_free(self.tree)

    def stop(self):
        """End the search that runs in another thread; it returns what it has found."""
        self.stopped = True

    def choose(self, Position position, limits, report=None):
        """The most visited move. See `core.rules.Searcher`.

        `report` is called with a first outcome within a millisecond and whenever a better move is found. Nodes are iterations, the
        score is the expected share of the win in thousandths, and the depth is the length of the principal variation; `limits.depth`
        is no bound for a tree search. The first 128 iterations are made whatever the deadline. Where the game is over (a judge that
        plays on), the move that leaves the least cost. Raises RuleError when no piece can move.
        """
        cdef MctsTree* tree = self.tree
        cdef Board root = position.board
        cdef Move moves[MAX_MOVES]
        cdef double started = clock_now()
        cdef double deadline = 0 if limits.deadline is None else limits.deadline
        cdef uint64_t most = DEFAULT_ITERATIONS if limits.deadline is None else <uint64_t>1 << 40
        cdef uint64_t done, chunk
        cdef int32_t best, reported
        cdef int count = generate(&root, root.ply & 3, moves)
        if count == 0:
            raise RuleError("no piece can move")
        self.root = root
        tree.node_count = 0
        if over(&root):
            return final_move(&root, moves, count)
        if count == 1:
            most = 1
        elif limits.nodes is not None:
            most = limits.nodes
        self.stopped = False
        tree.exploration = EXPLORATION
        mcts_start(tree, &root, root.key)
        done = mcts_run(tree, &root, min(most, <uint64_t>FIRST_ITERATIONS), 0)
        reported = -1
        while True:
            best = mcts_best(tree, 0)
            if report is not None and best != reported:
                report(self.outcome(done, started))
                reported = best
            if done >= most or self.stopped or (deadline > 0 and clock_now() >= deadline):
                return self.outcome(done, started)
            chunk = min(most - done, done, <uint64_t>4096)
            with nogil:
                done += mcts_run(tree, &root, chunk, deadline)

    def candidates(self):
        """What the last search thinks of each move, the most visited first; nothing where it needed none. See `core.rules.Engine`.

        Under "share" what the mover may expect of the win, under "order" the seats as they are expected to finish, under "penalty"
        what is left of the mover's: both by the mean over all positions where the tree ends, as often as each was visited.
        """
        cdef MctsTree* tree = self.tree
        cdef MctsEdge* edge
        cdef double costs[PLAYERS]
        cdef double penalties[PLAYERS]
        cdef int32_t i
        rows = []
        if tree.node_count == 0:
            return rows
        for i in range(tree.nodes[0].first, tree.nodes[0].first + tree.nodes[0].count):
            edge = &tree.edges[i]
            if edge.visits == 0:
                continue
            costs[:] = [0, 0, 0, 0]
            penalties[:] = [0, 0, 0, 0]
            add_ends(tree, &self.root, edge, costs, penalties)
            playing = [seat for seat in range(PLAYERS) if self.root.penalty[seat] != NOBODY]
            rows.append({
                "move": move_tuple(edge.move),
                "visits": edge.visits,
                "share": edge.total / edge.visits,
                "order": " ".join(map(str, sorted(playing, key=lambda seat: costs[seat]))),
                "penalty": penalties[self.root.ply & 3] / edge.visits,
            })
        return sorted(rows, key=lambda row: (-row["visits"], -row["share"]))

    cdef outcome(self, uint64_t iterations, double started):
        cdef MctsTree* tree = self.tree
        cdef int32_t best = mcts_best(tree, 0)
        cdef int score = <int>(1000 * tree.edges[best].total / max(<uint32_t>1, tree.edges[best].visits))
        line = [move_tuple(tree.edges[best].move)]
        while tree.edges[best].child:
            best = mcts_best(tree, tree.edges[best].child)
            if tree.edges[best].visits == 0:
                break
            line.append(move_tuple(tree.edges[best].move))
        return SearchInfo(line[0], score, len(line), iterations, clock_now() - started, tuple(line))


cdef void add_ends(const MctsTree* tree, const Board* before, const MctsEdge* edge, double* costs, double* penalties) noexcept nogil:
    """Add up every seat's cost and penalty where the tree below the edge ends, each position as often as it was visited."""
    cdef Board board = before[0]
    cdef const MctsNode* node
    cdef int32_t i
    cdef int seat
    cdef uint32_t here = edge.visits
    make(&board, edge.move)
    if edge.child:
        node = &tree.nodes[edge.child]
        for i in range(node.first, node.first + node.count):
            if tree.edges[i].visits:
                here -= tree.edges[i].visits
                add_ends(tree, &board, &tree.edges[i], costs, penalties)
    for seat in range(PLAYERS):
        if here and board.penalty[seat] != NOBODY:
            costs[seat] += here * <double>(cost(&board, seat))
            penalties[seat] += here * <double>board.penalty[seat]


cdef final_move(const Board* board, const Move* moves, int count):
    """The move after which the seat to move has the least cost."""
    cdef int seat = board.ply & 3
    cdef int i
    cdef int best = 0
    cdef Board child = board[0]
    for i in range(1, count):
        if gain(seat, moves[i]) > gain(seat, moves[best]):
            best = i
    make(&child, moves[best])
    move = move_tuple(moves[best])
    return SearchInfo(move, -cost(&child, seat), 1, count, 0.0, (move,))
