// clang-format off: a table
/* Four small networks in integers, so that every machine gets the same numbers.

   The solo network estimates how many moves a seat would need alone on the board (solo.h has the
   truth), from its own six pieces. The value network says what a position is worth to a seat. The
   policy network says how good the position is that a seat's own move led to; the opponents' network
   says how likely another program makes that move.

   Inputs of all but the solo network, of a board as one seat sees it, NETWORK_ACTIVE of them on,
   each once or more often:
       100 * r + cell  a piece of the r-th seat from here, clockwise, 0 is its own; cell is
                       10 * row + column in its view
       400 + r         that seat is to move
       404 + span      how many rounds are left until the game is stopped, in spans of network_span
       415             once for each piece that is missing because its seat does not play
       416 + d         its own solo distance, in half moves
       480 + 16 + d    its own solo distance less the least of the others', in half moves
   The solo network has 100 inputs, the cells of the own pieces.

   Hidden  the sum of the rows and the bias, 181 is one: int16, without overflow, training sees to it
   Active  min(max(sum, 0), 181) squared, 32761 is one
   Output  the sum of activation * weight. Of the solo network it is moves, of the others a logit:
           shares of the seats that play, or of a seat's moves, are in proportion to e^output. */
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
    NETWORK_SOLO_MOST = 63,
    NETWORK_LEAD = NETWORK_SOLO + NETWORK_SOLO_MOST + 1,
    NETWORK_LEAD_MOST = 16,
    NETWORK_INPUTS = NETWORK_LEAD + 2 * NETWORK_LEAD_MOST + 1,
    NETWORK_ACTIVE = 28,
    NETWORK_HIDDEN = 64,
    NETWORK_ONE = 181,
    NETWORK_MOST_ROW = 4 * NETWORK_ONE, /* of all rows and biases: their sums stay within int16 */
    NETWORK_MOST_OUTPUT =
        512, /* of all weights of outputs: 64 of them, and activations of 1, stay within int32 */
    NETWORK_OUTPUT_ONE = 64,            /* of the output weights of all but the solo network */
    NETWORK_STEPS = 64,                 /* of a logit, to a factor of e */
    NETWORK_LEAST = 16 * NETWORK_STEPS, /* what is that far behind counts as that far */
    SOLO_INPUTS = 100,
    SOLO_OUTPUT_ONE = 128, /* of the output weights of the solo network */
    SOLO_STEPS = 64,       /* of a solo distance, to a move */
    SOLO_NOBODY = 1 << 14  /* the distance of a seat that does not play */
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

/* What the inputs of all seats have in common: the pieces, and the solo distances in steps. */
typedef struct Sight {
    uint8_t seats[24], codes[24];
    int pieces;
    int32_t solo[4];
} Sight;

/* The cell of a code (rules.pxd) as each seat sees it; e^(-i / NETWORK_STEPS). */
static uint8_t network_seen[4][128];
static float network_share[NETWORK_LEAST + 1];

static void network_fill(void) {
    /* By multiplication only: libraries' exponentials differ in the last bit, and the fingerprint
       would with them. */
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
    for (i = 0; i <= NETWORK_LEAST; i++) {
        network_share[i] = (float)value;
        value *= step;
    }
}

/* sums = bias + the rows of the inputs. */
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

/* moved = sums + plus - less. */
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

/* The sum of activation * weight. */
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

/* A solo distance in steps. */
static inline int32_t solo_output(const SoloNetwork* n, const int16_t* sums) {
    return network_output(sums, n->output) /
               (NETWORK_ONE * NETWORK_ONE * SOLO_OUTPUT_ONE / SOLO_STEPS) +
           n->output_bias;
}

/* A logit in steps. */
static inline int32_t network_logit(const Network* n, const int16_t* sums) {
    return network_output(sums, n->output) /
           (NETWORK_ONE * NETWORK_ONE * NETWORK_OUTPUT_ONE / NETWORK_STEPS);
}

/* The hidden sums of the solo network for one seat. */
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

static inline void network_look(const SoloNetwork* n, const uint32_t own[4][4], Sight* sight) {
    int16_t sums[NETWORK_HIDDEN];
    int seat, k;
    sight->pieces = 0;
    for (seat = 0; seat < 4; seat++) {
        const int before = sight->pieces;
        for (k = 0; k < 4; k++) {
            uint32_t pieces = own[seat][k];
            while (pieces) {
                sight->seats[sight->pieces] = (uint8_t)seat;
                sight->codes[sight->pieces++] = (uint8_t)(k << 5 | lowest_bit32(pieces));
                pieces &= pieces - 1;
            }
        }
        if (sight->pieces == before) {
            sight->solo[seat] = SOLO_NOBODY;
        } else {
            solo_sum(n, own[seat], seat, sums);
            sight->solo[seat] = solo_output(n, sums);
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

/* The two inputs that depend on the own solo distance, `others` being the least of the other
   seats'. */
static inline void network_race(int32_t solo, int32_t others, uint16_t* inputs) {
    int half = solo < 0 ? 0 : (solo + SOLO_STEPS / 4) / (SOLO_STEPS / 2);
    int lead = (solo - others + (NETWORK_LEAD_MOST + 1) * SOLO_STEPS / 2 - SOLO_STEPS / 4) /
               (SOLO_STEPS / 2);
    half = half > NETWORK_SOLO_MOST ? NETWORK_SOLO_MOST : half;
    lead = solo - others < -NETWORK_LEAD_MOST * SOLO_STEPS / 2 ? 0
           : lead > 2 * NETWORK_LEAD_MOST                      ? 2 * NETWORK_LEAD_MOST
                                                               : lead;
    inputs[0] = (uint16_t)(NETWORK_SOLO + half);
    inputs[1] = (uint16_t)(NETWORK_LEAD + lead);
}

static inline int32_t network_others(const Sight* sight, int view) {
    int32_t least = SOLO_NOBODY;
    int seat;
    for (seat = 0; seat < 4; seat++) {
        if (seat != view && sight->solo[seat] < least) {
            least = sight->solo[seat];
        }
    }
    return least;
}

/* The NETWORK_ACTIVE inputs of the board as `view` sees it, the two of the race last. `ply` is that
   of the seat to move. */
static inline void network_inputs(const Sight* sight, int view, int ply, int last_ply,
                                  uint16_t* inputs) {
    int i;
    for (i = 0; i < sight->pieces; i++) {
        inputs[i] =
            (uint16_t)(100 * ((sight->seats[i] - view) & 3) + network_seen[view][sight->codes[i]]);
    }
    for (; i < NETWORK_ACTIVE - 4; i++) {
        inputs[i] = NETWORK_MISSING;
    }
    inputs[i] = (uint16_t)(NETWORK_TURN + ((ply - view) & 3));
    inputs[i + 1] = (uint16_t)(NETWORK_SPANS + network_span((last_ply - ply + 3) >> 2));
    network_race(sight->solo[view], network_others(sight, view), inputs + i + 2);
}

/* Outputs to numbers in proportion to e^(output / steps), the greatest 1. */
static inline void network_shares(const int32_t* outputs, int count, float* shares) {
    int32_t most = outputs[0];
    int i;
    for (i = 1; i < count; i++) {
        most = outputs[i] > most ? outputs[i] : most;
    }
    for (i = 0; i < count; i++) {
        const int32_t behind = most - outputs[i];
        shares[i] = network_share[behind < NETWORK_LEAST ? behind : NETWORK_LEAST];
    }
}

#endif
