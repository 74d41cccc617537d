"""How far every player still is from home, and what that is worth.

A player's cost is the sum over its pieces of 16 d + d * d, d being the steps to its square: the square makes stragglers dearer
than their share of the penalty.
"""

from libc.stdint cimport uint32_t

from core.bits cimport lowest_bit32
from ugolki.rules cimport DISTANCE, NOBODY, SEATS, Board

cdef enum:
    COST_OF_STEP = 16
    NO_RIVAL = 1 << 20


cdef inline int cost(const Board* b, int seat) noexcept nogil:
    """The seat's cost, in sixteenths of a step; 0 at home."""
    cdef int k, d
    cdef int total = 0
    cdef uint32_t pieces
    for k in range(4):
        pieces = b.own[seat][k]
        while pieces:
            d = DISTANCE[seat][k << 5 | lowest_bit32(pieces)]
            total += COST_OF_STEP * d + d * d
            pieces &= pieces - 1
    return total


cdef inline int evaluate(const Board* b, int root) noexcept nogil:
    """The lead of the seat `root` over its nearest rival, in sixteenths of a step; against nobody, minus its own cost."""
    cdef int seat
    cdef int rival = NO_RIVAL
    for seat in range(SEATS):
        if seat != root and b.penalty[seat] != NOBODY:
            rival = min(rival, cost(b, seat))
    return (0 if rival == NO_RIVAL else rival) - cost(b, root)
