"""Principal variation search (Marsland and Campbell, 1982) over Connexion: exact near the end,
before it to a fixed depth.

Values are what the mover's margin will change by, in 1/SCALE points. A tile is drawn where it is
known, and averaged over where it is one of two; before that nothing is drawn and hands would shrink
on the way down, which is why tree.pxd plays those plies.
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint64_t

from connexion.ordering cimport Choice
from connexion.rules cimport CELLS, KINDS, Board, Move

cdef enum:
    SCALE = 64
    INFINITE = 1 << 24
    TO_THE_END = 64             # a depth that reaches the end from anywhere
    MOVES = CELLS * KINDS

cdef struct TableEntry:         # of the transposition table
    uint64_t key
    int32_t value
    Move move
    uint8_t depth               # TO_THE_END plus the empty cells where it reached the end
    uint8_t mark                # see table.pxi

include "../core/search/table.pxi"

cdef struct Search:
    Table table             # what older searches wrote is believed only where it reached the end
    const int16_t* weights      # of the evaluation
    uint64_t nodes
    uint64_t max_nodes          # 0: no bound
    double deadline             # on core.native.clock; 0: no bound
    bint stopped                # a bound was reached: values since then are worthless
    int history[2][MOVES]       # by seat and move: how it did in this search
    int width                   # moves that are looked at, unless the end is reached

cdef Search* search_new(const int16_t* weights, uint64_t bytes) noexcept nogil
cdef void search_free(Search* s) noexcept nogil
cdef void search_forget(Search* s) noexcept nogil
cdef void search_start(Search* s) noexcept nogil
cdef int value_after(
    Search* s, Board* b, const Choice* choice, int depth, int alpha, int beta
) noexcept nogil
