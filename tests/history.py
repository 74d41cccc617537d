"""Check the subjects of commits since the last release: `python -m tests.history`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

LENGTH = 72
"""Maximum number of characters of a subject."""
FIRST = "d4d4a90bc44507b86a1281d31376be93c1215aad"
"""Earlier commits are not checked."""


def git(root: Path, *words: str) -> str:
    """Return the output of a git command, empty if it fails."""
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def start(root: Path, first: str = FIRST) -> str:
    """Return the commit after which subjects are checked: the last tag, or else the last version.

    Neither counts if it is older than `first`. Empty in a shallow clone without any of them.
    """
    found = git(root, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*") or git(
        root, "log", "-1", "--format=%H", "-G", "^version = ", "--", "pyproject.toml"
    )
    known = git(root, "rev-parse", "--verify", "--quiet", f"{first}^{{commit}}")
    if known and (not found or git(root, "merge-base", found, known) != known):
        return known
    return found


def complaints(root: Path, first: str = FIRST) -> list[str]:
    """Return the errors of the subjects since the last release, one line each."""
    begin = start(root, first)
    log = git(root, "log", "--no-merges", "--format=%h %s", f"{begin}..HEAD" if begin else "HEAD")
    found = []
    for commit, _, subject in (line.partition(" ") for line in log.splitlines()):
        if len(subject) > LENGTH:
            found.append(f"{commit}: {len(subject)} characters, {LENGTH} are allowed: {subject}")
        if re.match(r"(?i)wip\b|(fixup|squash|amend)!", subject):
            found.append(f"{commit}: finish the commit or squash it: {subject}")
        elif not re.match(r"[a-z][a-z0-9 ,./_-]*: \S", subject):
            found.append(f"{commit}: begin with the area, as in `area: change`: {subject}")
        if "no functional change" in subject.lower():
            found.append(f'{commit}: move "No functional change" into the body: {subject}')
    return found


def main() -> None:
    """Print the complaints about this checkout, and fail if there are any."""
    found = complaints(Path(__file__).parents[1])
    print("\n".join(found), end="\n" * bool(found))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
