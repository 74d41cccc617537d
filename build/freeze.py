"""Make executable files: a game's agent, Python, and PyInstaller's bootloader, which unpacks both
into a temporary folder and runs the agent.

A judge may start such a file once per move, so it must start fast. docs/experiments/015 has the
gain of each step:

    modules     only those that the agent imports, found by importing what it imports; nothing of
                PyInstaller's own Python code
    libraries   stripped; the project's extension modules are linked into one
    archive     not compressed
    end         by os._exit, see build/start.py

**PyInstaller is pinned to 6.9.0.** From 6.10 on, its bootloader for Windows waits 250 ms for a
message about the end of the session after the program has ended. From 6.11.1 on, it also tries for
seconds to remove a locked temporary folder. Either costs much of a move's time. 6.9.0 supports
Python up to 3.12. `waits_for_session_end` recognises such a bootloader.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from build import sources
from core.agent.executable import MARK
from core.errors import QuartetError
from quartet import registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PINNED = "6.9.0"
"""The required version of PyInstaller."""
NEWEST_PYTHON = (3, 12)
"""The newest Python that it supports."""
ENCODINGS = ("ascii", "latin_1", "utf_8", "utf_8_sig", "utf_16", "utf_16_le", "utf_16_be")
"""Encodings that an agent may use; no import names them. Python itself needs no more in UTF-8
mode."""
TWINS = {"posixpath": "ntpath"}
"""Module that `os` imports on one system -> its counterpart on the other."""
CONTENT = "_internal"
"""The folder next to an executable that does not contain everything itself."""
ALWAYS = ("build.start", "core.agent.executable", "core.agent.selftest")
"""Modules for what an executable does in addition to playing."""


@dataclass(frozen=True)
class System(ABC):
    """The parts of an executable on one system.

    Attributes:
        bootloader: PyInstaller's bootloader.
        library: Python's shared library.
        suffix: The suffix of executables.
        modules: Folder of the standard library's Python modules.
        compiled: Folders of its extension modules.
        endings: File endings of extension modules.
    """

    bootloader: Path
    library: Path
    suffix: str
    modules: Path
    compiled: tuple[Path, ...]
    endings: tuple[str, ...]

    @abstractmethod
    def extensions(
        self, modules: Mapping[str, Path], scratch: Path
    ) -> tuple[list[Path], dict[str, tuple[str, str]]]:
        """Compile modules. Return the files, and for each module its file's name and its own name
        in that file. Raises QuartetError."""

    @abstractmethod
    def needed(self, libraries: Iterable[Path]) -> list[Path]:
        """Return the libraries that these need in addition. Raises QuartetError."""

    def tidy(self, library: Path, scratch: Path) -> Path:  # noqa: ARG002
        """Return the library without what is not needed at run time."""
        return library

    def finish(self, executable: Path) -> None:  # noqa: B027  (most systems want nothing)
        """Do what the system requires of a finished executable. Raises QuartetError."""

    def standard_extension(self, name: str) -> Path | None:
        """Return the file of an extension module of the standard library; None if it is part of the
        shared library."""
        places = (folder / (name + ending) for folder in self.compiled for ending in self.endings)
        return next((place for place in places if place.is_file()), None)


def make(game: str, system: System, out: Path, *, in_folder: bool = False) -> Path:
    """Make the executable `out/GAME`, or `out/GAME/GAME` if `in_folder`. Raises QuartetError."""
    if waits_for_session_end(system.bootloader):
        raise QuartetError(
            f"the bootloader {system.bootloader} waits when its program has ended; PyInstaller "
            f"{PINNED} has one that does not"
        )
    package = registry.GAMES[game]
    parts = sources.parts(game, *ALWAYS)
    imported = imports(package, parts)
    executable = (out / game / game if in_folder else out / game).with_suffix(system.suffix)
    if executable.is_dir():
        raise QuartetError(
            f"{executable} is a folder: name another one with --out, or move it away"
        )
    content = (executable.parent / CONTENT).resolve() if in_folder else None
    if content is not None:
        shutil.rmtree(content, ignore_errors=True)
    sources.SCRATCH.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=sources.SCRATCH) as folder:
        scratch = Path(folder)
        ours, places = system.extensions(parts.compiled, scratch) if parts.compiled else ([], {})
        standard = [
            file
            for name in imported.compiled
            if (file := system.standard_extension(name)) is not None
        ]
        libraries = [system.library, *system.needed([system.library, *standard, *ours])]
        mark = scratch / MARK
        mark.touch()
        files = [
            (MARK, mark),
            *((file.name, system.tidy(file, scratch)) for file in libraries),
            *((f"lib-dynload/{file.name}", system.tidy(file, scratch)) for file in standard),
            *((file.name, file) for file in ours),
            *parts.data.items(),
        ]
        python = {name.removeprefix("build."): file for name, file in parts.python.items()}
        plan = {
            "bootloader": str(system.bootloader),
            "executable": str(executable.resolve()),
            "library": system.library.name,
            # In UTF-8 mode Python asks for no other encoding, whatever the machine's language.
            "options": ["X utf8", *([f"pyi-contents-directory {CONTENT}"] if in_folder else [])],
            "script": f"import start\nstart.run({package!r}, {dict(sorted(places.items()))!r})\n",
            "modules": {
                name: str(file)
                for name, file in {**standard_modules(imported.python, system), **python}.items()
            },
            "ours": sorted(python),
            "files": [[name, str(file)] for name, file in files[in_folder:]],
            "separator": "\\" if system.suffix else "/",
            "folder": str(content) if in_folder else None,
        }
        run_python(
            ["-P", "-s", str(Path(__file__).with_name("assemble.py"))],
            json.dumps(plan),
            PYTHONHASHSEED="0",
            PYTHONPATH=str(sources.ROOT),
        )
        system.finish(executable)
    return executable


@dataclass(frozen=True)
class Imports:
    """The modules of the standard library that an agent imports, in Python and compiled."""

    python: list[str]
    compiled: list[str]


LOOK = """
import os, sys
names, root, package = eval(sys.stdin.read())
for name in names:
    try:
        __import__(name)
    except ImportError:
        pass  # of another system, or no module
