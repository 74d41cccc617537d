"""Compilers get correct flags, and a missing one gives a message."""

from __future__ import annotations

import importlib.machinery
import shutil
import subprocess
import sys
import sysconfig
from typing import TYPE_CHECKING

import pytest

import setup
from quartet import registry
from tests import checkout
from tests.games import ROOT, is_whole
from tests.tools import fast_compiler, need

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WHOLE_GAMES = [game for game in registry.GAMES if is_whole(game)]


@pytest.fixture(scope="module")
def unbuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project as in a fresh clone. Tests only add compiled files."""
    return checkout.copy(tmp_path_factory.mktemp("unbuilt") / "checkout")


# Flags


@pytest.mark.parametrize("compiler", ["unix", "mingw32"])
@pytest.mark.parametrize("machine", ["x86_64", "AMD64"])
def test_gcc_and_clang_on_a_pc(compiler: str, machine: str) -> None:
    assert setup.compile_flags(compiler, machine, "release", "x86-64-v2") == [
        "-O3",
        "-g0",
        "-ffp-contract=off",
        "-fno-math-errno",
        "-Wno-sign-compare",
        "-march=x86-64-v2",
    ]
    assert "-march=native" in setup.compile_flags(compiler, machine, "release", "native")
    debug = setup.compile_flags(compiler, machine, "debug", "x86-64-v2")
    assert {"-UNDEBUG", "-march=x86-64-v2"} <= set(debug)
    assert "-O3" not in debug


@pytest.mark.parametrize("mode", setup.SANITIZERS)
def test_a_sanitizer_finding_ends_the_process(mode: str) -> None:
    flags = setup.compile_flags("unix", "x86_64", mode, "x86-64-v2")
    assert set(setup.sanitizer_flags(mode)) < set(flags)
    assert {"-fno-sanitize-recover=all", "-UNDEBUG"} <= set(flags)


@pytest.mark.parametrize("machine", ["arm64", "aarch64"])
def test_gcc_and_clang_elsewhere(machine: str) -> None:
    """Check that only `native` has a meaning there, not the CPU levels of the PC."""
    assert setup.compile_flags("unix", machine, "release", "x86-64-v2") == [
        "-O3",
        "-g0",
        "-ffp-contract=off",
        "-fno-math-errno",
        "-Wno-sign-compare",
    ]
    assert "-march=native" in setup.compile_flags("unix", machine, "release", "native")


def test_cl_receives_no_flag_of_gcc() -> None:
    assert setup.compile_flags("msvc", "AMD64", "release", "x86-64-v2") == ["/utf-8", "/O2"]
    assert setup.compile_flags("msvc", "AMD64", "release", "x86-64-v3") == [
        "/utf-8",
        "/O2",
        "/arch:AVX2",
    ]
    assert setup.compile_flags("msvc", "ARM64", "release", "x86-64-v3") == ["/utf-8", "/O2"]
    assert setup.compile_flags("msvc", "AMD64", "debug", "native") == ["/utf-8", "/Od"]


# Other compilers


@pytest.fixture(scope="module")
def by_clang(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Return a function that compiles a copy of the project with clang, without a message, and
    returns the copy. It compiles again what has changed since."""
    folder = tmp_path_factory.mktemp("clang")
    home, compiler = checkout.copy_built(folder / "checkout"), fast_compiler(folder)

    def compiled() -> Path:
        done = checkout.build(home, CC=compiler)
        assert (done.returncode, done.stderr) == (0, "")
        return home

    return compiled


@pytest.mark.slow
def test_clang_compiles_everything(by_clang: Callable[[], Path]) -> None:
    home = by_clang()
    for game in WHOLE_GAMES:
        assert checkout.python(home, "-m", "quartet", "perft", game, "2").returncode == 0


@pytest.mark.slow
def test_mingw_accepts_everything(tmp_path: Path) -> None:
    """Check the sources only: tests of the executable compile, and linking needs a Python for
    Windows."""
    compiler = need("gcc-mingw-w64-x86-64", "x86_64-w64-mingw32-gcc")
    headers = shutil.copytree(sysconfig.get_path("include"), tmp_path / "include")
    shutil.copy(ROOT / "build" / "windows" / "pyconfig.h", headers)
    home = checkout.copy_built(tmp_path / "checkout")
    cython = checkout.python(
        home, "-c", "import setup; setup.extensions()", QUARTET_BUILD="release"
    )
    assert cython.returncode == 0, cython.stderr
    modules = [
        path.relative_to(home)
        for room in ("core", *registry.GAMES.values())
        for path in (home / room).rglob("*.pyx")
        if "frozen" not in path.parts  # they use the same declarations as the others
    ]
    sources = [home / ".build" / "release" / module.with_suffix(".c") for module in modules]
    flags = setup.compile_flags("mingw32", "AMD64")
    done = subprocess.run(
        [compiler, *flags, "-fsyntax-only", "-DMS_WIN64", f"-I{headers}", "-I.", *sources],
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


# Changes and what they compile


def test_headers_included_by_headers_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Look in the root and in the header's folder; headers may form a circle."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name, text in {
        "a/first.h": '#include "a/b/second.h"\n# include <math.h>\n#include "elsewhere.h"\n',
        "a/b/second.h": '  #  include "third.h" // beside\n#include "../first.h"\n',
        "a/b/third.h": "",
        "a/third.h": "",
    }.items():
        (tmp_path / name).write_text(text)
    assert setup.with_included(["a/first.h"]) == ["a/b/second.h", "a/b/third.h", "a/first.h"]


