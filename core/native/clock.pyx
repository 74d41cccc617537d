"""The clock that every deadline is on, and the true age of this process."""

import sys

from core.native.clock cimport clock_now, clock_outer_age, clock_process_age

UNKNOWN_AGE = 0.1


def now():
    """Seconds on a monotonic clock with an arbitrary zero, the same in Python and in searches."""
    return clock_now()


def process_age():
    """Seconds since the operating system started this process, never too few by more than the
    reading itself takes.

    In an executable that unpacks itself, since it started the outer process, which unpacked. Where
    the system does not tell, or tells nonsense (before birth, or more than a minute), a cautious
    guess: UNKNOWN_AGE for the start of Python, and again for the unpacking.
    """
    cdef double age = clock_process_age(), outer
    if not 0 <= age < 60:
        age = UNKNOWN_AGE
    if not unpacked_itself():
        return age
    outer = clock_outer_age()
    return outer if age <= outer < 60 else age + UNKNOWN_AGE


def unpacked_itself():
    """Whether this is the inner process of an executable file that carries all it needs, and has
    unpacked it into a folder."""
    # PyInstaller's name for it, which begins like this if it is a temporary one.
    return str(
        getattr(sys, "_MEIPASS", "")
    ).replace("\\", "/").rpartition("/")[2].startswith("_MEI")
