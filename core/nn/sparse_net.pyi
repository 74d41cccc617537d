"""Training of networks with few active inputs: a pass over samples, or over groups of them, and a
step of the optimiser."""

from typing import Any

BLOCK: int
MOST_HIDDEN: int

def run(
    parameters: Any, gradient: Any, hidden: int, inputs: Any, targets: Any, outputs: Any = None
) -> float:
    """Add the gradient of the samples' losses to `gradient`, write the outputs; the sum of the
    losses."""

def choose(
    parameters: Any, gradient: Any, hidden: int, inputs: Any, targets: Any, sizes: Any
) -> float:
    """As `run`, for groups of samples of which one is chosen: the sum of the groups' losses."""

def step(
    parameters: Any, gradient: Any, first: Any, second: Any, rate: float, decay: float, most: float
) -> None:
    """One step of AdamW on these parameters."""
