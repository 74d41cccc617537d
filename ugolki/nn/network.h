// clang-format off: a table
/* Four small networks in integers, so that every machine computes the same numbers.

   solo        moves that a seat needs alone on the board, from its own six pieces (solo.h computes
               the exact numbers)
   value       expected win share of a seat
   policy      quality of the position after a seat's own move
   opponents   probability that another program makes that move

   Inputs of all networks but solo: the board as one seat sees it; exactly NETWORK_ACTIVE are on,
   some of them several times:
       100 * r + cell  a piece of the r-th seat clockwise, 0 is the own seat; cell is
                       10 * row + column in that seat's view
       400 + r         that seat is to move
       404 + span      rounds left until the game ends, in spans of network_span
       415             once per missing piece of a seat that does not play
       416 + d         own solo distance, in half moves
       480 + 16 + d    own solo distance minus the smallest one of the others, in half moves
   The solo network has 100 inputs: the cells of the own pieces.

   Hidden      the sum of the rows and the bias, 181 is one; int16, training prevents overflow
   Activation  min(max(hidden, 0), 181) squared, 32761 is one ("SCReLU")
   Output      the sum of activation * weight: moves (solo), or a logit (others). The softmax over
               the seats that play gives win shares, over a seat's moves priors. */
// clang-format on
#ifndef UGOLKI_NETWORK_H
#define UGOLKI_NETWORK_H

#include <stdint.h>
#include <string.h>
#include "core/native/bits.h"
#ifndef NETWORK_SSE2
#if defined(__SSE2__) || defined(_M_X64)
#define NETWORK_SSE2 1
#else
#define NETWORK_SSE2 0
#endif
#endif
#if NETWORK_SSE2
#include <emmintrin.h>
#endif

enum {
    NETWORK_TURN = 400,
    NETWORK_SPANS = 404,
    NETWORK_MISSING = 415,
    NETWORK_SOLO = 416,
    NETWORK_SOLO_MAX = 63,
    NETWORK_LEAD = NETWORK_SOLO + NETWORK_SOLO_MAX + 1,
    NETWORK_LEAD_MAX = 16,
    NETWORK_INPUTS = NETWORK_LEAD + 2 * NETWORK_LEAD_MAX + 1,
    NETWORK_ACTIVE = 28,
    NETWORK_HIDDEN = 64,
    NETWORK_ONE = 181,
    NETWORK_MAX_ROW = 4 * NETWORK_ONE, /* bound of rows and biases: accumulators fit int16 */
    NETWORK_MAX_OUTPUT =
        512, /* bound of output weights: the sum of 64 of them times 32761 fits int32 */
    NETWORK_OUTPUT_ONE = 64,            /* one, in output weights of all but the solo network */
    NETWORK_STEPS = 64,                 /* per unit of a logit */
    NETWORK_MIN = 16 * NETWORK_STEPS, /* greatest difference of logits in a softmax */
    SOLO_INPUTS = 100,
    SOLO_OUTPUT_ONE = 128, /* one, in output weights of the solo network */
    SOLO_STEPS = 64,       /* per move of a solo distance */
    SOLO_NOBODY = 1 << 14  /* solo distance of a seat that does not play */
};

typedef struct Network {
    int16_t rows[NETWORK_INPUTS][NETWORK_HIDDEN];
    int16_t bias[NETWORK_HIDDEN];
    int16_t output[NETWORK_HIDDEN];
} Network;

typedef struct SoloNetwork {
    int16_t rows[SOLO_INPUTS][NETWORK_HIDDEN];
    int16_t bias[NETWORK_HIDDEN];
    int16_t output[NETWORK_HIDDEN];
    int16_t output_bias; /* in steps */
} SoloNetwork;

/* The features that the inputs of all seats share: pieces, and solo distances in steps. */
typedef struct BoardFeatures {
    uint8_t seats[24], codes[24];
    int pieces;
    int32_t solo[4];
} BoardFeatures;

/* The cell of a code (rules.pxd) as each seat sees it; e^(-i / NETWORK_STEPS). */
static uint8_t network_seen[4][128];
static float network_share[NETWORK_MIN + 1];

