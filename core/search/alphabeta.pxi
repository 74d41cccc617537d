# Principal variation search (Marsland and Campbell, "Parallel Search of Strongly Ordered Game
# Trees", 1982) with a transposition table, iterative deepening and aspiration windows, for two
# players who move in turn.
#
# A game's engine cimports or defines these names, then includes this file:
#   State                             a struct that is a position by value, with whatever the
#                                     evaluation keeps up
#   Move, MAX_MOVES, NO_MOVE          a 16-bit type, the most legal moves of a position, and a value
#                                     that is no move
#   SLOTS, slot(State*, Move)         how many entries the history has for each side, and the
#                                     move's
#   side(State*)                      0 or 1, the side to move
#   finished(State*)                  whether the game has ended, or its end is known
#   final_value(State*, ply)          what it is then worth for the side to move: AB_WIN - p,
#                                     p - AB_WIN or 0, p the plies from the root to the end
#   legal_moves(State*, Move*)        the legal moves of a game that goes on, a forced pass
#                                     included; returns how many, at least 1
#   useful_moves(State*, Move, Move*) the same without moves of no use, but with the given one if it
#                                     is legal; at least 1
#   make_move(State*, Move, State*)   the position after a move
#   state_key(State*)                 64-bit hash of all that the value depends on
#   move_order(State*, Move)          how promising a move is, 0 .. 127; what AB_NOISY and more
#                                     promises is not taken for quiet
#   move_tuple(State*, Move)          the move as Python sees it
# and after the inclusion:
#   expect_moves(AbSearch*, State*)   positions after moves of this one are to be evaluated
#   evaluate(AbSearch*, State*)       value for the side to move, |value| < AB_SURE
#   leaf_value(AbSearch*, State*, evaluation, alpha, beta, ply)
#                                     fail-soft value where the search ends, of a position whose
#                                     evaluation is known: just that, or a search of what is not
#                                     quiet
#
# It offers AbSearch, whose memory the caller owns, and ab_new, ab_free, ab_forget,
# ab_choose. Scores are 400 points to a unit of the logistic function; so are margins.

from libc.math cimport log
from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memmove, memset

from core.native.clock cimport clock_now

from core.limits import SearchInfo

cdef enum:
    AB_WIN = 30000
    AB_SURE = 29000         # what is worth more is a forced win
    AB_MAX_PLY = 96
    AB_UNKNOWN = 1 << 16    # no evaluation
    AB_MOST_HISTORY = 8192
    AB_MOST_DEFICITS = 3    # plies
    AB_MOST_LINES = 64
    AB_PLACES = 1024        # more than moves of any position
    AB_DEPTHS = 64          # of the table of reductions, and as many numbers of moves

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
    void* weights           # the engine's own: what its evaluation needs beside the position
    # what core/search/options.py says of them
    double patience
    int futility, late_moves, quiet_margin, quiet_slope, deficit, window
    uint8_t* reductions     # plies, by depth and number of the move
    # root moves that are left out, for further lines
    uint16_t barred[AB_MOST_LINES]
    int barred_count
    uint64_t nodes
    uint64_t max_nodes      # 0: no bound
    double deadline         # on core.native.clock; 0: no bound
    # a bound was reached, or somebody asked for it: the values of this iteration are worthless
    bint stopped
    uint64_t best_nodes     # spent on the best root move in the last iteration
    uint64_t root_nodes     # spent on all of them
    uint16_t pv[AB_MAX_PLY + 1][AB_MAX_PLY + 1]
    int pv_length[AB_MAX_PLY + 1]
    uint16_t killers[AB_MAX_PLY + 2][2]
    int evaluations[AB_MAX_PLY + 2]
    int16_t history[2][SLOTS]

cdef double AB_USUAL_REDUCTION = 2.0
# the usual table, which all searches share
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
    """The value of an option that is a whole number."""
    return settings[name]


cdef AbSearch* ab_new(dict settings) except NULL:
    """A search with these values of `core.search.options.ab_options`. Raises MemoryError."""
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


