/* A node of the tree of maxn_mcts.pxi, and PUCT's choice among its edges.

   A search spends most of its time waiting for memory. So a node is one block: its edges follow it
   in groups of four, in descending order of their priors. Among untried edges the first is best, so
   a choice reads the groups with tried edges and the next edge, usually one or two cache lines.

   The SSE2 form makes the same operations in the same order as the plain one, so both choose the
   same edge. Other threads may change the numbers meanwhile: on x86, a load of a vector reads each
   aligned number whole, which ThreadSanitizer does not know. */
#ifndef UGOLKI_TREE_NODE_H
#define UGOLKI_TREE_NODE_H

#include <stdint.h>
#include <string.h>
#include "core/native/atomics.h"
#if (defined(__SSE2__) || defined(_M_X64)) && !defined(__SANITIZE_THREAD__)
#define TREE_SSE2 1
#include <emmintrin.h>
#else
#define TREE_SSE2 0
#endif

enum {
    TREE_UNIT = 8, /* bytes: addresses of nodes in the tree's memory count these */
    TREE_GROUP = 4 /* edges */
};

/* A last group with fewer edges is filled with edges that have one visit and this total. */
#define TREE_NEVER (-1e9f)

typedef struct TreeGroup {
    float priors[TREE_GROUP];     /* the sum over a node's edges is 1 */
    float totals[TREE_GROUP];     /* sum of the mover's win shares over completed visits */
    uint32_t visits[TREE_GROUP];  /* completed and running ones */
    int32_t children[TREE_GROUP]; /* nodes; 0: none (node 0 is the root) */
    uint16_t moves[TREE_GROUP];
} TreeGroup;

typedef struct TreeNode {
    int32_t count;   /* edges */
    int32_t tried;   /* no edge from this number on has a visit */
    uint32_t visits; /* as of an edge */
    float total;
    TreeGroup groups[];
} TreeNode;

/* Returns the number of units of a node with `count` edges. */
static inline int32_t tree_units(int32_t count) {
    const int32_t groups = (count + TREE_GROUP - 1) / TREE_GROUP;
    return (int32_t)((sizeof(TreeNode) + (size_t)groups * sizeof(TreeGroup)) / TREE_UNIT);
}

/* Makes a node with `count` edges, all without visits. */
static inline void tree_clear(TreeNode* node, int32_t count) {
    int32_t i;
    memset(node, 0, (size_t)tree_units(count) * TREE_UNIT);
    node->count = count;
    for (i = count; i % TREE_GROUP != 0; i++) {
        node->groups[i / TREE_GROUP].totals[i % TREE_GROUP] = TREE_NEVER;
        node->groups[i / TREE_GROUP].visits[i % TREE_GROUP] = 1;
    }
}

/* Returns the place of a weight in descending order; equal ones keep their order. Without branches,
   so a compiler makes vectors of it. */
static inline int32_t tree_rank(const float* weights, int32_t count, int32_t i) {
    const float weight = weights[i];
    int32_t rank = 0, k;
    for (k = 0; k < i; k++) {
        rank += weights[k] >= weight;
    }
    for (k = i + 1; k < count; k++) {
        rank += weights[k] > weight;
    }
    return rank;
}

/* Returns the first edge with the greatest sum of value and bonus * prior / (1 + visits). Its value
   is total / visits, `untried` without visits. */
static inline int32_t tree_best(const TreeNode* node, float bonus, float untried) {
    const int32_t tried = QUARTET_PEEK(&node->tried);
    const int32_t groups = (tried < node->count ? tried : node->count - 1) / TREE_GROUP + 1;
    int32_t i, found = 0;
#if TREE_SSE2
    const __m128 bonuses = _mm_set1_ps(bonus), values = _mm_set1_ps(untried);
    const __m128i one = _mm_set1_epi32(1);
    __m128 best = _mm_set1_ps(TREE_NEVER);
    __m128i chosen = _mm_setzero_si128(), edges = _mm_setr_epi32(0, 1, 2, 3);
    float greatest[TREE_GROUP];
    int32_t numbers[TREE_GROUP];
    for (i = 0; i < groups; i++) {
        const TreeGroup* group = node->groups + i;
        const __m128i visits = _mm_loadu_si128((const __m128i*)group->visits);
        const __m128 none = _mm_castsi128_ps(_mm_cmpeq_epi32(visits, _mm_setzero_si128()));
        const __m128 mean = _mm_div_ps(_mm_loadu_ps(group->totals), _mm_cvtepi32_ps(visits));
        const __m128 explored = _mm_div_ps(_mm_mul_ps(bonuses, _mm_loadu_ps(group->priors)),
                                           _mm_cvtepi32_ps(_mm_add_epi32(visits, one)));
        const __m128 value = _mm_add_ps(
            _mm_or_ps(_mm_and_ps(none, values), _mm_andnot_ps(none, mean)), explored);
        const __m128i better = _mm_castps_si128(_mm_cmpgt_ps(value, best));
        best = _mm_max_ps(best, value);
        chosen = _mm_or_si128(_mm_and_si128(better, edges), _mm_andnot_si128(better, chosen));
        edges = _mm_add_epi32(edges, _mm_set1_epi32(TREE_GROUP));
    }
    _mm_storeu_ps(greatest, best);
    _mm_storeu_si128((__m128i*)numbers, chosen);
    for (i = 1; i < TREE_GROUP; i++) {
        if (greatest[i] > greatest[found] ||
            (greatest[i] == greatest[found] && numbers[i] < numbers[found])) {
            found = i;
        }
    }
    return numbers[found];
#else
    float best = TREE_NEVER;
    for (i = 0; i < groups * TREE_GROUP; i++) {
        const TreeGroup* group = node->groups + i / TREE_GROUP;
        const int k = i % TREE_GROUP;
        const uint32_t visits = QUARTET_PEEK(group->visits + k);
        const float mean =
            visits ? peek_float(group->totals + k) / (float)(int32_t)visits : untried;
        const float value = mean + bonus * group->priors[k] / (float)(int32_t)(visits + 1);
        if (value > best) {
            best = value;
            found = i;
        }
    }
    return found;
#endif
}

#endif
