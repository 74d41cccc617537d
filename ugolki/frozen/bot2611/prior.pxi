# How likely the moves of an unknown opponent are.
#
# Programs that play this game differ in their search and agree in what they are after: to be nearer
# home after a move, and after the best one that follows.

cdef enum:
    # of a sixteenth of a step, in logits of 64 to a factor of e: e times less likely for two steps
    A_COST = 2
    BEST_NOW = 68           # the move gains most
    BEST_NEXT = 44          # it gains most together with the best one that follows
    HOME = 30               # to be home a move sooner, in sixteenths of a step


cdef inline void opponent_outlook(
    const Board* b, int seat, const Move* moves, int count, int* now, int* next
) noexcept nogil:
    """What the seat's cost changes by with each move, and with the best second one after it, as if
    the others stood still."""
    cdef Move following[MAX_MOVES]
    cdef Board after
    cdef int i, k, best
    cdef int home = -cost(b, seat)
    for i in range(count):
        now[i] = -gain(seat, moves[i])
        if now[i] == home:
            next[i] = home - 2 * HOME
            continue
        after = b[0]
        move_piece(&after, seat, moves[i] >> 8, moves[i] & 0xFF)
        best = 0
        for k in range(generate(&after, seat, following)):
            best = max(best, gain(seat, following[k]))
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
