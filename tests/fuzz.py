"""Inputs that nobody would write, given to everything that reads: `python -m tests.fuzz`.

Each target (`tests/readers.py`) is one reader with its contract: an agent answers legally or
leaves, everything else takes the input or says one line. What breaks that is a finding: the input is
kept as a file, which `tests/data/fuzz/TARGET` then keeps for ever, and the command fails.

Inputs are mutations of good ones, drawn from a seed, so that a run can be repeated. `--guided` lets
atheris choose those that reach new code instead. Under `.ci/sanitize asan`, compiled code is watched,
too.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import time
import traceback
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import click

from core.errors import QuartetError
from core.extras import how_to_install
from quartet import registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
"""What stands in for a number of an input."""
OUTSIDERS = (
    *(b"", b"\0", b"\xff", b"\xef\xbb\xbf", b"\r\n", b"\n\n", b"\t", b"\x1b[2J", b'"', b"{", b"]"),
    *("\u2028".encode(), "\u202e".encode(), b"[" * 2000, b'{"a":' * 2000, b"A" * 5000),
)
"""What no input has."""
EVERY = 5.0
"""Seconds between two words of progress."""


class Mutator:
    """Spoils good inputs, each time otherwise."""

    def __init__(self, seeds: Sequence[bytes], random: Random) -> None:
        """`seeds`: good inputs, at least one."""
        self._seeds, self._random = seeds, random
        self._words = sorted({word for seed in seeds for word in _split(seed)[:2000]})

    def draw(self) -> bytes:
        """An input that was spoilt in one place up to four."""
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
            case 5:  # the end of another one
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


class Finding(Exception):  # noqa: N818  (it is what is looked for)
    """An input that breaks a contract.

    Attributes:
        target: str; data: bytes.
    """

    def __init__(self, target: str, data: bytes) -> None:
        super().__init__(target)
        self.target, self.data = target, data


def attempt(target: Target, data: bytes) -> None:
    """Give a target an input. Raises Finding."""
    try:
        target.read(data)
    except Exception as error:
        raise Finding(target.name, data) from error


def fuzz(target: Target, *, seed: int, inputs: int, seconds: float) -> Iterator[int]:
    """Give a target so many inputs, or fewer where the time is up; yields how many it has had, now
    and then and at the end. Raises Finding."""
    good = target.seeds()
    for data in good:
        attempt(target, data)
    mutator = Mutator(good, Random(f"{seed} {target.name}"))
    until = time.monotonic() + seconds
    said = time.monotonic()
    done = len(good)
    while done < inputs and time.monotonic() < until:
        attempt(target, mutator.draw())
        done += 1
        if time.monotonic() > said + EVERY:
            said = time.monotonic()
            yield done
    yield done


def kept(finding: Finding, folder: Path) -> Path:
    """Keep a finding's input as a file."""
    path = folder / finding.target / hashlib.sha256(finding.data).hexdigest()[:12]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(finding.data)
    return path


def guided(name: str, seed: int, inputs: int, seconds: float, folder: Path) -> None:
    """Have atheris choose the inputs of a target; it ends the process. Raises QuartetError where
    there is no atheris."""
    try:
        import atheris  # noqa: PLC0415
    except ImportError as error:
        raise QuartetError(f"--guided takes atheris: {how_to_install('atheris>=3')}") from error
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
@click.option("--seconds", default=60.0, show_default=True, help="For all targets together.")
@click.option("--inputs", default=10**9, help="For each target, at most.")
@click.option("--seed", default=1, show_default=True)
@click.option("--guided", "is_guided", is_flag=True, help="By atheris, one target.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".build/fuzz"),
    show_default=True,
    help="The folder for inputs that break something.",
)
def main(
    names: tuple[str, ...], seconds: float, inputs: int, seed: int, is_guided: bool, out: Path
) -> None:
    """Fuzz the TARGETs, by default all. Prints how many inputs each has had, as JSON."""
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
    """The words of an input: runs of letters and digits, and what separates them."""
    return re.findall(rb"[A-Za-z_]+|\d+|[^A-Za-z_\d\s]|\s+", data)


if __name__ == "__main__":
    try:
        main()
    except QuartetError as error:
        raise SystemExit(f"quartet: {error}") from None
