"""Subjects of commits are checked from the last release on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import history

if TYPE_CHECKING:
    from pathlib import Path

OLD = "An old commit, from before the rule; no functional change"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with one old commit, which sets a version."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "a")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.org")
    history.git(tmp_path, "init", "-q")
    (tmp_path / "pyproject.toml").write_text('version = "1.0.0"\n')
    history.git(tmp_path, "add", "pyproject.toml")
    commit(tmp_path, OLD)
    return tmp_path


def commit(repository: Path, *subjects: str) -> None:
    for subject in subjects:
        history.git(repository, "commit", "-q", "-a", "--allow-empty", "-m", subject)
        assert history.git(repository, "log", "-1", "--format=%s") == subject


def test_good_subjects(repository: Path) -> None:
    commit(repository, "core.nn: keep results in one store", "x: " + "x" * 69, "docs: say WIP")
    assert history.complaints(repository) == []


@pytest.mark.parametrize(
    ("subject", "why"),
    [
        ("x: " + "x" * 70, "73 characters, 72 are allowed"),
        ("x", "begin with the area"),
        ("Keep results in one store", "begin with the area"),
        ("WIP", "finish the commit"),
        ("wip: arena", "finish the commit"),
        ("fixup! arena: keep results", "finish the commit"),
        ("arena: rename; No functional change", 'move "No functional change" into the body'),
    ],
)
def test_bad_subjects(repository: Path, subject: str, why: str) -> None:
    commit(repository, "arena: good", subject, "arena: good")
    (complaint,) = history.complaints(repository)
    assert why in complaint
    assert complaint.endswith(f": {subject}")


def test_history_starts_at_the_last_release(repository: Path) -> None:
    commit(repository, "WIP")
    old = history.git(repository, "rev-parse", "HEAD")
    assert len(history.complaints(repository)) == 1
    assert history.complaints(repository, old) == []
    (repository / "pyproject.toml").write_text('version = "1.1.0"\n')
    commit(repository, "release: 1.1.0", "WIP again")
    assert len(history.complaints(repository)) == len(history.complaints(repository, old)) == 1
    history.git(repository, "tag", "v1.2.0")
    assert history.complaints(repository, old) == []
