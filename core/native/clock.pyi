"""The clock of all deadlines, and the age of this process, in seconds."""

UNKNOWN_AGE: float
"""Assumed age of a process if the system does not know it, and time for unpacking."""

def now() -> float:
    """Return the time on a monotonic clock with an arbitrary zero, the same in searches."""

def process_age() -> float:
    """Return the seconds since the system started this process, never too few.

    In a one-file executable, since it started the outer process, which unpacks. If the system does
    not know the age, or returns nonsense (negative, more than a minute): UNKNOWN_AGE for the start
    of Python, and again for unpacking.
    """

def unpacked_itself() -> bool:
    """Return True in the inner process of a one-file executable, which has unpacked itself."""
