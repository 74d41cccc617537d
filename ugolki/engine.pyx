"""The engine of Ugolki: Monte Carlo tree search over max^n values. The policy network says which
moves to try, the opponents' network which moves the others are likely to make (network.h); after a
playout in which everybody moves once, the value network says what the position is worth to whom.
Who has been seen to play by an opponent policy is expected to go on so. docs/experiments 008 to 010
and 016, 017 and 021 have what each part brought.
"""

import os
from _thread import start_new_thread    # what threading is made of; that costs milliseconds
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
    NETWORK_ACTIVE, NETWORK_HIDDEN, NETWORK_INPUTS, NETWORK_MOST_OUTPUT, NETWORK_MOST_ROW,
    SOLO_INPUTS, SOLO_NOBODY, SOLO_STEPS, Network, Sight, SoloNetwork, network_fill,
    network_inputs, network_logit, network_look, network_move, network_others, network_race,
    network_seen, network_shares, network_sum, solo_output, solo_sum
)
from ugolki.opponents.policies cimport LEVELS, Stop, policy_moves
from ugolki.rules cimport (
    AT_DISTANCE, DISTANCE, MAX_MOVES, NOBODY, PASS_MOVE, SEATS, Board, Move, Position, generate,
    jump_targets, make, move_tuple, over, steps_below, steps_beside
)

from core.engine import (
    CANDIDATES, EXPECTATION, FORGET, MULTIPV, OBSERVE, STOP, VISITS, Option, settled
)
from core.errors import RuleError, TextError
from core.limits import Limits, SearchInfo
from core.nn.sealed import resource, unseal
from ugolki.opponents.model import OpponentModel

BENCH_LIMITS = Limits(nodes=1000)
"""Of each search of the fingerprint."""

DEFAULT_ITERATIONS = 10_000
"""Where the limits give neither nodes nor a deadline."""

cdef enum:
    PLAYERS = SEATS
    LEARNING_PART = 4           # of a move's time, one part of so many
    # before the first report, whatever the deadline: less than a millisecond
    FIRST_ITERATIONS = 128
    # of the tree; with the edges about 63 MB, touched only as the tree grows
    MOST_NODES = 150_000
    MOST_EDGES = 3_000_000
    MOST_THREADS = 32
    PLAYOUT_PLIES = 4           # a move of everybody, before the networks judge
    PLAYOUT_NOISE = 8           # sixteenths of a step, uniform, on every move's gain; 17 at most
    MOST_GAIN = 512             # no single move gains or loses more cost
    ALONE = 12                  # moves that cost a player who is alone a factor of e
    # and by how many such factors a move that leads home sooner by one comes before another
    ALONE_PRIOR = 4

ctypedef Board State

THREADS = "QUARTET_THREADS"
"""The environment variable that says how many threads an engine has that is not told otherwise."""
WAIT = 0.0001
"""Seconds between two looks at whether the other threads have ended."""

cdef struct Networks:
    Network value
    Network policy
    Network opponents
    SoloNetwork solo


cdef struct Context:
    Networks networks
    int prior_percent           # of the policy network's logits
    int policy[LEVELS][SEATS]   # by which a seat's moves are predicted
    const bint* stopped         # whether somebody asked for the end


network_fill()


cdef bint within(const int16_t* numbers, int rows) noexcept:
    """Whether so many rows, bias and output weights, lying one after the other, are small enough
    for network.h's sums."""
    cdef int i
    for i in range((rows + 2) * NETWORK_HIDDEN):
        if abs(numbers[i]) > (
            NETWORK_MOST_ROW if i < (rows + 1) * NETWORK_HIDDEN else NETWORK_MOST_OUTPUT
        ):
            return False
    return True


