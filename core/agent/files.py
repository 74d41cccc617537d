"""The agent's side of the file protocol, which starts one process per move; `core.agent.lines` is
for judges that speak lines.

It imports fast, and never leaves a broken answer behind.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

GOOD, FAILED, BAD_INPUT = 0, 1, 2
"""Exit statuses of an agent."""
WRITING = os.O_WRONLY | getattr(os, "O_BINARY", 0)


def positive(text: str) -> int:
    """Return a whole number from 1 on, as a limit of nodes needs it. Raises ValueError."""
    number = int(text)
    if not 1 <= number < 1 << 63:
        raise ValueError(text)
    return number


class ExchangeFiles:
    """The files of a question and its answer, `source` and `target`, in one folder.

    If another program keeps `target` open and the system does not allow to replace it (Windows), it
    is emptied and overwritten instead. Otherwise, after `forget`, `target` is at every instant
    either missing or a complete answer of this run. The first answer is written to another file,
    which is then renamed. A later one of the same length is one write into the same file. Without
    `early`, only `close` writes, and only the last answer.
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
        except PermissionError:
            if not overwrite(self.target, ""):
                raise

    def read(self) -> bytes:
        """Return the question, at most a megabyte. Raises OSError."""
        with open(self.source, "rb") as file:
            return file.read(1 << 20)

    def answer(self, text: str) -> None:
        """Store an answer that is better than the previous one. Raises OSError if no answer could
        be written yet."""
        self.latest = text
        if self.early:
            self._write()

    def close(self) -> None:
        """Write the last answer if it is not written yet. Raises OSError if that fails."""
        self._write()

    def _write(self) -> None:
        if self.latest is None or self.latest == self._written:
            return
        # one name for all runs, so killed runs leave at most one file
        draft = self.target + ".new"
        try:
            if len(self._written or "") != len(self.latest) or not overwrite(
                self.target, self.latest
            ):
                with open(draft, "w", encoding="ascii", newline="\n") as file:
                    file.write(self.latest)
                try:
                    os.replace(draft, self.target)
                except PermissionError:
                    if not overwrite(self.target, self.latest):
                        raise
                    os.unlink(draft)
        except OSError:
            if self._written is None:
                raise
        else:
            self._written = self.latest


def overwrite(path: str, text: str, *, create: bool = False) -> bool:
    """Replace a file's content by one write in place. Returns False if that is not possible.

    ext4 flushes a file that was emptied, or that replaces another one. On a busy disk, that takes
    up to 25 ms, and the answer waits for the exit of the process.
    """
    try:
        number = os.open(path, WRITING | (os.O_CREAT if create else 0), 0o666)
    except OSError:
        return False
    try:
        os.ftruncate(number, os.write(number, text.encode("ascii")))
    except OSError:
        return False
    finally:
        os.close(number)
    return True


def complain(text: str) -> None:
    """Print one line on stderr. A closed stderr is not an error."""
    try:
        print(" ".join(text.split()), file=sys.stderr, flush=True)
    except (OSError, ValueError, AttributeError):
        pass


def exchange(
    files: ExchangeFiles, search: Callable[[bytes, Callable[[str], None]], str | None]
) -> int:
    """Answer the question in `files`, and return the exit status.

    `search` gets the question and a function to call with each better answer, as early as possible.
    It returns None, or what is wrong with the question. If it fails, the best answer so far stays.
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
    # A bug must not lose the answer found so far.
    except Exception as error:  # noqa: BLE001
        complain(f"internal error: {type(error).__name__}: {error}")
        status = GOOD if files.latest is not None else FAILED
    try:
        files.close()
    except OSError as error:
        complain(f"{error.filename or files.target}: {error.strerror or error}")
        status = BAD_INPUT
    return status
