"""In the file exchange, the best answer so far is always in place, and stderr has one line."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from core.agent.files import BAD_INPUT, FAILED, GOOD, ExchangeFiles, exchange

Answer = Callable[[str], None]


@pytest.fixture
def files(tmp_path: Path) -> ExchangeFiles:
    (tmp_path / "in").write_text("question")
    (tmp_path / "out").write_text("old")
    return ExchangeFiles(str(tmp_path), "in", "out")


def test_answers_replace_each_other(files: ExchangeFiles, tmp_path: Path) -> None:
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


def test_a_better_answer_of_the_same_length_is_written_into_the_same_file(
    files: ExchangeFiles, tmp_path: Path
) -> None:
    """The system may flush a file that replaces another one, which takes time on a busy disk."""
    target, same = tmp_path / "out", []

    def search(_: bytes, answer: Answer) -> None:
        answer("one")
        with target.open("rb") as first:
            for text in ("two", "three"):
                answer(text)
                same.append(os.path.samestat(os.fstat(first.fileno()), target.stat()))
        target.unlink()
        answer("seven")

    assert exchange(files, search) == GOOD
    assert same == [True, False]
    assert target.read_text() == "seven"


def test_a_file_that_cannot_be_replaced_is_overwritten(
    files: ExchangeFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows does not replace a file that another program has open."""

    def deny(path: str, *_: str) -> None:
        if path.endswith("out"):
            raise PermissionError(13, "it is open", path)
        real(path)

    def deny_replacing(source: str, _: str) -> None:
        raise PermissionError(13, "it is open", source)

    real = os.unlink
    monkeypatch.setattr(os, "unlink", deny)
    monkeypatch.setattr(os, "replace", deny_replacing)
    seen = []

    def search(_: bytes, answer: Answer) -> None:
        for text in ("one", "seven"):
            answer(text)
            seen.append((tmp_path / "out").read_text())

    files.forget()
    assert (tmp_path / "out").read_text() == ""
    assert exchange(files, search) == GOOD
    assert seen == ["one", "seven"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def test_late_answers_are_written_once(files: ExchangeFiles, tmp_path: Path) -> None:
    def search(_: bytes, answer: Answer) -> None:
        answer("one")
        answer("two")
        assert not (tmp_path / "out").exists()

    files.early = False
    files.forget()
    assert exchange(files, search) == GOOD
    assert (tmp_path / "out").read_text() == "two"


def test_an_exception_keeps_the_answer(
    files: ExchangeFiles, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def search(_: bytes, answer: Answer) -> None:
        answer("good")
        raise ZeroDivisionError("a bug\nof ours")

    assert exchange(files, search) == GOOD
    assert (tmp_path / "out").read_text() == "good"
    assert capsys.readouterr().err == "internal error: ZeroDivisionError: a bug of ours\n"


def test_an_exception_without_an_answer_fails(
    files: ExchangeFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    def search(_: bytes, answer: Answer) -> None:
        raise ZeroDivisionError

    assert exchange(files, search) == FAILED
    assert capsys.readouterr().err.count("\n") == 1


def test_messages_are_printed_with_the_answer(
    files: ExchangeFiles, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def search(_: bytes, answer: Answer) -> str:
        answer("a guess")
        return "it is torn"

    assert exchange(files, search) == BAD_INPUT
    assert (tmp_path / "out").read_text() == "a guess"
    assert capsys.readouterr().err == f"{tmp_path}/in: it is torn\n"


def test_a_target_that_cannot_be_written(
    files: ExchangeFiles, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out.new").mkdir()  # the place of the draft

    def search(_: bytes, answer: Answer) -> None:
        answer("one")

    assert exchange(files, search) == BAD_INPUT
    assert "out.new" in capsys.readouterr().err


def test_a_failing_rewrite_keeps_the_written_answer(files: ExchangeFiles, tmp_path: Path) -> None:
    def search(_: bytes, answer: Answer) -> None:
        answer("one")
        (tmp_path / "out.new").mkdir()
        answer("three")

    assert exchange(files, search) == GOOD
    assert (tmp_path / "out").read_text() == "one"


def test_exit_statuses_are_those_of_the_documentation() -> None:
    assert (GOOD, FAILED, BAD_INPUT) == (0, 1, 2)


def test_a_written_answer_is_not_written_again(files: ExchangeFiles, tmp_path: Path) -> None:
    files.answer("one")
    (tmp_path / "out").unlink()
    files.close()
    assert not (tmp_path / "out").exists()
