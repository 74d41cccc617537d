"""The engine of Ugolki: Monte Carlo tree search with max^n values and neural networks."""

# The policy network gives the priors of our moves, the opponents' network those of the others.
# After a playout of one move per seat, the value network estimates the win shares. Gains of the
# parts: docs/experiments/008 (search, networks), 016 (threads), 017 and 021 (opponents' network),
# 025 (memory). A model of single opponents was removed: 026.

import os
from _thread import start_new_thread    # importing threading costs milliseconds
from time import sleep

from libc.stdint cimport int16_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from core.native.atomics cimport (
    acquire_i32, add_i32, peek_float, peek_i32, peek_u32, peek_u64, put_i32
)
from core.native.bits cimport lowest_bit32
from core.native.clock cimport clock_now
from core.native.cores cimport cores_usable
from ugolki.evaluate cimport cost, distance_cost, gain, nearest
from ugolki.nn.network cimport (
    NETWORK_ACTIVE, NETWORK_HIDDEN, NETWORK_INPUTS, NETWORK_MAX_OUTPUT, NETWORK_MAX_ROW,
    SOLO_INPUTS, SOLO_NOBODY, SOLO_STEPS, Network, BoardFeatures, network_fill,
    network_inputs, network_logit, network_features, network_move, network_others, network_race,
    network_seen, network_shares, network_sum, solo_output, solo_sum
)
from ugolki.rules cimport (
    AT_DISTANCE, DISTANCE, MAX_MOVES, NOBODY, PASS_MOVE, SEATS, Board, Move, Position, generate,
    jump_targets, make, move_tuple, over, steps_below, steps_beside
)

from core.engine import (
    CANDIDATES, EXPECTATION, MULTIPV, NEW_GAME, STOP, VISITS, Option, settled
)
from core.errors import RuleError, TextError
from core.limits import Limits, SearchInfo
from core.nn.sealed import resource, unseal

BENCH_LIMITS = Limits(nodes=1000)   # of each search of the fingerprint
DEFAULT_ITERATIONS = 10_000         # of a search without nodes and deadline

cdef enum:
    PLAYERS = SEATS
    # before the first report, whatever the deadline: less than a millisecond; not tuned
    FIRST_ITERATIONS = 128
    # bound of the tree: 168 MB, about 1.2 million iterations
    MAX_UNITS = 21_000_000
    MAX_THREADS = 32
    PLAYOUT_PLIES = 4           # one move per seat; 2 and 8 are weaker: docs/experiments/008
    # of each move's gain, in sixteenths of a step; at most 17. 2 makes no difference:
    # docs/experiments/008
    PLAYOUT_NOISE = 8
    MAX_GAIN = 512              # bound of a move's change of cost
    # a lone seat: its value is e^(-moves / ALONE), its policy e^(-ALONE_PRIOR * solo distance); not
    # tuned
    ALONE = 12
    ALONE_PRIOR = 4

ctypedef Board State

THREADS = "QUARTET_THREADS"     # environment variable: default number of threads
# seconds by which the other threads end before the first: a process lasts as long as its last
# thread, and a busy machine may leave that waiting for a core; not tuned
HELPERS_EARLY = 0.005
WAIT = 0.0001       # seconds between two checks whether the other threads have ended

cdef struct Context:
    Networks networks
    int prior_percent           # of the policy network's logits


network_fill()


cdef bint within(const int16_t* numbers, int rows) noexcept:
    """Return true if `rows` rows, the bias and the output weights, which are contiguous, are small
    enough for network.h's accumulators."""
    cdef int i
    for i in range((rows + 2) * NETWORK_HIDDEN):
        if abs(numbers[i]) > (
            NETWORK_MAX_ROW if i < (rows + 1) * NETWORK_HIDDEN else NETWORK_MAX_OUTPUT
        ):
            return False
    return True


cdef read_weights(bytes data, Networks* networks):
    """Read the networks of a weight file. Raises TextError if it is damaged, or for other
    networks."""
    cdef const Networks* found
    cdef bytes body = unseal("weights", data, "ugolki")[1]
    if len(body) != sizeof(Networks):
        raise TextError(f"the weights of Ugolki take {sizeof(Networks)} bytes, not {len(body)}")
    found = <const Networks*><const char*>body
    if not (
        within(&found.value.rows[0][0], NETWORK_INPUTS)
        and within(&found.policy.rows[0][0], NETWORK_INPUTS)
        and within(&found.opponents.rows[0][0], NETWORK_INPUTS)
        and within(&found.solo.rows[0][0], SOLO_INPUTS)
    ):
        raise TextError("a weight of Ugolki is too great for the networks")
    memcpy(networks, found, sizeof(Networks))


