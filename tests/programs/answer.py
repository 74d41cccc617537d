"""Writes its argument as the answer; escapes such as \\xff stand for bytes."""

import pathlib
import sys

pathlib.Path("output.txt").write_bytes(
    sys.argv[1].encode("latin-1").decode("unicode_escape").encode("latin-1")
)
