"""A version against standing opponents, who never change: one rating with its error, kept over time.

The rating is relative to the opponents of a game: 0 is the strength at which they would be met evenly,
if all were alike. It can be compared with others of the same opponents under the same conditions.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING

import msgspec

from core.errors import QuartetError, TextError
from quartet.arena.files import write_whole
from quartet.arena.ratings import LEVEL, Rating, elo
from quartet.judge.turn import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quartet.arena.exam import Line

FOLDER = Path("docs/ratings")
"""Where ratings are kept, a file for each game, below the working directory."""
NO_BOUNDS = (-math.inf, math.inf)


class Kept(msgspec.Struct, frozen=True):
    """A rating that is kept.

    Attributes:
        day: str; as in 2026-11-23. commit: str; of the checkout, in words.
        player: str; opponents: list[str]; with the whole ids of commits.
        conditions: dict[str, str]; clock, nodes, and whatever else decides what is comparable.
        seed: int. games: int. share: float; of the wins.
        error: float | None; its standard error, None where it is not known.
        elo, low, high: float | None; with an interval of 95 %, None where it is infinite.
        records: str; the run's folder.
    """

    day: str
    commit: str
    player: str
    opponents: list[str]
    conditions: dict[str, str]
    seed: int
    games: int
    share: float
    error: float | None
    elo: float | None
    low: float | None
    high: float | None
    records: str

    @property
    def group(self) -> str:
        """A digest that is the same for ratings that can be compared."""
        what = msgspec.json.encode([sorted(self.opponents), sorted(self.conditions.items())])
        return hashlib.sha256(what).hexdigest()[:6]


@dataclass(frozen=True)
class Measured:
    """What the games say: a share of the wins with its standard error, and the rating."""

    share: float
    error: float
    rating: Rating


def elo_of(share: float, seats: int) -> float:
    """The Elo by which somebody with this share of the wins is stronger than others who are all
    alike, in the Plackett-Luce model; with two seats, logistic Elo."""
    if share <= 0 or share >= 1:
        return math.copysign(math.inf, share - 0.5)
    return 400 * math.log10(share * (seats - 1) / (1 - share))


def measured(line: Line, seats: int) -> Measured:
    """The rating by games; with two seats as `ratings.elo` has it, else by a normal approximation
    over blocks, without bounds where these are all alike."""
    if seats == 2:
        return Measured(line.share, line.error, elo(Counter(map(fmean, line.blocks.values()))))
    reach = NormalDist().inv_cdf((1 + LEVEL) / 2) * line.error
    if not reach > 0:
        return Measured(line.share, line.error, Rating(elo_of(line.share, seats), *NO_BOUNDS))
    low, middle, high = (elo_of(line.share + part * reach, seats) for part in (-1, 0, 1))
    return Measured(line.share, line.error, Rating(middle, low, high))


def read(file: Path) -> list[Kept]:
    """The ratings of a file, in the order in which they were kept. Raises QuartetError and
    TextError."""
    if not file.exists():
        return []
    try:
        return [msgspec.json.decode(line, type=Kept) for line in file.read_bytes().splitlines()]
    except OSError as error:
        raise QuartetError(f"cannot read {file}: {error.strerror}") from error
    except UNREADABLE as error:
        raise TextError(f"{file} holds a rating that cannot be read: {error}") from error


def keep(file: Path, kept: Kept) -> None:
    """Keep a rating, instead of the one of the same records. Raises QuartetError and TextError."""
    lines = [other for other in read(file) if other.records != kept.records] + [kept]
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    except OSError as error:
        raise QuartetError(f"cannot write {file}: {error.strerror}") from error


def standing(text: str) -> list[str]:
    """The opponents that a game's `gauntlet.txt` names, one a line; a line that begins with # is a
    remark."""
    lines = map(str.strip, text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def comparable(lines: Sequence[Kept]) -> dict[str, list[Kept]]:
    """Ratings by the group in which they can be compared, the group of the last one last."""
    groups: dict[str, list[Kept]] = {}
    for line in lines:
        groups[line.group] = [*groups.pop(line.group, []), line]
    return groups
