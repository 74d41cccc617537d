"""How a clock becomes a budget."""

from __future__ import annotations

from core.native.clock import now, process_age

EXIT_SECONDS = 0.010
"""What is left to do after the search: one more answer to write, and the end of the process.
Measured: 1 to 4 ms, more on a busy machine."""


def deadline_of_process(target: float) -> float:
    """When a search must stop, on `core.native.clock`, for the whole process to be over `target`
    seconds after the system started it."""
    return now() - process_age() + target - EXIT_SECONDS
