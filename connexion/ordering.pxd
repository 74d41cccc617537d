"""Static move ordering: the immediate gain of a move, and the gain that it takes from the
opponent."""

from libc.stdint cimport uint64_t

from core.native.bits cimport lowest_bit32, lowest_bit64
from connexion.rules cimport Board, Move, Tiles, attribute_of, gains, kinds

cdef enum:
    HOPELESS = -(1 << 20)

cdef struct Choice:
    int order           # static order, greater is better
    int gain            # immediate gain of the mover's margin
    Move move


cdef inline int ordered_moves(const Board* b, Choice* choices, int most, int eager) noexcept nogil:
    """Write the best `most` moves (1 .. MAX_MOVES), the best first, among equals in ascending
    order; return their number. The own gain counts `eager` times the opponent's."""
    cdef int own[4]
    cdef int other[4]
    cdef int seat = b.ply & 1
    cdef int number = 0
    cdef int cell, tile, gain, threat, order, i
    cdef Tiles hand = kinds(b.hand[seat])
    cdef Tiles theirs = kinds(b.hand[1 - seat])
    cdef Tiles left
    cdef uint64_t cells = b.empty
    while cells:
        cell = lowest_bit64(cells)
        cells &= cells - 1
        gains(b, seat, cell, own)
        gains(b, 1 - seat, cell, other)
        threat = 0 if theirs == 0 else HOPELESS
        left = theirs
        while left:
            tile = lowest_bit32(left) >> 1
            left &= left - 1
            gain = other[attribute_of(1 - seat, tile)] - own[attribute_of(seat, tile)]
            if gain > threat:
                threat = gain
        left = hand
        while left:
            tile = lowest_bit32(left) >> 1
            left &= left - 1
            gain = own[attribute_of(seat, tile)] - other[attribute_of(1 - seat, tile)]
            order = eager * gain + threat
            if number == most:
                if order <= choices[number - 1].order:
                    continue
                number -= 1
            i = number
            while i > 0 and choices[i - 1].order < order:
                choices[i] = choices[i - 1]
                i -= 1
            choices[i].order, choices[i].gain, choices[i].move = order, gain, <Move>(
                cell << 4 | tile
            )
            number += 1
    return number
