# cython: language_level=3, cdivision=True, wraparound=False
"""A toy game for the tree-search kernel: three players choose branches in turn, and the leaf, by a
hash, says what each of them gets.

Small enough that plain Python searches all of it; tests/test_maxn_mcts.py says what must come out.
"""

from libc.stdint cimport uint64_t

from core.native.rng cimport mix64

cdef enum:
    PLAYERS = 3
    MAX_MOVES = 3
    PLIES = 4
    PASS_MOVE = 0           # a seat that is stuck stays on its branch

ctypedef int Move           # 1 .. MAX_MOVES

cdef struct State:
    uint64_t path           # what was chosen so far, two bits a ply, below the seed
    int ply
    int stuck               # this seat never has a move; -1: nobody is


# What the search kernel expects.

cdef inline int to_move(const State* s) noexcept nogil:
    return s.ply % PLAYERS


cdef inline bint finished(const State* s) noexcept nogil:
    return s.ply == PLIES


cdef inline int generate(const State* s, int seat, Move* moves) noexcept nogil:
    cdef int i
    if seat == s.stuck:
        return 0
    for i in range(MAX_MOVES):
        moves[i] = i + 1
    return MAX_MOVES


cdef inline void make(State* s, Move move) noexcept nogil:
    s.path = s.path << 2 | <uint64_t>move
    s.ply += 1


cdef bint led = False       # the priors of the others leave them nothing but the first branch


cdef inline void move_weights(
    const void* context, const State* s, int seat, bint ours, const Move* moves, int count,
    float* weights
) noexcept nogil:
    cdef int i
    for i in range(count):
        weights[i] = 5 if ours or not led or i == 0 else 1e-12      # in any scale


cdef inline void playout(State* s, uint64_t* random) noexcept nogil:
    while not finished(s):
        random[0] = mix64(random[0])
        make(s, PASS_MOVE if to_move(s) == s.stuck else <Move>(1 + random[0] % MAX_MOVES))


cdef inline void win_shares(const void* context, const State* s, float* shares) noexcept nogil:
    cdef int seat
    cdef float total = 0
    for seat in range(PLAYERS):
        shares[seat] = <float>(mix64(s.path * PLAYERS + seat) % 100 + 1)
        shares[seat] *= shares[seat]    # so that few moves are nearly equal
        total += shares[seat]
    for seat in range(PLAYERS):
        shares[seat] /= total


include "ugolki/maxn_mcts.pxi"


cdef int predict(const void* context, const State* s, int level, Move* moves) noexcept nogil:
    """At the first level the branch that the context says, whatever the position, at the next level
    the next branch, if any; for 0 the branches 2 and 3."""
    cdef Move branch = (<const Move*>context)[0]
    if branch == 0:
        moves[0], moves[1] = 2, 3
        return 2
    moves[0] = min(branch + level, MAX_MOVES)
    return 1


def leaf(path):
    """What the three get where this path ends."""
    cdef State state = State(path, PLIES, -1)
    cdef float shares[PLAYERS]
    win_shares(NULL, &state, shares)
    return tuple([shares[seat] for seat in range(PLAYERS)])


def search(
    seed, uint64_t iterations, double deadline=0, int stuck=-1, int max_nodes=10_000,
    bint others_led=False, Move predicted=1, confidence=()
):
    """(best move, its mean share, iterations made, nodes of the tree, visits of every root move) of
    the game with that seed.

    `confidence` is that in each of the seats, at every level; without it the tree is not told that
    anybody can be predicted.
    """
    global led
    cdef State root = State(seed, 0, stuck)
    cdef MctsTree* tree = mcts_new(max_nodes, 100_000)
    cdef int32_t best, i
    cdef int seat, level
    cdef uint64_t done
    if tree == NULL:
        raise MemoryError
    try:
        tree.exploration = 1
        tree.first_play = 1
        if confidence:
            tree.context, tree.predict, tree.levels = &predicted, predict, MCTS_MOST_LEVELS
        for seat in range(len(confidence)):
            for level in range(MCTS_MOST_LEVELS):
                tree.confidence[level][seat] = confidence[seat]
        led = others_led
        mcts_start(tree, &root, 1, 1)
        done = mcts_run(tree, 0, &root, iterations, deadline)
        best = mcts_best(tree, 0)
        visits = sorted(
            [(tree.edges[i].move, tree.edges[i].visits) for i in range(tree.nodes[0].count)]
        )
        share = tree.edges[best].total / max(<uint32_t>1, tree.edges[best].visits)
        return tree.edges[best].move, share, done, tree.node_count, [count for _, count in visits]
    finally:
        mcts_free(tree)
