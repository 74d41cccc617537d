"""Commands in `console` blocks of the guides print the text below them."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.long.table import BEGIN, END

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
GUIDES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMANDS = r"(?:quartet|python3?|pip|pipx|uv|pytest|bash|ugolki\.exe) "
"""Pattern of the start of a line that a reader types."""
LINES = {"README": 90, "CONTRIBUTING": 80}
"""Maximum lines of such a document, without a generated table. Any other has fewer than 120."""
QUESTIONS = {
    "how strong": ("docs/results/ugolki.md", r"bot against three .* ± "),
    "how sure": ("docs/results.md", r"the error is the standard error"),
    "how to hand in": ("docs/hand-in.md", r"quartet pack nypc "),
    "how to add a game": ("docs/add-a-game.md", r"quartet new-game "),
    "who judges": ("docs/architecture.md", r"`quartet\.judge\.match\.Match` plays every game"),
}
"""A newcomer's question -> the page with the answer, and a phrase of that answer."""
CLICKS = 2


def blocks(guide: Path, kind: str) -> list[str]:
    return [text for found, text in BLOCK.findall(guide.read_text("utf-8")) if found == kind]


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Yield every command with its expected output."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


WITH_COMMANDS = [guide for guide in GUIDES if blocks(guide, "console")]


@pytest.mark.slow
@pytest.mark.parametrize("guide", WITH_COMMANDS, ids=lambda guide: guide.stem)
def test_commands_print_what_the_guide_says(guide: Path, tmp_path: Path) -> None:
    """Run the commands in one folder, one after the other, as a reader types them. `...` stands for
    text that varies."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    checker = doctest.OutputChecker()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for block in blocks(guide, "console"):
        for command, expected in commands(block):
            done = subprocess.run(
                command,
                shell=True,
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, (command, done.stderr)
            assert checker.check_output(expected.strip(), done.stdout.strip(), flags), (
                f"{command}\n{done.stdout}"
            )


@pytest.mark.slow
def test_python_of_the_guides_runs(tmp_path: Path) -> None:
    found = [(guide, code) for guide in GUIDES for code in blocks(guide, "python")]
    assert found
    for guide, code in found:
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (guide.name, done.stderr)
        assert done.stdout


@pytest.mark.parametrize(
    "guide", sorted((ROOT / "docs").glob("*.md")), ids=lambda guide: guide.stem
)
def test_commands_are_run_or_have_a_title(guide: Path) -> None:
    """Check that blocks with slow, interactive or foreign commands have a title; `console` blocks
    are run above."""
    text = guide.read_text("utf-8")
    assert not re.findall(r"^```sh$", text, re.MULTILINE)
    outside = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert not re.findall(rf"^ {{4,}}(?:\$ )?{COMMANDS}.*", outside, re.MULTILINE)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_links_have_targets(guide: Path) -> None:
    for link in LINK.findall(guide.read_text("utf-8")):
        target, _, anchor = link.partition("#")
        if "://" in target:
            continue
        path = (guide.parent / target).resolve() if target else guide
        assert path.exists(), link
        if anchor:
            heads = re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.MULTILINE)
            slugs = [re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads]
            assert anchor in slugs, link


@pytest.mark.parametrize(
    "guide",
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))],
    ids=lambda guide: guide.stem,
)
def test_a_guide_is_short(guide: Path) -> None:
    text = re.sub(f"(?s){re.escape(BEGIN)}.*{re.escape(END)}", "", guide.read_text("utf-8"))
    assert len(text.splitlines()) < LINES.get(guide.stem, 120)


def linked(page: Path) -> set[Path]:
    """Return the project's documents that a page links to."""
    links = (link.partition("#")[0] for link in LINK.findall(page.read_text("utf-8")))
    found = {(page.parent / link).resolve() for link in links if link and "://" not in link}
    return {path for path in found if path.suffix == ".md"}


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_to_frequent_questions_are_two_links_away(question: str) -> None:
    seen = todo = {ROOT / "README.md"}
    for _ in range(CLICKS):
        todo = {path for page in todo for path in linked(page)} - seen
        seen = seen | todo
    name, answer = QUESTIONS[question]
    assert ROOT / name in seen
    assert re.search(answer, (ROOT / name).read_text("utf-8"))
