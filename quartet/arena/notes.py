"""Pages of experiments, numbered, each written by the command that ran the experiment."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from core.errors import QuartetError
from quartet.arena import builds
from quartet.arena.files import write_whole

FOLDER = Path("docs/experiments")
"""The folder of the pages, below the working directory."""
OPEN = "open"
"""A decision that is still to be made; a person may replace it in the page."""
DECISION = "**Decision.** "
RECORDS = "Records: "
OLD_DECISION = "- Decision: "
"""How pages of version 1.0 begin the line."""


@dataclass(frozen=True)
class Note:
    """A page.

    Attributes:
        topic: Part of the file's name: small letters, digits and hyphens.
        idea: The idea, a sentence.
        command: The command line.
        commit: The checkout's commit, in words.
        seed: The run's seed.
        games: Games that count.
        records: The run's folder.
        result: The printed result.
        decision: The decision.
        day: Date of the result.
    """

    topic: str
    idea: str
    command: str
    commit: str
    seed: int
    games: int
    records: Path
    result: str
    decision: str
    day: date

    def text(self, number: int) -> str:
        """Return the page under a number."""
        result = "\n".join(line.rstrip() for line in self.result.strip("\n").splitlines())
        return (
            f"# {number:03}: {self.topic}\n\n**Question.** {self.idea}\n\n"
            f"**Answer.** The result of {self.games} games, below.\n\n"
            f"{DECISION}{self.decision}\n\n"
            f"{self.day.isoformat()}, commit {self.commit}, seed {self.seed}.\n\n"
            f"```text\n{result}\n```\n\n"
            f"**Method.** {RECORDS}`{self.records}`\n\n"
            f"**Command.**\n\n    {self.command}\n"
        )


def parse(text: str) -> tuple[str, str]:
    """Return topic and idea of "TOPIC: IDEA". Raises QuartetError."""
    topic, _, idea = (part.strip() for part in text.partition(":"))
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", topic) or not idea or "\n" in idea:
        raise QuartetError(
            f'--note wants "TOPIC: IDEA", a topic of small letters, digits and hyphens, not {text!r}'
        )
    return topic, idea


def commit() -> str:
    """Return the checkout's commit in words, "unknown" outside a checkout."""
    try:
        found = builds.commit_of("HEAD")
        changed = builds.is_changed()
    except QuartetError:
        return "unknown"
    return found + (", with changes that are not committed" if changed else "")


def today() -> date:
    """Return today's date in universal time."""
    return datetime.now(UTC).date()


def keep(note: Note, folder: Path = FOLDER) -> Path:
    """Write a page, in place of the page of the same records, else under the next number.

    A decision written by hand remains if the command made none. Raises QuartetError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        pages = sorted(path for path in folder.glob("*.md") if path.name[:3].isdecimal())
        for path in pages:
            before = path.read_text(encoding="utf-8")
            if f"{RECORDS}`{note.records}`\n" in before:
                return _replace(path, before, note)
        number = 1 + max((int(path.name[:3]) for path in pages), default=0)
        path = folder / f"{number:03}-{note.topic}.md"
        with path.open("x", encoding="utf-8") as file:
            file.write(note.text(number))
    except OSError as error:
        raise QuartetError(f"cannot write {error.filename or folder}: {error.strerror}") from error
    return path


def _replace(path: Path, before: str, note: Note) -> Path:
    text = note.text(int(path.name[:3]))
    if note.decision == OPEN:
        starts = f"{re.escape(DECISION)}|{re.escape(OLD_DECISION)}"
        # a paragraph, or an item of a list
        by_hand = re.search(rf"^(?:{starts})(.+(?:\n(?!- ).+)*)", before, re.MULTILINE)
        if by_hand:
            text = text.replace(f"{DECISION}{OPEN}\n", f"{DECISION}{by_hand[1]}\n")
    write_whole(path, text.encode())
    return path
