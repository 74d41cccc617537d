"""Frozen opponents: the engine of the pool, a few searches over a few evaluations. Which player has
which is said by a row of players.py. It must not improve any more."""

import os

from libc.math cimport sqrtf
from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from core.native.bits cimport lowest_bit32
from core.native.clock cimport clock_now
from core.native.rng cimport mix64
from ugolki.rules cimport (
    AT_DISTANCE, DISTANCE, MAX_MOVES, NOBODY, PASS_MOVE, SEATS, Board, Move, Position, generate,
    jump_targets, move_tuple, over, piece_key, steps_below, steps_beside
)

from core.errors import RuleError, TextError
from core.limits import SearchInfo

cdef extern from "ugolki/frozen/pool/solo.h" nogil:
    enum:
        POOL_HIDDEN
    ctypedef struct PoolSolo:
        int16_t rows[100][POOL_HIDDEN]
        int16_t bias[POOL_HIDDEN]
        int16_t output[POOL_HIDDEN]
        int16_t output_bias
    void pool_solo_sum(const PoolSolo* n, const uint8_t* cells, int count, int16_t* sums)
    int32_t pool_solo_moved(const PoolSolo* n, const int16_t* sums, int start, int end)

include "evaluate.pxi"
include "tree.pxi"
include "replies.pxi"
include "beams.pxi"

cdef enum:
    TRIPLES = 161_700       # C(100, 3)
    BLOCK_ONE = 16          # of the weight of blocking

cdef bint ready = False

SEARCHES = ("beam", "best reply", "paranoid", "max^n", "tree")


cdef take_tables():
    """The table of triples and the solo network, once for all players. Raises TextError."""
    global ready
    cdef int a, b, c, code, bit, column, row, number
    cdef const signed char* weight
    parts = []
    for name in ("triples.bin", "solo.bin"):
        with open(os.path.join(os.path.dirname(__file__), name), "rb") as file:
            parts.append(file.read().partition(b"\n\n")[2])
    if len(parts[0]) != TRIPLES or len(parts[1]) != sizeof(PoolSolo):
        raise TextError("the pool's triples.bin or solo.bin has another size")
    cdef bytes triples = parts[0]
    cdef bytes solo = parts[1]
    memcpy(&TABLES.solo, <const char*>solo, sizeof(PoolSolo))
    number = 0
    for b in range(CELLS):
        for a in range(b):
            TABLES.pair[a][b] = TABLES.pair[b][a] = <int16_t>number
            number += 1
    # a triple a < b < c has the number C(a, 1) + C(b, 2) + C(c, 3)
    weight = <const signed char*><const char*>triples
    for c in range(CELLS):
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
    fill_exponentials()
    ready = True


cdef void fill_cells(Evaluation* e, int linear, int square, int middle, int stay) noexcept:
    """For each cell linear * d + square * d * d, d being the steps to the square, in 64ths
    of a move; `middle` more in the middle of the board, `stay` less at home."""
    cdef int column, row, d
    for row in range(10):
        for column in range(10):
            d = max(0, 6 - column) + max(0, 6 - row)
            e.cell[10 * row + column] = linear * d + square * d * d
            if 3 <= column <= 6 and 3 <= row <= 6:
                e.cell[10 * row + column] += middle
            if column >= 1 and row >= 1 and column + row <= 4:
                e.cell[10 * row + column] -= stay


