"""The first code of a bundle: it loads the compiled core from the data, or falls back to plain
Python.

`build/bundle.py` writes this file and all Python modules of the agent, each as a function, into one
file. So they are compiled together and can play without the core. The packer fills in the values in
capitals below.

The core is one shared object. It has every extension module once per processor level, under
separate names. The data starts with the core, so that the data's file itself can be opened as a
shared object; if that is not allowed, a copy is opened. The weights follow.

    way     in place, or a copy in memory (memfd), in /dev/shm, /tmp or the working directory: the
            first that can be opened
    level   the best that the processor's flags allow; a forked child loads it and searches, and
            must find the move that the packer found

If a file is damaged, a machine unknown, or a core crashes, hangs or answers wrongly, the loader
tries the next way or level. Finally the plain Python modules play alone. Nothing here raises or
writes to standard output, so a failure never costs the game.
"""

from __future__ import annotations

import os
import sys
import time
import zlib
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

PACKAGE: str = ""
"""The game's package."""
PYTHON: dict[str, tuple[CodeType, bool]] = {}
"""Plain module -> its code, and True for a package."""
EXTENSIONS: tuple[str, ...] = ()
"""The extension modules, each after the modules that it imports."""
LEVELS: dict[str, tuple[str, ...]] = {}
"""Processor level -> its flags in Linux; the best level comes first."""
RESOURCES: dict[str, tuple[int, int]] = {}
"""Package data, such as "GAME/weights.bin" -> its offset and size in the data."""
SIZE: int = 0
"""Bytes of the data."""
CORE_SIZE: int = 0
"""Bytes of the shared object at the start of the data."""
CHECKSUM: int = 0
"""CRC-32 of the data."""
SELF_TEST: tuple[int, tuple[int, ...]] = (0, ())
"""Nodes of a search from the start position, and its move."""
EMBEDDED: str | None = None
"""The data, compressed, as text; None if it is a file."""

FILE = "data.bin"
# Each copy has a unique name and is removed once it is open.
COPIES = ("/dev/shm", "/tmp", ".")  # noqa: S108
PATIENCE = 1.0
"""Time limit of the self-test in seconds; it takes milliseconds."""
PASSED, FAILED, NOT_OPENED = 0, 1, 3
"""Exit statuses of a self-test."""


class Bundle:
    """An importer for `sys.meta_path`: it provides the modules of this bundle.

    Attributes:
        data: The data; empty if there is none.
        core: Path of the shared object; None without a core.
        level: Processor level.
    """

    def __init__(self) -> None:
        self.data = b""
        self.core: str | None = None
        self.level = ""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG002
        if name in PYTHON:
            spec = ModuleSpec(name, self, is_package=PYTHON[name][1])  # type: ignore[arg-type]
            spec.origin = place(name) + ("/__init__.py" if PYTHON[name][1] else ".py")
            spec.has_location = True
            return spec
        if name in EXTENSIONS and self.core is not None:
            return ModuleSpec(name, self, origin=self.core)  # type: ignore[arg-type]
        if name.partition(".")[0] in PYTHON:
            raise ModuleNotFoundError(f"{name} is missing", name=name)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        if spec.name in PYTHON:
            return None
        inner = f"{spec.name.replace('.', '_')}_{self.level}"
        module = ExtensionFileLoader(inner, str(self.core)).create_module(
            ModuleSpec(inner, None, origin=self.core)
        )
        module.__name__, module.__package__, module.__file__ = (
            spec.name,
            spec.parent,
            place(spec.name) + ".so",
        )
        return module

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ in PYTHON:
            # Importing a module runs its code.
            exec(PYTHON[module.__name__][0], vars(module))  # noqa: S102
        else:
            ExtensionFileLoader(module.__name__, str(self.core)).exec_module(module)

    def get_data(self, path: str) -> bytes:
        """Return package data by its path next to a module's `__file__`. Raises OSError."""
        name = path.removeprefix(place("")).replace(os.sep, "/")
        if name not in RESOURCES or not self.data:
            raise FileNotFoundError(f"{path} is missing")
        begin, size = RESOURCES[name]
        return self.data[begin : begin + size]


def place(name: str) -> str:
    """Return the apparent path of a module, without the ending. It is below this file, as in an
    archive, so that no other file can have it."""
    return f"{__file__}/{name.replace('.', '/')}"


def complain(text: str) -> None:
    """Print one line on standard error, if it is open."""
    try:
        print(f"{PACKAGE}: {text}", file=sys.stderr, flush=True)
    except (OSError, ValueError, AttributeError):
        pass


def read_data() -> tuple[bytes, str | None]:
    """Return the data and the path of its file; empty if it is missing or damaged."""
    try:
        if EMBEDDED is not None:
            from base64 import b85decode  # noqa: PLC0415

            path, data = None, zlib.decompress(b85decode(EMBEDDED.replace("\n", "")))
        else:
            here = os.path.dirname(__file__)
            path = next(
                (
                    name
                    for name in (
                        FILE,
                        os.path.join(here, FILE),
                        os.path.join(here, os.pardir, FILE),
                    )
                    if os.path.exists(name)
                ),
                FILE,
            )
            with open(path, "rb") as file:
                data = file.read(SIZE + 1)
    except (OSError, ValueError, zlib.error, MemoryError, ImportError) as error:
        complain(f"no compiled core: {error}")
        return b"", None
    if len(data) != SIZE or zlib.crc32(data) != CHECKSUM:
        complain(
            f"no compiled core: the data is damaged, or belongs to something else ({len(data)} "
            f"bytes of {SIZE})"
        )
        return b"", None
    return data, path


