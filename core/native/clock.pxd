"""The clock that every deadline is on; seconds."""

cdef extern from "core/native/clock.h" nogil:
    double clock_now() noexcept
    double clock_process_age() noexcept
    double clock_outer_age() noexcept
