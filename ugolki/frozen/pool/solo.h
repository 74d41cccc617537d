/* The solo network of the pool, in integers: how many moves a seat would need alone on the board,
   from its own six pieces. 100 inputs, cells as the seat sees them; 64 hidden cells, clipped to
   0 .. 181 and squared; one output. Copied from the network of November 2026. */
#ifndef UGOLKI_POOL_SOLO_H
#define UGOLKI_POOL_SOLO_H

#include <stdint.h>
#include <string.h>
#if defined(__SSE2__) || defined(_M_X64)
#define POOL_SSE2 1
#include <emmintrin.h>
#else
#define POOL_SSE2 0
#endif

enum { POOL_CELLS = 100, POOL_HIDDEN = 64, POOL_ONE = 181, POOL_OUTPUT_ONE = 128, POOL_STEPS = 64 };

typedef struct PoolSolo {
    int16_t rows[POOL_CELLS][POOL_HIDDEN];
    int16_t bias[POOL_HIDDEN];
    int16_t output[POOL_HIDDEN];
    int16_t output_bias;
} PoolSolo;

/* sums = bias + the rows of the cells. */
static inline void pool_solo_sum(const PoolSolo* n, const uint8_t* cells, int count, int16_t* sums) {
    int i, k;
    memcpy(sums, n->bias, sizeof n->bias);
    for (k = 0; k < count; k++) {
        for (i = 0; i < POOL_HIDDEN; i++) {
            sums[i] = (int16_t)(sums[i] + n->rows[cells[k]][i]);
        }
    }
}

/* Moves in 64ths, from sums with one piece carried from a cell to another. */
static inline int32_t pool_solo_moved(const PoolSolo* n, const int16_t* sums, int from, int to) {
    const int16_t* plus = n->rows[to];
    const int16_t* less = n->rows[from];
    int32_t total = 0;
    int i;
#if POOL_SSE2
    const __m128i one = _mm_set1_epi16(POOL_ONE), zero = _mm_setzero_si128();
    __m128i all = zero;
    for (i = 0; i < POOL_HIDDEN; i += 8) {
        __m128i cell = _mm_add_epi16(_mm_loadu_si128((const __m128i*)(sums + i)), _mm_loadu_si128((const __m128i*)(plus + i)));
        cell = _mm_sub_epi16(cell, _mm_loadu_si128((const __m128i*)(less + i)));
        cell = _mm_max_epi16(_mm_min_epi16(cell, one), zero);
        all = _mm_add_epi32(all, _mm_madd_epi16(_mm_mullo_epi16(cell, cell), _mm_loadu_si128((const __m128i*)(n->output + i))));
    }
    all = _mm_add_epi32(all, _mm_shuffle_epi32(all, 0x4E));
    all = _mm_add_epi32(all, _mm_shuffle_epi32(all, 0xB1));
    total = _mm_cvtsi128_si32(all);
#else
    for (i = 0; i < POOL_HIDDEN; i++) {
        int32_t cell = sums[i] + plus[i] - less[i];
        cell = cell < 0 ? 0 : cell > POOL_ONE ? POOL_ONE : cell;
        total += cell * cell * n->output[i];
    }
#endif
    return total / (POOL_ONE * POOL_ONE * POOL_OUTPUT_ONE / POOL_STEPS) + n->output_bias;
}

#endif
