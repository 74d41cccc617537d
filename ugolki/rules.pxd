"""The fast rules of Ugolki: bitboards, moves in 16 bits.

Jumps never change the parity of a column or a row. So the board is four boards of 5x5, one per
parity class, and a chain of jumps is a flood fill within one 32-bit word:

    class   (column & 1) | (row & 1) << 1
    bit     (row >> 1) * 6 + (column >> 1)    rows of 5 cells and one guard bit that is never set
    cell    class << 5 | bit                      0 .. 127
    move    from << 8 | to                        PASS_MOVE = 0

A piece of class k jumps over pieces of class k^1 in its row, and of class k^2 in its column.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from core.native.bits cimport lowest_bit32, popcount32
from core.native.rng cimport mix64

cdef extern from "ugolki/distance.h" nogil:
    const uint8_t DISTANCE[4][128]
    const uint32_t AT_DISTANCE[4][4][13]

ctypedef uint16_t Move

cdef enum:
    SEATS = 4
    MAX_MOVES = 168         # six pieces, each with 4 steps and 24 other cells of its class
    PASS_MOVE = 0
    FULL = 0x1F7DF7DF       # the 25 cells of a class
    NOBODY = -1             # penalty of a seat without pieces

cdef struct Board:
    uint32_t own[4][4]      # [seat][class]
    uint32_t occupied[4]    # [class], the union over the seats
    uint64_t key            # Zobrist: pieces and seat to move
    int penalty[4]          # sum of distances, NOBODY for a seat without pieces; 0 is home
    int ply                 # the seat to move is ply & 3
    int last_ply            # the game ends at this ply
    bint play_out           # finish the round in which a player comes home


cdef inline int cell_code(int column, int row) noexcept nogil:
    return ((column & 1) | (row & 1) << 1) << 5 | (row >> 1) * 6 + (column >> 1)


cdef inline uint64_t piece_key(int seat, int cell) noexcept nogil:
    return mix64(<uint64_t>(seat << 7 | cell))


cdef inline uint64_t turn_key(int seat) noexcept nogil:
    return mix64(<uint64_t>(512 + seat))


cdef inline bint over(const Board* b) noexcept nogil:
    """Return true if the game has ended."""
    cdef bint home = b.penalty[
        0
    ] == 0 or b.penalty[1] == 0 or b.penalty[2] == 0 or b.penalty[3] == 0
    return b.ply >= b.last_ply or (home and (not b.play_out or b.ply & 3 == 0))


cdef inline uint32_t jump_targets(const Board* b, int k, uint32_t piece) noexcept nogil:
    """Return the cells that a piece (one bit of class k) can reach by one or more jumps."""
    # while the piece jumps, its own cell is empty
    cdef uint32_t empty = (<uint32_t>FULL & ~b.occupied[k]) | piece
    # A bit of `beside` (`below`) is set if there is a piece between that cell and the next cell of
    # the class in its row (column).
    cdef uint32_t beside = b.occupied[k ^ 1] >> (k & 1)
    cdef uint32_t below = b.occupied[k ^ 2] >> (6 if k & 2 else 0)
    cdef uint32_t reached = piece
    cdef uint32_t before
    while True:
        before = reached
        reached |= empty & (
            ((reached & beside) << 1) | ((reached >> 1) & beside)
            | ((reached & below) << 6) | ((reached >> 6) & below)
        )
        if reached == before:
            return reached & ~piece


cdef inline uint32_t steps_beside(const Board* b, int k, uint32_t pieces, bint far) noexcept nogil:
    """Return the empty cells of class k^1 one step away in the row; `far` selects the one with
    another bit."""
    cdef uint32_t to = pieces if not far else pieces << 1 if k & 1 else pieces >> 1
    return to & FULL & ~b.occupied[k ^ 1]


cdef inline uint32_t steps_below(const Board* b, int k, uint32_t pieces, bint far) noexcept nogil:
    """Return the empty cells of class k^2 one step away in the column."""
    cdef uint32_t to = pieces if not far else pieces << 6 if k & 2 else pieces >> 6
    return to & FULL & ~b.occupied[k ^ 2]


cdef inline int count_moves(const Board* b, int seat) noexcept nogil:
    """Return the number of the seat's moves, even if the game is over; 0 if it has none."""
    cdef int count = 0
    cdef int k
    cdef uint32_t pieces
    for k in range(4):
        pieces = b.own[seat][k]
        count += popcount32(
            steps_beside(b, k, pieces, False)
        ) + popcount32(steps_beside(b, k, pieces, True))
        count += popcount32(
            steps_below(b, k, pieces, False)
        ) + popcount32(steps_below(b, k, pieces, True))
        while pieces:
            count += popcount32(jump_targets(b, k, pieces & (0 - pieces)))
            pieces &= pieces - 1
    return count


cdef inline int add_moves(
    Move* moves, int count, int start, int k, uint32_t targets
) noexcept nogil:
    while targets:
        moves[count] = <Move>(start << 8 | k << 5 | lowest_bit32(targets))
        count += 1
        targets &= targets - 1
    return count


cdef inline int generate(const Board* b, int seat, Move* moves) noexcept nogil:
    """Write the seat's pseudolegal moves to `moves` (room for MAX_MOVES); return their number."""
    cdef int count = 0
    cdef int k, start
    cdef uint32_t pieces, piece
    for k in range(4):
        pieces = b.own[seat][k]
        while pieces:
            piece = pieces & (0 - pieces)
            start = k << 5 | lowest_bit32(piece)
            count = add_moves(
                moves, count, start, k ^ 1,
                steps_beside(b, k, piece, False) | steps_beside(b, k, piece, True)
            )
            count = add_moves(
                moves, count, start, k ^ 2,
                steps_below(b, k, piece, False) | steps_below(b, k, piece, True)
            )
            count = add_moves(moves, count, start, k, jump_targets(b, k, piece))
            pieces ^= piece
    return count


cdef inline void move_piece(Board* b, int seat, int start, int end) noexcept nogil:
    """Move a piece of the seat from one cell to another, without ending the turn."""
    cdef uint32_t lifted = <uint32_t>1 << (start & 31)
    cdef uint32_t placed = <uint32_t>1 << (end & 31)
    b.own[seat][start >> 5] ^= lifted
    b.occupied[start >> 5] ^= lifted
    b.own[seat][end >> 5] ^= placed
    b.occupied[end >> 5] ^= placed
    b.penalty[seat] += <int>DISTANCE[seat][end] - <int>DISTANCE[seat][start]
    b.key ^= piece_key(seat, start) ^ piece_key(seat, end)


cdef inline void make(Board* b, Move move) noexcept nogil:
    """Play a pseudolegal move or PASS_MOVE for the seat to move."""
    if move != PASS_MOVE:
        move_piece(b, b.ply & 3, move >> 8, move & 0xFF)
    b.key ^= turn_key(b.ply & 3) ^ turn_key((b.ply + 1) & 3)
    b.ply += 1


cdef inline void unmake(Board* b, Move move) noexcept nogil:
    """Undo `make`."""
    b.ply -= 1
    b.key ^= turn_key(b.ply & 3) ^ turn_key((b.ply + 1) & 3)
    if move != PASS_MOVE:
        move_piece(b, b.ply & 3, move & 0xFF, move >> 8)


cdef tuple move_tuple(Move move)


cdef class Position:
    cdef Board board
    cdef readonly int moves
    cdef Position _copy(self)
