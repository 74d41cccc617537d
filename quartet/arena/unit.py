"""The unit of work: one game. `play` is all that a worker ever runs, here or on another machine."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from core.errors import QuartetError
from quartet.arena import builds
from quartet.arena.cores import pin
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.logs import official
from quartet.judge.logs.jsonl import JsonFile, JsonLog
from quartet.judge.match import Match, Watcher
from quartet.judge.seats import players as seating
from quartet.judge.seats import versions
from quartet.judge.seats.engine import fast_rules
from quartet.judge.table import table_rules
from quartet.judge.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quartet.judge.game import Game
    from quartet.judge.seats.seat import Seat
    from quartet.judge.turn import Result

SAID = "QUARTET_INFO"
"""The environment variable that asks programs of ours what they have searched."""


class Player(msgspec.Struct, frozen=True):
    """Somebody who takes part.

    Attributes:
        name: str; as the tables show it.
        command: str; a built-in player, an executable file, a shell command or git:COMMIT, as in
            `quartet match`.
        ms: float | None; milliseconds of wall clock, for a move where programs are started for
            every move, for the whole game where they live through it; None for the judge's.
        nodes: int | None; bound of a built-in player's search.
    """

    name: str
    command: str
    ms: float | None = None
    nodes: int | None = None


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """One game to be played: everything that its result depends on.

    Attributes:
        number: int; its place in the schedule, from 0, and its name in the records.
        block: int; games of one block share seed and players, and rotate the seats.
        game: str; options: dict; as in the registry, and as for `Position.start`.
        seats: tuple[int, ...]; the player on each seat, as an index into the run's list.
        players: tuple[Player, ...]; the same, in full.
        seed: int; opening, board, bag, and whatever else is left to chance.
        disqualify: bool; whether the first lost turn puts a player out.
        megabytes: float | None; memory of a program, None for the contest's limit.
        in_process: bool; play built-in players inside the worker, without programs.
        replay_overloaded: int; how often a game that was lost by a time-out on an overloaded
            machine is played again.
        live: str; a file to which turns are appended while the game goes on; empty for none.
    """

    number: int
    block: int
    game: str
    seats: tuple[int, ...]
    players: tuple[Player, ...]
    seed: int
    options: dict[str, bool | int] = {}
    disqualify: bool = False
    megabytes: float | None = None
    in_process: bool = False
    replay_overloaded: int = 0
    live: str = ""

    def require_same(self, result: GameResult) -> None:
        """Raise QuartetError where the result in the records is not of this game."""
        if (self.seats, self.seed, self.block) != (result.seats, result.seed, result.block):
            raise QuartetError(
                f"game {self.number} of the records is not the one of the schedule; "
                "choose another folder with --out"
            )


class Use(msgspec.Struct, frozen=True):
    """What one seat spent in a game.

    Attributes:
        turns: int; that it took. seconds: float; wall clock of all of them. longest: float; of one.
        searches: int; turns whose depth and nodes are known, and their sums: depth, nodes,
            search_seconds.
        lost: dict[str, int]; verdict -> turns forfeited for it.
    """

    turns: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    searches: int = 0
    depth: int = 0
    nodes: int = 0
    search_seconds: float = 0.0
    lost: dict[str, int] = {}


class Foul(msgspec.Struct, frozen=True):
    """A turn, or a game, that a seat has forfeited.

    Attributes:
        ply: int; seat: int. verdict: str; how it is called. reason: str; a sentence.
    """

    ply: int
    seat: int
    verdict: str
    reason: str


class GameResult(msgspec.Struct, frozen=True):
    """One finished game: a line of `games.jsonl`.

    By seat, but for `seconds` of the whole game; the rest as in Unit and
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
    fouls: tuple[Foul, ...] = ()

    def __post_init__(self) -> None:
        """Raises ValueError, which to msgspec is an error of the data, where this is no result of a
        game."""
        each = (self.scores, self.places, self.shares, self.use)
        if any(len(values) != len(self.seats) for values in each):
            raise ValueError("not every seat has a score, a place, a share and a use")


class Played(msgspec.Struct, frozen=True):
    """What comes back from a worker.

    Attributes:
        result: GameResult.
        log: bytes; in the judge's own format.
        stderr: str; what the programs said on standard error.
    """

    result: GameResult
    log: bytes
    stderr: str = ""


