"""Principal variation search (Marsland and Campbell, 1982) for Connexion: exact near the end, to a
fixed depth before.

A value is the future change of the mover's margin, in 1/SCALE points. A known draw is made, and two
equally likely draws are averaged. Earlier draws are ignored, so hands would shrink in the search;
therefore tree.pxd plays those plies.
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint64_t

from connexion.ordering cimport Choice
from connexion.rules cimport CELLS, KINDS, Board, Move

cdef enum:
    SCALE = 64
    INFINITE = 1 << 24
    TO_THE_END = 64             # a depth that reaches the end of the game from any position
    MOVES = CELLS * KINDS

cdef struct TableEntry:         # entry of the transposition table
    uint64_t key
    int32_t value
    Move move
    uint8_t depth               # TO_THE_END + empty cells if the search reached the end
    uint8_t mark                # see table.pxi

include "../core/search/table.pxi"

cdef struct Search:
    Table table             # of older searches, only entries that reached the end are valid
    const int16_t* weights      # of the evaluation
    uint64_t nodes
    uint64_t max_nodes          # 0: no bound
    double deadline             # on core.native.clock; 0: no bound
    bint stopped                # a limit was reached: values since then are invalid
    int history[2][MOVES]       # by seat and move, of this search
    int width                   # moves searched per position, unless to the end

cdef Search* search_new(const int16_t* weights, uint64_t bytes) noexcept nogil
cdef void search_free(Search* s) noexcept nogil
cdef void search_forget(Search* s) noexcept nogil
cdef void search_start(Search* s) noexcept nogil
cdef int value_after(
    Search* s, Board* b, const Choice* choice, int depth, int alpha, int beta
) noexcept nogil