static void network_fill(void) {
    /* by multiplication only: exp() of C libraries differs in the last bit, which would change the
       fingerprint */
    const double step = 0.9844964370054085; /* e^(-1/64) */
    double value = 1;
    int code, i;
    for (code = 0; code < 128; code++) {
        const int bit = code & 31, column = bit % 6 << 1 | (code >> 5 & 1),
                  row = bit / 6 << 1 | code >> 6;
        if (column < 10 && row < 10) {
            network_seen[0][code] = (uint8_t)(10 * row + column);
            network_seen[1][code] = (uint8_t)(10 * (9 - column) + row);
            network_seen[2][code] = (uint8_t)(10 * (9 - row) + 9 - column);
            network_seen[3][code] = (uint8_t)(10 * column + 9 - row);
        }
    }
    for (i = 0; i <= NETWORK_MIN; i++) {
        network_share[i] = (float)value;
        value *= step;
    }
}

/* Computes sums = bias + the rows of the inputs. */
static inline void network_sum(const int16_t (*rows)[NETWORK_HIDDEN], const int16_t* bias,
                               const uint16_t* inputs, int count, int16_t* sums) {
    int i, k;
#if NETWORK_SSE2
    __m128i cells[NETWORK_HIDDEN / 8];
    for (i = 0; i < NETWORK_HIDDEN / 8; i++) {
        cells[i] = _mm_loadu_si128((const __m128i*)bias + i);
    }
    for (k = 0; k < count; k++) {
        const __m128i* row = (const __m128i*)rows[inputs[k]];
        for (i = 0; i < NETWORK_HIDDEN / 8; i++) {
            cells[i] = _mm_add_epi16(cells[i], _mm_loadu_si128(row + i));
        }
    }
    for (i = 0; i < NETWORK_HIDDEN / 8; i++) {
        _mm_storeu_si128((__m128i*)sums + i, cells[i]);
    }
#else
    memcpy(sums, bias, NETWORK_HIDDEN * sizeof *sums);
    for (k = 0; k < count; k++) {
        for (i = 0; i < NETWORK_HIDDEN; i++) {
            sums[i] = (int16_t)(sums[i] + rows[inputs[k]][i]);
        }
    }
#endif
}

/* Computes moved = sums + plus - less. */
static inline void network_move(const int16_t* sums, const int16_t* plus, const int16_t* less,
                                int16_t* moved) {
    int i;
#if NETWORK_SSE2
    for (i = 0; i < NETWORK_HIDDEN / 8; i++) {
        const __m128i cell = _mm_add_epi16(_mm_loadu_si128((const __m128i*)sums + i),
                                           _mm_loadu_si128((const __m128i*)plus + i));
        _mm_storeu_si128((__m128i*)moved + i,
                         _mm_sub_epi16(cell, _mm_loadu_si128((const __m128i*)less + i)));
    }
#else
    for (i = 0; i < NETWORK_HIDDEN; i++) {
        moved[i] = (int16_t)(sums[i] + plus[i] - less[i]);
    }
#endif
}

/* Returns the sum of activation * weight. */
static inline int32_t network_output(const int16_t* sums, const int16_t* output) {
    int i;
#if NETWORK_SSE2
    const __m128i one = _mm_set1_epi16(NETWORK_ONE), zero = _mm_setzero_si128();
    __m128i total = zero;
    for (i = 0; i < NETWORK_HIDDEN / 8; i++) {
        const __m128i cell =
            _mm_max_epi16(_mm_min_epi16(_mm_loadu_si128((const __m128i*)sums + i), one), zero);
        total = _mm_add_epi32(total, _mm_madd_epi16(_mm_mullo_epi16(cell, cell),
                                                    _mm_loadu_si128((const __m128i*)output + i)));
    }
    total = _mm_add_epi32(total, _mm_shuffle_epi32(total, 0x4E));
    total = _mm_add_epi32(total, _mm_shuffle_epi32(total, 0xB1));
    return _mm_cvtsi128_si32(total);
#else
    int32_t total = 0;
    for (i = 0; i < NETWORK_HIDDEN; i++) {
        const int32_t cell = sums[i] < 0 ? 0 : sums[i] > NETWORK_ONE ? NETWORK_ONE : sums[i];
        total += cell * cell * output[i];
    }
    return total;
#endif
}

/* Returns a solo distance, in steps. */
static inline int32_t solo_output(const SoloNetwork* n, const int16_t* sums) {
    return network_output(sums, n->output) /
               (NETWORK_ONE * NETWORK_ONE * SOLO_OUTPUT_ONE / SOLO_STEPS) +
           n->output_bias;
}

/* Returns a logit, in steps. */
static inline int32_t network_logit(const Network* n, const int16_t* sums) {
    return network_output(sums, n->output) /
           (NETWORK_ONE * NETWORK_ONE * NETWORK_OUTPUT_ONE / NETWORK_STEPS);
}

