"""The clock that every deadline is on, and the true age of this process."""

from core.clock cimport clock_now, clock_process_age

UNKNOWN_AGE = 0.1


def now():
    """Seconds on a monotonic clock with an arbitrary zero, the same in Python and in searches."""
    return clock_now()


def process_age():
    """Seconds since the operating system started this process, never too few by more than the reading itself takes.

    Where the system does not tell, or tells nonsense (before birth, or more than a minute), a cautious guess for a Python start-up.
    """
    cdef double age = clock_process_age()
    return age if 0 <= age < 60 else UNKNOWN_AGE
