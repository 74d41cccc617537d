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
# `context` is the tree's, a const void*: what these functions need beside the position.
#
# It offers MctsTree (memory made by mcts_new, freed by mcts_free), mcts_start and mcts_run. The
# engine sets exploration and first_play, and resets stopped; context, where its functions need one; predict, levels and
# confidence, where it has an opponent model.

from libc.math cimport sqrtf
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

from core.native.clock cimport clock_now

cdef enum:
    MCTS_MAX_PLIES = 256    # deepest path from the root
    MCTS_MOST_LEVELS = 3    # of prediction
    MCTS_FIRST_LEVEL = 8    # a node's move is predicted after so many visits,
    MCTS_NEXT_LEVEL = 16    # and again, at the next level, after so many times as many

# The moves that the seat to move is expected to play, one as likely as another, at a level from 0
# to `levels` - 1; returns how many, at most MAX_MOVES. Later levels may take more time. Asked where
# there is confidence and a choice.
ctypedef int (*MctsPredict)(
    const void* context, const State* state, int level, Move* moves
) noexcept nogil

cdef struct MctsEdge:
    float prior             # of the node's moves, adding up to 1
    float total             # sum of the mover's shares over the visits
    uint32_t visits
    int32_t child           # node, 0 while there is none (node 0 is the root and nobody's child)
    Move move

cdef struct MctsNode:
    int32_t first           # of its edges
    int32_t count
    uint32_t visits
    float total             # sum of the mover's shares over the visits
    int32_t predicted       # so many of its edges, the first ones
    int levels              # at which they were predicted

cdef struct MctsTree:
    MctsNode* nodes
    MctsEdge* edges
    int32_t max_nodes, max_edges
    int32_t node_count, edge_count
    int seat                # that the tree is searched for
    float exploration
    float first_play        # what an untried move is taken to be worth, in the node's average
    const void* context     # handed to the game's functions
    MctsPredict predict
    int levels              # of prediction, MCTS_MOST_LEVELS at most; 0: nobody is predicted
    # how likely the seat plays what is predicted at that level; 0: it is not asked for
    float confidence[MCTS_MOST_LEVELS][PLAYERS]
    # moves were predicted in this iteration: one is enough, for it may take milliseconds
    bint predicting
    double seconds[MCTS_MOST_LEVELS]    # the most that a prediction has taken at a level
    double deadline         # on core.native.clock; 0: none
    bint stopped            # somebody asked for the end
    uint64_t random
    double shares[PLAYERS]  # of every seat, summed over the visits of the root


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
    """A node for the position; -1 when the memory is used up."""
    cdef Move moves[MAX_MOVES]
    cdef float weights[MAX_MOVES]
    cdef int seat = to_move(state)
    cdef int count = generate(state, seat, moves)
    cdef int i
    cdef float total = 0
    cdef int32_t node = t.node_count
    cdef MctsEdge* edge
    if count == 0:
        moves[0] = PASS_MOVE
        weights[0] = 1
        count = 1
    else:
        move_weights(t.context, state, seat, seat == t.seat, moves, count, weights)
    if node == t.max_nodes or t.edge_count + count > t.max_edges:
        return -1
    for i in range(count):
        total += weights[i]
    for i in range(count):
        edge = &t.edges[t.edge_count + i]
        edge.prior = weights[i] / total
        edge.total = 0
        edge.visits = 0
        edge.child = 0
        edge.move = moves[i]
    t.nodes[node].first = t.edge_count
    t.nodes[node].count = count
    t.nodes[node].visits = 0
    t.nodes[node].total = 0
    t.nodes[node].predicted = 0
    t.nodes[node].levels = 0
    t.edge_count += count
    t.node_count += 1
    return node


cdef inline int32_t mcts_select(const MctsTree* t, const MctsNode* node) noexcept nogil:
    """The edge to follow: share plus bonus. A move that was never tried has `first_play` of the
    node's average."""
    cdef float bonus = t.exploration * sqrtf(<float>(node.visits + 1))
    cdef float untried = t.first_play * node.total / node.visits if node.visits else 0
    cdef float value
    cdef float best = -1
    cdef int32_t i
    cdef int32_t chosen = node.first
    cdef const MctsEdge* edge
    for i in range(node.first, node.first + node.count):
        edge = &t.edges[i]
        value = (
            edge.total / edge.visits if edge.visits else untried
        ) + bonus * edge.prior / (1 + edge.visits)
        if value > best:
            best = value
            chosen = i
    return chosen


