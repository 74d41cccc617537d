"""Results of the trial with libFuzzer. Only a long trial compiles the harness."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from typing import TYPE_CHECKING

import pytest

from tests.games import ROOT
from tests.long import libfuzzer
from tests.long.catalogue import TRIALS
from tests.readers import TARGETS
from tests.tools import need

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [name.partition("-")[2] for name in TRIALS if name.startswith("libfuzzer-")]


def test_a_harness_is_for_a_reader() -> None:
    assert NAMES
    assert set(NAMES) <= set(TARGETS)


@pytest.mark.parametrize(
    ("said", "status", "expected"),
    [
        ("stat::number_of_executed_units: 55501", 0, (55501, "")),
        (
            "x.h:3:4: runtime error: shift exponent 64 is too large\nTest unit written to /a/b-1",
            77,
            (0, "x.h:3:4: runtime error: shift exponent 64 is too large: input /a/b-1"),
        ),
        (
            f"ERROR: timeout\nTest unit written to {ROOT}/.build/b-1",
            70,
            (0, "ERROR: timeout: input .build/b-1"),
        ),
        ("it was killed", 137, (0, "status 137: it was killed\n: input unknown")),
    ],
)
def test_what_a_harness_prints(
    said: str,
    status: int,
    expected: tuple[int, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(libfuzzer, "FOLDER", tmp_path)
    monkeypatch.setattr(libfuzzer, "TREE", tmp_path)
    harness = tmp_path / "harness"
    harness.write_text(f"#!{sys.executable}\nimport sys\nsys.stderr.write({said!r} + '\\n')\n")
    with harness.open("a") as file:
        file.write(f"sys.exit({status})\n")
    harness.chmod(0o755)
    assert libfuzzer.fuzz(harness, "positions", 1, 1) == expected
    assert list((tmp_path / "libfuzzer" / "positions").iterdir())


def test_the_harness_is_valid_c() -> None:
    compiler = need("gcc", "clang", "gcc")
    words = [compiler, "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    include = f"-I{sysconfig.get_path('include')}"
    subprocess.run([*words, include, "tests/long/reader.c"], cwd=ROOT, check=True)
