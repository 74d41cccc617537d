"""quick stand-in; w-rules has the real one"""
from libc.stdint cimport int16_t, uint16_t, uint64_t
from core.bits cimport lowest_bit64, popcount64
from core.rng cimport mix64

ctypedef uint16_t Move
cdef enum:
    MAX_MOVES = 256
    PASS_MOVE = 0xFFF

cdef struct Board:
    uint64_t pieces[2]
    uint64_t closed
    int16_t ply
    int16_t halfmoves
    int16_t last_ply
    int16_t halfmove_limit

cdef inline uint64_t cells() noexcept nogil:
    return <uint64_t>0x007F7F7F7F7F7F7F

cdef inline uint64_t near(uint64_t b) noexcept nogil:
    b |= b << 1 | b >> 1
    return (b | b << 8 | b >> 8) & <uint64_t>0x007F7F7F7F7F7F7F

cdef inline uint64_t far(uint64_t b) noexcept nogil:
    return near(near(b))

cdef inline uint64_t empties(const Board* b) noexcept nogil:
    return cells() & ~(b.pieces[0] | b.pieces[1] | b.closed)

cdef inline bint over(const Board* b) noexcept nogil:
    return (b.pieces[0] == 0 or b.pieces[1] == 0 or b.ply >= b.last_ply or far(b.pieces[0] | b.pieces[1]) & empties(b) == 0
        or (b.halfmove_limit and b.halfmoves >= b.halfmove_limit))

cdef inline int generate(const Board* b, Move* moves) noexcept nogil:
    cdef int n = 0, start
    cdef uint64_t empty = empties(b), mine = b.pieces[b.ply & 1], to, one
    to = near(mine) & empty
    while to:
        moves[n] = <Move>(lowest_bit64(to) * 65)
        n += 1
        to &= to - 1
    while mine:
        one = mine & (0 - mine)
        start = lowest_bit64(mine) << 6
        to = far(one) & ~near(one) & empty
        while to:
            moves[n] = <Move>(start | lowest_bit64(to))
            n += 1
            to &= to - 1
        mine &= mine - 1
    return n

cdef inline void make(Board* b, Move move) noexcept nogil:
    cdef int me = b.ply & 1
    cdef uint64_t end, taken
    b.ply += 1
    b.halfmoves += 1
    if move == PASS_MOVE:
        return
    end = <uint64_t>1 << (move & 63)
    taken = near(end) & b.pieces[1 - me]
    b.pieces[1 - me] ^= taken
    b.pieces[me] |= taken | end
    if move >> 6 != (move & 63):
        b.pieces[me] ^= <uint64_t>1 << (move >> 6)
    else:
        b.halfmoves = 0

cdef inline uint64_t key(const Board* b) noexcept nogil:
    return mix64(b.pieces[0] * <uint64_t>0x9E3779B97F4A7C15 ^ mix64(b.pieces[1] + (b.ply & 1)))

cdef tuple move_tuple(Move move)

cdef class Position:
    cdef Board board
    cdef public object ref
