"""`quartet bench`: the fingerprint, and speed."""

from quartet.bench.__main__ import command

__all__ = ["command"]