# Interface of the search kernel, see maxn_mcts.pxi.

cdef inline int to_move(const Board* b) noexcept nogil:
    return b.ply & 3


cdef inline bint finished(const Board* b) noexcept nogil:
    return over(b)


cdef inline void move_weights(
    const void* context, const Board* b, int seat, bint ours, const Move* moves, int count,
    float* weights
) noexcept nogil:
    """Write the softmax of the policy network (ours) or the opponents' network over the moves."""
    cdef const Networks* networks = &(<const Context*>context).networks
    cdef int32_t logits[MAX_MOVES]
    move_logits(
        networks, &networks.policy if ours else &networks.opponents,
        (<const Context*>context).prior_percent if ours else 100, b, seat, moves, count, logits
    )
    network_shares(logits, count, weights)


cdef void move_logits(
    const Networks* networks, const Network* network, int percent, const Board* b, int seat,
    const Move* moves, int count, int32_t* logits
) noexcept nogil:
    """Compute the network's logit of each move of a seat, times percent / 100, in steps."""
    cdef BoardFeatures board_features
    cdef uint16_t inputs[NETWORK_ACTIVE]
    cdef int16_t sums[NETWORK_HIDDEN]
    cdef int16_t solo_sums[NETWORK_HIDDEN]
    cdef int16_t moved[NETWORK_HIDDEN]
    cdef int32_t others
    cdef int i, start, end
    network_features(&networks.solo, b.own, &board_features)
    others = network_others(&board_features, seat)
    network_inputs(&board_features, seat, b.ply + 1, b.last_ply, inputs)
    network_sum(network.rows, network.bias, inputs, NETWORK_ACTIVE - 2, sums)
    solo_sum(&networks.solo, b.own[seat], seat, solo_sums)
    for i in range(count):
        start, end = network_seen[seat][moves[i] >> 8], network_seen[seat][moves[i] & 0xFF]
        network_move(solo_sums, networks.solo.rows[end], networks.solo.rows[start], moved)
        if others == SOLO_NOBODY:   # no opponent, which the networks do not know
            logits[i] = -ALONE_PRIOR * solo_output(&networks.solo, moved)
            continue
        network_race(solo_output(&networks.solo, moved), others, inputs)
        network_move(sums, network.rows[end], network.rows[start], moved)
        # in place, with itself as the bias
        network_sum(network.rows, moved, inputs, 2, moved)
        logits[i] = network_logit(network, moved) * percent // 100


cdef inline int noise(uint64_t* random) noexcept nogil:
    """Return a uniform number below PLAYOUT_NOISE: Knuth's MMIX generator (its high bits)."""
    random[0] = random[0] * <uint64_t>6364136223846793005 + <uint64_t>1442695040888963407
    return <int>((random[0] >> 33) % PLAYOUT_NOISE)


cdef inline Move greedy_move(const Board* b, uint64_t* random) noexcept nogil:
    """Return the move of the greatest gain plus noise; PASS_MOVE if the seat has no move.

    The noise is less than the value of a step. So only the moves that bring a piece nearest count;
    moves that bring no piece nearer count only if there are no others.
    """
    cdef Move moves[MAX_MOVES]
    cdef Move best = PASS_MOVE
    cdef int best_value = -MAX_GAIN
    cdef int k, i, count, start, d, near, value, noisy
    cdef uint32_t pieces, piece, jumps, ends[3]
    cdef int seat = b.ply & 3
    for k in range(4):
        pieces = b.own[seat][k]
        while pieces:
            piece = pieces & (0 - pieces)
            pieces ^= piece
            start = k << 5 | lowest_bit32(piece)
            d = DISTANCE[seat][start]
            if d == 0 or distance_cost(d) + PLAYOUT_NOISE <= best_value + 1:
                continue
            jumps = jump_targets(b, k, piece)
            near = nearest(seat, k, jumps, d - 1)
            value = distance_cost(d) - distance_cost(near)
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
                    noisy = value + noise(random)
                    if noisy > best_value:
                        best_value = noisy
                        best = <Move>(start << 8 | (k ^ i) << 5 | lowest_bit32(ends[i]))
                    ends[i] &= ends[i] - 1
    if best != PASS_MOVE:
        return best
    count = generate(b, seat, moves)
    for i in range(count):
        value = gain(seat, moves[i]) + noise(random)
        if value > best_value:
            best, best_value = moves[i], value
    return best


