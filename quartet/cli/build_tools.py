"""Access to the tools in `build/`, which is not an installed package: it would conflict with
PyPI's.

An installed wheel has `build/` and setup.py in `quartet/source`. Its tools run in a copy of the
sources in the cache, which is like a checkout.
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
from types import ModuleType

from core.errors import QuartetError
from quartet import registry
from quartet.judge.seats import versions

ROOT = registry.ROOT
SOURCE = ROOT / "quartet" / "source"
"""Folder of a wheel's sources, written by setup.py."""


def load(name: str) -> ModuleType:
    """Import build/NAME.py of this checkout; afterwards `build` is that folder in this process."""
    package = sys.modules.get("build")
    if package is None or getattr(package, "__path__", None) != [str(ROOT / "build")]:
        spec = ModuleSpec("build", None, is_package=True)
        spec.submodule_search_locations = [str(ROOT / "build")]
        sys.modules["build"] = importlib.util.module_from_spec(spec)
        sys.path.insert(0, str(ROOT))  # for setup.py, which has the compiler flags
    return importlib.import_module(f"build.{name}")


def run_in_tree() -> None:
    """In an installed wheel, run this command again in a copy of the sources, and exit with its
    status.

    Raises:
        QuartetError: There is neither a checkout nor a wheel's source.
    """
    if (ROOT / "build" / "sources.py").is_file() and (ROOT / "setup.py").is_file():
        return
    if not (SOURCE / "setup.py").is_file():
        raise QuartetError("this installation has no sources; install the release's wheel")
    paths = [str(tree()), os.environ.get("PYTHONPATH")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-P", "-m", "quartet", *sys.argv[1:]]
    raise SystemExit(subprocess.run(command, env=environment, check=False).returncode)


def tree() -> Path:
    """Return the copy of the packages and of SOURCE in the cache; make it if needed.

    Raises:
        QuartetError: It cannot be written.
    """
    files = {
        path.relative_to(SOURCE if path.is_relative_to(SOURCE) else ROOT): path
        for package in registry.PACKAGES
        for path in sorted((ROOT / package).rglob("*"))
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
