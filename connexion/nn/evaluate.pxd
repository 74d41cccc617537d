"""Static evaluation of what can still grow, in addition to the scores: a sum of trained numbers.

Each number is selected by the stage of the game (four plies each) and by

    of a cell and an adjacent attribute     graph, the owner's certainty to have such a tile, gain
                                            there, number of empty neighbours
    of an open group                        graph, size, adjacent empty cells, the owner's certainty
                                            to have such a tile
    of a cell                               gain of the best tile of each hand

In addition, there are factors of the best cells of both hands. Graphs and hands are "mine" if they
belong to the mover. Future draws are unknown: the certainty to have a tile is computed from the
open hand and the content of the bag.
"""

from libc.stdint cimport int16_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from core.native.bits cimport lowest_bit32, lowest_bit64
from connexion.rules cimport (
    HAND, NEIGHBOUR, NO_TILE, NOWHERE, Board, Tiles, attribute_of, count, find, kinds,
)

cdef extern from "connexion/nn/buckets.h" nogil:
    const uint8_t LEAD_BUCKET[128]
    const uint32_t ALIKE[2][4]

cdef enum:
    SURE = 5                                    # levels of certainty to have a tile
    GAINS = 14
    SIZES = 8
    LIBERTIES = 6
    LEADS = 12
    STAGES = 16
    CELL_NUMBERS = 2 * SURE * GAINS * 3
    GROUP_NUMBERS = 2 * SIZES * LIBERTIES * SURE
    LEAD_NUMBERS = LEADS * LEADS
    FACTORS = 7
    STAGE_NUMBERS = CELL_NUMBERS + GROUP_NUMBERS + LEAD_NUMBERS + FACTORS
    NUMBERS = STAGES * STAGE_NUMBERS
    # 64 cells with at most three attributes in each graph, and the groups of two graphs
    MAX_TERMS = 512
    NO_LEAD = -(1 << 10)

cdef struct Terms:
    int count
    uint16_t number[512]                        # indices of the numbers to add
    int first_factor                            # index of the first factor
    int value[7]                                # multipliers of the factors


cdef inline int how_sure(int held, int bagged, int missing, int bag) noexcept nogil:
    """Return the certainty: 0 no tile is left, 1 unlikely, ..., 4 two are expected. The hand draws
    `missing` tiles from the `bag`, which has `bagged` of this kind."""
    cdef int expected = held << 6
    if missing and bagged:
        expected += (missing * bagged << 6) // bag
    if expected >= 96:
        return 4
    if expected >= 40:
        return 3
    if expected >= 13:
        return 2
    return 1 if bagged else 0


cdef inline int gain_bucket(int groups, int total, int growth) noexcept nogil:
    """Return the bucket of one group by size, of several groups by growth of the score."""
    if groups == 1:
        return total - 1 if total < 8 else 7
    return (
        8 if growth <= 9 else 9 if growth <= 13 else 10 if growth <= 19 else 11 if growth <= 27
        else 12 if growth <= 39 else 13
    )


cdef inline int lead_bucket(int lead) noexcept nogil:
    return LEAD_BUCKET[0 if lead < -64 else 127 if lead > 63 else lead + 64]


cdef inline int best_lead(Tiles hand, int seat, const int* own, const int* other) noexcept nogil:
    """Return the greatest gain of margin of a tile of the hand, by the growth of both graphs;
    NO_LEAD without tiles."""
    cdef int best = NO_LEAD
    cdef int tile, lead
    while hand:
        tile = lowest_bit32(hand) >> 1
        hand &= hand - 1
        lead = own[attribute_of(seat, tile)] - other[attribute_of(1 - seat, tile)]
        if lead > best:
            best = lead
    return best


