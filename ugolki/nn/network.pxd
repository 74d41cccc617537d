"""The networks of network.h, for those who compute with them; each module that does calls
network_fill first."""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint32_t

cdef extern from "ugolki/nn/network.h" nogil:
    enum:
        NETWORK_INPUTS
        NETWORK_ACTIVE
        NETWORK_HIDDEN
        NETWORK_ONE
        NETWORK_OUTPUT_ONE
        NETWORK_STEPS
        NETWORK_MAX_ROW
        NETWORK_MAX_OUTPUT
        SOLO_INPUTS
        SOLO_OUTPUT_ONE
        SOLO_STEPS
        SOLO_NOBODY
    ctypedef struct Network:
        int16_t rows[NETWORK_INPUTS][NETWORK_HIDDEN]
        int16_t bias[NETWORK_HIDDEN]
        int16_t output[NETWORK_HIDDEN]
    ctypedef struct SoloNetwork:
        int16_t rows[SOLO_INPUTS][NETWORK_HIDDEN]
        int16_t bias[NETWORK_HIDDEN]
        int16_t output[NETWORK_HIDDEN]
        int16_t output_bias
    ctypedef struct BoardFeatures:
        int32_t solo[4]
    const uint8_t network_seen[4][128]
    void network_fill()
    void network_sum(
        const int16_t (*rows)[NETWORK_HIDDEN], const int16_t* bias, const uint16_t* inputs,
        int count, int16_t* sums
    )
    void network_move(const int16_t* sums, const int16_t* plus, const int16_t* less, int16_t* moved)
    int32_t network_logit(const Network* n, const int16_t* sums)
    int32_t solo_output(const SoloNetwork* n, const int16_t* sums)
    void solo_sum(const SoloNetwork* n, const uint32_t* own, int seat, int16_t* sums)
    void network_features(const SoloNetwork* n, const uint32_t own[4][4], BoardFeatures* board)
    void network_race(int32_t solo, int32_t others, uint16_t* inputs)
    int32_t network_others(const BoardFeatures* board, int view)
    void network_inputs(
        const BoardFeatures* board, int view, int ply, int last_ply, uint16_t* inputs
    )
    void network_shares(const int32_t* outputs, int count, float* shares)
