"""Training of networks with few active inputs: one pass over samples, one step of the optimiser."""

from typing_extensions import Buffer

BLOCK: int
MOST_HIDDEN: int

def run(
    parameters: Buffer, gradient: Buffer | None, hidden: int, inputs: Buffer, targets: Buffer, outputs: Buffer | None = None
) -> float:
    """Add the gradient of the samples' losses to `gradient`, write the outputs; the sum of the losses."""

def step(parameters: Buffer, gradient: Buffer, first: Buffer, second: Buffer, rate: float, decay: float, most: float) -> None:
    """One step of AdamW on these parameters."""
