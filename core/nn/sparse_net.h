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
    SPARSE_BLOCK = 64, /* hidden units are a multiple: a game's vectors need it */
    /* Samples that pass through the network together; docs/experiments/002. */
    SPARSE_TILE = 4096,
    /* Columns of the first layer that are used at a time. All rows of so few columns stay in the
       processor's cache, if they are contiguous. */
    SPARSE_COLUMNS = 32,
    SPARSE_REGISTERS = SPARSE_COLUMNS / SPARSE_WIDTH,
    SPARSE_ALIGNED = 64
};

/* Working memory for one tile of samples. */
typedef struct {
    Lanes* columns; /* [inputs + 1][SPARSE_COLUMNS], of the parameters or of the gradient */
    Lanes* cells;   /* [SPARSE_TILE][hidden]: hidden units, then the loss's derivatives by them */
    float* outputs; /* [SPARSE_TILE]: outputs, then the loss's derivatives by them */
} SparseMemory;

/* Returns the bytes of the working memory. */
static inline size_t sparse_bytes(int inputs, int hidden) {
    return SPARSE_ALIGNED + ((size_t)(inputs + 1) * SPARSE_COLUMNS +
                             (size_t)SPARSE_TILE * (hidden + 1)) *
                                sizeof(float);
}

SPARSE_INLINE SparseMemory sparse_memory(void* buffer, int inputs, int hidden) {
    SparseMemory memory;
    float* next = (float*)(((uintptr_t)buffer + SPARSE_ALIGNED - 1) / SPARSE_ALIGNED *
                           SPARSE_ALIGNED);
    memory.columns = (Lanes*)next;
    next += (size_t)(inputs + 1) * SPARSE_COLUMNS;
    memory.cells = (Lanes*)next;
    memory.outputs = next + (size_t)SPARSE_TILE * hidden;
    return memory;
}

/* Returns the place of a bucket's output weights; its output bias follows. */
static inline size_t sparse_output(int inputs, int hidden, int bucket) {
    return (size_t)(inputs + 1) * hidden + (size_t)bucket * (hidden + 1);
}

/* Copies the first SPARSE_COLUMNS columns from `layer`, whose last row is the bias. */
SPARSE_INLINE void sparse_load(const float* layer, int inputs, int hidden, Lanes* columns) {
    int row;
    for (row = 0; row <= inputs; row++) {
        memcpy(columns + (size_t)row * SPARSE_REGISTERS, layer + (size_t)row * hidden,
               SPARSE_COLUMNS * sizeof(float));
    }
}

/* Copies them back. */
SPARSE_INLINE void sparse_store(float* layer, int inputs, int hidden, const Lanes* columns) {
    int row;
    for (row = 0; row <= inputs; row++) {
        memcpy(layer + (size_t)row * hidden, columns + (size_t)row * SPARSE_REGISTERS,
               SPARSE_COLUMNS * sizeof(float));
    }
}

/* Writes the outputs of the samples of a tile to memory.outputs, and their hidden units, clipped to
   0 .. 1, to memory.cells. */
SPARSE_INLINE void sparse_forward(const float* parameters, int inputs, int hidden,
                                  const uint16_t* active_inputs, int active, const uint8_t* buckets,
                                  int samples, SparseMemory memory) {
    const int registers = hidden / SPARSE_WIDTH;
    int block, sample, i, k;
    for (block = 0; block < hidden; block += SPARSE_COLUMNS) {
        const uint16_t* rows = active_inputs;
        Lanes* cells = memory.cells + block / SPARSE_WIDTH;
        sparse_load(parameters + block, inputs, hidden, memory.columns);
        for (sample = 0; sample < samples; sample++, rows += active, cells += registers) {
            Lanes sums[SPARSE_REGISTERS];
            for (i = 0; i < SPARSE_REGISTERS; i++) {
                sums[i] = memory.columns[(size_t)inputs * SPARSE_REGISTERS + i];
            }
            for (k = 0; k < active; k++) {
                const Lanes* row = memory.columns + (size_t)rows[k] * SPARSE_REGISTERS;
                for (i = 0; i < SPARSE_REGISTERS; i++) {
                    sums[i] += row[i];
                }
            }
            for (i = 0; i < SPARSE_REGISTERS; i++) {
                cells[i] = 1 - SPARSE_POSITIVE(1 - SPARSE_POSITIVE(sums[i]));
            }
        }
    }
    for (sample = 0; sample < samples; sample++) {
        const float* weights =
            parameters + sparse_output(inputs, hidden, buckets != NULL ? buckets[sample] : 0);
        const Lanes* cells = memory.cells + (size_t)sample * registers;
        Lanes total = {0};
        float single[SPARSE_WIDTH];
        float output = weights[hidden];
        for (i = 0; i < registers; i++) {
            total += cells[i] * cells[i] * ((const Lanes*)weights)[i];
        }
        memcpy(single, &total, sizeof single);
        for (i = 0; i < SPARSE_WIDTH; i++) {
            output += single[i];
        }
        memory.outputs[sample] = output;
    }
}

