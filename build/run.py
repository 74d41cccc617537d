"""Run a command of this project in its own environment: `python3 build/run.py pytest`, `python3
build/run.py quartet games`.

The environment is `.venv` in the checkout, with the project installed so that changed Python files
count at once. It is made when it is missing. What has changed since is compiled; pip runs again
when the project's description changes, or a command needs an extra that is not there yet.
Otherwise this costs a few milliseconds. All it needs is Python and a C compiler. It tells its slow
steps in short lines on stderr, and the rest to a log.
"""

# No syntax here that an old Python would stumble over before it is told that it is too old.
import sys

if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit("quartet: Python 3.11 or newer is needed, this is {}.{}".format(*sys.version_info[:2]))

import hashlib
import importlib.machinery
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
STATE = VENV / "quartet-state.json"
"""What the environment holds; {} while pip or venv is at work, and for ever when they were
killed."""
LOG = VENV / "quartet-install.log"

PLAIN = ("quartet", "python")
"""Commands for which a plain install is enough; all others come with the developers' tools."""
TOOLS = "dev"
"""The extra with the developers' tools, and with all that is in the others."""
EXTRAS = {
    "pack": "pack",
    "tournament": "stats",
    "train": "train",
    "tune": "tune",
    "serve": "web",
    "--cluster": "cluster",
}
"""Sub-command of `quartet`, or option, -> the extra that it needs."""
PROJECT = ("setup.py", "pyproject.toml")
"""What an install depends on."""
SOURCES = (
    "quartet/registry.py",
    *(f"[!.]*/**/*.{kind}" for kind in ("pyx", "pxd", "pxi", "h")),
)
"""What is compiled. Other Python files are not among it: they are used where they lie."""
OFFLINE = r"connection broken|NewConnectionError|Max retries|NameResolution|Timeout|ProxyError|SSLError|from versions: none"
"""What pip says, among much else, when it does not get through to its index."""


class EnvironmentFailure(Exception):  # noqa: N818  (what failed is the environment)
    """Why there is no environment, in one sentence."""


def say(text: str) -> None:
    print(f"quartet: {text}", file=sys.stderr, flush=True)


def maker() -> str:
    """The interpreter that an environment is bound to, and the place it cannot be moved from."""
    return f"{sys.version} in {sys.base_prefix}, {ROOT}"