cdef void playout(Board* b, uint64_t* random) noexcept nogil:
    """Play PLAYOUT_PLIES noisy greedy plies."""
    cdef int _ply
    for _ply in range(PLAYOUT_PLIES):
        if over(b):
            return
        make(b, greedy_move(b, random))


cdef inline void win_shares(const void* context, const Board* b, float* shares) noexcept nogil:
    expected_shares(&(<const Context*>context).networks, b, shares)


cdef void expected_shares(const Networks* networks, const Board* b, float* shares) noexcept nogil:
    """Write the win shares: exact if the game is over (ties share), else the value network's.

    A lone player has no one to share with; its number is e^(-moves / ALONE), to get home early.
    """
    cdef BoardFeatures board_features
    cdef uint16_t inputs[NETWORK_ACTIVE]
    cdef int16_t sums[NETWORK_HIDDEN]
    cdef int32_t outputs[PLAYERS]
    cdef float found[PLAYERS]
    cdef int playing[PLAYERS]
    cdef int seat, i, steps
    cdef int players = 0
    cdef int least = 1 << 20
    cdef float total = 0
    for seat in range(PLAYERS):
        shares[seat] = 0
        if b.penalty[seat] != NOBODY:
            playing[players] = seat
            players += 1
            least = min(least, b.penalty[seat])
    if players > 1 and over(b):
        for i in range(players):
            found[i] = 1 if b.penalty[playing[i]] == least else 0
    else:
        network_features(&networks.solo, b.own, &board_features)
        if players == 1:
            seat = playing[0]
            steps = SOLO_STEPS * (b.ply // 4) + (
                0 if least == 0 else max(SOLO_STEPS, board_features.solo[seat])
            )
            outputs[0] = 0
            outputs[1] = -steps // ALONE
            network_shares(outputs, 2, found)
            shares[seat] = found[1]
            return
        for i in range(players):
            network_inputs(&board_features, playing[i], b.ply, b.last_ply, inputs)
            network_sum(networks.value.rows, networks.value.bias, inputs, NETWORK_ACTIVE, sums)
            outputs[i] = network_logit(&networks.value, sums)
        network_shares(outputs, players, found)
    for i in range(players):
        total += found[i]
    for i in range(players):
        shares[playing[i]] = found[i] / total


include "maxn_mcts.pxi"


