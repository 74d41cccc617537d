"""What the engine's networks say of a position, for other compiled modules."""

from libc.stdint cimport int32_t, uint64_t

from ugolki.nn.network cimport Network, SoloNetwork
from ugolki.rules cimport Board, Move


cdef struct Networks:
    Network value
    Network policy
    Network opponents
    SoloNetwork solo


cdef read_weights(bytes data, Networks* networks)

cdef void move_logits(
    const Networks* networks, const Network* network, int percent, const Board* b, int seat,
    const Move* moves, int count, int32_t* logits
) noexcept nogil

cdef void expected_shares(const Networks* networks, const Board* b, float* shares) noexcept nogil

cdef void playout(Board* b, uint64_t* random) noexcept nogil
