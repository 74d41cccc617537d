"""Import rules: compare what every file imports, cimports and includes with what its package
may."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quartet import registry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOOLKIT = "quartet"
"""The package whose sub-packages and modules are separate layers."""
FREE = (
    "quartet",
    "quartet.__main__",
    "quartet.api",
    "quartet.face",
    "quartet.cli",
    "quartet.bench",
    "build",
    "tests",
    "setup",
)
"""Layers that may import anything."""
_JUDGE = {"core", "quartet.registry", "quartet.judge"}
LAYERS = {
    "core": {"core"},
    "quartet.registry": {"core", "quartet.registry"},
    "quartet.judge": _JUDGE,
    "quartet.arena": {*_JUDGE, "quartet.arena"},
    "quartet.training": {*_JUDGE, "quartet.arena", "quartet.training"},
    "quartet.review": {
        *_JUDGE,
        "quartet.arena",
        "quartet.review",
    },  # reviews use the runner of the arena
    "quartet.web": {*_JUDGE, "quartet.arena", "quartet.review", "quartet.web"},
}
"""Layer -> the layers that it may import. A game may import core and itself."""
REFERENCE_PARTS = {"reference", "protocol", "scene"}
"""The parts of a game that any layer may load; engines, players and fast rules are not among
them."""
IN_PROCESS = {
    "quartet/judge/seats/engine.py",
    "quartet/judge/seats/players.py",
    "quartet/training/selfplay.py",
    "quartet/review/engines.py",
}
"""Modules that play in process or ask engines. They may load every part."""

CIMPORT = re.compile(
    r"""^\s*(?:from\s+([\w.]+)\s+c?import\b|c?import\s+([\w.]+)|include\s+["'](.+?)["']|cdef\s+extern\s+from\s+["'](.+?)["'])"""
)


@dataclass(frozen=True)
class Reference:
    """A line of a file that names a module; `target` is its dotted name."""

    file: str
    line: int
    target: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.target}"


def violations(root: Path) -> list[str]:
    """Return every violation in the tree below `root`, one line each."""
    found = []
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        layer = layer_of(name.rpartition(".")[0].replace("/", "."))
        games = set(registry.GAMES.values())
        if layer in FREE or layer not in {*LAYERS, *games} or ".build" in path.parts:
            continue
        allowed = LAYERS.get(layer, {"core", layer})
        ours = {*LAYERS, *FREE, *games}
        if path.suffix in {".py", ".pyi"}:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            references = list(imports(name, tree))
            if layer not in games:
                found += [
                    f"{reference} may not be loaded by {layer}" for reference in loads(name, tree)
                ]
        elif path.suffix in {".pyx", ".pxd", ".pxi"}:
            references = list(cimports(name, path.read_text(encoding="utf-8")))
        else:
            continue
        for reference in references:
            target = layer_of(reference.target)
            if target in ours and target not in allowed:
                found.append(f"{reference} may not be imported by {layer}")
            if target == "importlib" and layer != "quartet.registry":
                found.append(f"{reference} bypasses the registry")
    return found


def layer_of(module: str) -> str:
    """Return the layer of a module by its dotted name."""
    words = module.split(".")
    return ".".join(words[: 2 if words[0] == TOOLKIT and words[1:2] != ["__init__"] else 1])


def imports(file: str, tree: ast.AST) -> Iterator[Reference]:
    """Yield the modules that Python code imports anywhere, by absolute names."""
    package = file.split("/")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Reference(file, node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            names = (
                [node.module]
                if node.module and node.module != TOOLKIT
                else [alias.name for alias in node.names]
            )
            base = [*base, TOOLKIT] if node.module == TOOLKIT else base
            yield from (Reference(file, node.lineno, ".".join([*base, name])) for name in names)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "__import__"
        ):
            yield Reference(file, node.lineno, "importlib")


def loads(file: str, tree: ast.AST) -> Iterator[Reference]:
    """Yield calls of `registry.load` for a part that the file may not load, or for an unknown
    part."""
    if file in IN_PROCESS or file == "quartet/registry.py":
        return
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.ImportFrom)
            and node.module == "quartet.registry"
            and any(alias.name == "load" for alias in node.names)
        ):
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
            if not (isinstance(part, ast.Constant) and part.value in REFERENCE_PARTS):
                yield Reference(file, node.lineno, ast.unparse(node))


def cimports(file: str, text: str) -> Iterator[Reference]:
    """Yield the modules, kernels and headers that Cython code imports, cimports or includes."""
    folder = file.split("/")[:-1]
    for number, line in enumerate(text.splitlines(), start=1):
        match = CIMPORT.match(line)
        if match is None:
            continue
        source, plain, kernel, header = match.groups()
        if kernel is not None:  # its path is relative to the file
            path = list(folder)
            for step in kernel.split("/"):
                path = path[:-1] if step == ".." else [*path, step]
            yield Reference(file, number, ".".join(path))
        elif header is not None:  # its path is relative to the root
            yield Reference(file, number, header.replace("/", "."))
        elif source is not None and source.startswith("."):
            level = len(source) - len(source.lstrip("."))
            yield Reference(
                file,
                number,
                ".".join([*folder[: len(folder) - level + 1], source.lstrip(".")]).strip("."),
            )
        else:
            yield Reference(file, number, source or plain)
