"""Monte Carlo tree search with chance nodes for Connexion: PUCT (Rosin 2011; in the form of Silver
et al. 2017), with an evaluation instead of rollouts.

A simulation selects moves by PUCT and samples draws from the bag after the move. A node is a
position after a draw, so a move's value is the mean over its draws. The first new position is
evaluated. A value is the future change of the mover's margin, in 1/64 points.
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint64_t

from connexion.rules cimport Board, Move

cdef struct Edge:           # a move of a node
    double total            # sum of values for the mover, the move's gain included, over visits
    float prior             # the sum over a node's moves is 1
    int32_t visits
    # first node after the move, 0: none; one node per drawn tile
    int32_t child
    int16_t gain            # immediate gain of the mover's margin, in points
    Move move

cdef struct Node:           # a position after a draw
    int32_t first           # first edge, or NOT_EXPANDED
    int32_t sibling         # next node after the same move, 0: none
    int32_t visits
    int32_t value           # static evaluation
    uint8_t count           # number of edges
    uint8_t tile            # drawn tile, KINDS: none

cdef struct Tree:
    Node* nodes             # node 0 is the root
    Edge* edges
    int node_count
    int edge_count
    const int16_t* weights  # of the evaluation
    double exploration      # PUCT: factor of the priors, in points
    # gap to the best move, in points of gain plus threat, at which the prior falls to a quarter
    double temper
    uint64_t random
    int deepest             # plies of the longest line
    bint stopped            # the end was requested

cdef Tree* tree_new(const int16_t* weights, double exploration, double temper) noexcept nogil
cdef void tree_free(Tree* t) noexcept nogil
cdef void tree_start(Tree* t, Board* b) noexcept nogil
cdef void playout(Tree* t, Board* b) noexcept nogil
cdef Edge* best_edge(Tree* t) noexcept nogil
