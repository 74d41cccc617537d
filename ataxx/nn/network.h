/* The evaluation network in integers, at four CPU levels that compute the same number. */
/* clang-format off */
/*
   Inputs      36 overlapping windows of 2x2 cells with 81 states each; exactly one state of each
               window is active
                 window   row * 6 + column of its top left cell
                 state    d(top left) + 3 d(top right) + 9 d(bottom left) + 27 d(bottom right)
                 d        0 empty or wall, 1 piece of the side to move, 2 piece of the other side
   Hidden      the sum of the 36 active rows and the bias; 255 is one. int16, which wraps around;
               training ensures that it does not
   Activation  min(max(hidden, 0), 255) squared ("SCReLU")
   Output      the sum of activation * weight, 64 is one, |weight| <= 127; divided by 255, plus the
               bias, 255 * 64 is one. The number of pieces chooses weights and bias
   Score       output * 400 / (255 * 64), for the side to move. How many points are a unit of the
               logistic function was chosen in training: `--unit` in the header of the weights */
/* clang-format on */
/* A search evaluates similar positions. If a position differs from a stored base in few windows,
   only their rows are added and subtracted: 12 rows instead of 36 on average, from the position
   before the move (docs/experiments/018). */
#ifndef QUARTET_ATAXX_NETWORK_H
#define QUARTET_ATAXX_NETWORK_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/native/bits.h"
#include "core/native/pages.h"

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
    NETWORK_PADDED = 48, /* bytes of the states of all windows, in whole registers */
    NETWORK_NEAR = 9, /* changed windows; a base with more is replaced. Not tuned. */
    NETWORK_CHUNK = 64, /* the number of hidden units is a multiple */
    NETWORK_MAX_HIDDEN = 1024,
    NETWORK_MAX_BUCKETS = 8,
    NETWORK_PIECES = 50, /* more than the pieces of any position */
    NETWORK_ONE = 255,  /* one, in the first layer and in the activation */
    NETWORK_OUTPUT_ONE = 64,
    NETWORK_SCALE = 400,
    NETWORK_MAX = 8000 /* bound of scores: 1 - e^-20 */
};

enum { NETWORK_PLAIN, NETWORK_SSE2, NETWORK_AVX2, NETWORK_AVX512, NETWORK_LEVELS };

struct Network;
/* Computes to = from + the rows of `in` - the rows of `out` (numbers of inputs), and returns the
   sum of activation * output weight over all hidden units. `to` may be `from`. */
typedef int32_t (*network_level)(const struct Network*, const int16_t* from, const uint16_t* in,
                                 int ins, const uint16_t* out, int outs, int16_t* to,
                                 const int16_t* output);

/* The rows are an array [input][hidden], on huge pages, aligned to 64 bytes. */
typedef struct Network {
    int hidden;            /* hidden units, a multiple of NETWORK_CHUNK */
    int buckets;           /* of the number of pieces, all of equal width */
    const int16_t* rows;
    const int16_t* bias;
    const int16_t* output; /* [bucket][hidden] */
    int32_t output_bias[NETWORK_MAX_BUCKETS]; /* 255 * 64 is one */
    network_level level;
    void* memory;
    size_t bytes;        /* size of the memory */
} Network;

/* A position seen by the side to move, and its accumulator. */
typedef struct NetworkBase {
    int16_t sums[NETWORK_MAX_HIDDEN];
    uint8_t states[64]; /* NETWORK_PADDED, padded to a cache line */
} NetworkBase;

/* Writes the states of all windows. The product spreads the 7 cells of a row over the bytes of a
   word: copies of the row, 7 bits apart, do not overlap. */
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

