"""`quartet report`: one text of what works here."""

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
def test_everything_works_here_and_a_program_does_not(tmp_path: Path) -> None:
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


def test_a_step_that_fails_keeps_what_it_said_last() -> None:
    code = "for n in range(99): print('line', n)\nprint('\\x1b[2J'); raise SystemExit(3)"
    text, is_good = report._step("a step", [sys.executable, "-c", code])
    assert not is_good
    head, *said = text.splitlines()
    assert head.startswith("FAILED  a step: ")
    assert head.endswith("exit status 3")
    assert len(said) == report.LAST_LINES
    assert text.isascii()
    assert "\x1b" not in text


def test_the_user_stays_unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/home/somebody"))
    assert report._private(f"{ROOT}/x of /home/somebody/y") == "QUARTET/x of ~/y"


def test_it_must_be_written_somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "_told", lambda *_, **__: iter([("quartet", True)]))
    with pytest.raises(QuartetError, match=r"cannot write .*: No such file"):
        report.command.main(["--out", str(tmp_path / "no" / "x")], standalone_mode=False)
