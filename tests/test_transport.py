"""The agent's side of the file exchange: whatever happens, the best answer so far is in place and
stderr has one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.agent.files import BAD_INPUT, FAILED, GOOD, FileExchange, exchange

Answer = Callable[[str], None]


@pytest.fixture
def files(tmp_path: Path) -> FileExchange:
    (tmp_path / "in").write_text("question")
    (tmp_path / "out").write_text("old")
    return FileExchange(str(tmp_path), "in", "out")


def test_answers_replace_each_other(files: FileExchange, tmp_path: Path) -> None:
    seen = []

    def search(question: bytes, answer: Answer) -> None:
        assert question == b"question"
        for text in ("one", "two", "two"):
            answer(text)
            seen.append((tmp_path / "out").read_text())

    files.forget()
    assert not (tmp_path / "out").exists()
    assert exchange(files, search) == GOOD
    assert seen == ["one", "two", "two"]


def test_late_answers_come_once(files: FileExchange, tmp_path: Path) -> None:
    def search(_: bytes, answer: Answer) -> None:
        answer("one")
        answer("two")
        assert not (tmp_path / "out").exists()

    files.early = False
    files.forget()
    assert exchange(files, search) == GOOD
    assert (tmp_path / "out").read_text() == "two"


def test_a_bug_does_not_lose_the_answer(
    files: FileExchange, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def search(_: bytes, answer: Answer) -> None:
        answer("good")
        raise ZeroDivisionError("a bug\nof ours")

    assert exchange(files, search) == GOOD
    assert (tmp_path / "out").read_text() == "good"
    assert capsys.readouterr().err == "internal error: ZeroDivisionError: a bug of ours\n"


def test_a_bug_without_an_answer_fails(
    files: FileExchange, capsys: pytest.CaptureFixture[str]
) -> None:
    def search(_: bytes, answer: Answer) -> None:
        raise ZeroDivisionError

    assert exchange(files, search) == FAILED
    assert capsys.readouterr().err.count("\n") == 1


def test_complaints_come_with_the_answer(
    files: FileExchange, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def search(_: bytes, answer: Answer) -> str:
        answer("a guess")
        return "it is torn"

    assert exchange(files, search) == BAD_INPUT
    assert (tmp_path / "out").read_text() == "a guess"
    assert capsys.readouterr().err == f"{tmp_path}/in: it is torn\n"


def test_a_target_that_cannot_be_written(
    files: FileExchange, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out.new").mkdir()  # where the draft goes

    def search(_: bytes, answer: Answer) -> None:
        answer("one")

    assert exchange(files, search) == BAD_INPUT
    assert "out.new" in capsys.readouterr().err


def test_once_written_a_failing_rewrite_is_no_disaster(files: FileExchange, tmp_path: Path) -> None:
    def search(_: bytes, answer: Answer) -> None:
        answer("one")
        (tmp_path / "out.new").mkdir()
        answer("two")

    assert exchange(files, search) == GOOD
    assert (tmp_path / "out").read_text() == "one"