cdef void ab_forget(AbSearch* s) noexcept:
    """Make the search as good as new."""
    tt_clear(&s.table)
    memset(s.history, 0, sizeof(s.history))


cdef inline bint ab_stop(AbSearch* s) noexcept nogil:
    """Counts a node; looks at the clock now and then."""
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
    """Keep a result, but for one that says less than what this search knows already."""
    cdef TableEntry* entry = tt_place(&s.table, key)
    if entry.key == key and entry.mark & 3:
        if move == NO_MOVE:
            move = entry.move
        if bound != TT_EXACT and entry.mark >> 2 == s.table.age and entry.depth > depth + 3:
            return
    # A forced win is kept as its distance from here, not from the root.
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
    """Move the history of a move towards the sign of the bonus, the less the further it has gone
    already."""
    cdef int16_t* entry = &s.history[side(state)][slot(state, move)]
    entry[0] += <int16_t>(bonus - entry[0] * (bonus if bonus > 0 else -bonus) // AB_MOST_HISTORY)


cdef inline int32_t ab_ranked(int worth, int i) noexcept nogil:
    """How promising the move at place i is: `worth`, |worth| < 1 << 21, and among equals the first.
    """
    return worth * AB_PLACES + AB_PLACES - 1 - i


cdef inline Move ab_pick(Move* moves, int32_t* order, int i, int count) noexcept nogil:
    """The most promising of the moves from i on, by `ab_ranked`, brought to place i."""
    cdef int j
    cdef int32_t most = order[i]
    cdef Move move
    for j in range(i + 1, count):       # without branches: the compiler makes vectors of it
        most = order[j] if order[j] > most else most
    j = AB_PLACES - 1 - (most & (AB_PLACES - 1))
    move = moves[j]
    moves[j] = moves[i]
    order[j] = order[i] + i - j
    moves[i] = move
    return move


cdef inline int ab_without_barred(const AbSearch* s, Move* moves, int count) noexcept nogil:
    """Take the barred ones from moves; how many are left."""
    cdef int i, j, kept = 0
    for i in range(count):
        for j in range(s.barred_count):
            if moves[i] == s.barred[j]:
                break
        else:
            moves[kept] = moves[i]
            kept += 1
    return kept


cdef inline int ab_node(
    AbSearch* s, const State* state, int evaluation, int depth, int alpha, int beta, int ply,
    Move excluded
) noexcept nogil:
    """Fail-soft value of the position for the side to move; without the `excluded` move, if it is
    not NO_MOVE.

    `evaluation`: of the position, or AB_UNKNOWN.
    """
    cdef Move moves[MAX_MOVES]
    cdef int32_t order[MAX_MOVES]
    cdef Move move, table_move = NO_MOVE, best_move = NO_MOVE
    cdef int count, i, j, worth, value, best, child_evaluation, extension, reduction, bonus, bound
    cdef int first_alpha = alpha
    cdef int table_value = 0, table_depth = -1, table_bound = 0, wanted, bar
    cdef bint pv_node = beta - alpha > 1
    cdef bint improving, noisy
    cdef uint64_t key, before
    cdef TableEntry* entry
    cdef State child

    s.pv_length[ply] = 0
    if ab_stop(s):
        return 0
    # 1. The game's end, and the end of the search.
    if finished(state):
        return final_value(state, ply)
    if depth <= 0 or ply >= AB_MAX_PLY:
        return leaf_value(
            s, state, evaluate(s, state) if evaluation == AB_UNKNOWN else evaluation, alpha, beta,
            ply
        )
    # 2. Transposition table. Its results end the search of all nodes but the root, which has to
    # find a move.
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
                TT_AT_LEAST if table_value >= beta
                else TT_AT_MOST if table_value <= alpha else TT_EXACT
            )
            if table_bound == TT_EXACT or table_bound == wanted:
                return table_value
    elif evaluation == AB_UNKNOWN:
        evaluation = evaluate(s, state)
    s.evaluations[ply] = evaluation
    improving = ply >= 2 and evaluation > s.evaluations[ply - 2]
    # 3. Reverse futility: so far ahead that the opponent will not get it back in the plies that are
    # left.
    if not pv_node and excluded == NO_MOVE and depth <= 6 and -AB_SURE < beta < AB_SURE:
        if evaluation - s.futility * depth >= beta:
            return evaluation
    # Internal iterative reduction: without a move from the table the order is poor, and the next
    # iteration will have one.
    if table_move == NO_MOVE and depth >= 3:
        depth -= 1
    # 4. Moves and their order: history counts for up to 8 of move_order, a killer for 2 more.
    if ply > 0:
        count = useful_moves(state, table_move, moves)
    else:
        count = legal_moves(state, moves)
        if s.barred_count:
            count = ab_without_barred(s, moves, count)
    for i in range(count):
        if moves[i] == table_move:
            worth = 1 << 20
        else:
            worth = (
                move_order(state, moves[i]) << 10
            ) + s.history[side(state)][slot(state, moves[i])]
            if moves[i] == s.killers[ply][0] or moves[i] == s.killers[ply][1]:
                worth += 1 << 11
        order[i] = ab_ranked(worth, i)
    s.killers[ply + 1][0] = s.killers[ply + 1][1] = NO_MOVE
    best = -AB_WIN
    for i in range(count):
        move = ab_pick(moves, order, i, count)
        if move == excluded:
            continue
        noisy = move_order(state, move) >= AB_NOISY
        if ply > 0 and best > -AB_SURE:
            # 5. Quiet late moves of shallow nodes are skipped (57 % of 300 games at 5,000
            # nodes a move, for ending the loop there), and what follows a move that promises
            # nothing,
            if not noisy and depth <= 4 and not pv_node and i >= (
                s.late_moves + depth * depth * 2
            ) >> (not improving):
                continue
            if i >= 2 and move_order(state, move) == 0:
                break
            # 6. and all that follow, noisy ones too, where the position is too bad (54 % of 182
            # games, for skipping the quiet ones alone).
            if depth <= 6 and i >= 3 and (
                evaluation + s.quiet_margin + s.quiet_slope * depth <= alpha
            ):
                break
        # 7. Singular extension: deeper where all other moves are worse by far. Where they are not,
        # and good enough, that is enough.
        extension = 0
        if (
            move == table_move and excluded == NO_MOVE and ply > 0 and depth >= 6
            and table_bound != TT_AT_MOST and table_depth >= depth - 3
            and -AB_SURE < table_value < AB_SURE
        ):
            bar = table_value - depth
            value = ab_node(s, state, evaluation, (depth - 1) // 2, bar - 1, bar, ply, move)
            if s.stopped:
                return 0
            s.pv_length[ply] = 0
            if value < bar:
                extension = 1
            elif not pv_node and bar >= beta:
                return bar
            elif not pv_node and table_value >= beta:
                extension = -1
        make_move(state, move, &child)
        if depth > 1:
            tt_prefetch(&s.table, state_key(&child))
        before = s.nodes
        # 8. The first move in full, the others with a null window, less deep if they are late or
        # look bad after a ply (the idea of Moonbird's futility reductions); whatever proves better
        # is searched again.
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
                        0, min((alpha + child_evaluation) // s.deficit, AB_MOST_DEFICITS)
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
                    # 9. What refutes here may refute elsewhere; what was tried before it did not.
                    bonus = min(150 * depth, 2048)   # docs/experiments/019
                    ab_learn(s, state, move, bonus)
                    for j in range(i):
                        ab_learn(s, state, moves[j], -bonus)
                    if not noisy and s.killers[ply][0] != move:
                        s.killers[ply][1] = s.killers[ply][0]
                        s.killers[ply][0] = move
                    break
    if excluded == NO_MOVE and not (ply == 0 and s.barred_count):
        bound = TT_AT_LEAST if best >= beta else TT_EXACT if best > first_alpha else TT_AT_MOST
        ab_store(s, key, depth, bound, best, evaluation, best_move, ply)
    return best


cdef int ab_iterate(AbSearch* s, const State* root, int depth, int last_value) noexcept nogil:
    """Search the root to a depth, in a window about the value of the iteration before; worthless
    when s.stopped."""
    cdef int width = s.window
    cdef int alpha = -AB_WIN, beta = AB_WIN, value
    if depth >= 4 and -AB_SURE < last_value < AB_SURE:
        alpha, beta = last_value - width, last_value + width
    while True:
        s.best_nodes = s.root_nodes = 0
        value = ab_node(s, root, AB_UNKNOWN, depth, alpha, beta, 0, NO_MOVE)
        if s.stopped or alpha < value < beta or (
            value <= alpha and alpha == -AB_WIN
        ) or (value >= beta and beta == AB_WIN):
            return value
        width *= 3
        if value <= alpha:
            alpha = -AB_WIN if width > 1000 else max(-AB_WIN, value - width)
        else:
            beta = AB_WIN if width > 1000 else min(AB_WIN, value + width)


cdef double ab_patience(const AbSearch* s, int stable, int drop) noexcept nogil:
    """By what the time meant for a search is to be multiplied.

    It is longer where the other moves took much of the last iteration's nodes, where the best move
    has changed of late (`stable` iterations ago), and where the value has dropped.
    """
    cdef double share = <double>s.best_nodes / max(<uint64_t>1, s.root_nodes)
    return s.patience * (1.5 - share) * (1.4 - 0.1 * min(stable, 6)) * (
        1 + min(max(drop, 0), 200) / 300.0
    )


cdef tuple ab_line(const AbSearch* s, const State* root):
    """The principal variation as Python sees it."""
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
    """The best lines at a depth but for the first, which has just been searched.

    `before` are the lines of the iteration before. Worthless when s.stopped.
    """
    cdef int value, last_value
    lines = []
    while s.barred_count < wanted - 1 and s.pv_length[0]:
        s.barred[s.barred_count] = s.pv[0][0]
        s.barred_count += 1
        last_value = before[s.barred_count].score if len(before) > s.barred_count else 0
        with nogil:
            value = ab_iterate(s, root, depth, last_value)
        if s.stopped:
            break
        if s.pv_length[0]:
            line = ab_line(s, root)
            lines.append(SearchInfo(line[0], value, depth, s.nodes, clock_now() - started, line))
    return lines


cdef list ab_sorted(list lines):
    """Lines by their scores, the best first, each with its rank."""
    cdef int rank
    order = sorted([(-lines[rank].score, rank) for rank in range(len(lines))])
    ranked = [lines[rank] for _, rank in order]
    for rank in range(len(ranked)):
        ranked[rank].rank = rank + 1
    return ranked


cdef ab_choose(AbSearch* s, const State* root, limits, int deepest, report):
    """Iterative deepening: the best move of the position within the limits, of a game that goes on.
    See `core.engine.Engine`.

    `deepest` bounds the depth beside the limits. `report`, if not None, is called after every
    iteration, and where several lines are wanted for each.
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
    wanted = min(limits.multipv, number, AB_MOST_LINES)
    found = SearchInfo(move_tuple(root, moves[0]))
    lines = []
    for depth in range(1, min(deepest, <int>AB_MAX_PLY) + 1):
        s.barred_count = 0
        with nogil:
            value = ab_iterate(s, root, depth, last_value)
        if s.pv_length[0]:
            line = ab_line(s, root)
            stable = stable + 1 if line[0] == found.move else 0
            # also a better one that was found before the end of an iteration that was stopped
            if not s.stopped or stable == 0:
                found = SearchInfo(
                    line[0], found.score if s.stopped else value,
                    found.depth if s.stopped else depth, s.nodes, clock_now() - started, line
                )
        elif not s.stopped:  # the game is decided, whatever is played
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
        # a forced end that no deeper search can change
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
