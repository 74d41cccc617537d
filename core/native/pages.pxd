"""Memory for hash tables; see table.h."""

cdef extern from "core/native/pages.h" nogil:
    void* table_new(size_t bytes) noexcept      # zeroed, NULL where memory is short
    void table_free(void* table, size_t bytes) noexcept
    void prefetch(const void* place) noexcept   # its cache line is wanted soon
