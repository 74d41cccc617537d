"""Monte Carlo tree search with chance nodes; see tree.pxd."""

from libc.math cimport sqrt
from libc.stdlib cimport calloc, free, malloc

from core.native.bits cimport lowest_bit32
from core.native.rng cimport mix64
from connexion.nn.evaluate cimport evaluate
from connexion.ordering cimport Choice, ordered_moves
from connexion.rules cimport (
    KINDS, MAX_MOVES, Board, Tiles, Undo, copies, count, draw, kinds, make, put_back, unmake,
)

cdef enum:
    MAX_NODES = 1 << 18     # of 24 bytes: half a second of search
    MAX_EDGES = 1 << 21     # of 32 bytes
    WIDTH = 24              # moves per node, the best ones by gain and threat: docs/experiments/011
    NOT_EXPANDED = -1
    SCALE = 64
    SEED = 1


cdef Tree* tree_new(const int16_t* weights, double exploration, double temper) noexcept nogil:
    """Return an empty tree, or NULL; `weights` must outlive it."""
    cdef Tree* t = <Tree*>calloc(1, sizeof(Tree))
    if t == NULL:
        return NULL
    t.nodes = <Node*>malloc(MAX_NODES * sizeof(Node))
    t.edges = <Edge*>malloc(MAX_EDGES * sizeof(Edge))
    if t.nodes == NULL or t.edges == NULL:
        tree_free(t)
        return NULL
    t.weights, t.exploration, t.temper = weights, exploration, temper
    return t


cdef void tree_free(Tree* t) noexcept nogil:
    if t != NULL:
        free(t.nodes)
        free(t.edges)
        free(t)


cdef void tree_start(Tree* t, Board* b) noexcept nogil:
    """Reset the tree to a position before the end of the game; the random generator restarts."""
    t.node_count = t.edge_count = t.deepest = 0
    t.random = SEED
    t.stopped = False
    add_node(t, b, KINDS)
    expand(t, b, &t.nodes[0])


cdef int add_node(Tree* t, Board* b, int tile) noexcept nogil:
    cdef Node* node = &t.nodes[t.node_count]
    node.first, node.sibling, node.visits = NOT_EXPANDED, 0, 1
    node.count, node.tile = 0, <uint8_t>tile
    node.value = evaluate(b, t.weights) if b.empty else 0
    t.node_count += 1
    return t.node_count - 1


cdef void expand(Tree* t, Board* b, Node* node) noexcept nogil:
    """Create the edges of a node."""
    cdef Choice choices[MAX_MOVES]
    cdef Edge* edge
    cdef int number = ordered_moves(b, choices, WIDTH, 1)
    cdef int i
    cdef double weight
    cdef double total = 0
    node.first, node.count = t.edge_count, <uint8_t>number
    for i in range(number):
        edge = &t.edges[t.edge_count + i]
        weight = 1 + (choices[0].order - choices[i].order) / t.temper
        edge.prior = <float>(1 / (weight * weight))
        total += edge.prior
        edge.total, edge.visits, edge.child = 0, 0, 0
        edge.gain, edge.move = <int16_t>choices[i].gain, choices[i].move
    for i in range(number):
        t.edges[t.edge_count + i].prior /= <float>total
    t.edge_count += number


cdef int drawn(Tree* t, const Board* b, int seat) noexcept nogil:
    """Return a random tile of the bag, KINDS if the bag is empty."""
    cdef Tiles left = kinds(b.bag[seat])
    cdef int tile, pick
    if left == 0:
        return KINDS
    t.random += 1
    pick = <int>(mix64(t.random) % <uint64_t>count(b.bag[seat]))
    while True:
        tile = lowest_bit32(left) >> 1
        pick -= copies(b.bag[seat], tile)
        if pick < 0:
            return tile
        left &= left - 1


cdef double visit(Tree* t, Board* b, Node* node, int plies) noexcept nogil:
    """Make a simulation from a node, and return its value for the mover; the board is restored."""
    cdef Undo undo
    cdef Edge* edge
    cdef Edge* chosen = NULL
    cdef int seat = b.ply & 1
    cdef int i, tile, child
    cdef double root, value
    cdef double best = -1e18
    # 1. Game over, or the tree is full.
    if node.first == NOT_EXPANDED:
        if b.empty == 0 or t.edge_count > MAX_EDGES - WIDTH or t.node_count == MAX_NODES:
            return node.value
        expand(t, b, node)
    # 2. Selection by PUCT. An unvisited move has the node's value.
    root = SCALE * t.exploration * sqrt(<double>node.visits)
    for i in range(node.count):
        edge = &t.edges[node.first + i]
        value = (
            edge.total / edge.visits if edge.visits else node.value
        ) + root * edge.prior / (1 + edge.visits)
        if value > best:
            best = value
            chosen = edge
        if edge.visits == 0:    # later moves are unvisited, too, and have smaller priors
            break
    # 3. Make the move, and draw.
    make(b, chosen.move >> 4, chosen.move & 15, &undo)
    tile = drawn(t, b, seat)
    if tile < KINDS:
        draw(b, seat, tile)
    # 4. Descend to the node after them, or create it.
    child = chosen.child
    while child and t.nodes[child].tile != tile:
        child = t.nodes[child].sibling
    if child:
        value = visit(t, b, &t.nodes[child], plies + 1)
    elif t.node_count < MAX_NODES:
        child = add_node(t, b, tile)
        t.nodes[child].sibling = chosen.child
        chosen.child = child
        value = t.nodes[child].value
        t.deepest = max(t.deepest, plies + 1)
    else:
        value = evaluate(b, t.weights) if b.empty else 0
    if tile < KINDS:
        put_back(b, seat, tile)
    unmake(b, chosen.move >> 4, chosen.move & 15, &undo)
    # 5. Backup.
    value = SCALE * chosen.gain - value
    node.visits += 1
    chosen.visits += 1
    chosen.total += value
    return value


cdef void playout(Tree* t, Board* b) noexcept nogil:
    """Make a simulation from the root, whose position is given; the board is restored."""
    visit(t, b, &t.nodes[0], 0)


cdef Edge* best_edge(Tree* t) noexcept nogil:
    """Return the most visited move of the root; among equals the one with the greatest prior."""
    cdef Edge* best = &t.edges[t.nodes[0].first]
    cdef int i
    for i in range(t.nodes[0].count):
        if t.edges[t.nodes[0].first + i].visits > best.visits:
            best = &t.edges[t.nodes[0].first + i]
    return best
