"""The way to `build/`, whose modules are no installed package: an installed `build` would be found
instead, or be hidden by it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

from core.errors import QuartetError
from quartet import registry

if TYPE_CHECKING:
    from types import ModuleType

ROOT = registry.ROOT


def load(name: str) -> ModuleType:
    """The module build/NAME.py. From then on, in this process, `build` is our folder. Raises
    QuartetError outside a checkout."""
    if not (ROOT / "build" / f"{name}.py").is_file() or not (ROOT / "setup.py").is_file():
        raise QuartetError(
            "this works in a checkout only, which has the sources and the folder build/"
        )
    room = sys.modules.get("build")
    if room is None or getattr(room, "__path__", None) != [str(ROOT / "build")]:
        spec = ModuleSpec("build", None, is_package=True)
        spec.submodule_search_locations = [str(ROOT / "build")]
        sys.modules["build"] = importlib.util.module_from_spec(spec)
        sys.path.insert(0, str(ROOT))  # for setup.py, which has the compiler flags
    return importlib.import_module(f"build.{name}")