def content(patterns: Iterable[str], *more: str | None) -> str:
    """A fingerprint of the files of these patterns, and of `more`."""
    digest = hashlib.sha256(repr(more).encode())
    for path in sorted(path for pattern in patterns for path in ROOT.glob(pattern)):
        data = path.read_bytes()
        digest.update(f"\0{path.relative_to(ROOT).as_posix()}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def extras(command: list[str]) -> set[str]:
    """The extras that a command needs."""
    if command[0] not in PLAIN:
        return {TOOLS}
    words = [*command[1:2], *(word for word in command if word.startswith("--"))]
    names = {EXTRAS.get(word.partition("=")[0]) for word in words if command[0] == "quartet"}
    return {name for name in names if name}


def is_built() -> bool:
    """Whether every compiled module lies beside its source."""
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    return all(
        path.with_suffix(suffix).exists()
        for path in ROOT.glob("[!.]*/**/*.pyx")
        if "tests" not in path.parts
    )


def read_state() -> dict[str, Any]:
    """What STATE says; {} where there is nothing that can be relied on."""
    try:
        state = json.loads(STATE.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def write_state(state: dict[str, Any]) -> None:
    STATE.write_text(json.dumps(state), encoding="utf-8")


def prepare(needed: set[str]) -> None:
    """Make the environment with these extras, or bring it up to date. Raises EnvironmentFailure."""
    state = read_state()
    project = content(PROJECT)
    sources = content(SOURCES, os.environ.get("QUARTET_BUILD"), os.environ.get("QUARTET_CPU"))
    if state.get("maker") != maker():
        make()
        state = {"maker": maker()}
    there = set(state.get("extras", ()))
    if state.get("project") != project or not (TOOLS in there or needed <= there):
        say(f"compiling, and installing into {VENV.name} ...")
        write_state({})
        log = install(there | needed)
        # A pip that failed has cleaned up behind itself; next time it will be asked again, in the
        # same environment.
        new = {"project": project, "extras": sorted(there | needed), "sources": sources}
        write_state(state | (new if log is None else {"project": None}))
    elif state.get("sources") != sources or not is_built():
        say("compiling ...")
        write_state(state | {"sources": None})
        log = logged([str(BIN / "python"), "setup.py", "--quiet", "build_ext", "--inplace"])
        if log is None:
            write_state(state | {"sources": sources})
    else:
        return
    if log is not None:
        raise EnvironmentFailure(f"{reason(log)} (the whole story: {LOG})")


def install(extras: set[str]) -> str | None:
    """Install the project with these extras, and what compiles it before: else pip would fetch that
    into a place of its own, each time. None, or the log of a failure."""
    pip = [str(BIN / "python"), "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    description = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    log = logged([*pip, *description["build-system"]["requires"]])
    if log is not None:
        return log
    names = f"[{','.join(sorted(extras))}]" if extras else ""
    return logged([*pip, "--no-build-isolation", "-e", f".{names}"])


def make() -> None:
    """A fresh environment in place of the old one. Raises EnvironmentFailure."""
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        raise EnvironmentFailure(
            "this Python lacks its module venv; install it (Debian and Ubuntu: apt install "
            "python3-venv)"
        )
    if VENV.exists():
        if not STATE.exists() and any(VENV.iterdir()):
            raise EnvironmentFailure(f"{VENV} was not made by this program; move it out of the way")
        shutil.rmtree(VENV)
    say(f"making {VENV.name} with Python {platform.python_version()} ...")
    VENV.mkdir()
    write_state({})
    # Not sys.executable, which may lie in the environment that was just removed.
    if (
        logged([getattr(sys, "_base_executable", sys.executable), "-m", "venv", str(VENV)])
        is not None
    ):
        raise EnvironmentFailure(f"no virtual environment could be made (the whole story: {LOG})")


def logged(command: list[str]) -> str | None:
    """Run a command; None when it succeeded, otherwise all it had to say, which is in LOG too."""
    with LOG.open("wb") as log:
        status = subprocess.run(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    return LOG.read_text(encoding="utf-8", errors="replace") if status else None


def reason(log: str) -> str:
    """Why an install failed: one sentence out of pip's many."""
    # First what setup.py says is missing, then what Cython says is wrong.
    known = re.search(r"^\W*quartet: (.+)", log, re.MULTILINE) or re.search(
        r"^\W*(\S+\.p(?:yx|xd|xi):\d+:\d+: .+)", log, re.MULTILINE
    )
    if known:
        return known[1].strip()
    if re.search(OFFLINE, log):
        return (
            "pip cannot reach its package index; is this machine online, and does it need a proxy?"
        )
    errors = re.findall(r"^\W*error: (.+)", log, re.MULTILINE | re.IGNORECASE)
    return errors[-1].strip() if errors else "the install failed"


def run(command: list[str]) -> NoReturn:
    """Become `command`, in the environment. Raises EnvironmentFailure when there is no such
    command."""
    program = shutil.which(command[0], path=BIN)
    if program is None:
        raise EnvironmentFailure(f"there is no command {command[0]!r} in {BIN}")
    environment = {
        **os.environ,
        "VIRTUAL_ENV": str(VENV),
        "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
    }
    environment.pop("PYTHONHOME", None)
    arguments = [program, *command[1:]]
    if os.name != "nt":
        os.execve(program, arguments, environment)  # noqa: S606
    child = subprocess.Popen(arguments, env=environment)
    while True:
        with suppress(KeyboardInterrupt):  # the child gets it too, and decides
            sys.exit(child.wait())


def main(command: list[str]) -> NoReturn:
    if not command:
        sys.exit(
            "usage: python3 build/run.py COMMAND [ARGUMENT ...], for example: python3 build/run.py "
            "quartet games"
        )
    try:
        prepare(extras(command))
        run(command)
    except EnvironmentFailure as failure:
        sys.exit(f"quartet: {failure}")
    except OSError as error:
        sys.exit(f"quartet: {error.filename}: {error.strerror}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main(sys.argv[1:])
