/* Training of a sparse network (few active inputs, one hidden layer, one output): the loops over
   samples.

   Each sample has the same number of active inputs, given as numbers of rows, and belongs to a
   bucket, for example a phase of the game. A bucket has its own output weights and output bias. */
/* clang-format off */
/*
   hidden      bias + the sum of the active rows
   activation  min(max(hidden, 0), 1) squared ("SCReLU")
   output      output_bias + the sum of activation * output weight
   expected    1 / (1 + e^-output)
   loss        (expected - target)^2

   All numbers are floats. The order of additions does not depend on the CPU. */
/* clang-format on */
#ifndef QUARTET_CORE_SPARSE_NET_H
#define QUARTET_CORE_SPARSE_NET_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* `Lanes`: the numbers of one vector register; a single number if the compiler has no vectors. */
#if defined(__GNUC__)
typedef float Lanes __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t Masks __attribute__((vector_size(32), aligned(4), may_alias));
#define SPARSE_INLINE static inline __attribute__((always_inline))
#define SPARSE_POSITIVE(x) ((Lanes)((Masks)(x) & ((x) > 0)))
#define SPARSE_BELOW_ONE(x, value) ((Lanes)((Masks)(value) & ((x) < 1)))
enum { SPARSE_WIDTH = 8 };
#else
typedef float Lanes;
#define SPARSE_INLINE static __inline
#define SPARSE_POSITIVE(x) ((x) > 0 ? (x) : 0)
#define SPARSE_BELOW_ONE(x, value) ((x) < 1 ? (value) : 0)
enum { SPARSE_WIDTH = 1 };
#endif

enum {
    SPARSE_MAX_HIDDEN = 1024,
    SPARSE_MAX_GROUP = 256,
    SPARSE_BLOCK = 64,
    SPARSE_REGISTERS = SPARSE_BLOCK / SPARSE_WIDTH
};

/* Returns the place of a bucket's output weights; its output bias follows. */
static inline size_t sparse_output(int inputs, int hidden, int bucket) {
    return (size_t)(inputs + 1) * hidden + (size_t)bucket * (hidden + 1);
}

/* Returns the output of one sample, and writes its hidden units, clipped to 0 .. 1, to `cells`. */
SPARSE_INLINE float sparse_forward(const float* parameters, int inputs, int hidden, int bucket,
                                   const uint16_t* rows, int active, Lanes* cells) {
    const float* bias = parameters + (size_t)inputs * hidden;
    const float* weights = parameters + sparse_output(inputs, hidden, bucket);
    const Lanes none = {0};
    float single[SPARSE_WIDTH];
    Lanes total = none;
    float output = weights[hidden];
    int block, i, k;
    for (block = 0; block < hidden; block += SPARSE_BLOCK) {
        Lanes sums[SPARSE_REGISTERS];
        for (i = 0; i < SPARSE_REGISTERS; i++) {
            sums[i] = ((const Lanes*)(bias + block))[i];
        }
        for (k = 0; k < active; k++) {
            const Lanes* row = (const Lanes*)(parameters + (size_t)rows[k] * hidden + block);
            for (i = 0; i < SPARSE_REGISTERS; i++) {
                sums[i] += row[i];
            }
        }
        for (i = 0; i < SPARSE_REGISTERS; i++) {
            const Lanes clipped = 1 - SPARSE_POSITIVE(1 - SPARSE_POSITIVE(sums[i]));
            total += clipped * clipped * ((const Lanes*)(weights + block))[i];
            cells[block / SPARSE_WIDTH + i] = clipped;
        }
    }
    memcpy(single, &total, sizeof single);
    for (i = 0; i < SPARSE_WIDTH; i++) {
        output += single[i];
    }
    return output;
}

