# Monte Carlo tree search for games of many players: max^n values (Luckhardt and Irani, 1986), one
# share of the win per seat, searched with PUCT (Rosin 2011; the form of Silver et al. 2017): at
# each node the seat to move follows its own share plus an exploration bonus that is proportional to
# a prior. The seat that the tree is searched for may have other priors than the rest.
#
# Where an opponent model predicts the moves of a seat, the predicted moves get the part of a node's
# visits that is the confidence in the prediction, whatever they are worth: opponent-model search
# (Carmel and Markovitch, "Learning Models of Opponent's Strategy in Game Playing", 1993) with a
# probability. A tree predicts nobody unless it is told to.
#
# Several threads may search one tree (Enzenberger and Mueller, "A Lock-Free Multithreaded
# Monte-Carlo Tree Search Algorithm", 2009): no locks, but atomic numbers; who follows an edge
# counts its visit at once and its share at the end, so that to the others it looks lost meanwhile
# (a virtual loss, Chaslot et al. 2008), and they go elsewhere. One thread alone gives the same tree
# for the same iterations, several do not.
#
# A game's engine cimports or defines these names, then includes this file:
#   State                                a struct that is a position by value
#   Move, MAX_MOVES, PASS_MOVE           an integer type, the most moves of one seat, and the move
#                                        of a seat that is stuck
#   PLAYERS                              number of seats
#   to_move(State*)                      the seat whose turn it is
#   finished(State*)                     whether the game is over
#   generate(State*, seat, Move*)        pseudolegal moves; returns how many
#   make(State*, Move)                   play one of them, or PASS_MOVE
#   move_weights(context, State*, seat, bint ours, Move*, count, float*)
#                                        priors: positive numbers, in any scale; ours: whether the
#                                        tree is searched for this seat
#   playout(State*, uint64_t*)           play a few plies by a quick policy, with the random state
#                                        given
#   win_shares(context, State*, float*)  what every seat may expect, adding up to 1; exact where the
#                                        game is over
#   clock_now()                          seconds, as of core.native.clock
# `context` is the tree's, a const void*: what these functions need beside the position.
#
# It offers MctsTree (memory made by mcts_new, freed by mcts_free), mcts_start and mcts_run. The
# engine sets exploration, first_play and late, and resets stopped; context, where its functions
# need one; predict, levels and confidence, where it has an opponent model. With several threads,
# each calls mcts_run with a number of its own, below the one that mcts_start was told, and the
# functions above are called by all of them at once.

from libc.math cimport sqrtf
from libc.stdint cimport int32_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

from core.native.atomics cimport (
    acquire_i32, add_float, add_i32, add_u32, add_u64, claim_i32, peek_float, peek_i32, peek_u16,
    peek_u32, put_u16, release_i32
)

cdef enum:
    MCTS_MAX_PLIES = 256    # deepest path from the root
    MCTS_MOST_LEVELS = 3    # of prediction
    MCTS_FIRST_LEVEL = 8    # a node's move is predicted after so many visits,
    MCTS_NEXT_LEVEL = 16    # and again, at the next level, after so many times as many
    MCTS_BATCH = 16         # iterations between two looks at the clock
    MCTS_MOST_THREADS = 32
    # what follows the search may be held up so many times: it is noticed that time is up, the
    # answer is written, the process ends
    MCTS_STALLS = 3
    MCTS_CLAIMED = -1       # a child that a thread is just making

# The moves that the seat to move is expected to play, one as likely as another, at a level from 0
# to `levels` - 1; returns how many, at most MAX_MOVES. Later levels may take more time. Asked where
# there is confidence and a choice.
ctypedef int (*MctsPredict)(
    const void* context, const State* state, int level, Move* moves
) noexcept nogil

# What changes while threads search is read and written by core.native.atomics only.

cdef struct MctsEdge:
    float prior             # of the node's moves, adding up to 1
    float total             # sum of the mover's shares over the visits that are over
    uint32_t visits         # those that are not over included
    int32_t child           # node, 0 while there is none (node 0 is the root and nobody's child)
    Move move
    uint16_t level          # the last one that predicted it, from 1; 0: none

cdef struct MctsNode:
    int32_t first           # of its edges
    int32_t count
    uint32_t visits         # as an edge's
    float total
    int32_t levels          # at which its move was predicted; -1 - that while the next one is

cdef struct MctsWorker:     # what one thread knows
    uint64_t random
    double shares[PLAYERS]  # of every seat, summed over its iterations
    # moves were predicted in this iteration: one is enough, for it may take milliseconds
    bint predicting
    double seconds[MCTS_MOST_LEVELS]    # the most that a prediction has taken at a level
    double deadline         # on core.native.clock; 0: none
    double looked           # at the clock: when it did so last; 0: not yet
    double stall            # the longest time between two looks, predictions apart
    char apart[64]          # on a cache line of its own