cdef class Player:
    """A player of the pool; it owns the memory of its search."""

    cdef object row
    cdef uint64_t seed
    cdef int search
    cdef Evaluation early, late
    cdef Tree* tree
    cdef Placement* kept[2]

    def __cinit__(self, row, uint64_t seed=0):
        cdef TreeStyle* style
        cdef int i
        if not ready:
            take_tables()
        self.row, self.seed = row, seed
        self.search = SEARCHES.index(row.search)
        fill_cells(&self.late, row.linear, row.square, row.middle, 0)
        fill_cells(&self.early, row.linear, row.square, row.middle, row.stay)
        self.late.triples = self.early.triples = row.triples
        self.late.solo = self.early.solo = row.solo
        if row.search == "beam":
            for i in range(2):
                self.kept[i] = <Placement*>malloc(row.width * sizeof(Placement))
                if self.kept[i] == NULL:
                    raise MemoryError
        if row.search != "tree":
            return
        self.tree = <Tree*>malloc(sizeof(Tree))
        if self.tree == NULL:
            raise MemoryError
        self.tree.nodes = <Node*>malloc(MOST_NODES * sizeof(Node))
        self.tree.edges = <Edge*>malloc(MOST_EDGES * sizeof(Edge))
        if self.tree.nodes == NULL or self.tree.edges == NULL:
            raise MemoryError
        style = &self.tree.style
        style.width = row.width
        style.exploration = row.exploration
        style.first_play = row.first_play
        style.prior = row.prior
        style.playout = row.playout
        style.playout_full = row.playout_full
        style.playout_noise = row.playout_noise
        for i in range(FARTHEST):
            # sharpness: a share e times smaller for each so many 64ths of a move
            style.sharp[i] = 64 * EXP_STEPS // (row.blur + row.blur_far * i)

    def __dealloc__(self):
        free(self.kept[0])
        free(self.kept[1])
        if self.tree != NULL:
            free(self.tree.nodes)
            free(self.tree.edges)
            free(self.tree)

    def choose(self, Position position, limits):
        """The best move by the player's row; see `core.rules.Searcher`.

        The player spends its part of the time, or of the nodes, that it is given. The score is in
        64ths of a move, a tree's the expected share of the win in thousandths. Raises RuleError
        when no piece can move.
        """
        cdef State root
        cdef Move moves[MAX_MOVES]
        cdef int32_t change[MAX_MOVES]
        cdef int32_t values[MAX_MOVES]
        cdef Evaluation* e = &self.late
        cdef double started = clock_now()
        cdef double deadline = 0
        cdef uint64_t nodes = 0
        cdef uint64_t spent = 1
        cdef uint64_t random = mix64(position.board.key ^ mix64(self.seed))
        cdef int count = generate(&position.board, position.board.ply & 3, moves)
        cdef int depth = 1
        cdef int best, i
        row = self.row
        if count == 0:
            raise RuleError("no piece can move")
        if position.board.ply < SEATS * row.stay_moves:
            e = &self.early
        take_position(e, &position.board, &root)
        changes(e, &root, root.board.ply & 3, moves, count, change)
        for i in range(count):
            values[i] = -change[i]
        if not over(&root.board) and count > 1:
            if limits.nodes is not None:
                nodes = max(1, <uint64_t>(limits.nodes * row.part))
            elif limits.deadline is not None:
                deadline = started + (limits.deadline - started) * row.part
            if row.most and (nodes == 0 or nodes > row.most):
                nodes = row.most
            if nodes == 0 and deadline == 0:
                nodes = row.default
            if row.search == "tree":
                spent = self.tree_values(e, &root, nodes, deadline, moves, count, values, random)
            elif row.search == "beam":
                spent, depth = self.beam_values(
                    e, &root, nodes, deadline, moves, change, count, values
                )
            else:
                spent, depth = self.reply_values(
                    e, &root, nodes, deadline, moves, change, count, values
                )
            if row.block:
                self.block(e, &root, moves, change, count, values)
            if row.noise:
                for i in range(count):
                    if values[i] != UNKNOWN:
                        values[i] += <int32_t>(chance(&random) % <uint32_t>row.noise)
        best = -1
        for i in range(count):
            if values[i] != UNKNOWN and (best < 0 or values[i] > values[best]):
                best = i
        move = move_tuple(moves[best])
        return SearchInfo(move, values[best], depth, spent, clock_now() - started, (move,))

    cdef uint64_t tree_values(
        self, Evaluation* e, const State* root, uint64_t nodes, double deadline, const Move* moves,
        int count, int32_t* values, uint64_t random
    ):
        """Thousandths of the visits of each move, while they differ, UNKNOWN of those that were
        not tried; returns the iterations."""
        cdef Tree* t = self.tree
        cdef uint64_t done
        cdef int32_t k
        cdef int i
        cdef const Edge* edge
        t.node_count = t.edge_count = 0
        t.random = random
        t.evaluation = e[0]
        expand(t, root)
        with nogil:
            done = tree_run(t, root, nodes if nodes else <uint64_t>1 << 40, deadline)
        for i in range(count):
            values[i] = UNKNOWN
            for k in range(t.nodes[0].count):
                edge = &t.edges[k]
                if edge.move == moves[i] and edge.visits:
                    values[i] = <int32_t>(1000 * <uint64_t>edge.visits // done) if (
                        self.row.noise
                    ) else <int32_t>edge.visits
        return done

    cdef beam_values(
        self, Evaluation* e, const State* root, uint64_t nodes, double deadline, const Move* moves,
        const int32_t* change, int count, int32_t* values
    ):
        """What each move leads to, UNKNOWN of those that lead to nothing good; nodes and own moves
        looked ahead."""
        cdef Beam b
        cdef int32_t found[MAX_MOVES]
        cdef int most = self.row.width
        cdef int depth = 1
        cdef int ahead
        b.kept[0], b.kept[1] = self.kept[0], self.kept[1]
        b.plies, b.moving, b.evaluation = self.row.plies, self.row.moving, e
        b.nodes, b.most, b.deadline, b.stopped = 0, nodes, deadline, False
        b.width = min(most, <int>BEAM_FIRST_WIDTH) if nodes or deadline else most
        while True:
            with nogil:
                ahead = beam_run(&b, root, moves, change, count, found)
            if ahead == 0:
                break
            memcpy(values, found, count * sizeof(int32_t))
            depth = ahead
            if b.width == most or b.stopped:
                break
            b.width = min(most, 3 * b.width)
        return b.nodes, depth

    cdef reply_values(
        self, Evaluation* e, const State* root, uint64_t nodes, double deadline, Move* moves,
        int32_t* change, int count, int32_t* values
    ):
        """What each move is worth after the last iteration, UNKNOWN of those not searched,
        the best first; nodes and depth."""
        cdef ReplySearch r
        cdef int32_t found[MAX_MOVES]
        cdef int depth, i, index, done = 1
        cdef bint exact = self.row.noise > 0 or self.row.block > 0
        cdef bint whole
        r.kind = self.search - 1
        r.root = root.board.ply & 3
        r.width, r.evaluation = self.row.width, e
        r.nodes, r.most, r.deadline, r.stopped = 0, 0, 0, False
        sort_moves(moves, change, values, count)
        for depth in range(1, min(<int>self.row.plies, <int>MOST_PLIES) + 1):
            if depth > 1:
                r.most, r.deadline = nodes, deadline
            with nogil:
                index = reply_iteration(&r, root, depth, moves, change, count, found, exact)
            if index < 0:
                break
            whole = not r.stopped
            for i in range(count):
                # a bound of an iteration that was broken off is worth less than its best move
                if i == index or (whole and exact):
                    values[i] = found[i]
                elif whole or not exact:
                    values[i] = UNKNOWN
            if not exact:
                self.bring_first(moves, change, values, index)
            if not whole:
                break
            done = depth
            if abs(found[index]) >= WON:
                break
        return r.nodes, done

    cdef bring_first(self, Move* moves, int32_t* change, int32_t* values, int index):
        """The best move leads the next iteration."""
        cdef Move move = moves[index]
        cdef int32_t own = change[index]
        cdef int32_t value = values[index]
        while index > 0:
            moves[index], change[index] = moves[index - 1], change[index - 1]
            values[index] = values[index - 1]
            index -= 1
        moves[0], change[0], values[0] = move, own, value

    cdef block(
        self, Evaluation* e, const State* root, const Move* moves, const int32_t* change, int count,
        int32_t* values
    ):
        """What leaves the leader a smaller gain is worth more."""
        cdef State child
        cdef Move replies[MAX_MOVES]
        cdef int32_t gains[MAX_MOVES]
        cdef int seat = root.board.ply & 3
        cdef int leader = -1
        cdef int other, i, k, n
        cdef int32_t best
        for other in range(SEATS):
            if other != seat and root.board.penalty[other] != NOBODY and (
                leader < 0 or root.cost[other] < root.cost[leader]
            ):
                leader = other
        if leader < 0:
            return
        for i in range(count):
            if values[i] == UNKNOWN or abs(values[i]) >= WON:
                continue
            child = root[0]
            carry(&child, seat, moves[i], change[i])
            n = generate(&child.board, leader, replies)
            changes(e, &child, leader, replies, n, gains)
            best = 0
            for k in range(n):
                best = min(best, gains[k])
            values[i] += best * <int32_t>self.row.block // BLOCK_ONE


cdef void sort_moves(Move* moves, int32_t* change, int32_t* values, int count) noexcept:
    """The best first, by change."""
    cdef int i, at
    cdef Move move
    cdef int32_t own
    for i in range(1, count):
        move, own, at = moves[i], change[i], i
        while at > 0 and change[at - 1] > own:
            moves[at], change[at] = moves[at - 1], change[at - 1]
            at -= 1
        moves[at], change[at] = move, own
    for i in range(count):
        values[i] = -change[i]