static int32_t network_plain(const Network* n, const int16_t* from, const uint16_t* in, int ins,
                             const uint16_t* out, int outs, int16_t* to, const int16_t* output) {
    uint16_t cells[NETWORK_MAX_HIDDEN]; /* unsigned, whose overflow is defined in C */
    int32_t sum = 0;
    int i, j;
    memcpy(cells, from, n->hidden * sizeof *cells);
    for (j = 0; j < ins + outs; j++) {
        const int16_t* row = n->rows + (size_t)(j < ins ? in[j] : out[j - ins]) * n->hidden;
        const uint16_t sign = j < ins ? 1 : 0xFFFF;
        for (i = 0; i < n->hidden; i++) {
            cells[i] = (uint16_t)(cells[i] + sign * (uint16_t)row[i]);
        }
    }
    memcpy(to, cells, n->hidden * sizeof *cells);
    for (i = 0; i < n->hidden; i++) {
        int32_t active = cells[i] < 0x8000 ? cells[i] : 0;
        active = active < NETWORK_ONE ? active : NETWORK_ONE;
        sum += active * active * output[i];
    }
    return sum;
}

#if NETWORK_X86

/* COUNT vectors of hidden units from `first` on, in registers. The activation (at most 255) times
   the weight (at most 127) fits int16; its product with the activation is added in int32. */
#define NETWORK_CELLS(VECTOR, COUNT, LOAD, LOADU, STOREU, ADD, SUB, MIN, MAX, MULTIPLY,            \
                      MULTIPLY_ADD, ADD32)                                                         \
    {                                                                                              \
        VECTOR cells[COUNT];                                                                       \
        int i, j;                                                                                  \
        for (i = 0; i < COUNT; i++) {                                                              \
            cells[i] = LOADU((const VECTOR*)(from + first) + i);                                   \
        }                                                                                          \
        for (j = 0; j < ins; j++) {                                                                \
            const VECTOR* row = (const VECTOR*)(rows + (size_t)in[j] * n->hidden);                 \
            for (i = 0; i < COUNT; i++) {                                                          \
                cells[i] = ADD(cells[i], LOAD(row + i));                                           \
            }                                                                                      \
        }                                                                                          \
        for (j = 0; j < outs; j++) {                                                               \
            const VECTOR* row = (const VECTOR*)(rows + (size_t)out[j] * n->hidden);                \
            for (i = 0; i < COUNT; i++) {                                                          \
                cells[i] = SUB(cells[i], LOAD(row + i));                                           \
            }                                                                                      \
        }                                                                                          \
        for (i = 0; i < COUNT; i++) {                                                              \
            const VECTOR active = MIN(MAX(cells[i], zero), one);                                   \
            const VECTOR weight = LOAD((const VECTOR*)(output + first) + i);                       \
            STOREU((VECTOR*)(to + first) + i, cells[i]);                                           \
            sum = ADD32(sum, MULTIPLY_ADD(MULTIPLY(active, weight), active));                      \
        }                                                                                          \
    }
#define NETWORK_SSE2_CELLS(COUNT)                                                                  \
    NETWORK_CELLS(__m128i, COUNT, _mm_load_si128, _mm_loadu_si128, _mm_storeu_si128,               \
                  _mm_add_epi16, _mm_sub_epi16, _mm_min_epi16, _mm_max_epi16,                      \
                  _mm_mullo_epi16, _mm_madd_epi16, _mm_add_epi32)
#define NETWORK_AVX2_CELLS(COUNT)                                                                  \
    NETWORK_CELLS(__m256i, COUNT, _mm256_load_si256, _mm256_loadu_si256, _mm256_storeu_si256,      \
                  _mm256_add_epi16, _mm256_sub_epi16, _mm256_min_epi16, _mm256_max_epi16,          \
                  _mm256_mullo_epi16, _mm256_madd_epi16, _mm256_add_epi32)
#define NETWORK_AVX512_CELLS(COUNT)                                                                \
    NETWORK_CELLS(__m512i, COUNT, _mm512_load_si512, _mm512_loadu_si512, _mm512_storeu_si512,      \
                  _mm512_add_epi16, _mm512_sub_epi16, _mm512_min_epi16, _mm512_max_epi16,          \
                  _mm512_mullo_epi16, _mm512_madd_epi16, _mm512_add_epi32)

