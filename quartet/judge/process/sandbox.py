"""A sandbox for programs that needs no privileges: bubblewrap, on Linux.

In it a program sees the machine's files read-only, of temporary folders only its own, of processes
only its own, and no network. Its processes end with it. `docs/sandbox.md` names what a sandbox does
not prevent.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from core.errors import QuartetError

WANTED = "QUARTET_SANDBOX"
"""Environment variable that has programs started in a sandbox; worker processes inherit it."""
MAX_PROCESSES = 200
"""Limit of one program's processes; it does not bind root."""
WALLS = (
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/dev/shm"),  # noqa: S108
    *("--unshare-all", "--die-with-parent"),
)


def require() -> None:
    """Raise QuartetError if this machine has no sandbox."""
    problem = _problem()
    if problem is not None:
        raise QuartetError(f"there is no sandbox on this machine: {problem}")


def started(
    command: str | Sequence[str], folder: Path | None, env: Mapping[str, str]
) -> str | Sequence[str]:
    """Return the command that runs a command in a sandbox; the command itself if none is wanted.

    Args:
        command: A string for the system's shell, or a list of arguments.
        folder: Working directory, None for the current one. The program may write to it if it is a
            temporary folder.
        env: Environment of the program.

    Raises:
        QuartetError: A sandbox is wanted, and this machine has none.
    """
    if not os.environ.get(WANTED):
        return command
    require()
    words = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
    temporary = sorted({"/tmp", "/var/tmp", tempfile.gettempdir()})  # noqa: S108
    here = str(folder or Path.cwd())
    named = words_of(command) if isinstance(command, str) else words
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
    limit = [f"--nproc={MAX_PROCESSES}", "--core=0", "--"]
    return ["bwrap", *walls, "--chdir", here, "--", "prlimit", *limit, *words]


def holds(pid: int) -> bool:
    """Return True if a process is the first of a sandbox, or the program in it.

    The former may outlive the latter for a moment, and both are alive when a program is killed.
    Source: bubblewrap's manual, `--as-pid-1`; `NSpid` in proc_pid_status(5).
    """
    if not os.environ.get(WANTED):
        return False
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return line.split()[2:] in (["1"], ["2"])
    return False


def words_of(command: str) -> list[str]:
    """Return the words of a shell command; none if its quotes do not match."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _whole(path: Path) -> Path:
    """Return sys.prefix for a file inside it; any other path unchanged."""
    return Path(sys.prefix) if path.is_relative_to(sys.prefix) else path


@cache
def _problem() -> str | None:
    """Return why there is no sandbox, in a sentence; None if there is one."""
    for program, package in (("bwrap", "bubblewrap"), ("prlimit", "util-linux")):
        if shutil.which(program) is None:
            return f"{program} is missing (Linux only; Debian and Ubuntu: apt install {package})"
    done = subprocess.run(
        ["bwrap", *WALLS, "--", "true"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return f"bubblewrap cannot make one: {done.stderr.strip() or done.returncode}"
    return None