cdef read_weights(bytes data, Networks* networks):
    """Take the networks of a file of weights. Raises TextError where it is damaged or for other
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
        raise TextError("the weights of Ugolki hold a number that is too great for the networks")
    memcpy(networks, found, sizeof(Networks))


# What the search kernel expects.

cdef inline int to_move(const Board* b) noexcept nogil:
    return b.ply & 3


cdef inline bint finished(const Board* b) noexcept nogil:
    return over(b)


cdef inline void move_weights(
    const void* context, const Board* b, int seat, bint ours, const Move* moves, int count,
    float* weights
) noexcept nogil:
    """The policy network's for us, the opponents' network's for the others, of the positions that
    the moves lead to."""
    cdef const Networks* networks = &(<const Context*>context).networks
    cdef const Network* network = &networks.policy if ours else &networks.opponents
    cdef int percent = (<const Context*>context).prior_percent if ours else 100
    cdef Sight sight
    cdef uint16_t inputs[NETWORK_ACTIVE]
    cdef int16_t sums[NETWORK_HIDDEN]
    cdef int16_t solo_sums[NETWORK_HIDDEN]
    cdef int16_t moved[NETWORK_HIDDEN]
    cdef int32_t outputs[MAX_MOVES]
    cdef int32_t others
    cdef int i, start, end
    network_look(&networks.solo, b.own, &sight)
    others = network_others(&sight, seat)
    network_inputs(&sight, seat, b.ply + 1, b.last_ply, inputs)
    network_sum(network.rows, network.bias, inputs, NETWORK_ACTIVE - 2, sums)
    solo_sum(&networks.solo, b.own[seat], seat, solo_sums)
    for i in range(count):
        start, end = network_seen[seat][moves[i] >> 8], network_seen[seat][moves[i] & 0xFF]
        network_move(solo_sums, networks.solo.rows[end], networks.solo.rows[start], moved)
        if others == SOLO_NOBODY:   # nobody is there whom the networks know
            outputs[i] = -ALONE_PRIOR * solo_output(&networks.solo, moved)
            continue
        network_race(solo_output(&networks.solo, moved), others, inputs)
        network_move(sums, network.rows[end], network.rows[start], moved)
        # in place: they begin as its bias
        network_sum(network.rows, moved, inputs, 2, moved)
        outputs[i] = network_logit(network, moved) * percent // 100
    network_shares(outputs, count, weights)


cdef int predict(
    const void* context, const Board* b, int level, Move* found
) noexcept nogil:
    cdef const Context* ours = <const Context*>context
    return policy_moves(ours.policy[level][b.ply & 3], level, b, found, ours.stopped)


cdef inline int noise(uint64_t* random) noexcept nogil:
    """Uniform below PLAYOUT_NOISE: Knuth's MMIX generator, whose high bits are good enough."""
    random[0] = random[0] * <uint64_t>6364136223846793005 + <uint64_t>1442695040888963407
    return <int>((random[0] >> 33) % PLAYOUT_NOISE)


cdef inline Move greedy_move(const Board* b, uint64_t* random) noexcept nogil:
    """The move of the greatest gain, give or take the noise; PASS_MOVE where the seat is stuck.

    The noise is less than any step is worth: of a piece only the moves that lead it nearest count,
    and moves that lead no piece nearer only where there are no others.
    """
    cdef Move moves[MAX_MOVES]
    cdef Move best = PASS_MOVE
    cdef int best_value = -MOST_GAIN
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


cdef inline void playout(Board* b, uint64_t* random) noexcept nogil:
    """Everybody takes the greatest gain once, give or take the noise."""
    cdef int _ply
    for _ply in range(PLAYOUT_PLIES):
        if over(b):
            return
        make(b, greedy_move(b, random))


cdef inline void win_shares(const void* context, const Board* b, float* shares) noexcept nogil:
    """Where the game is over, 1 divided among the lowest penalties; before, as the value network
    sees it.

    A player who is alone has nobody to share with: what counts is to be home soon, in proportion to
    e^(-moves / ALONE).
    """
    cdef const Networks* networks = &(<const Context*>context).networks
    cdef Sight sight
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
        network_look(&networks.solo, b.own, &sight)
        if players == 1:
            seat = playing[0]
            steps = SOLO_STEPS * (b.ply // 4) + (
                0 if least == 0 else max(SOLO_STEPS, sight.solo[seat])
            )
            outputs[0] = 0
            outputs[1] = -steps // ALONE
            network_shares(outputs, 2, found)
            shares[seat] = found[1]
            return
        for i in range(players):
            network_inputs(&sight, playing[i], b.ply, b.last_ply, inputs)
            network_sum(networks.value.rows, networks.value.bias, inputs, NETWORK_ACTIVE, sums)
            outputs[i] = network_logit(&networks.value, sums)
        network_shares(outputs, players, found)
    for i in range(players):
        total += found[i]
    for i in range(players):
        shares[playing[i]] = found[i] / total


