"""Read and check the evaluation's numbers."""

from connexion.rules import Position

class EvaluationWeights:
    """The numbers of one file.

    Attributes:
        fields: The fields of the file's header, by name.
    """

    fields: dict[str, str]
    def __init__(self, data: bytes) -> None:
        """Parse the content of a file.

        Raises TextError if it is damaged or made for another evaluation.
        """

    def value(self, position: Position) -> int:
        """Return the expected change of the mover's margin until the end, in 1/64 points."""

def default_weights() -> EvaluationWeights:
    """Return the project's weights, read once. Raises TextError if they are missing or damaged."""
