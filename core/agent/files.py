"""The agent's side of the file exchange, in which the program is started anew for every move;
`core.agent.lines` is for judges that speak lines.

Nothing here may be slow to import, and nothing may leave a broken answer behind.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

GOOD, FAILED, BAD_INPUT = 0, 1, 2
"""Exit statuses of an agent."""


class FileExchange:
    """A question and its answer, `source` and `target` in a folder.

    From `forget` on, `target` is at every instant either missing or a whole answer of this run:
    answers are written beside it and renamed over it. Without `early`, only the last answer is put
    there, by `close`.
    """

    def __init__(self, folder: str, source: str, target: str, *, early: bool = True) -> None:
        self.source = os.path.join(folder, source)
        self.target = os.path.join(folder, target)
        self.early = early
        self.latest: str | None = None
        self._written: str | None = None

    def forget(self) -> None:
        """Remove the previous question's answer. Raises OSError."""
        try:
            os.unlink(self.target)
        except FileNotFoundError:
            pass

    def read(self) -> bytes:
        """The question; no judge writes more than a megabyte. Raises OSError."""
        with open(self.source, "rb") as file:
            return file.read(1 << 20)

    def answer(self, text: str) -> None:
        """A good answer, or a better one than before. Raises OSError while none could be
        written."""
        self.latest = text
        if self.early:
            self._write()

    def close(self) -> None:
        """No better answer will come. Raises OSError when the last one could not be written."""
        self._write()

    def _write(self) -> None:
        if self.latest is None or self.latest == self._written:
            return
        # one name for all runs: a killed one leaves nothing that piles up
        draft = self.target + ".new"
        try:
            with open(draft, "w", encoding="ascii", newline="\n") as file:
                file.write(self.latest)
            os.replace(draft, self.target)
        except OSError:
            if self._written is None:
                raise
        else:
            self._written = self.latest


def complain(text: str) -> None:
    """Say in one line on stderr what is wrong; a closed stderr is no reason to fail."""
    try:
        print(" ".join(text.split()), file=sys.stderr, flush=True)
    except (OSError, ValueError, AttributeError):
        pass


def exchange(
    files: FileExchange, search: Callable[[bytes, Callable[[str], None]], str | None]
) -> int:
    """Answer the question that lies there; returns the exit status.

    `search` gets the question and a function to call with a good answer as soon as it has one, and
    with every better one that follows; it returns None, or what is wrong with the question.
    Whatever goes wrong in it, the best answer so far is in place.
    """
    status = GOOD
    try:
        complaint = search(files.read(), files.answer)
        if complaint is not None:
            complain(f"{files.source}: {complaint}")
            status = BAD_INPUT
    except OSError as error:
        complain(f"{error.filename or files.source}: {error.strerror or error}")
        status = BAD_INPUT
    # A bug of ours must not lose the answer that we have.
    except Exception as error:  # noqa: BLE001
        complain(f"internal error: {type(error).__name__}: {error}")
        status = GOOD if files.latest is not None else FAILED
    try:
        files.close()
    except OSError as error:
        complain(f"{error.filename or files.target}: {error.strerror or error}")
        status = BAD_INPUT
    return status
