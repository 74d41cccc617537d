"""Make executables for this machine, with its Python and its compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING

from build import freeze, sources
from core.errors import QuartetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LEVEL = "x86-64-v2"
"""Processor level: any PC of the last fifteen years."""
LIBRARY = "agent.so"


class Native(freeze.System):
    """This machine."""

    @classmethod
    def here(cls) -> Native:
        """Describe this machine. Raises QuartetError if its Python cannot be packed."""
        home = freeze.pyinstaller()
        from PyInstaller import PLATFORM  # type: ignore[import-untyped, unused-ignore]  # noqa: PLC0415  (an extra)
        from PyInstaller.depend.bindepend import get_python_library_path  # type: ignore[import-untyped, unused-ignore]  # noqa: PLC0415

        library = get_python_library_path()
        if library is None:
            raise QuartetError(
                "this Python has no shared library, which executables need (Debian and Ubuntu: apt "
                "install python3-dev)"
            )
        suffix = ".exe" if sys.platform == "win32" else ""
        compiled = sysconfig.get_config_var("DESTSHARED") or str(Path(sys.base_prefix, "DLLs"))
        return cls(
            home / "bootloader" / PLATFORM / f"run{suffix}",
            # PyInstaller takes the library or a link to it from a set, now this, now that
            Path(library).resolve(),
            suffix,
            Path(sysconfig.get_path("stdlib")),
            (Path(compiled),),
            tuple(EXTENSION_SUFFIXES),
        )

    def extensions(
        self, modules: Mapping[str, Path], scratch: Path
    ) -> tuple[list[Path], dict[str, tuple[str, str]]]:
        if not sys.platform.startswith("linux"):
            return built_by_setup(modules, scratch)
        compiler = sources.Compiler.here(LEVEL)
        objects = compiler.objects(
            sources.translate(modules), {name: inner_name(name) for name in modules}
        )
        compiler.run(
            "-shared",
            "-s",
            "-static-libgcc",
            "-Wl,--build-id=none",
            "-o",
            str(scratch / LIBRARY),
            *map(str, objects.values()),
            "-lm",
        )
        return [scratch / LIBRARY], {name: (LIBRARY, name.replace(".", "_")) for name in modules}

    def needed(self, libraries: Iterable[Path]) -> list[Path]:
        from PyInstaller.depend.bindepend import binary_dependency_analysis  # type: ignore[import-untyped, unused-ignore]  # noqa: PLC0415

        given = list(libraries)
        found = binary_dependency_analysis([(file.name, str(file), "BINARY") for file in given])
        names = {file.name for file in given}
        return sorted(
            Path(source)
            for name, source, kind in found
            if kind == "BINARY" and Path(name).name not in names
        )

    def tidy(self, library: Path, scratch: Path) -> Path:
        if not sys.platform.startswith("linux") or shutil.which("strip") is None:
            return library
        target = scratch / library.name
        shutil.copyfile(library, target)
        sources.tool("strip", str(target))
        return target

    def finish(self, executable: Path) -> None:
        if sys.platform == "darwin":
            from PyInstaller.utils import osx  # type: ignore[import-untyped, unused-ignore]  # noqa: PLC0415

            osx.remove_signature_from_binary(str(executable))
            osx.fix_exe_for_code_signing(str(executable))
            osx.sign_binary(str(executable))


def inner_name(module: str) -> list[str]:
    """Return flags that put the package's name into the two symbols that a module exports, so that
    no two modules export the same."""
    flag = f"__pyx_module_is_main_{module.replace('.', '__')}"
    return [
        f"-DPyInit_{module.rpartition('.')[2]}=PyInit_{module.replace('.', '_')}",
        f"-D{flag}={flag}_",
    ]


def built_by_setup(
    modules: Mapping[str, Path], scratch: Path
) -> tuple[list[Path], dict[str, tuple[str, str]]]:
    """Compile a file per module, as installing the project does, for compilers other than gcc.
    Raises QuartetError."""
    target = scratch / "lib"
    environment = {
        **os.environ,
        "SOURCE_DATE_EPOCH": sources.EPOCH,
        "QUARTET_BUILD": "release",
        "QUARTET_CPU": LEVEL,
    }
    # For cl and macOS: no times in their output.
    environment |= {"CL": "/Brepro", "LINK": "/Brepro", "ZERO_AR_DATE": "1"}
    command = [
        sys.executable,
        "setup.py",
        "--quiet",
        "build_ext",
        "--build-lib",
        str(target),
        "--build-temp",
        str(scratch / "temp"),
    ]
    done = subprocess.run(
        command, cwd=sources.ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise QuartetError(
            f"the extension modules cannot be compiled: "
            f"{(done.stderr.strip().splitlines() or ['no reason given'])[-1]}"
        )
    files, places = [], {}
    for name in modules:
        made = target.joinpath(*name.split(".")).with_suffix(EXTENSION_SUFFIXES[0])
        file = made.rename(scratch / (name.replace(".", "_") + made.suffix))
        files.append(file)
        places[name] = (file.name, name.rpartition(".")[2])
    return files, places
