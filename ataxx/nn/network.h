/* The evaluation network, in integers, at four CPU levels that give the same number.

   Inputs   36 overlapping windows of 2x2 cells, 81 states each; exactly one state of a window
   holds. window    row * 6 + column of its top left cell state     d(top left) + 3 d(top right) + 9
   d(bottom left) + 27 d(bottom right) d         0 empty or wall, 1 a piece of the side to move, 2 a
   piece of the other side Hidden   the sum of the 36 rows and the bias, 255 is one: int16, which
   wraps around (training sees to it that it does not) Active   min(max(sum, 0), 255) squared
   ("SCReLU") Output   the sum of activation * weight, 64 is one, |weight| <= 127; divided by 255,
   with the bias 255 * 64 is one Score    output * 400 / (255 * 64): 400 points a unit of the
   logistic function, for the side to move

   Nothing is kept from position to position: a capture changes up to 20 windows of two
   perspectives, and adding up all 36 in registers takes less time than bringing two stored sums up
   to date. docs/experiments/001 has the measurement. */
#ifndef QUARTET_ATAXX_NETWORK_H
#define QUARTET_ATAXX_NETWORK_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) || defined(_M_X64)
#define NETWORK_X86 1
#include <immintrin.h>
#ifdef _MSC_VER
#include <intrin.h>
#define NETWORK_TARGET(level)
#define NETWORK_ALIGN __declspec(align(64))
#else
#define NETWORK_TARGET(level) __attribute__((target(level)))
#define NETWORK_ALIGN __attribute__((aligned(64)))
#endif
#else
#define NETWORK_X86 0
#define NETWORK_ALIGN
#endif

enum {
    NETWORK_WINDOWS = 36,
    NETWORK_STATES = 81,
    NETWORK_INPUTS = NETWORK_WINDOWS * NETWORK_STATES,
    NETWORK_CHUNK = 64, /* hidden cells that are added up together: 8 registers of SSE2, 4 of AVX2,
                           2 of AVX-512 */
    NETWORK_ONE = 255,  /* of the first layer and of the activation */
    NETWORK_OUTPUT_ONE = 64,
    NETWORK_SCALE = 400,
    NETWORK_MOST = 8000 /* no score is further from 0: e^-20 from certain */
};

enum { NETWORK_PLAIN, NETWORK_SSE2, NETWORK_AVX2, NETWORK_AVX512, NETWORK_LEVELS };

struct Network;
/* The sum over all hidden cells of activation * weight. `states` has the 36 states. */
typedef int32_t (*network_level)(const struct Network*, const uint8_t* states);

/* Rows lie chunk by chunk, [chunk][input][NETWORK_CHUNK], aligned to 64 bytes. `memory` is what was
   allocated. */
typedef struct Network {
    int chunks;          /* hidden cells / NETWORK_CHUNK */
    int32_t output_bias; /* 255 * 64 is one */
    const int16_t* rows;
    const int16_t* bias;   /* [chunk][NETWORK_CHUNK] */
    const int16_t* output; /* [chunk][NETWORK_CHUNK] */
    network_level level;
    void* memory;
} Network;

/* The states of all windows, in order. A row of a board has 7 cells: the product spreads them over
   the bytes of a word, since
   the copies of the row, 7 bits apart, do not overlap. */
static inline void network_states(uint64_t own, uint64_t other, uint8_t* states) {
    uint64_t pairs[7], windows;
    int row, column;
    for (row = 0; row < 7; row++) {
        const uint64_t mine =
            ((own >> (8 * row) & 0x7F) * 0x0002040810204081u) & 0x0101010101010101u;
        const uint64_t theirs =
            ((other >> (8 * row) & 0x7F) * 0x0002040810204081u) & 0x0101010101010101u;
        const uint64_t cells = mine + 2 * theirs;
        pairs[row] = cells + 3 * (cells >> 8);
    }
    for (row = 0; row < 6; row++) {
        windows = pairs[row] + 9 * pairs[row + 1];
        for (column = 0; column < 6; column++) {
            states[6 * row + column] = (uint8_t)(windows >> (8 * column));
        }
    }
}

static inline const int16_t* network_row(const Network* n, int chunk, int window, int state) {
    return n->rows +
           ((size_t)chunk * NETWORK_INPUTS + window * NETWORK_STATES + state) * NETWORK_CHUNK;
}

