"""Compile and package the project: the list of extensions, the Cython directives, the compiler
flags.

Environment variables:
    QUARTET_BUILD   release (default), debug (bounds checks, assertions, almost no
                    optimisation), trace
                    (line tracing for Cython coverage), or a sanitizer of gcc and clang: asan
                    (addresses and undefined behaviour), ubsan (undefined behaviour alone), tsan
                    (threads), fuzz (asan with clang's coverage for libFuzzer); docs/builds.md
                    describes how to run them
    QUARTET_CPU     x86-64-v2 (default), any other level of the compiler's -march, or native for
                    this machine only
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import BaseError

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from quartet.registry import PACKAGES  # noqa: E402

SANITIZERS = {
    "asan": "address,undefined",
    "ubsan": "undefined",
    "tsan": "thread",
    "fuzz": "fuzzer-no-link,address,undefined",
}
"""Mode of a build with a sanitizer -> value of -fsanitize."""
MODES = ("release", "debug", "trace", *SANITIZERS)
MODE = os.environ.get("QUARTET_BUILD") or "release"
CPU = os.environ.get("QUARTET_CPU") or "x86-64-v2"
SCRATCH = ".build"
STAMP = Path(SCRATCH, "last-build")
"""Records how the extensions were compiled."""

SOURCE = Path("quartet", "source")
"""The folder of an installed wheel with what `quartet pack` needs in addition to the packages."""
PACKING_SOURCES = ("build/**/*", "setup.py", "pyproject.toml")
"""The files in SOURCE, under the same paths as in a checkout."""
BUILT = "built.txt"
"""A file in SOURCE with a wheel's commit and mode. The one of a source distribution has the commit
alone."""

LIMITED = (
    MODE == "release"
    and "bdist_wheel" in sys.argv
    and not sysconfig.get_config_var("Py_GIL_DISABLED")
)
"""True if modules use Python's limited API, so that one wheel serves Python 3.11 and later."""
LIMITED_API = "0x030B0000"


def directives(mode: str) -> dict[str, object]:
    """Return the Cython directives of a mode."""
    checked = mode != "release"
    return {
        "language_level": 3,
        "boundscheck": checked,
        "wraparound": False,
        "initializedcheck": checked,
        "cdivision": True,
        "embedsignature": True,
        "freethreading_compatible": True,
        "show_performance_hints": False,  # a checked build has many
        "linetrace": mode == "trace",
    }


def compile_flags(compiler: str, machine: str, mode: str = MODE, cpu: str = CPU) -> list[str]:
    """Return the flags of a compiler by distutils' name: "msvc" is cl; "unix" and "mingw32" are
    gcc, clang and their cross compilers."""
    x86 = machine.lower() in {"x86_64", "amd64"}
    if compiler == "msvc":
        # cl has neither x86-64-v2, which is close to its default, nor "native".
        arch = (
            {"x86-64-v3": ["/arch:AVX2"], "x86-64-v4": ["/arch:AVX512"]}.get(cpu, []) if x86 else []
        )
        return ["/utf-8", "/Od" if mode == "debug" else "/O2", *arch]
    flags = ["-O3", "-g0"]
    if mode in SANITIZERS:
        # Findings show functions and lines only. With -O1 -g, compiling takes 2.6 times as long.
        flags = ["-Og", "-g1", "-UNDEBUG", "-fno-omit-frame-pointer", *sanitizer_flags(mode)]
    elif mode == "debug":
        flags = ["-Og", "-g", "-UNDEBUG"]
    # Without contraction, floating point gives the same fingerprint on every CPU level. No code
    # reads errno after a mathematical function: without it, square roots can use vectors. Python's
    # flags ask for a warning where code made by Cython compares signed and unsigned integers.
    flags += ["-ffp-contract=off", "-fno-math-errno", "-Wno-sign-compare"]
    return [*flags, *([f"-march={cpu}"] if x86 or cpu == "native" else [])]


def sanitizer_flags(mode: str) -> list[str]:
    """Return the sanitizer flags of a mode. A finding ends the process."""
    kinds = SANITIZERS.get(mode)
    return [f"-fsanitize={kinds}", "-fno-sanitize-recover=all"] if kinds else []


class BuildExtensions(build_ext):
    """Uses the project's flags, compiles on all cores, and names a missing tool in one sentence."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()
        if self.inplace:  # setuptools would compile everything into another folder each time
            self.inplace, self.build_lib = False, "."

    def build_extensions(self) -> None:
        kind = self.compiler.compiler_type
        complaint = missing_tool(kind, getattr(self.compiler, "compiler_so", []))
        if kind == "msvc" and MODE in SANITIZERS:
            complaint = f"QUARTET_BUILD={MODE} needs gcc or clang"
        if complaint:
            raise SystemExit(f"quartet: {complaint}")
        for extension in self.extensions:
            extension.extra_compile_args = compile_flags(kind, platform.machine())
            extension.extra_link_args = sanitizer_flags(MODE)
        made_by = f"{MODE} {CPU} {kind} {' '.join(getattr(self.compiler, 'compiler_so', []))}"
        made_by += " abi3" * LIMITED
        if is_outdated() or STAMP.read_text() != made_by:
            self.force = True  # same sources, other flags
        super().build_extensions()
        STAMP.parent.mkdir(exist_ok=True)
        STAMP.write_text(made_by)

    def run(self) -> None:
        try:
            super().run()
        except BaseError as error:
            if "Visual C++" in str(error):
                raise SystemExit(f"quartet: {NO_COMPILER}") from None
            raise


class BuildPython(build_py):
    """Adds the sources for packing, and their commit, to a wheel."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib, SOURCE)
        files = [path for pattern in PACKING_SOURCES for path in Path().glob(pattern)]
        for path in files:
            if path.is_file() and "__pycache__" not in path.parts:
                (target / path.parent).mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target / path)
        made = [commit(), f"{MODE} {CPU}{' abi3' * LIMITED}"]
        (target / BUILT).write_text(", ".join(filter(None, made)), encoding="utf-8")


