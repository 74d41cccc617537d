"""Memory for hash tables; see pages.h."""

cdef extern from "core/native/pages.h" nogil:
    void* table_new(size_t bytes) noexcept      # zeroed; NULL: out of memory
    void table_free(void* table, size_t bytes) noexcept
    void prefetch(const void* place) noexcept   # loads the cache line of a place
