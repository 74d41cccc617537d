"""The fast rules of noughts and crosses. A cell is bit 3 * row + column of a mask."""

from libc.stdint cimport uint16_t, uint64_t

cdef struct Board:
    uint16_t own[2]     # [seat]
    uint64_t key        # pieces and seat to move
    int ply             # the seat to move is ply & 1


cdef bint has_line(uint16_t own) noexcept nogil
cdef bint over(const Board* b) noexcept nogil
cdef void make(Board* b, int cell) noexcept nogil    # cell < 0: a forfeited turn


cdef class Position:
    cdef Board board
