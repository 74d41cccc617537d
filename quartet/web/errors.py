"""The server's answer to a request that it does not fulfil."""

from __future__ import annotations

from core.errors import QuartetError


class Refused(QuartetError):  # noqa: N818  (it is an answer)
    """The reason in one line. Any other QuartetError is answered with status 422.

    Attributes:
        status: HTTP status.
    """

    def __init__(self, message: str, status: int = 409) -> None:
        super().__init__(message)
        self.status = status


def answer_to(error: QuartetError) -> tuple[dict[str, str], int]:
    """Return the answer's content and its HTTP status."""
    return {"error": str(error)}, error.status if isinstance(error, Refused) else 422