cdef struct MctsTree:
    MctsNode* nodes
    MctsEdge* edges
    int32_t max_nodes, max_edges
    int seat                # that the tree is searched for
    float exploration
    float first_play        # what an untried move is taken to be worth, in the node's average
    const void* context     # handed to the game's functions
    MctsPredict predict
    int levels              # of prediction, MCTS_MOST_LEVELS at most; 0: nobody is predicted
    # how likely the seat plays what is predicted at that level; 0: it is not asked for
    float confidence[MCTS_MOST_LEVELS][PLAYERS]
    int32_t stopped         # somebody asked for the end
    # when the answer comes too late, on the clock; a thread that was held up once ends MCTS_STALLS
    # times as long before; 0: never
    double late
    int threads             # that may search
    uint64_t most           # iterations of all threads together
    char apart[64]          # what follows changes all the time, on a cache line of its own
    int32_t node_count, edge_count  # may go beyond the most, where several threads ask for the last
    uint64_t claimed        # iterations that were begun, or more
    uint64_t done           # iterations that are over
    char apart_again[64]
    MctsWorker workers[MCTS_MOST_THREADS]


cdef inline MctsTree* mcts_new(int32_t max_nodes, int32_t max_edges) noexcept nogil:
    """An empty tree, or NULL. Its pages are touched only as it grows."""
    cdef MctsTree* t = <MctsTree*>calloc(1, sizeof(MctsTree))
    if t == NULL:
        return NULL
    t.nodes = <MctsNode*>malloc(max_nodes * sizeof(MctsNode))
    t.edges = <MctsEdge*>malloc(max_edges * sizeof(MctsEdge))
    if t.nodes == NULL or t.edges == NULL:
        mcts_free(t)
        return NULL
    t.max_nodes, t.max_edges = max_nodes, max_edges
    return t


cdef inline void mcts_free(MctsTree* t) noexcept nogil:
    if t != NULL:
        free(t.nodes)
        free(t.edges)
        free(t)


cdef inline int32_t mcts_expand(MctsTree* t, const State* state) noexcept nogil:
    """A node for the position; 0 when the memory is used up."""
    cdef Move moves[MAX_MOVES]
    cdef float weights[MAX_MOVES]
    cdef bint shared = t.threads > 1
    cdef int seat = to_move(state)
    cdef int count = generate(state, seat, moves)
    cdef int i
    cdef float total = 0
    cdef int32_t node, first
    cdef MctsEdge* edge
    if peek_i32(&t.node_count) >= t.max_nodes or (
        peek_i32(&t.edge_count) + max(count, 1) > t.max_edges
    ):
        return 0
    if count == 0:
        moves[0] = PASS_MOVE
        weights[0] = 1
        count = 1
    else:
        move_weights(t.context, state, seat, seat == t.seat, moves, count, weights)
    node = add_i32(&t.node_count, 1, shared)
    first = add_i32(&t.edge_count, count, shared)
    if node >= t.max_nodes or first + count > t.max_edges:  # another thread took the last
        return 0
    for i in range(count):
        total += weights[i]
    for i in range(count):
        edge = &t.edges[first + i]
        edge.prior = weights[i] / total
        edge.total = 0
        edge.visits = 0
        edge.child = 0
        edge.move = moves[i]
        edge.level = 0
    t.nodes[node].first = first
    t.nodes[node].count = count
    t.nodes[node].visits = 0
    t.nodes[node].total = 0
    t.nodes[node].levels = 0
    return node


cdef inline int32_t mcts_select(
    const MctsTree* t, const MctsNode* node, uint32_t visits
) noexcept nogil:
    """The edge to follow at a node with so many visits: share plus bonus. A move that was never
    tried has `first_play` of the node's average."""
    cdef float bonus = t.exploration * sqrtf(<float>(visits + 1))
    cdef float untried = t.first_play * peek_float(&node.total) / visits if visits else 0
    cdef float value
    cdef float best = -1
    cdef uint32_t tried
    cdef int32_t i
    cdef int32_t chosen = node.first
    cdef const MctsEdge* edge
    for i in range(node.first, node.first + node.count):
        edge = &t.edges[i]
        tried = peek_u32(&edge.visits)
        value = (
            peek_float(&edge.total) / tried if tried else untried
        ) + bonus * edge.prior / (1 + tried)
        if value > best:
            best = value
            chosen = i
    return chosen


cdef inline void mcts_predict(
    MctsTree* t, MctsNode* node, const State* state, int level
) noexcept nogil:
    """Mark the edges that are predicted at the level."""
    cdef Move moves[MAX_MOVES]
    cdef int i
    cdef int32_t k
    for i in range(t.predict(t.context, state, level, moves)):
        for k in range(node.first, node.first + node.count):
            if t.edges[k].move == moves[i]:
                put_u16(&t.edges[k].level, <uint16_t>(level + 1))
                break


