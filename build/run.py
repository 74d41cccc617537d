"""Run a command of this project in its own environment: `python3 build/run.py pytest`, `python3
build/run.py quartet games`.

The environment is `.venv` in the checkout, with an editable install of the project. The script
makes it if it is missing and compiles changed sources. It installs again if the project's
description changes or a command needs a further extra. Otherwise the script adds less than 0.1 s.
It needs only Python and a C compiler. It announces slow steps in short lines on stderr and writes
their output to a log.
"""

# No new syntax here: an old Python must reach its error message.
import sys

if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit("quartet: Python 3.11 or newer is needed, this is {}.{}".format(*sys.version_info[:2]))
if sys.maxsize < 2**32:
    sys.exit("quartet: a 64-bit Python is needed, this one has 32 bits; install the 64-bit version")

import ast
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
sys.path.insert(0, str(ROOT))

from quartet.arena.files import alone  # noqa: E402
from quartet.registry import PACKAGES  # noqa: E402

VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
STATE = VENV / "quartet-state.json"
"""The content of the environment; {} while venv, pip or uv runs, and after they were killed."""
LOG = VENV / "quartet-install.log"

PLAIN = ("quartet", "python")
"""Commands that need no developers' tools; all others do."""
TOOLS = "dev"
"""The extra with the developers' tools and everything in the other extras."""
EXTRAS = {
    "pack": "pack",
    "tournament": "stats",
    "train": "train",
    "tune": "tune",
    "serve": "web",
    "calibrate": "stats",
    "--plot": "plot",
    "--cluster": "cluster",
}
"""Sub-command or option of `quartet` -> the extra that it needs."""
PROJECT = ("setup.py", "pyproject.toml")
"""Files whose change requires an install."""
SOURCES = (
    "quartet/registry.py",
    *(f"{name}/**/*.{kind}" for name in PACKAGES for kind in ("pyx", "pxd", "pxi", "h")),
)
"""Files whose change requires compiling. Python files need none."""
OFFLINE = r"connection broken|NewConnectionError|Max retries|NameResolution|Timeout|ProxyError|SSLError|from versions: none"
"""What pip prints if it cannot reach its index."""
PIP_TO_UV = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "constraint": "UV_CONSTRAINT",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}
"""Setting of pip -> environment variable with the same meaning for uv."""


class EnvironmentFailure(Exception):  # noqa: N818  (what failed is the environment)
    """The reason why there is no environment, in one sentence."""


def say(text: str) -> None:
    print(f"quartet: {text}", file=sys.stderr, flush=True)


def maker() -> str:
    """Return what an environment depends on: its interpreter and its folder."""
    return f"{sys.version} in {sys.base_prefix}, {ROOT}"


