# Principal variation search (Marsland and Campbell, "Parallel Search of Strongly Ordered Game
# Trees", 1982) with a transposition table, iterative deepening and aspiration windows, for two
# players who move in turn.
#
# A game's engine cimports or defines these names, then includes this file:
#   State                             struct: a position by value, with the evaluation's
#                                     incremental data
#   Move, MAX_MOVES, NO_MOVE          16-bit type; upper bound of legal moves of a position; a value
#                                     that is no move
#   SLOTS, slot(State*, Move)         history entries per side; the entry of a move
#   side(State*)                      side to move, 0 or 1
#   finished(State*)                  true if the game has ended, or its result is known
#   final_value(State*, ply)          value of a finished position for the side to move: AB_WIN - p,
#                                     p - AB_WIN or 0, p = plies from the root to the end
#   legal_moves(State*, Move*)        writes the legal moves, a forced pass included; returns their
#                                     number, at least 1; for unfinished positions
#   useful_moves(State*, Move, Move*) the same without useless moves, but with the given move if it
#                                     is legal; at least 1
#   make_move(State*, Move, State*)   writes the position after a move
#   state_key(State*)                 64-bit hash of everything that the value depends on
#   move_order(State*, Move)          static move ordering, 0 .. 127; a move is quiet below AB_NOISY
#   move_tuple(State*, Move)          the move as Python's tuple
# and after the inclusion:
#   expect_moves(AbSearch*, State*)   called before positions after moves of this one are evaluated
#   evaluate(AbSearch*, State*)       static value for the side to move, |value| < AB_SURE
#   leaf_value(AbSearch*, State*, evaluation, alpha, beta, ply)
#                                     fail-soft value at depth 0: the known static evaluation, or
#                                     a quiescence search
#
# It offers AbSearch (the caller owns the memory) and ab_new, ab_free, ab_new_game, ab_choose.
# Scores and margins are in the engine's SCORE_UNIT.
#
# Steps of a node are numbered. Gains are in Elo, with an interval of two standard errors, or with
# +- one standard error.
# Not in this kernel, because it lost or made no difference: null move, razoring, ProbCut,
# reductions by history (docs/experiments/005), cut-node reductions (docs/experiments/019).

from libc.math cimport log
from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memmove, memset

from core.native.clock cimport clock_now

from core.limits import SearchInfo

cdef enum:
    AB_WIN = 30000
    AB_SURE = 29000         # greater values are forced wins
    AB_MAX_PLY = 96
    AB_UNKNOWN = 1 << 16    # no evaluation
    AB_MAX_HISTORY = 8192   # not tuned
    AB_MAX_DEFICITS = 3     # plies; 6 lost, 2 made no difference: docs/experiments/005
    AB_MAX_LINES = 64
    AB_PLACES = 1024        # more than the moves of any position
    AB_DEPTHS = 64          # size of the reduction table: depths, and numbers of moves

cdef struct TableEntry:
    uint64_t key
    int16_t value
    int16_t evaluation
    uint16_t move
    uint8_t depth
    uint8_t mark            # see table.pxi

include "table.pxi"

cdef struct AbSearch:
    Table table
    void* weights           # the engine's evaluation data
    # options, see core/search/options.py
    double patience
    int futility, late_moves, quiet_margin, quiet_slope, deficit, window
    uint8_t* reductions     # plies, by depth and number of the move
    # root moves excluded from the search, for further lines (multipv)
    uint16_t root_excluded[AB_MAX_LINES]
    int root_excluded_count
    uint64_t nodes
    uint64_t max_nodes      # 0: no bound
    double deadline         # on core.native.clock; 0: no bound
    # a limit was reached, or stop was called: the values of this iteration are invalid
    bint stopped
    uint64_t best_nodes     # nodes below the best root move, in the last iteration
    uint64_t root_nodes     # nodes below all root moves
    uint16_t pv[AB_MAX_PLY + 1][AB_MAX_PLY + 1]
    int pv_length[AB_MAX_PLY + 1]
    uint16_t killers[AB_MAX_PLY + 2][2]
    int evaluations[AB_MAX_PLY + 2]
    int16_t history[2][SLOTS]

