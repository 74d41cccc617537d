"""What the things that we hand in are made of: the modules that a game's agent needs, and its
extensions, compiled apart from the checkout's own and always the same: the same commit on the same
machine gives the same bytes.

Nothing is installed and nothing in the checkout is touched; objects lie in `.build/pack`, under a
name made of all that they depend on.
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
from core.extras import how_to_install
from quartet import registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = registry.ROOT
SCRATCH = ROOT / ".build" / "pack"
DATA = "*.bin"
"""What a package holds beside its code and reads when it plays: weights."""
WORKSHOP = ("frozen.players", "train")
"""Modules of a game, with all that is in them, that only serve to measure and to learn: no package
has them, though `players.py` asks for the first where it is there."""
UNUSED = {"embedsignature": False, "binding": False, "auto_pickle": False}
"""What Cython leaves away, beside docstrings, for programs that nobody reads from within."""
UNWINDING = "-fno-asynchronous-unwind-tables"
"""Leaves away the tables of debuggers and of C++'s exceptions."""
EPOCH = "1577836800"
"""The time that tools believe it is, where they write one: the beginning of 2020."""

IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+c?import[ \t]+\(?([\w, \t]*)|c?import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)
INCLUDE = re.compile(r"""^[ \t]*include[ \t]+["'](.+?)["']""", re.MULTILINE)


@dataclass(frozen=True)
class Parts:
    """What an agent is made of; nothing of it is imported to find out.

    Attributes:
        python: module -> its file; of a package, its `__init__.py`.
        compiled: extension module -> its .pyx, each after those that it imports.
        data: name, e.g. "GAME/weights.bin" -> file.
    """

    python: dict[str, Path]
    compiled: dict[str, Path]
    data: dict[str, Path]


def parts(game: str, *also: str, root: Path = ROOT) -> Parts:
    """All that `python -m GAME` can ever import of ours, lazily or at once, and the modules `also`.
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
    """Put the module of that name, if it is one of ours and no part of the WORKSHOP, into `found`,
    after all that it imports. Circles are no harm."""
    within = f"{name.partition('.')[2]}."
    if any(within.startswith(f"{part}.") for part in WORKSHOP):
        return
    base = root.joinpath(*name.split("."))
    candidates = (base / "__init__.py", base.with_suffix(".py"), base.with_suffix(".pyx"))
    file = next((path for path in candidates if path.is_file()), None)
    # declarations alone: their package may hold what they speak of
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
    """Names that may be modules: all that a source of ours imports, whoever's they are."""
    return _imports(ROOT, file)


def _imports(root: Path, file: Path) -> Iterator[str]:
    """Names that may be modules: all that a file imports or cimports, and what its headers and
    kernels do."""
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
    """What Python code imports anywhere, but for the benefit of type checkers."""
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
    """What to do where this Python lacks what packing needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [text.partition(";")[0] for text in project["optional-dependencies"]["pack"]]
    return f"run {how_to_install(*needed)}"


def translate(modules: Mapping[str, Path]) -> dict[str, Path]:
    """Module -> its C file, by the project's own directives; made anew only where a source has
    changed. Raises QuartetError."""
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
    # the C files name their sources, and the same bytes come out wherever the checkout lies
    with contextlib.chdir(ROOT):
        wanted = [
            Extension(name, [path.relative_to(ROOT).as_posix()], include_dirs=["."])
            for name, path in modules.items()
        ]
        try:
            Options.docstrings = False
            wished = directives("release") | UNUSED
            cythonize(wanted, compiler_directives=wished, build_dir=place, quiet=True)  # type: ignore[no-untyped-call]
        except CompileError as error:
            raise QuartetError(f"Cython cannot translate {', '.join(modules)}: {error}") from error
    return {
        name: ROOT / place / path.relative_to(ROOT).with_suffix(".c")
        for name, path in modules.items()
    }


@dataclass(frozen=True)
class Compiler:
    """A C compiler like gcc, and how it is called.

    Attributes:
        command: its words; cpu: a level for -march, None for what it takes by itself; flags: more
            of them.
        include: the folder of Python's headers.
    """

    command: tuple[str, ...]
    cpu: str | None
    flags: tuple[str, ...] = ()
    include: Path = Path(sysconfig.get_path("include"))

    @classmethod
    def here(cls, cpu: str | None, *flags: str) -> Compiler:
        """The compiler of this machine."""
        return cls(
            tuple(shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")),
            cpu,
            (UNWINDING, *flags),
        )

    def objects(
        self, sources: Mapping[str, Path], more: Mapping[str, Sequence[str]] | None = None
    ) -> dict[str, Path]:
        """Module -> object file; `more` has further flags for some. Raises QuartetError with what
        the compiler says."""
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
        """Call it with these arguments, in the checkout; gives what it prints. Raises
        QuartetError."""
        return tool(*self.command, *arguments)


def tool(*command: str) -> str:
    """Run a tool in the checkout; gives what it prints. Raises QuartetError with its first
    complaint."""
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