def content(patterns: Iterable[str], *more: str | None) -> str:
    """Return a hash of the files of these patterns and of `more`."""
    digest = hashlib.sha256(repr(more).encode())
    for path in sorted(path for pattern in patterns for path in ROOT.glob(pattern)):
        data = path.read_bytes()
        digest.update(f"\0{path.relative_to(ROOT).as_posix()}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def source_content() -> str:
    """Return a hash of the sources and of the kind of build."""
    return content(SOURCES, os.environ.get("QUARTET_BUILD"), os.environ.get("QUARTET_CPU"))


def extras(command: list[str]) -> set[str]:
    """Return the extras that a command needs."""
    if command[0] not in PLAIN:
        return {TOOLS}
    words = [*command[1:2], *(word for word in command if word.startswith("--"))]
    names = {EXTRAS.get(word.partition("=")[0]) for word in words if command[0] == "quartet"}
    return {name for name in names if name}


def is_built() -> bool:
    """Return True if every module that setup.py compiles stands next to its source."""
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    return all(
        path.with_suffix(suffix).exists()
        for name in PACKAGES
        for path in ROOT.glob(f"{name}/**/*.pyx")
    )


def read_state() -> dict[str, Any]:
    """Return the content of STATE; {} if it is missing or damaged."""
    try:
        state = json.loads(STATE.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def write_state(state: dict[str, Any]) -> None:
    STATE.write_text(json.dumps(state), encoding="utf-8")


def missing(needed: set[str]) -> str:
    """Return the first step to an environment with these extras: "make", "install" or "compile"; ""
    if it is ready."""
    state = read_state()
    there = set(state.get("extras", ()))
    if state.get("maker") != maker():
        return "make"
    if state.get("project") != content(PROJECT) or not (TOOLS in there or needed <= there):
        return "install"
    if state.get("sources") != source_content() or not is_built():
        return "compile"
    return ""


def prepare(needed: set[str]) -> None:
    """Make or update the environment with these extras, after other calls that do. Raises
    EnvironmentFailure."""
    if missing(needed):
        (ROOT / ".build").mkdir(exist_ok=True)
        with alone(ROOT / ".build" / "environment.lock"):
            update(needed)


def update(needed: set[str]) -> None:
    """Make or update the environment. Raises EnvironmentFailure."""
    step = missing(needed)
    state = read_state()
    new: dict[str, Any] = {"sources": source_content()}
    if not step:
        return
    if step == "compile":
        say("compiling ...")
        failed = state | {"sources": None}
        write_state(failed)
        log = logged([str(BIN / "python"), "setup.py", "--quiet", "build_ext", "--inplace"])
    else:
        if step == "make":
            make()
            state = {"maker": maker()}
        extras = needed | set(state.get("extras", ()))
        say(f"compiling, and installing into {VENV.name} ...")
        # A failed install cleans up, and the next call repeats it in the same environment.
        failed = state | {"project": None}
        write_state({})
        log = install(extras)
        new |= {"project": content(PROJECT), "extras": sorted(extras)}
    write_state(state | new if log is None else failed)
    if log is not None:
        raise EnvironmentFailure(f"{reason(log)} (full output: {LOG})")


def install(extras: set[str]) -> str | None:
    """Install uv and the build requirements, then the project with these extras. Return None, or
    the log of a failure.

    uv takes 8 s for the developers' tools, pip 90 s. If uv fails, pip tries it too. Without the
    build requirements in the environment, later compilations would fail.
    """
    python = str(BIN / "python")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    description = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    log = logged([*pip, "install", "uv", *description["build-system"]["requires"]])
    if log is not None:
        return log
    names = f"[{','.join(sorted(extras))}]" if extras else ""
    project = ["--no-build-isolation", "-e", f".{names}"]
    uv = [python, "-m", "uv", "pip", "install", "--reinstall-package", "quartet"]
    if logged([*uv, *project], **uv_settings(pip)) is None:
        return None
    return logged([*pip, "install", *project])  # it has settings that uv lacks


def uv_settings(pip: list[str]) -> dict[str, str]:
    """Return environment variables that let uv use the same package indexes as the command `pip`,
    without variables that are set already."""
    listing = subprocess.run(
        [*pip, "config", "list"], capture_output=True, text=True, check=False
    ).stdout
    found = {}
    for section in ("global", "install", ":env:"):  # the later ones take precedence
        for name, value in re.findall(rf"^{section}\.([a-z-]+)=(.+)$", listing, re.MULTILINE):
            if name in PIP_TO_UV:
                separator = "," if name == "find-links" else " "
                found[PIP_TO_UV[name]] = separator.join(ast.literal_eval(value).split())
    # pip takes the best version of all indexes, and trusts the certificates of the system.
    common = {"UV_INDEX_STRATEGY": "unsafe-best-match", "UV_SYSTEM_CERTS": "true"}
    return {name: value for name, value in (common | found).items() if name not in os.environ}


def make() -> None:
    """Replace the environment by a fresh one. Raises EnvironmentFailure."""
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
    # Not sys.executable, which may be in the environment that was just removed.
    if (
        logged([getattr(sys, "_base_executable", sys.executable), "-m", "venv", str(VENV)])
        is not None
    ):
        raise EnvironmentFailure(f"no virtual environment could be made (full output: {LOG})")


def logged(command: list[str], **environment: str) -> str | None:
    """Run a command with further environment variables. Return None if it succeeds, else its
    output, which is in LOG too."""
    with LOG.open("wb") as log:
        status = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    return LOG.read_text(encoding="utf-8", errors="replace") if status else None


def reason(log: str) -> str:
    """Return why an install failed, in one sentence from pip's output."""
    # First errors of setup.py, then errors of Cython.
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
    """Replace this process by a command of the environment. Raises EnvironmentFailure if it is
    missing."""
    program = shutil.which(command[0], path=BIN)
    if program is None:
        raise EnvironmentFailure(f"there is no command {command[0]!r} in {BIN}")
    environment = {
        **os.environ,
        "VIRTUAL_ENV": str(VENV),
        "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
    }
    environment.pop("PYTHONHOME", None)
    # uv writes no bytecode. Python writes it at the first import.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    arguments = [program, *command[1:]]
    if os.name != "nt":
        os.execve(program, arguments, environment)  # noqa: S606
    child = subprocess.Popen(arguments, env=environment)
    while True:
        with suppress(KeyboardInterrupt):  # the child gets it too, and decides what to do
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
