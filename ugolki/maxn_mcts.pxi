# Monte Carlo tree search for multi-player games: max^n values (Luckhardt and Irani, 1986), one win
# share per seat, with PUCT selection (Rosin 2011; in the form of Silver et al. 2017). At each node,
# the seat to move maximises its own share plus an exploration bonus proportional to a prior. The
# seat that searches may use other priors than its opponents.
#
# Several threads may search one tree without locks (Enzenberger and Mueller, "A Lock-Free
# Multithreaded Monte-Carlo Tree Search Algorithm", 2009), by atomic numbers. A thread counts its
# visit on the way down and adds its share at the end, which acts as a virtual loss (Chaslot et al.
# 2008). One thread is deterministic, several are not.
#
# A game's engine cimports or defines these names, then includes this file:
#   State                                struct: a position by value
#   Move, MAX_MOVES, PASS_MOVE           integer type of at most 16 bits; upper bound of a seat's
#                                        moves; the move of a seat that has no other
#   PLAYERS                              number of seats
#   to_move(State*)                      seat to move
#   finished(State*)                     true if the game is over
#   generate(State*, seat, Move*)        writes the pseudolegal moves; returns their number
#   make(State*, Move)                   plays one of them, or PASS_MOVE
#   move_weights(context, State*, seat, bint ours, Move*, count, float*)
#                                        writes priors: positive numbers in any scale; ours: true
#                                        for the seat that searches
#   playout(State*, uint64_t*)           plays a few plies by a quick policy, with a random state
#   win_shares(context, State*, float*)  writes each seat's expected win share, with the sum 1;
#                                        exact if the game is over
#   clock_now()                          seconds, as in core.native.clock
# `context` is the tree's const void*: data of these functions.
#
# It offers MctsTree (created by mcts_new, freed by mcts_free), mcts_start and mcts_run. The engine
# sets exploration, first_play and late, resets stopped, and sets context if its functions need one.
# With several threads, each calls mcts_run with its own number, below the number of threads given
# to mcts_start; all of them call the functions above at once.

from libc.math cimport sqrtf
from libc.stdint cimport int32_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free

from core.native.atomics cimport (
    acquire_i32, add_float, add_i32, add_u32, add_u64, claim_i32, peek_float, peek_i32, peek_u32,
    put_i32, release_i32
)
from core.native.pages cimport prefetch, table_free, table_new

cdef enum:
    MCTS_MAX_PLIES = 256    # deepest path from the root
    MCTS_BATCH = 16         # iterations between two checks of the clock; not tuned
    MCTS_MAX_THREADS = 32
    # steps after the search that may each stall: the check that time is up, writing the answer, the
    # exit of the process
    MCTS_STALLS = 3
    MCTS_CLAIMED = -1       # a child that another thread is creating

# Numbers that change while threads search are accessed through core.native.atomics only.

cdef extern from "ugolki/tree_node.h" nogil:
    enum:
        TREE_UNIT
        TREE_GROUP
    ctypedef struct TreeGroup:
        float* priors
        float* totals
        uint32_t* visits
        int32_t* children
        uint16_t* moves
    ctypedef struct TreeNode:
        int32_t count
        int32_t tried
        uint32_t visits
        float total
        TreeGroup* groups
    int32_t tree_units(int32_t count)
    void tree_clear(TreeNode* node, int32_t count)
    int32_t tree_rank(const float* weights, int32_t count, int32_t i)
    int32_t tree_best(const TreeNode* node, float bonus, float untried)

cdef struct MctsWorker:     # data of one thread
    uint64_t random
    double shares[PLAYERS]  # sum over its iterations
    double deadline         # on core.native.clock; 0: none
    double looked           # time of the last check of the clock; 0: none
    double stall            # longest time between two checks
    char apart[64]          # keeps workers on separate cache lines

cdef struct MctsTree:
    char* memory            # of the nodes, the root's first
    int32_t max_units
    int seat                # the seat that searches
    float exploration
    float first_play        # value of an untried move, as a part of the node's mean (FPU)
    const void* context     # argument of the game's functions
    int32_t stopped         # the engine has requested the end
    # time at which the answer is too late; a thread that measured a stall stops MCTS_STALLS stalls
    # before; 0: never
    double late
    int threads             # number of searching threads
    uint64_t most           # maximum number of iterations of all threads together
    char apart[64]          # the next fields change all the time: on a separate cache line
    int32_t node_count
    int32_t unit_count      # may exceed the maximum if several threads request the last ones
    uint64_t claimed        # iterations started, or more
    uint64_t done           # iterations completed
    char apart_again[64]
    MctsWorker workers[MCTS_MAX_THREADS]


