"""What the page's server answers where it does not do what it was asked."""

from __future__ import annotations


class Refused(Exception):  # noqa: N818  (it is an answer)
    """Why something cannot be done, in one line.

    Attributes:
        status: int; as HTTP says it.
    """

    def __init__(self, message: str, status: int = 409) -> None:
        super().__init__(message)
        self.status = status
