"""A frozen opponent: the bot of November 2026, Monte Carlo tree search over max^n values with
networks of its own and a model of the other players. It must not improve any more.

The policy network says which moves to try (network.h), and of the others' moves prior.pxi as well;
after a playout in which everybody moves once, the value network says what the position is worth to
whom. Who has been seen to play by a recipe is expected to go on so.
"""

import os

from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from core.native.bits cimport lowest_bit32
from core.native.clock cimport clock_now
from ugolki.rules cimport (
    DISTANCE, MAX_MOVES, NOBODY, PASS_MOVE, SEATS, Board, Move, Position, generate, make,
    move_piece, move_tuple, over
)

from core.errors import RuleError, TextError
from core.limits import SearchInfo
from ugolki.frozen.bot2611.beliefs import Habits

include "network.pxi"
include "evaluate.pxi"
include "prior.pxi"
include "policies.pxi"

DEFAULT_ITERATIONS = 10_000
"""Where the limits give neither nodes nor a deadline."""

cdef enum:
    PLAYERS = SEATS
    LEARNING_ITERATIONS = 100   # to see what a stranger would do
    LEARNING_PART = 4           # of a move's time, one part of so many
    # before the first report, whatever the deadline: less than a millisecond
    FIRST_ITERATIONS = 128
    # of the tree; with the edges about 63 MB, touched only as the tree grows
    MOST_NODES = 150_000
    MOST_EDGES = 3_000_000
    PLAYOUT_PLIES = 4           # a move of everybody, before the networks judge
    PLAYOUT_NOISE = 8           # sixteenths of a step, uniform, on every move's gain
    MOST_GAIN = 512             # no single move gains or loses more cost
    # of the policy network's logits: what learns from a search's choices is too sure of them
    PRIOR_PERCENT = 40
    ALONE = 12                  # moves that cost a player who is alone a factor of e
    # and by how many such factors a move that leads home sooner by one comes before another
    ALONE_PRIOR = 4

cdef float EXPLORATION = 0.6
cdef float FIRST_PLAY = 0.8

ctypedef Board State

cdef struct Opponents:
    int recipe[LOOKS][SEATS]    # of those who are trusted to follow one


cdef struct Networks:
    Network value
    Network policy
    SoloNetwork solo

cdef Networks NETWORKS
cdef bint ready = False


network_fill()


cdef read_weights():
    """Take the networks of weights.bin, once for all players of this name. Raises TextError."""
    global ready
    with open(os.path.join(os.path.dirname(__file__), "weights.bin"), "rb") as file:
        body = file.read().partition(b"\n\n")[2]
    if len(body) != sizeof(Networks):
        raise TextError(f"the weights of bot2611 take {sizeof(Networks)} bytes, not {len(body)}")
    memcpy(&NETWORKS, <const char*>body, sizeof(Networks))
    ready = True


# What the search kernel expects.

cdef inline int to_move(const Board* b) noexcept nogil:
    return b.ply & 3


cdef inline bint finished(const Board* b) noexcept nogil:
    return over(b)


cdef inline void move_weights(
    const Board* b, int seat, bint ours, const Move* moves, int count, float* weights
) noexcept nogil:
    """The policy network's, of the positions that the moves lead to. Another player may be one like
    us, or like most: half and half."""
    cdef Sight sight
    cdef uint16_t inputs[NETWORK_ACTIVE]
    cdef int16_t sums[NETWORK_HIDDEN]
    cdef int16_t solo_sums[NETWORK_HIDDEN]
    cdef int16_t moved[NETWORK_HIDDEN]
    cdef int32_t outputs[MAX_MOVES]
    cdef int now[MAX_MOVES]
    cdef int next[MAX_MOVES]
    cdef float likely[MAX_MOVES]
    cdef float total = 0, likely_total = 0
    cdef int32_t others
    cdef int i, start, end
    network_look(&NETWORKS.solo, b.own, &sight)
    others = network_others(&sight, seat)
    network_inputs(&sight, seat, b.ply + 1, b.last_ply, inputs)
    network_sum(NETWORKS.policy.rows, NETWORKS.policy.bias, inputs, NETWORK_ACTIVE - 2, sums)
    solo_sum(&NETWORKS.solo, b.own[seat], seat, solo_sums)
    for i in range(count):
        start, end = network_seen[seat][moves[i] >> 8], network_seen[seat][moves[i] & 0xFF]
        network_move(solo_sums, NETWORKS.solo.rows[end], NETWORKS.solo.rows[start], moved)
        if others == SOLO_NOBODY:   # nobody is there whom the policy network knows
            outputs[i] = -ALONE_PRIOR * solo_output(&NETWORKS.solo, moved)
            continue
        network_race(solo_output(&NETWORKS.solo, moved), others, inputs)
        network_move(sums, NETWORKS.policy.rows[end], NETWORKS.policy.rows[start], moved)
        # in place: they begin as its bias
        network_sum(NETWORKS.policy.rows, moved, inputs, 2, moved)
        outputs[i] = network_logit(&NETWORKS.policy, moved) * PRIOR_PERCENT // 100
    network_shares(outputs, count, weights)
    if not ours:
        opponent_outlook(b, seat, moves, count, now, next)
        opponent_logits(now, next, count, outputs)
        network_shares(outputs, count, likely)
        for i in range(count):
            total += weights[i]
            likely_total += likely[i]
        for i in range(count):
            weights[i] = weights[i] / total + likely[i] / likely_total


