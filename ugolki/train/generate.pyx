"""Compiled self-play: whole games of Gumbel AlphaZero searches, as samples.

The search is that of Danihelka et al., "Policy improvement by planning with Gumbel" (ICLR 2022),
with max^n values. At the root, sequential halving divides the iterations among the moves of the
greatest logit plus Gumbel noise. Below it, visits follow the improved policy. 16 iterations already
improve on the policy network, so games are cheap. The policy target is the improved policy, from
completed values. The value target is its expectation.

A game depends on its seed alone, and on no function of a mathematical library: a unit has the same
samples on every machine.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from core.native.bits cimport lowest_bit32
from core.native.rng cimport mix64
from ugolki.engine cimport Networks, expected_shares, move_logits, playout, read_weights
from ugolki.nn.network cimport NETWORK_STEPS, network_fill, network_seen, network_shares
from ugolki.rules cimport (
    MAX_MOVES, NOBODY, PASS_MOVE, SEATS, Board, Move, Position, generate, make, move_tuple, over
)

from core.errors import RuleError
from core.nn.contract import FIRST as FIRST_FLAG, OFF_PATH

cdef enum:
    MAX_ITERATIONS = 4096
    EDGES_PER_NODE = 48         # mean room; a node without room stays a leaf
    VISITS_BASE = 50            # c_visit of the paper
    GUMBEL_STEPS = 4096         # entries of the table of Gumbel noise
    # The format of a sample, see ugolki/train/selfplay.py.
    RECORD_BYTES = 100
    SAMPLE_MOVES = 20
    PIECES = 6
    NOWHERE = 255
    ALL_VISITS = 255
    ALL_SHARES = 65_535
    WHOLE_WIN = 12
    ASIDE_PLIES = 3
    MAX_SAMPLES = 256           # positions of a game

cdef struct Edge:
    float prior                 # of the policy network, not normalised
    float total                 # sum of the mover's win shares over the visits
    int32_t visits
    int32_t child               # node; 0: none, because no edge leads to the root
    int32_t logit               # in steps
    Move move

cdef struct Node:
    int32_t first               # first edge; -1: not expanded
    int32_t count               # number of edges
    int32_t visits              # sum over the edges
    float value                 # the mover's win share by the value network

cdef int32_t GUMBEL[GUMBEL_STEPS]   # quantiles, in steps


cdef double logarithm(double x):
    """Return ln x for x > 0 by its series: libraries' logarithms differ in the last bit."""
    cdef int exponent = 0
    cdef int k
    cdef double z, power
    cdef double total = 0
    while x > 1.5:
        x /= 2
        exponent += 1
    while x < 0.75:
        x *= 2
        exponent -= 1
    z = (x - 1) / (x + 1)
    power = z
    for k in range(1, 60, 2):
        total += power / k
        power *= z * z
    return 2 * total + exponent * 0.6931471805599453


cdef fill_gumbel():
    cdef int i
    for i in range(GUMBEL_STEPS):
        GUMBEL[i] = <int32_t>round(
            -NETWORK_STEPS * logarithm(-logarithm((i + 0.5) / GUMBEL_STEPS))
        )


fill_gumbel()
network_fill()


cdef inline uint32_t chance(uint64_t* random, uint32_t below) noexcept nogil:
    """Return a number from 0 to `below` - 1; SplitMix64, the bias of 2^-32 does not matter."""
    random[0] += <uint64_t>0x9E3779B97F4A7C15
    return <uint32_t>((mix64(random[0]) >> 32) * below >> 32)


