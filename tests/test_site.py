"""The site is built from the documents, and every link has a target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import checkout

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def test_the_site_has_the_documents_and_no_dead_link(tmp_path: Path) -> None:
    project = checkout.copy(tmp_path / "checkout")
    done = checkout.python(project, "-m", "build.site")
    assert done.returncode == 0, done.stderr
    site = project / ".build" / "site"
    assert "docs/ugolki-contest.ru.html" in (site / "index.html").read_text("utf-8")
    reference = (site / "docs" / "reference.html").read_text("utf-8")
    assert 'id="quartet.api.Game.play"' in reference
    guide = project / "docs" / "play.md"
    for dead in ("nowhere.md", "review.md#nowhere"):
        text = guide.read_text("utf-8")
        guide.write_text(f"{text}\n[dead]({dead})\n", "utf-8")
        done = checkout.python(project, "-m", "build.site")
        guide.write_text(text, "utf-8")
        assert done.returncode != 0
        assert "nowhere" in done.stderr
