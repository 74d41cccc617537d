"""`python -m build.site`: build a site of the documents in `.build/site` with mkdocs. Dead links
fail."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / ".build" / "site-source"
PARTS = ("*.md", "docs/**/*.md", "docs/**/*.png", "docs/**/*.svg", "docs/**/*.ipynb", "*/RULES.md")


def main() -> int:
    """Copy the documents so that their links work, build the site, and return mkdocs' exit
    status."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    for pattern in PARTS:
        for path in ROOT.glob(pattern):
            place = SOURCE / path.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", *sys.argv[1:]], cwd=ROOT, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
