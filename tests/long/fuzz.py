"""Mutation fuzzer for all parsers: `python -m tests.long.fuzz`.

A target (`tests/readers.py`) is a parser with its contract: an agent answers legally or exits; all
others accept the input or raise an error of one line. An input that breaks the contract is a
finding. The command writes it to a file and fails; move the file to `tests/data/fuzz/TARGET` to
keep it fixed.

Inputs are mutations of valid ones, drawn from a seed, so that a run is repeatable. With `--guided`,
atheris chooses inputs that reach new code. `.ci/sanitize asan` also checks compiled code.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import time
import traceback
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import click

from core.commands.program import execute
from core.errors import QuartetError
from core.extras import install_hint
from quartet import registry
from tests.long.progress import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from tests.long.progress import Attempt
    from tests.readers import Target

NUMBERS = (
    *(b"0", b"-1", b"1", b"255", b"256", b"32768", b"2147483647", b"2147483648"),
    *(
        b"99999999999999999999",
        b"7" * 5000,
        b"1e308",
        b"nan",
        b"inf",
        b"-0",
        b"0x10",
        b"1_0",
        "٣".encode(),
    ),
)
"""Replacements for numbers in inputs."""
OUTSIDERS = (
    *(b"", b"\0", b"\xff", b"\xef\xbb\xbf", b"\r\n", b"\n\n", b"\t", b"\x1b[2J", b'"', b"{", b"]"),
    *("\u2028".encode(), "\u202e".encode(), b"[" * 2000, b'{"a":' * 2000, b"A" * 5000),
)
"""Texts that no valid input has."""
TRIAL_INPUTS = 1000
"""Inputs of an attempt of a trial."""
FOLDER = Path(".build/fuzz")
"""Default folder for findings."""
REPORT_SECONDS = 5.0
"""Seconds between two lines of progress."""


class Mutator:
    """Draws random mutations of valid inputs."""

    def __init__(self, seeds: Sequence[bytes], random: Random) -> None:
        """Take valid inputs, at least one."""
        self._seeds, self._random = seeds, random
        self._words = sorted({word for seed in seeds for word in _split(seed)[:2000]})

    def restart(self, random: Random) -> None:
        """Draw from another state."""
        self._random = random

    def draw(self) -> bytes:
        """Return an input with one to four mutations."""
        data = self._random.choice(self._seeds)
        for _ in range(self._random.choice((1, 1, 2, 4))):
            data = self._spoil(data)
        return data

    def _spoil(self, data: bytes) -> bytes:
        random = self._random
        start = random.randrange(len(data) + 1)
        end = min(len(data), start + random.choice((0, 1, 1, 2, 8, 100)))
        match random.randrange(9):
            case 0:  # one byte
                return data[:start] + random.randbytes(1) + data[start + 1 :]
            case 1:  # one bit
                changed = bytearray(data)
                if data:
                    changed[start - 1] ^= 1 << random.randrange(8)
                return bytes(changed)
            case 2:
                return data[:start] + random.choice(OUTSIDERS) + data[end:]
            case 3:
                return data[:start] + data[end:]
            case 4:
                return data[:start] + data[start:end] * random.choice((2, 2, 3, 50)) + data[end:]
            case 5:  # the end of another input
                other = random.choice(self._seeds)
                return data[:start] + other[random.randrange(len(other) + 1) :]
            case 6:
                return data[:start]
            case 7:
                found = list(re.finditer(rb"-?\d+", data[start : start + 400]))
                if not found:
                    return data
                place = random.choice(found)
                number = random.choice(NUMBERS)
                return data[: start + place.start()] + number + data[start + place.end() :]
            case _:  # another word of the language
                words = _split(data[start : start + 400])
                if not (words and self._words):
                    return data
                at = data.index(words[-1], start)
                return data[:at] + random.choice(self._words) + data[at + len(words[-1]) :]


class Finding(Exception):  # noqa: N818  (the fuzzer looks for it)
    """An input that breaks the contract of a target.

    Attributes:
        target: The target's name.
        data: The input.
    """

    def __init__(self, target: str, data: bytes) -> None:
        super().__init__(target)
        self.target, self.data = target, data


def attempt(target: Target, data: bytes) -> None:
    """Run a target on an input. Raises Finding."""
    try:
        target.read(data)
    except Exception as error:
        raise Finding(target.name, data) from error


def fuzz(target: Target, *, seed: int, inputs: int, seconds: float) -> Iterator[int]:
    """Run a target on `inputs` inputs, or fewer if `seconds` are over. Yield the count now and then
    and at the end. Raises Finding."""
    good = target.seeds()
    for data in good:
        attempt(target, data)
    mutator = Mutator(good, Random(f"{seed} {target.name}"))
    until = time.monotonic() + seconds
    progress = Interval(REPORT_SECONDS)
    done = len(good)
    while done < inputs and time.monotonic() < until:
        attempt(target, mutator.draw())
        done += 1
        if progress.is_due():
            yield done
    yield done


def trial(name: str) -> Callable[[], AbstractContextManager[Attempt]]:
    """Return a trial of a target. Each attempt is a block of TRIAL_INPUTS mutated inputs."""

    @contextmanager
    def started() -> Iterator[Attempt]:
        from tests.readers import TARGETS  # noqa: PLC0415  (atheris must see it being imported)

        target = TARGETS[name]
        mutator = Mutator(target.seeds(), Random())

        def block(number: int) -> tuple[int, str]:
            mutator.restart(Random(f"trial {number} {name}"))
            for done in range(TRIAL_INPUTS):
                try:
                    attempt(target, mutator.draw())
                except Finding as finding:
                    return done, f"broken by {kept(finding, FOLDER)}: {finding.__cause__!r}"
            return TRIAL_INPUTS, ""

        yield block

    return started


def kept(finding: Finding, folder: Path) -> Path:
    """Write a finding's input to a file."""
    path = folder / finding.target / hashlib.sha256(finding.data).hexdigest()[:12]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(finding.data)
    return path


