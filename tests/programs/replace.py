"""Replace output.txt, or the file in the second argument, by something else."""

import os
import pathlib
import sys

path = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "output.txt")
path.unlink(missing_ok=True)
match sys.argv[1]:
    case "directory":
        path.mkdir()
        (path / "full").write_text("x")
    case "deep":
        for _ in range(1500):  # deeper than Python's recursion
            path.mkdir()
            os.chdir(path)
    case "pipe":
        os.mkfifo(path)
    case "link":
        pathlib.Path("elsewhere").write_text("3 1 4 1")
        path.symlink_to("elsewhere")
    case "device":
        path.symlink_to("/dev/zero")
    case "huge":
        with path.open("wb") as file:
            file.truncate(1 << 40)
