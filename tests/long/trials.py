"""Run slices of long trials and record them: `python -m tests.long.trials --seconds 600
differential-ataxx`.

A trial is a numbered sequence of attempts: a random game, a block of inputs, some kills. A slice
makes the attempts of some minutes, and adds a line to the trial's file in `docs/results/trials`.
The next slice, on any machine, continues with the next number. So slices add up, and nothing counts
twice. A line names a digest of the tested sources without their comments: slices with the same
digest tested the same code.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from core.commands.program import execute
from core.errors import QuartetError, printable
from quartet.arena.files import locked
from quartet.arena.store import LineFile, read_lines
from quartet.registry import ROOT
from tests.long.progress import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.long.catalogue import LongTrial

RECORDS = ROOT / "docs" / "results" / "trials"
MAX_FINDINGS = 3
"""Findings after which a slice ends."""
SOURCES = {".py", ".pyx", ".pxd", ".pxi", ".h", ".bin", ""}
"""Endings of source files; an extension's C code and binary are made from them."""
PYTHON_COMMENT = r'^[ \t]*r?"{3}(?:\\.|[^\\])*?"{3}[ \t]*$|\#[^\n]*'
C_COMMENT = r"/\*.*?\*/|//[^\n]*"
STRING = r"(?P<quote>\"{3}|\"|')(?:\\.|(?!(?P=quote)).)*(?P=quote)"
"""A comment sign in a string begins no comment."""
REPORT_SECONDS = 10.0


