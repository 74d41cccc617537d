"""Read and check the evaluation's numbers. evaluate.pxd describes them."""

import os
import sys
from array import array

from connexion.rules cimport Position

from core.errors import TextError
from core.nn.sealed import unseal
from core.resource import resource


cdef class EvaluationWeights:
    """The numbers of one file.

    Attributes:
        fields: The fields of the file's header, by name.
    """

    def __init__(self, bytes data):
        """Parse the content of a file.

        Raises TextError if it is damaged or made for another evaluation.
        """
        cdef int i
        self.fields, body = unseal("weights", data, "connexion")
        if self.fields.get("numbers") != str(NUMBERS) or len(body) != 2 * NUMBERS:
            raise TextError(
                f"the weights are for another evaluation, of {self.fields.get("numbers")} numbers "
                f"instead of {NUMBERS}"
            )
        numbers = array("h", body)
        if sys.byteorder == "big":
            numbers.byteswap()
        for i in range(NUMBERS):
            self.values[i] = numbers[i]

    def value(self, Position position):
        """Return the expected change of the mover's margin until the end, in 1/64 points."""
        return evaluate(&position.board, self.values)


def default_weights():
    """Return the project's weights, read once. Raises TextError if they are missing or damaged."""
    global _default
    if _default is None:
        _default = EvaluationWeights(
            resource(os.path.join(os.path.dirname(__file__), "weights.bin"))
        )
    return _default


cdef object _default = None