/* Adds the gradient of one sample; `slope` is the derivative of its loss by its output. */
SPARSE_INLINE void sparse_backward(const float* parameters, float* gradient, int inputs, int hidden,
                                   int bucket, const uint16_t* rows, int active,
                                   const Lanes* cells, float slope) {
    const size_t output = sparse_output(inputs, hidden, bucket);
    const float* weights = parameters + output;
    float* to_bias = gradient + (size_t)inputs * hidden;
    float* to_weights = gradient + output;
    int block, i, k;
    to_weights[hidden] += slope;
    for (block = 0; block < hidden; block += SPARSE_BLOCK) {
        Lanes slopes[SPARSE_REGISTERS];
        for (i = 0; i < SPARSE_REGISTERS; i++) {
            const Lanes cell = cells[block / SPARSE_WIDTH + i];
            /* a clipped unit has no gradient */
            slopes[i] =
                2 * slope * SPARSE_BELOW_ONE(cell, cell) * ((const Lanes*)(weights + block))[i];
            ((Lanes*)(to_weights + block))[i] += slope * cell * cell;
            ((Lanes*)(to_bias + block))[i] += slopes[i];
        }
        for (k = 0; k < active; k++) {
            Lanes* row = (Lanes*)(gradient + (size_t)rows[k] * hidden + block);
            for (i = 0; i < SPARSE_REGISTERS; i++) {
                row[i] += slopes[i];
            }
        }
    }
}

/* Adds the gradient of all samples and writes their outputs; returns the sum of the losses.
   `gradient`, `buckets` (all samples: bucket 0) and `outputs` may be NULL. Layout of parameters and
   gradient: rows [inputs][hidden], bias [hidden], and for each bucket output [hidden] and output
   bias. `hidden` is a multiple of SPARSE_BLOCK. */
SPARSE_INLINE double sparse_pass_body(const float* parameters, float* gradient, int inputs,
                                      int hidden, const uint16_t* active_inputs, int active,
                                      const uint8_t* buckets, const float* targets, int samples,
                                      float* outputs) {
    Lanes cells[SPARSE_MAX_HIDDEN / SPARSE_WIDTH];
    double loss = 0;
    int sample;
    for (sample = 0; sample < samples; sample++) {
        const uint16_t* rows = active_inputs + (size_t)sample * active;
        const int bucket = buckets != NULL ? buckets[sample] : 0;
        const float output =
            sparse_forward(parameters, inputs, hidden, bucket, rows, active, cells);
        const float expected = 1 / (1 + expf(-output)), difference = expected - targets[sample];
        if (outputs != NULL) {
            outputs[sample] = output;
        }
        loss += (double)difference * difference;
        if (gradient != NULL) {
            sparse_backward(parameters, gradient, inputs, hidden, bucket, rows, active, cells,
                            2 * difference * expected * (1 - expected));
        }
    }
    return loss;
}

/* The same network with a softmax head over groups of samples: sizes[group] <= SPARSE_MAX_GROUP
   samples per group, whose targets have the sum 1. expected = e^output / the sum over the group;
   the loss of a group is its sum of target * log(target / expected). `cells` is working memory of
   SPARSE_MAX_GROUP * hidden numbers. */
SPARSE_INLINE double sparse_softmax_body(const float* parameters, float* gradient, int inputs,
                                        int hidden, const uint16_t* active_inputs, int active,
                                        const float* targets, const int32_t* sizes, int groups,
                                        float* cells) {
    float expected[SPARSE_MAX_GROUP];
    double loss = 0;
    int group, i;
    for (group = 0; group < groups; group++) {
        const int size = sizes[group];
        float most = -1e30f, total = 0;
        for (i = 0; i < size; i++) {
            const uint16_t* rows = active_inputs + (size_t)i * active;
            expected[i] = sparse_forward(parameters, inputs, hidden, 0, rows, active,
                                         (Lanes*)(cells + (size_t)i * hidden));
            most = expected[i] > most ? expected[i] : most;
        }
        for (i = 0; i < size; i++) {
            expected[i] = expf(expected[i] - most);
            total += expected[i];
        }
        for (i = 0; i < size; i++) {
            expected[i] /= total;
            if (targets[i] > 0) {
                loss += targets[i] *
                        (double)logf(targets[i] / (expected[i] > 1e-30f ? expected[i] : 1e-30f));
            }
            if (gradient != NULL) {
                sparse_backward(
                    parameters, gradient, inputs, hidden, 0, active_inputs + (size_t)i * active,
                    active, (const Lanes*)(cells + (size_t)i * hidden), expected[i] - targets[i]);
            }
        }
        active_inputs += (size_t)size * active;
        targets += size;
    }
    return loss;
}