/* Adds the gradient of the samples of a tile. memory.outputs are the derivatives of their losses by
   their outputs, memory.cells their hidden units, which are overwritten. */
SPARSE_INLINE void sparse_backward(const float* parameters, float* gradient, int inputs, int hidden,
                                   const uint16_t* active_inputs, int active,
                                   const uint8_t* buckets, int samples, SparseMemory memory) {
    const int registers = hidden / SPARSE_WIDTH;
    int block, sample, i, k;
    for (sample = 0; sample < samples; sample++) {
        const float slope = memory.outputs[sample];
        const size_t output =
            sparse_output(inputs, hidden, buckets != NULL ? buckets[sample] : 0);
        const Lanes* weights = (const Lanes*)(parameters + output);
        Lanes* to_weights = (Lanes*)(gradient + output);
        Lanes* cells = memory.cells + (size_t)sample * registers;
        gradient[output + hidden] += slope;
        for (i = 0; i < registers; i++) {
            const Lanes cell = cells[i];
            to_weights[i] += slope * cell * cell;
            /* a clipped unit has no gradient */
            cells[i] = 2 * slope * SPARSE_BELOW_ONE(cell, cell) * weights[i];
        }
    }
    for (block = 0; block < hidden; block += SPARSE_COLUMNS) {
        const uint16_t* rows = active_inputs;
        const Lanes* cells = memory.cells + block / SPARSE_WIDTH;
        sparse_load(gradient + block, inputs, hidden, memory.columns);
        for (sample = 0; sample < samples; sample++, rows += active, cells += registers) {
            Lanes slopes[SPARSE_REGISTERS];
            for (i = 0; i < SPARSE_REGISTERS; i++) {
                slopes[i] = cells[i];
                memory.columns[(size_t)inputs * SPARSE_REGISTERS + i] += slopes[i];
            }
            for (k = 0; k < active; k++) {
                Lanes* row = memory.columns + (size_t)rows[k] * SPARSE_REGISTERS;
                for (i = 0; i < SPARSE_REGISTERS; i++) {
                    row[i] += slopes[i];
                }
            }
        }
        sparse_store(gradient + block, inputs, hidden, memory.columns);
    }
}

/* Adds the gradient of all samples and writes their outputs; returns the sum of the losses.
   `gradient`, `buckets` (all samples: bucket 0) and `outputs` may be NULL. Layout of parameters and
   gradient: rows [inputs][hidden], bias [hidden], and for each bucket output [hidden] and output
   bias. `hidden` is a multiple of SPARSE_BLOCK; `buffer` has sparse_bytes(inputs, hidden) bytes. */
SPARSE_INLINE double sparse_pass_body(const float* parameters, float* gradient, int inputs,
                                      int hidden, const uint16_t* active_inputs, int active,
                                      const uint8_t* buckets, const float* targets, int samples,
                                      float* outputs, void* buffer) {
    const SparseMemory memory = sparse_memory(buffer, inputs, hidden);
    double loss = 0;
    int first, i;
    for (first = 0; first < samples; first += SPARSE_TILE) {
        const int size = samples - first < SPARSE_TILE ? samples - first : SPARSE_TILE;
        const uint16_t* rows = active_inputs + (size_t)first * active;
        const uint8_t* chosen = buckets != NULL ? buckets + first : NULL;
        sparse_forward(parameters, inputs, hidden, rows, active, chosen, size, memory);
        for (i = 0; i < size; i++) {
            const float output = memory.outputs[i];
            const float expected = 1 / (1 + expf(-output));
            const float difference = expected - targets[first + i];
            if (outputs != NULL) {
                outputs[first + i] = output;
            }
            loss += (double)difference * difference;
            memory.outputs[i] = 2 * difference * expected * (1 - expected);
        }
        if (gradient != NULL) {
            sparse_backward(parameters, gradient, inputs, hidden, rows, active, chosen, size,
                            memory);
        }
    }
    return loss;
}