cdef inline void collect(const Board* b, Terms* terms) noexcept nogil:
    """Write the terms of a position before the end of the game."""
    cdef int seat = b.ply & 1
    cdef int base = (b.ply >> 2) * STAGE_NUMBERS
    cdef int number = 0
    cdef int sure[2][4]
    cdef int growth[2][4]
    cdef int sums[4]
    cdef int squares[4]
    cdef int groups[4]
    cdef int roots[3]
    cdef uint8_t liberties[2][NOWHERE]
    cdef uint8_t open_roots[2][NOWHERE]
    cdef int open_count[2]
    cdef int graph, a, i, j, cell, neighbour, root, size, free, found
    cdef int own, bag, missing, mine, theirs
    cdef int best[3]                    # of mine, of theirs, of the sum
    cdef int next_best[3]
    cdef int leads[3]
    cdef Tiles hands[2]
    cdef uint64_t cells = b.empty
    hands[0], hands[1] = kinds(b.hand[seat]), kinds(b.hand[1 - seat])
    memset(liberties, 0, sizeof(liberties))
    for graph in range(2):
        bag = count(b.bag[graph])
        missing = min(bag, HAND - count(b.hand[graph]))
        for a in range(4):
            sure[graph][a] = how_sure(
                count(b.hand[graph] & ALIKE[graph][a]), count(b.bag[graph] & ALIKE[graph][a]),
                missing, bag
            )
        open_count[graph] = 0
    for i in range(3):
        best[i] = next_best[i] = NO_LEAD
    while cells:
        cell = lowest_bit64(cells)
        cells &= cells - 1
        for graph in range(2):
            own = graph == seat
            for a in range(4):
                sums[a], squares[a], groups[a] = 1, 0, 0
            free = found = 0
            for i in range(3):
                neighbour = NEIGHBOUR[cell][i]
                a = b.attribute[graph][neighbour]
                if a == NO_TILE:
                    free += neighbour != NOWHERE
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
                    if liberties[graph][root] == 0:
                        open_roots[graph][open_count[graph]] = <uint8_t>root
                        open_count[graph] += 1
                    liberties[graph][root] += 1
            free = min(free, 2)
            for a in range(4):
                growth[graph][a] = sums[a] * sums[a] - squares[a]
                if groups[a]:
                    i = (own * SURE + sure[graph][a]) * GAINS + gain_bucket(
                        groups[a], sums[a] - 1, growth[graph][a]
                    )
                    terms.number[number] = <uint16_t>(base + 3 * i + free)
                    number += 1
        mine = best_lead(hands[0], seat, growth[seat], growth[1 - seat])
        theirs = best_lead(hands[1], 1 - seat, growth[1 - seat], growth[seat])
        i = lead_bucket(mine) * LEADS + lead_bucket(theirs)
        terms.number[number] = <uint16_t>(base + CELL_NUMBERS + GROUP_NUMBERS + i)
        number += 1
        leads[0], leads[1], leads[2] = mine, theirs, mine + theirs
        for i in range(3):
            if leads[i] > best[i]:
                next_best[i] = best[i]
                best[i] = leads[i]
            elif leads[i] > next_best[i]:
                next_best[i] = leads[i]
    for graph in range(2):
        own = graph == seat
        for j in range(open_count[graph]):
            root = open_roots[graph][j]
            i = (
                own * SIZES + min(b.size[graph][root], SIZES) - 1
            ) * LIBERTIES + min(liberties[graph][root], LIBERTIES) - 1
            terms.number[number] = <uint16_t>(
                base + CELL_NUMBERS + i * SURE + sure[graph][b.attribute[graph][root]]
            )
            number += 1
    terms.count = number
    terms.first_factor = base + CELL_NUMBERS + GROUP_NUMBERS + LEAD_NUMBERS
    terms.value[0] = 16
    for i in range(3):
        terms.value[2 * i + 1] = best[i] if best[i] > NO_LEAD // 2 else 0
        terms.value[2 * i + 2] = next_best[i] if next_best[i] > NO_LEAD // 2 else 0


cdef inline int evaluate(const Board* b, const int16_t* weights) noexcept nogil:
    """What the mover's margin will change by until the end, in 1/64 points."""
    cdef Terms terms
    cdef int total = 0
    cdef int i
    collect(b, &terms)
    for i in range(terms.count):
        total += weights[terms.number[i]]
    for i in range(FACTORS):
        total += weights[terms.first_factor + i] * terms.value[i]
    return total


cdef class EvaluationWeights:
    cdef readonly dict fields
    cdef int16_t values[NUMBERS]