cdef double AB_USUAL_REDUCTION = 2.0
# the default table, which all searches share
cdef uint8_t AB_REDUCTION[AB_DEPTHS * AB_DEPTHS]


cdef void ab_fill_reductions(uint8_t* reductions, double divisor) noexcept:
    cdef int depth, number
    for depth in range(1, AB_DEPTHS):
        for number in range(1, AB_DEPTHS):
            reductions[AB_DEPTHS * depth + number] = <uint8_t>(
                min(AB_MAX_PLY, 0.5 + log(depth) * log(number) / divisor)
            )


ab_fill_reductions(AB_REDUCTION, AB_USUAL_REDUCTION)


cdef int ab_whole(dict settings, str name) except? -1:
    """Return an integer option."""
    return settings[name]


cdef AbSearch* ab_new(dict settings) except NULL:
    """Return a search with these options (core.search.options). Raises MemoryError."""
    cdef AbSearch* s = <AbSearch*>calloc(1, sizeof(AbSearch))
    cdef uint64_t bytes = <uint64_t>ab_whole(settings, "hash") << 20
    if s == NULL:
        raise MemoryError
    s.patience = settings["patience"]
    s.futility = ab_whole(settings, "futility")
    s.late_moves = ab_whole(settings, "late_moves")
    s.quiet_margin = ab_whole(settings, "quiet_margin")
    s.quiet_slope = ab_whole(settings, "quiet_slope")
    s.deficit = ab_whole(settings, "deficit")
    s.window = ab_whole(settings, "window")
    s.reductions = AB_REDUCTION
    if settings["reduction"] != AB_USUAL_REDUCTION:
        s.reductions = <uint8_t*>calloc(AB_DEPTHS, AB_DEPTHS)
        if s.reductions == NULL:
            free(s)
            raise MemoryError
        ab_fill_reductions(s.reductions, settings["reduction"])
    if not tt_new(&s.table, bytes):
        ab_free(s)
        raise MemoryError
    return s


cdef void ab_free(AbSearch* s) noexcept:
    if s != NULL:
        tt_free(&s.table)
        if s.reductions != AB_REDUCTION:
            free(s.reductions)
        free(s)


cdef void ab_new_game(AbSearch* s) noexcept:
    """Forget all previous searches."""
    tt_clear(&s.table)
    memset(s.history, 0, sizeof(s.history))


cdef inline bint ab_stop(AbSearch* s) noexcept nogil:
    """Count a node; return true if the search must stop. Reads the clock every 512 nodes."""
    s.nodes += 1
    if s.max_nodes and s.nodes > s.max_nodes:
        s.stopped = True
    elif s.deadline > 0 and (s.nodes & 511) == 0 and clock_now() >= s.deadline:
        s.stopped = True
    return s.stopped


cdef inline void ab_store(
    AbSearch* s, uint64_t key, int depth, int bound, int value, int evaluation, uint16_t move,
    int ply
) noexcept nogil:
    """Store a result, unless this search has stored a much deeper one.

    A bound never replaces an entry of the same search that is more than 3 plies deeper.
    """
    cdef TableEntry* entry = tt_place(&s.table, key)
    if entry.key == key and entry.mark & 3:
        if move == NO_MOVE:
            move = entry.move
        if bound != TT_EXACT and entry.mark >> 2 == s.table.age and entry.depth > depth + 3:
            return
    # The distance of a forced win is stored from this node, not from the root.
    if value >= AB_SURE:
        value += ply
    elif value <= -AB_SURE:
        value -= ply
    entry.key = key
    entry.value = <int16_t>value
    entry.evaluation = <int16_t>evaluation
    entry.move = move
    entry.depth = <uint8_t>max(depth, 0)
    entry.mark = tt_mark(&s.table, bound)