cdef inline int foretell(
    Opponents* opponents, const Board* b, int look, Move* found
) noexcept nogil:
    return recipe_moves(opponents.recipe[look][b.ply & 3], look, b, found)


cdef inline void playout(Board* b, uint64_t* random) noexcept nogil:
    """Everybody takes the greatest gain once, give or take the noise."""
    cdef Move moves[MAX_MOVES]
    cdef Move best
    cdef int _ply, i, count, value, best_value
    for _ply in range(PLAYOUT_PLIES):
        if over(b):
            return
        count = generate(b, b.ply & 3, moves)
        best = PASS_MOVE
        best_value = -MOST_GAIN
        for i in range(count):
            # Knuth's MMIX generator; its high bits are good enough for breaking ties.
            random[0] = random[0] * <uint64_t>6364136223846793005 + <uint64_t>1442695040888963407
            value = gain(b.ply & 3, moves[i]) + <int>((random[0] >> 33) % PLAYOUT_NOISE)
            if value > best_value:
                best, best_value = moves[i], value
        make(b, best)


cdef inline void win_shares(const Board* b, float* shares) noexcept nogil:
    """Where the game is over, 1 divided among the lowest penalties; before, as the value network
    sees it.

    A player who is alone has nobody to share with: what counts is to be home soon, in proportion to
    e^(-moves / ALONE).
    """
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
        network_look(&NETWORKS.solo, b.own, &sight)
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
            network_sum(NETWORKS.value.rows, NETWORKS.value.bias, inputs, NETWORK_ACTIVE, sums)
            outputs[i] = network_logit(&NETWORKS.value, sums)
        network_shares(outputs, players, found)
    for i in range(players):
        total += found[i]
    for i in range(players):
        shares[playing[i]] = found[i] / total


include "maxn_mcts.pxi"