static int32_t network_sse2(const Network* n, const int16_t* from, const uint16_t* in, int ins,
                            const uint16_t* out, int outs, int16_t* to, const int16_t* output) {
    const __m128i zero = _mm_setzero_si128(), one = _mm_set1_epi16(NETWORK_ONE);
    __m128i sum = zero;
    int first;
    for (first = 0; first < n->hidden; first += 64) {
        const int16_t* rows = n->rows + first;
        NETWORK_SSE2_CELLS(8)
    }
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4E));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xB1));
    return _mm_cvtsi128_si32(sum);
}

NETWORK_TARGET("avx2")
static int32_t network_avx2(const Network* n, const int16_t* from, const uint16_t* in, int ins,
                            const uint16_t* out, int outs, int16_t* to, const int16_t* output) {
    const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi16(NETWORK_ONE);
    __m256i sum = zero;
    __m128i half;
    int first = 0;
    for (; first + 128 <= n->hidden; first += 128) {
        const int16_t* rows = n->rows + first;
        NETWORK_AVX2_CELLS(8)
    }
    if (first < n->hidden) {
        const int16_t* rows = n->rows + first;
        NETWORK_AVX2_CELLS(4)
    }
    half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4E));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xB1));
    return _mm_cvtsi128_si32(half);
}

