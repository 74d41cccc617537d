"""Opponent policies: in most contests some programs plan ahead alone, some search for the best
reply, and all want their cost low.

The costs are those of evaluate.pxd. An engine does not ask the frozen players: what it expects of
unknown players may change, they must not.
"""

from libc.stdint cimport int16_t, int32_t

from ugolki.evaluate cimport cost, gain
from ugolki.rules cimport (
    DISTANCE, MAX_MOVES, NOBODY, PASS_MOVE, SEATS, Board, Move, Position, generate, move_piece,
    move_tuple
)

cdef enum:
    BEAM_MOVES = 3              # own moves ahead
    # placements after each, at the first level, and three times as many at each further one
    BEAM_WIDTH = 10
    BEAM_MOST_WIDTH = 90
    # own moves and replies in turn, at the first level, and one more at each further one
    BEST_REPLY_PLIES = 3
    BEST_REPLY_MOST_PLIES = 5
    NO_RIVAL = 1 << 20
    WON = 1 << 28


# Beams.

cdef struct Placement:
    Board board
    Move first                  # of the moves that lead here
    int32_t cost


cdef inline int keep(Placement* kept, int count, int width, const Placement* one) noexcept nogil:
    """Put a placement, cheaper than the last of `width`, among the kept ones, cheapest first, each
    once; returns how many there are."""
    cdef int at = count
    cdef int i
    while at > 0 and kept[at - 1].cost > one.cost:
        at -= 1
    i = at
    while i > 0 and kept[i - 1].cost == one.cost:
        i -= 1
        if kept[i].board.key == one.board.key:
            return count
    for i in range(min(count, width - 1), at, -1):
        kept[i] = kept[i - 1]
    kept[at] = one[0]
    return min(count + 1, width)


cdef Move beam_move(int width, const Board* board) noexcept nogil:
    """The first move towards the cheapest of the last placements, or the quickest way home;
    PASS_MOVE where there is none."""
    cdef Placement kept[2][BEAM_MOST_WIDTH]
    cdef Placement* now = kept[0]
    cdef Placement* after = kept[1]
    cdef Placement child
    cdef Move moves[MAX_MOVES]
    cdef Move best = PASS_MOVE
    cdef int seat = board.ply & 3
    cdef int count = 1
    cdef int depth, number, child_cost, i, j, n
    now[0].board = board[0]
    now[0].cost = cost(board, seat)
    for depth in range(BEAM_MOVES):
        number = 0
        for i in range(count):
            n = generate(&now[i].board, seat, moves)
            for j in range(n):
                child_cost = now[i].cost - gain(seat, moves[j])
                if number == width and child_cost >= after[number - 1].cost:
                    continue
                child.board = now[i].board
                move_piece(&child.board, seat, moves[j] >> 8, moves[j] & 0xFF)
                child.first = moves[j] if depth == 0 else now[i].first
                child.cost = child_cost
                number = keep(after, number, width, &child)
        if number == 0:
            return best
        best = after[0].first
        if after[0].cost == 0:
            return best
        now, after, count = after, now, number
    return best


# Best-reply search (Schadd and Winands, "Best Reply Search for Multiplayer Games", 2011) for few
# plies: the root and all others together move in turn, and of the others only the one with the
# strongest reply. The last ply is not made, for of it only the greatest gain counts.

cdef struct Race:
    Board board
    const bint* stopped
    int root                    # the seat that searches
    int32_t costs[SEATS]


cdef struct Candidate:
    Move move
    int16_t seat
    int32_t order               # the greatest first


cdef inline void race_move(Race* race, int seat, Move move) noexcept nogil:
    move_piece(&race.board, seat, move >> 8, move & 0xFF)
    race.costs[seat] -= gain(seat, move)


cdef inline int lead(const Race* race) noexcept nogil:
    """The lead of the root over its nearest rival, in sixteenths of a step; against nobody, minus
    its own cost."""
    cdef int seat
    cdef int rival = NO_RIVAL
    for seat in range(SEATS):
        if seat != race.root and race.board.penalty[seat] != NOBODY:
            rival = min(rival, race.costs[seat])
    return (0 if rival == NO_RIVAL else rival) - race.costs[race.root]


cdef inline int greatest_gain(const Board* board, int seat) noexcept nogil:
    """Of one move of the seat; -NO_RIVAL where it has none."""
    cdef Move moves[MAX_MOVES]
    cdef int i
    cdef int best = -NO_RIVAL
    for i in range(generate(board, seat, moves)):
        best = max(best, gain(seat, moves[i]))
    return best


cdef inline int last_ply(const Race* race, bint ours) noexcept nogil:
    """`lead` after the best last move of one side, WON where it comes home."""
    cdef int seat, found
    cdef int now = lead(race)
    cdef int best = now
    if ours:
        found = greatest_gain(&race.board, race.root)
        return now if found == -NO_RIVAL else WON if found == race.costs[race.root] else now + found
    for seat in range(SEATS):
        if seat != race.root and race.board.penalty[seat] != NOBODY:
            found = greatest_gain(&race.board, seat)
            if found == race.costs[seat]:
                return -WON
            if found != -NO_RIVAL:
                best = min(best, race.costs[seat] - found - race.costs[race.root])
    return best


