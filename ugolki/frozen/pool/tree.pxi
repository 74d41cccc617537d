# The tree search of the pool: max^n values, one share of the win per seat, searched with PUCT.
#
# A node's edges are in the order of their priors, and untried edges are all worth the same, so
# those that were tried come first: selection looks at them and at the first untried one. An edge
# knows what its move changes in the mover's cost, so that the way down costs no evaluation.

cdef enum:
    MOST_NODES = 400_000    # of the tree; its memory is touched only as it grows
    MOST_EDGES = 4_000_000
    MOST_DEPTH = 200        # of the path
    FIRST_ITERATIONS = 64   # whatever the deadline
    EXP_STEPS = 64          # of the table of exponentials, to a factor of e
    EXP_MOST = 16 * EXP_STEPS
    FARTHEST = 40           # moves home, of the table of sharpness

cdef struct Edge:
    float prior             # of the node's moves, adding up to 1
    float total             # sum of the mover's values over the visits
    uint32_t visits
    int32_t child           # node, 0 while there is none
    int32_t change
    Move move

cdef struct Node:
    int32_t first           # of its edges
    int32_t count
    uint32_t visits
    float total             # sum of the mover's values over the visits

cdef struct TreeStyle:
    int width               # moves of a node at most, the best by change; 0 for all
    float exploration
    float first_play        # what an untried move is worth, in the node's average
    int prior               # costs to a factor of e of the priors
    int playout             # plies of a playout
    bint playout_full       # playouts by the whole evaluation, otherwise by steps and squares
    int playout_noise       # uniform, below this, on every move's change; 17 at most if not full
    int sharp[FARTHEST]     # by the least moves home: steps of the table to a cost of one move

cdef struct Tree:
    Node* nodes
    Edge* edges
    int32_t node_count, edge_count
    uint64_t random
    TreeStyle style
    Evaluation evaluation

cdef float EXP[EXP_MOST + 1]


cdef void fill_exponentials() noexcept:
    """By multiplication only: libraries' exponentials differ in the last bit, and the fingerprint
    would with them."""
    cdef double value = 1
    cdef int i
    for i in range(EXP_MOST + 1):
        EXP[i] = <float>value
        value *= 0.9844964370054085     # e^(-1/64)


