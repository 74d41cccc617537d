"""The processes of programs, by whatever means this system has."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from quartet.judge.process.windows import SPAWN, Tree
else:
    from quartet.judge.process.posix import SPAWN, Tree

__all__ = ["SPAWN", "Tree"]
