/* Bit counting for gcc, clang and cl. */
#ifndef QUARTET_BITS_H
#define QUARTET_BITS_H

#include <stdint.h>

/* lowest_bit: the index of the lowest set bit; x must not be 0. */
#ifdef _MSC_VER
#include <intrin.h>
static inline int popcount32(uint32_t x) {
    return (int)__popcnt(x);
}
static inline int lowest_bit32(uint32_t x) {
    unsigned long i;
    _BitScanForward(&i, x);
    return (int)i;
}
#ifdef _WIN64
static inline int popcount64(uint64_t x) {
    return (int)__popcnt64(x);
}
static inline int lowest_bit64(uint64_t x) {
    unsigned long i;
    _BitScanForward64(&i, x);
    return (int)i;
}
#else
static inline int popcount64(uint64_t x) {
    return popcount32((uint32_t)x) + popcount32((uint32_t)(x >> 32));
}
static inline int lowest_bit64(uint64_t x) {
    return (uint32_t)x ? lowest_bit32((uint32_t)x) : 32 + lowest_bit32((uint32_t)(x >> 32));
}
#endif
#else
static inline int popcount32(uint32_t x) {
    return __builtin_popcount(x);
}
static inline int lowest_bit32(uint32_t x) {
    return __builtin_ctz(x);
}
static inline int popcount64(uint64_t x) {
    return __builtin_popcountll(x);
}
static inline int lowest_bit64(uint64_t x) {
    return __builtin_ctzll(x);
}
#endif

#endif