include "maxn_mcts.pxi"


cdef class Engine:
    """Chooses moves; it owns the tree, which it makes anew for every choice."""

    CAPABILITIES = frozenset({STOP, FORGET, OBSERVE, CANDIDATES, VISITS, EXPECTATION, MULTIPV})
    SCORE_UNIT = "expected share of the win in thousandths"
    OPTIONS = (
        Option("weights", str, "", "file of weights"),
        Option("exploration", float, 0.6, "PUCT: what a prior is multiplied by", 0, 100),
        Option(
            "first_play", float, 0.8,
            "value of a move that was never tried, as a part of its position's", 0, 10
        ),
        # what learns from a search's choices is too sure of them
        Option("prior_percent", int, 40, "percent of the policy network's logits", 0, 1000),
        Option("model", bool, True, "whether it learns how the others play"),
        Option(
            "threads", int, 0,
            "of a search; 0: one by nodes, by the clock QUARTET_THREADS, or else one for each core",
            0, MOST_THREADS
        ),
    )

    cdef MctsTree* tree
    cdef Board root             # of the tree
    cdef Context* context
    cdef Stop stopping          # says what `tree.stopped` says, where the tree does not go
    cdef bint learning          # whether it learns how the others play
    cdef int threads            # of a search; 0: as many as there are cores, if it is by the clock
    cdef int32_t helping        # threads that search beside the one that was asked
    cdef readonly object opponents  # OpponentModel

    def __cinit__(self, **options):
        settings = settled(Engine.OPTIONS, options)
        self.context = <Context*>malloc(sizeof(Context))
        self.tree = mcts_new(MOST_NODES, MOST_EDGES)
        if self.tree == NULL or self.context == NULL:
            raise MemoryError
        weights = settings["weights"]
        if weights == "":
            weights = os.path.join(os.path.dirname(__file__), "nn", "weights.bin")
        read_weights(
            resource(weights) if isinstance(weights, str) else weights, &self.context.networks
        )
        self.context.prior_percent = settings["prior_percent"]
        self.learning = settings["model"]
        self.threads = settings["threads"]
        self.stopping = Stop()
        self.context.stopped = &self.stopping.asked
        self.tree.context = self.context
        self.tree.predict = predict
        self.tree.exploration = settings["exploration"]
        self.tree.first_play = settings["first_play"]
        self.opponents = OpponentModel()

    def __dealloc__(self):
        mcts_free(self.tree)
        free(self.context)

    def observe(self, Position position, move):
        """Somebody else made this move. What it tells of its player is found out at our next
        choice: then the time for it is ours."""
        if self.learning:
            self.opponents.observe(position, move)

    def forget(self):
        """Begin a new game: the others may be others."""
        self.opponents = OpponentModel()

    def stop(self):
        """End the search that runs in another thread; it returns what it has found."""
        put_i32(&self.tree.stopped, True)
        self.stopping.asked = True

    def choose(self, Position position, limits, report=None):
        """The most visited move. See `core.engine.Engine`.

        `report` is called with a first outcome within a millisecond and whenever a better move is
        found. Nodes are iterations, the score is the expected share of the win in thousandths, and
        the depth is the length of the principal variation; `limits.depth` is no bound for a tree
        search. The first 128 iterations are made whatever the deadline; what is not learned of the
        others when the search is stopped is lost. One thread gives the same answer for the same
        nodes, several do not. Where the game is over (a judge that plays on), the move that leaves
        the least cost. Raises RuleError when no piece can move.
        """
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
        self.opponents.see(position)
        self.root = root
        tree.node_count = 0
        if over(&root):
            return final_move(&root, moves, count)
        if count == 1:
            most = 1
        elif limits.nodes is not None:
            most = limits.nodes
        put_i32(&tree.stopped, False)
        self.stopping.asked = False
        done = self.first_iterations(most, limits)
        reported = []
        if self.opponents.observed and (deadline == 0 or clock_now() < deadline):
            if report is not None:
                for line in self.lines(wanted, done, started):
                    report(line)
            self.learn(0 if deadline == 0 else started + (deadline - started) / LEARNING_PART)
            done = self.first_iterations(most, limits)
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
                if chunk == 0:      # the others are at the last iterations
                    sleep(WAIT)
                done = peek_u64(&tree.done)
        finally:
            put_i32(&tree.stopped, True)    # who still searches is not waited for

    def candidates(self):
        """What the last search thinks of each move, the most visited first; nothing where it needed
        none. See `core.engine.Capable`.

        Under "share" what the mover may expect of the win, under "order" the seats as they are
        expected to finish, under "penalty" what is left of the mover's: both by the mean over all
        positions where the tree ends, as often as each was visited.
        """
        cdef MctsTree* tree = self.tree
        cdef MctsEdge* edge
        cdef double costs[PLAYERS]
        cdef double penalties[PLAYERS]
        cdef int32_t i
        rows = []
        self.rest()
        if tree.node_count == 0:
            return rows
        for i in range(tree.nodes[0].first, tree.nodes[0].first + tree.nodes[0].count):
            edge = &tree.edges[i]
            if edge.visits == 0:
                continue
            costs[:] = [0, 0, 0, 0]
            penalties[:] = [0, 0, 0, 0]
            add_ends(tree, &self.root, edge, costs, penalties)
            playing = [seat for seat in range(PLAYERS) if self.root.penalty[seat] != NOBODY]
            rows.append({
                "move": move_tuple(edge.move),
                "visits": edge.visits,
                "share": edge.total / edge.visits,
                "order": " ".join(map(str, sorted(playing, key=lambda seat: costs[seat]))),
                "penalty": penalties[self.root.ply & 3] / edge.visits,
            })
        return sorted(rows, key=lambda row: (-row["visits"], -row["share"]))

    def expectation(self):
        """Every seat's share of the win as the last search saw it, adding up to 1; None where it
        needed no tree."""
        cdef MctsTree* tree = self.tree
        cdef int seat
        self.rest()
        if tree.node_count == 0:
            return None
        return tuple([mcts_share(tree, seat) for seat in range(PLAYERS)])

    def visits(self):
        """How often the last search tried each move, the most first, without those it never
        tried."""
        cdef MctsTree* tree = self.tree
        cdef int32_t i
        self.rest()
        if tree.node_count == 0:
            return []
        tried = [
            (tree.edges[i].visits, move_tuple(tree.edges[i].move))
            for i in range(tree.nodes[0].first, tree.nodes[0].first + tree.nodes[0].count)
            if tree.edges[i].visits
        ]
        return [(move, count) for count, move in sorted(tried, reverse=True)]

    def prediction(self, Position position):
        """How likely somebody of whom nothing is known makes each of the moves there are: what the
        opponents' network says, as dict[Move, float]; nothing where no piece can move."""
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
        """The longest that the last search was kept from looking at the clock: seconds."""
        return self.tree.workers[0].stall

    cdef int thread_count(self, limits):
        """Threads for a search within these limits."""
        if self.threads > 0:
            return self.threads
        if limits.nodes is not None or limits.deadline is None:
            return 1    # the same answer every time
        text = os.environ.get(THREADS, "")
        return min(int(text) if text.isdecimal() and int(text) else cores_usable(), MOST_THREADS)

    cdef start_helpers(self, double deadline):
        """Have the tree's other threads search it as well; those that cannot be had are done
        without."""
        cdef int number
        for number in range(1, self.tree.threads):
            add_i32(&self.helping, 1, True)
            try:
                start_new_thread(help_search, (self, number, deadline))
            except RuntimeError:
                add_i32(&self.helping, -1, True)
                return

    cdef rest(self):
        """Wait until no thread searches any more; while a search goes on (whoever it reports to may
        ask), nothing is waited for."""
        while peek_i32(&self.tree.stopped) and peek_i32(&self.helping):
            sleep(WAIT)

    cdef uint64_t first_iterations(self, uint64_t most, limits):
        """Begin the tree with at most so many of them, by one thread; returns how many there
        were."""
        cdef int threads = self.thread_count(limits)
        cdef Board* root = &self.root
        cdef MctsTree* tree = self.tree
        cdef uint64_t done
        self.expect(root.ply & 3)
        with nogil:
            mcts_start(tree, root, root.key, threads)
            done = mcts_run(tree, 0, root, min(most, <uint64_t>FIRST_ITERATIONS), 0)
        return done

    cdef learn(self, double deadline):
        """Have the opponent model learn from what it has observed."""
        likelihoods = []
        for position, move in self.opponents.observed:
            shares = self.prediction(position)
            likelihoods.append(shares[move] if len(shares) > 1 else 0)
        self.opponents.learn(likelihoods, deadline, self.stopping)

    cdef expect(self, int own):
        """Have the tree of our own seat predict the others as the opponent model does."""
        cdef int seat, level
        self.tree.levels = LEVELS
        for level in range(LEVELS):
            for seat in range(SEATS):
                self.context.policy[level][seat], self.tree.confidence[level][seat] = (
                    (0, 0) if own == seat else self.opponents.expectation(seat, level)
                )

    cdef list best_edges(self, int wanted):
        """The root's edges that were visited most, the best first; one at least."""
        cdef MctsTree* tree = self.tree
        cdef int32_t i
        if wanted <= 1:
            return [mcts_best(tree, 0)]
        edges = [
            (-<int64_t>peek_u32(&tree.edges[i].visits), -peek_float(&tree.edges[i].total), i)
            for i in range(tree.nodes[0].first, tree.nodes[0].first + tree.nodes[0].count)
            if peek_u32(&tree.edges[i].visits)
        ]
        return [edge for _, _, edge in sorted(edges)[:wanted]] or [mcts_best(tree, 0)]

    cdef list lines(self, int wanted, uint64_t iterations, double started):
        """The best lines, by their ranks."""
        return [
            self.outcome(edge, rank, iterations, started)
            for rank, edge in enumerate(self.best_edges(wanted), start=1)
        ]

    cdef outcome(self, int32_t best, int rank, uint64_t iterations, double started):
        """The line that begins with an edge of the root."""
        cdef MctsTree* tree = self.tree
        cdef int score = <int>(
            1000 * peek_float(&tree.edges[best].total)
            / max(<uint32_t>1, peek_u32(&tree.edges[best].visits))
        )
        line = [move_tuple(tree.edges[best].move)]
        while acquire_i32(&tree.edges[best].child) > 0:
            best = mcts_best(tree, tree.edges[best].child)
            if peek_u32(&tree.edges[best].visits) == 0:
                break
            line.append(move_tuple(tree.edges[best].move))
        return SearchInfo(
            line[0], score, len(line), iterations, clock_now() - started, tuple(line), rank
        )