cdef int race_value(
    const Race* race, int depth, int alpha, int beta, bint ours, Move* killers
) noexcept nogil:
    """Fail-soft alpha-beta value from the root's side. `killers` are, for each depth, the last move
    that was best: it is tried first."""
    cdef Candidate candidates[SEATS * MAX_MOVES]
    cdef Candidate one
    cdef Move moves[MAX_MOVES]
    cdef Race child
    cdef int count = 0
    cdef int seat, i, at, value, best
    for seat in range(SEATS):
        if race.board.penalty[seat] == 0:
            return WON + depth if seat == race.root else -WON - depth
    if depth == 1:
        return last_ply(race, ours)
    if race.stopped != NULL and race.stopped[0]:
        return 0
    for seat in range(SEATS):
        if (seat == race.root) != ours:
            continue
        for i in range(generate(&race.board, seat, moves)):
            one.move, one.seat = moves[i], <int16_t>seat
            one.order = NO_RIVAL if moves[i] == killers[depth] else gain(seat, moves[i])
            at = count
            while at > 0 and candidates[at - 1].order < one.order:
                candidates[at] = candidates[at - 1]
                at -= 1
            candidates[at] = one
            count += 1
    if count == 0:  # nobody on this side can move: the turn passes
        return race_value(race, depth - 1, alpha, beta, not ours, killers)
    best = -2 * WON if ours else 2 * WON
    for i in range(count):
        child = race[0]
        race_move(&child, candidates[i].seat, candidates[i].move)
        value = race_value(&child, depth - 1, alpha, beta, not ours, killers)
        if (value > best) if ours else (value < best):
            best = value
            killers[depth] = candidates[i].move
        if ours:
            alpha = max(alpha, best)
        else:
            beta = min(beta, best)
        if alpha >= beta:
            break
    return best


cdef Move best_reply_move(int plies, const Board* board, const bint* stopped) noexcept nogil:
    """The best move at this depth, which is deepened up to; PASS_MOVE where there is none."""
    cdef Race race, child
    cdef Move moves[MAX_MOVES]
    cdef Move killers[BEST_REPLY_MOST_PLIES]
    cdef Move best = PASS_MOVE
    cdef int depth, i, index, value, best_value
    cdef int count
    race.board = board[0]
    race.stopped = stopped
    race.root = board.ply & 3
    for i in range(SEATS):
        race.costs[i] = cost(board, i)
    for i in range(BEST_REPLY_MOST_PLIES):
        killers[i] = PASS_MOVE
    count = generate(board, race.root, moves)
    for depth in range(1, plies + 1):
        best_value = -2 * WON
        index = -1
        for i in range(count):
            child = race
            race_move(&child, race.root, moves[i])
            if child.costs[race.root] == 0:
                value = WON + depth - 1
            elif depth == 1:
                value = lead(&child)
            else:
                value = race_value(&child, depth - 1, best_value, 2 * WON, False, killers)
            if value > best_value:
                best_value = value
                index = i
        if index < 0:
            break
        best = moves[index]
        for i in range(index, 0, -1):  # the best move leads the next iteration
            moves[i] = moves[i - 1]
        moves[0] = best
        if abs(best_value) >= WON:
            break
    return best


# One ply.

cdef int greedy_moves(const Board* board, Move* found) noexcept nogil:
    """The moves that lower the penalty most; returns how many."""
    cdef Move moves[MAX_MOVES]
    cdef int seat = board.ply & 3
    cdef int count = 0
    cdef int best = 0
    cdef int i, steps
    for i in range(generate(board, seat, moves)):
        steps = DISTANCE[seat][moves[i] >> 8] - DISTANCE[seat][moves[i] & 0xFF]
        if count == 0 or steps > best:
            best, count = steps, 0
        if steps == best:
            found[count] = moves[i]
            count += 1
    return count


# All of them.

cdef class Stop:
    """Says when to end."""


cdef int policy_moves(
    int policy, int level, const Board* board, Move* found, const bint* stopped
) noexcept nogil:
    """What the seat to move plays by the policy, any of MAX_MOVES moves at most; returns how many,
    0 where no piece can move.

    At a later level the search of a policy is a greater one.
    """
    cdef int width = BEAM_WIDTH
    cdef int _
    if policy == GREEDY:
        return greedy_moves(board, found)
    if policy == BEAM:
        for _ in range(level):
            width *= 3
        found[0] = beam_move(width, board)
    else:
        found[0] = best_reply_move(BEST_REPLY_PLIES + level, board, stopped)
    return 0 if found[0] == PASS_MOVE else 1


def predict(Position position, int policy, int level, Stop stop=None):
    """The moves of the seat to move by a policy, from 0, at a level, from 0, one as likely as
    another; worthless once `stop` is asked.

    There are none where no piece can move. Raises ValueError for other numbers.
    """
    if not 0 <= policy < POLICIES or not 0 <= level < LEVELS:
        raise ValueError(f"there is no policy {policy} at level {level}")
    cdef Move found[MAX_MOVES]
    cdef Board board = position.board
    cdef const bint* stopped = NULL if stop is None else &stop.asked
    cdef int i, count
    with nogil:
        count = policy_moves(policy, level, &board, found, stopped)
    return [move_tuple(found[i]) for i in range(count)]


def likelihood(Position position, move, int policy, int level, Stop stop=None):
    """How likely somebody who always follows the policy makes the move; worthless once `stop` is
    asked. Raises ValueError as `predict` does."""
    predictions = predict(position, policy, level, stop)
    return 1.0 / len(predictions) if move in predictions else 0.0
