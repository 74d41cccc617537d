"""A frozen opponent: max^n Monte Carlo tree search by UCB1 over a static evaluation.

It has no network. Nodes have few moves, the best by the evaluation, with progressive bias (Chaslot
et al., 2008). Playouts are short and greedy. The win shares of a leaf are the softmax of the seats'
remaining moves. It must not be improved any more.
"""

import os

from libc.math cimport sqrtf
from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from core.native.bits cimport lowest_bit32
from core.native.clock cimport clock_now
from core.native.rng cimport mix64
from ugolki.rules cimport (
    AT_DISTANCE, DISTANCE, MAX_MOVES, NOBODY, PASS_MOVE, SEATS, Board, Move, Position, generate,
    jump_targets, move_tuple, over, steps_below, steps_beside
)

from core.errors import RuleError, TextError
from core.limits import SearchInfo

cdef enum:
    CELLS = 100
    PIECES = 6
    PAIRS = 4950                # C(100, 2)
    TRIPLES = 161_700           # C(100, 3)
    ROOT_WIDTH = 10             # moves of the root, the best by evaluation
    WIDTH = 5                   # moves of every other node
    PLAYOUT_PLIES = 8
    PLAYOUT_NOISE = 8           # random tie-break below this, in sixteenths of a step
    MAX_NODES = 4_000_000       # 96 MB, touched only as the tree grows
    MAX_PLIES = 200             # of a path
    FIRST_ITERATIONS = 32       # before the first look at the clock
    CLOCK_MASK = 31             # the clock is read every 32 iterations
    DEFAULT_ITERATIONS = 10_000
    MANTISSA_BITS = 10          # of the table of logarithms

cdef float TRIPLES_WEIGHT = <float>(0.35 / 64)  # the table is in 64ths of a move
cdef float STEPS_WEIGHT = <float>(0.65 * 0.3)   # a step is 0.3 of a move
cdef float TURN = 0.25          # moves by which a seat is later for each ply until its turn
cdef float SHARPNESS = 0.7      # a move behind makes a win share e^0.7 times smaller
cdef float EXPLORATION = 0.35
cdef float BIAS = 0.25          # win share for each move that an untried move gains
cdef float HOME_GAIN = 4        # moves gained, in addition to the rest, by finishing

cdef struct Node:               # a move, and the position after it
    int32_t first               # of its children; 0: not expanded (node 0 is the root)
    int32_t count
    uint32_t visits
    float total                 # sum of the mover's win shares over the visits
    float gain                  # moves by which the move improves the mover's evaluation
    Move move

cdef struct State:
    Board board                 # its key is not maintained
    float cost[SEATS]           # moves home by the evaluation, at least 0 for none at home
    uint8_t cells[SEATS][PIECES]    # as the owner sees them, in any order
    uint8_t count[SEATS]

cdef struct Tables:
    int16_t pair[CELLS][CELLS]      # number of the row of two cells
    int16_t rows[PAIRS][CELLS]      # 64ths of a move that the triple contributes
    uint8_t seen[SEATS][128]        # cell of a code (rules.pxd) as each seat sees it
    float cell[CELLS]               # cost of a piece by its steps
    float log[1 << MANTISSA_BITS]   # natural logarithm of 1 .. 2

cdef Tables TABLES
cdef bint ready = False