def help_search(Engine engine, int number, double deadline):
    """What another thread does: search the engine's tree as the thread of that number."""
    with nogil:
        mcts_run(engine.tree, number, &engine.root, <uint64_t>1 << 62, deadline)
        add_i32(&engine.helping, -1, True)


cdef void add_ends(
    const MctsTree* tree, const Board* before, const MctsEdge* edge, double* costs,
    double* penalties
) noexcept nogil:
    """Add up every seat's cost and penalty where the tree below the edge ends, each position as
    often as it was visited."""
    cdef Board board = before[0]
    cdef const MctsNode* node
    cdef int32_t i
    cdef int seat
    cdef uint32_t here = edge.visits
    make(&board, edge.move)
    if edge.child > 0:
        node = &tree.nodes[edge.child]
        for i in range(node.first, node.first + node.count):
            if tree.edges[i].visits:
                here -= tree.edges[i].visits
                add_ends(tree, &board, &tree.edges[i], costs, penalties)
    for seat in range(PLAYERS):
        if here and board.penalty[seat] != NOBODY:
            costs[seat] += here * <double>(cost(&board, seat))
            penalties[seat] += here * <double>board.penalty[seat]


cdef final_move(const Board* board, const Move* moves, int count):
    """The move after which the seat to move has the least cost."""
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