cdef class Bot2611:
    """The player `bot2611`; it owns the tree, which it makes anew for every choice."""

    CAPABILITIES = frozenset({"observe", "stop"})
    SCORE_UNIT = "expected share of the win in thousandths"

    cdef MctsTree* tree
    cdef Board root             # of the tree
    cdef bint stopped
    cdef Opponents opponents
    cdef list habits            # Habits, at each look, of each seat
    cdef list heard             # positions and moves of others, not learned from yet
    cdef int ply                # of the last position that was seen

    def __cinit__(self):
        if not ready:
            read_weights()
        self.tree = mcts_new(MOST_NODES, MOST_EDGES)
        if self.tree == NULL:
            raise MemoryError
        self.tree.opponents = &self.opponents
        self.tree.exploration = EXPLORATION
        self.tree.first_play = FIRST_PLAY
        self.forget()

    def __dealloc__(self):
        mcts_free(self.tree)

    def observe(self, Position position, move):
        """Somebody else made this move. What it tells of its player is found out at our next
        choice: then the time for it is ours."""
        self.forget_if_new(position)
        self.heard.append((position, tuple(move)))

    def stop(self):
        """End the search that runs in another thread; it returns what it has found."""
        self.stopped = True

    def choose(self, Position position, limits, report=None):
        """The most visited move. See `core.rules.Searcher`.

        `report` is called with a first outcome within a millisecond and whenever a better move is
        found. Nodes are iterations, the score is the expected share of the win in thousandths, and
        the depth is the length of the principal variation; `limits.depth` is no bound for a tree
        search. The first 128 iterations are made whatever the deadline. Where the game is over (a
        judge that plays on), the move that leaves the least cost. Raises RuleError when no piece
        can move.
        """
        cdef MctsTree* tree = self.tree
        cdef Board root = position.board
        cdef Move moves[MAX_MOVES]
        cdef double started = clock_now()
        cdef double deadline = 0 if limits.deadline is None else limits.deadline
        cdef uint64_t most = DEFAULT_ITERATIONS if limits.deadline is None else <uint64_t>1 << 40
        cdef uint64_t done, chunk
        cdef int32_t best, reported
        cdef int count = generate(&root, root.ply & 3, moves)
        if count == 0:
            raise RuleError("no piece can move")
        self.forget_if_new(position)
        self.root = root
        tree.node_count = 0
        if over(&root):
            return final_move(&root, moves, count)
        if count == 1:
            most = 1
        elif limits.nodes is not None:
            most = limits.nodes
        self.stopped = False
        done = self.first_iterations(most)
        reported = -1
        if self.heard:
            if report is not None:
                report(self.outcome(done, started))
            self.learn(0 if deadline == 0 else started + (deadline - started) / LEARNING_PART)
            done = self.first_iterations(most)
        while True:
            best = mcts_best(tree, 0)
            if report is not None and best != reported:
                report(self.outcome(done, started))
                reported = best
            if done >= most or self.stopped or (deadline > 0 and clock_now() >= deadline):
                return self.outcome(done, started)
            chunk = min(most - done, done, <uint64_t>4096)
            with nogil:
                done += mcts_run(tree, &root, chunk, deadline)

    cdef forget(self):
        self.habits = [[Habits() for _ in range(SEATS)] for _ in range(LOOKS)]
        self.heard = []

    cdef forget_if_new(self, Position position):
        """Forget how the others play where another game has begun: they may be others."""
        if position.board.ply < self.ply:
            self.forget()
        self.ply = position.board.ply

    cdef uint64_t first_iterations(self, uint64_t most):
        """Begin the tree with at most so many of them; returns how many there were."""
        cdef Board* root = &self.root
        self.trust(root.ply & 3)
        mcts_start(self.tree, root, root.key)
        return mcts_run(self.tree, root, min(most, <uint64_t>FIRST_ITERATIONS), 0)

    cdef learn(self, double deadline):
        """What the moves that were heard of tell of their players. All are looked at once before
        one is looked at more closely."""
        cdef Position position
        cdef int recipe, look, seat
        self.trust(NOBODY)
        choices = []
        for position, move in self.heard:
            likely = stranger(self.tree, &position.board, move)
            if likely > 0:
                choices.append((position, move, likely))
        self.heard = []
        for look in range(LOOKS):
            for position, move, likely in choices:
                if 0 < deadline <= clock_now():
                    return
                seat = position.board.ply & 3
                hits = [
                    recipe_chance(recipe, look, &position.board, move) for recipe in range(RECIPES)
                ]
                self.habits[look][seat].learn(hits, likely)

    cdef trust(self, int own):
        """Have the tree of our own seat trust the others to do what is expected of them; nobody's
        trusts none."""
        cdef int seat, look
        for look in range(LOOKS):
            for seat in range(SEATS):
                self.opponents.recipe[look][seat], self.tree.trust[look][seat] = (
                    (0, 0) if own in (NOBODY, seat) else self.habits[look][seat].expectation()
                )

    cdef outcome(self, uint64_t iterations, double started):
        cdef MctsTree* tree = self.tree
        cdef int32_t best = mcts_best(tree, 0)
        cdef int score = <int>(
            1000 * tree.edges[best].total / max(<uint32_t>1, tree.edges[best].visits)
        )
        line = [move_tuple(tree.edges[best].move)]
        while tree.edges[best].child:
            best = mcts_best(tree, tree.edges[best].child)
            if tree.edges[best].visits == 0:
                break
            line.append(move_tuple(tree.edges[best].move))
        return SearchInfo(line[0], score, len(line), iterations, clock_now() - started, tuple(line))


cdef double recipe_chance(int recipe, int look, const Board* board, move):
    """How likely somebody who always follows the recipe makes the move."""
    cdef Move found[MAX_MOVES]
    cdef int count = recipe_moves(recipe, look, board, found)
    cdef int i
    for i in range(count):
        if move_tuple(found[i]) == move:
            return 1 / <double>count
    return 0


cdef double stranger(MctsTree* tree, const Board* board, move):
    """How likely somebody who follows no recipe makes the move: half as likely as our search tries
    it, half as prior.pxi says.

    0 where there was no choice.
    """
    cdef Board root = board[0]
    cdef Move moves[MAX_MOVES]
    cdef int now[MAX_MOVES]
    cdef int next[MAX_MOVES]
    cdef int32_t logits[MAX_MOVES]
    cdef float shares[MAX_MOVES]
    cdef int count = generate(&root, root.ply & 3, moves)
    cdef int i
    cdef double total = 0
    if count < 2:
        return 0
    mcts_start(tree, &root, root.key)
    mcts_run(tree, &root, LEARNING_ITERATIONS, 0)
    opponent_outlook(&root, root.ply & 3, moves, count, now, next)
    opponent_logits(now, next, count, logits)
    network_shares(logits, count, shares)
    for i in range(count):
        total += shares[i]
    for i in range(count):
        if move_tuple(moves[i]) == move:
            return (tree.edges[i].visits + 1) / <double>(
                LEARNING_ITERATIONS + count
            ) / 2 + shares[i] / total / 2
    return 0


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