cdef class Generator:
    """Plays games and records each search as a sample; it owns the memory of one search."""

    cdef Networks* networks
    cdef int network_count
    cdef Node* nodes
    cdef Edge* edges
    cdef uint8_t* records
    cdef int32_t node_count, edge_count, max_nodes, max_edges
    cdef int32_t iterations, considered, percent
    cdef float scale
    cdef bint playouts          # play a leaf out before its evaluation
    cdef uint64_t random        # state for the playouts
    cdef int32_t* turns         # visits that the move of each iteration must have, by move count
    cdef const Networks* mine   # networks of the searching seat
    # By number of the root's move:
    cdef float totals[MAX_MOVES][SEATS]     # sums of win shares
    cdef int32_t noisy[MAX_MOVES]           # logit plus Gumbel noise
    cdef float improved[MAX_MOVES]          # improved policy
    cdef float expected[SEATS]  # win shares that the search expects
    cdef int32_t best           # number of the root's move

    def __cinit__(
        self, weights, *, int iterations=32, int considered=16, int percent=40, double scale=1,
        bint playouts=True
    ):
        cdef int i
        if not weights or not 1 <= iterations <= MAX_ITERATIONS or not 1 <= considered:
            raise ValueError(
                f"a generator takes weights, 1 to {MAX_ITERATIONS} iterations and at least 1 "
                "considered move"
            )
        self.iterations, self.percent, self.scale = iterations, percent, <float>scale
        self.playouts = playouts
        self.considered = min(considered, <int>MAX_MOVES)
        self.network_count = len(weights)
        self.max_nodes = iterations + 1
        self.max_edges = self.max_nodes * EDGES_PER_NODE + MAX_MOVES
        self.networks = <Networks*>malloc(self.network_count * sizeof(Networks))
        self.nodes = <Node*>malloc(self.max_nodes * sizeof(Node))
        self.edges = <Edge*>malloc(self.max_edges * sizeof(Edge))
        self.turns = <int32_t*>malloc((self.considered + 1) * iterations * sizeof(int32_t))
        self.records = <uint8_t*>malloc(2 * MAX_SAMPLES * RECORD_BYTES)
        if (
            self.networks == NULL or self.nodes == NULL or self.edges == NULL
            or self.turns == NULL or self.records == NULL
        ):
            raise MemoryError
        for i in range(self.network_count):
            read_weights(weights[i], &self.networks[i])
        for count in range(1, self.considered + 1):
            for i, visits in enumerate(halving(count, iterations)):
                self.turns[count * iterations + i] = visits

    def __dealloc__(self):
        free(self.networks)
        free(self.nodes)
        free(self.edges)
        free(self.turns)
        free(self.records)

    def search(self, Position position, uint64_t seed, int weights=0):
        cdef const Board* board = &position.board
        cdef uint64_t random = mix64(seed)
        cdef int i
        if over(board) or len(position.pseudolegal()) < 2:
            raise RuleError("there are fewer than two legal moves")
        if not 0 <= weights < self.network_count:
            raise ValueError(f"there are no weights {weights}")
        self.run(board, &self.networks[weights], &random)
        found = [
            (move_tuple(self.edges[i].move), self.edges[i].visits, self.improved[i])
            for i in range(self.nodes[0].count)
        ]
        return [found[self.best], *found[:self.best], *found[self.best + 1:]]

    def expectation(self):
        """Return every seat's expected win share in the last search, adding up to 1."""
        return tuple([self.expected[seat] for seat in range(SEATS)])

    def game(
        self, Position position, uint64_t seed, *, double off_path_share=0.25, seats=(0, 0, 0, 0),
        others=None
    ):
        cdef Board board = position.board
        cdef int32_t weights[SEATS]
        cdef bint outside[SEATS]
        cdef uint64_t random = mix64(seed)
        cdef uint32_t part = <uint32_t>(off_path_share * 65_536)
        cdef int path = 0
        cdef int off_path = 0
        cdef int i, seat
        cdef uint8_t result[SEATS]
        cdef uint8_t* record
        others = others or {}
        for seat in range(SEATS):
            weights[seat], outside[seat] = seats[seat], seat in others
            if not 0 <= weights[seat] < self.network_count:
                raise ValueError(f"there are no weights {weights[seat]}")
        while True:
            with nogil:
                self.play(&board, weights, outside, part, &random, &path, &off_path)
            if over(&board):
                break
            position = position_of(&board, position.moves)
            position = position.play(tuple(others[board.ply & 3](position)))
            board = position.board
        results(&board, result)
        found = []
        for i in range(path):
            record = &self.records[i * RECORD_BYTES]
            record[2] = FIRST_FLAG if i == 0 else 0
            for seat in range(SEATS):
                record[36 + seat] = result[seat]
            found.append(record[:RECORD_BYTES])
        for i in range(off_path):
            record = &self.records[(MAX_SAMPLES + i) * RECORD_BYTES]
            record[2] = FIRST_FLAG | OFF_PATH
            found.append(record[:RECORD_BYTES])
        return found

    cdef void play(
        self, Board* board, const int32_t* weights, const bint* outside, uint32_t part,
        uint64_t* random, int* path, int* off_path
    ) noexcept nogil:
        """Play until the game has ended or a seat of `outside` has a move. Record each search."""
        cdef Move moves[MAX_MOVES]
        cdef Move move
        cdef Board other
        cdef int count, seat
        while not over(board):
            seat = board.ply & 3
            count = generate(board, seat, moves)
            if count == 0:
                make(board, PASS_MOVE)
                continue
            if outside[seat]:
                return
            move = moves[0]
            if count > 1:
                self.run(board, &self.networks[weights[seat]], random)
                self.write(board, &self.records[path[0] * RECORD_BYTES])
                path[0] += 1
                move = self.edges[self.best].move
                if chance(random, 65_536) < part:
                    other = board[0]
                    if wander(&other, random):
                        self.run(&other, &self.networks[weights[other.ply & 3]], random)
                        self.write(
                            &other, &self.records[(MAX_SAMPLES + off_path[0]) * RECORD_BYTES]
                        )
                        off_path[0] += 1
            make(board, move)

    cdef void run(self, const Board* root, const Networks* mine, uint64_t* random) noexcept nogil:
        """Search a position with at least two moves."""
        cdef float shares[SEATS]
        cdef int32_t outputs[MAX_MOVES]
        cdef const Edge* edge
        cdef const int32_t* turns
        cdef int count, i, seat
        cdef int32_t most = 0
        cdef float weight = 0
        cdef float total = 0
        self.mine = mine
        self.random = root.key
        self.node_count = self.edge_count = 0
        expected_shares(mine, root, shares)
        self.add_node(shares[root.ply & 3])
        self.expand(&self.nodes[0], root)
        count = self.nodes[0].count
        for i in range(count):
            self.noisy[i] = self.edges[i].logit + GUMBEL[chance(random, GUMBEL_STEPS)]
            for seat in range(SEATS):
                self.totals[i][seat] = 0
        turns = &self.turns[min(self.considered, count) * self.iterations]
        for i in range(self.iterations):
            self.iterate(root, self.choose(turns[i]))
        for i in range(count):
            most = max(most, self.edges[i].visits)
        self.best = self.choose(most)
        self.improve(&self.nodes[0], outputs)
        network_shares(outputs, count, self.improved)
        for seat in range(SEATS):
            self.expected[seat] = 0
        for i in range(count):
            total += self.improved[i]
            edge = &self.edges[i]
            if edge.visits:
                weight += self.improved[i]
                for seat in range(SEATS):
                    self.expected[seat] += (
                        self.improved[i] * self.totals[i][seat] / edge.visits
                    )
        for seat in range(SEATS):
            self.expected[seat] /= weight
        for i in range(count):
            self.improved[i] /= total

    cdef inline int32_t add_node(self, float value) noexcept nogil:
        """Add a node that is not expanded. There is room: an iteration adds at most one."""
        cdef Node* node = &self.nodes[self.node_count]
        node.first = -1
        node.count = node.visits = 0
        node.value = value
        self.node_count += 1
        return self.node_count - 1

    cdef bint expand(self, Node* node, const Board* b) noexcept nogil:
        """Give a node its moves; return False if there is no room."""
        cdef Move moves[MAX_MOVES]
        cdef int32_t logits[MAX_MOVES]
        cdef float priors[MAX_MOVES]
        cdef Edge* edge
        cdef int i
        cdef int count = generate(b, b.ply & 3, moves)
        if self.edge_count + max(count, 1) > self.max_edges:
            return False
        if count == 0:
            moves[0], logits[0], priors[0] = PASS_MOVE, 0, 1
            count = 1
        else:
            move_logits(
                self.mine, &self.mine.policy, self.percent, b, b.ply & 3, moves, count, logits
            )
            network_shares(logits, count, priors)
        node.first = self.edge_count
        node.count = count
        for i in range(count):
            edge = &self.edges[node.first + i]
            edge.prior, edge.logit, edge.move = priors[i], logits[i], moves[i]
            edge.total = 0
            edge.visits = edge.child = 0
        self.edge_count += count
        return True

    cdef void improve(self, const Node* node, int32_t* outputs) noexcept nogil:
        """Compute the logits of the improved policy, in steps: a move's logit plus its value.

        Moves without visits have the node's mixed value: that of the network, and those of the
        visited moves by their priors.
        """
        cdef const Edge* edges = &self.edges[node.first]
        cdef int i
        cdef int32_t most = 0
        cdef float weight = 0
        cdef float weighted = 0
        cdef float mixed = node.value
        cdef float factor
        for i in range(node.count):
            if edges[i].visits:
                most = max(most, edges[i].visits)
                weight += edges[i].prior
                weighted += edges[i].prior * edges[i].total / edges[i].visits
        if weight > 0:
            mixed = (mixed + node.visits * weighted / weight) / (1 + node.visits)
        factor = NETWORK_STEPS * self.scale * (VISITS_BASE + most)
        for i in range(node.count):
            outputs[i] = edges[i].logit + <int32_t>(
                factor * (edges[i].total / edges[i].visits if edges[i].visits else mixed)
            )

    cdef int32_t choose(self, int32_t visits) noexcept nogil:
        """Return the best move of the root, noise included, among those with this many visits."""
        cdef int32_t outputs[MAX_MOVES]
        cdef int32_t value
        cdef int32_t best = -1
        cdef int32_t best_value = 0
        cdef int i
        self.improve(&self.nodes[0], outputs)
        for i in range(self.nodes[0].count):
            if self.edges[i].visits == visits:
                value = outputs[i] - self.edges[i].logit + self.noisy[i]
                if best < 0 or value > best_value:
                    best, best_value = i, value
        return best

    cdef int32_t select(self, const Node* node) noexcept nogil:
        """Return the edge whose share of the visits is furthest below the improved policy."""
        cdef int32_t outputs[MAX_MOVES]
        cdef float weights[MAX_MOVES]
        cdef float total = 0
        cdef float value
        cdef float best_value = -2
        cdef int32_t best = node.first
        cdef int i
        if node.count == 1:
            return best
        self.improve(node, outputs)
        network_shares(outputs, node.count, weights)
        for i in range(node.count):
            total += weights[i]
        for i in range(node.count):
            value = weights[i] / total - (
                <float>self.edges[node.first + i].visits / (1 + node.visits)
            )
            if value > best_value:
                best, best_value = node.first + i, value
        return best

    cdef void iterate(self, const Board* root, int32_t edge_number) noexcept nogil:
        """Follow a move of the root to a new position; credit every mover with its win share."""
        cdef Board board = root[0]
        cdef float shares[SEATS]
        cdef int32_t edges[MAX_ITERATIONS + 1]
        cdef int32_t nodes[MAX_ITERATIONS + 1]
        cdef int depth = 0
        cdef int first_ply = root.ply
        cdef int32_t at = 0
        cdef int32_t number = edge_number
        cdef int i, seat
        cdef bint leaf
        cdef Edge* edge
        while True:
            nodes[depth], edges[depth] = at, number
            depth += 1
            edge = &self.edges[number]
            make(&board, edge.move)
            if over(&board) or edge.child == 0:
                break
            at = edge.child
            if self.nodes[at].first < 0 and not self.expand(&self.nodes[at], &board):
                break
            number = self.select(&self.nodes[at])
        seat = board.ply & 3
        leaf = not over(&board)
        if leaf and self.playouts:
            playout(&board, &self.random)
        expected_shares(self.mine, &board, shares)
        if leaf and edge.child == 0:
            edge.child = self.add_node(shares[seat])
        for i in range(depth):
            self.nodes[nodes[i]].visits += 1
            self.edges[edges[i]].visits += 1
            self.edges[edges[i]].total += shares[(first_ply + i) & 3]
        for seat in range(SEATS):
            self.totals[edge_number][seat] += shares[seat]

    cdef void write(self, const Board* b, uint8_t* record) noexcept nogil:
        """Write a sample of the last search, without flags and result."""
        cdef int seat, k, i, n, at, cell
        cdef int kept = 0
        cdef int order[SAMPLE_MOVES]
        cdef uint32_t pieces, scaled
        cdef uint8_t* cells
        cdef Move move
        record[0], record[1], record[2] = <uint8_t>b.ply, <uint8_t>b.last_ply, 0
        for seat in range(SEATS):
            cells = &record[4 + PIECES * seat]
            n = 0
            for k in range(4):
                pieces = b.own[seat][k]
                while pieces:
                    cell = network_seen[0][k << 5 | lowest_bit32(pieces)]
                    pieces &= pieces - 1
                    at = n
                    while at > 0 and cells[at - 1] > cell:
                        cells[at] = cells[at - 1]
                        at -= 1
                    cells[at] = <uint8_t>cell
                    n += 1
            for i in range(n, PIECES):
                cells[i] = NOWHERE
            scaled = <uint32_t>(ALL_SHARES * self.expected[seat] + <float>0.5)
            record[28 + 2 * seat], record[29 + 2 * seat] = scaled & 0xFF, scaled >> 8
            record[36 + seat] = 0
        for i in range(self.nodes[0].count):
            if kept == SAMPLE_MOVES and self.improved[i] <= self.improved[order[kept - 1]]:
                continue
            at = kept if kept < SAMPLE_MOVES else kept - 1
            while at > 0 and self.improved[order[at - 1]] < self.improved[i]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = i
            kept = min(kept + 1, <int>SAMPLE_MOVES)
        while kept > 1 and self.improved[order[kept - 1]] * ALL_VISITS < <float>0.5:
            kept -= 1
        record[3] = <uint8_t>kept
        for i in range(SAMPLE_MOVES):
            record[40 + 3 * i] = record[41 + 3 * i] = record[42 + 3 * i] = 0
            if i < kept:
                move = self.edges[order[i]].move
                record[40 + 3 * i] = network_seen[0][move >> 8]
                record[41 + 3 * i] = network_seen[0][move & 0xFF]
                record[42 + 3 * i] = <uint8_t>(
                    ALL_VISITS * self.improved[order[i]] + <float>0.5
                )


