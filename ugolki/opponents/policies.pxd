"""Opponent policies: ways to play that other programs may have, each a search that is cheap enough
to be asked what the program will do."""

from ugolki.rules cimport Board, Move

cdef enum:
    BEAM                    # plans its own next moves, all others standing still
    BEST_REPLY              # expects the strongest reply of all others together
    # lowers its penalty as much as one move can, with any of the moves that do
    GREEDY
    POLICIES

cdef enum:
    LEVELS = 3              # at which a policy predicts: each takes more time, and errs less


cdef class Stop:
    cdef readonly bint asked    # whether somebody wants what goes on to end

# `stopped` ends it before its time, and what it finds is then worthless; NULL: nothing does
cdef int policy_moves(
    int policy, int level, const Board* board, Move* found, const bint* stopped
) noexcept nogil
