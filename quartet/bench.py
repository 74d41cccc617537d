"""`quartet bench`: the fingerprint, and speed."""

from bench.__main__ import command

__all__ = ["command"]
