"""Files next to modules, such as weights."""

from __future__ import annotations

from core.errors import TextError


def resource(path: str) -> bytes:
    """Return the content of a package's file, which may be in an archive with the code. Raises
    TextError if it is missing."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123  (agents start without pathlib)
            return file.read()
    except OSError as error:
        try:
            data: bytes = __spec__.loader.get_data(path)  # type: ignore[union-attr]
        except (AttributeError, OSError):
            raise TextError(f"cannot read {path}: {error.strerror}") from None
        return data
