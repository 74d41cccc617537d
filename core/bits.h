/* Bit counting for gcc, clang and cl. */
#ifndef QUARTET_BITS_H
#define QUARTET_BITS_H

#include <stdint.h>

#ifdef _MSC_VER
#include <intrin.h>
static inline int popcount32(uint32_t x) { return (int)__popcnt(x); }
static inline int popcount64(uint64_t x) { return (int)__popcnt64(x); }
static inline int lowest_bit64(uint64_t x) { unsigned long i; _BitScanForward64(&i, x); return (int)i; }
/* Index of the lowest set bit; x must not be 0. */
static inline int lowest_bit32(uint32_t x) { unsigned long i; _BitScanForward(&i, x); return (int)i; }
#else
static inline int popcount32(uint32_t x) { return __builtin_popcount(x); }
static inline int popcount64(uint64_t x) { return __builtin_popcountll(x); }
static inline int lowest_bit64(uint64_t x) { return __builtin_ctzll(x); }
/* Index of the lowest set bit; x must not be 0. */
static inline int lowest_bit32(uint32_t x) { return __builtin_ctz(x); }
#endif

#endif
