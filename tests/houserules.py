"""Who may import whom: what every file of the project imports, cimports and includes, held against the rules of the house."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import registry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FREE = ("quartet", "bench", "build", "tests", "setup")
"""The rooms that may import anything."""
HOUSE = {
    "core": {"core"},
    "registry": {"core", "registry"},
    "judge": {"judge", "core", "registry"},
    "arena": {"arena", "judge", "core", "registry"},
    "viewer": {"viewer", "judge", "core", "registry"},
}
"""Room -> what it may import of ours. A game may import core and itself."""
TRUTH = {"reference", "protocol"}
"""The parts of a game that the registry may give to a room; engines, players and fast rules are not among them."""
IN_PROCESS = {"arena/inprocess.py", "arena/selfplay.py"}
"""The modules that play in process: they may have every part."""

CIMPORT = re.compile(
    r"""^\s*(?:from\s+([\w.]+)\s+c?import\b|c?import\s+([\w.]+)|include\s+["'](.+?)["']|cdef\s+extern\s+from\s+["'](.+?)["'])"""
)


@dataclass(frozen=True)
class Reference:
    """A place where a file names a module: `target` as a dotted name."""

    file: str
    line: int
    target: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.target}"


def violations(root: Path) -> list[str]:
    """Everything in the tree below `root` that breaks the rules, one line each."""
    found = []
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        room = name.partition("/")[0].removesuffix(".py")
        games = set(registry.GAMES.values())
        if room in FREE or room not in {*HOUSE, *games} or ".build" in path.parts:
            continue
        allowed = HOUSE.get(room, {"core", room})
        ours = {*HOUSE, *FREE, *games}
        if path.suffix in {".py", ".pyi"}:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            references = list(imports(name, tree))
            if room not in games:
                found += [f"{reference} is no part that {room} may load" for reference in loads(name, tree)]
        elif path.suffix in {".pyx", ".pxd", ".pxi"}:
            references = list(cimports(name, path.read_text(encoding="utf-8")))
        else:
            continue
        for reference in references:
            target = reference.target.partition(".")[0]
            if target in ours and target not in allowed:
                found.append(f"{reference} may not be imported by {room}")
            if target == "importlib" and room != "registry":
                found.append(f"{reference} goes round the registry")
    return found


def imports(file: str, tree: ast.AST) -> Iterator[Reference]:
    """The modules that Python code imports, wherever it does so; relative ones as absolute names."""
    package = file.split("/")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Reference(file, node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            names = [node.module] if node.module else [alias.name for alias in node.names]
            yield from (Reference(file, node.lineno, ".".join([*base, name])) for name in names)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "__import__":
            yield Reference(file, node.lineno, "importlib")


def loads(file: str, tree: ast.AST) -> Iterator[Reference]:
    """Calls of `registry.load` that ask for more than the file may have, or for what cannot be told from the text."""
    if file in IN_PROCESS or file == "registry.py":
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "registry" and any(alias.name == "load" for alias in node.names):
            yield Reference(file, node.lineno, "registry.load by another name")
        is_load = (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "load"
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "registry"
        )
        if is_load:
            assert isinstance(node, ast.Call)
            part = node.args[1] if len(node.args) == 2 else None
            if not (isinstance(part, ast.Constant) and part.value in TRUTH):
                yield Reference(file, node.lineno, ast.unparse(node))


def cimports(file: str, text: str) -> Iterator[Reference]:
    """The modules, kernels and headers that Cython code imports, cimports or includes."""
    folder = file.split("/")[:-1]
    for number, line in enumerate(text.splitlines(), start=1):
        match = CIMPORT.match(line)
        if match is None:
            continue
        source, plain, kernel, header = match.groups()
        if kernel is not None:  # relative to the file
            path = list(folder)
            for step in kernel.split("/"):
                path = path[:-1] if step == ".." else [*path, step]
            yield Reference(file, number, ".".join(path))
        elif header is not None:  # relative to the root
            yield Reference(file, number, header.replace("/", "."))
        elif source is not None and source.startswith("."):
            level = len(source) - len(source.lstrip("."))
            yield Reference(file, number, ".".join([*folder[: len(folder) - level + 1], source.lstrip(".")]).strip("."))
        else:
            yield Reference(file, number, source or plain)
