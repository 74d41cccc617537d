# Best-reply search (Schadd and Winands, "Best Reply Search for Multiplayer Games", 2011): the root
# player and "the opponents" move in turn, and of the opponents only the one with the strongest
# reply moves. So a game of many players becomes an alpha-beta search. Frozen with `brs:DEPTH`.
#
# The player cimports or defines these names, then includes this file:
#   State                                a struct that is a position by value
#   Move, MAX_MOVES                      an integer type, and the most moves of one seat
#   PLAYERS                              number of seats
#   generate(State*, seat, Move*)        pseudolegal moves of any seat; returns how many
#   apply_move(State*, seat, Move)       play one of them, whoever's turn it is
#   winner(State*)                       the seat that has won, or -1
#   evaluate(State*, root)               value for the root player where nobody has won, higher is
#                                        better, |value| < BRS_WIN
#   move_order(State*, seat, Move)       how promising a move is for the seat that makes it, higher
#                                        first
#   state_key(State*)                    64-bit hash of the pieces
#
# It offers BrsSearch, whose memory the caller owns, and brs_iteration.

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint64_t

from core.native.clock cimport clock_now

cdef enum:
    BRS_WIN = 1 << 28
    BRS_MAX_DEPTH = 32
    BRS_TABLE_BITS = 16

cdef struct BrsEntry:
    uint64_t key
    int32_t value
    uint16_t move           # index of the best move in the node's generated list, seat by seat
    uint8_t depth
    uint8_t bound           # 1 value is exact, 2 at least, 3 at most; 0 the entry is empty

cdef struct BrsSearch:
    int root                # the seat that searches
    uint64_t nodes
    uint64_t max_nodes      # 0: no bound
    double deadline         # on core.native.clock; 0: no bound
    bint stopped            # a bound was reached: the values of this iteration are worthless
    BrsEntry table[1 << BRS_TABLE_BITS]


cdef inline bint brs_stop(BrsSearch* s) noexcept nogil:
    """Counts a node; looks at the clock now and then."""
    s.nodes += 1
    if s.max_nodes and s.nodes > s.max_nodes:
        s.stopped = True
    elif s.deadline > 0 and (s.nodes & 255) == 0 and clock_now() >= s.deadline:
        s.stopped = True
    return s.stopped


cdef inline void brs_sort(int32_t* order, uint16_t* index, int count) noexcept nogil:
    """Best first. Insertion sort is stable, so the search does not depend on the compiler's
    library."""
    cdef int i, j
    cdef int32_t key_order
    cdef uint16_t key_index
    for i in range(1, count):
        key_order, key_index = order[i], index[i]
        j = i - 1
        while j >= 0 and order[j] < key_order:
            order[j + 1], index[j + 1] = order[j], index[j]
            j -= 1
        order[j + 1], index[j + 1] = key_order, key_index


cdef inline int brs_node(
    BrsSearch* s, const State* state, int depth, int alpha, int beta, bint ours,
    uint16_t* best_index
) noexcept nogil:
    """Fail-soft alpha-beta value of the position from the root player's side; `ours` says whose
    turn it is.

    best_index gets the index of the best move in the generated list (the opponents' lists follow
    each other).
    """
    cdef Move moves[PLAYERS * MAX_MOVES]
    cdef int32_t order[PLAYERS * MAX_MOVES]
    cdef uint16_t index[PLAYERS * MAX_MOVES]
    cdef int count = 0
    cdef int ends[PLAYERS]
    cdef int seat, i, n, value, best, seen_alpha, seen_beta
    cdef uint16_t hash_index, reply
    cdef uint64_t key
    cdef BrsEntry* entry
    cdef State child

    best_index[0] = 0
    if brs_stop(s):
        return 0
    # 1. Leaves; of wins the quickest, of losses the slowest is best.
    seat = winner(state)
    if seat >= 0:
        return BRS_WIN + depth if seat == s.root else -BRS_WIN - depth
    if depth == 0:
        return evaluate(state, s.root)
    # 2. Transposition table.
    seen_alpha, seen_beta = alpha, beta
    key = state_key(state) ^ (<uint64_t>0x9E3779B97F4A7C15 if ours else 0)
    entry = &s.table[key >> (64 - BRS_TABLE_BITS)]
    hash_index = 0xFFFF
    if entry.bound and entry.key == key:
        hash_index = entry.move
        if entry.depth == depth and (
            entry.bound == 1 or (entry.bound == 2 and entry.value >= beta) or (
                entry.bound == 3 and entry.value <= alpha
            )
        ):
            best_index[0] = hash_index
            return entry.value
    # 3. Moves: ours, or those of all opponents together.
    for seat in range(PLAYERS):
        if (seat == s.root) == ours:
            n = generate(state, seat, &moves[count])
            for i in range(count, count + n):
                order[i] = move_order(state, seat, moves[i])
                index[i] = <uint16_t>i
            count += n
        ends[seat] = count
    if count == 0:  # nobody on this side can move: the turn passes
        return brs_node(s, state, depth - 1, alpha, beta, not ours, &reply)
    if hash_index < count:
        order[hash_index] = 1 << 30
    brs_sort(order, index, count)
    # 4. Children.
    best = -BRS_WIN * 2 if ours else BRS_WIN * 2
    for i in range(count):
        seat = 0
        while index[i] >= ends[seat]:
            seat += 1
        child = state[0]
        apply_move(&child, seat, moves[index[i]])
        value = brs_node(s, &child, depth - 1, alpha, beta, not ours, &reply)
        if s.stopped:
            return 0
        if ours:
            if value > best:
                best = value
                best_index[0] = index[i]
            alpha = max(alpha, best)
        else:
            if value < best:
                best = value
                best_index[0] = index[i]
            beta = min(beta, best)
        if alpha >= beta:
            break
    # 5. Remember.
    entry.key = key
    entry.value = best
    entry.move = best_index[0]
    entry.depth = <uint8_t>depth
    entry.bound = 2 if best >= seen_beta else 3 if best <= seen_alpha else 1
    return best


cdef inline int brs_iteration(
    BrsSearch* s, const State* state, int depth, Move* moves, int count, int* value
) noexcept nogil:
    """One iteration over the root player's moves, in their order; the index of the best one, or -1
    when stopped before the first was done.

    Put the best move of the iteration before it first: then an iteration that is stopped half way
    is worth its result.
    """
    cdef int i, v, best = -1
    cdef uint16_t reply
    cdef State child
    value[0] = -BRS_WIN * 2
    for i in range(count):
        child = state[0]
        apply_move(&child, s.root, moves[i])
        v = brs_node(s, &child, depth - 1, value[0], BRS_WIN * 2, False, &reply)
        if s.stopped:
            break
        if v > value[0]:
            value[0] = v
            best = i
    return best