@pytest.mark.slow
def test_a_change_compiles_its_users(by_clang: Callable[[], Path]) -> None:
    """Change a constant of an engine, a search kernel, a C header, and a header that it
    includes."""
    home = by_clang()
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]

    def compiled(changed: str, text: str = "\n") -> set[str]:
        before = {path: path.stat().st_mtime_ns for path in home.rglob(f"*{suffix}")}
        with (home / changed).open("a") as file:
            file.write(text)
        by_clang()
        return {
            path.relative_to(home).as_posix().removesuffix(suffix) + ".pyx"
            for path, time in before.items()
            if path.stat().st_mtime_ns != time
        }

    def including(name: str) -> set[str]:
        return {
            path.relative_to(home).as_posix()
            for path in home.glob("*/**/*.pyx")
            if f'{name}"' in path.read_text() and "tests" not in path.parts
        }

    assert compiled("README.md") == set()
    assert compiled("connexion/engine.pyx") == {"connexion/engine.pyx"}
    kernel = "core/search/alphabeta.pxi"
    assert compiled(kernel) == including(kernel) != set()
    (home / "core/nn/more.h").touch()
    header = "core/nn/sparse_net.h"
    assert compiled(header, '\n#include "core/nn/more.h"\n') == including(header) != set()
    assert compiled("core/nn/more.h") == including(header)


# Missing tools


def one_line(text: str) -> str:
    assert len(text.splitlines()) == 1, text
    return text


@pytest.mark.slow
def test_no_compiler(tmp_path: Path) -> None:
    done = checkout.build(checkout.copy_built(tmp_path / "checkout"), CC="/nonexistent/cc")
    assert done.returncode == 1
    assert one_line(done.stderr).startswith("quartet: no C compiler was found; install one (")
    assert "'/nonexistent/cc'" in done.stderr


def test_a_python_of_32_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "maxsize", 2**31 - 1)
    assert "a 64-bit Python is needed" in str(setup.missing_tool("msvc", []))


def test_no_headers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CPATH", raising=False)
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    assert "python3-dev" in str(setup.missing_tool("unix", ["python3"]))
    (tmp_path / "Python.h").touch()
    assert setup.missing_tool("unix", ["python3"]) is None
    assert setup.missing_tool("msvc", []) is None


def test_no_such_build(unbuilt: Path) -> None:
    done = checkout.build(unbuilt, QUARTET_BUILD="fast")
    assert done.returncode == 1
    assert (
        one_line(done.stderr).strip()
        == "quartet: QUARTET_BUILD is 'fast', not one of release, debug, trace, asan, ubsan, "
        "tsan, fuzz"
    )


@pytest.mark.parametrize("game", WHOLE_GAMES)
def test_an_agent_without_compiled_modules(unbuilt: Path, tmp_path: Path, game: str) -> None:
    """Expect one line. In line-protocol games a simple player plays instead."""
    done = checkout.python(unbuilt, "-m", registry.GAMES[game], str(tmp_path))
    plays = registry.load(game, "reference").INFO.lines is not None
    assert (done.returncode == 0) == plays
    assert "pip install" in one_line(done.stderr)


def test_a_uai_program_without_compiled_modules(unbuilt: Path) -> None:
    done = checkout.python(unbuilt, "-m", "ataxx", "--uai")
    assert done.returncode == 1
    assert "build the compiled modules first" in one_line(done.stderr)


@pytest.mark.parametrize(
    "command", [["perft", WHOLE_GAMES[0], "1"], ["bench"], ["games", WHOLE_GAMES[0]]]
)
def test_commands_without_compiled_modules(unbuilt: Path, command: list[str]) -> None:
    done = checkout.python(unbuilt, "-m", "quartet", *command)
    assert done.returncode != 0
    assert "pip install" in one_line(done.stderr)


def test_every_extension_has_a_stub() -> None:
    sources = [
        path for room in ("core", *registry.GAMES.values()) for path in (ROOT / room).rglob("*.pyx")
    ]
    assert sources
    assert [str(path) for path in sources if not path.with_suffix(".pyi").exists()] == []
