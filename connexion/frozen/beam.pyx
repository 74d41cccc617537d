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

cdef struct Choice:
    Move move
    int gain            # of the mover's margin, its own score minus the other's


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
    Board* b, int plies, int inner, int alpha, int beta, uint64_t* nodes
) noexcept nogil:
    """What so many more plies bring the mover, by how its margin changes. Fail-soft alpha-beta:
    exact within (alpha, beta)."""
    cdef Choice choices[MAX_MOVES]
    cdef Undo undo
    cdef int number, i, value
    cdef int best = -INFINITE
    nodes[0] += 1
    if b.empty == 0:
        return 0
    number = best_choices(b, choices, inner if plies > 1 else 1)
    if plies == 1:
        return choices[0].gain
    for i in range(number):
        make(b, choices[i].move >> 4, choices[i].move & 15, &undo)
        value = choices[i].gain - beam_value(
            b, plies - 1, inner, choices[i].gain - beta, choices[i].gain - (
                alpha if alpha > best else best
            ), nodes
        )
        unmake(b, choices[i].move >> 4, choices[i].move & 15, &undo)
        if value > best:
            best = value
            if best >= beta:
                break
    return best


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
        cdef Choice choices[MAX_MOVES]
        cdef Undo undo
        cdef uint64_t nodes = 0
        cdef double started = clock_now()
        cdef int number, i, value
        cdef int index = 0
        cdef int best = -INFINITE
        cdef int seat = board.ply & 1
        number = best_choices(&board, choices, self.root)
        if number == 0:
            raise RuleError("the game is over")
        with nogil:
            for i in range(number):
                value = choices[i].gain
                make(&board, choices[i].move >> 4, choices[i].move & 15, &undo)
                if self.plies > 1:
                    value -= beam_value(
                        &board, self.plies - 1, self.inner, -INFINITE, choices[i].gain - best,
                        &nodes
                    )
                unmake(&board, choices[i].move >> 4, choices[i].move & 15, &undo)
                if value > best:
                    best, index = value, i
        move = (choices[index].move >> 4, choices[index].move & 15)
        margin = board.score[seat] - board.score[1 - seat]
        return SearchInfo(
            move, margin + best, self.plies, nodes + number, clock_now() - started, (move,)
        )


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
