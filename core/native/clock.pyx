"""The clock of all deadlines, and the age of this process."""

import sys

from core.native.clock cimport clock_now, clock_outer_age, clock_process_age

UNKNOWN_AGE = 0.1


def now():
    """See clock.pyi."""
    return clock_now()


def process_age():
    """See clock.pyi."""
    cdef double age = clock_process_age(), outer
    if not 0 <= age < 60:
        age = UNKNOWN_AGE
    if not unpacked_itself():
        return age
    outer = clock_outer_age()
    return outer if age <= outer < 60 else age + UNKNOWN_AGE


def unpacked_itself():
    """See clock.pyi."""
    # PyInstaller's name of the folder; temporary ones begin with _MEI
    return str(
        getattr(sys, "_MEIPASS", "")
    ).replace("\\", "/").rpartition("/")[2].startswith("_MEI")
