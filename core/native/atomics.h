/* Atomic numbers, for gcc, clang and cl. */
/* clang-format off */
/*
   peek_*, put_*     relaxed load and store
   acquire_i32       load with acquire order
   release_i32       store with release order
   claim_i32         compare-and-swap `from` to `to`, acquire and release; false if it failed
   add_*             fetch-and-add, relaxed; returns the old value. If `shared` is false, only one
                     thread runs, and a plain addition is cheaper. */
/* clang-format on */
#ifndef QUARTET_ATOMICS_H
#define QUARTET_ATOMICS_H

#include <stdint.h>

#ifdef _MSC_VER
#include <intrin.h>
#include <string.h>
#define QUARTET_PEEK(p) (*(p))
#define QUARTET_PUT(p, value) (*(p) = (value))
#define QUARTET_ADD_32(p, n) ((uint32_t)_InterlockedExchangeAdd((volatile long*)(p), (long)(n)))
#define QUARTET_ADD_64(p, n) \
    ((uint64_t)_InterlockedExchangeAdd64((volatile __int64*)(p), (__int64)(n)))
#define QUARTET_VOLATILE volatile

/* volatile reads acquire, volatile writes release (/volatile:ms, the default on x86) */
static inline int32_t acquire_i32(const volatile int32_t* p) {
    return *p;
}
static inline void release_i32(volatile int32_t* p, int32_t value) {
    *p = value;
}
static inline int claim_i32(volatile int32_t* p, int32_t from, int32_t to) {
    return _InterlockedCompareExchange((volatile long*)p, to, from) == from;
}
static inline float peek_float(const volatile float* p) {
    return *p;
}
/* compare-and-swap; if it fails, `*from` becomes the present value */
static inline int claim_float(volatile float* p, float* from, float to) {
    long before, after, found;
    memcpy(&before, from, sizeof before);
    memcpy(&after, &to, sizeof after);
    found = _InterlockedCompareExchange((volatile long*)p, after, before);
    memcpy(from, &found, sizeof found);
    return found == before;
}
#else
#define QUARTET_PEEK(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define QUARTET_PUT(p, value) __atomic_store_n(p, value, __ATOMIC_RELAXED)
#define QUARTET_ADD_32(p, n) __atomic_fetch_add(p, n, __ATOMIC_RELAXED)
#define QUARTET_ADD_64(p, n) __atomic_fetch_add(p, n, __ATOMIC_RELAXED)
#define QUARTET_VOLATILE

static inline int32_t acquire_i32(const int32_t* p) {
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
static inline void release_i32(int32_t* p, int32_t value) {
    __atomic_store_n(p, value, __ATOMIC_RELEASE);
}
static inline int claim_i32(int32_t* p, int32_t from, int32_t to) {
    return __atomic_compare_exchange_n(p, &from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
static inline float peek_float(const float* p) {
    float value;
    __atomic_load(p, &value, __ATOMIC_RELAXED);
    return value;
}
static inline int claim_float(float* p, float* from, float to) {
    return __atomic_compare_exchange(p, from, &to, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
#endif

static inline int32_t peek_i32(const QUARTET_VOLATILE int32_t* p) {
    return QUARTET_PEEK(p);
}
static inline void put_i32(QUARTET_VOLATILE int32_t* p, int32_t value) {
    QUARTET_PUT(p, value);
}
static inline uint16_t peek_u16(const QUARTET_VOLATILE uint16_t* p) {
    return QUARTET_PEEK(p);
}
static inline void put_u16(QUARTET_VOLATILE uint16_t* p, uint16_t value) {
    QUARTET_PUT(p, value);
}
static inline uint32_t peek_u32(const QUARTET_VOLATILE uint32_t* p) {
    return QUARTET_PEEK(p);
}
static inline uint64_t peek_u64(const QUARTET_VOLATILE uint64_t* p) {
    return QUARTET_PEEK(p);
}

static inline int32_t add_i32(int32_t* p, int32_t n, int shared) {
    if (shared) {
        return (int32_t)QUARTET_ADD_32((uint32_t*)p, (uint32_t)n);
    }
    int32_t old = *p;
    *p = old + n;
    return old;
}
static inline uint32_t add_u32(uint32_t* p, uint32_t n, int shared) {
    if (shared) {
        return QUARTET_ADD_32(p, n);
    }
    uint32_t old = *p;
    *p = old + n;
    return old;
}
static inline uint64_t add_u64(uint64_t* p, uint64_t n, int shared) {
    if (shared) {
        return QUARTET_ADD_64(p, n);
    }
    uint64_t old = *p;
    *p = old + n;
    return old;
}
static inline void add_float(float* p, float value, int shared) {
    if (!shared) {
        *p += value;
        return;
    }
    float from = peek_float(p);
    while (!claim_float(p, &from, from + value)) {
    }
}

#endif
