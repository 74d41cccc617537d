"""The fast rules of Ataxx: bitboards, moves in 12 bits, positions by value.

    bit     row * 8 + column      rows and columns 0 .. 6 from the top left; column 7 and row 7 are
                                  guards that are never set
    move    from << 6 | to        a division (clone) has from = to; PASS_MOVE is 63 << 6 | 63

There is no unmake: a position has 32 bytes, and a search copies it. The key is not incremental: a
few multiplications cost less than a loop over the captured pieces.
"""

from libc.stdint cimport int16_t, uint16_t, uint64_t

from core.native.bits cimport lowest_bit64, popcount64
from core.native.rng cimport mix64

cdef extern from "ataxx/rings.h" nogil:
    const uint64_t CELLS        # the 49 cells
    const uint64_t RING1[64]    # by bit: the cells one step away
    const uint64_t RING2[64]    # and two steps away

ctypedef uint16_t Move

cdef enum:
    # at most 179 leaps (a bound by linear programming) and 48 divisions
    MAX_MOVES = 256
    PASS_MOVE = 0xFFF

cdef struct Board:
    uint64_t pieces[2]      # by seat
    uint64_t closed         # walls
    int16_t ply             # the seat to move is ply & 1
    int16_t halfmoves       # plies since the last division, passes included
    int16_t last_ply        # the game ends at this ply
    int16_t halfmove_limit  # 0: no such rule


cdef inline uint64_t near(uint64_t cells) noexcept nogil:
    """Return these cells and those within one step. The caller masks guards and walls."""
    cdef uint64_t rows = cells | cells << 1 | cells >> 1
    return rows | rows << 8 | rows >> 8


cdef inline uint64_t far(uint64_t cells) noexcept nogil:
    """Return these cells and those within two steps. The caller masks guards and walls."""
    return near(near(cells) & CELLS)


cdef inline uint64_t empty_cells(const Board* b) noexcept nogil:
    return CELLS & ~(b.pieces[0] | b.pieces[1] | b.closed)


cdef inline bint stopped(const Board* b) noexcept nogil:
    """Return true if a side has no pieces or a limit is reached, which ends the game."""
    return (
        b.pieces[0] == 0 or b.pieces[1] == 0 or b.ply >= b.last_ply or (
            b.halfmove_limit > 0 and b.halfmoves >= b.halfmove_limit
        )
    )


cdef inline bint over(const Board* b) noexcept nogil:
    """Return true if the game has ended."""
    return stopped(b) or far(b.pieces[0] | b.pieces[1]) & empty_cells(b) == 0


cdef inline int count_moves(const Board* b) noexcept nogil:
    """Return the number of moves of `generate`."""
    cdef uint64_t own = b.pieces[b.ply & 1]
    cdef uint64_t empty = empty_cells(b)
    cdef int count = popcount64(near(own) & empty)
    while own:
        count += popcount64(RING2[lowest_bit64(own)] & empty)
        own &= own - 1
    return count


cdef inline int moves_onto(
    uint64_t own, uint64_t targets, uint64_t leaps, Move* moves
) noexcept nogil:
    """Write the divisions onto `targets`, then the leaps of `own` onto `leaps`; return their
    number."""
    cdef int count = 0
    cdef int start
    while targets:
        moves[count] = <Move>(lowest_bit64(targets) * 65)   # from = to
        count += 1
        targets &= targets - 1
    while own:
        start = lowest_bit64(own)
        targets = RING2[start] & leaps
        while targets:
            moves[count] = <Move>(start << 6 | lowest_bit64(targets))
            count += 1
            targets &= targets - 1
        own &= own - 1
    return count


cdef inline int generate(const Board* b, Move* moves) noexcept nogil:
    """Write the pseudolegal moves to `moves` (room for MAX_MOVES), divisions first; return their
    number, 0 if the side to move has no move."""
    cdef uint64_t own = b.pieces[b.ply & 1]
    cdef uint64_t empty = empty_cells(b)
    return moves_onto(own, near(own) & empty, empty, moves)


cdef inline void make(Board* b, Move move) noexcept nogil:
    """Play a pseudolegal move or PASS_MOVE."""
    cdef int seat = b.ply & 1
    cdef int start = move >> 6
    cdef int end = move & 63
    cdef uint64_t own = b.pieces[seat]
    cdef uint64_t other = b.pieces[seat ^ 1]
    cdef uint64_t captured = RING1[end] & other
    b.ply += 1
    b.halfmoves += 1
    if move == PASS_MOVE:
        return
    if start == end:
        b.halfmoves = 0
    # Branch-free: a division flips its own empty destination, which is then set.
    b.pieces[seat] = (own ^ <uint64_t>1 << start) | <uint64_t>1 << end | captured
    b.pieces[seat ^ 1] = other ^ captured


cdef inline uint64_t key(const Board* b) noexcept nogil:
    """Return the hash of the pieces and the side to move, well mixed in all bits. Walls are the
    same for a whole game."""
    return mix64(mix64(b.pieces[0] | <uint64_t>(b.ply & 1) << 63) ^ b.pieces[1])


cdef tuple move_tuple(const Board* b, Move move)
cdef Move move_code(tuple move) except? 0xFFFF


cdef class Position:
    cdef Board board
    cdef Position _copy(self)
    cdef bint _owns(self, tuple move)
