"""Static evaluation by the network of `network.h`, with the weights of a file.

It is a pure function of the pieces; `evaluate_near` returns the same number faster. An engine owns
a `Weights` object and passes its struct to the search:

    from ataxx.nn.evaluate cimport Network, Weights, evaluate
    from ataxx.nn.evaluate import default_weights
    ...
    cdef Weights weights = default_weights()    # the object owns the memory
    score = evaluate(&weights.network, board.pieces[seat], board.pieces[seat ^ 1])  # nogil

Scores are for the side to move, in the engine's SCORE_UNIT, within +-NETWORK_MAX.
256 hidden units take 155 ns on an AMD EPYC of 2022 (docs/experiments/018).
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint64_t

cdef extern from "ataxx/nn/network.h" nogil:
    enum:
        NETWORK_CHUNK
        NETWORK_INPUTS
        NETWORK_LEVELS
        NETWORK_MAX
        NETWORK_MAX_BUCKETS
        NETWORK_MAX_HIDDEN
        NETWORK_ONE
        NETWORK_WINDOWS
    ctypedef int32_t (*network_level)(
        const Network*, const int16_t*, const uint16_t*, int, const uint16_t*, int, int16_t*,
        const int16_t*
    ) noexcept
    ctypedef struct Network:
        int hidden
        int32_t output_bias[NETWORK_MAX_BUCKETS]
        network_level level
        void* memory
        size_t bytes
    ctypedef struct NetworkBase:
        pass
    void network_states(uint64_t own, uint64_t other, uint8_t* states) noexcept
    network_level network_at(int level) noexcept
    int network_bucket(int buckets, uint64_t pieces) noexcept
    int network_take(Network* n, const int16_t* weights, int hidden, int buckets) noexcept
    # Returns the value for the side to move, whose pieces are `own`; bit row * 8 + column. Walls
    # count as empty.
    int evaluate "network_evaluate" (const Network* n, uint64_t own, uint64_t other) noexcept
    # Returns the same value, computed from a base. The base becomes this position if `keep` is set,
    # or if the two differ much.
    int evaluate_near "network_evaluate_near" (
        const Network* n, NetworkBase* base, uint64_t own, uint64_t other, bint keep
    ) noexcept
    void forget_base "network_forget_base" (NetworkBase* base) noexcept


cdef class Weights:
    cdef Network network
    cdef readonly dict fields       # header of the file
