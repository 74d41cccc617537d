"""What runs here: version, commit, build."""

from __future__ import annotations

from importlib import metadata

from core.errors import QuartetError
from quartet import registry
from quartet.arena import builds

STAMP = registry.ROOT / ".build" / "last-build"
"""What setup.py writes in a checkout: kind of build, level of processor, compiler."""


def commit() -> str:
    """The commit of the checkout, 12 digits, with a plus sign where files have changed since; empty
    where there is no checkout."""
    try:
        return builds.commit_of("HEAD")[:12] + ("+" if builds.is_changed() else "")
    except QuartetError:
        return ""


def version() -> str:
    """One line: "quartet 0.1.0, commit 0123456789ab, release x86-64-v2"."""
    try:
        parts = [f"quartet {metadata.version('quartet')}"]
    except metadata.PackageNotFoundError:
        parts = ["quartet, not installed (it runs from its folder)"]
    if found := commit():
        parts.append(f"commit {found}")
    if STAMP.exists():
        parts.append(" ".join(STAMP.read_text(encoding="utf-8").split()[:2]))
    return ", ".join(parts)
