"""The way to `build/`, whose modules are no installed package: an installed `build` would be found
instead, or be hidden by it.

An installed wheel has `build/` and setup.py in `quartet/source`. There a tool runs in a tree of the
cache that is like a checkout.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import QuartetError
from quartet import registry
from quartet.judge.seats import versions

if TYPE_CHECKING:
    from types import ModuleType

ROOT = registry.ROOT
SOURCE = ROOT / "quartet" / "source"
"""What setup.py lays into a wheel."""
ROOMS = ("core", *registry.GAMES.values(), "quartet")


def load(name: str) -> ModuleType:
    """The module build/NAME.py of this checkout. From then on, in this process, `build` is our
    folder."""
    room = sys.modules.get("build")
    if room is None or getattr(room, "__path__", None) != [str(ROOT / "build")]:
        spec = ModuleSpec("build", None, is_package=True)
        spec.submodule_search_locations = [str(ROOT / "build")]
        sys.modules["build"] = importlib.util.module_from_spec(spec)
        sys.path.insert(0, str(ROOT))  # for setup.py, which has the compiler flags
    return importlib.import_module(f"build.{name}")


def run_in_tree() -> None:
    """Where this is an installed wheel, run this command again in a tree like a checkout, and exit
    with its status. Raises QuartetError where there is neither checkout nor source."""
    if (ROOT / "build" / "sources.py").is_file() and (ROOT / "setup.py").is_file():
        return
    if not (SOURCE / "setup.py").is_file():
        raise QuartetError("this install has no sources; install the release's wheel")
    paths = [str(tree()), os.environ.get("PYTHONPATH")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-P", "-m", "quartet", *sys.argv[1:]]
    raise SystemExit(subprocess.run(command, env=environment, check=False).returncode)


def tree() -> Path:
    """The folder with our packages and, beside them, what lies in SOURCE; made where it is not there
    yet. Raises QuartetError."""
    files = {
        path.relative_to(SOURCE if path.is_relative_to(SOURCE) else ROOT): path
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    digest = hashlib.sha256()
    for name, path in files.items():
        digest.update(
            f"\0{name.as_posix()}\0".encode() + hashlib.sha256(path.read_bytes()).digest()
        )
    target = versions.cache() / "source" / digest.hexdigest()[:16]
    if target.is_dir():
        return target
    draft = target.with_name(f"{target.name}.{os.getpid()}.new")
    try:
        for name, path in files.items():
            (draft / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, draft / name)
        draft.rename(target)
    except OSError as error:
        raise QuartetError(
            f"cannot keep sources in {target.parent}: {error.strerror or error}"
        ) from error
    return target
