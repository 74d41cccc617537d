"""Bit counting. lowest_bit: index of the lowest set bit; x must not be 0."""

from libc.stdint cimport uint32_t, uint64_t

cdef extern from "core/native/bits.h" nogil:
    int popcount32(uint32_t x) noexcept
    int popcount64(uint64_t x) noexcept
    int lowest_bit32(uint32_t x) noexcept
    int lowest_bit64(uint64_t x) noexcept
