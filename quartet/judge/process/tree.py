"""The process tree of a program, by the means of this system."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from quartet.judge.process.windows import SPAWN
    from quartet.judge.process.windows import WindowsTree as Tree
else:
    from quartet.judge.process.posix import SPAWN
    from quartet.judge.process.posix import PosixTree as Tree

__all__ = ["SPAWN", "Tree"]
