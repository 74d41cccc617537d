"""The clock that every deadline is on, and the true age of this process."""

UNKNOWN_AGE: float

def now() -> float:
    """Seconds on a monotonic clock with an arbitrary zero, the same in Python and in searches."""

def process_age() -> float:
    """Seconds since the operating system started this process, rather too many than too few.

    In an executable that unpacks itself, since it started the outer process, which unpacked. Where
    the system does not tell, or tells nonsense (before birth, or more than a minute), a cautious
    guess: UNKNOWN_AGE for the start of Python, and again for the unpacking.
    """

def unpacked_itself() -> bool:
    """Whether this is the inner process of an executable file that carries all it needs, and has
    unpacked it into a folder."""
