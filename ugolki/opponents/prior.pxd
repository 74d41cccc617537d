"""How likely the moves of an unknown opponent are.

Programs that play this game differ in their search and agree in what they are after: to be nearer
home after a move, and after the best one that follows. `python -m ugolki.train opponents` says how
well that predicts the players there are, and fits the numbers.
"""

from libc.stdint cimport int32_t, uint32_t

from ugolki.evaluate cimport (
    cost, distance_cost, gain, nearest, piece_gain, steps_nearer
)
from ugolki.rules cimport DISTANCE, FULL, MAX_MOVES, Board, Move, jump_targets

cdef enum:
    PIECES = 6
    # of a sixteenth of a step, in logits of 64 to a factor of e: e times less likely for two steps
    A_COST = 2
    BEST_NOW = 68           # the move gains most
    BEST_NEXT = 44          # it gains most together with the best one that follows
    HOME = 30               # to be home a move sooner, in sixteenths of a step


cdef inline void opponent_outlook(
    const Board* b, int seat, const Move* moves, int count, int* now, int* next
) noexcept nogil:
    """What the seat's cost changes by with each move, and with the best second one after it, as if
    the others stood still. `moves` are in the order of `generate`.

    The jumps of the five other pieces are found once for each piece that is lifted, and again only
    where it is put down so that it opens or closes one. The lifted piece itself jumps on from
    wherever it lands to the same cells.
    """
    cdef Board lifted
    cdef uint32_t others[PIECES], reached[PIECES]
    cdef int classes[PIECES]
    cdef int gains[PIECES]
    cdef int home = -cost(b, seat)
    cdef int start = -1
    cdef int i, k, n, q, end, d, best
    cdef int found = 0, landing = 0
    cdef uint32_t piece, landed, beside, below, pieces, near
    lifted = b[0]
    for i in range(count):
        now[i] = -gain(seat, moves[i])
        if now[i] == home:
            next[i] = home - 2 * HOME
            continue
        if moves[i] >> 8 != start:
            start = moves[i] >> 8
            piece = <uint32_t>1 << (start & 31)
            lifted = b[0]
            lifted.own[seat][start >> 5] ^= piece
            lifted.occupied[start >> 5] ^= piece
            found = 0
            for k in range(4):
                pieces = lifted.own[seat][k]
                while pieces:
                    others[found] = pieces & (0 - pieces)
                    reached[found] = jump_targets(&lifted, k, others[found])
                    classes[found] = k
                    gains[found] = piece_gain(&lifted, seat, k, others[found], reached[found])
                    found += 1
                    pieces &= pieces - 1
            # it may come back by the jumps that it went by
            d = DISTANCE[seat][start]
            landing = nearest(seat, start >> 5, jump_targets(&lifted, start >> 5, piece), d)
        end = moves[i] & 0xFF
        k = end >> 5
        landed = <uint32_t>1 << (end & 31)
        d = DISTANCE[seat][end]
        if k == start >> 5:
            n = landing
            if n >= d:
                n = d - steps_nearer(&lifted, seat, k, landed, d)
            best = distance_cost(d) - distance_cost(n)
        else:
            best = piece_gain(&lifted, seat, k, landed, jump_targets(&lifted, k, landed))
        beside = (landed | (landed << 1 if k & 1 else landed >> 1)) & FULL
        below = (landed | (landed << 6 if k & 2 else landed >> 6)) & FULL
        lifted.occupied[k] ^= landed    # put down, for as long as the others are looked at
        for q in range(found):
            if classes[q] == k:
                if gains[q] > best and reached[q] & landed:
                    best = max(best, piece_gain(
                        &lifted, seat, k, others[q], jump_targets(&lifted, k, others[q])
                    ))
                    continue
            elif classes[q] != k ^ 3:
                near = beside if classes[q] == k ^ 1 else below
                if near & (reached[q] | others[q]):
                    best = max(best, piece_gain(
                        &lifted, seat, classes[q], others[q],
                        jump_targets(&lifted, classes[q], others[q])
                    ))
                    continue
            best = max(best, gains[q])
        lifted.occupied[k] ^= landed
        next[i] = now[i] - best
        if next[i] == home:
            next[i] -= HOME


cdef inline void opponent_logits(
    const int* now, const int* next, int count, int32_t* logits
) noexcept nogil:
    """The logit of each of the moves with this outlook, in steps of network.h: NETWORK_STEPS to a
    factor of e."""
    cdef int i
    cdef int best_now = 1 << 20
    cdef int best_next = 1 << 20
    for i in range(count):
        best_now = min(best_now, now[i])
        best_next = min(best_next, next[i])
    for i in range(count):
        logits[i] = -A_COST * (now[i] + next[i])
        if now[i] == best_now:
            logits[i] += BEST_NOW
        if next[i] == best_next:
            logits[i] += BEST_NEXT
