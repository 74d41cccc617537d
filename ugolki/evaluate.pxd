"""A static evaluation by the distances to the squares alone, for playouts, finished games, and the
expected order of the seats.

A player's cost is the sum over its pieces of 16 d + d * d, d = steps to its square. The square
makes stragglers more expensive than their part of the penalty.
"""

from libc.stdint cimport uint32_t

from core.native.bits cimport lowest_bit32
from ugolki.rules cimport (
    AT_DISTANCE, DISTANCE, NOBODY, SEATS, Board, Move, steps_beside, steps_below
)


cdef inline int distance_cost(int d) noexcept nogil:
    """Return the cost of a piece at distance d, in sixteenths of a step."""
    return 16 * d + d * d


cdef inline int piece_cost(int seat, int cell) noexcept nogil:
    """Return the cost of a seat's piece on a cell, in sixteenths of a step."""
    return distance_cost(DISTANCE[seat][cell])


cdef inline int cost(const Board* b, int seat) noexcept nogil:
    """Return the seat's cost; 0 at home."""
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
    """Return the decrease of the seat's cost by a move."""
    return piece_cost(seat, move >> 8) - piece_cost(seat, move & 0xFF)


cdef inline int nearest(int seat, int k, uint32_t cells, int most) noexcept nogil:
    """Return the smallest distance among cells of class k, at most `most`."""
    cdef int d
    for d in range(most):
        if cells & AT_DISTANCE[seat][k][d]:
            return d
    return most