static int32_t network_plain(const Network* n, const uint8_t* states) {
    int32_t sum = 0;
    int chunk, window, i;
    for (chunk = 0; chunk < n->chunks; chunk++) {
        uint16_t cells[NETWORK_CHUNK]; /* unsigned: they wrap around in every language */
        memcpy(cells, n->bias + chunk * NETWORK_CHUNK, sizeof cells);
        for (window = 0; window < NETWORK_WINDOWS; window++) {
            const int16_t* row = network_row(n, chunk, window, states[window]);
            for (i = 0; i < NETWORK_CHUNK; i++) {
                cells[i] = (uint16_t)(cells[i] + (uint16_t)row[i]);
            }
        }
        for (i = 0; i < NETWORK_CHUNK; i++) {
            int32_t active = cells[i] < 0x8000 ? cells[i] : 0;
            active = active < NETWORK_ONE ? active : NETWORK_ONE;
            sum += active * active * n->output[chunk * NETWORK_CHUNK + i];
        }
    }
    return sum;
}

#if NETWORK_X86

#define NETWORK_ADD_UP(VECTOR, COUNT, LOAD, ADD)                                                   \
    VECTOR cells[COUNT];                                                                           \
    int window, i;                                                                                 \
    for (i = 0; i < COUNT; i++) {                                                                  \
        cells[i] = LOAD((const VECTOR*)(n->bias + chunk * NETWORK_CHUNK) + i);                     \
    }                                                                                              \
    for (window = 0; window < NETWORK_WINDOWS; window++) {                                         \
        const VECTOR* row = (const VECTOR*)network_row(n, chunk, window, states[window]);          \
        for (i = 0; i < COUNT; i++) {                                                              \
            cells[i] = ADD(cells[i], LOAD(row + i));                                               \
        }                                                                                          \
    }

/* The activation, at most 255, times the weight, at most 127, fits int16; its product with the
   activation is added in int32. */
#define NETWORK_ACTIVATE(VECTOR, COUNT, LOAD, MIN, MAX, MULTIPLY, MULTIPLY_ADD, ADD32)             \
    for (i = 0; i < COUNT; i++) {                                                                  \
        const VECTOR active = MIN(MAX(cells[i], zero), one);                                       \
        const VECTOR weight = LOAD((const VECTOR*)(n->output + chunk * NETWORK_CHUNK) + i);        \
        sum = ADD32(sum, MULTIPLY_ADD(MULTIPLY(active, weight), active));                          \
    }

static int32_t network_sse2(const Network* n, const uint8_t* states) {
    const __m128i zero = _mm_setzero_si128(), one = _mm_set1_epi16(NETWORK_ONE);
    __m128i sum = zero;
    int chunk;
    for (chunk = 0; chunk < n->chunks; chunk++) {
        NETWORK_ADD_UP(__m128i, 8, _mm_load_si128, _mm_add_epi16)
        NETWORK_ACTIVATE(__m128i, 8, _mm_load_si128, _mm_min_epi16, _mm_max_epi16, _mm_mullo_epi16,
                         _mm_madd_epi16, _mm_add_epi32)
    }
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4E));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xB1));
    return _mm_cvtsi128_si32(sum);
}

NETWORK_TARGET("avx2")
static int32_t network_avx2(const Network* n, const uint8_t* states) {
    const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi16(NETWORK_ONE);
    __m256i total = zero;
    __m128i half;
    int chunk;
    for (chunk = 0; chunk < n->chunks; chunk++) {
        __m256i sum = zero;
        NETWORK_ADD_UP(__m256i, 4, _mm256_load_si256, _mm256_add_epi16)
        NETWORK_ACTIVATE(__m256i, 4, _mm256_load_si256, _mm256_min_epi16, _mm256_max_epi16,
                         _mm256_mullo_epi16, _mm256_madd_epi16, _mm256_add_epi32)
        total = _mm256_add_epi32(total, sum);
    }
    half = _mm_add_epi32(_mm256_castsi256_si128(total), _mm256_extracti128_si256(total, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4E));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xB1));
    return _mm_cvtsi128_si32(half);
}

