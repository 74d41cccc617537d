"""The engine of the apple game: principal variation search with a linear evaluation.

The evaluation counts cells that can be retaken."""

from libc.stdint cimport int32_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from applegame.rules cimport (
    HEIGHT, MAX_MOVES, PASS_MOVE, Board, Move, Position, bottom_row, columns, generate, key, make,
    regenerate, swing, top_row,
)
from applegame.rules cimport move_tuple as tuple_of_move
from core.native.bits cimport popcount32

from applegame.protocol import PASS
from core.engine import NEW_GAME, MULTIPV, MOVES_TO_GO, SOLVE, STOP, Option, settled
from core.errors import RuleError, TextError
from core.limits import Limits, SearchInfo
from core.resource import resource
from core.search.options import ab_options

BENCH_LIMITS = Limits(nodes=10_000)     # of each search of the fingerprint
DEFAULT_DEPTH = 6       # of a search without limits, in plies

cdef extern from "applegame/nn/weights.h" nogil:
    const int WEIGHTS[5][6]     # by phase, then by feature; the file's head names its command

cdef enum:
    NO_MOVE = 0xFFFF
    SLOTS = 0x10000
    AB_NOISY = 32           # a swing of eight cells
    MAX_VALUE = 28_000      # bound of the evaluation, in points
    MAX_WEIGHT = 10_000
    FEATURES = 6
    PHASES = 5

WEIGHTS_SHAPE = (PHASES, FEATURES)      # used by applegame.train
UNIT = 400      # points per logit of the expected result

cdef struct State:
    Board board
    Move last               # the move before, NO_MOVE at the root
    int count               # legal rectangles
    Move moves[MAX_MOVES]   # the first `count` are valid

# The names that the search kernel needs; core/search/alphabeta.pxi describes each.

cdef inline int slot(const State* s, Move move) noexcept nogil:
    return move


cdef inline int side(const State* s) noexcept nogil:
    return s.board.ply & 1


cdef inline int lead(const Board* b) noexcept nogil:
    """Return the lead of the side to move, in cells."""
    return b.cells[b.ply & 1] - b.cells[1 - (b.ply & 1)]


cdef inline bint finished(const State* s) noexcept nogil:
    """Return True if the game has ended or is decided.

    Decided: no rectangle is left, or the opponent has passed and the leader is to move."""
    return s.board.passes >= 2 or s.count == 0 or (s.board.passes == 1 and lead(&s.board) > 0)


cdef inline int final_value(const State* s, int ply) noexcept nogil:
    cdef int ahead = lead(&s.board)
    ply += 2 - s.board.passes
    return AB_WIN - ply if ahead > 0 else ply - AB_WIN if ahead < 0 else 0


cdef inline int legal_moves(const State* s, Move* moves) noexcept nogil:
    cdef int i
    for i in range(s.count):
        moves[i] = s.moves[i]
    moves[s.count] = PASS_MOVE
    return s.count + 1


cdef inline int useful_moves(const State* s, Move wanted, Move* moves) noexcept nogil:
    return legal_moves(s, moves)


cdef inline void make_move(const State* s, Move move, State* child) noexcept nogil:
    child.board = s.board
    child.last = move
    make(&child.board, move)
    if move == PASS_MOVE:
        child.count = legal_moves(s, child.moves) - 1
    else:
        child.count = regenerate(&child.board, move, s.moves, s.count, child.moves)


cdef inline uint64_t state_key(const State* s) noexcept nogil:
    return key(&s.board)


cdef inline int phase(const Board* b) noexcept nogil:
    """Return the phase: 0 with no digits left, PHASES - 1 with all of them."""
    cdef int row, standing = 0
    for row in range(HEIGHT):
        standing += popcount32(b.standing[row])
    return standing * PHASES // 171


cdef inline void features(const State* s, int* f) noexcept nogil:
    """Write the six features of the side to move into `f`.

    f[0]  its lead, in cells
    f[1]  its largest swing
    f[2]  the opponent's largest swing
    f[3]  its cells that some rectangle covers
    f[4]  the opponent's cells that some rectangle covers
    f[5]  the opponent's minus its own covered cells, counted once per covering rectangle
    """
    cdef int me = s.board.ply & 1
    cdef uint32_t covered[HEIGHT]
    cdef uint32_t mask
    cdef int row, i, area, mine, theirs
    cdef Move move
    for row in range(HEIGHT):
        covered[row] = 0
    f[0] = lead(&s.board)
    f[1] = f[2] = f[3] = f[4] = f[5] = 0
    for i in range(s.count):
        move = s.moves[i]
        mask = columns(move)
        area = (bottom_row(move) - top_row(move) + 1) * popcount32(mask)
        mine = theirs = 0
        for row in range(top_row(move), bottom_row(move) + 1):
            covered[row] |= mask
            mine += popcount32(s.board.owned[me][row] & mask)
            theirs += popcount32(s.board.owned[1 - me][row] & mask)
        f[1] = max(f[1], area - mine + theirs)
        f[2] = max(f[2], area + mine - theirs)
        f[5] += theirs - mine
    for row in range(HEIGHT):
        f[3] += popcount32(covered[row] & s.board.owned[me][row])
        f[4] += popcount32(covered[row] & s.board.owned[1 - me][row])


