"""Layers import only what they may, agents import little, and only the registry lists the games."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from quartet import registry
from tests.games import ROOT, GameUnderTest
from tests.import_rules import FREE, LAYERS, violations

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

A_GAME = next(iter(registry.GAMES.values()))

SLOW = {
    "numpy",
    "typing",
    "dataclasses",
    "enum",
    "re",
    "json",
    "click",
    "rich",
    "argparse",
    "msgspec",
    "psutil",
    "pathlib",
    "inspect",
}
"""Modules that would slow the start of an agent."""


def test_every_import_is_allowed() -> None:
    assert violations(ROOT) == []


def test_every_layer_has_a_rule() -> None:
    layers = {path.name for path in ROOT.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    layers |= {
        f"quartet.{path.stem}"
        for path in (ROOT / "quartet").iterdir()
        if path.suffix == ".py" or any(path.glob("*.py"))
    }
    unknown = layers - {*LAYERS, *FREE, *registry.GAMES.values(), "quartet.__init__"}
    assert not unknown, "a new layer: add to tests/import_rules.py what it may import"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("core/a.py", f"import {A_GAME}"),
        ("core/a.py", "from quartet import registry"),
        ("core/a.py", "def f():\n    from quartet.judge import turn"),
        ("core/a.pyi", "from quartet.arena.x import y"),
        ("core/a.pyx", f"from {A_GAME}.rules cimport Board"),
        ("core/a.pxd", f"cimport {A_GAME}.rules"),
        ("core/search/a.pxi", f"from {A_GAME} cimport rules"),
        ("core/a.pyx", f'include "../{A_GAME}/a.pxi"'),
        ("core/a.pyx", f'cdef extern from "{A_GAME}/a.h" nogil:'),
        (f"{A_GAME}/a.py", "from quartet import registry"),
        (f"{A_GAME}/a.py", "from quartet.judge.turn import Verdict"),
        (f"{A_GAME}/a.py", "import quartet.bench.speed"),
        (f"{A_GAME}/a.pyx", "from quartet.arena.x cimport y"),
        (f"{A_GAME}/a.py", "from .. import quartet"),
        ("quartet/judge/a.py", f"from {A_GAME} import reference"),
        ("quartet/judge/a.py", f"import {A_GAME}.engine"),
        ("quartet/judge/a.py", "from quartet.arena import unit"),
        ("quartet/judge/a.py", "from quartet import cli"),
        ("quartet/judge/a.py", 'from quartet import registry\nregistry.load(name, "engine")'),
        (
            "quartet/judge/a.py",
            'from quartet import registry\nregistry.load(name, "players").player',
        ),
        ("quartet/judge/a.py", "import registry\nregistry.load(name, part)"),
        ("quartet/judge/a.py", "from quartet.registry import load"),
        ("quartet/judge/a.py", "import importlib"),
        ("quartet/judge/a.py", "from importlib import import_module"),
        ("quartet/judge/a.py", f'__import__("{A_GAME}")'),
        ("quartet/arena/a.py", 'from quartet import registry\nregistry.load(name, "engine")'),
        ("quartet/arena/a.py", f"from {A_GAME} import players"),
        ("quartet/web/a.py", f"from {A_GAME} import reference"),
        ("quartet/registry.py", "from quartet import judge"),
    ],
)
def test_the_checker_finds_violations(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text)
    assert violations(tmp_path)[0].startswith(f"{file}:{len(text.splitlines())}: ")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("core/a.py", "import json\nfrom core.errors import TextError"),
        (
            f"{A_GAME}/a.py",
            f"from core import errors\nfrom {A_GAME} import protocol\nfrom . import protocol",
        ),
        (
            f"{A_GAME}/a.pyx",
            (
                f'include "../core/search/a.pxi"\nfrom {A_GAME}.rules cimport Board\n'
                'cdef extern from "core/native/bits.h":\n    pass'
            ),
        ),
        (
            "quartet/judge/a.py",
            (
                'from quartet import registry\nregistry.load(name, "reference")\n'
                'registry.load(name, "protocol")'
            ),
        ),
        (
            "quartet/judge/seats/engine.py",
            'from quartet import registry\nregistry.load(name, "engine")',
        ),
        ("quartet/bench/a.py", f"import {A_GAME}.engine, importlib"),
        ("tests/a.py", "from quartet import judge, arena"),
        ("quartet/cli/a.py", "from quartet import arena"),
    ],
)
def test_the_checker_accepts_allowed_imports(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text)
    assert violations(tmp_path) == []


def imported(*command: str, cwd: Path = ROOT) -> set[str]:
    """Return the modules that a Python process imports, from its -X importtime."""
    # Without site: this environment loads modules at every start.
    done = subprocess.run(
        [sys.executable, "-S", "-X", "importtime", *command],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "QUARTET_NODES": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(re.findall(r"\|\s+([\w.]+)$", done.stderr, re.MULTILINE))


def test_agents_import_nothing_slow(whole_game: GameUnderTest, tmp_path: Path) -> None:
    if whole_game.info.exchange is not None:
        (tmp_path / whole_game.info.exchange.input).write_text(whole_game.reference.start().text())
    modules = imported("-m", registry.GAMES[whole_game.name], cwd=tmp_path)
    assert f"{registry.GAMES[whole_game.name]}.engine" in modules
    assert {module.partition(".")[0] for module in modules} & SLOW == set()


def test_imported_finds_imports() -> None:
    assert {"json", "re", "enum"} <= imported("-c", "import json")


def shared_code() -> Iterator[tuple[str, str]]:
    """Yield files that must work for any game, and their text without comments and docstrings,
    which may name a game as an example."""
    for layer in ("core", "quartet", "build"):
        for path in (ROOT / layer).rglob("*"):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in {".py", ".pyi"} and name != "quartet/registry.py":
                tree = ast.parse(path.read_text(encoding="utf-8"))
                for node in ast.walk(tree):
                    if (
                        isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
                        and ast.get_docstring(node) is not None
                    ):
                        node.body[0] = ast.Pass()
                yield name, ast.unparse(tree)
            elif path.suffix in {".pyx", ".pxd", ".pxi", ".h"}:
                yield name, path.read_text(encoding="utf-8")
    for name in ("pyproject.toml", "setup.py", ".gitignore", ".ci/run"):
        yield name, (ROOT / name).read_text(encoding="utf-8")


def test_only_the_registry_names_games() -> None:
    names = re.compile(
        rf"\b({'|'.join({*registry.GAMES, *registry.GAMES.values()})})\b", re.IGNORECASE
    )
    found = [
        f"{file}: {line.strip()}"
        for file, text in shared_code()
        for line in text.splitlines()
        if names.search(line)
    ]
    assert found == []
