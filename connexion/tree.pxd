"""Monte Carlo tree search with chance nodes over Connexion: PUCT (Rosin 2011; the form of Silver et
al. 2017), leaves evaluated.

A playout walks down from the root: by PUCT where somebody moves, by a draw from what is left in the
bag after the move; a node is a position with the tile drawn, so that what comes after a move is the
mean over draws as they come. The position in which it leaves the tree is evaluated, not played out.
Values are what the mover's margin will change by, in 1/64 points.
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint64_t

from connexion.rules cimport Board, Move

cdef struct Edge:           # a move of a node
    double total            # of the values to the mover, the move's gain included, over the visits
    float prior             # of the node's moves, adding up to 1
    int32_t visits
    # first node after it, 0 while there is none; one for each tile that was drawn
    int32_t child
    int16_t gain            # of the mover's margin, at once; points
    Move move

cdef struct Node:           # a position after a draw
    int32_t first           # of its edges; NOT_EXPANDED
    int32_t sibling         # next node after the same move, 0: none
    int32_t visits
    int32_t value           # by the evaluation
    uint8_t count           # of its edges
    uint8_t tile            # that was drawn, KINDS: none

cdef struct Tree:
    Node* nodes             # node 0 is the root
    Edge* edges
    int node_count
    int edge_count
    const int16_t* weights  # of the evaluation
    double exploration      # PUCT: what a prior is multiplied by, in points
    # so many points of gain and threat less, and a move's prior is a quarter
    double temper
    uint64_t random
    int deepest             # plies of the longest walk
    bint stopped            # somebody asked for the end

cdef Tree* tree_new(const int16_t* weights, double exploration, double temper) noexcept nogil
cdef void tree_free(Tree* t) noexcept nogil
cdef void tree_start(Tree* t, Board* b) noexcept nogil
cdef void playout(Tree* t, Board* b) noexcept nogil
cdef Edge* best_edge(Tree* t) noexcept nogil
