"""Atomic numbers; atomics.h describes each function."""

from libc.stdint cimport int32_t, uint16_t, uint32_t, uint64_t

cdef extern from "core/native/atomics.h" nogil:
    int32_t acquire_i32(const int32_t* p) noexcept
    void release_i32(int32_t* p, int32_t value) noexcept
    bint claim_i32(int32_t* p, int32_t before, int32_t after) noexcept
    int32_t peek_i32(const int32_t* p) noexcept
    void put_i32(int32_t* p, int32_t value) noexcept
    uint16_t peek_u16(const uint16_t* p) noexcept
    void put_u16(uint16_t* p, uint16_t value) noexcept
    uint32_t peek_u32(const uint32_t* p) noexcept
    uint64_t peek_u64(const uint64_t* p) noexcept
    float peek_float(const float* p) noexcept
    int32_t add_i32(int32_t* p, int32_t n, bint shared) noexcept
    uint32_t add_u32(uint32_t* p, uint32_t n, bint shared) noexcept
    uint64_t add_u64(uint64_t* p, uint64_t n, bint shared) noexcept
    void add_float(float* p, float value, bint shared) noexcept
