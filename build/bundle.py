"""Make a bundle: one Python file with all Python modules, and the data with the compiled core and
the weights.

Each module becomes a function of the file whose names are all global. Run with a module's
dictionary, it does what the module's text does. So any Python compiles the modules with the file,
and they start fast. `build/loader.py` becomes part of the file, runs the functions, and describes
how the core is found and chosen.
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
"""One shared object serves CPython 3.11 and later."""
LEVELS = {
    "v4": "avx512f avx512bw avx512cd avx512dq avx512vl avx avx2 bmi1 bmi2 f16c fma abm movbe",
    "v3": "avx avx2 bmi1 bmi2 f16c fma abm movbe",
    "v2": "",
}
"""Levels of the x86-64 psABI, the best first -> their features by Linux's names; v2 is assumed."""
OLDEST_GLIBC = (2, 28)
SELF_TEST_NODES = 100
PYTHON: str = getattr(sys, "_base_executable", sys.executable)
"""The Python outside the environment, without the project's packages."""


@dataclass(frozen=True)
class BundleParts:
    """The parts of a bundle.

    Attributes:
        parts: The modules.
        levels: The processor levels of LEVELS that the core has.
        core: The shared object; empty for a game without compiled modules.
        data: The core and all package data.
        resources: Name of package data -> its offset and size in the data.
    """

    game: str
    parts: sources.Parts
    levels: tuple[str, ...]
    core: bytes
    data: bytes
    resources: Mapping[str, tuple[int, int]]


def make(game: str, levels: tuple[str, ...] = tuple(LEVELS)) -> BundleParts:
    """Compile the parts of a game's bundle. Raises QuartetError."""
    if registry.load(game, "reference").INFO.lines is None:
        raise QuartetError(
            f"the judge of {game} starts one process per move: run `quartet pack exe {game}`"
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
    return BundleParts(game, parts, levels, core, bytes(data), resources)


def variants(levels: tuple[str, ...] = tuple(LEVELS)) -> list[dict[str, str]]:
    """Return environments in which a bundle with these levels gives the same answers: one for each
    level that this machine supports, and one for each way to open the core."""
    here = [level for level in levels if loader.features().issuperset(LEVELS[level].split())]
    return [
        *({"QUARTET_LEVELS": level} for level in here),
        *({"QUARTET_WAYS": way} for way in ("memfd", *loader.COPIES)),
    ]


def shared_object(modules: Mapping[str, Path], levels: tuple[str, ...]) -> bytes:
    """Link all modules at all levels into one file; the symbols that Python looks up end in the
    level. Raises QuartetError."""
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
            # Cython exports further symbols, which have the same name in all modules.
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
    """Return the symbols of `objdump -T` that are newer than OLDEST_GLIBC, with their versions."""
    found = re.findall(r"\(?GLIBC_([\d.]+)\)?\s+(\S+)$", table, re.MULTILINE)
    return sorted(
        {
            f"{name}@{version}"
            for version, name in found
            if tuple(map(int, version.split(".")[:2])) > OLDEST_GLIBC
        }
    )


def text(bundle: BundleParts, *, embedded: str | None = None) -> str:
    """Return the Python file. `embedded` is the data as text, None if it is a separate file. Raises
    NotBuiltError if the game's engine is needed and missing."""
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


def first_move(bundle: BundleParts) -> tuple[int, ...]:
    """Return the agent's move in the self-test, by the modules of this checkout. Raises
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
    """Return a function that does what the module's text does if it runs with the module's
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