cdef inline MctsTree* mcts_new(int32_t max_units) noexcept nogil:
    """Return an empty tree, or NULL. The system provides pages as the tree grows."""
    cdef MctsTree* t = <MctsTree*>calloc(1, sizeof(MctsTree))
    if t == NULL:
        return NULL
    t.max_units = max_units
    t.memory = <char*>table_new(<size_t>max_units * TREE_UNIT)
    if t.memory == NULL:
        mcts_free(t)
        return NULL
    return t


cdef inline void mcts_free(MctsTree* t) noexcept nogil:
    if t != NULL:
        table_free(t.memory, <size_t>t.max_units * TREE_UNIT)
        free(t)


cdef inline TreeNode* mcts_node(const MctsTree* t, int32_t node) noexcept nogil:
    """Return a node by the number of its first unit."""
    return <TreeNode*>(t.memory + <size_t>node * TREE_UNIT)


cdef inline void mcts_prefetch(const TreeNode* node) noexcept nogil:
    prefetch(node)
    prefetch(<const char*>node + 64)


cdef inline uint32_t mcts_visits(const TreeNode* node, int edge) noexcept nogil:
    return peek_u32(&node.groups[edge // TREE_GROUP].visits[edge % TREE_GROUP])


cdef inline float mcts_total(const TreeNode* node, int edge) noexcept nogil:
    return peek_float(&node.groups[edge // TREE_GROUP].totals[edge % TREE_GROUP])


cdef inline int32_t mcts_child(const TreeNode* node, int edge) noexcept nogil:
    return acquire_i32(&node.groups[edge // TREE_GROUP].children[edge % TREE_GROUP])


cdef inline Move mcts_move(const TreeNode* node, int edge) noexcept nogil:
    return node.groups[edge // TREE_GROUP].moves[edge % TREE_GROUP]


cdef inline int32_t mcts_expand(MctsTree* t, const State* state) noexcept nogil:
    """Return a new node for the position; 0 if the memory is full."""
    cdef Move moves[MAX_MOVES]
    cdef float weights[MAX_MOVES]
    cdef bint shared = t.threads > 1
    cdef int seat = to_move(state)
    cdef int count = generate(state, seat, moves)
    cdef int i, k
    cdef float total = 0
    cdef int32_t made, units
    cdef TreeNode* node
    if peek_i32(&t.unit_count) + tree_units(max(count, 1)) > t.max_units:
        return 0
    if count == 0:
        moves[0] = PASS_MOVE
        weights[0] = 1
        count = 1
    else:
        move_weights(t.context, state, seat, seat == t.seat, moves, count, weights)
    units = tree_units(count)
    made = add_i32(&t.unit_count, units, shared)
    if made + units > t.max_units:      # another thread took the last ones
        return 0
    add_i32(&t.node_count, 1, shared)
    for i in range(count):
        total += weights[i]
    node = mcts_node(t, made)
    tree_clear(node, count)
    for i in range(count):
        k = tree_rank(weights, count, i)
        node.groups[k // TREE_GROUP].priors[k % TREE_GROUP] = weights[i] / total
        node.groups[k // TREE_GROUP].moves[k % TREE_GROUP] = moves[i]
    return made


cdef inline int mcts_select(const MctsTree* t, const TreeNode* node) noexcept nogil:
    """Return the edge with the greatest sum of mean share and exploration bonus. An untried move
    has `first_play` times the node's mean."""
    cdef uint32_t visits = peek_u32(&node.visits)
    return tree_best(
        node, t.exploration * sqrtf(<float>(visits + 1)),
        t.first_play * peek_float(&node.total) / visits if visits else 0
    )


cdef inline void mcts_raise_tried(TreeNode* node, int32_t tried, bint shared) noexcept nogil:
    """Raise the number of tried edges, unless another thread has stored a greater one."""
    cdef int32_t before = peek_i32(&node.tried)
    while before < tried:
        if not shared:
            put_i32(&node.tried, tried)
            return
        if claim_i32(&node.tried, before, tried):
            return
        before = peek_i32(&node.tried)


cdef inline void mcts_iterate(MctsTree* t, MctsWorker* worker, const State* root) noexcept nogil:
    """Make one iteration.

    1. Selection: follow edges down from the root, counting visits (virtual loss).
    2. Expansion: add a node at the second visit of an edge.
    3. Playout and evaluation: win_shares of the position after a short playout.
    4. Backup: add each mover's own share along the path.
    """
    cdef State state = root[0]
    cdef float shares[PLAYERS]
    cdef TreeNode* nodes[MCTS_MAX_PLIES]
    cdef int edges[MCTS_MAX_PLIES]
    cdef int seats[MCTS_MAX_PLIES]
    cdef bint shared = t.threads > 1
    cdef int depth = 0
    cdef int edge, lane, seat
    cdef int32_t child = 0
    cdef uint32_t before
    cdef TreeNode* node
    cdef TreeGroup* group
    while True:
        node = nodes[depth] = mcts_node(t, child)
        seats[depth] = to_move(&state)
        edge = edges[depth] = mcts_select(t, node)
        group = &node.groups[edge // TREE_GROUP]
        lane = edge % TREE_GROUP
        child = acquire_i32(&group.children[lane])
        if child > 0:
            mcts_prefetch(mcts_node(t, child))
        add_u32(&node.visits, 1, shared)
        before = add_u32(&group.visits[lane], 1, shared)
        mcts_raise_tried(node, edge + 1, shared)
        make(&state, group.moves[lane])
        depth += 1
        if finished(&state) or depth == MCTS_MAX_PLIES:
            break
        if child <= 0:
            # The first visit of an edge only evaluates; the second one adds a node.
            if child == 0 and before > 0 and (
                not shared or claim_i32(&group.children[lane], 0, MCTS_CLAIMED)
            ):
                release_i32(&group.children[lane], mcts_expand(t, &state))
            break
    if not finished(&state):
        playout(&state, &worker.random)
    win_shares(t.context, &state, shares)
    for seat in range(PLAYERS):
        worker.shares[seat] += shares[seat]
    while depth > 0:
        depth -= 1
        node, edge = nodes[depth], edges[depth]
        add_float(&node.total, shares[seats[depth]], shared)
        add_float(
            &node.groups[edge // TREE_GROUP].totals[edge % TREE_GROUP], shares[seats[depth]], shared
        )


cdef inline void mcts_start(
    MctsTree* t, const State* root, uint64_t seed, int threads
) noexcept nogil:
    """Reset the tree to the root's node, for `threads` threads (at most MCTS_MAX_THREADS). No
    thread may be searching."""
    cdef int seat, number
    cdef MctsWorker* worker
    t.node_count = t.unit_count = 0
    t.threads = threads
    t.seat = to_move(root)
    t.most = <uint64_t>1 << 62
    t.claimed = t.done = 0
    for number in range(threads):
        worker = &t.workers[number]
        worker.looked = worker.stall = 0
        worker.random = seed + number * <uint64_t>0x9E3779B97F4A7C15    # 2^64 by the golden ratio
        for seat in range(PLAYERS):
            worker.shares[seat] = 0
    mcts_expand(t, root)


cdef inline uint64_t mcts_run(
    MctsTree* t, int number, const State* root, uint64_t iterations, double deadline
) noexcept nogil:
    """Make iterations in thread `number`, and return their number: at most `iterations`, and `most`
    in all threads. It ends earlier at the deadline (on core.native.clock; 0: none), or if `stopped`
    is set."""
    cdef MctsWorker* worker = &t.workers[number]
    cdef bint shared = t.threads > 1
    cdef uint64_t made = 0
    cdef uint64_t before, batch, i
    worker.deadline = deadline
    while made < iterations:
        batch = min(iterations - made, <uint64_t>MCTS_BATCH)
        before = add_u64(&t.claimed, batch, shared)
        if before >= t.most:
            break
        batch = min(batch, t.most - before)
        for i in range(batch):
            mcts_iterate(t, worker, root)
        made += batch
        add_u64(&t.done, batch, shared)
        if mcts_ended(t, worker):
            break
    return made


cdef inline bint mcts_ended(const MctsTree* t, MctsWorker* worker) noexcept nogil:
    """Return true if the end was requested, or time is up."""
    cdef double now
    if peek_i32(&t.stopped):
        return True
    if worker.deadline <= 0:
        return False
    now = clock_now()
    if worker.looked > 0:
        worker.stall = max(worker.stall, now - worker.looked)
    worker.looked = now
    return now >= worker.deadline or (t.late > 0 and now + MCTS_STALLS * worker.stall >= t.late)


cdef inline double mcts_share(const MctsTree* t, int seat) noexcept nogil:
    """Return a seat's expected win share: the mean over all iterations."""
    cdef double total = 0
    cdef int number
    for number in range(t.threads):
        total += t.workers[number].shares[seat]
    return total / peek_u32(&mcts_node(t, 0).visits)


cdef inline int mcts_best(const TreeNode* node) noexcept nogil:
    """Return the most visited edge of a node; among equals the one with the greatest total, then
    the first."""
    cdef int i
    cdef int best = 0
    cdef uint32_t visits, most = 0
    cdef float total, greatest = 0
    for i in range(node.count):
        visits, total = mcts_visits(node, i), mcts_total(node, i)
        if i == 0 or visits > most or (visits == most and total > greatest):
            best, most, greatest = i, visits, total
    return best