cdef inline int move_order(const State* s, Move move) noexcept nogil:
    """Return the order's rank: 4 per cell of swing. A pass ranks 1, so it is not pruned as
    hopeless."""
    if move == PASS_MOVE:
        return 1
    return min(127, 4 * swing(&s.board, s.board.ply & 1, move))


cdef inline tuple move_tuple(const State* s, Move move):
    return tuple_of_move(move)


include "../core/search/alphabeta.pxi"


cdef inline int evaluate(const AbSearch* s, const State* state) noexcept nogil:
    """Return the weighted sum of the features, in points (UNIT per logit)."""
    cdef int f[FEATURES]
    cdef int i, value = 0
    cdef const int* weights = <const int*>s.weights + FEATURES * phase(&state.board)
    features(state, f)
    for i in range(FEATURES):
        value += weights[i] * f[i]
    return max(-MAX_VALUE, min(MAX_VALUE, value))


cdef inline void expect_moves(const AbSearch* s, const State* state) noexcept nogil:
    pass


cdef inline int thefts(const State* s, Move* moves, int32_t* order) noexcept nogil:
    """Write the rectangles that overlap the last one and take an opponent's cell, ranked by swing.

    Return their number."""
    cdef uint32_t last = columns(s.last)
    cdef const uint32_t* theirs = s.board.owned[1 - (s.board.ply & 1)]
    cdef uint32_t stolen
    cdef int i, row, count = 0
    cdef Move move
    for i in range(s.count):
        move = s.moves[i]
        if columns(move) & last == 0 or top_row(move) > bottom_row(
            s.last
        ) or bottom_row(move) < top_row(s.last):
            continue
        stolen = 0
        for row in range(top_row(move), bottom_row(move) + 1):
            stolen |= theirs[row] & columns(move)
        if stolen:
            moves[count] = move
            order[count] = ab_ranked(swing(&s.board, s.board.ply & 1, move), count)
            count += 1
    return count


cdef int leaf_value(
    AbSearch* s, const State* state, int evaluation, int alpha, int beta, int ply
) noexcept nogil:
    """Return the value of a quiescence search: the evaluation, or the best line of thefts.

    A theft is a rectangle that overlaps the last one and takes an opponent's cell. It scores
    57.5 +- 2.4 % against the evaluation alone (180 games, 5,000 nodes per move; experiment 013).
    """
    cdef State child
    cdef Move moves[MAX_MOVES]
    cdef int32_t order[MAX_MOVES]
    cdef Move move
    cdef int i, count, value
    cdef int best = evaluation
    if best >= beta or ply >= AB_MAX_PLY or state.last == PASS_MOVE or state.last == NO_MOVE:
        return best
    count = thefts(state, moves, order)
    for i in range(count):
        move = ab_pick(moves, order, i, count)
        if ab_stop(s):
            return 0
        make_move(state, move, &child)
        if finished(&child):
            value = -final_value(&child, ply + 1)
        else:
            value = -leaf_value(s, &child, evaluate(s, &child), -beta, -max(alpha, best), ply + 1)
        if value > best:
            best = value
            if best >= beta:
                break
    return best


cdef int outcome(AbSearch* s, const State* state, int alpha, int beta) noexcept nogil:
    """Return 1, 0 or -1 for the side to move under best play, by an exhaustive search.

    The value is meaningless if s.stopped."""
    cdef Move moves[MAX_MOVES]
    cdef int32_t order[MAX_MOVES]
    cdef Move move, best_move = NO_MOVE, table_move = NO_MOVE
    cdef State child
    cdef TableEntry* entry
    cdef uint64_t position = state_key(state)
    cdef int i, count, value, bound, least = alpha, best = -2
    if finished(state):
        value = lead(&state.board)
        return (value > 0) - (value < 0)
    if ab_stop(s):
        return 0
    entry = tt_probe(&s.table, position)
    if entry != NULL:
        table_move, value, bound = entry.move, entry.value, tt_bound(entry)
        if (
            bound == TT_EXACT
            or bound == TT_LOWER and value >= beta
            or bound == TT_UPPER and value <= alpha
        ):
            return value
    count = legal_moves(state, moves)
    for i in range(count):
        order[i] = ab_ranked(
            1 << 10 if moves[i] == table_move else move_order(state, moves[i]), i
        )
    for i in range(count):
        move = ab_pick(moves, order, i, count)
        make_move(state, move, &child)
        value = -outcome(s, &child, -beta, -alpha)
        if s.stopped:
            return 0
        if value > best:
            best, best_move = value, move
            alpha = max(alpha, best)
            if alpha >= beta:
                break
    ab_store(
        s, position, 0, TT_LOWER if best >= beta else TT_EXACT if best > least else TT_UPPER,
        best, 0, best_move, 0
    )
    return best


