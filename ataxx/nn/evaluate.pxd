"""What a position is worth: the network of `network.h`, with the weights of a file.

A pure function of the pieces: nothing is kept up while moves are made. An engine holds a `Weights`
object and hands its struct to the search:

    from ataxx.nn.evaluate cimport Network, Weights, evaluate
    from ataxx.nn.evaluate import default_weights
    ...
    cdef Weights weights = default_weights()    # the object owns the memory
    score = evaluate(&weights.network, board.pieces[seat], board.pieces[seat ^ 1])  # nogil

Scores are 400 times the logit of the expected result, for the side to move, within -NETWORK_MOST ..
NETWORK_MOST. 45 ns at 64 hidden cells, 93 ns at 128, 190 ns at 256, on an EPYC of 2022.
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint64_t

cdef extern from "ataxx/nn/network.h" nogil:
    enum:
        NETWORK_CHUNK
        NETWORK_INPUTS
        NETWORK_LEVELS
        NETWORK_MOST
        NETWORK_ONE
        NETWORK_WINDOWS
    ctypedef int32_t (*network_level)(const Network*, const uint8_t*) noexcept
    ctypedef struct Network:
        int chunks
        network_level level
        void* memory
    void network_states(uint64_t own, uint64_t other, uint8_t* states) noexcept
    network_level network_at(int level) noexcept
    int network_take(Network* n, const int16_t* weights, int hidden, int32_t output_bias) noexcept
    # The value for the side to move, whose pieces are `own`; bit row * 8 + column; walls count as
    # empty.
    int evaluate "network_evaluate" (const Network* n, uint64_t own, uint64_t other) noexcept


cdef class Weights:
    cdef Network network
    cdef readonly dict fields       # what the file says of itself