NETWORK_TARGET("avx512f,avx512bw")
static int32_t network_avx512(const Network* n, const uint8_t* states) {
    const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi16(NETWORK_ONE);
    __m512i sum = zero;
    int chunk;
    for (chunk = 0; chunk < n->chunks; chunk++) {
        NETWORK_ADD_UP(__m512i, 2, _mm512_load_si512, _mm512_add_epi16)
        NETWORK_ACTIVATE(__m512i, 2, _mm512_load_si512, _mm512_min_epi16, _mm512_max_epi16,
                         _mm512_mullo_epi16, _mm512_madd_epi16, _mm512_add_epi32)
    }
    return _mm512_reduce_add_epi32(sum);
}

static inline int network_has(int level) {
#ifdef _MSC_VER
    int leaf[4];
    unsigned long long kept;
    __cpuid(leaf, 1);
    if (level <= NETWORK_SSE2) {
        return 1;
    }
    if (!(leaf[2] & 1 << 27)) { /* the system must keep the wide registers */
        return 0;
    }
    kept = _xgetbv(0);
    __cpuidex(leaf, 7, 0);
    if (level == NETWORK_AVX2) {
        return (kept & 0x06) == 0x06 && (leaf[1] & 1 << 5) != 0;
    }
    return (kept & 0xE6) == 0xE6 && (leaf[1] & 1 << 16) != 0 && (leaf[1] & 1 << 30) != 0;
#elif defined(__MINGW32__) && !defined(__clang__)
    return level <= NETWORK_SSE2; /* it spills wide registers where its stack is not aligned (GCC
                                     bug 54412) */
#else
    __builtin_cpu_init();
    return level <= NETWORK_SSE2 || (level == NETWORK_AVX2 && __builtin_cpu_supports("avx2")) ||
           (level == NETWORK_AVX512 && __builtin_cpu_supports("avx512f") &&
            __builtin_cpu_supports("avx512bw"));
#endif
}

#endif

/* The evaluation of a level, or NULL where this CPU lacks it. */
static inline network_level network_at(int level) {
#if NETWORK_X86
    static const network_level levels[NETWORK_LEVELS] = {network_plain, network_sse2, network_avx2,
                                                         network_avx512};
    return level >= 0 && level < NETWORK_LEVELS && network_has(level) ? levels[level] : NULL;
#else
    return level == NETWORK_PLAIN ? network_plain : NULL;
#endif
}

/* The value of a position for the side to move, whose pieces are `own`; bit row * 8 + column. */
static inline int network_evaluate(const Network* n, uint64_t own, uint64_t other) {
    NETWORK_ALIGN uint8_t states[40];
    int64_t output;
    int score;
    network_states(own, other, states);
    output = n->level(n, states) / NETWORK_ONE + n->output_bias;
    score = (int)(output * NETWORK_SCALE / (NETWORK_ONE * NETWORK_OUTPUT_ONE));
    return score > NETWORK_MOST ? NETWORK_MOST : score < -NETWORK_MOST ? -NETWORK_MOST : score;
}

/* Take over the weights of a file: int16 rows [input][hidden], bias [hidden], output [hidden].
   `hidden` is a multiple of the
   chunk. Returns 0 where there is no memory. */
static inline int network_take(Network* n, const int16_t* weights, int hidden,
                               int32_t output_bias) {
    const size_t rows = (size_t)NETWORK_INPUTS * hidden;
    int16_t* place;
    int chunk, input;
    n->memory = malloc((rows + 2 * (size_t)hidden) * sizeof(int16_t) + 64);
    if (n->memory == NULL) {
        return 0;
    }
    place = (int16_t*)(((uintptr_t)n->memory + 63) & ~(uintptr_t)63);
    n->chunks = hidden / NETWORK_CHUNK;
    n->output_bias = output_bias;
    n->rows = place;
    n->bias = place + rows;
    n->output = n->bias + hidden;
    for (chunk = 0; chunk < n->chunks; chunk++) {
        for (input = 0; input < NETWORK_INPUTS; input++) {
            memcpy(place, weights + (size_t)input * hidden + chunk * NETWORK_CHUNK,
                   NETWORK_CHUNK * sizeof(int16_t));
            place += NETWORK_CHUNK;
        }
    }
    memcpy(place, weights + rows, 2 * (size_t)hidden * sizeof(int16_t));
    return 1;
}

#endif
