"""Principal variation search for Connexion; search.pxd defines the values."""

from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from core.native.bits cimport lowest_bit32, lowest_bit64, popcount64
from core.native.clock cimport clock_now
from connexion.nn.evaluate cimport evaluate
from connexion.ordering cimport Choice, ordered_moves
from connexion.rules cimport (
    MAX_MOVES, Board, Link, Move, Tiles, Undo, attribute_of, board_key, count, draw, gain, join,
    kinds, make, part, put_back, unmake,
)

cdef enum:
    MAX_HISTORY = 8192
    HISTORY_UNIT = 64           # history that counts as a point in move ordering; not tuned
    HISTORY_LEFT = 6            # empty cells; with fewer, sorting takes longer than it saves
    # bound of the change of a margin during the plies with averaged draws, in points
    MAX_SWING = 300


cdef Search* search_new(const int16_t* weights, uint64_t bytes) noexcept nogil:
    """Return a new search with a table of at most `bytes`, or NULL. `weights` must outlive it."""
    cdef Search* s = <Search*>calloc(1, sizeof(Search))
    if s == NULL:
        return NULL
    if not tt_new(&s.table, bytes):
        free(s)
        return NULL
    s.weights = weights
    return s


cdef void search_free(Search* s) noexcept nogil:
    if s != NULL:
        tt_free(&s.table)
        free(s)


cdef void search_forget(Search* s) noexcept nogil:
    """Forget all previous searches."""
    tt_clear(&s.table)


cdef void search_start(Search* s) noexcept nogil:
    """Start a search; of the table, only entries that reached the end stay valid."""
    tt_begin(&s.table)
    if s.table.age == 0:    # entries of TT_AGES searches ago would look current
        tt_clear(&s.table)
    memset(s.history, 0, sizeof(s.history))
    s.nodes = 0
    s.stopped = False


cdef inline int last_two(Board* b) noexcept nogil:
    """Return the mover's final gain with two empty cells and a tile each.

    In a graph in which both tiles have one attribute, the order makes no difference. In a graph in
    which they differ, they cannot connect.
    """
    cdef int seat = b.ply & 1
    cdef int cell = lowest_bit64(b.empty)
    cdef int other = lowest_bit64(b.empty & (b.empty - 1))
    cdef int mine = lowest_bit32(b.hand[seat]) >> 1
    cdef int theirs = lowest_bit32(b.hand[1 - seat]) >> 1
    cdef int straight = 0, crossed = 0
    cdef int graph, sign, a, o, score
    cdef Link link
    for graph in range(2):
        sign = 1 if graph == seat else -1
        a, o = attribute_of(graph, mine), attribute_of(graph, theirs)
        if a == o:
            score = b.score[graph]
            join(b, graph, cell, a, &link)
            a = sign * (b.score[graph] - score + gain(b, graph, other, a))
            b.score[graph] = score
            part(b, graph, cell, &link)
            straight += a
            crossed += a
        else:
            straight += sign * (gain(b, graph, cell, a) + gain(b, graph, other, o))
            crossed += sign * (gain(b, graph, other, a) + gain(b, graph, cell, o))
    return max(straight, crossed)


cdef inline void sort_by_history(
    const Search* s, int seat, Choice* choices, int number
) noexcept nogil:
    """Sort moves by their static order and their history in this search."""
    cdef Choice choice
    cdef int i, j
    for i in range(number):
        choice = choices[i]
        choice.order += s.history[seat][choice.move] // HISTORY_UNIT
        j = i
        while j > 0 and choices[j - 1].order < choice.order:
            choices[j] = choices[j - 1]
            j -= 1
        choices[j] = choice


cdef inline void learn(
    Search* s, int seat, const Choice* choices, int best, int bonus
) noexcept nogil:
    """Beta cutoff by the move at `best`: history bonus for it, malus for earlier ones, with
    gravity."""
    cdef int* history = s.history[seat]
    cdef int i
    history[choices[best].move] += bonus - history[choices[best].move] * bonus // MAX_HISTORY
    for i in range(best):
        history[choices[i].move] -= bonus + history[choices[i].move] * bonus // MAX_HISTORY


