"""Frozen opponents that look at the scores alone, as if the game were over where they stop looking;
nothing that is drawn is foreseen."""

from libc.stdint cimport uint64_t

from core.native.bits cimport lowest_bit32, lowest_bit64
from core.native.clock cimport clock_now
from connexion.rules cimport (
    MAX_MOVES, Board, Move, Position, Tiles, Undo, attribute_of, gains, kinds, make, unmake,
)

from core.errors import RuleError
from core.limits import SearchInfo

cdef enum:
    INFINITE = 1 << 20
    CLOCK_NODES = 1024  # between two looks at the clock
    DEFAULT_WIDTH = 13  # of a timed beam without limits

cdef struct Choice:
    Move move
    int gain            # of the mover's margin, its own score minus the other's


cdef struct Budget:
    uint64_t nodes      # visited
    uint64_t max_nodes  # 0: any number
    double deadline     # 0: none
    bint stopped


cdef inline bint is_spent(Budget* budget) noexcept nogil:
    """Count a node. Return True if the search must stop."""
    budget.nodes += 1
    if budget.max_nodes and budget.nodes >= budget.max_nodes:
        budget.stopped = True
    elif budget.deadline and budget.nodes % CLOCK_NODES == 0 and clock_now() >= budget.deadline:
        budget.stopped = True
    return budget.stopped


cdef inline int best_choices(const Board* b, Choice* choices, int most) noexcept nogil:
    """The moves that gain the most, best first; among equals in ascending order. Returns how many,
    at most `most`."""
    cdef int own[4]
    cdef int other[4]
    cdef int seat = b.ply & 1
    cdef int number = 0
    cdef int cell, tile, value, i
    cdef Tiles left
    cdef Tiles hand = kinds(b.hand[seat])
    cdef uint64_t cells = b.empty
    while cells:
        cell = lowest_bit64(cells)
        cells &= cells - 1
        gains(b, seat, cell, own)
        gains(b, 1 - seat, cell, other)
        left = hand
        while left:
            tile = lowest_bit32(left) >> 1
            left &= left - 1
            value = own[attribute_of(seat, tile)] - other[attribute_of(1 - seat, tile)]
            if number == most and value <= choices[number - 1].gain:
                continue
            i = number if number < most else number - 1
            while i > 0 and choices[i - 1].gain < value:
                choices[i] = choices[i - 1]
                i -= 1
            choices[i].move, choices[i].gain = <Move>(cell << 4 | tile), value
            if number < most:
                number += 1
    return number


cdef int beam_value(
    Board* b, int plies, int inner, int alpha, int beta, Budget* budget
) noexcept nogil:
    """Return the change of the mover's margin by `plies` more plies. Fail-soft alpha-beta: exact
    within (alpha, beta); meaningless once the budget is spent."""
    cdef Choice choices[MAX_MOVES]
    cdef Undo undo
    cdef int number, i, value
    cdef int best = -INFINITE
    if is_spent(budget) or b.empty == 0:
        return 0
    number = best_choices(b, choices, inner if plies > 1 else 1)
    if plies == 1:
        return choices[0].gain
    for i in range(number):
        make(b, choices[i].move >> 4, choices[i].move & 15, &undo)
        value = choices[i].gain - beam_value(
            b, plies - 1, inner, choices[i].gain - beta, choices[i].gain - (
                alpha if alpha > best else best
            ), budget
        )
        unmake(b, choices[i].move >> 4, choices[i].move & 15, &undo)
        if value > best:
            best = value
            if best >= beta:
                break
    return best


cdef struct Found:
    Move move
    int value           # change of the mover's margin


cdef Found beam_search(Board* b, int plies, int root, int inner, Budget* budget) noexcept nogil:
    """Return the best of the `root` moves that gain most, the first among equals; any of them once
    the budget is spent."""
    cdef Choice choices[MAX_MOVES]
    cdef Undo undo
    cdef Found found
    cdef int i, value
    cdef int number = best_choices(b, choices, root)
    budget.nodes += number
    found.move, found.value = 0, -INFINITE
    for i in range(number):
        value = choices[i].gain
        make(b, choices[i].move >> 4, choices[i].move & 15, &undo)
        if plies > 1:
            value -= beam_value(
                b, plies - 1, inner, -INFINITE, choices[i].gain - found.value, budget
            )
        unmake(b, choices[i].move >> 4, choices[i].move & 15, &undo)
        if value > found.value:
            found.move, found.value = choices[i].move, value
    return found