def commit() -> str:
    """Return "commit 0123456789ab" from git, or from the file of a source distribution; empty if
    unknown."""
    if Path(BUILT).is_file():
        return Path(BUILT).read_text(encoding="utf-8").strip()
    if not Path(".git").exists() or shutil.which("git") is None:
        return ""
    command = ["git", "describe", "--always", "--exclude=*", "--abbrev=12", "--dirty=+"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"commit {done.stdout.strip()}" if done.returncode == 0 else ""


NO_COMPILER = (
    "no C compiler was found; install one (Debian and Ubuntu: apt install build-essential; macOS: "
    "xcode-select --install; "
    "Windows: the Visual Studio Build Tools)"
)


def missing_tool(compiler: str, command: list[str]) -> str | None:
    """Return what a machine lacks for compiling extensions, in one sentence, or None."""
    if sys.maxsize < 2**32:
        return "a 64-bit Python is needed, this one has 32 bits; install the 64-bit version"
    if compiler == "unix" and command and shutil.which(command[0]) is None:
        return f"{NO_COMPILER}; looked for {command[0]!r}"
    if (
        compiler == "unix"
        and not Path(sysconfig.get_path("include"), "Python.h").exists()
        and "CPATH" not in os.environ
    ):
        return (
            "Python's C headers are missing; install them (Debian and Ubuntu: apt install "
            "python3-dev)"
        )
    return None


def is_outdated() -> bool:
    """Return True if another setup.py compiled the extensions, or none did to the end."""
    return not STAMP.exists() or STAMP.stat().st_mtime < Path(__file__).stat().st_mtime


def with_included(headers: Iterable[str]) -> list[str]:
    """Return the project's C headers among these, and those that they include."""
    todo, found = list(headers), set()
    while todo:
        header = Path(todo.pop())
        if header in found or not header.is_file():
            continue
        found.add(header)
        for name in re.findall(
            r'^\s*#\s*include\s*"(.+?)"', header.read_text("utf-8"), re.MULTILINE
        ):
            todo += [name, os.path.relpath(header.parent / name)]
    return sorted(map(str, found))


def extensions() -> list[Extension]:
    """Translate every .pyx of the packages into C and return the extensions."""
    from Cython.Build import cythonize  # noqa: PLC0415  (known only in the build environment)

    sources = sorted(path for name in PACKAGES for path in Path(name).rglob("*.pyx"))
    tracing: list[tuple[str, str | None]] = [
        ("CYTHON_TRACE_NOGIL", "1"),
        ("CYTHON_USE_SYS_MONITORING", "0"),
    ]
    macros = tracing if MODE == "trace" else []
    if LIMITED:
        macros = [("Py_LIMITED_API", LIMITED_API)]
    modules = [
        Extension(
            ".".join(path.with_suffix("").parts),
            [str(path)],
            include_dirs=["."],
            define_macros=macros,
            py_limited_api=LIMITED,
        )
        for path in sources
    ]
    # Cython's coverage plugin needs the C file next to its source. Other modes keep it elsewhere.
    place = None if MODE == "trace" else f"{SCRATCH}/{MODE}"
    made: list[Extension] = cythonize(  # type: ignore[no-untyped-call]
        modules,
        compiler_directives=directives(MODE),
        build_dir=place,
        nthreads=os.cpu_count() or 1,
        force=MODE == "trace" or is_outdated(),
        quiet=True,
    )
    for extension in made:  # Cython knows the headers that its own sources name
        extension.depends = with_included(extension.depends)
    return made


def main() -> None:
    os.chdir(ROOT)
    if MODE not in MODES:
        raise SystemExit(f"quartet: QUARTET_BUILD is {MODE!r}, not one of {', '.join(MODES)}")
    setup(
        packages=sorted(
            ".".join(path.parent.parts)
            for name in PACKAGES
            for path in Path(name).rglob("__init__.py")
        ),
        package_dir={"": "."},
        package_data={
            "": [
                "py.typed",
                "*.pyi",
                "*.pyx",
                "*.pxd",
                "*.pxi",
                "*.h",
                "*.md",
                "*.txt",
                "*.bin",
                "*.html",
                "calibration.json",
                "messages/*.json",
            ],
            "quartet.web": ["static/**/*"],
        },
        ext_modules=extensions(),
        cmdclass={"build_ext": BuildExtensions, "build_py": BuildPython},
        options={
            "build": {"build_base": f"{SCRATCH}/setuptools"},  # `build/` is a folder of the project
            **({"bdist_wheel": {"py_limited_api": "cp311"}} if LIMITED else {}),
        },
    )


if __name__ == "__main__":
    main()
