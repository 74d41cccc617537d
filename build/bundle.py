"""Puts a bundle together: a Python file with everything in it that is Python, and the data: the
compiled core, and the weights.

The Python modules become functions of the one file, whose names are all global: run with a module's
dictionary, such a function does what the module's text would do. So they are compiled with the
file, by whichever Python that is, and start at once. `build/loader.py`, which ends up in the same
file, runs them, and says how the core is found and chosen.
"""

from __future__ import annotations

import ast
import os
import re
import symtable
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from build import loader, sources
from build.tidy import Tidy, narrow
from core.errors import QuartetError
from core.limits import Limits
from quartet import registry

if TYPE_CHECKING:
    from collections.abc import Mapping

LIMITED_API = "-DPy_LIMITED_API=0x030B0000"
"""One shared object for CPython 3.11 and all that follow."""
LEVELS = {
    "v4": "avx512f avx512bw avx512cd avx512dq avx512vl avx avx2 bmi1 bmi2 f16c fma abm movbe",
    "v3": "avx avx2 bmi1 bmi2 f16c fma abm movbe",
    "v2": "",
}
"""Levels of the x86-64 psABI, the best first -> what Linux calls their features; v2 is taken for
granted."""
OLDEST_GLIBC = (2, 28)
SELF_TEST_NODES = 100
PYTHON: str = getattr(sys, "_base_executable", sys.executable)
"""Outside of our environment: nothing of the project is installed there."""


@dataclass(frozen=True)
class Bundle:
    """What a bundle is made of.

    Attributes:
        parts: the modules; levels: of processors, those of LEVELS that are in it.
        core: the shared object, empty for a game without compiled modules; data: that, and all
            package data.
    """

    game: str
    parts: sources.Parts
    levels: tuple[str, ...]
    core: bytes
    data: bytes
    resources: Mapping[str, tuple[int, int]]


def make(game: str, levels: tuple[str, ...] = tuple(LEVELS)) -> Bundle:
    """Compile what there is to compile. Raises QuartetError."""
    if registry.load(game, "reference").INFO.lines is None:
        raise QuartetError(
            f"the judge of {game} starts a program anew for every move: it takes `quartet pack exe "
            f"{game}`"
        )
    parts = sources.parts(game)
    core = shared_object(parts.compiled, levels) if parts.compiled else b""
    data, resources = bytearray(core), {}
    if core:
        for name, path in parts.data.items():
            data += bytes(-len(data) % 64)
            content = path.read_bytes()
            resources[name] = (len(data), len(content))
            data += content
    return Bundle(game, parts, levels, core, bytes(data), resources)


def variants(levels: tuple[str, ...] = tuple(LEVELS)) -> list[dict[str, str]]:
    """Settings under which a bundle with these levels answers the same: those levels that this
    machine has, and the ways to the core."""
    here = [level for level in levels if loader.features().issuperset(LEVELS[level].split())]
    return [
        *({"QUARTET_LEVELS": level} for level in here),
        *({"QUARTET_WAYS": way} for way in ("memfd", *loader.COPIES)),
    ]


def shared_object(modules: Mapping[str, Path], levels: tuple[str, ...]) -> bytes:
    """All modules at all levels in one file; the names by which Python finds them end in the level.
    Raises QuartetError."""
    code = sources.translate(modules)
    objects: list[Path] = []
    for level in levels:
        compiler = sources.Compiler.here(
            f"x86-64-{level}", LIMITED_API, "-include", "build/glibc.h"
        )
        shown = {name: f"PyInit_{name.replace('.', '_')}_{level}" for name in code}
        made = compiler.objects(
            code,
            {
                name: [f"-DPyInit_{name.rpartition('.')[2]}={symbol}"]
                for name, symbol in shown.items()
            },
        )
        for name, file in made.items():
            # Cython shows more than that, under one name in all modules
            alone = file.with_suffix(".alone.o")
            if not alone.exists():
                draft = file.with_suffix(f".{os.getpid()}.new")
                sources.tool(
                    "objcopy", f"--keep-global-symbol={shown[name]}", str(file), str(draft)
                )
                draft.replace(alone)
            objects.append(alone)
    library = sources.SCRATCH / "core.so"
    compiler = sources.Compiler.here(None)
    compiler.run(
        "-shared",
        "-s",
        "-static-libgcc",
        "-Wl,--build-id=none",
        "-o",
        str(library),
        *map(str, objects),
        "-lm",
    )
    too_new = newer_symbols(sources.tool("objdump", "-T", str(library)))
    if too_new:
        oldest = ".".join(map(str, OLDEST_GLIBC))
        raise QuartetError(
            f"the core would need a C library newer than {oldest}: {', '.join(too_new)}; add them "
            "to build/glibc.h"
        )
    return library.read_bytes()


