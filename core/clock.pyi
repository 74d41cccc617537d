"""The clock that every deadline is on, and the true age of this process."""

UNKNOWN_AGE: float

def now() -> float:
    """Seconds on a monotonic clock with an arbitrary zero, the same in Python and in searches."""

def process_age() -> float:
    """Seconds since the operating system started this process, rather too many than too few.

    Where the system does not tell, or tells nonsense (before birth, or more than a minute), a cautious guess for a Python start-up.
    """
