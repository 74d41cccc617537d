"""Fuzz the compiled readers with libFuzzer, which chooses inputs that reach new C code:
`python -m tests.long.trials libfuzzer-weights`.

A copy of the project is compiled with clang, coverage, AddressSanitizer and UBSan; `reader.c` calls
a reader of `tests/readers.py`. The corpus stays in `.build`.
"""

from __future__ import annotations

import hashlib
import os
import re
import resource
import subprocess
import sys
import sysconfig
from contextlib import contextmanager
from typing import TYPE_CHECKING

from core.errors import QuartetError
from quartet.registry import ROOT
from tests.long.fuzz import FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.long.progress import Attempt

TREE = ROOT / ".build" / "libfuzzer"
FLAGS = ["-O1", "-g", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"]
ATTEMPT_SECONDS = 60
INPUT_SECONDS = 300
"""Seconds after which a single input has hung, also on a busy machine."""


def build() -> Path:
    """Compile a copy of this checkout, and return the harness. Raises QuartetError."""
    TREE.mkdir(parents=True, exist_ok=True)
    python = sysconfig.get_config_vars()
    library, name = python["LIBDIR"], f"-lpython{python['LDVERSION']}"
    harness = TREE / "reader"
    copy = (
        "git ls-files --cached --others --exclude-standard -z | "
        f"tar --create --null --files-from=- | tar --extract --directory='{TREE}'"
    )
    compiling = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    linking = [
        *("clang", *FLAGS, "tests/long/reader.c", "-o", str(harness), "-rdynamic"),
        *(f"-I{python['INCLUDEPY']}", f"-L{library}", f"-Wl,-rpath,{library}", name),
    ]
    environment = {**os.environ, "CC": "clang", "QUARTET_BUILD": "fuzz", "PYTHONPATH": str(TREE)}
    for words, folder in ((["sh", "-c", copy], ROOT), (compiling, TREE), (linking, TREE)):
        done = subprocess.run(
            words, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            last = " | ".join(done.stderr.splitlines()[-3:])
            raise QuartetError(f"{words[0]} ended with {done.returncode}: {last}")
    return harness


def corpus(name: str) -> Path:
    """Return the folder of a reader's inputs so far, with all valid ones."""
    from tests.readers import TARGETS  # noqa: PLC0415  (it imports all parsers)

    folder = FOLDER / "libfuzzer" / name
    folder.mkdir(parents=True, exist_ok=True)
    for data in TARGETS[name].seeds():
        (folder / hashlib.sha256(data).hexdigest()[:12]).write_bytes(data)
    return folder.resolve()


def fuzz(harness: Path, name: str, seed: int, seconds: int) -> tuple[int, str]:
    """Fuzz a reader. Returns the number of inputs, and the finding, "" if there is none."""
    inputs = corpus(name)
    done = subprocess.run(
        [
            *(str(harness), f"-seed={seed}", f"-max_total_time={seconds}", "-rss_limit_mb=0"),
            *(f"-timeout={INPUT_SECONDS}", f"-artifact_prefix={inputs.parent}/{name}-"),
            *("-print_final_stats=1", str(inputs)),
        ],
        cwd=TREE,
        env={
            **os.environ,
            "PYTHONPATH": str(TREE),
            "PYTHONMALLOC": "malloc",
            "ASAN_OPTIONS": "detect_leaks=0:quarantine_size_mb=16",
            "QUARTET_PYTHON": sys.executable,
            "QUARTET_READER": name,
        },
        capture_output=True,
        check=False,
    )
    text = done.stderr.decode("utf-8", "replace")
    executed = re.search(r"number_of_executed_units: (\d+)", text)
    if done.returncode == 0 and executed:
        return int(executed[1]), ""
    found = re.search(r"^.*(?:ERROR|runtime error|Error: ).*$", text, re.MULTILINE)
    artifact = re.search(r"Test unit written to (\S+)", text)
    what = found[0] if found else f"status {done.returncode}: {text[-200:]}"
    place = artifact[1].removeprefix(f"{ROOT}/") if artifact else "unknown"  # records are public
    return 0, f"{what}: input {place}"


def trial(name: str) -> Callable[[], AbstractContextManager[Attempt]]:
    """Return a trial of a reader. Each attempt is a minute, and counts its processor seconds."""

    @contextmanager
    def started() -> Iterator[Attempt]:
        harness = build()

        def attempt(number: int) -> tuple[int, str]:
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            count, finding = fuzz(harness, name, number + 1, ATTEMPT_SECONDS)
            print(f"libfuzzer-{name}: {count:,} inputs", file=sys.stderr, flush=True)
            return round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before), finding

        yield attempt

    return started
