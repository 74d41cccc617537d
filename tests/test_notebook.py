"""The notebook runs from top to bottom and draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.games import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_notebook_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import nbformat  # noqa: PLC0415  (takes 5 s, also in runs without this test)
    from nbclient import NotebookClient  # noqa: PLC0415

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    notebook = nbformat.read(ROOT / "docs" / "review.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "outputs are not committed"
    NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(ROOT / "docs")}}
    ).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert outputs[0]["text"] == "agrees\n"
