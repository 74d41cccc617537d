/* Memory for hash tables: zeroed, and on huge pages if the system has them. A hash table is read at
   random, so nearly every access would also miss the TLB. Huge pages make searches 1.07 to 1.12
   times as fast: docs/experiments/004.

   table_new returns NULL if memory is short; table_free takes the same number of bytes. */
#ifndef QUARTET_TABLE_H
#define QUARTET_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef _MSC_VER
#include <intrin.h>
static inline void prefetch(const void* place) {
    _mm_prefetch((const char*)place, _MM_HINT_T0);
}
#else
static inline void prefetch(const void* place) {
    __builtin_prefetch(place);
}
#endif

#ifdef __linux__
#include <sys/mman.h>

enum { TABLE_PAGE = 2 << 20 };

static inline size_t table_rounded(size_t bytes) {
    return (bytes + TABLE_PAGE - 1) & ~(size_t)(TABLE_PAGE - 1);
}

static inline void* table_new(size_t bytes) {
    const size_t length = table_rounded(bytes);
    char* whole = (char*)mmap(NULL, length + TABLE_PAGE, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char* first;
    if (whole == (char*)MAP_FAILED) {
        return NULL;
    }
    first = (char*)table_rounded((uintptr_t)whole);
    if (first > whole) {
        munmap(whole, (size_t)(first - whole));
    }
    munmap(first + length,
           (size_t)(whole + TABLE_PAGE -
                    first)); /* at least one byte: first - whole is less than TABLE_PAGE */
    madvise(first, length, MADV_HUGEPAGE); /* a failure only costs speed */
    return first;
}

static inline void table_free(void* table, size_t bytes) {
    if (table != NULL) {
        munmap(table, table_rounded(bytes));
    }
}
#else
static inline void* table_new(size_t bytes) {
    return calloc(bytes, 1);
}

static inline void table_free(void* table, size_t bytes) {
    (void)bytes;
    free(table);
}
#endif

#endif
