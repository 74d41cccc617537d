"""The monotonic clock of all deadlines, in seconds; see clock.h."""

cdef extern from "core/native/clock.h" nogil:
    double clock_now() noexcept
    double clock_process_age() noexcept
    double clock_outer_age() noexcept