cdef int value_after(
    Search* s, Board* b, const Choice* choice, int depth, int alpha, int beta
) noexcept nogil:
    """Return a move's value for its mover, with `depth` plies after it; the board is restored.

    Exact within (alpha, beta); otherwise a fail-soft bound.
    """
    cdef Undo undo
    cdef Tiles bag, left
    cdef int seat = b.ply & 1
    cdef int now = SCALE * choice.gain
    cdef int value, tile, ways, first, second
    make(b, choice.move >> 4, choice.move & 15, &undo)
    bag = b.bag[seat]
    ways = count(bag)
    left = kinds(bag)
    if bag == 0 or ways > 2:
        value = now - value_of(s, b, depth, now - beta, now - alpha)
    elif left & (left - 1) == 0:                                # one possible draw
        tile = lowest_bit32(left) >> 1
        draw(b, seat, tile)
        value = now - value_of(s, b, depth, now - beta, now - alpha)
        put_back(b, seat, tile)
    # two equally likely draws (Ballard 1983, Star1)
    else:
        tile = lowest_bit32(left) >> 1
        draw(b, seat, tile)
        first = now - value_of(
            s, b, depth, max(
                -INFINITE, now - 2 * beta - SCALE * MAX_SWING
            ), min(INFINITE, now - 2 * alpha + SCALE * MAX_SWING)
        )
        put_back(b, seat, tile)
        tile = lowest_bit32(left & (left - 1)) >> 1
        draw(b, seat, tile)
        second = now - value_of(
            s, b, depth, now + first - 2 * beta - 1, now + first - 2 * alpha + 1
        )
        put_back(b, seat, tile)
        value = (first + second) >> 1
    unmake(b, choice.move >> 4, choice.move & 15, &undo)
    return value


cdef int value_of(Search* s, Board* b, int depth, int alpha, int beta) noexcept nogil:
    """Return the position's value for the mover, within the window as in `value_after`; alpha <
    beta."""
    cdef Choice choices[MAX_MOVES]
    cdef Choice chosen
    cdef TableEntry* entry
    cdef uint64_t key = 0
    cdef int number, i, value, deeper, bound
    cdef int least = alpha
    cdef int best = -INFINITE
    cdef int left = popcount64(b.empty)
    cdef Move best_move = 0
    s.nodes += 1
    # 1. Game over, or one of the last plies.
    if left == 0:
        return 0
    if depth >= left:
        depth = TO_THE_END
    elif depth == 0:
        return evaluate(b, s.weights)
    if left == 1:
        ordered_moves(b, choices, 1, 1)
        return SCALE * choices[0].gain
    if left == 2 and depth == TO_THE_END:
        return SCALE * last_two(b)
    # 2. Limits.
    if s.max_nodes and s.nodes > s.max_nodes or (
        s.deadline > 0 and s.nodes & 255 == 0 and clock_now() >= s.deadline
    ):
        s.stopped = True
    if s.stopped:
        return 0
    # 3. Transposition table. With three empty cells, a probe takes longer than a search.
    chosen.move = 0
    if left > 3:
        key = board_key(b)
        entry = tt_probe(&s.table, key)
        if entry != NULL and (entry.mark >> 2 == s.table.age or entry.depth > TO_THE_END):
            bound = tt_bound(entry)
            if entry.depth >= depth and (
                bound == TT_EXACT
                or bound == TT_LOWER and entry.value >= beta
                or bound == TT_UPPER and entry.value <= alpha
            ):
                return entry.value
            chosen.move = entry.move
    # 4. Moves, the table move first.
    if depth == TO_THE_END:
        number = ordered_moves(b, choices, MAX_MOVES, 2)        # 10 % faster than 1 or 3/2
    else:
        number = ordered_moves(b, choices, s.width, 1)
    if left >= HISTORY_LEFT:
        sort_by_history(s, b.ply & 1, choices, number)          # saves a third of the nodes
    if chosen.move:
        for i in range(number):
            if choices[i].move == chosen.move:
                chosen = choices[i]
                while i > 0:
                    choices[i] = choices[i - 1]
                    i -= 1
                choices[0] = chosen
                break
    # 5. The first move with the full window, the others with a null window.
    deeper = TO_THE_END if depth == TO_THE_END else depth - 1
    for i in range(number):
        value = value_after(s, b, &choices[i], deeper, alpha, beta if i == 0 else alpha + 1)
        if i > 0 and alpha < value < beta and not s.stopped:
            value = value_after(s, b, &choices[i], deeper, alpha, beta)
        if s.stopped:
            return 0
        if value > best:
            best = value
            best_move = choices[i].move
            if value > alpha:
                alpha = value
                if alpha >= beta:
                    if left >= HISTORY_LEFT:
                        learn(s, b.ply & 1, choices, i, left * left)
                    break
    # 6. Store the result.
    if left > 3:
        if depth == TO_THE_END:
            depth += left
        entry = tt_place(&s.table, key)
        entry.key = key
        entry.value = best
        entry.move = best_move
        entry.depth = <uint8_t>depth
        bound = TT_LOWER if best >= beta else TT_EXACT if best > least else TT_UPPER
        entry.mark = tt_mark(&s.table, bound)
    return best