def guided(name: str, seed: int, inputs: int, seconds: float, folder: Path) -> None:
    """Let atheris choose the inputs of a target; it ends the process. Raises QuartetError if
    atheris is missing."""
    try:
        import atheris  # noqa: PLC0415
    except ImportError as error:
        raise QuartetError(f"--guided takes atheris: {install_hint('atheris>=3')}") from error
    with atheris.instrument_imports(include=["core", "quartet", *registry.GAMES.values()]):
        from tests import readers  # noqa: PLC0415
    target = readers.TARGETS[name]
    corpus = folder / f"{name}-corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for data in target.seeds():
        (corpus / hashlib.sha256(data).hexdigest()[:12]).write_bytes(data)

    def read(data: bytes) -> None:
        attempt(target, data)

    atheris.Setup(
        [
            sys.argv[0],
            f"-seed={seed}",
            f"-runs={inputs}",
            f"-max_total_time={seconds:.0f}",
            f"-artifact_prefix={folder}/{name}-",
            "-print_final_stats=1",
            str(corpus),
        ],
        read,
    )
    atheris.Fuzz()


@click.command()
@click.argument("names", metavar="[TARGET]...", nargs=-1)
@click.option(
    "--seconds", default=60.0, show_default=True, help="Seconds for all targets together."
)
@click.option("--inputs", default=10**9, help="Most inputs per target.")
@click.option("--seed", default=1, show_default=True)
@click.option("--guided", "is_guided", is_flag=True, help="Fuzz one target with atheris.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=FOLDER,
    show_default=True,
    help="Folder for findings.",
)
def main(
    names: tuple[str, ...], seconds: float, inputs: int, seed: int, is_guided: bool, out: Path
) -> None:
    """Fuzz the TARGETs, by default all, and print the number of inputs of each as JSON."""
    if is_guided:
        if len(names) != 1:
            raise QuartetError("--guided takes one target")
        guided(names[0], seed, inputs, seconds, out)
    from tests import readers  # noqa: PLC0415  (atheris must see it being imported)

    unknown = set(names) - readers.TARGETS.keys()
    if unknown:
        known = ", ".join(readers.TARGETS)
        raise QuartetError(f"there is no target {', '.join(sorted(unknown))}; there are: {known}")
    figures: dict[str, object] = {}
    broken = 0
    chosen = names or tuple(readers.TARGETS)
    for name in chosen:
        count = 0
        started = time.process_time()
        try:
            for count in fuzz(
                readers.TARGETS[name], seed=seed, inputs=inputs, seconds=seconds / len(chosen)
            ):
                print(f"{name}: {count:,} inputs", file=sys.stderr, flush=True)
        except Finding as finding:
            broken += 1
            traceback.print_exception(finding.__cause__)
            print(f"{name}: broken by {kept(finding, out)}", file=sys.stderr)
        figures[name] = {"inputs": count, "cpu": round(time.process_time() - started, 1)}
    print(json.dumps(figures, indent=2))
    if broken:
        raise QuartetError(f"{broken} of {len(chosen)} targets broke their contract")


def _split(data: bytes) -> list[bytes]:
    """Return the words of an input: runs of letters, runs of digits, and separators."""
    return re.findall(rb"[A-Za-z_]+|\d+|[^A-Za-z_\d\s]|\s+", data)


if __name__ == "__main__":
    execute(main)