def play(unit: Unit, cores: tuple[int, ...] | None = None) -> Played:
    """Play one game, pinned with all its programs to these cores where the system can do that.

    Pure but for the clock, the date and the live file, and idempotent: a game that was lost with
    its worker is simply played again.

    Raises:
        QuartetError: a unit cannot be played at all, or the system fails us.
    """
    for player in unit.players:
        if (version := versions.parse(player.command)) is not None:
            builds.ensure(version.ref)  # another machine of a cluster has not built it yet
    pin(cores)
    started = time.perf_counter()
    match, log = _match(unit)
    for _ in range(unit.replay_overloaded):
        if match.result is not None and match.result.overloaded:
            match, log = _match(unit)
    assert match.result is not None  # noqa: S101  (it was played to its end)
    result, turns = match.result, match.turns
    fouls = [turn for turn in turns if turn.verdict.lost]
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
        use=tuple(use(turns, seat) for seat in range(len(unit.seats))),
        seconds=round(time.perf_counter() - started, 6),
        reason=result.reason,
        overloaded=result.overloaded,
        fouls=tuple(
            Foul(foul.ply, foul.seat, foul.verdict.value, result.reason if ended else foul.reason)
            for foul in fouls
        ),
    )
    return Played(game, log, _stderr(unit, turns, result))


def use(turns: Sequence[Turn], seat: int) -> Use:
    """What a seat spent, by its turns."""
    own = [turn for turn in turns if turn.seat == seat]
    infos = [turn.info for turn in own if turn.info is not None]
    return Use(
        turns=len(own),
        seconds=round(sum(turn.seconds for turn in own), 6),
        longest=max((turn.seconds for turn in own), default=0.0),
        searches=len(infos),
        depth=sum(info.depth for info in infos),
        nodes=sum(info.nodes for info in infos),
        search_seconds=round(sum(info.seconds for info in infos), 6),
        lost=dict(Counter(turn.verdict.value for turn in own if turn.verdict.lost)),
    )


def _match(unit: Unit) -> tuple[Match, bytes]:
    """The game, played, and its log."""
    game = games.load(unit.game)
    table = table_rules(
        game.info,
        ms=[player.ms for player in unit.players],
        megabytes=unit.megabytes,
        disqualify=unit.disqualify,
    )
    start = Start(unit.seed, unit.options)
    names = [player.name for player in unit.players]
    rules = fast_rules(unit.game) if unit.in_process else None
    json = JsonLog()
    watchers: list[Watcher] = [] if game.info.lines is not None else [json]
    live = JsonFile(Path(unit.live)) if unit.live else None
    if live is not None:
        watchers.append(live)
    try:
        seats = _seats(game, unit, start)
        with Match(game, seats, names, table, start, rules=rules, watchers=watchers) as match:
            match.play_out()
    finally:
        if live is not None:
            live.close()
    if game.info.lines is None:
        return match, bytes(json.data)
    return match, official.text(match).encode()


def _seats(game: Game, unit: Unit, start: Start) -> Sequence[Seat | None]:
    if not unit.in_process:
        env = {SAID: "1"}
        players = [
            seating.Player(player.command, ms=player.ms, nodes=player.nodes, env=env)
            for player in unit.players
        ]
        return seating.seats_of(game, players, start)
    # A player's chance depends on the seed and its number, not on where it sits; one that has
    # several seats has several chances.
    return [
        seating.engine_seat(
            game,
            seating.Player(
                player.command,
                ms=player.ms,
                nodes=player.nodes,
                seed=(unit.seed * 1_000_003 + number) * 64 + unit.seats[:seat].count(number),
            ),
        )
        for seat, (number, player) in enumerate(zip(unit.seats, unit.players, strict=True))
    ]


def _stderr(unit: Unit, turns: Sequence[Turn], result: Result) -> str:
    """What the programs said, line by line, but for what we have asked for ourselves."""
    said = [(turn.ply, turn.seat, line) for turn in turns for line in turn.stderr.splitlines()]
    said += [(turn.ply, seat, line) for turn in turns for seat, line in turn.said]
    said += [(result.plies, seat, line) for seat, line in result.said]
    return "".join(
        f"ply {ply}, {unit.players[seat].name}: {line}\n"
        for ply, seat, line in said
        if not line.startswith("info depth ")
    )