class Slice(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of a trial's record.

    Attributes:
        date: Day of its end.
        commit: The commit; with a plus sign if tested sources differ from it.
        tested: Digest of the tested sources without comments.
        machine: Processor, cores and system.
        first: Number of the first attempt.
        end: Number of the attempt after the last one.
        count: What the attempts counted: positions, games, inputs, kills.
        seconds: Its time.
        findings: What failed, one sentence each.
        fixes: What fixed earlier findings, with the commits.
    """

    date: str
    commit: str
    tested: str
    machine: str
    first: int
    end: int
    count: int
    seconds: float
    findings: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()


def record(name: str) -> Path:
    """Return the file of a trial's slices."""
    return RECORDS / f"{name}.jsonl"


def slices(name: str) -> list[Slice]:
    """Return the slices of a trial so far. Raises QuartetError."""
    return read_lines(record(name), Slice)


def tested_files(patterns: Sequence[str]) -> list[Path]:
    """Return the source files that match the patterns, sorted. Raises QuartetError if a pattern
    has none."""
    found: set[Path] = set()
    for pattern in patterns:
        files = {path for path in ROOT.glob(pattern) if path.is_file() and path.suffix in SOURCES}
        if not files:
            raise QuartetError(f"no source file is called {pattern}")
        found |= files
    return sorted(found)


def code_of(path: Path) -> bytes:
    """Return a source file without comments, docstrings and empty lines."""
    if path.suffix in (".bin", ""):
        return path.read_bytes()
    comment = C_COMMENT if path.suffix == ".h" else PYTHON_COMMENT
    code = re.sub(
        f"(?ms)(?P<comment>{comment})|{STRING}",
        lambda found: "" if found["comment"] else found[0],
        path.read_text(encoding="utf-8"),
    )
    return "\n".join(line.rstrip() for line in code.splitlines() if line.strip()).encode()


def digest(patterns: Sequence[str]) -> str:
    """Return 12 digits that change with the code of the tested sources."""
    total = hashlib.sha256()
    for path in tested_files(patterns):
        content = hashlib.sha256(code_of(path)).hexdigest()
        total.update(f"{path.relative_to(ROOT).as_posix()} {content}\n".encode())
    return total.hexdigest()[:12]


def commit(patterns: Sequence[str]) -> str:
    """Return the checkout's commit, with a plus sign if tested sources differ from it."""

    def git(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=False
        )

    changed = git("diff", "--quiet", "HEAD", "--", *map(str, tested_files(patterns))).returncode
    return git("rev-parse", "--short=10", "HEAD").stdout.strip() + "+" * (changed != 0)


def machine() -> str:
    """Return this machine's processor, cores and system."""
    cpu = platform.processor() or platform.machine()
    if sys.platform == "linux":
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = [line.partition(":")[2] for line in lines if line.startswith("model name")]
        cpu = " ".join(names[0].split()) if names else cpu
    return f"{cpu}, {os.cpu_count()} cores, {platform.system()}"


def run(name: str, trial: LongTrial, seconds: float) -> Slice:
    """Make attempts for some seconds or until the goal is reached, at least one, and record them.
    Raises QuartetError if the record cannot be written or another process runs the trial, and
    KeyboardInterrupt after recording what was made before it."""
    RECORDS.mkdir(parents=True, exist_ok=True)
    (ROOT / ".build").mkdir(exist_ok=True)
    with ExitStack() as cleanup:
        lock = locked(ROOT / ".build" / f"trial-{name}.lock")
        if lock is None:
            raise QuartetError(f"another process runs the trial {name}")
        cleanup.callback(lock.close)
        file = LineFile(record(name), Slice)
        cleanup.callback(file.close)
        first = max((line.end for line in file.lines), default=0)
        made, interrupt = _attempts(name, trial, first, seconds)
        if made.end > first or made.findings:
            file.append(made)
        if interrupt is not None:
            print(f"{name}: interrupted after {made.end - first} attempts", file=sys.stderr)
            raise interrupt
        return made


def _attempts(
    name: str, trial: LongTrial, first: int, seconds: float
) -> tuple[Slice, KeyboardInterrupt | None]:
    """Make attempts. Returns the slice, and what interrupted it."""
    started, progress = time.monotonic(), Interval(REPORT_SECONDS)
    number, count, findings, interrupt = first, 0, [], None
    missing = trial.goal - done(name, trial)
    sources = commit(trial.tested), digest(trial.tested)  # they may change meanwhile
    try:
        with trial.open() as attempt:
            while number == first or time.monotonic() < started + seconds:
                try:
                    more, finding = attempt(number)
                    count += more
                except QuartetError as error:
                    finding = str(error)
                if finding:
                    findings.append(f"attempt {number}: {finding}")
                number += 1
                if progress.is_due():
                    print(f"{name}: {count:,} {trial.unit}", file=sys.stderr, flush=True)
                if len(findings) == MAX_FINDINGS or 0 < missing <= count:
                    break
    except QuartetError as error:  # at the end: a process remains
        findings.append(str(error))
    except KeyboardInterrupt as error:
        interrupt = error
    made = Slice(
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        commit=sources[0],
        tested=sources[1],
        machine=machine(),
        first=first,
        end=number,
        count=count,
        seconds=round(time.monotonic() - started, 1),
        findings=tuple(map(printable, findings)),
    )
    return made, interrupt


def done(name: str, trial: LongTrial) -> int:
    """Return what was counted with the tested sources of this checkout."""
    now = digest(trial.tested)
    return sum(line.count for line in slices(name) if line.tested == now)


@click.command()
@click.argument("names", metavar="[TRIAL]...", nargs=-1)
@click.option("--seconds", default=600.0, show_default=True, help="Seconds per slice.")
@click.option("--fixed", metavar="TEXT", help="Record what fixed a finding, with the commit.")
def main(names: tuple[str, ...], seconds: float, fixed: str | None) -> None:
    """Run a slice of each TRIAL, by default of those that have not reached their goal with the
    tested sources as they are now. Afterwards, `python -m tests.long.table` writes the table."""
    from tests.long.catalogue import TRIALS  # noqa: PLC0415  (it imports what the trials need)

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # background jobs ignore Ctrl-C
    if unknown := set(names) - TRIALS.keys():
        known = ", ".join(TRIALS)
        raise QuartetError(f"there is no trial {', '.join(sorted(unknown))}; there are: {known}")
    if fixed is not None:
        for name in names:
            note_fix(name, fixed)
        return
    chosen = names or [name for name, trial in TRIALS.items() if done(name, trial) < trial.goal]
    failed = []
    for name in chosen:
        made = run(name, TRIALS[name], seconds)
        unit, total = TRIALS[name].unit, done(name, TRIALS[name])
        print(f"{name}: {made.count:,} {unit} in {made.seconds:.0f} s, {total:,} in all")
        for finding in made.findings:
            print(f"{name}: {finding}", file=sys.stderr)
        failed += [name] * bool(made.findings)
    if failed:
        raise QuartetError(f"findings in {', '.join(failed)}")


def note_fix(name: str, text: str) -> None:
    """Add a line without attempts that names a fix. Raises QuartetError if there is no slice."""
    lines = slices(name)
    if not lines:
        raise QuartetError(f"the trial {name} has no slice")
    file = LineFile(record(name), Slice)
    last = lines[-1]
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    file.append(Slice(day, last.commit, last.tested, "", last.end, last.end, 0, 0.0, fixes=(text,)))
    file.close()


if __name__ == "__main__":
    execute(main)
