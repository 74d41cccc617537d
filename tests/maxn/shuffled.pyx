# cython: language_level=3, cdivision=True, wraparound=False
"""A toy game for the tree-search kernel: three players choose branches in turn, and the leaf, by a
hash, says what each of them gets.

Small enough that plain Python searches all of it; tests/test_maxn_mcts.py says what must come out.
"""

from _thread import start_new_thread
from time import sleep

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


cdef double moment = 0      # on a clock that goes on by a step with every look,
cdef double step = 0.001
cdef double jump = 0        # and by this at the look of that number
cdef int jumping = 0
cdef int looks = 0


cdef inline double clock_now() noexcept nogil:
    global looks, moment
    looks += 1
    moment += jump if looks == jumping else step
    return moment


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
    cdef Searched searched = Searched(max_nodes)
    cdef MctsTree* tree = searched.tree
    cdef int32_t best, i
    cdef int seat, level
    cdef uint64_t done
    searched.root = State(seed, 0, stuck)
    if confidence:
        tree.context, tree.predict, tree.levels = &predicted, predict, MCTS_MOST_LEVELS
    for seat in range(len(confidence)):
        for level in range(MCTS_MOST_LEVELS):
            tree.confidence[level][seat] = confidence[seat]
    led = others_led
    mcts_start(tree, &searched.root, 1, 1)
    done = mcts_run(tree, 0, &searched.root, iterations, deadline)
    best = mcts_best(tree, 0)
    visits = sorted(
        [(tree.edges[i].move, tree.edges[i].visits) for i in range(tree.nodes[0].count)]
    )
    share = tree.edges[best].total / max(<uint32_t>1, tree.edges[best].visits)
    return tree.edges[best].move, share, done, tree.node_count, [count for _, count in visits]


def search_late(uint64_t iterations, double deadline, double late, double held_up, int at):
    """(iterations made, the longest stall) on a clock that goes on by 1 ms with every look,
    and by `held_up` seconds at the look of that number."""
    global jump, jumping, looks, moment
    cdef Searched searched = Searched(10_000)
    searched.root = State(1, 0, -1)
    searched.tree.late = late
    moment, looks, jump, jumping = 0, 0, held_up, at
    mcts_start(searched.tree, &searched.root, 1, 1)
    done = mcts_run(searched.tree, 0, &searched.root, iterations, deadline)
    return done, searched.tree.workers[0].stall


def search_together(
    seed, uint64_t iterations, int threads, int max_nodes=10_000, double confidence=0
):
    """(best move, iterations made, nodes of the tree, faults found in it) where so many threads
    search; the others are predicted to take the first branch."""
    cdef Searched searched = Searched(max_nodes)
    cdef MctsTree* tree = searched.tree
    cdef Move predicted = 1
    cdef int seat, level, number
    searched.root = State(seed, 0, -1)
    if confidence:
        tree.context, tree.predict, tree.levels = &predicted, predict, MCTS_MOST_LEVELS
    for seat in range(1, PLAYERS):
        for level in range(MCTS_MOST_LEVELS):
            tree.confidence[level][seat] = confidence
    mcts_start(tree, &searched.root, 1, threads)
    tree.most = iterations
    searched.going = threads
    for number in range(threads):
        start_new_thread(help_search, (searched, number))
    while peek_i32(&searched.going):
        sleep(0.001)
    return tree.edges[mcts_best(tree, 0)].move, tree.done, tree.node_count, searched.faults()


cdef class Searched:
    """A tree and what it is searched from."""

    cdef MctsTree* tree
    cdef State root
    cdef int32_t going          # threads

    def __cinit__(self, int max_nodes):
        self.tree = mcts_new(max_nodes, 100_000)
        if self.tree == NULL:
            raise MemoryError
        self.tree.exploration = self.tree.first_play = 1

    def __dealloc__(self):
        mcts_free(self.tree)

    def faults(self):
        """What does not add up."""
        cdef MctsTree* tree = self.tree
        cdef MctsNode* node
        cdef int32_t i, k
        found, children = [], []
        for i in range(min(tree.node_count, tree.max_nodes)):
            node = &tree.nodes[i]
            edges = range(node.first, node.first + node.count)
            if sum([tree.edges[k].visits for k in edges]) != node.visits:
                found.append(f"visits of node {i}")
            if abs(sum([tree.edges[k].total for k in edges]) - node.total) > 0.001 * node.visits:
                found.append(f"total of node {i}")
            for k in edges:
                if tree.edges[k].total > tree.edges[k].visits * 1.001:
                    found.append(f"total of edge {k}")
                if tree.edges[k].child < 0:
                    found.append(f"edge {k} is still claimed")
                elif tree.edges[k].child > 0:
                    children.append(tree.edges[k].child)
                    if tree.nodes[tree.edges[k].child].visits > tree.edges[k].visits:
                        found.append(f"visits of edge {k}")
        if len(children) != len(set(children)):
            found.append("two parents of a node")
        if abs(sum([mcts_share(tree, k) for k in range(PLAYERS)]) - 1) > 1e-4:
            found.append("shares")
        if tree.nodes[0].visits != tree.done:
            found.append("visits of the root")
        return found


def help_search(Searched searched, int number):
    """What a thread does."""
    with nogil:
        mcts_run(searched.tree, number, &searched.root, <uint64_t>1 << 62, 0)
        add_i32(&searched.going, -1, True)