cdef inline void ab_learn(AbSearch* s, const State* state, Move move, int bonus) noexcept nogil:
    """Add a bonus to a move's history, with gravity: |history| <= AB_MAX_HISTORY."""
    cdef int16_t* entry = &s.history[side(state)][slot(state, move)]
    entry[0] += <int16_t>(bonus - entry[0] * (bonus if bonus > 0 else -bonus) // AB_MAX_HISTORY)


cdef inline int32_t ab_ranked(int score, int i) noexcept nogil:
    """Return the rank of the move at place i: by score, |score| < 1 << 21, then by place."""
    return score * AB_PLACES + AB_PLACES - 1 - i


cdef inline Move ab_pick(Move* moves, int32_t* order, int i, int count) noexcept nogil:
    """Return the best-ranked move of places i and later, and swap it to place i."""
    cdef int j
    cdef int32_t most = order[i]
    cdef Move move
    for j in range(i + 1, count):       # branch-free, so that the compiler vectorises it
        most = order[j] if order[j] > most else most
    j = AB_PLACES - 1 - (most & (AB_PLACES - 1))
    move = moves[j]
    moves[j] = moves[i]
    order[j] = order[i] + i - j
    moves[i] = move
    return move


cdef inline int ab_drop_root_excluded(const AbSearch* s, Move* moves, int count) noexcept nogil:
    """Drop root_excluded moves; return the number of moves left."""
    cdef int i, j, kept = 0
    for i in range(count):
        for j in range(s.root_excluded_count):
            if moves[i] == s.root_excluded[j]:
                break
        else:
            moves[kept] = moves[i]
            kept += 1
    return kept


cdef inline int ab_node(
    AbSearch* s, const State* state, int evaluation, int depth, int alpha, int beta, int ply,
    Move excluded
) noexcept nogil:
    """Return the fail-soft value for the side to move, without the `excluded` move (NO_MOVE: none).

    `evaluation` is the static evaluation, or AB_UNKNOWN.
    """
    cdef Move moves[MAX_MOVES]
    cdef int32_t order[MAX_MOVES]
    cdef Move move, table_move = NO_MOVE, best_move = NO_MOVE
    cdef int count, i, j, score, value, best, child_evaluation, extension, reduction, bonus, bound
    cdef int first_alpha = alpha
    cdef int table_value = 0, table_depth = -1, table_bound = 0, wanted, singular_beta
    cdef bint pv_node = beta - alpha > 1
    cdef bint improving, noisy
    cdef uint64_t key, before
    cdef TableEntry* entry
    cdef State child

    s.pv_length[ply] = 0
    if ab_stop(s):
        return 0
    # 1. Game over, or depth exhausted.
    if finished(state):
        return final_value(state, ply)
    if depth <= 0 or ply >= AB_MAX_PLY:
        return leaf_value(
            s, state, evaluate(s, state) if evaluation == AB_UNKNOWN else evaluation, alpha, beta,
            ply
        )
    # 2. Transposition table cutoff, in PV nodes too (+38 [+15, +62], docs/experiments/005), but not
    # at the root, which needs a move.
    key = state_key(state)
    entry = tt_probe(&s.table, key)
    if entry != NULL:
        table_move, table_depth = entry.move, entry.depth
        table_bound, evaluation = tt_bound(entry), entry.evaluation
        table_value = entry.value
        if table_value >= AB_SURE:
            table_value -= ply
        elif table_value <= -AB_SURE:
            table_value += ply
        if ply > 0 and table_depth >= depth and excluded == NO_MOVE:
            wanted = (
                TT_LOWER if table_value >= beta
                else TT_UPPER if table_value <= alpha else TT_EXACT
            )
            if table_bound == TT_EXACT or table_bound == wanted:
                return table_value
    elif evaluation == AB_UNKNOWN:
        evaluation = evaluate(s, state)
    s.evaluations[ply] = evaluation
    improving = ply >= 2 and evaluation > s.evaluations[ply - 2]
    # 3. Reverse futility pruning: the static evaluation is above beta by more than the margin of 50
    # points per ply (90 before; with step 4 +22 [-39, +84], docs/experiments/005). Depth not tuned.
    if not pv_node and excluded == NO_MOVE and depth <= 6 and -AB_SURE < beta < AB_SURE:
        if evaluation - s.futility * depth >= beta:
            return evaluation
    # 4. Internal iterative reduction: without a table move, move ordering is poor, and the next
    # iteration will have one (+21 [-19, +62], docs/experiments/005).
    if table_move == NO_MOVE and depth >= 3:
        depth -= 1
    # 5. Move ordering: table move, then by move_order, history and killers. History counts up to 8
    # of move_order (+22 [+2, +43]), a killer 2 (none: -13 [-35, +9]; docs/experiments/005).
    if ply > 0:
        count = useful_moves(state, table_move, moves)
    else:
        count = legal_moves(state, moves)
        if s.root_excluded_count:
            count = ab_drop_root_excluded(s, moves, count)
    for i in range(count):
        if moves[i] == table_move:
            score = 1 << 20
        else:
            score = (
                move_order(state, moves[i]) << 10
            ) + s.history[side(state)][slot(state, moves[i])]
            if moves[i] == s.killers[ply][0] or moves[i] == s.killers[ply][1]:
                score += 1 << 11
        order[i] = ab_ranked(score, i)
    s.killers[ply + 1][0] = s.killers[ply + 1][1] = NO_MOVE
    best = -AB_WIN
    for i in range(count):
        move = ab_pick(moves, order, i, count)
        if move == excluded:
            continue
        noisy = move_order(state, move) >= AB_NOISY
        if ply > 0 and best > -AB_SURE:
            # 6. Late move pruning: at depth <= 4, skip quiet late moves (none: -32 [-69, +4]; up to
            # depth 7: +8 +- 14). From the third move on, end at a move_order of 0 (+42 [+2, +83];
            # docs/experiments/005, 019).
            if not noisy and depth <= 4 and not pv_node and i >= (
                s.late_moves + depth * depth * 2
            ) >> (not improving):
                continue
            if i >= 2 and move_order(state, move) == 0:
                break
            # 7. Futility pruning: the static evaluation plus the margin is below alpha, so skip all
            # later moves, noisy ones too (none: -36 [-73, +1], docs/experiments/005).
            if depth <= 6 and i >= 3 and (
                evaluation + s.quiet_margin + s.quiet_slope * depth <= alpha
            ):
                break
        # 8. Singular extension: if all other moves fail low against table_value - depth, search the
        # table move one ply deeper (in PV nodes too: +41 [+18, +65]). Multicut: if another move
        # reaches beta, return. Margin of 2 per ply and depth 5: no gain (docs/experiments/005).
        extension = 0
        if (
            move == table_move and excluded == NO_MOVE and ply > 0 and depth >= 6
            and table_bound != TT_UPPER and table_depth >= depth - 3
            and -AB_SURE < table_value < AB_SURE
        ):
            singular_beta = table_value - depth
            value = ab_node(
                s, state, evaluation, (depth - 1) // 2, singular_beta - 1, singular_beta, ply, move
            )
            if s.stopped:
                return 0
            s.pv_length[ply] = 0
            if value < singular_beta:
                extension = 1
            elif not pv_node and singular_beta >= beta:
                return singular_beta
            elif not pv_node and table_value >= beta:
                extension = -1
        make_move(state, move, &child)
        if depth > 1:
            tt_prefetch(&s.table, state_key(&child))
        before = s.nodes
        # 9. Principal variation search: the first move with the full window, the others with a null
        # window. Late moves are reduced by log(depth) * log(number), and by one ply per `deficit`
        # points by which the evaluation after the move is below alpha (Moonbird's idea: +48 [+20,
        # +76], docs/experiments/005). Moves that exceed alpha are searched again.
        if i == 0:
            value = -ab_node(
                s, &child, AB_UNKNOWN, depth - 1 + extension, -beta, -alpha, ply + 1, NO_MOVE
            )
        else:
            child_evaluation = AB_UNKNOWN
            reduction = 0
            if depth >= 2 and i >= 2:
                reduction = s.reductions[
                    AB_DEPTHS * min(depth, AB_DEPTHS - 1) + min(i, AB_DEPTHS - 1)
                ]
                reduction += (not improving) - pv_node - noisy
                if not finished(&child):
                    if i == 2:
                        expect_moves(s, state)
                    child_evaluation = evaluate(s, &child)
                    reduction += max(
                        0, min((alpha + child_evaluation) // s.deficit, AB_MAX_DEFICITS)
                    )
                reduction = max(0, min(reduction, depth - 1))
            value = -ab_node(
                s, &child, child_evaluation, depth - 1 - reduction, -alpha - 1, -alpha, ply + 1,
                NO_MOVE
            )
            if value > alpha and reduction and not s.stopped:
                value = -ab_node(
                    s, &child, child_evaluation, depth - 1, -alpha - 1, -alpha, ply + 1, NO_MOVE
                )
            if alpha < value < beta and not s.stopped:
                value = -ab_node(
                    s, &child, child_evaluation, depth - 1, -beta, -alpha, ply + 1, NO_MOVE
                )
        if s.stopped:
            return 0
        if ply == 0:
            s.root_nodes += s.nodes - before
        if value > best:
            best = value
            if value > alpha:
                alpha = value
                best_move = move
                if pv_node:
                    s.pv[ply][0] = move
                    memmove(
                        &s.pv[ply][1], &s.pv[ply + 1][0], s.pv_length[ply + 1] * sizeof(uint16_t)
                    )
                    s.pv_length[ply] = s.pv_length[ply + 1] + 1
                if ply == 0:
                    s.best_nodes = s.nodes - before
                if alpha >= beta:
                    # 10. Beta cutoff: history bonus for this move, malus for earlier ones, linear
                    # in depth (+31 +- 18 Elo, docs/experiments/019); killer move.
                    bonus = min(150 * depth, 2048)
                    ab_learn(s, state, move, bonus)
                    for j in range(i):
                        ab_learn(s, state, moves[j], -bonus)
                    if not noisy and s.killers[ply][0] != move:
                        s.killers[ply][1] = s.killers[ply][0]
                        s.killers[ply][0] = move
                    break
    if excluded == NO_MOVE and not (ply == 0 and s.root_excluded_count):
        bound = TT_LOWER if best >= beta else TT_EXACT if best > first_alpha else TT_UPPER
        ab_store(s, key, depth, bound, best, evaluation, best_move, ply)
    return best


cdef int ab_iterate(AbSearch* s, const State* root, int depth, int last_value) noexcept nogil:
    """Search the root to a depth, in an aspiration window around the last value, and return the
    value. Invalid if s.stopped.

    A move that exceeds the window is searched again in a wider one. If that is stopped before it
    has a result, this move is the line (+43 [+21, +66] at 5,000 nodes, docs/experiments/038).
    """
    cdef int width = s.window
    cdef int alpha = -AB_WIN, beta = AB_WIN, value
    cdef uint16_t high = NO_MOVE
    if depth >= 4 and -AB_SURE < last_value < AB_SURE:
        alpha, beta = last_value - width, last_value + width
    while True:
        s.best_nodes = s.root_nodes = 0
        value = ab_node(s, root, AB_UNKNOWN, depth, alpha, beta, 0, NO_MOVE)
        if s.stopped and s.pv_length[0] == 0 and high != NO_MOVE:
            s.pv[0][0] = high
            s.pv_length[0] = 1
        if s.stopped or alpha < value < beta or (
            value <= alpha and alpha == -AB_WIN
        ) or (value >= beta and beta == AB_WIN):
            return value
        width *= 3
        if value <= alpha:
            alpha = -AB_WIN if width > 1000 else max(-AB_WIN, value - width)
        else:
            high = s.pv[0][0]
            beta = AB_WIN if width > 1000 else min(AB_WIN, value + width)


cdef double ab_patience(const AbSearch* s, int stable, int drop) noexcept nogil:
    """Return the factor of the planned time for this search.

    It grows with the nodes spent on other root moves, with a recent change of the best move
    (`stable`: iterations since then), and with a drop of the value (`drop`, in points). Only the
    option patience is tuned: docs/experiments/006.
    """
    cdef double share = <double>s.best_nodes / max(<uint64_t>1, s.root_nodes)
    return s.patience * (1.5 - share) * (1.4 - 0.1 * min(stable, 6)) * (
        1 + min(max(drop, 0), 200) / 300.0
    )


cdef tuple ab_line(const AbSearch* s, const State* root):
    """Return the principal variation as tuples."""
    cdef State state = root[0]
    cdef State child
    line = []
    for i in range(s.pv_length[0]):
        line.append(move_tuple(&state, s.pv[0][i]))
        make_move(&state, s.pv[0][i], &child)
        state = child
    return tuple(line)


cdef list ab_further_lines(
    AbSearch* s, const State* root, int depth, int wanted, list before, double started
):
    """Return the lines 2 to `wanted` at a depth; line 1 has just been searched.

    `before` are the lines of the previous iteration. Invalid if s.stopped.
    """
    cdef int value, last_value, number
    lines = []
    while s.root_excluded_count < wanted - 1 and s.pv_length[0]:
        s.root_excluded[s.root_excluded_count] = s.pv[0][0]
        s.root_excluded_count += 1
        number = s.root_excluded_count
        last_value = before[number].score if len(before) > number else 0
        with nogil:
            value = ab_iterate(s, root, depth, last_value)
        if s.stopped:
            break
        if s.pv_length[0]:
            line = ab_line(s, root)
            lines.append(SearchInfo(line[0], value, depth, s.nodes, clock_now() - started, line))
    return lines


cdef list ab_sorted(list lines):
    """Sort lines by score, the best first, and set their ranks."""
    cdef int rank
    order = sorted([(-lines[rank].score, rank) for rank in range(len(lines))])
    ranked = [lines[rank] for _, rank in order]
    for rank in range(len(ranked)):
        ranked[rank].rank = rank + 1
    return ranked


cdef ab_choose(AbSearch* s, const State* root, limits, int deepest, report):
    """Iterative deepening: return the best line of an unfinished position within the limits.

    `deepest` is another bound of the depth. `report`, if not None, is called after each iteration
    with each line. See `core.engine.Engine`.
    """
    cdef Move moves[MAX_MOVES]
    cdef double started = clock_now()
    cdef double soft = 0 if limits.soft is None else limits.soft - started
    cdef int depth, value = 0, last_value = 0, stable = 0, wanted, number
    cdef uint64_t best_nodes, root_nodes
    tt_begin(&s.table)
    s.nodes = 0
    s.stopped = False
    s.pv_length[0] = 0
    s.max_nodes = 0 if limits.nodes is None else limits.nodes
    s.deadline = 0 if limits.deadline is None else limits.deadline
    memset(s.killers, 0xFF, sizeof(s.killers))
    number = legal_moves(root, moves)
    if number == 1:
        deepest = 1
    wanted = min(limits.multipv, number, AB_MAX_LINES)
    found = SearchInfo(move_tuple(root, moves[0]))
    lines = []
    for depth in range(1, min(deepest, <int>AB_MAX_PLY) + 1):
        s.root_excluded_count = 0
        with nogil:
            value = ab_iterate(s, root, depth, last_value)
        if s.pv_length[0]:
            line = ab_line(s, root)
            stable = stable + 1 if line[0] == found.move else 0
            # a stopped iteration still counts if it has found another best move
            if not s.stopped or stable == 0:
                found = SearchInfo(
                    line[0], found.score if s.stopped else value,
                    found.depth if s.stopped else depth, s.nodes, clock_now() - started, line
                )
        elif not s.stopped:  # no move exceeds -AB_WIN: the game is decided
            found.score, found.depth = value, depth
        if s.stopped:
            break
        if wanted > 1:
            best_nodes, root_nodes = s.best_nodes, s.root_nodes
            further = ab_further_lines(s, root, depth, wanted, lines, started)
            if s.stopped:
                break
            s.best_nodes, s.root_nodes = best_nodes, root_nodes
            lines = ab_sorted([found, *further])
            found = lines[0]
            value = found.score
        if report is not None:
            for line in lines or [found]:
                report(line)
        # a forced result that a deeper search cannot change
        if AB_WIN - abs(value) <= depth and (
            wanted < 2 or all([AB_WIN - abs(line.score) <= depth for line in lines])
        ):
            break
        if soft > 0 and depth > 1 and clock_now() - started >= soft * ab_patience(
            s, stable, last_value - value
        ):
            break
        last_value = value
    found.nodes = s.nodes
    found.seconds = clock_now() - started
    return found
