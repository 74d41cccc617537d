"""What runs first in a bundle: it finds the compiled core in the data and chooses it, or does
without. `build/bundle.py` puts it together.

This file ends up in one with all Python modules of the agent, each as a function (see
`build/bundle.py`), so that they are compiled with it, and play on when there is nothing else. The
values in capitals below are what the packer fills in.

The core is one shared object with every extension module once for each level of processor, under
names of its own. The data begins with it, so that the data's file itself can be opened as a shared
object; where that is not allowed, a copy is. Then come the weights.

    way     in place, or a copy in memory (memfd), in /dev/shm, /tmp, the working directory: the
            first by which it can be opened
    level   the best that the processor's flags allow; a forked child loads it and searches, and
            must find what the packer found

A damaged file, an unknown machine, a core that crashes, hangs or errs: the next way or level is
tried, in the end the plain Python modules play alone. Whatever it comes to is no fault of the
game's: nothing here raises, and standard output is not touched.
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
"""Plain module -> its code, and whether it is a package."""
EXTENSIONS: tuple[str, ...] = ()
"""The extension modules, each after those that it imports."""
LEVELS: dict[str, tuple[str, ...]] = {}
"""Level of processor -> the flags by which Linux tells of it; the best comes first."""
RESOURCES: dict[str, tuple[int, int]] = {}
"""Package data, e.g. "GAME/weights.bin" -> where it begins in the data, and how long it is."""
SIZE: int = 0
"""Bytes of the data."""
CORE_SIZE: int = 0
"""Bytes of the shared object, with which it begins."""
CHECKSUM: int = 0
"""CRC-32 of the data."""
SELF_TEST: tuple[int, tuple[int, ...]] = (0, ())
"""Nodes of a search from the start position, and the move that it finds."""
EMBEDDED: str | None = None
"""The data itself, compressed, as text; None where it is a file."""

FILE = "data.bin"
# Each copy has a name of its own, and is gone when it has been opened.
COPIES = ("/dev/shm", "/tmp", ".")  # noqa: S108
PATIENCE = 1.0
"""Seconds that the self-test may take; it takes milliseconds."""
PASSED, FAILED, NOT_OPENED = 0, 1, 3
"""How a self-test ends."""


class Bundle:
    """Gives Python the modules of this bundle: an importer, as `sys.meta_path` has them.

    Attributes:
        data: the whole data, empty where there is none.
        core: the path under which the shared object can be opened, None to do without; level: of
            the processor.
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
            # That is what importing is.
            exec(PYTHON[module.__name__][0], vars(module))  # noqa: S102
        else:
            ExtensionFileLoader(module.__name__, str(self.core)).exec_module(module)

    def get_data(self, path: str) -> bytes:
        """Package data, by its path beside some module's `__file__`. Raises OSError."""
        name = path.removeprefix(place("")).replace(os.sep, "/")
        if name not in RESOURCES or not self.data:
            raise FileNotFoundError(f"{path} is missing")
        begin, size = RESOURCES[name]
        return self.data[begin : begin + size]


def place(name: str) -> str:
    """Where a module seems to lie, without the ending: below this file, as in an archive, so that
    nothing else can lie there."""
    return f"{__file__}/{name.replace('.', '/')}"


def complain(text: str) -> None:
    """Say it on standard error, in a line; a closed one is no reason to fail."""
    try:
        print(f"{PACKAGE}: {text}", file=sys.stderr, flush=True)
    except (OSError, ValueError, AttributeError):
        pass


def read_data() -> tuple[bytes, str | None]:
    """The data, whole and sound, and the path of its file; empty where it is not to be had."""
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
    """The ways to open the shared object: name, path. What a way has made goes when the next is
    asked for, or none any more."""
    # for tests; the same of QUARTET_LEVELS
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
    """The features of this processor, as Linux calls them; none elsewhere."""
    try:
        with open("/proc/cpuinfo", "rb", buffering=0) as file:
            text = file.read(1 << 13)
    except OSError:
        return set()
    return set(text.partition(b"\nflags")[2].partition(b"\n")[0].decode("ascii", "replace").split())


def levels() -> list[str]:
    """The levels that this processor can have, the best first; the last one is what everybody
    has."""
    have = features()
    allowed = os.environ.get("QUARTET_LEVELS", "").split() or LEVELS
    return [
        level for level, needed in LEVELS.items() if have.issuperset(needed) and level in allowed
    ]


class CodeFlags(ModuleType):
    """Stands in for `inspect`, which takes longer to import than the core: Cython's modules want
    these numbers of it, and no more."""

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
        """Whoever wants more gets the real one."""
        sys.modules.pop("inspect", None)
        vars(self).update(vars(__import__("inspect")))
        return getattr(sys.modules["inspect"], name)


def adopt() -> None:
    """Import the core. Raises ImportError where it cannot be opened."""
    flags = sys.modules.setdefault("inspect", CodeFlags("inspect"))
    try:
        for name in EXTENSIONS:
            __import__(name)
    finally:
        if isinstance(flags, CodeFlags) and sys.modules.get("inspect") is flags:
            del sys.modules["inspect"]


def search() -> tuple[int, ...]:
    """What the core finds from the start position."""
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
    """Load the core and search, in a child process: it may crash or hang, and nothing comes of
    it."""
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
    """Make the modules known to Python, with the compiled ones if possible; gives the way and the
    level, for the curious."""
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
    """The whole program; it does not return."""
    started = time.perf_counter()
    how = load()
    if "QUARTET_INFO" in os.environ:
        complain(f"{how}, {1000 * (time.perf_counter() - started):.1f} ms")
    status = __import__(f"{PACKAGE}.__main__", fromlist=["*"]).main(sys.argv[1:])
    # Every answer has been flushed: what an interpreter does on its way out could only fail.
    os._exit(status)