NETWORK_TARGET("avx512f,avx512bw")
static int32_t network_avx512(const Network* n, const int16_t* from, const uint16_t* in, int ins,
                              const uint16_t* out, int outs, int16_t* to,
                              const int16_t* output) {
    const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi16(NETWORK_ONE);
    __m512i sum = zero;
    int first = 0;
    for (; first + 256 <= n->hidden; first += 256) {
        const int16_t* rows = n->rows + first;
        NETWORK_AVX512_CELLS(8)
    }
    for (; first < n->hidden; first += 64) {
        const int16_t* rows = n->rows + first;
        NETWORK_AVX512_CELLS(2)
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
    if (!(leaf[2] & 1 << 27)) { /* the system must save the wide registers */
        return 0;
    }
    kept = _xgetbv(0);
    __cpuidex(leaf, 7, 0);
    if (level == NETWORK_AVX2) {
        return (kept & 0x06) == 0x06 && (leaf[1] & 1 << 5) != 0;
    }
    return (kept & 0xE6) == 0xE6 && (leaf[1] & 1 << 16) != 0 && (leaf[1] & 1 << 30) != 0;
#elif defined(__MINGW32__) && !defined(__clang__)
    return level <= NETWORK_SSE2; /* it spills wide registers to an unaligned stack (GCC bug
                                     54412) */
#else
    __builtin_cpu_init();
    return level <= NETWORK_SSE2 || (level == NETWORK_AVX2 && __builtin_cpu_supports("avx2")) ||
           (level == NETWORK_AVX512 && __builtin_cpu_supports("avx512f") &&
            __builtin_cpu_supports("avx512bw"));
#endif
}

#endif

/* Returns the function of a level, or NULL if this CPU lacks it. */
static inline network_level network_at(int level) {
#if NETWORK_X86
    static const network_level levels[NETWORK_LEVELS] = {network_plain, network_sse2, network_avx2,
                                                         network_avx512};
    return level >= 0 && level < NETWORK_LEVELS && network_has(level) ? levels[level] : NULL;
#else
    return level == NETWORK_PLAIN ? network_plain : NULL;
#endif
}

/* Returns the windows in which two positions differ, one bit each. */
static inline uint64_t network_changes(const uint8_t* before, const uint8_t* after) {
    uint64_t same = 0;
    int i;
#if NETWORK_X86
    for (i = 0; i < NETWORK_PADDED; i += 16) {
        same |= (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(
                    _mm_loadu_si128((const __m128i*)(before + i)),
                    _mm_loadu_si128((const __m128i*)(after + i))))
                << i;
    }
#else
    for (i = 0; i < NETWORK_WINDOWS; i++) {
        same |= (uint64_t)(before[i] == after[i]) << i;
    }
#endif
    return ~same & (((uint64_t)1 << NETWORK_WINDOWS) - 1);
}

/* Returns the bucket of a position with these pieces. */
static inline int network_bucket(int buckets, uint64_t pieces) {
    return popcount64(pieces) * buckets / NETWORK_PIECES;
}

static inline int network_score(const Network* n, int bucket, int32_t sum) {
    const int64_t output = sum / NETWORK_ONE + n->output_bias[bucket];
    const int score = (int)(output * NETWORK_SCALE / (NETWORK_ONE * NETWORK_OUTPUT_ONE));
    return score > NETWORK_MAX ? NETWORK_MAX : score < -NETWORK_MAX ? -NETWORK_MAX : score;
}

/* Returns the value for the side to move, whose pieces are `own`; bit row * 8 + column. */
static inline int network_evaluate(const Network* n, uint64_t own, uint64_t other) {
    NETWORK_ALIGN uint8_t states[NETWORK_PADDED];
    NETWORK_ALIGN int16_t sums[NETWORK_MAX_HIDDEN];
    uint16_t in[NETWORK_WINDOWS];
    const int bucket = network_bucket(n->buckets, own | other);
    int i;
    network_states(own, other, states);
    for (i = 0; i < NETWORK_WINDOWS; i++) {
        in[i] = (uint16_t)(i * NETWORK_STATES + states[i]);
    }
    return network_score(n, bucket,
                         n->level(n, n->bias, in, NETWORK_WINDOWS, in, 0, sums,
                                  n->output + bucket * n->hidden));
}

/* Returns the same value, computed from a base. The base becomes this position if `keep` is set, or
   if more than NETWORK_NEAR windows differ. */
static inline int network_evaluate_near(const Network* n, NetworkBase* base, uint64_t own,
                                        uint64_t other, int keep) {
    NETWORK_ALIGN uint8_t states[NETWORK_PADDED];
    NETWORK_ALIGN int16_t sums[NETWORK_MAX_HIDDEN];
    uint16_t in[NETWORK_WINDOWS], out[NETWORK_WINDOWS];
    const int16_t* from = base->sums;
    const int bucket = network_bucket(n->buckets, own | other);
    uint64_t left;
    int ins = 0, outs, window;
    network_states(own, other, states);
    left = network_changes(base->states, states);
    outs = popcount64(left);
    keep |= outs > NETWORK_NEAR;
    if (outs > NETWORK_WINDOWS / 2) {
        left = ((uint64_t)1 << NETWORK_WINDOWS) - 1;
        outs = 0;
        from = n->bias;
    }
    for (; left; left &= left - 1) {
        window = lowest_bit64(left);
        out[ins] = (uint16_t)(window * NETWORK_STATES + base->states[window]);
        in[ins++] = (uint16_t)(window * NETWORK_STATES + states[window]);
    }
    if (keep) {
        memcpy(base->states, states, NETWORK_PADDED);
    }
    return network_score(n, bucket,
                         n->level(n, from, in, ins, out, outs, keep ? base->sums : sums,
                                  n->output + bucket * n->hidden));
}

/* Invalidates a base: it differs from every position in all windows. */
static inline void network_forget_base(NetworkBase* base) {
    memset(base->states, 0xFF, sizeof base->states);
}

/* Copies the weights of a file: int16 rows [input][hidden], bias [hidden], output
   [bucket][hidden], without the output biases. `hidden` is a multiple of NETWORK_CHUNK, at most
   NETWORK_MAX_HIDDEN; `buckets` divides NETWORK_MAX_BUCKETS. Returns 0 if memory is short. */
static inline int network_take(Network* n, const int16_t* weights, int hidden, int buckets) {
    const size_t rows = (size_t)NETWORK_INPUTS * hidden;
    int16_t* place;
    n->bytes = (rows + (1 + (size_t)buckets) * hidden) * sizeof(int16_t) + 64;
    n->memory = table_new(n->bytes);
    if (n->memory == NULL) {
        return 0;
    }
    place = (int16_t*)(((uintptr_t)n->memory + 63) & ~(uintptr_t)63);
    memcpy(place, weights, n->bytes - 64);
    n->hidden = hidden;
    n->buckets = buckets;
    n->rows = place;
    n->bias = place + rows;
    n->output = n->bias + hidden;
    return 1;
}

#endif
