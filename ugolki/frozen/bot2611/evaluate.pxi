# What a position costs a player and which moves look good at a glance, from the distances to the
# squares alone: for playouts, where the game is over, and to say in what order the seats will
# finish.
#
# A player's cost is the sum over its pieces of 16 d + d * d, d being the steps to its square: the
# square makes stragglers dearer than their share of the penalty.


cdef inline int piece_cost(int seat, int cell) noexcept nogil:
    """In sixteenths of a step."""
    cdef int d = DISTANCE[seat][cell]
    return 16 * d + d * d


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
