"""Damage the own folder in the way that the argument names."""

import pathlib
import shutil
import sys

here = pathlib.Path.cwd()
match sys.argv[1]:
    case "delete":
        shutil.rmtree(here)
    case "replace":
        shutil.rmtree(here)
        here.symlink_to(sys.argv[2])
    case "forbid":
        here.chmod(0)
    case "fill":
        (here / "input.txt").write_bytes(b"x" * (1 << 22))