def ways(data: bytes, path: str | None) -> Iterator[tuple[str, str]]:
    """Yield the ways to open the shared object: name and path. Each removes its copy afterwards."""
    # Tests set this, and QUARTET_LEVELS.
    allowed = os.environ.get("QUARTET_WAYS", "").split() or None

    if path is not None and (allowed is None or "in-place" in allowed):
        yield "in-place", os.path.abspath(path)
    core = memoryview(data)[:CORE_SIZE]
    if allowed is None or "memfd" in allowed:
        try:
            number = os.memfd_create(PACKAGE)
        except (OSError, AttributeError):
            pass
        else:
            with open(number, "wb") as file:
                file.write(core)
                file.flush()
                yield "memfd", f"/proc/self/fd/{number}"
    for folder in COPIES:
        if allowed is not None and folder not in allowed:
            continue
        copy = os.path.join(
            os.path.abspath(folder), f"{PACKAGE}-{os.getpid()}-{time.time_ns():x}.so"
        )
        try:
            try:
                with open(copy, "xb") as file:
                    file.write(core)
                yield folder, copy
            finally:
                os.unlink(copy)
        except OSError:
            pass


def features() -> set[str]:
    """Return the features of this processor by their names in Linux; empty on other systems."""
    try:
        with open("/proc/cpuinfo", "rb", buffering=0) as file:
            text = file.read(1 << 13)
    except OSError:
        return set()
    return set(text.partition(b"\nflags")[2].partition(b"\n")[0].decode("ascii", "replace").split())


def levels() -> list[str]:
    """Return the levels that this processor supports, the best first. All support the last one."""
    have = features()
    allowed = os.environ.get("QUARTET_LEVELS", "").split() or LEVELS
    return [
        level for level, needed in LEVELS.items() if have.issuperset(needed) and level in allowed
    ]


class CodeFlags(ModuleType):
    """A substitute for `inspect`, which takes longer to import than the core. Cython's modules need
    only these numbers."""

    (
        CO_OPTIMIZED,
        CO_NEWLOCALS,
        CO_VARARGS,
        CO_VARKEYWORDS,
        CO_GENERATOR,
        CO_COROUTINE,
        CO_ASYNC_GENERATOR,
    ) = 1, 2, 4, 8, 32, 128, 512

    def __getattr__(self, name: str) -> object:
        """Import the real module for anything else."""
        sys.modules.pop("inspect", None)
        vars(self).update(vars(__import__("inspect")))
        return getattr(sys.modules["inspect"], name)


def adopt() -> None:
    """Import the core. Raises ImportError if it cannot be opened."""
    flags = sys.modules.setdefault("inspect", CodeFlags("inspect"))
    try:
        for name in EXTENSIONS:
            __import__(name)
    finally:
        if isinstance(flags, CodeFlags) and sys.modules.get("inspect") is flags:
            del sys.modules["inspect"]


def search() -> tuple[int, ...]:
    """Return the core's move from the start position."""
    players = __import__(f"{PACKAGE}.players", fromlist=["*"])
    rules = __import__(
        f"{PACKAGE}.{'rules' if f'{PACKAGE}.rules' in EXTENSIONS else 'reference'}", fromlist=["*"]
    )
    limits = __import__("core.limits", fromlist=["*"])
    move: tuple[int, ...] = (
        players.player(players.NAMES[0], 0)
        .choose(rules.Position.start(), limits.Limits(nodes=SELF_TEST[0]))
        .move
    )
    return move


def try_out(level: str) -> int:
    """Load the core and search in a child process, which may crash or hang. Return its status."""
    try:
        child = os.fork()
    except OSError:  # no test, no risk
        return PASSED if level == next(reversed(LEVELS)) else FAILED
    if child == 0:
        status = FAILED
        try:
            adopt()
            status = PASSED if search() == SELF_TEST[1] else FAILED
        except ImportError:
            status = NOT_OPENED
        finally:
            os._exit(status)
    deadline = time.monotonic() + PATIENCE
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(child, 9)
            deadline += PATIENCE
        time.sleep(0.0002)


def load() -> str:
    """Install the importer, with the compiled modules if possible. Return the way and the level."""
    bundle = Bundle()
    sys.meta_path.insert(0, bundle)
    if not EXTENSIONS:
        return "plain Python, as it was packed"
    bundle.data, path = read_data()
    choice = levels() if bundle.data else []
    for way, core in ways(bundle.data, path) if choice else ():
        for level in list(choice):
            bundle.core, bundle.level = core, level
            outcome = try_out(level)
            if outcome == PASSED:
                adopt()
                return f"{way}, {level}"
            if outcome == NOT_OPENED:
                break
            complain(f"the core for {level} has failed its test ({outcome})")
            choice.remove(level)
    if bundle.data:
        complain("no compiled core: it cannot be opened here, or does not work")
    bundle.core = None
    return "plain Python"


def main() -> None:
    """Run the agent; this function does not return."""
    started = time.perf_counter()
    how = load()
    if "QUARTET_INFO" in os.environ:
        complain(f"{how}, {1000 * (time.perf_counter() - started):.1f} ms")
    status = __import__(f"{PACKAGE}.__main__", fromlist=["*"]).main(sys.argv[1:])
    # All answers have been flushed. A regular exit of the interpreter could only fail.
    os._exit(status)
