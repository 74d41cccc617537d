"""The first code of an executable file, before any import of the project. `build/freeze.py` adds it
with a call of `run`.

PyInstaller's bootloader has unpacked everything into a folder, `sys._MEIPASS`, and started Python,
whose modules are in an archive there. The project's extension modules are linked into one file,
which takes less time to unpack, and less time for an antivirus program to scan.
"""

from __future__ import annotations

import os
import sys

# The parts of importlib that are in the interpreter itself.
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import ExtensionFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import NoReturn


class Extensions:
    """An importer for `sys.meta_path`: it provides the project's extension modules.

    `files` has for each module its file's name and its own name in that file, see
    `build/freeze.py`.
    """

    def __init__(self, folder: str, files: dict[str, tuple[str, str]]) -> None:
        self.folder = folder
        self.files = files

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG002
        return ModuleSpec(name, self) if name in self.files else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        file, inner = self.files[spec.name]
        path = os.path.join(self.folder, file)
        module = ExtensionFileLoader(inner, path).create_module(
            ModuleSpec(inner, None, origin=path)
        )
        # Next to its package's data, as if the file were there.
        place = os.path.join(self.folder, *spec.name.split("."))
        module.__name__, module.__package__, module.__file__ = spec.name, spec.parent, place
        return module

    def exec_module(self, module: ModuleType) -> None:
        file, _ = self.files[module.__name__]
        ExtensionFileLoader(module.__name__, os.path.join(self.folder, file)).exec_module(module)


def run(package: str, files: dict[str, tuple[str, str]]) -> NoReturn:
    """Run the agent of a package; this function does not return."""
    sys.frozen = True  # type: ignore[attr-defined]
    sys.meta_path.insert(0, Extensions(sys._MEIPASS, files))  # type: ignore[attr-defined]  # noqa: SLF001
    try:
        frozen = __import__("core.agent.executable", fromlist=["*"])
        main = __import__(package + ".__main__", fromlist=["*"]).main
    except Exception as error:  # noqa: BLE001  (a line, not a traceback)
        print(
            f"{sys.executable} is damaged, or not made for this machine: {error}",
            file=sys.stderr,
            flush=True,
        )
        os._exit(1)
    status = frozen.run(main, sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass
    # A regular exit of the interpreter only costs time.
    os._exit(status)
