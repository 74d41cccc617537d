"""The fast rules of Ataxx: two boards of bits, moves in 12 bits, positions by value.

    bit     row * 8 + column      rows and columns 0 .. 6 from the top left; column 7 and row 7 are guards that are never set
    move    from << 6 | to        a division names its destination twice; PASS_MOVE is 63 << 6 | 63

There is no unmake: a position is 32 bytes, and a search copies it. Its key is not kept up either but computed where it is wanted:
four multiplications cost less than to go through the pieces that a move infects.
"""

from libc.stdint cimport int16_t, uint16_t, uint64_t

from core.bits cimport lowest_bit64, popcount64
from core.rng cimport mix64

cdef extern from "ataxx/steps.h" nogil:
    const uint64_t BESIDE[64]       # the cells at distance 1
    const uint64_t LEAPS[64]        # those at distance 2

ctypedef uint16_t Move

cdef enum:
    MAX_MOVES = 400         # more than any board has: at most 16 leaps into each of the empty cells, from as many others
    PASS_MOVE = 0xFFF

cdef struct Board:
    uint64_t pieces[2]      # by seat
    uint64_t closed         # walls
    int16_t ply             # the seat to move is ply & 1
    int16_t halfmoves       # plies since the last division, passes included
    int16_t last_ply        # the game is stopped here
    int16_t halfmove_limit  # 0: no such rule


cdef inline uint64_t near(uint64_t b) noexcept nogil:
    """The cells within one step, the given ones included."""
    b |= b << 1 | b >> 1
    return (b | b << 8 | b >> 8) & <uint64_t>0x007F7F7F7F7F7F7F


cdef inline uint64_t far(uint64_t b) noexcept nogil:
    """The cells within two steps."""
    return near(near(b))


cdef inline uint64_t empty_cells(const Board* b) noexcept nogil:
    return <uint64_t>0x007F7F7F7F7F7F7F & ~(b.pieces[0] | b.pieces[1] | b.closed)


cdef inline bint over(const Board* b) noexcept nogil:
    """Whether the game has ended."""
    return (
        b.pieces[0] == 0
        or b.pieces[1] == 0
        or b.ply >= b.last_ply
        or (b.halfmove_limit > 0 and b.halfmoves >= b.halfmove_limit)
        or far(b.pieces[0] | b.pieces[1]) & empty_cells(b) == 0
    )


cdef inline int generate(const Board* b, Move* moves) noexcept nogil:
    """The pseudolegal moves of the side to move, divisions first; returns how many, 0 when it is stuck."""
    cdef uint64_t own = b.pieces[b.ply & 1]
    cdef uint64_t empty = empty_cells(b)
    cdef uint64_t targets = near(own) & empty
    cdef int count = 0
    cdef int start
    while targets:
        moves[count] = <Move>(lowest_bit64(targets) * 65)
        count += 1
        targets &= targets - 1
    while own:
        start = lowest_bit64(own)
        targets = LEAPS[start] & empty
        while targets:
            moves[count] = <Move>(start << 6 | lowest_bit64(targets))
            count += 1
            targets &= targets - 1
        own &= own - 1
    return count


cdef inline int count_moves(const Board* b) noexcept nogil:
    """How many moves `generate` finds."""
    cdef uint64_t own = b.pieces[b.ply & 1]
    cdef uint64_t empty = empty_cells(b)
    cdef int count = popcount64(near(own) & empty)
    while own:
        count += popcount64(LEAPS[lowest_bit64(own)] & empty)
        own &= own - 1
    return count


cdef inline void make(Board* b, Move move) noexcept nogil:
    """Play a pseudolegal move or PASS_MOVE."""
    cdef int seat = b.ply & 1
    cdef int start = move >> 6
    cdef int end = move & 63
    cdef uint64_t infected
    b.ply += 1
    b.halfmoves += 1
    if move == PASS_MOVE:
        return
    infected = BESIDE[end] & b.pieces[1 - seat]
    b.pieces[1 - seat] ^= infected
    b.pieces[seat] |= infected | <uint64_t>1 << end
    if start == end:
        b.halfmoves = 0
    else:
        b.pieces[seat] ^= <uint64_t>1 << start


cdef inline uint64_t key(const Board* b) noexcept nogil:
    """A hash of the pieces and the side to move; walls stay the same through a game."""
    return mix64(b.pieces[0] ^ mix64(b.pieces[1] << 1 | (b.ply & 1)))


cdef tuple move_name(const Board* b, Move move)


cdef class Position:
    cdef Board board
    cdef Position _copy(self)
