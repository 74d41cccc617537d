"""Commands write experiment pages about their results."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from core.errors import QuartetError
from quartet import registry
from quartet.arena import notes
from quartet.arena.notes import Note
from quartet.cli.run_options import without_note
from tests.commands import ONE_JOB, quartet, refusal

NOTE = Note(
    "two-words", "It may help.", "quartet sprt x", "0" * 40, 7, 12, Path("runs/x"),
    "a table  \n of two lines\n\n", notes.OPEN, date(2026, 11, 23),
)  # fmt: skip

PAGE = f"""# 001: two-words

**Question.** It may help.

**Answer.** The result of 12 games, below.

**Decision.** open

2026-11-23, commit {"0" * 40}, seed 7.

```text
a table
 of two lines
```

**Method.** Records: `runs/x`

**Command.**

    quartet sprt x
"""


def test_pages_have_the_next_number(tmp_path: Path) -> None:
    first = notes.keep(NOTE, tmp_path / "docs")
    assert first.name == "001-two-words.md"
    assert first.read_text() == PAGE
    (tmp_path / "docs" / "041-other.md").write_text("# 041: by hand\n")
    (tmp_path / "docs" / "README.md").write_text("no experiment")
    other = notes.keep(replace(NOTE, records=Path("runs/y")), tmp_path / "docs")
    assert other.name == "042-two-words.md"


def test_the_same_run_keeps_its_page_and_a_manual_decision(tmp_path: Path) -> None:
    page = notes.keep(NOTE, tmp_path)
    page.write_text(
        page.read_text().replace("**Decision.** open", "- Decision: taken, it is simpler")
    )
    again = notes.keep(replace(NOTE, games=24), tmp_path)
    assert again == page
    assert "of 24 games" in page.read_text()
    assert "**Decision.** taken, it is simpler\n" in page.read_text()
    more = "taken, it is simpler\nand as strong."
    page.write_text(page.read_text().replace("taken, it is simpler", more))
    notes.keep(NOTE, tmp_path)
    assert f"**Decision.** {more}\n\n" in page.read_text()
    notes.keep(replace(NOTE, decision="H1 accepted"), tmp_path)
    assert "**Decision.** H1 accepted\n" in page.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["001-two-words.md"]


@pytest.mark.parametrize("text", ["", "topic", "topic:", ": idea", "Topic: x", "a b: x", "../a: x"])
def test_bad_notes_are_rejected(text: str) -> None:
    with pytest.raises(QuartetError, match="--note wants"):
        notes.parse(text)
    assert notes.parse("late-moves: reduce by 2: more") == ("late-moves", "reduce by 2: more")


def test_the_recorded_command_omits_its_note() -> None:
    words = ["sprt", "--note", "a: b", "ataxx", "--note=c: d", "--json"]
    assert without_note(words) == ["sprt", "ataxx", "--json"]


GREEDY = ("ataxx", "greedy", "random", "--in-process", "--elo1", "200", *ONE_JOB)


def test_a_sequential_test_writes_its_decision(tmp_path: Path) -> None:
    note = ("--note", "greed: a ply sees more than none")
    done = quartet("sprt", *GREEDY, *note, cwd=tmp_path)
    assert "docs/experiments/001-greed.md" in done.stderr
    page = (tmp_path / "docs/experiments/001-greed.md").read_text()
    assert page.startswith("# 001: greed\n\n**Question.** a ply sees more than none\n")
    command = "quartet sprt ataxx greedy random --in-process --elo1 200 --jobs 1 --oversubscribe"
    assert f"**Command.**\n\n    {command}\n" in page
    assert ", seed 1.\n" in page
    assert "**Decision.** H1 accepted: the new version is stronger\n" in page
    assert "blocks, mean score 1.0000" in page
    assert "LLR" in page
    assert f"commit {notes.commit()}, seed" in page
    quartet("sprt", *GREEDY, *note, "--json", cwd=tmp_path)
    assert len(list((tmp_path / "docs/experiments").iterdir())) == 1


def test_no_commit_outside_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ROOT", tmp_path)
    assert notes.commit() == "unknown"


def test_every_run_of_games_can_write_one(tmp_path: Path) -> None:
    short = ("--in-process", "--nodes", "30", *ONE_JOB)
    players = ("--player", "a=greedy", "--player", "b=random", "--games", "2")
    quartet("tournament", "ataxx", *players, *short, "--note", "one: x", cwd=tmp_path)
    tuned = ("--parameter", "window=10..60", "--games", "4", "--batch", "2")
    quartet("tune", "ataxx", *tuned, *short, "--note", "two: x", cwd=tmp_path)
    exam = ("--player", "random", "--against", "random,random,random", "--games", "4")
    moves = ("--option", "moves=3")
    done = quartet(
        "exam", "ugolki", *exam, *moves, *short, "--json", "--note", "three: x", cwd=tmp_path
    )
    assert json.loads(done.stdout)["games"] == 4
    pages = sorted((tmp_path / "docs/experiments").iterdir())
    assert [page.name for page in pages] == ["001-one.md", "002-two.md", "003-three.md"]
    for page, said in zip(pages, ("greedy", "window", "gauntlet of random"), strict=True):
        assert said in page.read_text()
        assert "**Decision.** open\n" in page.read_text()


def test_a_bad_note_is_rejected_before_any_game(tmp_path: Path) -> None:
    said = refusal("sprt", *GREEDY, "--note", "no topic", cwd=tmp_path)
    assert said.startswith("--note wants")
    assert not list(tmp_path.iterdir())
