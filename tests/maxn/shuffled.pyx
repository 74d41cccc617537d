# cython: language_level=3, cdivision=True, wraparound=False
"""A toy game for the tree-search kernel: three players choose branches in turn, and a hash of the
path determines their win shares.

Plain Python can search the whole game; tests/test_maxn_mcts.py compares the results.
"""

from _thread import start_new_thread
from time import sleep

from libc.stdint cimport uint16_t, uint64_t

from core.native.rng cimport mix64

cdef enum:
    PLAYERS = 3
    MAX_MOVES = 3
    PLIES = 4
    PASS_MOVE = 0           # of a seat without a legal move

ctypedef uint16_t Move           # 1 .. MAX_MOVES

cdef struct State:
    uint64_t path           # the seed, then the moves so far, two bits per ply
    int ply
    int stuck               # seat that never has a legal move; -1: none


# The functions that the search kernel calls.

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


cdef bint led = False       # the other players' priors are 0 but for the first branch


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


cdef double moment = 0      # time of a fake clock, in seconds
cdef double step = 0.001    # advance per reading
cdef double jump = 0        # advance at the reading with the number `jumping`
cdef int jumping = 0
cdef int readings = 0


cdef inline double clock_now() noexcept nogil:
    global moment, readings
    readings += 1
    moment += jump if readings == jumping else step
    return moment


include "ugolki/maxn_mcts.pxi"


def leaf(path):
    """Return the three players' win shares at the end of a path."""
    cdef State state = State(path, PLIES, -1)
    cdef float shares[PLAYERS]
    win_shares(NULL, &state, shares)
    return tuple([shares[seat] for seat in range(PLAYERS)])


def search(
    seed, uint64_t iterations, double deadline=0, int stuck=-1, int max_nodes=10_000,
    bint others_led=False
):
    """Search the game of a seed.

    Args:
        seed: Seed of the game.
        iterations: Limit of iterations.
        deadline: On the fake clock; 0: none.
        stuck: Seat that never has a legal move; -1: none.
        max_nodes: Room of the tree.
        others_led: Give the other players a prior of 0 for all branches but the first.

    Returns:
        (best move, its mean win share, iterations, nodes of the tree, visits of each root move).
    """
    global led
    cdef Searched searched = Searched(max_nodes)
    cdef MctsTree* tree = searched.tree
    cdef TreeNode* node
    cdef int best, i
    cdef uint64_t done
    searched.root = State(seed, 0, stuck)
    led = others_led
    mcts_start(tree, &searched.root, 1, 1)
    done = mcts_run(tree, 0, &searched.root, iterations, deadline)
    node = mcts_node(tree, 0)
    best = mcts_best(node)
    visits = sorted([(mcts_move(node, i), mcts_visits(node, i)) for i in range(node.count)])
    share = mcts_total(node, best) / max(<uint32_t>1, mcts_visits(node, best))
    return mcts_move(node, best), share, done, tree.node_count, [count for _, count in visits]


def search_late(uint64_t iterations, double deadline, double late, double pause, int at):
    """Return (iterations, longest stall) on a clock that advances by 1 ms per reading, but by
    `pause` seconds at reading `at`."""
    global jump, jumping, moment, readings
    cdef Searched searched = Searched(10_000)
    searched.root = State(1, 0, -1)
    searched.tree.late = late
    moment, readings, jump, jumping = 0, 0, pause, at
    mcts_start(searched.tree, &searched.root, 1, 1)
    done = mcts_run(searched.tree, 0, &searched.root, iterations, deadline)
    return done, searched.tree.workers[0].stall


def search_together(seed, uint64_t iterations, int threads, int max_nodes=10_000):
    """Search with several threads.

    Returns:
        (best move, iterations, nodes of the tree, errors found in the tree).
    """
    cdef Searched searched = Searched(max_nodes)
    cdef MctsTree* tree = searched.tree
    cdef int number
    searched.root = State(seed, 0, -1)
    mcts_start(tree, &searched.root, 1, threads)
    tree.most = iterations
    searched.going = threads
    for number in range(threads):
        start_new_thread(help_search, (searched, number))
    while peek_i32(&searched.going):
        sleep(0.001)
    move = mcts_move(mcts_node(tree, 0), mcts_best(mcts_node(tree, 0)))
    return move, tree.done, tree.node_count, searched.errors()


cdef class Searched:
    """A tree and its root position."""

    cdef MctsTree* tree
    cdef State root
    cdef int32_t going          # number of threads that are running

    def __cinit__(self, int max_nodes):
        self.tree = mcts_new(max_nodes * tree_units(MAX_MOVES))
        if self.tree == NULL:
            raise MemoryError
        self.tree.exploration = self.tree.first_play = 1

    def __dealloc__(self):
        mcts_free(self.tree)

    def errors(self):
        """Return the inconsistencies of the tree."""
        cdef MctsTree* tree = self.tree
        cdef TreeNode* node
        cdef int32_t at = 0
        cdef int i, k
        found, children = [], []
        for i in range(tree.node_count):
            node = mcts_node(tree, at)
            at += tree_units(node.count)
            if sum([mcts_visits(node, k) for k in range(node.count)]) != node.visits:
                found.append(f"visits of node {i}")
            if abs(
                sum([mcts_total(node, k) for k in range(node.count)]) - node.total
            ) > 0.001 * node.visits:
                found.append(f"total of node {i}")
            for k in range(node.count):
                if mcts_total(node, k) > mcts_visits(node, k) * 1.001:
                    found.append(f"total of edge {k} of node {i}")
                if mcts_visits(node, k) and k >= node.tried:
                    found.append(f"edge {k} of node {i} is not read")
                if mcts_child(node, k) < 0:
                    found.append(f"edge {k} of node {i} is still claimed")
                elif mcts_child(node, k) > 0:
                    children.append(mcts_child(node, k))
                    if mcts_node(tree, mcts_child(node, k)).visits > mcts_visits(node, k):
                        found.append(f"visits of edge {k} of node {i}")
        if len(children) != len(set(children)):
            found.append("two parents of a node")
        if abs(sum([mcts_share(tree, k) for k in range(PLAYERS)]) - 1) > 1e-4:
            found.append("shares")
        if mcts_node(tree, 0).visits != tree.done:
            found.append("visits of the root")
        return found


def help_search(Searched searched, int number):
    """Search in one thread."""
    with nogil:
        mcts_run(searched.tree, number, &searched.root, <uint64_t>1 << 62, 0)
        add_i32(&searched.going, -1, True)