cdef fill_tables():
    """Fill TABLES. Raises TextError if the table of triples, which is the pool's, is damaged."""
    global ready
    cdef int a, b, c, code, bit, column, row, i, k, number = 0
    cdef double z, power, total
    cdef const signed char* weight
    path = os.path.join(os.path.dirname(os.path.dirname(__file__)), "pool", "triples.bin")
    with open(path, "rb") as file:
        triples = file.read().partition(b"\n\n")[2]
    if len(triples) != TRIPLES:
        raise TextError(f"{path} has {len(triples)} weights, not {TRIPLES}")
    cdef bytes body = triples
    weight = <const signed char*><const char*>body
    for b in range(CELLS):
        for a in range(b):
            TABLES.pair[a][b] = TABLES.pair[b][a] = <int16_t>number
            number += 1
    for c in range(CELLS):      # the order of the file: a < b < c, c slowest
        for b in range(c):
            for a in range(b):
                TABLES.rows[TABLES.pair[a][b]][c] = weight[0]
                TABLES.rows[TABLES.pair[a][c]][b] = weight[0]
                TABLES.rows[TABLES.pair[b][c]][a] = weight[0]
                weight += 1
    for code in range(128):
        bit = code & 31
        column = (bit % 6) << 1 | (code >> 5) & 1
        row = (bit // 6) << 1 | code >> 6
        if column < 10 and row < 10:
            TABLES.seen[0][code] = <uint8_t>(10 * row + column)
            TABLES.seen[1][code] = <uint8_t>(10 * (9 - column) + row)
            TABLES.seen[2][code] = <uint8_t>(10 * (9 - row) + 9 - column)
            TABLES.seen[3][code] = <uint8_t>(10 * column + 9 - row)
    for row in range(10):
        for column in range(10):
            TABLES.cell[10 * row + column] = STEPS_WEIGHT * (
                max(0, 6 - column) + max(0, 6 - row)
            )
    # ln m = 2 artanh((m - 1) / (m + 1)) by its series. Logarithms of libraries differ in the last
    # bit, and the fingerprint would differ with them.
    for i in range(1 << MANTISSA_BITS):
        z = i / (i + 2.0 * (1 << MANTISSA_BITS))
        power, total = z, 0
        for k in range(1, 40, 2):
            total += power / k
            power *= z * z
        TABLES.log[i] = <float>(2 * total)
    ready = True


cdef inline float logarithm(uint32_t n) noexcept nogil:
    """Return ln n, rounded to the table's mantissa, for n from 1."""
    cdef int exponent = 0
    while n >> exponent > 1:
        exponent += 1
    cdef uint32_t mantissa = n - (<uint32_t>1 << exponent)
    mantissa = (
        mantissa >> (exponent - MANTISSA_BITS) if exponent > MANTISSA_BITS
        else mantissa << (MANTISSA_BITS - exponent)
    )
    return exponent * <float>0.6931471805599453 + TABLES.log[mantissa]


cdef inline float exponential(float x) noexcept nogil:
    """Return e^x for x from -60 to 0, exactly alike on every machine: (1 + x / 4096)^4096."""
    cdef double y = 1 + <double>x / 4096
    cdef int _i
    for _i in range(12):
        y *= y
    return <float>y


cdef float whole_cost(const State* s, int seat) noexcept nogil:
    """Return the seat's moves home by the evaluation."""
    cdef int a, b, c
    cdef int32_t triples = 0
    cdef float steps = 0
    cdef const int16_t* row
    cdef const uint8_t* cells = s.cells[seat]
    for a in range(s.count[seat]):
        steps += TABLES.cell[cells[a]]
    if s.count[seat] == PIECES:
        for a in range(PIECES):
            for b in range(a):
                row = TABLES.rows[TABLES.pair[cells[a]][cells[b]]]
                for c in range(b):
                    triples += row[cells[c]]
    return steps + TRIPLES_WEIGHT * triples


cdef void take_position(const Board* b, State* s) noexcept nogil:
    cdef int seat, k, n
    cdef uint32_t pieces
    s.board = b[0]
    for seat in range(SEATS):
        n = 0
        for k in range(4):
            pieces = b.own[seat][k]
            while pieces:
                s.cells[seat][n] = TABLES.seen[seat][k << 5 | lowest_bit32(pieces)]
                n += 1
                pieces &= pieces - 1
        s.count[seat] = <uint8_t>n
        s.cost[seat] = whole_cost(s, seat)


cdef inline int piece_at(const State* s, int seat, int cell) noexcept nogil:
    """Return the index of the seat's piece on a cell as the seat sees it."""
    cdef int i = 0
    while s.cells[seat][i] != cell:
        i += 1
    return i


cdef void move_gains(
    const State* s, int seat, const Move* moves, int count, float* gains
) noexcept nogil:
    """Compute by how many moves each of the seat's moves improves its evaluation. The moves of a
    piece must follow each other."""
    cdef const int16_t* rows[10]
    cdef uint8_t others[PIECES]
    cdef int i, k, n, a, b, piece, end
    cdef int start = 0
    cdef int code = -1
    cdef int32_t before = 0
    cdef bint known = s.count[seat] == PIECES
    cdef const uint8_t* seen = TABLES.seen[seat]
    for i in range(count):
        if moves[i] >> 8 != code:
            code = moves[i] >> 8
            start = seen[code]
            if known:
                piece = piece_at(s, seat, start)
                n = 0
                for k in range(PIECES):
                    if k != piece:
                        others[n] = s.cells[seat][k]
                        n += 1
                n = 0
                before = 0
                for a in range(1, PIECES - 1):
                    for b in range(a):
                        rows[n] = TABLES.rows[TABLES.pair[others[a]][others[b]]]
                        before += rows[n][start]
                        n += 1
        end = seen[moves[i] & 0xFF]
        gains[i] = TABLES.cell[start] - TABLES.cell[end]
        if known:
            gains[i] += TRIPLES_WEIGHT * (before - (
                rows[0][end] + rows[1][end] + rows[2][end] + rows[3][end] + rows[4][end]
                + rows[5][end] + rows[6][end] + rows[7][end] + rows[8][end] + rows[9][end]
            ))
        if (
            s.board.penalty[seat] + <int>DISTANCE[seat][moves[i] & 0xFF]
            == <int>DISTANCE[seat][code]
        ):
            gains[i] += HOME_GAIN


cdef inline void play(State* s, Move move, float gain) noexcept nogil:
    """Play a move of the seat to move, or PASS_MOVE."""
    cdef int seat = s.board.ply & 3
    cdef int start = move >> 8
    cdef int end = move & 0xFF
    cdef Board* b = &s.board
    cdef uint32_t lifted, placed
    if move != PASS_MOVE:
        lifted = <uint32_t>1 << (start & 31)
        placed = <uint32_t>1 << (end & 31)
        b.own[seat][start >> 5] ^= lifted
        b.occupied[start >> 5] ^= lifted
        b.own[seat][end >> 5] ^= placed
        b.occupied[end >> 5] ^= placed
        b.penalty[seat] += <int>DISTANCE[seat][end] - <int>DISTANCE[seat][start]
        s.cells[seat][piece_at(s, seat, TABLES.seen[seat][start])] = TABLES.seen[seat][end]
        s.cost[seat] -= gain
    b.ply += 1


cdef inline int greed(int d) noexcept nogil:
    """Return the cost of a piece d steps from its square, in sixteenths of a step."""
    return 16 * d + d * d


cdef inline uint32_t chance(uint64_t* random) noexcept nogil:
    """Return the high bits of Knuth's MMIX generator."""
    random[0] = random[0] * <uint64_t>6364136223846793005 + <uint64_t>1442695040888963407
    return <uint32_t>(random[0] >> 33)


cdef Move greedy_move(const Board* b, uint64_t* random) noexcept nogil:
    """Return the move that lowers `greed` most, with random tie-breaks; PASS_MOVE if there is none.

    The noise is less than a step: of a piece only its nearest targets count, and moves that bring
    no piece nearer count only if there are no others.
    """
    cdef Move moves[MAX_MOVES]
    cdef Move best = PASS_MOVE
    cdef int best_value = -(1 << 20)
    cdef int k, i, count, start, end, d, near, value, noisy
    cdef uint32_t pieces, piece, jumps
    cdef uint32_t ends[3]
    cdef int seat = b.ply & 3
    for k in range(4):
        pieces = b.own[seat][k]
        while pieces:
            piece = pieces & (0 - pieces)
            pieces ^= piece
            start = k << 5 | lowest_bit32(piece)
            d = DISTANCE[seat][start]
            if d == 0 or greed(d) + PLAYOUT_NOISE <= best_value + 1:
                continue
            jumps = jump_targets(b, k, piece)
            near = 0
            while near < d - 1 and not jumps & AT_DISTANCE[seat][k][near]:
                near += 1
            value = greed(d) - greed(near)
            if value + PLAYOUT_NOISE <= best_value + 1:
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
                    noisy = value + <int>(chance(random) % <uint32_t>PLAYOUT_NOISE)
                    if noisy > best_value:
                        best_value = noisy
                        best = <Move>(start << 8 | (k ^ i) << 5 | lowest_bit32(ends[i]))
                    ends[i] &= ends[i] - 1
    if best != PASS_MOVE:
        return best
    count = generate(b, seat, moves)
    for i in range(count):
        start, end = DISTANCE[seat][moves[i] >> 8], DISTANCE[seat][moves[i] & 0xFF]
        value = greed(start) - greed(end) + <int>(chance(random) % <uint32_t>PLAYOUT_NOISE)
        if value > best_value:
            best, best_value = moves[i], value
    return best


cdef void win_shares(const State* s, float* shares) noexcept nogil:
    """Compute every seat's win share.

    After the end of the game the lowest penalties share the win. Before it, the shares are the
    softmax of the remaining moves. The share of a seat that is alone falls with the time it needs.
    """
    cdef int seat, players = 0
    cdef float when[SEATS]
    cdef float least = 1e9
    cdef float total = 0
    cdef bint ended = over(&s.board)
    for seat in range(SEATS):
        if s.board.penalty[seat] == NOBODY:
            continue
        when[seat] = <float>s.board.penalty[seat] if ended else (
            max(s.cost[seat], <float>(s.board.penalty[seat] > 0))
            + TURN * ((seat - s.board.ply) & 3)
        )
        least = min(least, when[seat])
        players += 1
    for seat in range(SEATS):
        shares[seat] = 0
        if s.board.penalty[seat] == NOBODY:
            continue
        if ended:
            shares[seat] = <float>(when[seat] == least)
        else:
            shares[seat] = exponential(max(<float>-60, SHARPNESS * (least - when[seat])))
        total += shares[seat]
    for seat in range(SEATS):
        shares[seat] /= total
    if players == 1:
        least = (0 if ended else least) + s.board.ply * <float>0.25
        for seat in range(SEATS):
            shares[seat] *= exponential(max(<float>-60, -SHARPNESS * least / 8))


cdef class Ucb:
    """The player `ucb`. It builds a new tree for every move."""

    cdef Node* nodes
    cdef int32_t node_count
    cdef uint64_t random
    cdef uint64_t iterations
    cdef double seconds

    def __cinit__(self, uint64_t iterations=0, double milliseconds=0):
        if not ready:
            fill_tables()
        self.iterations = iterations
        self.seconds = milliseconds / 1000
        self.nodes = <Node*>malloc(MAX_NODES * sizeof(Node))
        if self.nodes == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.nodes)

    def choose(self, Position position, limits):
        """Return the most visited move; see `core.rules.Searcher`.

        The search stops at the first bound that it reaches, its own or that of the limits. Without
        any bound it runs 10,000 iterations. The score is the mover's expected win share in
        thousandths. Raises RuleError if the seat to move has no legal move.
        """
        cdef State root
        cdef double started = clock_now()
        cdef double deadline = 0 if limits.deadline is None else limits.deadline
        cdef uint64_t most = self.iterations
        cdef uint64_t done
        cdef int32_t i, best
        cdef Node* node
        take_position(&position.board, &root)
        self.nodes[0].first = self.nodes[0].count = 0
        self.nodes[0].visits = 0
        self.nodes[0].total = self.nodes[0].gain = 0
        self.nodes[0].move = PASS_MOVE
        self.node_count = 1
        if not self.expand(&self.nodes[0], &root, ROOT_WIDTH) or self.nodes[1].move == PASS_MOVE:
            raise RuleError("no piece can move")
        if limits.nodes is not None:
            most = min(most, <uint64_t>limits.nodes) if most else limits.nodes
        if self.seconds > 0:
            deadline = min(deadline, started + self.seconds) if deadline > 0 else (
                started + self.seconds
            )
        if most == 0:
            most = DEFAULT_ITERATIONS if deadline == 0 else <uint64_t>1 << 40
        if over(&root.board) or self.nodes[0].count == 1:
            most = 1    # after the end, which a judge may ignore, the best move by evaluation
        self.random = mix64(position.board.key)
        with nogil:
            done = self.run(&root, most, deadline)
        best = 1
        for i in range(2, 1 + self.nodes[0].count):
            node = &self.nodes[i]
            if node.visits > self.nodes[best].visits or (
                node.visits == self.nodes[best].visits and node.total > self.nodes[best].total
            ):
                best = i
        move = move_tuple(self.nodes[best].move)
        score = <int>(1000 * self.nodes[best].total / max(<uint32_t>1, self.nodes[best].visits))
        return SearchInfo(move, score, 1, done, clock_now() - started, (move,))

    cdef bint expand(self, Node* node, const State* s, int width) noexcept nogil:
        """Give a node the best moves by evaluation; return False when the memory is full."""
        cdef Move moves[MAX_MOVES]
        cdef float gains[MAX_MOVES]
        cdef int order[ROOT_WIDTH]
        cdef int seat = s.board.ply & 3
        cdef int count = generate(&s.board, seat, moves)
        cdef int i, at
        cdef int kept = 0
        cdef Node* child
        if self.node_count + width > MAX_NODES:
            return False
        if count == 0:
            moves[0] = PASS_MOVE
            gains[0] = 0
            count = 1
        else:
            move_gains(s, seat, moves, count, gains)
        for i in range(count):
            if kept == width and gains[i] <= gains[order[kept - 1]]:
                continue
            at = kept if kept < width else kept - 1
            while at > 0 and gains[order[at - 1]] < gains[i]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = i
            kept = min(kept + 1, width)
        node.first = self.node_count
        node.count = kept
        for i in range(kept):
            child = &self.nodes[node.first + i]
            child.first = child.count = 0
            child.visits = 0
            child.total = 0
            child.gain = gains[order[i]]
            child.move = moves[order[i]]
        self.node_count += kept
        return True

    cdef int32_t select(self, const Node* node) noexcept nogil:
        """Return the child to follow: the first unvisited one, else the best by UCB1 and bias."""
        cdef float log = logarithm(node.visits + 1)
        cdef float value
        cdef float best = -1e30
        cdef int32_t i
        cdef int32_t chosen = node.first
        cdef const Node* child
        for i in range(node.first, node.first + node.count):
            child = &self.nodes[i]
            if child.visits == 0:
                return i
            value = (
                child.total / child.visits + EXPLORATION * sqrtf(log / child.visits)
                + BIAS * child.gain / (child.visits + 1)
            )
            if value > best:
                best = value
                chosen = i
        return chosen

    cdef void iterate(self, const State* root) noexcept nogil:
        """Walk to a leaf, expand it, play out, and credit every mover with its own win share."""
        cdef State s = root[0]
        cdef float shares[SEATS]
        cdef int32_t path[MAX_PLIES]
        cdef int first_ply = root.board.ply
        cdef int depth = 0
        cdef int seat, _ply
        cdef int32_t at = 0
        cdef Node* node = &self.nodes[0]
        cdef bint moved[SEATS]
        while node.first and depth < MAX_PLIES:
            at = self.select(node)
            node = &self.nodes[at]
            play(&s, node.move, node.gain)
            path[depth] = at
            depth += 1
            if over(&s.board):
                break
        if not over(&s.board):
            if node.first == 0 and depth < MAX_PLIES:
                self.expand(node, &s, WIDTH)
            for seat in range(SEATS):
                moved[seat] = False
            for _ply in range(PLAYOUT_PLIES):
                if over(&s.board):
                    break
                moved[s.board.ply & 3] = True
                play(&s, greedy_move(&s.board, &self.random), 0)
            for seat in range(SEATS):
                if moved[seat]:
                    s.cost[seat] = whole_cost(&s, seat)
        win_shares(&s, shares)
        self.nodes[0].visits += 1
        while depth > 0:
            depth -= 1
            node = &self.nodes[path[depth]]
            node.visits += 1
            node.total += shares[(first_ply + depth) & 3]

    cdef uint64_t run(self, const State* root, uint64_t most, double deadline) noexcept nogil:
        """Run up to `most` iterations, fewer if the deadline (0: none) comes first. Return how
        many ran."""
        cdef uint64_t done = 0
        while done < most:
            self.iterate(root)
            done += 1
            if (
                deadline > 0 and done >= FIRST_ITERATIONS and done & CLOCK_MASK == 0
                and clock_now() >= deadline
            ):
                break
        return done
