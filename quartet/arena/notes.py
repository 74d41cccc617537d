"""Experiments as data: a numbered page for each, written by the command that ran it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from core.errors import QuartetError
from quartet.arena import builds
from quartet.arena.files import write_whole

FOLDER = Path("docs/experiments")
"""Where the pages lie, below the working directory."""
OPEN = "open"
"""The decision that nobody has taken yet; a page's may be written by hand instead."""
DECISION = "- Decision: "
RECORDS = "- Records: "


@dataclass(frozen=True)
class Note:
    """A page.

    Attributes:
        topic: str; of its file's name: small letters, digits and hyphens. idea: str; a sentence.
        command: str; as it was typed. commit: str; of the checkout, in words.
        seed: int. games: int; that count. records: Path; the run's folder.
        result: str; as the command printed it. decision: str.
        day: date; of the result.
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
        """The whole page."""
        result = "\n".join(line.rstrip() for line in self.result.strip("\n").splitlines())
        return (
            f"# {number:03}: {self.topic}\n\n{self.idea}\n\n"
            f"- Command: `{self.command}`\n- Commit: {self.commit}\n- Seed: {self.seed}\n"
            f"- Games: {self.games}\n- Date: {self.day.isoformat()}\n{RECORDS}`{self.records}`\n"
            f"{DECISION}{self.decision}\n\n```text\n{result}\n```\n"
        )


def parse(text: str) -> tuple[str, str]:
    """Topic and idea of "TOPIC: IDEA". Raises QuartetError."""
    topic, _, idea = (part.strip() for part in text.partition(":"))
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", topic) or not idea or "\n" in idea:
        raise QuartetError(
            f'--note wants "TOPIC: IDEA", a topic of small letters, digits and hyphens, not {text!r}'
        )
    return topic, idea


def commit() -> str:
    """What the checkout is now, in words; "unknown" where it is none."""
    try:
        found = builds.commit_of("HEAD")
        changed = builds.is_changed()
    except QuartetError:
        return "unknown"
    return found + (", with changes that are not committed" if changed else "")


def today() -> date:
    """In universal time."""
    return datetime.now(UTC).date()


def keep(note: Note, folder: Path = FOLDER) -> Path:
    """Write a page: over the one of the same records, under its number, else with the next number.

    A decision that was written by hand stays where the command has taken none. Raises QuartetError.
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
        by_hand = re.search(f"^{DECISION}(.+)", before, re.MULTILINE)
        if by_hand:
            text = text.replace(f"{DECISION}{OPEN}\n", f"{DECISION}{by_hand[1]}\n")
    write_whole(path, text.encode())
    return path