/* The same network with a softmax head over groups of samples: sizes[group] <= SPARSE_MAX_GROUP
   samples per group, whose targets have the sum 1. expected = e^output / the sum over the group;
   the loss of a group is its sum of target * log(target / expected). */
SPARSE_INLINE double sparse_softmax_body(const float* parameters, float* gradient, int inputs,
                                        int hidden, const uint16_t* active_inputs, int active,
                                        const float* targets, const int32_t* sizes, int groups,
                                        void* buffer) {
    const SparseMemory memory = sparse_memory(buffer, inputs, hidden);
    double loss = 0;
    int group = 0;
    while (group < groups) {
        float* outputs = memory.outputs;
        int end = group, samples = 0, i;
        for (; end < groups && samples + sizes[end] <= SPARSE_TILE; end++) {
            samples += sizes[end];
        }
        sparse_forward(parameters, inputs, hidden, active_inputs, active, NULL, samples, memory);
        for (; group < end; group++) {
            const int size = sizes[group];
            float most = -1e30f, total = 0;
            for (i = 0; i < size; i++) {
                most = outputs[i] > most ? outputs[i] : most;
            }
            for (i = 0; i < size; i++) {
                outputs[i] = expf(outputs[i] - most);
                total += outputs[i];
            }
            for (i = 0; i < size; i++) {
                const float expected = outputs[i] / total;
                if (targets[i] > 0) {
                    loss += targets[i] *
                            (double)logf(targets[i] / (expected > 1e-30f ? expected : 1e-30f));
                }
                outputs[i] = expected - targets[i];
            }
            outputs += size;
            targets += size;
        }
        if (gradient != NULL) {
            sparse_backward(parameters, gradient, inputs, hidden, active_inputs, active, NULL,
                            samples, memory);
        }
        active_inputs += (size_t)samples * active;
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
        int samples, float *outputs, void *buffer
#define SPARSE_SOFTMAX                                                                              \
    const float *parameters, float *gradient, int inputs, int hidden,                              \
        const uint16_t *active_inputs, int active, const float *targets, const int32_t *sizes,     \
        int groups, void *buffer
#define SPARSE_STEP                                                                                \
    float *parameters, const float *gradient, float *first, float *second, size_t count,           \
        float rate, float decay, float most

static double sparse_pass_plain(SPARSE_PASS) {
    return sparse_pass_body(parameters, gradient, inputs, hidden, active_inputs, active, buckets,
                            targets, samples, outputs, buffer);
}

static double sparse_softmax_plain(SPARSE_SOFTMAX) {
    return sparse_softmax_body(parameters, gradient, inputs, hidden, active_inputs, active, targets,
                              sizes, groups, buffer);
}

static void sparse_step_plain(SPARSE_STEP) {
    sparse_step_body(parameters, gradient, first, second, count, rate, decay, most);
}

/* The same code, compiled for AVX2. */
#if defined(__GNUC__) && defined(__x86_64__)
__attribute__((target("avx2"))) static double sparse_pass_avx2(SPARSE_PASS) {
    return sparse_pass_body(parameters, gradient, inputs, hidden, active_inputs, active, buckets,
                            targets, samples, outputs, buffer);
}

__attribute__((target("avx2"))) static double sparse_softmax_avx2(SPARSE_SOFTMAX) {
    return sparse_softmax_body(parameters, gradient, inputs, hidden, active_inputs, active, targets,
                              sizes, groups, buffer);
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
        outputs, buffer);
}

static inline double sparse_softmax(SPARSE_SOFTMAX) {
    return (SPARSE_WIDE ? sparse_softmax_avx2 : sparse_softmax_plain)(
        parameters, gradient, inputs, hidden, active_inputs, active, targets, sizes, groups,
        buffer);
}

static inline void sparse_step(SPARSE_STEP) {
    (SPARSE_WIDE ? sparse_step_avx2 : sparse_step_plain)(parameters, gradient, first, second, count,
                                                         rate, decay, most);
}

#endif