cdef object info_of(Board* b, Found found, int plies, uint64_t nodes, double started):
    cdef int seat = b.ply & 1
    move = (found.move >> 4, found.move & 15)
    margin = b.score[seat] - b.score[1 - seat]
    return SearchInfo(move, margin + found.value, plies, nodes, clock_now() - started, (move,))


cdef class Beam:
    """The player `beam:PLIES:ROOT:INNER`: minimax of the margin, over the ROOT moves that gain most
    at once, INNER later on."""

    cdef int plies, root, inner

    def __cinit__(self, int plies, int root, int inner):
        self.plies, self.root, self.inner = plies, root, inner

    def choose(self, Position position, limits):  # noqa: ARG002
        """The best move; among equals the one that gains more at once, then the first. The score is
        the margin where the line ends."""
        cdef Board board = position.board
        cdef double started = clock_now()
        cdef Budget budget
        cdef Found found
        if board.empty == 0:
            raise RuleError("the game is over")
        budget.nodes, budget.max_nodes, budget.deadline, budget.stopped = 0, 0, 0, False
        with nogil:
            found = beam_search(&board, self.plies, self.root, self.inner, &budget)
        return info_of(&board, found, self.plies, budget.nodes, started)


cdef class TimedBeam:
    """The player `beam:PLIES`: all moves at the root, and later on the 4, 6, 9, 13, ... moves that
    gain most, until the limits are reached."""

    cdef int plies

    def __cinit__(self, int plies):
        self.plies = plies

    def choose(self, Position position, limits):
        """The best move of the widest complete search; without any, of a search of one ply."""
        cdef Board board = position.board
        cdef double started = clock_now()
        cdef Budget budget
        cdef Found found, wider
        cdef int width = 4
        cdef int max_width = MAX_MOVES
        if board.empty == 0:
            raise RuleError("the game is over")
        if limits.nodes is None and limits.soft is None and limits.deadline is None:
            max_width = DEFAULT_WIDTH
        budget.nodes, budget.stopped = 0, False
        budget.max_nodes = limits.nodes or 0
        budget.deadline = (limits.deadline if limits.soft is None else limits.soft) or 0
        with nogil:
            found = beam_search(&board, 1, MAX_MOVES, 1, &budget)
            while width <= max_width:
                wider = beam_search(&board, self.plies, MAX_MOVES, width, &budget)
                if budget.stopped:
                    break
                found = wider
                width += width // 2
        return info_of(&board, found, self.plies, budget.nodes, started)


cdef class OnePly:
    """The players `sample` and `margin`: the greatest own score, or margin; among equals the first
    cell, then the tile drawn first."""

    cdef bint margin

    def __cinit__(self, bint margin):
        self.margin = margin

    def choose(self, Position position, limits):  # noqa: ARG002
        """The score is what is maximised, after the move."""
        cdef const Board* b = &position.board
        cdef int own[4]
        cdef int other[4]
        cdef int seat = b.ply & 1
        cdef int best = -INFINITE
        cdef int cell, tile, value
        cdef int nodes = 0
        cdef uint64_t cells = b.empty
        cdef double started = clock_now()
        move = None
        hand = position.hands[seat]
        while cells:
            cell = lowest_bit64(cells)
            cells &= cells - 1
            gains(b, seat, cell, own)
            gains(b, 1 - seat, cell, other)
            for tile in hand:
                nodes += 1
                value = own[attribute_of(seat, tile)]
                if self.margin:
                    value -= other[attribute_of(1 - seat, tile)]
                if value > best:
                    best = value
                    move = (cell, tile)
        if move is None:
            raise RuleError("the game is over")
        best += b.score[seat] - (b.score[1 - seat] if self.margin else 0)
        return SearchInfo(move, best, 1, nodes, clock_now() - started, (move,))
