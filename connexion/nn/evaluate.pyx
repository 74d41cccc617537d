"""The learned numbers of the evaluation: read, checked, and handed to searches. evaluate.pxd says
what they mean."""

import os
import sys
from array import array

from connexion.rules cimport Position

from core.errors import TextError
from core.nn.sealed import unseal
from core.resource import resource


cdef class Weights:
    """The numbers of one file.

    Attributes:
        fields: what the file says of itself, by name.
    """

    def __init__(self, bytes data):
        """Of the bytes of a file. Raises TextError where it is damaged, or made for another
        evaluation."""
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
        """What the mover's margin will change by until the end, in 1/64 points."""
        return evaluate(&position.board, self.values)


def default_weights():
    """The weights that the package brings; read once. Raises TextError where they are missing or
    damaged."""
    global _default
    if _default is None:
        _default = Weights(resource(os.path.join(os.path.dirname(__file__), "weights.bin")))
    return _default


cdef object _default = None