def halving(int considered, int iterations):
    """Return the visits that the move of each iteration must have had, by sequential halving."""
    cdef int phases = max(1, (considered - 1).bit_length())
    left = considered
    visits = [0] * considered
    found = []
    while len(found) < iterations:
        for _ in range(max(1, iterations // (phases * left))):
            found += visits[:left]
            for i in range(left):
                visits[i] += 1
        left = max(min(2, considered), left // 2)
    return found[:iterations]


cdef bint wander(Board* b, uint64_t* random) noexcept nogil:
    """Play 1 to ASIDE_PLIES random plies. Return True if there is a choice of moves then."""
    cdef Move moves[MAX_MOVES]
    cdef int count
    cdef int left = 1 + <int>chance(random, ASIDE_PLIES)
    while left:
        count = generate(b, b.ply & 3, moves)
        make(b, moves[chance(random, count)] if count else <Move>PASS_MOVE)
        if over(b):
            return False
        left -= 1
    return generate(b, b.ply & 3, moves) > 1


cdef void results(const Board* b, uint8_t* result) noexcept:
    """Write each seat's win share, in twelfths: the lowest penalties share the win."""
    cdef int seat
    cdef int winners = 0
    cdef int least = 1 << 20
    for seat in range(SEATS):
        if b.penalty[seat] != NOBODY:
            least = min(least, b.penalty[seat])
    for seat in range(SEATS):
        winners += b.penalty[seat] == least
    for seat in range(SEATS):
        result[seat] = WHOLE_WIN // winners if b.penalty[seat] == least else 0


cdef Position position_of(const Board* b, int moves):
    cdef Position position = Position.__new__(Position)
    position.board = b[0]
    position.moves = moves
    return position
