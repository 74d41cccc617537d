"""Ways to play that other programs may have, each a search that is cheap enough to be asked what
the program will do."""

from ugolki.rules cimport Board, Move

cdef enum:
    BEAM                    # plans its own next moves, all others standing still
    # expects the strongest reply of all others together (core/search/brs.pxi)
    BEST_REPLY
    # lowers its penalty as much as one move can, with any of the moves that do
    GREEDY
    RECIPES

cdef enum:
    LOOKS = 3               # at what a program will do: each takes more time, and errs less

cdef int recipe_moves(int recipe, int look, const Board* board, Move* found) noexcept nogil