playing = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
shown, sys.stdout = sys.stdout, open(os.devnull, "w")
sys.path.insert(0, root)
try:
    __import__(package + ".__main__", fromlist=["*"]).main(["--help"])
except SystemExit:
    pass
print((playing, sorted(sys.modules)), file=shown)
"""
"""A program that imports what an agent imports, and then runs `--help`, for which modules in Python
are enough."""


def imports(package: str, parts: sources.Parts) -> Imports:
    """Return all that the agent can import from elsewhere, found by importing it in another
    process. Raises QuartetError."""
    rooms = {name.partition(".")[0] for name in (*parts.python, *parts.compiled)}
    wanted = {
        name
        for file in (*parts.python.values(), *parts.compiled.values())
        for name in sources.imports(file)
    }
    names = sorted(name for name in wanted if name.partition(".")[0] not in rooms)
    said = run_python(
        ["-I", "-S", "-X", "utf8", "-c", LOOK], repr((names, str(sources.ROOT), package))
    )
    playing, explaining = ast.literal_eval(said)
    library = Path(sysconfig.get_path("stdlib"))
    python = [
        name
        for name in explaining
        if name.partition(".")[0] not in rooms and module_file(library, name)
    ]
    compiled = [
        name
        for name, file in playing.items()
        if not module_file(library, name) and file and not file.endswith(".py")
    ]
    foreign = [
        name
        for name, file in playing.items()
        if file and not Path(file).is_relative_to(library) and name not in compiled
    ]
    if foreign:
        raise QuartetError(
            f"the agent imports {', '.join(foreign)}, which is not in Python's standard library"
        )
    return Imports(
        sorted({*python, *(f"encodings.{name}" for name in ENCODINGS)}), sorted(compiled)
    )


def standard_modules(names: Iterable[str], system: System) -> dict[str, Path]:
    """Return module -> its source. Raises QuartetError."""
    found = {}
    for name in names:
        for twin in (name, TWINS.get(name, name)):
            file = module_file(system.modules, twin)
            if file is None:
                raise QuartetError(
                    f"{system.modules} has no module {twin}: is it the standard library of Python?"
                )
            found[twin] = file
    return found


def module_file(library: Path, name: str) -> Path | None:
    """Return the source of a standard library module; None if it is not in Python."""
    base = library.joinpath(*name.split("."))
    return next(
        (
            file
            for file in (base / "__init__.py", base.with_name(base.name + ".py"))
            if file.is_file()
        ),
        None,
    )


def run_python(arguments: list[str], text: str, **environment: str) -> str:
    """Run this Python with arguments and an input and return its output. Raises QuartetError with
    the last line of its errors."""
    done = subprocess.run(
        [sys.executable, *arguments],
        input=text,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise QuartetError(
            f"packing failed: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}"
        )
    return done.stdout


def waits_for_session_end(bootloader: Path) -> bool:
    """Return True if a bootloader for Windows waits after its program has ended; see above.

    Such a bootloader opens a hidden window and blocks the end of the session. It imports functions
    for that, which 6.9.0 does not.
    """
    return b"ShutdownBlockReasonCreate" in bootloader.read_bytes()


def pyinstaller() -> Path:
    """Return the folder of PyInstaller. Raises QuartetError if it is missing or has another
    version."""
    if sys.version_info[:2] > NEWEST_PYTHON:
        raise QuartetError(
            f"executables need Python 3.11 or 3.12, this is "
            f"{sys.version_info[0]}.{sys.version_info[1]}: PyInstaller {PINNED} knows no newer one"
        )
    try:
        import PyInstaller  # noqa: PLC0415  (an extra)
    except ImportError:
        raise QuartetError(f"PyInstaller is missing; {sources.what_packing_needs()}") from None
    if PyInstaller.__version__ != PINNED:
        raise QuartetError(
            f"executables need PyInstaller {PINNED}, this is {PyInstaller.__version__}; "
            f"{sources.what_packing_needs()}"
        )
    return Path(PyInstaller.__file__).parent
