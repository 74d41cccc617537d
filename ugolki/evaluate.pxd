"""What a position costs a player and which moves look good at a glance, from the distances to the
squares alone: for playouts, where the game is over, and to say in what order the seats will finish.

A player's cost is the sum over its pieces of 16 d + d * d, d being the steps to its square: the
square makes stragglers dearer than their share of the penalty.
"""

from libc.stdint cimport uint32_t

from core.native.bits cimport lowest_bit32
from ugolki.rules cimport (
    AT_DISTANCE, DISTANCE, NOBODY, SEATS, Board, Move, steps_beside, steps_below
)


cdef inline int distance_cost(int d) noexcept nogil:
    """Of a piece so many steps from its square, in sixteenths of a step."""
    return 16 * d + d * d


cdef inline int piece_cost(int seat, int cell) noexcept nogil:
    """In sixteenths of a step."""
    return distance_cost(DISTANCE[seat][cell])


cdef inline int cost(const Board* b, int seat) noexcept nogil:
    """The seat's cost; 0 at home."""
    cdef int k
    cdef int total = 0
    cdef uint32_t pieces
    for k in range(4):
        pieces = b.own[seat][k]
        while pieces:
            total += piece_cost(seat, k << 5 | lowest_bit32(pieces))
            pieces &= pieces - 1
    return total


cdef inline int gain(int seat, Move move) noexcept nogil:
    """By how much a move lowers its seat's cost."""
    return piece_cost(seat, move >> 8) - piece_cost(seat, move & 0xFF)


cdef inline int nearest(int seat, int k, uint32_t cells, int most) noexcept nogil:
    """The least distance among cells of class k, `most` where none is nearer."""
    cdef int d
    for d in range(most):
        if cells & AT_DISTANCE[seat][k][d]:
            return d
    return most