cdef inline void mcts_predict(
    MctsTree* t, MctsNode* node, const State* state, int level
) noexcept nogil:
    """Move the edges that are predicted now to the node's beginning."""
    cdef Move moves[MAX_MOVES]
    cdef MctsEdge* edge
    cdef int i
    cdef int32_t k
    node.predicted = 0
    for i in range(t.predict(t.context, state, level, moves)):
        edge = &t.edges[node.first + node.predicted]
        for k in range(node.count - node.predicted):
            if edge[k].move == moves[i]:
                edge[0], edge[k] = edge[k], edge[0]
                node.predicted += 1
                break


cdef inline int32_t mcts_follow(MctsTree* t, MctsNode* node, const State* state) noexcept nogil:
    """The edge to follow: a predicted one, each in turn, as often as the confidence says, else the
    selected one."""
    cdef int seat = to_move(state)
    cdef int level = 0
    cdef uint32_t visits = MCTS_FIRST_LEVEL
    cdef uint32_t followed = 0
    cdef double started
    cdef int32_t i
    cdef int32_t rarest = node.first
    while level < t.levels and node.visits >= visits and (
        t.confidence[level][seat] > 0 and node.count > 1
    ):
        if level == node.levels:
            if t.predicting:
                break
            started = clock_now()
            if t.deadline > 0 and started + t.seconds[level] >= t.deadline:
                break
            mcts_predict(t, node, state, level)
            t.predicting = True
            t.seconds[level] = max(t.seconds[level], clock_now() - started)
            node.levels += 1
        level += 1
        visits *= MCTS_NEXT_LEVEL
    for i in range(node.first, node.first + node.predicted):
        followed += t.edges[i].visits
        if t.edges[i].visits < t.edges[rarest].visits:
            rarest = i
    if node.predicted and followed < t.confidence[level - 1][seat] * node.visits:
        return rarest
    return mcts_select(t, node)


cdef inline void mcts_iterate(MctsTree* t, const State* root) noexcept nogil:
    """Walk down, add a node, estimate, and credit every mover on the way with its own share."""
    cdef State state = root[0]
    cdef float shares[PLAYERS]
    cdef int32_t path[MCTS_MAX_PLIES]
    cdef int32_t nodes[MCTS_MAX_PLIES]
    cdef int seats[MCTS_MAX_PLIES]
    cdef int depth = 0
    cdef int seat
    cdef int32_t node = 0, child
    cdef MctsEdge* edge
    t.predicting = False
    while True:
        nodes[depth] = node
        seats[depth] = to_move(&state)
        path[depth] = mcts_follow(t, &t.nodes[node], &state)
        edge = &t.edges[path[depth]]
        make(&state, edge.move)
        depth += 1
        if finished(&state) or depth == MCTS_MAX_PLIES:
            break
        if edge.child == 0:
            # A node is made at the second visit: the first only looks.
            if edge.visits > 0:
                child = mcts_expand(t, &state)
                if child > 0:
                    edge.child = child
            break
        node = edge.child
    if not finished(&state):
        playout(&state, &t.random)
    win_shares(t.context, &state, shares)
    for seat in range(PLAYERS):
        t.shares[seat] += shares[seat]
    while depth > 0:
        depth -= 1
        t.nodes[nodes[depth]].visits += 1
        t.nodes[nodes[depth]].total += shares[seats[depth]]
        edge = &t.edges[path[depth]]
        edge.visits += 1
        edge.total += shares[seats[depth]]


cdef inline void mcts_start(MctsTree* t, const State* root, uint64_t seed) noexcept nogil:
    """Forget everything and make the root's node."""
    cdef int seat, level
    t.node_count = t.edge_count = 0
    t.random = seed
    t.seat = to_move(root)
    for seat in range(PLAYERS):
        t.shares[seat] = 0
    for level in range(MCTS_MOST_LEVELS):
        t.seconds[level] = 0
    mcts_expand(t, root)


cdef inline uint64_t mcts_run(
    MctsTree* t, const State* root, uint64_t iterations, double deadline
) noexcept nogil:
    """At most so many iterations, fewer when the deadline (on core.native.clock; 0: none) comes
    first, or somebody sets `stopped`; returns how many."""
    cdef uint64_t done = 0
    t.deadline = deadline
    while done < iterations:
        mcts_iterate(t, root)
        done += 1
        if (t.predicting or (done & 15) == 0) and (
            t.stopped or deadline > 0 and clock_now() >= deadline
        ):
            break
    return done


cdef inline int32_t mcts_best(const MctsTree* t, int32_t node) noexcept nogil:
    """The edge of the node that was visited most; of equals, the one with the greatest total, then
    the first."""
    cdef const MctsNode* n = &t.nodes[node]
    cdef int32_t i, best = n.first
    for i in range(n.first + 1, n.first + n.count):
        if t.edges[i].visits > t.edges[best].visits or (
            t.edges[i].visits == t.edges[best].visits and t.edges[i].total > t.edges[best].total
        ):
            best = i
    return best
