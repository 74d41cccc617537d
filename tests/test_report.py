"""`quartet report` describes in one text what works on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import QuartetError
from quartet import registry
from quartet.cli import report
from tests.games import ROOT


def quartet(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "quartet", "report", *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_report_covers_this_machine_and_a_broken_program(tmp_path: Path) -> None:
    out = tmp_path / "report.txt"
    done = quartet("--out", str(out), "/no/such/program")
    assert done.returncode == 1
    text = out.read_text(encoding="utf-8")
    parts = [line for line in text.splitlines() if line.startswith(("ok ", "FAILED"))]
    assert [part[:6].strip() for part in parts] == ["ok"] * (3 * len(registry.GAMES) + 1) + [
        "FAILED"
    ]
    assert "No such file" in text
    assert str(ROOT) not in text
    assert [line.split(":")[0] for line in text.splitlines()[1:5]] == [
        "machine",
        "tools",
        "packages",
        "settings",
    ]


def test_a_failing_step_keeps_its_last_lines() -> None:
    code = "for n in range(99): print('line', n)\nprint('\\x1b[2J'); raise SystemExit(3)"
    text, is_good = report._step("a step", [sys.executable, "-c", code])
    assert not is_good
    head, *said = text.splitlines()
    assert head.startswith("FAILED  a step: ")
    assert head.endswith("exit status 3")
    assert len(said) == report.LAST_LINES
    assert text.isascii()
    assert "\x1b" not in text


def test_a_program_that_does_not_start_is_named() -> None:
    assert report._step("a step", ["/no/such"])[0].splitlines()[0].endswith("could not be started")


def test_the_report_does_not_name_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/home/someone"))
    assert report._private(f"{ROOT}/x of /home/someone/y") == "QUARTET/x of ~/y"


def test_an_unwritable_report_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "_parts", lambda *_, **__: iter([("quartet", True)]))
    with pytest.raises(QuartetError, match=r"cannot write .*: No such file"):
        report.command.main(["--out", str(tmp_path / "no" / "x")], standalone_mode=False)
