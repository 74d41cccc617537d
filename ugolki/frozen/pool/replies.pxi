# The alpha-beta searches of the pool: best reply (of the others only the one with the strongest
# reply moves), paranoid (all others against us) and max^n (everybody for itself, narrow).

cdef enum:
    WON = 1 << 26
    UNKNOWN = 1 << 28
    MOST_PLIES = 24
    LOOK_AT_CLOCK = 64      # nodes between two looks, less one, is a mask

cdef enum:
    BEST_REPLY
    PARANOID
    MAX_N

cdef struct ReplySearch:
    int kind
    int root                # the seat that searches
    int width               # moves of a seat in a node at most; 0 for all
    Evaluation* evaluation
    uint64_t nodes
    uint64_t most           # 0: no bound
    double deadline         # on core.native.clock; 0: none
    bint stopped            # a bound was reached: the values of this iteration are worthless

cdef struct Candidate:
    Move move
    int16_t seat
    int32_t change


cdef inline bint stops(ReplySearch* r) noexcept nogil:
    r.nodes += 1
    if r.most and r.nodes > r.most:
        r.stopped = True
    elif r.deadline > 0 and r.nodes & (LOOK_AT_CLOCK - 1) == 0 and clock_now() >= r.deadline:
        r.stopped = True
    return r.stopped


