"""A sandbox for programs, where the system has one without privileges: bubblewrap on Linux.

A program in it sees the machine's files read-only, nothing of the temporary folders but its own, no
network, no processes but its own, and all of these end with it. `docs/trust.md` says what that does
not keep it from.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import QuartetError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WANTED = "QUARTET_SANDBOX"
"""The environment variable by which programs are started in a sandbox: processes that play games for
us inherit it."""
MOST_PROCESSES = 200
"""Of one program; root is not bound by it."""
WALLS = (
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/dev/shm"),  # noqa: S108
    *("--unshare-all", "--die-with-parent"),
)


def require() -> None:
    """Raise QuartetError where this machine has no sandbox."""
    problem = _problem()
    if problem is not None:
        raise QuartetError(f"there is no sandbox on this machine: {problem}")


def started(
    command: str | Sequence[str], folder: Path | None, env: Mapping[str, str]
) -> str | Sequence[str]:
    """What to start instead of a command: itself where no sandbox is wanted.

    Args:
        command: str | Sequence[str]; for the system's shell, or as it is.
        folder: Path | None; where it runs, None for the folder that we are in. A folder of ours, made
            for it alone, it may write to.
        env: Mapping[str, str]; that it gets.

    Raises:
        QuartetError: a sandbox is wanted, and this machine has none.
    """
    if not os.environ.get(WANTED):
        return command
    require()
    words = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
    temporary = sorted({"/tmp", "/var/tmp", tempfile.gettempdir()})  # noqa: S108
    here = str(folder or Path.cwd())
    named = shlex.split(command, posix=False) if isinstance(command, str) else words
    shown = [path for path in (*named, *env.get("PYTHONPATH", "").split(os.pathsep)) if path]
    walls = [*WALLS]
    for place in temporary:
        walls += ["--tmpfs", place]
    bound: list[Path] = []
    for path in sorted({_whole(Path(path)) for path in (here, *shown)}):
        hidden = any(path.is_relative_to(place) for place in temporary)
        if hidden and path.exists() and not any(path.is_relative_to(other) for other in bound):
            walls += ["--ro-bind", str(path), str(path)]
            bound.append(path)
    if folder is not None and Path(folder).is_relative_to(tempfile.gettempdir()):
        walls += ["--bind", here, here]
    limit = [f"--nproc={MOST_PROCESSES}", "--core=0", "--"]
    return ["bwrap", *walls, "--chdir", here, "--", "prlimit", *limit, *words]


def holds(pid: int) -> bool:
    """Whether a process is a sandbox's first, or the program that this one was made for.

    The former may outlive the latter for a moment, and both are alive where a program is killed.
    Source: bubblewrap's manual, `--as-pid-1`; `NSpid` in proc_pid_status(5).
    """
    if not os.environ.get(WANTED):
        return False
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return line.split()[2:] in (["1"], ["2"])
    return False


def _whole(path: Path) -> Path:
    """Of a file of our Python, all of that; of others, the file."""
    return Path(sys.prefix) if path.is_relative_to(sys.prefix) else path


@cache
def _problem() -> str | None:
    """Why there is no sandbox, in a sentence; None where there is one."""
    for program, package in (("bwrap", "bubblewrap"), ("prlimit", "util-linux")):
        if shutil.which(program) is None:
            return f"{program} is missing (Linux only; Debian and Ubuntu: apt install {package})"
    done = subprocess.run(
        ["bwrap", *WALLS, "--", "true"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return f"bubblewrap cannot make one: {done.stderr.strip() or done.returncode}"
    return None
