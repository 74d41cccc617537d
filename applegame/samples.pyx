"""The judge's sample AIs that look ahead, sample:4 and up: frozen, as they are opponents to measure against.

Full-width negamax on the difference of cells; RULES.md has the recipe. Ours finds the same moves with alpha-beta and moves in the order
of their swing.
"""

from applegame.rules cimport (
    MAX_MOVES, PASS_MOVE, Board, Move, Position, generate, make, move_tuple, regenerate, swing,
)
from libc.stdint cimport int16_t, uint64_t

from applegame.rules import Position as FastPosition
from core.errors import RuleError
from core.limits import SearchInfo

cdef enum:
    FAR = 10_000    # beyond any difference of cells


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


cdef int negamax(const Board* b, Move* moves, int count, int depth, int alpha, int beta, uint64_t* nodes) noexcept nogil:
    """Fail-soft value for the side to move of a position with these rectangles, which are brought into another order."""
    cdef Move after[MAX_MOVES]
    cdef int16_t swings[MAX_MOVES]
    cdef Board child
    cdef int i, value, best, found
    cdef int lead = b.cells[b.ply & 1] - b.cells[1 - (b.ply & 1)]
    nodes[0] += 1
    if depth == 1:
        best = 0
        for i in range(count):
            best = max(best, swing(b, b.ply & 1, moves[i]))
        return lead + best
    order(b, moves, swings, count)
    best = -FAR
    for i in range(count + 1):
        child = b[0]
        if i < count:
            if depth == 2 and best >= lead + swings[i]:  # the opponent's swing is at least 0
                break
            make(&child, moves[i])
            found = regenerate(&child, moves[i], moves, count, after)
            value = -negamax(&child, after, found, depth - 1, -beta, -max(alpha, best), nodes)
        else:
            make(&child, PASS_MOVE)
            value = -negamax(&child, moves, count, depth - 1, -beta, -max(alpha, best), nodes)
        best = max(best, value)
        if best >= beta:
            break
    return best


cdef class Sample:
    """A sample AI that looks `plies` ahead, the last of them a static look at the largest swing."""

    cdef int plies

    def __init__(self, int plies):
        """Raises ValueError for less than two plies."""
        if plies < 2:
            raise ValueError(f"{plies} plies, not at least 2")
        self.plies = plies

    def choose(self, position, limits):
        """The move of the greatest value; among equals the pass, then the first in the order of r1, r2, c1, c2. It heeds no limits."""
        cdef Position fast = position if isinstance(position, FastPosition) else FastPosition.parse(position.text())
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
            best = -negamax(&child, before, count, self.plies - 1, -FAR, FAR, &nodes)
            order(&fast.board, moves, swings, count)
            for i in range(count):
                move = moves[i]
                child = fast.board
                make(&child, move)
                found = regenerate(&child, move, moves, count, after)
                # Equal is enough for a move that comes before the chosen one; nothing comes before the pass.
                alpha = best - (chosen != PASS_MOVE and move < chosen)
                value = -negamax(&child, after, found, self.plies - 1, -FAR, -alpha, &nodes)
                if value > alpha:
                    best, chosen = value, move
        return SearchInfo(move_tuple(chosen), best, self.plies, nodes)
