"""One game as a unit of work. `play` is all that a worker runs, on this machine or another one."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from quartet.arena import builds
from quartet.arena.cores import pin
from quartet.judge import game as games
from quartet.judge.game import JudgedGame, Start
from quartet.judge.logs import official
from quartet.judge.logs.jsonl import JsonFile, JsonLog
from quartet.judge.match import Match, Watcher
from quartet.judge.seats import seating
from quartet.judge.seats.engine import fast_rules
from quartet.judge.seats.players import PlayerSpec
from quartet.judge.seats.seat import Seat
from quartet.judge.seats.seating import SeatSetup
from quartet.judge.table import table_rules
from quartet.judge.turn import Result, Turn

if TYPE_CHECKING:
    from quartet.arena.config import GameUnit

INFO_VARIABLE = "QUARTET_INFO"
"""The environment variable that asks agents of this project to report what they search."""


class Use(msgspec.Struct, frozen=True):
    """What one seat spent in a game.

    Attributes:
        turns: Its turns.
        seconds: Wall-clock time of all turns.
        longest: Wall-clock time of the longest turn, in seconds.
        searches: Turns whose depth and nodes are known.
        depth: Sum of the depths of these turns.
        nodes: Sum of their nodes.
        search_seconds: Sum of their search times.
        lost: Forfeited turns by verdict.
    """

    turns: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    searches: int = 0
    depth: int = 0
    nodes: int = 0
    search_seconds: float = 0.0
    lost: dict[str, int] = {}

    @classmethod
    def of_turns(cls, turns: Sequence[Turn], seat: int) -> Self:
        """Return what a seat spent on these turns."""
        own = [turn for turn in turns if turn.seat == seat]
        infos = [turn.info for turn in own if turn.info is not None]
        return cls(
            turns=len(own),
            seconds=round(sum(turn.seconds for turn in own), 6),
            longest=max((turn.seconds for turn in own), default=0.0),
            searches=len(infos),
            depth=sum(info.depth for info in infos),
            nodes=sum(info.nodes for info in infos),
            search_seconds=round(sum(info.seconds for info in infos), 6),
            lost=dict(Counter(turn.verdict.value for turn in own if turn.verdict.lost)),
        )

    @classmethod
    def total(cls, uses: Sequence[Use]) -> Self:
        """Return the sum of several games, with the longest of all turns."""
        return cls(
            turns=sum(use.turns for use in uses),
            seconds=sum(use.seconds for use in uses),
            longest=max((use.longest for use in uses), default=0.0),
            searches=sum(use.searches for use in uses),
            depth=sum(use.depth for use in uses),
            nodes=sum(use.nodes for use in uses),
            search_seconds=sum(use.search_seconds for use in uses),
            lost=dict(sum((Counter(use.lost) for use in uses), Counter())),
        )


class Forfeit(msgspec.Struct, frozen=True):
    """A turn, or a game, that a seat forfeited.

    Attributes:
        ply: The turn.
        seat: The seat.
        verdict: Name of the reason.
        reason: The reason as a sentence.
    """

    ply: int
    seat: int
    verdict: str
    reason: str


class GameResult(msgspec.Struct, frozen=True):
    """One finished game: a line of `games.jsonl`.

    Tuples are by seat; `seconds` is for the whole game. Other fields are as in GameUnit and
    `quartet.judge.turn.Result`.
    """

    number: int
    block: int
    seats: tuple[int, ...]
    seed: int
    plies: int
    scores: tuple[int | None, ...]
    places: tuple[int | None, ...]
    shares: tuple[float, ...]
    use: tuple[Use, ...]
    seconds: float
    reason: str = ""
    overloaded: bool = False
    forfeits: tuple[Forfeit, ...] = msgspec.field(name="fouls", default=())

    def __post_init__(self) -> None:
        """Raise ValueError, which msgspec reports as invalid data, for values that do not fit."""
        each = (self.scores, self.places, self.shares, self.use)
        if any(len(values) != len(self.seats) for values in each):
            raise ValueError("not every seat has a score, a place, a share and a use")
        if self.number < 0 or self.block < 0:
            raise ValueError("the number of a game and of its block is 0 or more")
        if not all(0 <= share <= 1 for share in self.shares):
            raise ValueError("a share is from 0 to 1")
        if not all(0 <= forfeit.seat < len(self.seats) for forfeit in self.forfeits):
            raise ValueError("a seat that does not exist forfeited")

    def share_of(self, player: int) -> float:
        """Return the win share of a player's first seat."""
        return self.shares[self.seats.index(player)]


