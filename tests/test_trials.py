"""Slices of long trials add up, and the table of docs/trust.md is made from them."""

from __future__ import annotations

import signal
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, NoReturn

import click
import pytest

from core.errors import QuartetError
from tests import readers
from tests.long import catalogue, table, trials
from tests.long.catalogue import TRIALS, LongTrial

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.long.progress import Attempt


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with one source file and no records."""
    (tmp_path / "tested.py").write_text("one = 1\n")
    monkeypatch.setattr(trials, "ROOT", tmp_path)
    monkeypatch.setattr(trials, "RECORDS", tmp_path / "records")
    return tmp_path


def trial(made: list[int], *failing: int) -> LongTrial:
    """Return a trial whose attempts count 5 each and record their numbers."""

    def attempt(number: int) -> tuple[int, str]:
        made.append(number)
        if number % 2 and number in failing:
            raise QuartetError("it\nbroke")
        return 5, "it failed" if number in failing else ""

    @contextmanager
    def started() -> Iterator[Attempt]:
        yield attempt

    return LongTrial("a trial", "games", 20, ("*.py",), started)


def test_a_slice_continues_where_the_last_one_ended() -> None:
    made: list[int] = []
    for _ in range(3):
        trials.run("x", trial(made), 0.0)
    assert made == [0, 1, 2]
    assert [(line.first, line.end, line.count) for line in trials.slices("x")] == [
        *((0, 1, 5), (1, 2, 5), (2, 3, 5))
    ]
    assert trials.done("x", trial(made)) == 15


def test_a_slice_ends_at_the_goal() -> None:
    made: list[int] = []
    assert trials.run("x", trial(made), 600.0).count == 20
    assert trials.run("x", trial(made), 0.0).count == 5  # beyond it, if asked for


def test_slices_of_other_sources_count_apart_and_no_number_is_used_twice(folder: Path) -> None:
    made: list[int] = []
    trials.run("x", trial(made), 0.0)
    (folder / "tested.py").write_text("one = 2\n")
    trials.run("x", trial(made), 0.0)
    assert made == [0, 1]
    assert trials.done("x", trial(made)) == 5
    row = table.row(trial(made), trials.slices("x"))
    assert "| 5 (10 with earlier versions) games | 20 |" in row


def test_findings_are_recorded_and_end_the_slice() -> None:
    made: list[int] = []
    line = trials.run("x", trial(made, 1, 2, 4), 60.0)
    assert line.findings == (
        *("attempt 1: it broke", "attempt 2: it failed", "attempt 4: it failed"),
    )
    assert made == [0, 1, 2, 3, 4]
    trials.note_fix("x", "fixed in 0123456")
    assert trials.slices("x")[-1].fixes == ("fixed in 0123456",)
    assert "attempt 4: it failed | fixed in 0123456 |" in table.row(trial(made), trials.slices("x"))


def test_what_remains_at_the_end_is_a_finding() -> None:
    @contextmanager
    def leaking() -> Iterator[Attempt]:
        yield lambda _: (1, "")
        raise QuartetError("1 processes remain")

    line = trials.run("x", trial([])._replace(open=leaking), 0.0)
    assert (line.count, line.findings) == (1, ("1 processes remain",))


def test_sigterm_ends_the_command_after_recording_the_slice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def attempt(number: int) -> tuple[int, str]:
        if number == 2:
            signal.raise_signal(signal.SIGTERM)
        return 5, ""

    handler = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(
        catalogue,
        "TRIALS",
        dict.fromkeys("xy", trial([])._replace(open=lambda: nullcontext(attempt))),
    )
    try:
        with pytest.raises(click.Abort):
            trials.main.main(["--seconds", "60", "x", "y"], standalone_mode=False)
    finally:
        signal.signal(signal.SIGTERM, handler)
    (line,) = trials.slices("x")
    assert (line.first, line.end, line.count) == (0, 2, 10)
    assert trials.slices("y") == []


@pytest.mark.parametrize(
    ("name", "before", "after", "same"),
    [
        ("a.py", 'def f():\n    return "#1"\n', 'def f():\n    return "#2"\n', False),
        ("a.py", 'say("""\none""")\n', 'say("""\ntwo""")\n', False),
        ("a.py", "x = 1  # why\n", "\n# Because.\nx = 1\n", True),
        ("a.py", '"""Old."""\nx = 1\n', '"""It is "new".\n\nDone.\n"""\nx = 1\n', True),
        ("a.pyx", "cdef int x = 1  # it's one\n", "cdef int x = 1\n", True),
        ("a.pyx", "cdef int x = 1  # one\n", "cdef int x = 2  # one\n", False),
        ("a.h", "int x; // it's one\n", "/* one,\n   not two */\nint x;\n", True),
        ("a.h", 'char *x = "//1";\n', 'char *x = "//2";\n', False),
    ],
)
def test_a_digest_ignores_comments(
    name: str, before: str, after: str, same: bool, folder: Path
) -> None:
    """But not strings that look like them."""
    digests = []
    for text in (before, after):
        (folder / name).write_text(text)
        digests.append(trials.digest((name,)))
    assert (digests[0] == digests[1]) is same


def test_a_slice_that_is_stopped_before_its_first_attempt_is_not_recorded() -> None:
    def compiles() -> NoReturn:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trials.run("x", trial([])._replace(open=compiles), 60)
    assert trials.slices("x") == []


def test_a_pattern_without_files_is_an_error() -> None:
    with pytest.raises(QuartetError, match=r"no source file is called \*.pyx"):
        trials.digest(("*.pyx",))


def test_every_trial_has_sources_and_every_parser_a_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert all(trials.digest(one.tested) for one in TRIALS.values())
    assert catalogue.PARSERS.keys() == readers.TARGETS.keys()


def test_the_table_of_the_document_is_the_one_of_the_records(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Compare with the output of `python -m tests.long.table`."""
    monkeypatch.undo()
    text = table.DOCUMENT.read_text(encoding="utf-8")
    assert table.rewritten(text) == text
