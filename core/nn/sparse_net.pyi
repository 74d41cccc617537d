"""Training of sparse networks (few active inputs, one hidden layer, one output); see sparse_net.h.

Arrays are any buffers: parameters, gradient, targets, outputs and means are float32, inputs uint16
[samples][active], buckets uint8, sizes int32. All functions release the GIL.
"""

from typing import Any

BLOCK: int
"""The number of hidden units is a multiple of it."""
MAX_HIDDEN: int
"""Greatest number of hidden units."""

def run(
    parameters: Any,
    gradient: Any,
    hidden: int,
    inputs: Any,
    targets: Any,
    outputs: Any = None,
    buckets: Any = None,
    bucket_count: int = 1,
) -> float:
    """Run samples through the network with a sigmoid output, and return the sum of the losses.

    Args:
        parameters: Rows [inputs][hidden], bias, and for each bucket output weights and output bias.
        gradient: The gradient of the losses is added to it; None: not computed.
        hidden: Number of hidden units.
        inputs: Active inputs of each sample.
        targets: Expected result of each sample, 0 to 1.
        outputs: Receives the logit of each sample; None: not written.
        buckets: Bucket of each sample; None: 0.
        bucket_count: Number of buckets.

    Raises:
        ValueError: The arrays do not match, or an input or a bucket is out of range.
    """

def run_softmax(
    parameters: Any, gradient: Any, hidden: int, inputs: Any, targets: Any, sizes: Any
) -> float:
    """Run groups of samples with a softmax over each group, and return the sum of the losses.

    Args:
        parameters, gradient, hidden, inputs: As for `run`.
        targets: Probability of each sample; the sum over a group is 1.
        sizes: Number of samples of each group; groups are contiguous.

    Raises:
        ValueError: The arrays do not match, or an input is out of range.
    """

def step(
    parameters: Any, gradient: Any, first: Any, second: Any, rate: float, decay: float, most: float
) -> None:
    """Make one step of AdamW.

    Args:
        parameters, gradient, first, second: Parameters, their gradient and its running means.
        rate: Learning rate, bias-corrected.
        decay: Factor of the parameters, for weight decay.
        most: Parameters stay within +-most.

    Raises:
        ValueError: The arrays differ in length.
    """