cdef inline void shares_of(const Tree* t, const State* s, float* shares) noexcept nogil:
    """Where the game is over, 1 divided among the lowest penalties; before, in proportion to
    e^(-moves home * sharpness). A seat that moves later is later home."""
    cdef int seat, players = 0
    cdef int32_t least = 1 << 24
    cdef int32_t when[SEATS]
    cdef int32_t behind
    cdef int sharp
    cdef float total = 0
    cdef bint ended = over(&s.board)
    for seat in range(SEATS):
        if s.board.penalty[seat] == NOBODY:
            when[seat] = NOBODY
            continue
        when[seat] = s.board.penalty[seat] if ended else (
            max(<int32_t>NOT_HOME, s.cost[seat]) + ((seat - s.board.ply) & 3) * (ONE_MOVE // 4)
        )
        least = min(least, when[seat])
        players += 1
    sharp = t.style.sharp[min(least // ONE_MOVE, FARTHEST - 1)]
    for seat in range(SEATS):
        shares[seat] = 0
        if when[seat] == NOBODY:
            continue
        behind = when[seat] - least
        if ended:
            shares[seat] = 1 if behind == 0 else 0
        else:
            shares[seat] = EXP[min(<int32_t>EXP_MOST, (behind * sharp) >> 6)]
        total += shares[seat]
    for seat in range(SEATS):
        shares[seat] /= total
    if players == 1:    # nobody to share with: what counts is to be home soon
        for seat in range(SEATS):
            shares[seat] *= EXP[
                min(<int32_t>EXP_MOST, (0 if ended else least) // 8 + 2 * s.board.ply)
            ]


cdef inline int quick_cost(int d) noexcept nogil:
    """Of a piece d steps from its square, in sixteenths of a step."""
    return 16 * d + d * d


cdef inline Move quick_move(const Board* b, int noise, uint64_t* random) noexcept nogil:
    """The move that lowers steps and squares most, give or take the noise; PASS_MOVE where the seat
    is stuck.

    The noise is less than any step is worth: of a piece only the moves that lead it nearest count,
    and moves that lead no piece nearer only where there are no others.
    """
    cdef Move moves[MAX_MOVES]
    cdef Move best = PASS_MOVE
    cdef int best_value = -UNKNOWN
    cdef int k, i, count, start, end, d, near, value, noisy
    cdef uint32_t pieces, piece, jumps, ends[3]
    cdef int seat = b.ply & 3
    for k in range(4):
        pieces = b.own[seat][k]
        while pieces:
            piece = pieces & (0 - pieces)
            pieces ^= piece
            start = k << 5 | lowest_bit32(piece)
            d = DISTANCE[seat][start]
            if d == 0 or quick_cost(d) + noise <= best_value + 1:
                continue
            jumps = jump_targets(b, k, piece)
            near = 0
            while near < d - 1 and not jumps & AT_DISTANCE[seat][k][near]:
                near += 1
            value = quick_cost(d) - quick_cost(near)
            if value + noise <= best_value + 1:
                continue
            ends[0] = jumps & AT_DISTANCE[seat][k][near]
            ends[1] = ends[2] = 0
            if near == d - 1:
                ends[1] = (
                    steps_beside(b, k, piece, False) | steps_beside(b, k, piece, True)
                ) & AT_DISTANCE[seat][k ^ 1][near]
                ends[2] = (
                    steps_below(b, k, piece, False) | steps_below(b, k, piece, True)
                ) & AT_DISTANCE[seat][k ^ 2][near]
            for i in range(3):
                while ends[i]:
                    noisy = value + <int>(chance(random) % <uint32_t>noise)
                    if noisy > best_value:
                        best_value = noisy
                        best = <Move>(start << 8 | (k ^ i) << 5 | lowest_bit32(ends[i]))
                    ends[i] &= ends[i] - 1
    if best != PASS_MOVE:
        return best
    count = generate(b, seat, moves)
    for i in range(count):
        start, end = DISTANCE[seat][moves[i] >> 8], DISTANCE[seat][moves[i] & 0xFF]
        value = quick_cost(start) - quick_cost(end) + <int>(chance(random) % <uint32_t>noise)
        if value > best_value:
            best, best_value = moves[i], value
    return best


cdef inline Move full_move(Tree* t, const State* s, int32_t* change) noexcept nogil:
    """The move that lowers the whole cost most, give or take the noise, and what it changes;
    PASS_MOVE where the seat is stuck."""
    cdef Move moves[MAX_MOVES]
    cdef int32_t changed[MAX_MOVES]
    cdef Move best = PASS_MOVE
    cdef int32_t value
    cdef int32_t best_value = 1 << 24
    cdef int i
    cdef int count = generate(&s.board, s.board.ply & 3, moves)
    changes(&t.evaluation, s, s.board.ply & 3, moves, count, changed)
    change[0] = 0
    for i in range(count):
        value = changed[i] + <int32_t>(chance(&t.random) % <uint32_t>t.style.playout_noise)
        if value < best_value:
            best, best_value = moves[i], value
            change[0] = changed[i]
    return best


cdef inline void playout(Tree* t, State* s) noexcept nogil:
    """Everybody in turn takes the move that lowers its cost most, give or take the noise."""
    cdef int32_t change = 0
    cdef int _ply, seat
    cdef Move move
    cdef bint moved[SEATS]
    for seat in range(SEATS):
        moved[seat] = False
    for _ply in range(t.style.playout):
        if over(&s.board):
            break
        moved[s.board.ply & 3] = True
        if t.style.playout_full:
            move = full_move(t, s, &change)
        else:
            move = quick_move(&s.board, t.style.playout_noise, &t.random)
        advance(s, move, change)
    if not t.style.playout_full:
        for seat in range(SEATS):
            if moved[seat]:
                s.cost[seat] = full_cost(&t.evaluation, s, seat)


cdef inline int32_t expand(Tree* t, const State* s) noexcept nogil:
    """A node for the position; -1 when the memory is used up."""
    cdef Move moves[MAX_MOVES]
    cdef int32_t change[MAX_MOVES]
    cdef int order[MAX_MOVES]
    cdef int seat = s.board.ply & 3
    cdef int count = generate(&s.board, seat, moves)
    cdef int most = count
    cdef int i, at, kept
    cdef int32_t node = t.node_count
    cdef int32_t behind
    cdef float total = 0
    cdef Edge* edge
    if count == 0:
        moves[0] = PASS_MOVE
        change[0] = 0
        count = most = 1
    else:
        changes(&t.evaluation, s, seat, moves, count, change)
    if t.style.width and most > t.style.width:
        most = t.style.width
    if node == MOST_NODES or t.edge_count + most > MOST_EDGES:
        return -1
    kept = 0
    for i in range(count):
        if kept == most and change[i] >= change[order[kept - 1]]:
            continue
        at = kept if kept < most else kept - 1
        while at > 0 and change[order[at - 1]] > change[i]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = i
        kept = min(kept + 1, most)
    for i in range(most):
        edge = &t.edges[t.edge_count + i]
        behind = (change[order[i]] - change[order[0]]) * EXP_STEPS // t.style.prior
        edge.prior = EXP[min(<int32_t>EXP_MOST, behind)]
        total += edge.prior
        edge.total = 0
        edge.visits = 0
        edge.child = 0
        edge.change = change[order[i]]
        edge.move = moves[order[i]]
    for i in range(most):
        t.edges[t.edge_count + i].prior /= total
    t.nodes[node].first = t.edge_count
    t.nodes[node].count = most
    t.nodes[node].visits = 0
    t.nodes[node].total = 0
    t.edge_count += most
    t.node_count += 1
    return node


cdef inline int32_t select(const Tree* t, const Node* node) noexcept nogil:
    """The edge to follow: value plus bonus."""
    cdef float bonus = t.style.exploration * sqrtf(<float>(node.visits + 1))
    cdef float value
    cdef float best = -1e30
    cdef int32_t i
    cdef int32_t chosen = node.first
    cdef const Edge* edge
    for i in range(node.first, node.first + node.count):
        edge = &t.edges[i]
        if edge.visits == 0:
            value = bonus * edge.prior
            if node.visits:
                value += t.style.first_play * node.total / node.visits
            return i if value > best else chosen
        value = edge.total / edge.visits + bonus * edge.prior / (1 + edge.visits)
        if value > best:
            best = value
            chosen = i
    return chosen


cdef inline void iterate(Tree* t, const State* root) noexcept nogil:
    """Walk down, add a node, estimate, and credit every mover on the way with its own value."""
    cdef State s = root[0]
    cdef float shares[SEATS]
    cdef int32_t path[MOST_DEPTH]
    cdef int32_t nodes[MOST_DEPTH]
    cdef int depth = 0
    cdef int first_ply = root.board.ply
    cdef int seat
    cdef int32_t node = 0, child
    cdef Edge* edge
    while True:
        nodes[depth] = node
        path[depth] = select(t, &t.nodes[node])
        edge = &t.edges[path[depth]]
        advance(&s, edge.move, edge.change)
        depth += 1
        if over(&s.board) or depth == MOST_DEPTH:
            break
        if edge.child == 0:
            if edge.visits > 0:
                child = expand(t, &s)
                if child > 0:
                    edge.child = child
            break
        node = edge.child
    if t.style.playout and not over(&s.board):
        playout(t, &s)
    shares_of(t, &s, shares)
    while depth > 0:
        depth -= 1
        seat = (first_ply + depth) & 3
        t.nodes[nodes[depth]].visits += 1
        t.nodes[nodes[depth]].total += shares[seat]
        edge = &t.edges[path[depth]]
        edge.visits += 1
        edge.total += shares[seat]


cdef uint64_t tree_run(
    Tree* t, const State* root, uint64_t iterations, double deadline
) noexcept nogil:
    """At most so many iterations, fewer when the deadline (on core.native.clock; 0: none) comes
    first; returns how many."""
    cdef uint64_t done = 0
    while done < iterations:
        iterate(t, root)
        done += 1
        if deadline > 0 and done >= FIRST_ITERATIONS and done & 31 == 0 and clock_now() >= deadline:
            break
    return done
