"""The learned numbers of the evaluation."""

from connexion.rules import Position

class Weights:
    """The numbers of one file; `fields` is what the file says of itself."""

    fields: dict[str, str]
    def __init__(self, data: bytes) -> None:
        """Of the bytes of a file. Raises TextError where it is damaged, or made for another
        evaluation."""

    def value(self, position: Position) -> int:
        """What the mover's margin will change by until the end, in 1/64 points."""

def default_weights() -> Weights:
    """The weights that the package brings. Raises TextError where they are damaged."""