cdef class Engine:
    """See engine.pyi."""

    CAPABILITIES = frozenset({STOP, NEW_GAME, CANDIDATES, VISITS, EXPECTATION, MULTIPV})
    SCORE_UNIT = "expected win share in thousandths"
    OPTIONS = (
        Option("weights", str, "", "file of the networks' weights [default: the package's own]"),
        # docs/experiments/008
        Option("exploration", float, 0.6, "PUCT: factor of the priors", 0, 100),
        Option(
            "first_play", float, 0.8,
            "PUCT: value of an untried move, as a part of its position's mean", 0, 10
        ),
        # a network that learns from a search's choices is overconfident
        Option("prior_percent", int, 40, "percent of the policy logits: less is flatter", 0, 1000),
        Option("model", bool, False, "has no effect; older commands may have it"),
        Option(
            "threads", int, 0,
            "threads per search; 0: 1 at a node limit; if timed, QUARTET_THREADS, or one per core",
            0, MAX_THREADS
        ),
    )

    cdef MctsTree* tree
    cdef Board root             # of the tree
    cdef Context* context
    cdef int threads            # option threads
    cdef int32_t helping        # number of running threads besides the calling one

    def __cinit__(self, **options):
        settings = settled(Engine.OPTIONS, options)
        self.context = <Context*>malloc(sizeof(Context))
        self.tree = mcts_new(MAX_UNITS)
        if self.tree == NULL or self.context == NULL:
            raise MemoryError
        weights = settings["weights"]
        if weights == "":
            weights = os.path.join(os.path.dirname(__file__), "nn", "weights.bin")
        read_weights(
            resource(weights) if isinstance(weights, str) else weights, &self.context.networks
        )
        self.context.prior_percent = settings["prior_percent"]
        self.threads = settings["threads"]
        self.tree.context = self.context
        self.tree.exploration = settings["exploration"]
        self.tree.first_play = settings["first_play"]

    def __dealloc__(self):
        mcts_free(self.tree)
        free(self.context)

    def new_game(self):
        # see engine.pyi
        self.rest()
        self.tree.node_count = 0

    def stop(self):
        # see engine.pyi
        put_i32(&self.tree.stopped, True)

    def choose(self, Position position, limits, report=None):
        # A few iterations, and a first report. Then iterate in chunks, on all threads, and report
        # each change of the best lines.
        cdef MctsTree* tree = self.tree
        cdef Board root = position.board
        cdef Move moves[MAX_MOVES]
        cdef double started = clock_now()
        cdef double deadline = 0 if limits.deadline is None else limits.deadline
        cdef uint64_t most = DEFAULT_ITERATIONS if limits.deadline is None else <uint64_t>1 << 40
        cdef uint64_t done, chunk
        cdef int wanted = limits.multipv
        cdef int count = generate(&root, root.ply & 3, moves)
        if count == 0:
            raise RuleError("no piece can move")
        self.rest()
        self.root = root
        tree.node_count = 0
        if over(&root):
            return final_move(&root, moves, count)
        if count == 1:
            most = 1
        elif limits.nodes is not None:
            most = limits.nodes
        put_i32(&tree.stopped, False)
        done = self.first_iterations(most, limits)
        reported = []
        tree.most = most
        tree.late = 0 if limits.late is None else limits.late
        tree.workers[0].deadline = deadline
        try:
            if deadline == 0 or clock_now() < deadline:
                self.start_helpers(deadline)
            while True:
                over_now = done >= most or mcts_ended(tree, &tree.workers[0])
                best = self.best_edges(wanted)
                if report is not None and (best != reported or over_now and wanted > 1):
                    for line in self.lines(wanted, done, started):
                        report(line)
                    reported = best
                if over_now:
                    return self.lines(1, done, started)[0]
                chunk = min(most - done, done, <uint64_t>4096)
                with nogil:
                    chunk = mcts_run(tree, 0, &root, chunk, deadline)
                if chunk == 0:      # other threads make the last iterations
                    sleep(WAIT)
                done = peek_u64(&tree.done)
        finally:
            put_i32(&tree.stopped, True)    # the other threads end by themselves

    def candidates(self):
        # costs and penalties: means over all leaves below the move, weighted by visits
        cdef MctsTree* tree = self.tree
        cdef TreeNode* node = mcts_node(tree, 0)
        cdef double costs[PLAYERS]
        cdef double penalties[PLAYERS]
        cdef int i
        rows = []
        self.rest()
        if tree.node_count == 0:
            return rows
        for i in range(node.count):
            if mcts_visits(node, i) == 0:
                continue
            costs[:] = [0, 0, 0, 0]
            penalties[:] = [0, 0, 0, 0]
            add_ends(tree, &self.root, node, i, costs, penalties)
            playing = [seat for seat in range(PLAYERS) if self.root.penalty[seat] != NOBODY]
            rows.append({
                "move": move_tuple(mcts_move(node, i)),
                "visits": mcts_visits(node, i),
                "share": mcts_total(node, i) / mcts_visits(node, i),
                "order": " ".join(map(str, sorted(playing, key=lambda seat: costs[seat]))),
                "penalty": penalties[self.root.ply & 3] / mcts_visits(node, i),
            })
        return sorted(rows, key=lambda row: (-row["visits"], -row["share"]))

    def expectation(self):
        # see engine.pyi
        cdef MctsTree* tree = self.tree
        cdef int seat
        self.rest()
        if tree.node_count == 0:
            return None
        return tuple([mcts_share(tree, seat) for seat in range(PLAYERS)])

    def visits(self):
        # see engine.pyi
        cdef MctsTree* tree = self.tree
        cdef TreeNode* node = mcts_node(tree, 0)
        cdef int i
        self.rest()
        if tree.node_count == 0:
            return []
        tried = [
            (mcts_visits(node, i), move_tuple(mcts_move(node, i)))
            for i in range(node.count)
            if mcts_visits(node, i)
        ]
        return [(move, count) for count, move in sorted(tried, reverse=True)]

    def prediction(self, Position position):
        # see engine.pyi
        cdef const Board* board = &position.board
        cdef Move moves[MAX_MOVES]
        cdef float weights[MAX_MOVES]
        cdef int seat = board.ply & 3
        cdef int count = generate(board, seat, moves)
        cdef int i
        cdef double total = 0
        if count == 0:
            return {}
        move_weights(self.context, board, seat, False, moves, count, weights)
        for i in range(count):
            total += weights[i]
        return {move_tuple(moves[i]): weights[i] / total for i in range(count)}

    @property
    def stall(self):
        # see engine.pyi
        return self.tree.workers[0].stall

    cdef int thread_count(self, limits):
        """Return the number of threads for a search within these limits."""
        if self.threads > 0:
            return self.threads
        if limits.nodes is not None or limits.deadline is None:
            return 1    # deterministic
        text = os.environ.get(THREADS, "")
        return min(int(text) if text.isdecimal() and int(text) else cores_usable(), MAX_THREADS)

    cdef start_helpers(self, double deadline):
        """Start the tree's other threads; continue without those that cannot be started."""
        cdef int number
        for number in range(1, self.tree.threads):
            add_i32(&self.helping, 1, True)
            try:
                start_new_thread(
                    help_search, (self, number, deadline - HELPERS_EARLY if deadline > 0 else 0)
                )
            except RuntimeError:
                add_i32(&self.helping, -1, True)
                return

    cdef rest(self):
        """Wait until no thread searches. During a search (its reports may call this), do not
        wait."""
        while peek_i32(&self.tree.stopped) and peek_i32(&self.helping):
            sleep(WAIT)

    cdef uint64_t first_iterations(self, uint64_t most, limits):
        """Restart the tree, make the first iterations in one thread, and return their number."""
        cdef int threads = self.thread_count(limits)
        cdef Board* root = &self.root
        cdef MctsTree* tree = self.tree
        cdef uint64_t done
        with nogil:
            mcts_start(tree, root, root.key, threads)
            done = mcts_run(tree, 0, root, min(most, <uint64_t>FIRST_ITERATIONS), 0)
        return done

    cdef list best_edges(self, int wanted):
        """Return the most visited edges of the root, the best first; at least one."""
        cdef TreeNode* node = mcts_node(self.tree, 0)
        cdef int i
        if wanted <= 1:
            return [mcts_best(node)]
        edges = [
            (-<int64_t>mcts_visits(node, i), -mcts_total(node, i), i)
            for i in range(node.count)
            if mcts_visits(node, i)
        ]
        return [edge for _, _, edge in sorted(edges)[:wanted]] or [mcts_best(node)]

    cdef list lines(self, int wanted, uint64_t iterations, double started):
        """Return the best lines, by rank."""
        return [
            self.outcome(edge, rank, iterations, started)
            for rank, edge in enumerate(self.best_edges(wanted), start=1)
        ]

    cdef outcome(self, int edge, int rank, uint64_t iterations, double started):
        """Return the line that begins with an edge of the root."""
        cdef TreeNode* node = mcts_node(self.tree, 0)
        cdef uint32_t visits = mcts_visits(node, edge)
        cdef int score = <int>(1000 * mcts_total(node, edge) / max(<uint32_t>1, visits))
        line = [move_tuple(mcts_move(node, edge))]
        while mcts_child(node, edge) > 0:
            node = mcts_node(self.tree, mcts_child(node, edge))
            edge = mcts_best(node)
            if mcts_visits(node, edge) == 0:
                break
            line.append(move_tuple(mcts_move(node, edge)))
        return SearchInfo(
            line[0], score, len(line), iterations, clock_now() - started, tuple(line), rank, visits
        )


