"""Assemble an executable file from a plan: the bootloader, followed by PyInstaller's archive of
everything else.

    PYTHONHASHSEED=0 PYTHONPATH=. python -P build/assemble.py < plan.json

It runs in a separate process, so that the same plan gives the same bytes: marshal's output depends
on what else is loaded, and on the order of sets. `build/freeze.py` makes the plan:

    bootloader, executable      files; the executable is the output
    library                     the name of Python's shared library among the files
    options                     options of the bootloader
    script                      the text of the script that runs first
    modules                     module -> source file, for the archive of Python modules
    ours                        the modules among them that are not in the standard library
    files                       [name, file] pairs to unpack, in this order
    separator                   the bootloader's separator in names of files
    folder                      the folder of the files if the executable does not contain them, else
                                null
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import json
import marshal
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from build.tidy import Tidy

MODULES = "base_library.zip"
"""The bootloader's name for the archive of Python modules."""
UNCHECKED = 1
"""A flag in the header of a .pyc: identified by the hash of its source, which is not checked."""
UNPACKED, LINKED = "x", "b"
"""PyInstaller's letters for unpacked files: data, and libraries, which become executable."""


def archive(modules: dict[str, str], ours: list[str]) -> bytes:
    """Return a ZIP file of all modules, compiled without docstrings, and `ours` without
    annotations. It is not compressed, which would cost time at every start."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as file:
        for module, source in sorted(modules.items()):
            name = module.replace(".", "/") + (
                "/__init__" if Path(source).name == "__init__.py" else ""
            )
            data = Path(source).read_bytes()
            whole: Any = (
                data
                if module not in ours
                else ast.fix_missing_locations(Tidy().visit(ast.parse(data)))
            )
            code = compile(whole, name + ".py", "exec", dont_inherit=True, optimize=2)
            head = (
                importlib.util.MAGIC_NUMBER
                + UNCHECKED.to_bytes(4, "little")
                + importlib.util.source_hash(data)
            )
            file.writestr(zipfile.ZipInfo(name + ".pyc"), head + marshal.dumps(code))
    return content.getvalue()


def assemble(plan: dict[str, Any], scratch: Path) -> None:
    """Make the executable, and its folder if the plan has one. Raises OSError."""
    from PyInstaller.archive.writers import CArchiveWriter  # noqa: PLC0415  (an extra)

    (scratch / MODULES).write_bytes(archive(plan["modules"], plan["ours"]))
    script = Path("quartet.py")
    (scratch / script).write_text(plan["script"], encoding="utf-8")
    files = [*((name, Path(file)) for name, file in plan["files"]), (MODULES, scratch / MODULES)]
    entries = [(option, "", False, "o") for option in plan["options"]]
    entries.append((script.stem, str(script), False, "s"))
    if plan["folder"] is None:
        for name, file in files:
            entries.append(
                (
                    name.replace("/", plan["separator"]),
                    str(file),
                    False,
                    LINKED if is_linked(file) else UNPACKED,
                )
            )
    for name, file in files if plan["folder"] is not None else ():
        target = Path(plan["folder"], name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
        target.chmod(0o755 if is_linked(file) else 0o644)
    with contextlib.chdir(scratch):  # the script's code object contains this path
        CArchiveWriter("package", entries, plan["library"])
    executable = Path(plan["executable"])
    executable.parent.mkdir(parents=True, exist_ok=True)
    executable.write_bytes(
        Path(plan["bootloader"]).read_bytes() + (scratch / "package").read_bytes()
    )
    executable.chmod(0o755)


def is_linked(file: Path) -> bool:
    """Return True if its first bytes are those of a library of Linux, Windows or macOS."""
    with file.open("rb") as opened:
        head = opened.read(4)
    return (
        head == b"\x7fELF"
        or head[:2] == b"MZ"
        or head in {b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"}
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        assemble(json.load(sys.stdin), Path(scratch))
