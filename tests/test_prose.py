"""Comments, docstrings and documents are intact, and what they name exists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests import prose
from tests.games import ROOT

if TYPE_CHECKING:
    from pathlib import Path

MERGED = """/* The network.

   Inputs   36 windows of 2x2 cells, 81 states each; one state of a window
   holds. window    row * 6 + column of its top left cell */
"""
SPREAD = """/* The network.

   Inputs   36 windows of 2x2 cells, 81 states each; one state of a window
            holds
   window   row * 6 + column of its top left cell */
"""
LONG = "word " * 19
EARLY = f"a line that ends\nearly, though the others do not: {LONG[:60]}\nand the last one.\n"
INDENTED = f'"""{LONG}\n{LONG}\n    word.\n"""\n'
SECTION = (
    f'"""Do it.\n\nArgs:\n    name: {LONG[:80]}\n        word.\n\nRaises:\n    E: word.\n"""\n'
)


def test_no_wrap_is_damaged() -> None:
    assert [x for path in prose.files(ROOT) for x in prose.wrap_damage(ROOT, path)] == []


def test_names_in_prose_exist() -> None:
    assert [x for path in prose.files(ROOT) for x in prose.missing_names(ROOT, path)] == []


@pytest.mark.parametrize(
    ("name", "text", "findings"),
    [
        ("a.h", MERGED, ["a.h:4: rows of a table run into each other"]),
        ("a.h", SPREAD, []),
        ("a.h", "/* Steps of a cell (see\n   a.pxd).\n   * Others. */\n", ["a.h:3: a stray *"]),
        ("a.h", "/* Steps of a cell.\n * Others.\n * More. */\n", []),
        ("a.md", EARLY, ["a.md:1: the line ends early"]),
        ("a.py", "".join(f"# {line}\n" for line in EARLY.splitlines()), ["a.py:1: the line ends"]),
        ("a.md", f"```\n{EARLY}```\n", []),
        ("a.md", f"Run this:\n\n    short\n    {LONG}\n    end\n", []),
        ("a.md", f"- one\n- {LONG}{LONG[:-1]}\n", ["a.md:2: the line is longer than 100"]),
        ("a.md", f"| {LONG} | {LONG} |\n", []),
        ("a.py", INDENTED, ["a.py:3: the line is indented"]),
        ("a.py", SECTION, []),
        ("a.py", f'TEXT = """\n{EARLY}"""\n', []),
    ],
)
def test_damage_is_found(tmp_path: Path, name: str, text: str, findings: list[str]) -> None:
    (tmp_path / name).write_text(text)
    found = list(prose.wrap_damage(tmp_path, tmp_path / name))
    assert len(found) == len(findings), found
    assert all(one.startswith(start) for one, start in zip(found, findings, strict=True)), found


@pytest.mark.parametrize(
    ("name", "text", "repaired"),
    [
        ("a.md", f"- one two\n  three {LONG}{LONG}\n", f"- one two three {LONG}{LONG}"),
        ("a.py", f"    # one\n    # {LONG}{LONG}\n", f"# one {LONG}{LONG}"),
        ("a.py", f'def f():\n    """{LONG}{LONG}end."""\n', f'def f(): """{LONG}{LONG}end."""'),
        ("a.h", f"/* one\n   two {LONG}{LONG} */\nint i;\n", f"/* one two {LONG}{LONG} */ int i;"),
    ],
)
def test_damage_is_repaired(tmp_path: Path, name: str, text: str, repaired: str) -> None:
    (tmp_path / name).write_text(text)
    prose.repair(tmp_path / name)
    assert list(prose.wrap_damage(tmp_path, tmp_path / name)) == []
    found = (tmp_path / name).read_text()
    marks = (
        re.sub(r"^ *#", "", found, flags=re.MULTILINE).split() if "#" in found else found.split()
    )
    assert marks == (repaired.replace("#", "").split())
    assert len(found.splitlines()) > 1


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("see a.h", ""),
        ("see table.h", "table.h does not exist"),
        ("core/native/a.h, ../core/native/a.h and GAME/scene.py", ""),
        ("core.native.a.table_new and core.native", ""),
        ("core.native.a.table_free", "core.native.a.table_free does not exist"),
        ("core.native.b", "core.native.b does not exist"),
        ("`table_new` and `print()`", ""),
        ("`how_to_install`", "how_to_install is in no code"),
    ],
)
def test_missing_names_are_found(tmp_path: Path, text: str, missing: str) -> None:
    folder = tmp_path / "core" / "native"
    folder.mkdir(parents=True)
    (folder / "a.h").write_text("void *table_new(void);\n")
    (folder / "a.pxd").write_text("cdef void* table_new()\n")
    (tmp_path / "a.md").write_text(f"{text}\n")
    found = list(prose.missing_names(tmp_path, tmp_path / "a.md"))
    assert found == ([f"a.md:1: {missing}"] if missing else [])