cdef inline int32_t lead(const State* s, int seat) noexcept nogil:
    """The seat's lead over its nearest rival, against nobody minus its own cost; a seat that moves
    later is later home."""
    cdef int other
    cdef int32_t rival = UNKNOWN
    cdef int32_t own = s.cost[seat] + ((seat - s.board.ply) & 3) * (ONE_MOVE // 4)
    for other in range(SEATS):
        if other != seat and s.board.penalty[other] != NOBODY:
            rival = min(rival, s.cost[other] + ((other - s.board.ply) & 3) * (ONE_MOVE // 4))
    return (0 if rival == UNKNOWN else rival) - own


cdef inline int32_t outcome(const State* s, int seat, int depth) noexcept nogil:
    """The value of a finished game: of wins the quickest is best, of losses the slowest."""
    cdef int other
    for other in range(SEATS):
        if s.board.penalty[other] != NOBODY and s.board.penalty[other] < s.board.penalty[seat]:
            return -WON - depth
    return WON + depth


cdef inline int list_moves(
    const ReplySearch* r, const State* s, int seat, Candidate* found, int count
) noexcept nogil:
    """Add the seat's moves to those found, the best first by change, `width` of them; returns how
    many there are."""
    cdef Move moves[MAX_MOVES]
    cdef int32_t change[MAX_MOVES]
    cdef Candidate* own = found + count
    cdef int n = generate(&s.board, seat, moves)
    cdef int most = n if r.width == 0 else min(n, r.width)
    cdef int kept = 0
    cdef int i, at
    if n == 0:
        return count
    changes(r.evaluation, s, seat, moves, n, change)
    for i in range(n):
        if kept == most and change[i] >= own[kept - 1].change:
            continue
        at = kept if kept < most else kept - 1
        while at > 0 and own[at - 1].change > change[i]:
            own[at] = own[at - 1]
            at -= 1
        own[at].move, own[at].seat, own[at].change = moves[i], <int16_t>seat, change[i]
        kept = min(kept + 1, most)
    return count + kept


cdef int32_t best_reply(
    ReplySearch* r, const State* s, int depth, int32_t alpha, int32_t beta, bint ours
) noexcept nogil:
    """Fail-soft alpha-beta value from the root's side; `ours` says whose turn it is."""
    cdef Candidate found[SEATS * MAX_MOVES]
    cdef State child
    cdef int count = 0
    cdef int seat, i
    cdef int32_t value, best
    if stops(r):
        return 0
    for seat in range(SEATS):
        if s.board.penalty[seat] == 0:
            return WON + depth if seat == r.root else -WON - depth
    if depth == 0:
        return lead(s, r.root)
    for seat in range(SEATS):
        if (seat == r.root) == ours:
            count = list_moves(r, s, seat, found, count)
    if count == 0:
        return best_reply(r, s, depth - 1, alpha, beta, not ours)
    best = -UNKNOWN if ours else UNKNOWN
    for i in range(count):
        child = s[0]
        carry(&child, found[i].seat, found[i].move, found[i].change)
        value = best_reply(r, &child, depth - 1, alpha, beta, not ours)
        if r.stopped:
            return 0
        if ours:
            best = max(best, value)
            alpha = max(alpha, best)
        else:
            best = min(best, value)
            beta = min(beta, best)
        if alpha >= beta:
            break
    return best


cdef int32_t paranoid(
    ReplySearch* r, const State* s, int depth, int32_t alpha, int32_t beta
) noexcept nogil:
    """Fail-soft alpha-beta value from the root's side, all others playing against it."""
    cdef Candidate found[MAX_MOVES]
    cdef State child
    cdef int seat = s.board.ply & 3
    cdef int count, i
    cdef int32_t value, best
    cdef bint ours = seat == r.root
    if stops(r):
        return 0
    if over(&s.board):
        return outcome(s, r.root, depth)
    if depth == 0:
        return lead(s, r.root)
    count = list_moves(r, s, seat, found, 0)
    if count == 0:
        child = s[0]
        advance(&child, PASS_MOVE, 0)
        return paranoid(r, &child, depth - 1, alpha, beta)
    best = -UNKNOWN if ours else UNKNOWN
    for i in range(count):
        child = s[0]
        advance(&child, found[i].move, found[i].change)
        value = paranoid(r, &child, depth - 1, alpha, beta)
        if r.stopped:
            return 0
        if ours:
            best = max(best, value)
            alpha = max(alpha, best)
        else:
            best = min(best, value)
            beta = min(beta, best)
        if alpha >= beta:
            break
    return best


cdef void max_n(ReplySearch* r, const State* s, int depth, int32_t* values) noexcept nogil:
    """Every seat's value, where everybody is after its own."""
    cdef Candidate found[MAX_MOVES]
    cdef State child
    cdef int32_t below[SEATS]
    cdef int seat = s.board.ply & 3
    cdef int count, i, other
    cdef bint ended = over(&s.board)
    if stops(r):
        return
    if ended or depth == 0:
        for other in range(SEATS):
            values[other] = outcome(s, other, depth) if ended else lead(s, other)
        return
    count = list_moves(r, s, seat, found, 0)
    if count == 0:
        child = s[0]
        advance(&child, PASS_MOVE, 0)
        max_n(r, &child, depth - 1, values)
        return
    values[seat] = -UNKNOWN
    for i in range(count):
        child = s[0]
        advance(&child, found[i].move, found[i].change)
        max_n(r, &child, depth - 1, below)
        if r.stopped:
            return
        if below[seat] > values[seat]:
            for other in range(SEATS):
                values[other] = below[other]


cdef int reply_iteration(
    ReplySearch* r, const State* s, int depth, Move* moves, int32_t* change, int count,
    int32_t* values, bint exact
) noexcept nogil:
    """The value of each of the root's moves, in their order, UNKNOWN of those that were not
    searched; of moves that are worse than the best it is a bound, unless `exact`. Returns the
    number of the best, -1 when stopped before the first was done."""
    cdef State child
    cdef int32_t below[SEATS]
    cdef int i, best = -1
    cdef int32_t value, alpha = -UNKNOWN
    for i in range(count):
        values[i] = UNKNOWN
    for i in range(count):
        child = s[0]
        if r.kind == BEST_REPLY:
            carry(&child, r.root, moves[i], change[i])
            value = best_reply(r, &child, depth - 1, -UNKNOWN if exact else alpha, UNKNOWN, False)
        else:
            advance(&child, moves[i], change[i])
            if r.kind == PARANOID:
                value = paranoid(r, &child, depth - 1, -UNKNOWN if exact else alpha, UNKNOWN)
            else:
                max_n(r, &child, depth - 1, below)
                value = below[r.root]
        if r.stopped:
            break
        values[i] = value
        if value > alpha:
            alpha, best = value, i
    return best