class Played(msgspec.Struct, frozen=True):
    """What a worker returns for a game.

    Attributes:
        result: The result.
        log: The log in the judge's format.
        stderr: What the programs wrote on standard error.
    """

    result: GameResult
    log: bytes
    stderr: str = ""


def play(unit: GameUnit, cores: tuple[int, ...] | None = None) -> Played:
    """Play one game, pinned with all its programs to these cores if the system can do that.

    Apart from times and the live file, the result depends on the unit only, so a game that was lost
    with its worker is played again.

    Raises:
        QuartetError: The unit cannot be played at all, or the system fails.
    """
    for player in () if unit.config.in_process else unit.players:
        if (version := resolved(unit.config.game, player.command).version) is not None:
            builds.ensure(version.ref)  # another machine of a cluster has not built it yet
    pin(cores)
    started = time.perf_counter()
    match, log = _match(unit)
    for _ in range(unit.config.replay_overloaded):
        if match.result is not None and match.result.overloaded:
            match, log = _match(unit)
    assert match.result is not None  # noqa: S101  (it was played to its end)
    result, turns = match.result, match.turns
    ended = result.offender is not None
    game = GameResult(
        number=unit.number,
        block=unit.block,
        seats=unit.seats,
        seed=unit.seed,
        plies=result.plies,
        scores=result.scores,
        places=result.places,
        shares=result.shares,
        use=tuple(Use.of_turns(turns, seat) for seat in range(len(unit.seats))),
        seconds=round(time.perf_counter() - started, 6),
        reason=result.reason,
        overloaded=result.overloaded,
        forfeits=tuple(
            Forfeit(
                turn.ply, turn.seat, turn.verdict.value, result.reason if ended else turn.reason
            )
            for turn in turns
            if turn.verdict.lost
        ),
    )
    return Played(game, log, _stderr(unit, turns, result))


def _match(unit: GameUnit) -> tuple[Match, bytes]:
    """Play the game, and return it with its log."""
    config, players = unit.config, unit.players
    game = games.load(config.game)
    table = table_rules(
        game.info,
        ms=[player.ms for player in players],
        megabytes=config.megabytes,
        disqualify=config.disqualify,
    )
    start = Start(unit.seed, config.options)
    names = [player.name for player in players]
    rules = fast_rules(config.game) if config.in_process else None
    json = JsonLog()
    watchers: list[Watcher] = [] if game.info.lines is not None else [json]
    with ExitStack() as opened:
        if unit.live:
            watchers.append(live := JsonFile(Path(unit.live)))
            opened.callback(live.close)
        seats = _seats(game, unit, start)
        with Match(game, seats, names, table, start, rules=rules, watchers=watchers) as match:
            match.play_out()
    if game.info.lines is None:
        return match, bytes(json.data)
    return match, official.text(match).encode()


@lru_cache
def resolved(game: str, command: str) -> PlayerSpec:
    """Return the player of a `PlayerConfig`'s command. A process resolves a name once per run; all
    code below takes the object."""
    return PlayerSpec.parse(game, command)


def _seats(game: JudgedGame, unit: GameUnit, start: Start) -> Sequence[Seat | None]:
    name, players = unit.config.game, unit.players
    if not unit.config.in_process:
        env = {INFO_VARIABLE: "1"}
        return seating.seats_of(
            game,
            [SeatSetup(resolved(name, p.command), None, p.ms, p.nodes, 0, env) for p in players],
            start,
        )
    # A player's chance depends on the seed and its index, not on its seat. A player on several
    # seats has a seed for each.
    return [
        seating.engine_seat(
            game,
            SeatSetup(
                PlayerSpec.built_in(name, player.command),
                ms=player.ms,
                nodes=player.nodes,
                seed=(unit.seed * 1_000_003 + number) * 64 + unit.seats[:seat].count(number),
            ),
        )
        for seat, (number, player) in enumerate(zip(unit.seats, players, strict=True))
    ]


def _stderr(unit: GameUnit, turns: Sequence[Turn], result: Result) -> str:
    """Return what the programs wrote, line by line, without the reports that this project asked
    for."""
    written = [(turn.ply, turn.seat, line) for turn in turns for line in turn.stderr.splitlines()]
    written += [(turn.ply, seat, line) for turn in turns for seat, line in turn.said]
    written += [(result.plies, seat, line) for seat, line in result.said]
    return "".join(
        f"ply {ply}, {unit.players[seat].name}: {line}\n"
        for ply, seat, line in written
        if not line.startswith("info depth ")
    )