def help_search(Engine engine, int number, double deadline):
    """Search an engine's tree as thread `number`."""
    with nogil:
        mcts_run(engine.tree, number, &engine.root, <uint64_t>1 << 62, deadline)
        add_i32(&engine.helping, -1, True)


cdef void add_ends(
    const MctsTree* tree, const Board* before, const TreeNode* node, int edge, double* costs,
    double* penalties
) noexcept nogil:
    """Add each seat's costs and penalties at the leaves below an edge, weighted by visits."""
    cdef Board board = before[0]
    cdef const TreeNode* child
    cdef int i, seat
    cdef uint32_t here = mcts_visits(node, edge)
    make(&board, mcts_move(node, edge))
    if mcts_child(node, edge) > 0:
        child = mcts_node(tree, mcts_child(node, edge))
        for i in range(child.count):
            if mcts_visits(child, i):
                here -= mcts_visits(child, i)
                add_ends(tree, &board, child, i, costs, penalties)
    for seat in range(PLAYERS):
        if here and board.penalty[seat] != NOBODY:
            costs[seat] += here * <double>(cost(&board, seat))
            penalties[seat] += here * <double>board.penalty[seat]


cdef final_move(const Board* board, const Move* moves, int count):
    """Return the move after which the seat to move has the least cost."""
    cdef int seat = board.ply & 3
    cdef int i
    cdef int best = 0
    cdef Board child = board[0]
    for i in range(1, count):
        if gain(seat, moves[i]) > gain(seat, moves[best]):
            best = i
    make(&child, moves[best])
    move = move_tuple(moves[best])
    return SearchInfo(move, -cost(&child, seat), 1, count, 0.0, (move,))