/* Computes the accumulator of the solo network for one seat. */
static inline void solo_sum(const SoloNetwork* n, const uint32_t own[4], int seat, int16_t* sums) {
    uint16_t inputs[8];
    int count = 0, k;
    for (k = 0; k < 4; k++) {
        uint32_t pieces = own[k];
        while (pieces) {
            inputs[count++] = network_seen[seat][k << 5 | lowest_bit32(pieces)];
            pieces &= pieces - 1;
        }
    }
    network_sum(n->rows, n->bias, inputs, count, sums);
}

static inline void network_features(const SoloNetwork* n, const uint32_t own[4][4],
                                    BoardFeatures* board) {
    int16_t sums[NETWORK_HIDDEN];
    int seat, k;
    board->pieces = 0;
    for (seat = 0; seat < 4; seat++) {
        const int before = board->pieces;
        for (k = 0; k < 4; k++) {
            uint32_t pieces = own[seat][k];
            while (pieces) {
                board->seats[board->pieces] = (uint8_t)seat;
                board->codes[board->pieces++] = (uint8_t)(k << 5 | lowest_bit32(pieces));
                pieces &= pieces - 1;
            }
        }
        if (board->pieces == before) {
            board->solo[seat] = SOLO_NOBODY;
        } else {
            solo_sum(n, own[seat], seat, sums);
            board->solo[seat] = solo_output(n, sums);
        }
    }
}

static inline int network_span(int rounds) {
    return rounds >= 32   ? 10
           : rounds >= 24 ? 9
           : rounds >= 16 ? 8
           : rounds >= 12 ? 7
           : rounds >= 8  ? 6
           : rounds >= 6  ? 5
           : rounds > 0   ? rounds - 1
                          : 0;
}

/* Writes the two inputs that depend on the own solo distance; `others` is the smallest distance of
   the other seats. */
static inline void network_race(int32_t solo, int32_t others, uint16_t* inputs) {
    int half = solo < 0 ? 0 : (solo + SOLO_STEPS / 4) / (SOLO_STEPS / 2);
    int lead = (solo - others + (NETWORK_LEAD_MAX + 1) * SOLO_STEPS / 2 - SOLO_STEPS / 4) /
               (SOLO_STEPS / 2);
    half = half > NETWORK_SOLO_MAX ? NETWORK_SOLO_MAX : half;
    lead = solo - others < -NETWORK_LEAD_MAX * SOLO_STEPS / 2 ? 0
           : lead > 2 * NETWORK_LEAD_MAX                      ? 2 * NETWORK_LEAD_MAX
                                                               : lead;
    inputs[0] = (uint16_t)(NETWORK_SOLO + half);
    inputs[1] = (uint16_t)(NETWORK_LEAD + lead);
}

static inline int32_t network_others(const BoardFeatures* board, int view) {
    int32_t least = SOLO_NOBODY;
    int seat;
    for (seat = 0; seat < 4; seat++) {
        if (seat != view && board->solo[seat] < least) {
            least = board->solo[seat];
        }
    }
    return least;
}

/* Writes the NETWORK_ACTIVE inputs of the board as seat `view` sees it, those of network_race last.
   `ply & 3` is the seat to move. */
static inline void network_inputs(const BoardFeatures* board, int view, int ply, int last_ply,
                                  uint16_t* inputs) {
    int i;
    for (i = 0; i < board->pieces; i++) {
        inputs[i] =
            (uint16_t)(100 * ((board->seats[i] - view) & 3) + network_seen[view][board->codes[i]]);
    }
    for (; i < NETWORK_ACTIVE - 4; i++) {
        inputs[i] = NETWORK_MISSING;
    }
    inputs[i] = (uint16_t)(NETWORK_TURN + ((ply - view) & 3));
    inputs[i + 1] = (uint16_t)(NETWORK_SPANS + network_span((last_ply - ply + 3) >> 2));
    network_race(board->solo[view], network_others(board, view), inputs + i + 2);
}

/* Writes the unnormalised softmax e^(output / steps); the greatest number is 1. */
static inline void network_shares(const int32_t* outputs, int count, float* shares) {
    int32_t most = outputs[0];
    int i;
    for (i = 1; i < count; i++) {
        most = outputs[i] > most ? outputs[i] : most;
    }
    for (i = 0; i < count; i++) {
        const int32_t behind = most - outputs[i];
        shares[i] = network_share[behind < NETWORK_MIN ? behind : NETWORK_MIN];
    }
}

#endif
