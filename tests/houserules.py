"""Who may import whom: what every file of the project imports, cimports and includes, held against
the rules of the house."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quartet import registry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORKSHOP = "quartet"
"""The package whose sub-packages, and modules, are rooms of their own."""
FREE = (
    "quartet",
    "quartet.__main__",
    "quartet.face",
    "quartet.cli",
    "quartet.bench",
    "build",
    "tests",
    "setup",
)
"""The rooms that may import anything."""
_JUDGE = {"core", "quartet.registry", "quartet.judge"}
HOUSE = {
    "core": {"core"},
    "quartet.registry": {"core", "quartet.registry"},
    "quartet.judge": _JUDGE,
    "quartet.arena": {*_JUDGE, "quartet.arena"},
    "quartet.training": {*_JUDGE, "quartet.arena", "quartet.training"},
    "quartet.review": {*_JUDGE, "quartet.arena", "quartet.review"},  # it works as runs do
    "quartet.web": {*_JUDGE, "quartet.arena", "quartet.review", "quartet.web"},
}
"""Room -> what it may import of ours. A game may import core and itself."""
TRUTH = {"reference", "protocol", "scene"}
"""The parts of a game that the registry may give to a room; engines, players and fast rules are not
among them."""
IN_PROCESS = {
    "quartet/judge/seats/engine.py",
    "quartet/judge/seats/players.py",
    "quartet/training/selfplay.py",
    "quartet/review/engines.py",
    "quartet/review/uai.py",
}
"""The modules that play in process, or ask engines: they may have every part."""

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
        room = room_of(name.rpartition(".")[0].replace("/", "."))
        games = set(registry.GAMES.values())
        if room in FREE or room not in {*HOUSE, *games} or ".build" in path.parts:
            continue
        allowed = HOUSE.get(room, {"core", room})
        ours = {*HOUSE, *FREE, *games}
        if path.suffix in {".py", ".pyi"}:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            references = list(imports(name, tree))
            if room not in games:
                found += [
                    f"{reference} is no part that {room} may load"
                    for reference in loads(name, tree)
                ]
        elif path.suffix in {".pyx", ".pxd", ".pxi"}:
            references = list(cimports(name, path.read_text(encoding="utf-8")))
        else:
            continue
        for reference in references:
            target = room_of(reference.target)
            if target in ours and target not in allowed:
                found.append(f"{reference} may not be imported by {room}")
            if target == "importlib" and room != "quartet.registry":
                found.append(f"{reference} goes round the registry")
    return found


def room_of(module: str) -> str:
    """The room of a module, by its dotted name."""
    words = module.split(".")
    return ".".join(words[: 2 if words[0] == WORKSHOP and words[1:2] != ["__init__"] else 1])


def imports(file: str, tree: ast.AST) -> Iterator[Reference]:
    """The modules that Python code imports, wherever it does so; relative ones as absolute
    names."""
    package = file.split("/")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Reference(file, node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            names = (
                [node.module]
                if node.module and node.module != WORKSHOP
                else [alias.name for alias in node.names]
            )
            base = [*base, WORKSHOP] if node.module == WORKSHOP else base
            yield from (Reference(file, node.lineno, ".".join([*base, name])) for name in names)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "__import__"
        ):
            yield Reference(file, node.lineno, "importlib")


def loads(file: str, tree: ast.AST) -> Iterator[Reference]:
    """Calls of `registry.load` that ask for more than the file may have, or for what cannot be told
    from the text."""
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
            yield Reference(
                file,
                number,
                ".".join([*folder[: len(folder) - level + 1], source.lstrip(".")]).strip("."),
            )
        else:
            yield Reference(file, number, source or plain)
