"""Find the modules that a game's agent needs, and compile its extensions for a package.

The same commit on the same machine gives the same bytes. Nothing is installed, and nothing in the
checkout changes. Object files are in `.build/pack`, under a hash of all that they depend on.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import os
import platform
import re
import shlex
import subprocess
import sysconfig
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import QuartetError
from core.extras import install_hint
from quartet import registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = registry.ROOT
SCRATCH = ROOT / ".build" / "pack"
DATA = "*.bin"
"""Files that an agent reads while it plays: weights."""
EXCLUDED = ("frozen.players", "train")
"""Modules of a game, with their submodules, that only measurements and training need. No package
has them; `players.py` imports the first only if it exists."""
UNUSED = {"embedsignature": False, "binding": False, "auto_pickle": False}
"""Cython directives that omit what only introspection needs."""
UNWINDING = "-fno-asynchronous-unwind-tables"
"""Omits the tables of debuggers and of C++ exceptions."""
EPOCH = "1577836800"
"""The time that tools write into files, in seconds since 1970: the start of 2020."""

IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+c?import[ \t]+\(?([\w, \t]*)|c?import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)
INCLUDE = re.compile(r"""^[ \t]*include[ \t]+["'](.+?)["']""", re.MULTILINE)


@dataclass(frozen=True)
class Parts:
    """The parts of an agent, found without importing any of them.

    Attributes:
        python: Module -> its file; for a package, its `__init__.py`.
        compiled: Extension module -> its .pyx, each after the modules that it imports.
        data: Name, such as "GAME/weights.bin" -> file.
    """

    python: dict[str, Path]
    compiled: dict[str, Path]
    data: dict[str, Path]


def parts(game: str, *also: str, root: Path = ROOT) -> Parts:
    """Return every module of the project that `python -m GAME` can import, and the modules `also`.
    Raises UnknownNameError."""
    registry.check(game)
    found: dict[str, Path] = {}
    for name in (f"{registry.GAMES[game]}.__main__", *also):
        _follow(root, name, found, set(found))
    packages = [path.parent for path in found.values() if path.name == "__init__.py"]
    data = {
        file.relative_to(root).as_posix(): file
        for package in packages
        for file in sorted(package.glob(DATA))
    }
    python = {name: path for name, path in sorted(found.items()) if path.suffix == ".py"}
    return Parts(
        python, {name: path for name, path in found.items() if path.suffix == ".pyx"}, data
    )


def _follow(root: Path, name: str, found: dict[str, Path], seen: set[str]) -> None:
    """Put a module of the project, unless EXCLUDED, into `found` after all that it imports. Imports
    may form a circle."""
    within = f"{name.partition('.')[2]}."
    if any(within.startswith(f"{part}.") for part in EXCLUDED):
        return
    base = root.joinpath(*name.split("."))
    candidates = (base / "__init__.py", base.with_suffix(".py"), base.with_suffix(".pyx"))
    file = next((path for path in candidates if path.is_file()), None)
    # Declarations without a module: their package may contain what they declare.
    if file is None and base.with_suffix(".pxd").is_file():
        _follow(root, name.rpartition(".")[0], found, seen)
    if file is None or name in seen:
        return
    seen.add(name)
    for imported in (name.rpartition(".")[0], *_imports(root, file)):
        if imported:
            _follow(root, imported, found, seen)
    found[name] = file


def imports(file: Path) -> Iterator[str]:
    """Yield all names that a file imports and that may be modules, of any project."""
    return _imports(ROOT, file)


def _imports(root: Path, file: Path) -> Iterator[str]:
    """Yield all names that a file, its declarations and its kernels import or cimport and that may
    be modules."""
    if file.suffix == ".py":
        yield from _python_imports(ast.parse(file.read_text(encoding="utf-8")))
        return
    todo, seen = [file, file.with_suffix(".pxd")], set()
    while todo:
        path = todo.pop()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        text = path.read_text(encoding="utf-8")
        todo += [(path.parent / name).resolve() for name in INCLUDE.findall(text)]
        for source, names, plain in IMPORT.findall(text):
            modules = [name.strip() for name in plain.split(",")] if plain else [source]
            modules += [
                f"{source}.{name.split(' as ')[0].strip()}"
                for name in names.split(",")
                if source and name.strip()
            ]
            todo += [root.joinpath(*module.split(".")).with_suffix(".pxd") for module in modules]
            yield from modules


def _python_imports(node: ast.AST) -> Iterator[str]:
    """Yield what Python code imports anywhere, except for type checkers."""
    for child in ast.iter_child_nodes(node):
        if (
            isinstance(child, ast.If)
            and isinstance(child.test, ast.Name)
            and child.test.id == "TYPE_CHECKING"
        ):
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and child.module and not child.level:
            yield child.module
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        yield from _python_imports(child)


def what_packing_needs() -> str:
    """Return the hint that says how to install what packing needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [text.partition(";")[0] for text in project["optional-dependencies"]["pack"]]
    return f"run {install_hint(*needed)}"


def translate(modules: Mapping[str, Path]) -> dict[str, Path]:
    """Translate modules with the project's directives and return module -> C file. Unchanged
    modules are not translated again. Raises QuartetError."""
    if not modules:
        return {}
    try:
        from Cython.Build import cythonize  # noqa: PLC0415  (an extra)
        from Cython.Compiler import Options  # noqa: PLC0415
        from Cython.Compiler.Errors import CompileError  # noqa: PLC0415
        from setuptools import Extension  # noqa: PLC0415

        from setup import directives  # noqa: PLC0415
    except ImportError as error:
        raise QuartetError(f"{error.name} is missing; {what_packing_needs()}") from error
    place = (SCRATCH / "lean").relative_to(ROOT).as_posix()
    # C files name their sources by relative paths, so that the bytes are the same in every
    # checkout.
    with contextlib.chdir(ROOT):
        wanted = [
            Extension(name, [path.relative_to(ROOT).as_posix()], include_dirs=["."])
            for name, path in modules.items()
        ]
        try:
            Options.docstrings = False
            settings = directives("release") | UNUSED
            cythonize(wanted, compiler_directives=settings, build_dir=place, quiet=True)  # type: ignore[no-untyped-call]
        except CompileError as error:
            raise QuartetError(f"Cython cannot translate {', '.join(modules)}: {error}") from error
    return {
        name: ROOT / place / path.relative_to(ROOT).with_suffix(".c")
        for name, path in modules.items()
    }


@dataclass(frozen=True)
class Compiler:
    """A C compiler with gcc's command line.

    Attributes:
        command: The words of its command.
        cpu: Level for -march; None for the compiler's default.
        flags: Further flags.
        include: Folder of Python's headers.
    """

    command: tuple[str, ...]
    cpu: str | None
    flags: tuple[str, ...] = ()
    include: Path = Path(sysconfig.get_path("include"))

    @classmethod
    def here(cls, cpu: str | None, *flags: str) -> Compiler:
        """Return the compiler of this machine."""
        return cls(
            tuple(shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")),
            cpu,
            (UNWINDING, *flags),
        )

    def objects(
        self, sources: Mapping[str, Path], more: Mapping[str, Sequence[str]] | None = None
    ) -> dict[str, Path]:
        """Compile modules and return module -> object file. `more` has further flags for some
        modules. Raises QuartetError with the compiler's message."""
        headers = _digest(
            path
            for room in ("build", "core", *registry.GAMES.values())
            for path in sorted((ROOT / room).rglob("*.h"))
        )
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = {
                name: pool.submit(self._object, path, (more or {}).get(name, ()), headers)
                for name, path in sources.items()
            }
            return {name: job.result() for name, job in jobs.items()}

    def _object(self, source: Path, more: Sequence[str], headers: str) -> Path:
        flags = [*self._flags(), *self.flags, *more]
        key = " ".join(
            [*self.command, self._version(), *flags, str(self.include), headers, _digest([source])]
        )
        target = SCRATCH / "o" / f"{source.stem}-{hashlib.sha256(key.encode()).hexdigest()[:20]}.o"
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            draft = target.with_suffix(f".{os.getpid()}.new")
            folders = [
                f"-ffile-prefix-map={ROOT}=.",
                f"-ffile-prefix-map={SCRATCH.relative_to(ROOT)}=pack",
            ]
            self.run(
                *flags,
                *folders,
                "-c",
                str(source.relative_to(ROOT)),
                "-o",
                str(draft),
                f"-I{self.include}",
                "-I.",
            )
            draft.replace(target)
        return target

    def _flags(self) -> list[str]:
        from setup import compile_flags  # noqa: PLC0415  (setuptools is an extra)

        return [
            *compile_flags(
                "unix", platform.machine() if self.cpu else "", "release", self.cpu or ""
            ),
            "-fPIC",
            "-fvisibility=hidden",
        ]

    def _version(self) -> str:
        return self.run("-dumpfullversion", "-dumpmachine")

    def run(self, *arguments: str) -> str:
        """Run it with arguments in the checkout and return its output. Raises QuartetError."""
        return tool(*self.command, *arguments)


def tool(*command: str) -> str:
    """Run a tool in the checkout and return its output. Raises QuartetError with its first
    error."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise QuartetError(
            f"{command[0]} cannot be run ({error.strerror}): install a C compiler and its tools"
        ) from error
    if done.returncode:
        said = [
            line.strip()
            for line in done.stderr.splitlines()
            if line.strip() and not line.startswith("collect2:")
        ]
        errors = [line for line in said if "error" in line.lower()]
        raise QuartetError(
            f"{Path(command[0]).name} failed: {(errors or said or ['no reason given'])[0]}"
        )
    return done.stdout


def _digest(files: Iterator[Path] | Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
