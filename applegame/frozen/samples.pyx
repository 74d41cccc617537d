"""The judge's sample AIs that look ahead, sample:4 and up: frozen, as they are opponents to measure
against.

Full-width negamax on the difference of cells; RULES.md has the recipe. Ours finds the same moves
with alpha-beta, moves in the order of their swing, a table, and two plies before the end only moves
that can still matter: six plies in a third of the time.
"""

from applegame.rules cimport (
    MAX_MOVES, PASS_MOVE, Board, Move, Position, bottom_row, columns, generate, make, move_tuple,
    regenerate, swing, top_row,
)
from libc.stdint cimport int16_t, uint64_t
from libc.stdlib cimport calloc, free

from applegame.rules import Position as FastPosition
from core.errors import RuleError
from core.limits import SearchInfo

cdef enum:
    FAR = 10_000        # beyond any difference of cells
    ENTRIES = 1 << 15   # of the table, which takes 512 KB

cdef struct Entry:
    uint64_t key            # of cells, side and depth; 0 where there is none
    int16_t least, most     # what the value is between


cdef int order(const Board* b, Move* moves, int16_t* swings, int count) noexcept nogil:
    """Sort moves by their swing for the side to move, the largest first; the swings too."""
    cdef int i, j
    cdef Move move
    cdef int16_t gain
    for i in range(count):
        move = moves[i]
        gain = swing(b, b.ply & 1, move)
        j = i
        while j > 0 and swings[j - 1] < gain:
            moves[j], swings[j] = moves[j - 1], swings[j - 1]
            j -= 1
        moves[j], swings[j] = move, gain
    return count


cdef int order_replies(
    const Board* b, const Move* moves, int count, Move* replies, int16_t* gains
) noexcept nogil:
    """The rectangles that the opponent would gain cells by, with what it would gain, the most
    first; returns how many."""
    cdef int i, j, gain, kept = 0
    for i in range(count):
        gain = swing(b, 1 - (b.ply & 1), moves[i])
        if gain <= 0:
            continue
        j = kept
        while j > 0 and gains[j - 1] < gain:
            replies[j], gains[j] = replies[j - 1], gains[j - 1]
            j -= 1
        replies[j], gains[j] = moves[i], gain
        kept += 1
    return kept


cdef inline int gain_apart(
    Move move, const Move* replies, const int16_t* gains, int count
) noexcept nogil:
    """What the opponent gains by the best of these replies that the move does not touch."""
    cdef int i
    for i in range(count):
        if columns(replies[i]) & columns(move) == 0 or top_row(
            replies[i]
        ) > bottom_row(move) or bottom_row(replies[i]) < top_row(move):
            return gains[i]
    return 0


cdef int negamax(
    const Board* b, Move* moves, int count, int depth, int alpha, int beta, Entry* table,
    uint64_t* nodes
) noexcept nogil:
    """Fail-soft value for the side to move of a position with these rectangles, which are brought
    into another order."""
    cdef Move after[MAX_MOVES]
    cdef Move replies[MAX_MOVES]
    cdef int16_t swings[MAX_MOVES]
    cdef int16_t gains[MAX_MOVES]
    cdef Board child
    cdef Entry* entry
    cdef uint64_t position
    cdef int i, value, best, found, answers = 0
    cdef int lead = b.cells[b.ply & 1] - b.cells[1 - (b.ply & 1)]
    nodes[0] += 1
    if depth == 1:
        best = 0
        for i in range(count):
            best = max(best, swing(b, b.ply & 1, moves[i]))
        return lead + best
    position = b.hash + 2 * depth + (b.ply & 1)     # passes do not matter to it
    entry = &table[position & (ENTRIES - 1)]
    if entry.key == position:
        if entry.least >= beta or entry.least == entry.most:
            return entry.least
        if entry.most <= alpha:
            return entry.most
    order(b, moves, swings, count)
    best = -FAR
    if depth == 2:
        answers = order_replies(b, moves, count, replies, gains)
    for i in range(count + 1):
        child = b[0]
        if i < count:
            if depth == 2:
                if best >= lead + swings[i]:  # the opponent's swing is at least 0,
                    break
                # and that of the best reply that was there before and lies apart
                value = lead + swings[i] - gain_apart(moves[i], replies, gains, answers)
                if value <= max(alpha, best):
                    best = max(best, value)
                    continue
            make(&child, moves[i])
            found = regenerate(&child, moves[i], moves, count, after)
            value = -negamax(
                &child, after, found, depth - 1, -beta, -max(alpha, best), table, nodes
            )
        else:
            make(&child, PASS_MOVE)
            value = -negamax(
                &child, moves, count, depth - 1, -beta, -max(alpha, best), table, nodes
            )
        best = max(best, value)
        if best >= beta:
            break
    if entry.key != position:
        entry.key, entry.least, entry.most = position, -FAR, FAR
    if best > alpha:
        entry.least = <int16_t>best
    if best < beta:
        entry.most = <int16_t>best
    return best


cdef class Sample:
    """A sample AI that looks `plies` ahead, the last of them a static look at the largest swing."""

    cdef int plies
    cdef Entry* table

    def __init__(self, int plies):
        """Raises ValueError for less than two plies."""
        if plies < 2:
            raise ValueError(f"{plies} plies, not at least 2")
        self.plies = plies
        self.table = <Entry*>calloc(ENTRIES, sizeof(Entry))
        if self.table == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.table)

    def choose(self, position, limits):
        """The move of the greatest value; among equals the pass, then the first in the order of r1,
        r2, c1, c2. It heeds no limits."""
        cdef Position fast = position if isinstance(
            position, FastPosition
        ) else FastPosition.parse(position.text())
        cdef Move moves[MAX_MOVES]
        cdef Move before[MAX_MOVES]
        cdef Move after[MAX_MOVES]
        cdef int16_t swings[MAX_MOVES]
        cdef Board child
        cdef Move move, chosen = PASS_MOVE
        cdef int i, count, found, value, best, alpha
        cdef uint64_t nodes = 1
        if position.over:
            raise RuleError("the game is over")
        with nogil:
            count = generate(&fast.board, moves)
            for i in range(count):
                before[i] = moves[i]
            child = fast.board
            make(&child, PASS_MOVE)
            best = -negamax(&child, before, count, self.plies - 1, -FAR, FAR, self.table, &nodes)
            order(&fast.board, moves, swings, count)
            for i in range(count):
                move = moves[i]
                child = fast.board
                make(&child, move)
                found = regenerate(&child, move, moves, count, after)
                # Equal is enough for a move that comes before the chosen one; nothing comes before
                # the pass.
                alpha = best - (chosen != PASS_MOVE and move < chosen)
                value = -negamax(
                    &child, after, found, self.plies - 1, -FAR, -alpha, self.table, &nodes
                )
                if value > alpha:
                    best, chosen = value, move
        return SearchInfo(move_tuple(chosen), best, self.plies, nodes)
