# The beams of the pool: the best so many placements after each own move, while all others stand
# still, or take their greatest gain in turn. Greedy players with look-ahead are wide ones.

cdef enum:
    MOST_WIDTH = 4096
    BEAM_FIRST_WIDTH = 8    # where the effort is bounded, beams grow threefold from here

cdef struct Placement:
    State state
    uint64_t key
    int32_t value           # cost, less for the sooner home
    int first               # number of the first of the moves that lead here

cdef struct Beam:
    Placement* kept[2]      # of this own move, and of the next
    int width, plies
    bint moving             # whether the others move
    Evaluation* evaluation
    uint64_t nodes
    uint64_t most           # 0: no bound
    double deadline         # on core.native.clock; 0: none
    bint stopped


cdef inline int keep(Placement* kept, int count, int width, const Placement* one) noexcept nogil:
    """Put a placement among the kept ones, cheapest first, each once; returns how many there
    are."""
    cdef int low = 0
    cdef int high = count
    cdef int middle, i
    while low < high:
        middle = (low + high) >> 1
        if kept[middle].value > one.value:
            high = middle
        else:
            low = middle + 1
    i = low
    while i > 0 and kept[i - 1].value == one.value:
        i -= 1
        if kept[i].key == one.key:
            return count
    if count == width:
        count -= 1
    for i in range(count, low, -1):
        kept[i] = kept[i - 1]
    kept[low] = one[0]
    return count + 1


cdef inline void others_move(Beam* b, State* s) noexcept nogil:
    """The three others in turn take their greatest gain."""
    cdef Move moves[MAX_MOVES]
    cdef int32_t change[MAX_MOVES]
    cdef int _, i, count, best, seat
    for _ in range(SEATS - 1):
        s.board.ply += 1
        seat = s.board.ply & 3
        count = generate(&s.board, seat, moves)
        if count == 0:
            continue
        changes(b.evaluation, s, seat, moves, count, change)
        best = 0
        for i in range(1, count):
            if change[i] < change[best]:
                best = i
        carry(s, seat, moves[best], change[best])
    s.board.ply += 1


cdef int beam_run(
    Beam* b, const State* root, const Move* moves, const int32_t* change, int count,
    int32_t* values
) noexcept nogil:
    """Minus the least cost that each of the root's moves led to among the last placements, UNKNOWN
    of those that led to none; returns the own moves looked ahead, 0 when stopped."""
    cdef Placement* now = b.kept[0]
    cdef Placement* after = b.kept[1]
    cdef Placement child
    cdef Move found[MAX_MOVES]
    cdef int32_t found_change[MAX_MOVES]
    cdef int seat = root.board.ply & 3
    cdef int number = 1
    cdef int depth, i, j, n, kept
    cdef int32_t value
    cdef bint home = False
    now[0].state = root[0]
    now[0].key = root.board.key
    now[0].first = 0
    for depth in range(b.plies):
        kept = 0
        for i in range(number):
            b.nodes += 1
            if b.most and b.nodes > b.most:
                b.stopped = True
            elif b.deadline > 0 and b.nodes & 31 == 0 and clock_now() >= b.deadline:
                b.stopped = True
            if b.stopped and depth > 0:
                return 0
            if depth == 0:
                n = count
            else:
                n = generate(&now[i].state.board, seat, found)
                changes(b.evaluation, &now[i].state, seat, found, n, found_change)
            for j in range(n):
                value = now[i].state.cost[seat] + (
                    change[j] if depth == 0 else found_change[j]
                )
                if kept == b.width and value >= after[kept - 1].value:
                    continue
                child = now[i]
                if depth == 0:
                    carry(&child.state, seat, moves[j], change[j])
                    child.first = j
                    child.key ^= piece_key(seat, moves[j] >> 8) ^ piece_key(seat, moves[j] & 0xFF)
                else:
                    carry(&child.state, seat, found[j], found_change[j])
                    child.key ^= piece_key(seat, found[j] >> 8) ^ piece_key(seat, found[j] & 0xFF)
                child.value = value
                kept = keep(after, kept, b.width, &child)
        if kept == 0:
            break
        for j in range(count):
            values[j] = UNKNOWN
        for i in range(kept):
            if values[after[i].first] == UNKNOWN:
                values[after[i].first] = -after[i].value
            if after[i].state.board.penalty[seat] == 0:
                home = True
        if home:
            return depth + 1
        if b.moving and depth + 1 < b.plies:
            for i in range(kept):
                others_move(b, &after[i].state)
        now, after, number = after, now, kept
    return b.plies