cdef list read_weights(bytes data):
    """Return the weights of a header that applegame.train wrote, row by row. Raises TextError."""
    rows = [
        line.partition(b"{")[2].partition(b"}")[0].split(b",")
        for line in data.splitlines()
        if line.startswith(b"    {")
    ]
    if [len(row) for row in rows] != [FEATURES] * PHASES:
        raise TextError(f"the apple game's weights must have {PHASES} rows of {FEATURES} numbers")
    try:
        numbers = [int(number) for row in rows for number in row]
    except ValueError:
        raise TextError("a weight of the apple game is not an integer") from None
    if max(map(abs, numbers)) > MAX_WEIGHT:
        raise TextError(f"a weight of the apple game exceeds {MAX_WEIGHT}")
    return numbers


cdef class Engine:
    """The engine; its weights and transposition table are kept between searches."""

    CAPABILITIES = frozenset({STOP, NEW_GAME, MOVES_TO_GO, SOLVE, MULTIPV})
    SCORE_UNIT = "1/400 of the logit of winning"
    OPTIONS = (
        Option("weights", str, "", "file of weights written by python -m applegame.train"),
        # patience 0.65: no significant difference (experiment 013)
        *ab_options(patience=1.0),
    )

    cdef AbSearch* search
    cdef int weights[PHASES][FEATURES]

    def __cinit__(self, **options):
        cdef int i
        settings = settled(Engine.OPTIONS, options)
        weights = settings["weights"]
        if weights != "":
            numbers = read_weights(resource(weights) if isinstance(weights, str) else weights)
            for i in range(PHASES * FEATURES):
                (&self.weights[0][0])[i] = numbers[i]
        else:
            memcpy(self.weights, WEIGHTS, sizeof(self.weights))
        self.search = ab_new(settings)
        self.search.weights = self.weights

    def __dealloc__(self):
        ab_free(self.search)

    def new_game(self):
        """Begin a new game: forget all searched positions."""
        ab_new_game(self.search)

    def stop(self):
        """End the search that runs in another thread. It returns its best result."""
        self.search.stopped = True

    def moves_to_go(self, Position position):
        """Return the number of moves that the clock must last for; at least 2. Not tuned.

        A game has about 18 moves per side, and the last ones matter little."""
        cdef int row, standing = 0
        for row in range(HEIGHT):
            standing += popcount32(position.board.standing[row])
        return 2 + standing / 18.0

    def choose(self, Position position, limits, report=None):
        """Return the best move found. See engine.pyi."""
        cdef State root
        root.board = position.board
        root.last = NO_MOVE
        if root.board.passes >= 2:
            raise RuleError("the game is over")
        root.count = generate(&root.board, root.moves)
        if finished(&root):
            return SearchInfo(PASS, final_value(&root, 0), 1, 1, 0.0, (PASS,))
        unbound = limits.deadline is None and limits.nodes is None and limits.depth is None
        return ab_choose(
            self.search, &root, limits, DEFAULT_DEPTH if unbound else limits.depth or 1000, report
        )

    def solve(self, Position position, uint64_t nodes):
        """Return 1, 0 or -1 under best play, None if `nodes` do not suffice. See engine.pyi."""
        cdef State root
        cdef int value
        root.board, root.last = position.board, NO_MOVE
        root.count = generate(&root.board, root.moves)
        ab_new_game(self.search)
        self.search.nodes, self.search.max_nodes = 0, nodes
        self.search.deadline, self.search.stopped = 0, False
        with nogil:
            value = outcome(self.search, &root, -1, 1)
        ab_new_game(self.search)      # a search would read these values as points
        return None if self.search.stopped else value


def feature_list(Position position):
    """Return the phase and the features of the evaluation, for training."""
    cdef State state
    cdef int f[FEATURES]
    state.board = position.board
    state.count = generate(&state.board, state.moves)
    features(&state, f)
    return [phase(&state.board), *[f[i] for i in range(FEATURES)]]
