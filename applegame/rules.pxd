"""The fast rules of the apple game: digits in bytes, cells in masks by row, moves in 16 bits,
positions by value.

    move    r1 << 12 | r2 << 8 | columns    `columns` is the index of (c1, c2) in COLUMNS_MASK.
                                            Codes ascend in the order (r1, r2, c1, c2); PASS_MOVE is
                                            greater than all of them.

Generation sweeps over pairs of rows with running sums of the columns between them. A move does not
change the legality of rectangles that it does not touch. So the moves after it are the earlier ones
apart from it, and those of a sweep over the rows and columns that touch it. This is 4.4 times as
fast as a whole sweep at every position (perft to depth 4 of the example board).
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from core.native.bits cimport lowest_bit32, popcount32
from core.native.rng cimport mix64

cdef extern from "applegame/columns.h" nogil:
    const uint32_t COLUMNS_MASK[153]

ctypedef uint16_t Move

cdef enum:
    HEIGHT = 10
    WIDTH = 17
    TARGET = 10
    # each pair of rows and first column has at most one last column; plus the pass
    MAX_MOVES = 936
    PASS_MOVE = 0xF000
    KEY_OF_SEAT = 10        # plus the seat: content of an owned cell in keys

cdef struct Board:
    uint8_t digits[HEIGHT][WIDTH]       # 0: no digit left
    uint32_t standing[HEIGHT]           # mask of the columns with a digit, by row
    uint32_t owned[2][HEIGHT]           # mask of the columns of each seat's cells, by row
    int16_t cells[2]                    # number of each seat's cells
    int32_t ply                         # the seat to move is ply & 1
    int16_t passes                      # in a row just before; the second ends the game
    uint64_t hash                       # of the cells; `key` adds the rest


cdef inline uint64_t cell_hash(int row, int column, int content) noexcept nogil:
    """Return a cell's part of the hash; content is a digit, or KEY_OF_SEAT + seat."""
    return mix64(<uint64_t>((row * WIDTH + column) << 4 | content))


cdef inline uint64_t key(const Board* b) noexcept nogil:
    """Return the hash of the cells, the side to move and the passes. All bits are well mixed."""
    return b.hash ^ mix64(<uint64_t>(4096 + 4 * (b.ply & 1) + b.passes))


cdef inline int top_row(Move move) noexcept nogil:
    return move >> 12


cdef inline int bottom_row(Move move) noexcept nogil:
    return move >> 8 & 15


cdef inline uint32_t columns(Move move) noexcept nogil:
    return COLUMNS_MASK[move & 255]


cdef inline int swing(const Board* b, int seat, Move move) noexcept nogil:
    """Return the change of the seat's lead by a rectangle: 1 per free cell, 2 per cell of the
    opponent."""
    cdef uint32_t mask = columns(move)
    cdef int row, gain = (bottom_row(move) - top_row(move) + 1) * popcount32(mask)
    for row in range(top_row(move), bottom_row(move) + 1):
        gain += popcount32(b.owned[1 - seat][row] & mask) - popcount32(b.owned[seat][row] & mask)
    return gain


cdef inline int sweep_rows(
    const Board* b, const uint8_t* sums, int r1, int r2, int left, int right, Move* moves
) noexcept nogil:
    """Write the rectangles of the rows r1 to r2 that touch the columns from left to right; return
    their number. `sums` holds the sum of each column between these rows."""
    cdef int first = left, last = left, total = 0, count = 0
    cdef uint32_t mask
    cdef int place
    while first > 0 and total + sums[first - 1] <= TARGET:
        first -= 1
        total += sums[first]
    while last < WIDTH:
        total += sums[last]
        while total > TARGET:
            total -= sums[first]
            first += 1
        if first > right:
            break
        if total == TARGET and sums[last]:
            while sums[first] == 0:
                first += 1
            if first > right:
                break
            place = first * (33 - first) // 2 + last
            mask = COLUMNS_MASK[place]
            if b.standing[r1] & mask and b.standing[r2] & mask:
                moves[count] = <Move>(r1 << 12 | r2 << 8 | place)
                count += 1
        last += 1
    return count


cdef inline int sweep(
    const Board* b, int top, int bottom, int left, int right, Move* moves
) noexcept nogil:
    """Write the rectangles that touch these rows and columns, in ascending order; return their
    number.

    If each of these columns sums to more than the target between two rows, no such rectangle exists
    there or in any pair of rows around them.
    """
    cdef uint8_t sums[WIDTH]
    cdef int r1, r2, column, least, count = 0
    for r1 in range(bottom + 1):
        if b.standing[r1] == 0:
            continue
        for column in range(WIDTH):
            sums[column] = b.digits[r1][column]
        for r2 in range(r1, HEIGHT):
            if b.standing[r2] == 0:
                continue
            if r2 > r1:
                for column in range(WIDTH):
                    sums[column] += b.digits[r2][column]
            least = sums[left]
            for column in range(left + 1, right + 1):
                least = min(least, sums[column])
            if least > TARGET:
                break
            if r2 >= top:
                count += sweep_rows(b, sums, r1, r2, left, right, moves + count)
    return count


cdef inline int generate(const Board* b, Move* moves) noexcept nogil:
    """Write the rectangles into `moves` (room for MAX_MOVES), in ascending order; return their
    number. The pass is not included."""
    return sweep(b, 0, HEIGHT - 1, 0, WIDTH - 1, moves)


cdef inline int regenerate(
    const Board* b, Move played, const Move* before, int count, Move* moves
) noexcept nogil:
    """Write the rectangles after `played`, given the `count` ones before it; return their number.
    The order is unspecified."""
    cdef int top = top_row(played)
    cdef int bottom = bottom_row(played)
    cdef uint32_t mask = columns(played)
    cdef int left = lowest_bit32(mask)
    cdef int i, kept = 0
    for i in range(count):
        moves[kept] = before[i]
        kept += top_row(
            before[i]
        ) > bottom or bottom_row(before[i]) < top or columns(before[i]) & mask == 0
    return kept + sweep(b, top, bottom, left, left + popcount32(mask) - 1, moves + kept)


cdef inline void make(Board* b, Move move) noexcept nogil:
    """Play a rectangle or PASS_MOVE."""
    cdef int seat = b.ply & 1
    cdef int row, column
    cdef uint32_t mask, rest, digits, own, other
    b.ply += 1
    if move == PASS_MOVE:
        b.passes += 1
        return
    b.passes = 0
    mask = columns(move)
    for row in range(top_row(move), bottom_row(move) + 1):
        digits = b.standing[row] & mask
        own = b.owned[seat][row] & mask
        other = b.owned[1 - seat][row] & mask
        b.cells[seat] += popcount32(mask ^ own)
        b.cells[1 - seat] -= popcount32(other)
        rest = mask ^ own
        while rest:
            column = lowest_bit32(rest)
            b.hash ^= cell_hash(row, column, KEY_OF_SEAT + seat)
            rest &= rest - 1
        while digits:
            column = lowest_bit32(digits)
            b.hash ^= cell_hash(row, column, b.digits[row][column])
            b.digits[row][column] = 0
            digits &= digits - 1
        while other:
            column = lowest_bit32(other)
            b.hash ^= cell_hash(row, column, KEY_OF_SEAT + 1 - seat)
            other &= other - 1
        b.standing[row] &= ~mask
        b.owned[seat][row] |= mask
        b.owned[1 - seat][row] &= ~mask


cdef tuple move_tuple(Move move)


cdef class Position:
    cdef Board board
