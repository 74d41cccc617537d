"""Classes have unique names, and files and classes are not too long."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

from tests import prose
from tests.games import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

CONTRACT = {"Position"}
"""Classes that every game has under the name that the contract gives them."""
COPIES = ("frozen", "template", "programs", "programs_lines")
"""Folders whose files repeat names: frozen players, the template of a game, programs of tests."""
SYSTEMS = {"os", "sys", "signal"}
"""Modules that have other names on other systems."""
CAPABILITIES = "core/engine.py"
"""The one file that asks a player what it declares; it may declare nothing."""

LINES, CLASS_LINES = 400, 300
"""Longer files and classes say in their first line why they are long."""
REASON = "because"
"""The word that gives a reason."""


def python_files() -> Iterator[tuple[str, str, ast.Module]]:
    """Yield the path, text and tree of every Python file but copies."""
    for path in prose.files(ROOT):
        name = path.relative_to(ROOT).as_posix()
        if path.suffix == ".py" and not set(name.split("/")) & {*COPIES}:
            text = path.read_text(encoding="utf-8")
            yield name, text, ast.parse(text)


def test_no_two_classes_share_a_name() -> None:
    places = defaultdict(list)
    for name, _, tree in python_files():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name not in CONTRACT:
                places[node.name].append(name)
    # A module for each system may define the same class.
    shared = {
        name: files
        for name, files in places.items()
        if len({file.replace("windows.py", "posix.py") for file in files}) > 1
        or len(files) != len(set(files))
    }
    assert shared == {}


def test_abilities_are_declared() -> None:
    """Check that no code uses `hasattr` or `getattr` with a fixed name: a contract declares the
    attribute."""
    tried = [
        f"{name}:{node.lineno}: {ast.unparse(node)}"
        for name, _, tree in python_files()
        if not name.startswith(("tests/", "build/", "setup.py")) and name != CAPABILITIES
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"getattr", "hasattr"}
        and isinstance(node.args[1], ast.Constant)
        and ast.unparse(node.args[0]) not in SYSTEMS
        and not str(node.args[1].value).startswith("__")
    ]
    assert tried == []


def test_the_checker_of_names_reads_the_project() -> None:
    names = {name for name, _, _ in python_files()}
    assert {"setup.py", "core/engine.py", "quartet/registry.py", "tests/test_structure.py"} <= names
    assert not any("/frozen/" in name for name in names)


def test_long_files_and_classes_have_a_reason() -> None:
    long = []
    for name, text, tree in python_files():
        if len(text.splitlines()) > LINES and not name.startswith("tests/"):
            long.append((name, text.splitlines()[0]))
        for node in ast.walk(tree):
            end = getattr(node, "end_lineno", 0)
            if isinstance(node, ast.ClassDef) and end - node.lineno >= CLASS_LINES:
                first = (ast.get_docstring(node) or "").partition("\n")[0]
                long.append((f"{name}: {node.name}", first))
    assert [where for where, first in long if REASON not in first] == []
