"""Monte Carlo tree search with chance nodes; tree.pxd says how."""

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
    MAX_NODES = 1 << 18     # of 24 bytes, touched only as the tree grows: half a second
    MAX_EDGES = 1 << 21     # of 32 bytes
    WIDTH = 24              # moves of a node that are looked at
    NOT_EXPANDED = -1
    SCALE = 64
    SEED = 1


cdef Tree* tree_new(const int16_t* weights, double exploration, double temper) noexcept nogil:
    """An empty tree, or NULL; `weights` must outlive it."""
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
    """Begin anew at a position in which the game goes on: the same playouts every time."""
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
    """Give a node its moves."""
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
    """A tile of the bag, each as likely as any other; KINDS where the bag is empty."""
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
    """One more playout from a node; its value to the mover. The board is left as it was."""
    cdef Undo undo
    cdef Edge* edge
    cdef Edge* chosen = NULL
    cdef int seat = b.ply & 1
    cdef int i, tile, child
    cdef double root, value
    cdef double best = -1e18
    # 1. The end, and a tree that is full.
    if node.first == NOT_EXPANDED:
        if b.empty == 0 or t.edge_count > MAX_EDGES - WIDTH or t.node_count == MAX_NODES:
            return node.value
        expand(t, b, node)
    # 2. PUCT. A move that was never visited is worth what the node is.
    root = SCALE * t.exploration * sqrt(<double>node.visits)
    for i in range(node.count):
        edge = &t.edges[node.first + i]
        value = (
            edge.total / edge.visits if edge.visits else node.value
        ) + root * edge.prior / (1 + edge.visits)
        if value > best:
            best = value
            chosen = edge
        if edge.visits == 0:    # those that follow have no visits either, and smaller priors
            break
    # 3. The move, and a draw.
    make(b, chosen.move >> 4, chosen.move & 15, &undo)
    tile = drawn(t, b, seat)
    if tile < KINDS:
        draw(b, seat, tile)
    # 4. The node after them, a new one if need be.
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
    # 5. What came of it.
    value = SCALE * chosen.gain - value
    node.visits += 1
    chosen.visits += 1
    chosen.total += value
    return value


cdef void playout(Tree* t, Board* b) noexcept nogil:
    """One more, from the root on, which is given as a board; it is left as it was."""
    visit(t, b, &t.nodes[0], 0)


cdef Edge* best_edge(Tree* t) noexcept nogil:
    """The root's move that was visited most; among equals the one that looked best."""
    cdef Edge* best = &t.edges[t.nodes[0].first]
    cdef int i
    for i in range(t.nodes[0].count):
        if t.edges[t.nodes[0].first + i].visits > best.visits:
            best = &t.edges[t.nodes[0].first + i]
    return best
