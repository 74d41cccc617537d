"""What a position is worth beyond its scores: a sum of learned numbers, one for each thing that can still grow."""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint64_t

from core.bits cimport lowest_bit32, lowest_bit64
from connexion.rules cimport HAND, KINDS, NEIGHBOUR, NO_TILE, Board, Tiles, attribute_of, copies, count, find, kinds

cdef enum:
    STAGES = 16             # four plies each
    AVAILABLE = 5
    CELL_GAINS = 14
    CELL_FEATURES = 2 * AVAILABLE * CELL_GAINS * 3
    GROUP_FEATURES = 2 * 8 * 6 * AVAILABLE
    DENSE = 7
    STAGE_FEATURES = CELL_FEATURES + GROUP_FEATURES + DENSE
    FEATURES = STAGES * STAGE_FEATURES
    MOST_ACTIVE = 64 * 6 + 128

cdef struct Active:
    int number
    uint16_t index[512]
    int base                # of the dense ones
    int dense[7]


cdef inline int available(int held, int bagged, int missing, int bag) noexcept nogil:
    """How sure the owner is to have a tile of an attribute: 0 none is left, 4 there are two."""
    cdef int expected = 64 * held
    if missing and bag:
        expected += 64 * missing * bagged // bag
    if expected >= 96:
        return 4
    if expected >= 40:
        return 3
    if expected >= 13:
        return 2
    return 1 if bagged else 0


cdef inline int cell_gain(int groups, int total, int growth) noexcept nogil:
    """Number of a cell's gain: of one group by its size, of several by how much the score grows."""
    if groups == 1:
        return (total if total < 8 else 8) - 1
    return 8 if growth <= 9 else 9 if growth <= 13 else 10 if growth <= 19 else 11 if growth <= 27 else 12 if growth <= 39 else 13


cdef inline void collect(const Board* b, Active* active) noexcept nogil:
    """What is there, for the seat to move."""
    cdef int seat = b.ply & 1
    cdef int base = (b.ply >> 2) * STAGE_FEATURES
    cdef int number = 0
    cdef int can[2][4]
    cdef int held[4]
    cdef int bagged[4]
    cdef int growth[2][4]
    cdef int sums[4]
    cdef int squares[4]
    cdef int groups[4]
    cdef int roots[3]
    cdef uint8_t liberties[2][65]
    cdef uint8_t seen[2][64]
    cdef int seen_count[2]
    cdef int graph, tile, a, i, j, cell, neighbour, root, size, free, found, own, bag, missing, value, mine, theirs
    cdef Tiles left
    cdef uint64_t cells
    cdef int best_mine = -999, next_mine = -999, best_theirs = -999, next_theirs = -999, best_swing = -999, next_swing = -999
    cdef Tiles hand = kinds(b.hand[seat])
    cdef Tiles other_hand = kinds(b.hand[1 - seat])
    for graph in range(2):
        for a in range(4):
            held[a] = bagged[a] = 0
        for tile in range(KINDS):
            a = attribute_of(graph, tile)
            held[a] += copies(b.hand[graph], tile)
            bagged[a] += copies(b.bag[graph], tile)
        bag = bagged[0] + bagged[1] + bagged[2] + bagged[3]
        missing = HAND - held[0] - held[1] - held[2] - held[3]
        if missing > bag:
            missing = bag
        for a in range(4):
            can[graph][a] = available(held[a], bagged[a], missing, bag)
        seen_count[graph] = 0
    cells = b.empty
    while cells:
        cell = lowest_bit64(cells)
        cells &= cells - 1
        for graph in range(2):
            own = graph == seat
            for a in range(4):
                sums[a] = 1
                squares[a] = 0
                groups[a] = 0
            free = found = 0
            for i in range(3):
                neighbour = NEIGHBOUR[cell][i]
                a = b.attribute[graph][neighbour]
                if a == NO_TILE:
                    free += neighbour < 64
                    continue
                root = find(b, graph, neighbour)
                for j in range(found):
                    if roots[j] == root:
                        break
                else:
                    roots[found] = root
                    found += 1
                    size = b.size[graph][root]
                    sums[a] += size
                    squares[a] += size * size
                    groups[a] += 1
                    for j in range(seen_count[graph]):
                        if seen[graph][j] == root:
                            liberties[graph][root] += 1
                            break
                    else:
                        liberties[graph][root] = 1
                        seen[graph][seen_count[graph]] = <uint8_t>root
                        seen_count[graph] += 1
            if free == 3:
                free = 2
            for a in range(4):
                growth[graph][a] = sums[a] * sums[a] - squares[a]
                if groups[a]:
                    value = cell_gain(groups[a], sums[a] - 1, growth[graph][a])
                    active.index[number] = <uint16_t>(base + ((own * AVAILABLE + can[graph][a]) * CELL_GAINS + value) * 3 + free)
                    number += 1
        mine = theirs = -999
        left = hand
        while left:
            tile = lowest_bit32(left) >> 1
            left &= left - 1
            value = growth[seat][attribute_of(seat, tile)] - growth[1 - seat][attribute_of(1 - seat, tile)]
            if value > mine:
                mine = value
        left = other_hand
        while left:
            tile = lowest_bit32(left) >> 1
            left &= left - 1
            value = growth[1 - seat][attribute_of(1 - seat, tile)] - growth[seat][attribute_of(seat, tile)]
            if value > theirs:
                theirs = value
        value = mine + theirs
        if mine > best_mine:
            next_mine = best_mine
            best_mine = mine
        elif mine > next_mine:
            next_mine = mine
        if theirs > best_theirs:
            next_theirs = best_theirs
            best_theirs = theirs
        elif theirs > next_theirs:
            next_theirs = theirs
        if value > best_swing:
            next_swing = best_swing
            best_swing = value
        elif value > next_swing:
            next_swing = value
    for graph in range(2):
        own = graph == seat
        for j in range(seen_count[graph]):
            root = seen[graph][j]
            size = b.size[graph][root]
            value = (own * 8 + (size if size < 8 else 8) - 1) * 6 + (liberties[graph][root] if liberties[graph][root] < 6 else 6) - 1
            active.index[number] = <uint16_t>(base + CELL_FEATURES + value * AVAILABLE + can[graph][b.attribute[graph][root]])
            number += 1
    active.number = number
    active.base = base + CELL_FEATURES + GROUP_FEATURES
    active.dense[0] = 16
    active.dense[1] = best_mine if best_mine > -999 else 0
    active.dense[2] = next_mine if next_mine > -999 else 0
    active.dense[3] = best_theirs if best_theirs > -999 else 0
    active.dense[4] = next_theirs if next_theirs > -999 else 0
    active.dense[5] = best_swing if best_swing > -999 else 0
    active.dense[6] = next_swing if next_swing > -999 else 0


cdef inline int evaluate(const Board* b, const int16_t* weights) noexcept nogil:
    """What the mover's margin will change by, in 1/64 points."""
    cdef Active active
    cdef int total = 0
    cdef int i
    collect(b, &active)
    for i in range(active.number):
        total += weights[active.index[i]]
    for i in range(DENSE):
        total += weights[active.base + i] * active.dense[i]
    return total


cdef class Weights:
    cdef readonly dict fields
    cdef int16_t values[FEATURES]