/* One step of AdamW. `first` and `second` are the running means, `rate` includes the bias
   correction, `decay` is the factor of weight decay. Parameters stay within +-most. */
SPARSE_INLINE void sparse_step_body(float* parameters, const float* gradient, float* first,
                                    float* second, size_t count, float rate, float decay,
                                    float most) {
    size_t i;
    for (i = 0; i < count; i++) {
        const float g = gradient[i];
        float value = parameters[i] * decay;
        first[i] = 0.9f * first[i] + 0.1f * g;
        second[i] = 0.999f * second[i] + 0.001f * g * g;
        value -= rate * first[i] / (sqrtf(second[i]) + 1e-8f);
        value = value < most ? value : most;
        parameters[i] = value > -most ? value : -most;
    }
}

#define SPARSE_PASS                                                                                \
    const float *parameters, float *gradient, int inputs, int hidden,                              \
        const uint16_t *active_inputs, int active, const uint8_t *buckets, const float *targets,   \
        int samples, float *outputs
#define SPARSE_SOFTMAX                                                                              \
    const float *parameters, float *gradient, int inputs, int hidden,                              \
        const uint16_t *active_inputs, int active, const float *targets, const int32_t *sizes,     \
        int groups, float *cells
#define SPARSE_STEP                                                                                \
    float *parameters, const float *gradient, float *first, float *second, size_t count,           \
        float rate, float decay, float most

static double sparse_pass_plain(SPARSE_PASS) {
    return sparse_pass_body(parameters, gradient, inputs, hidden, active_inputs, active, buckets,
                            targets, samples, outputs);
}

static double sparse_softmax_plain(SPARSE_SOFTMAX) {
    return sparse_softmax_body(parameters, gradient, inputs, hidden, active_inputs, active, targets,
                              sizes, groups, cells);
}

static void sparse_step_plain(SPARSE_STEP) {
    sparse_step_body(parameters, gradient, first, second, count, rate, decay, most);
}

/* The same code, compiled for AVX2. */
#if defined(__GNUC__) && defined(__x86_64__)
__attribute__((target("avx2"))) static double sparse_pass_avx2(SPARSE_PASS) {
    return sparse_pass_body(parameters, gradient, inputs, hidden, active_inputs, active, buckets,
                            targets, samples, outputs);
}

__attribute__((target("avx2"))) static double sparse_softmax_avx2(SPARSE_SOFTMAX) {
    return sparse_softmax_body(parameters, gradient, inputs, hidden, active_inputs, active, targets,
                              sizes, groups, cells);
}

__attribute__((target("avx2"))) static void sparse_step_avx2(SPARSE_STEP) {
    sparse_step_body(parameters, gradient, first, second, count, rate, decay, most);
}
#define SPARSE_WIDE __builtin_cpu_supports("avx2")
#else
#define SPARSE_WIDE 0
#define sparse_pass_avx2 sparse_pass_plain
#define sparse_softmax_avx2 sparse_softmax_plain
#define sparse_step_avx2 sparse_step_plain
#endif

static inline double sparse_pass(SPARSE_PASS) {
    return (SPARSE_WIDE ? sparse_pass_avx2 : sparse_pass_plain)(
        parameters, gradient, inputs, hidden, active_inputs, active, buckets, targets, samples,
        outputs);
}

static inline double sparse_softmax(SPARSE_SOFTMAX) {
    return (SPARSE_WIDE ? sparse_softmax_avx2 : sparse_softmax_plain)(
        parameters, gradient, inputs, hidden, active_inputs, active, targets, sizes, groups, cells);
}

static inline void sparse_step(SPARSE_STEP) {
    (SPARSE_WIDE ? sparse_step_avx2 : sparse_step_plain)(parameters, gradient, first, second, count,
                                                         rate, decay, most);
}

#endif