cdef inline int32_t mcts_follow(
    MctsTree* t, MctsWorker* worker, MctsNode* node, const State* state, uint32_t visits
) noexcept nogil:
    """The edge to follow at a node with so many visits: a predicted one, each in turn, as often as
    the confidence says, else the selected one."""
    cdef int seat = to_move(state)
    cdef int level = 0
    cdef int32_t levels
    cdef uint32_t needed = MCTS_FIRST_LEVEL
    cdef uint32_t followed = 0, least = 0, tried
    cdef double started
    cdef int32_t i
    cdef int32_t rarest = -1
    while level < t.levels and visits >= needed and (
        t.confidence[level][seat] > 0 and node.count > 1
    ):
        levels = acquire_i32(&node.levels)
        if level == levels:
            if worker.predicting:
                break
            started = clock_now()
            if worker.deadline > 0 and started + worker.seconds[level] >= worker.deadline:
                break
            if not claim_i32(&node.levels, level, -1 - level):
                break
            mcts_predict(t, node, state, level)
            release_i32(&node.levels, level + 1)
            worker.predicting = True
            worker.looked = clock_now()
            worker.seconds[level] = max(worker.seconds[level], worker.looked - started)
        elif level == -1 - levels:      # another thread is at it
            break
        level += 1
        needed *= MCTS_NEXT_LEVEL
    if level > 0:
        for i in range(node.first, node.first + node.count):
            if peek_u16(&t.edges[i].level) == level:
                tried = peek_u32(&t.edges[i].visits)
                followed += tried
                if rarest < 0 or tried < least:
                    rarest, least = i, tried
        if rarest >= 0 and followed < t.confidence[level - 1][seat] * visits:
            return rarest
    return mcts_select(t, node, visits)


cdef inline void mcts_iterate(MctsTree* t, MctsWorker* worker, const State* root) noexcept nogil:
    """Walk down, add a node, estimate, and credit every mover on the way with its own share."""
    cdef State state = root[0]
    cdef float shares[PLAYERS]
    cdef int32_t path[MCTS_MAX_PLIES]
    cdef int32_t nodes[MCTS_MAX_PLIES]
    cdef int seats[MCTS_MAX_PLIES]
    cdef bint shared = t.threads > 1
    cdef int depth = 0
    cdef int seat
    cdef int32_t child = 0
    cdef uint32_t before
    cdef MctsNode* node
    cdef MctsEdge* edge
    worker.predicting = False
    while True:
        node = &t.nodes[child]
        nodes[depth] = child
        seats[depth] = to_move(&state)
        path[depth] = mcts_follow(t, worker, node, &state, peek_u32(&node.visits))
        edge = &t.edges[path[depth]]
        add_u32(&node.visits, 1, shared)
        before = add_u32(&edge.visits, 1, shared)
        make(&state, edge.move)
        depth += 1
        if finished(&state) or depth == MCTS_MAX_PLIES:
            break
        child = acquire_i32(&edge.child)
        if child <= 0:
            # A node is made at the second visit: the first only looks.
            if child == 0 and before > 0 and (
                not shared or claim_i32(&edge.child, 0, MCTS_CLAIMED)
            ):
                release_i32(&edge.child, mcts_expand(t, &state))
            break
    if not finished(&state):
        playout(&state, &worker.random)
    win_shares(t.context, &state, shares)
    for seat in range(PLAYERS):
        worker.shares[seat] += shares[seat]
    while depth > 0:
        depth -= 1
        add_float(&t.nodes[nodes[depth]].total, shares[seats[depth]], shared)
        add_float(&t.edges[path[depth]].total, shares[seats[depth]], shared)


cdef inline void mcts_start(
    MctsTree* t, const State* root, uint64_t seed, int threads
) noexcept nogil:
    """Forget everything and make the root's node, for so many threads, MCTS_MOST_THREADS at most;
    none of them may be searching."""
    cdef int seat, level, number
    cdef MctsWorker* worker
    t.node_count = t.edge_count = 0
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
        for level in range(MCTS_MOST_LEVELS):
            worker.seconds[level] = 0
    mcts_expand(t, root)


cdef inline uint64_t mcts_run(
    MctsTree* t, int number, const State* root, uint64_t iterations, double deadline
) noexcept nogil:
    """At most so many iterations by the thread of that number, and no more than `most` by all;
    fewer when the deadline (on core.native.clock; 0: none) comes first, or somebody sets `stopped`;
    returns how many."""
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
            if worker.predicting and mcts_ended(t, worker):
                batch = i + 1
                break
        made += batch
        add_u64(&t.done, batch, shared)
        if mcts_ended(t, worker):
            break
    return made


cdef inline bint mcts_ended(const MctsTree* t, MctsWorker* worker) noexcept nogil:
    """Whether somebody asked for the end, or time is up."""
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
    """What the seat may expect of the win: the mean over all iterations."""
    cdef double total = 0
    cdef int number
    for number in range(t.threads):
        total += t.workers[number].shares[seat]
    return total / peek_u32(&t.nodes[0].visits)


cdef inline int32_t mcts_best(const MctsTree* t, int32_t node) noexcept nogil:
    """The edge of the node that was visited most; of equals, the one with the greatest total, then
    the first."""
    cdef const MctsNode* n = &t.nodes[node]
    cdef int32_t i, best = n.first
    cdef uint32_t visits, most = 0
    cdef float total, greatest = 0
    for i in range(n.first, n.first + n.count):
        visits, total = peek_u32(&t.edges[i].visits), peek_float(&t.edges[i].total)
        if i == n.first or visits > most or (visits == most and total > greatest):
            best, most, greatest = i, visits, total
    return best
