"""The version that is running, its commit and its build."""

from __future__ import annotations

from importlib import metadata

from quartet import registry
from quartet.arena import builds

STAMP = registry.ROOT / ".build" / "last-build"
"""File that setup.py writes in a checkout: kind of build, level of processor, compiler."""
BUILT = registry.ROOT / "quartet" / "source" / "built.txt"
"""File that it writes into a wheel: commit, kind of build, level of processor."""


def installed_version() -> str:
    """Return the version of the installed package, "" if it runs from its folder."""
    try:
        return metadata.version("quartet")
    except metadata.PackageNotFoundError:
        return ""


def version() -> str:
    """Return one line like "quartet 1.0.0, commit 0123456789ab, release x86-64-v2"."""
    installed = installed_version()
    parts = [
        f"quartet {installed}" if installed else "quartet, not installed (it runs from its folder)"
    ]
    if BUILT.exists():
        return ", ".join([*parts, BUILT.read_text(encoding="utf-8")])
    if found := builds.head():
        parts.append(f"commit {found}")
    if STAMP.exists():
        parts.append(" ".join(STAMP.read_text(encoding="utf-8").split()[:2]))
    return ", ".join(parts)