def newer_symbols(table: str) -> list[str]:
    """The symbols in `objdump -T`'s output that are newer than OLDEST_GLIBC, with their
    versions."""
    found = re.findall(r"\(?GLIBC_([\d.]+)\)?\s+(\S+)$", table, re.MULTILINE)
    return sorted(
        {
            f"{name}@{version}"
            for version, name in found
            if tuple(map(int, version.split(".")[:2])) > OLDEST_GLIBC
        }
    )


def text(bundle: Bundle, *, embedded: str | None = None) -> str:
    """The Python file. `embedded` is the data as text, None where it is a file of its own. Raises
    NotBuiltError, when it needs an engine."""
    values = {
        "PACKAGE": registry.GAMES[bundle.game],
        "EXTENSIONS": tuple(bundle.parts.compiled),
        "LEVELS": {level: tuple(LEVELS[level].split()) for level in bundle.levels},
        "RESOURCES": bundle.resources,
        "SIZE": len(bundle.data),
        "CORE_SIZE": len(bundle.core),
        "CHECKSUM": zlib.crc32(bundle.data),
        "SELF_TEST": (SELF_TEST_NODES, first_move(bundle) if bundle.core else ()),
        "EMBEDDED": None if embedded is None else "@embedded@",
    }
    loading = Tidy().visit(ast.parse(Path(loader.__file__).read_text(encoding="utf-8")))
    body = [
        node
        for node in loading.body
        if not (
            isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in {*values, "PYTHON"}
        )
    ]
    future, code = body[0], body[1:]
    constants = ast.parse("\n".join(f"{name} = {value!r}" for name, value in values.items())).body
    functions = [
        as_function(name, path.read_text(encoding="utf-8"))
        for name, path in bundle.parts.python.items()
    ]
    table = ", ".join(
        f"{name!r}: ({function.name}.__code__, {path.name == '__init__.py'})"
        for (name, path), function in zip(bundle.parts.python.items(), functions, strict=True)
    )
    tail = ast.parse(f"PYTHON = {{{table}}}\nif __name__ == '__main__':\n    main()").body
    title = (
        f'"""Plays {bundle.game} with its judge on standard input and output. Made by '
        'quartet, from many files; not to be edited."""'
    )
    nodes = [future, *constants, *code, *functions, *tail]
    whole = narrow("\n".join([title, *map(ast.unparse, nodes)])) + "\n"
    return whole.replace("'@embedded@'", f'"""{embedded}"""')


def first_move(bundle: Bundle) -> tuple[int, ...]:
    """What the game's agent plays in the self-test, by the modules of this checkout. Raises
    NotBuiltError."""
    rules = (
        "rules" if f"{registry.GAMES[bundle.game]}.rules" in bundle.parts.compiled else "reference"
    )
    players, position = (
        registry.load(bundle.game, "players"),
        registry.load(bundle.game, rules).Position.start(),
    )
    move: tuple[int, ...] = (
        players.player(players.NAMES[0], 0).choose(position, Limits(nodes=SELF_TEST_NODES)).move
    )
    return move


def as_function(module: str, source: str) -> ast.FunctionDef:
    """A function that does what the module's text does, when its code is run with the module's
    dictionary."""
    body = Tidy().visit(ast.parse(source, module)).body
    body = [
        node
        for node in body
        if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")
    ]
    tidy = ast.unparse(ast.Module(body, []))
    symbols = symtable.symtable(tidy, module, "exec").get_symbols()
    names = sorted(
        symbol.get_name()
        for symbol in symbols
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_declared_global()
    )
    function = ast.parse(f"def module_{module.replace('.', '_')}():\n    pass").body[0]
    assert isinstance(function, ast.FunctionDef)  # noqa: S101
    function.body = [*([ast.Global(names)] if names else []), *body] or function.body
    return function
