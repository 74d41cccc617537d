"""The unit of work: one game. `play` is all that a worker ever runs, here or on another machine."""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, cast

import msgspec

from core.errors import QuartetError
from core.messages import SIDES, Entry, Finish, Init, Outcome, Ply, Score, Tag
from core.rules import ChancePosition, DrawnPosition, places
from quartet import registry
from quartet.arena import inprocess
from quartet.arena.cores import pin
from quartet.arena.launch import launch, start_environment
from quartet.judge import game as games
from quartet.judge import referee
from quartet.judge.lines import Contestant, Duel, LineResult, LineTurn, Terms
from quartet.judge.program import Program, turn_seed
from quartet.judge.record import Header, Result, Turn
from quartet.judge.table import Table
from quartet.judge.verdict import Termination

if TYPE_CHECKING:
    from collections.abc import Sequence

TARGET = 0.8
"""Of a clock that was set for a built-in program: the part after which it is to have ended, as 0.4
s are of the contest's 0.5 s."""

INFO = re.compile(r"^info depth (\d+) nodes (\d+) seconds ([\d.]+)", re.MULTILINE)
"""What `core.limits.SearchInfo.text` writes."""


class Contender(msgspec.Struct, frozen=True):
    """Somebody who takes part.

    Attributes:
        name: as the tables show it.
        command: a built-in player, an executable file or a shell command, as in `quartet match`.
        ms: milliseconds of wall clock, for a move where programs are started for every move, for
            the whole game where they live through it; None for the judge's. nodes: bound of a
            built-in player's search.
    """

    name: str
    command: str
    ms: float | None = None
    nodes: int | None = None


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """One game to be played: everything that its result depends on.

    Attributes:
        number: its place in the schedule, from 0, and its name in the records.
        block: games of one block share seed and contenders, and rotate the seats.
        game, options: as in the registry, and as for `Position.start`.
        seats: the contender on each seat, as an index into the run's list; players: the same, in
            full.
        seed: opening, board, bag, and whatever else is left to chance.
        disqualify, megabytes: as in the log's header; None is the contest's limit.
        in_process: play built-in players inside the worker, without programs.
        replay_overloaded: how often a game that was lost by a time-out on an overloaded machine is
            played again.
    """

    number: int
    block: int
    game: str
    seats: tuple[int, ...]
    players: tuple[Contender, ...]
    seed: int
    options: dict[str, bool | int] = {}
    disqualify: bool = False
    megabytes: float | None = None
    in_process: bool = False
    replay_overloaded: int = 0

    def require_same(self, result: GameResult) -> None:
        """Raise QuartetError where the result in the records is not of this game."""
        if (self.seats, self.seed, self.block) != (result.seats, result.seed, result.block):
            raise QuartetError(
                f"game {self.number} of the records is not the one of the schedule; choose another folder with --out"
            )


class Use(msgspec.Struct, frozen=True):
    """What one seat spent in a game.

    Attributes:
        turns: that it took; seconds: wall clock of all of them; longest: of one.
        searches: turns whose depth and nodes are known, and their sums: depth, nodes,
            search_seconds.
        lost: verdict -> turns forfeited for it.
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
    """A turn, or a game, that a seat has forfeited: when, how it is called, and a sentence."""

    ply: int
    seat: int
    verdict: str
    reason: str


class GameResult(msgspec.Struct, frozen=True):
    """One finished game: a line of `games.jsonl`. By seat, but for `seconds` of the whole game; the
    rest as in Unit and Result.

    `reason` says in a sentence how a game between living programs ended; `overloaded`, that it was
    a time-out for which the machine is to blame, at least in part.
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


class Played(msgspec.Struct, frozen=True):
    """What comes back from a worker: the result, the log in the judge's own format, and what the
    programs said on standard error."""

    result: GameResult
    log: bytes
    stderr: str = ""


def play(unit: Unit, core: int | None = None) -> Played:
    """Play one game, pinned with all its programs to one core where the system can do that.

    Pure but for the clock and the date, and idempotent: it touches nothing outside, so that a game
    that was lost with its worker is simply played again. Raises QuartetError where a unit cannot be
    played at all, or where the system fails us.
    """
    pin(core)
    started = time.perf_counter()
    lines = registry.load(unit.game, "reference").INFO.lines is not None
    played = _in_process(unit) if unit.in_process else _by_lines(unit) if lines else _by_files(unit)
    return msgspec.structs.replace(
        played,
        result=msgspec.structs.replace(
            played.result, seconds=round(time.perf_counter() - started, 6)
        ),
    )


def use(turns: Sequence[Turn], seat: int) -> Use:
    """What a seat spent, by its turns."""
    own = [turn for turn in turns if turn.seat == seat]
    infos = [found for turn in own if (found := INFO.search(turn.stderr)) is not None]
    return Use(
        turns=len(own),
        seconds=round(sum(turn.seconds for turn in own), 6),
        longest=max((turn.seconds for turn in own), default=0.0),
        searches=len(infos),
        depth=sum(int(info[1]) for info in infos),
        nodes=sum(int(info[2]) for info in infos),
        search_seconds=round(sum(float(info[3]) for info in infos), 6),
        lost=dict(Counter(turn.verdict.value for turn in own if turn.verdict.lost)),
    )


def _header(unit: Unit) -> Header:
    exchange = registry.load(unit.game, "reference").INFO.exchange
    usual = 0.0 if exchange is None else exchange.seconds
    return referee.header(
        unit.game,
        [player.name for player in unit.players],
        seed=unit.seed,
        options=unit.options,
        disqualify=unit.disqualify,
        seconds=max(usual if player.ms is None else player.ms / 1000 for player in unit.players),
        megabytes=unit.megabytes or (0.0 if exchange is None else exchange.megabytes),
    )


def _played(unit: Unit, turns: Sequence[Turn], result: Result, log: bytes) -> Played:
    """A game that was played turn by turn; the seconds are filled in later."""
    return Played(
        GameResult(
            number=unit.number,
            block=unit.block,
            seats=unit.seats,
            seed=unit.seed,
            plies=result.plies,
            scores=result.scores,
            places=result.places,
            shares=result.shares,
            use=tuple(use(turns, seat) for seat in range(len(unit.seats))),
            seconds=0,
            fouls=tuple(
                Foul(turn.ply, turn.seat, turn.verdict.value, turn.reason)
                for turn in turns
                if turn.verdict.lost
            ),
        ),
        log,
        "".join(
            _said(unit, turn.seat, turn.ply, line)
            for turn in turns
            for line in turn.stderr.splitlines()
        ),
    )


def _said(unit: Unit, seat: int, ply: int, text: str) -> str:
    """A line of standard error, for the records; what we have asked for ourselves is not worth
    one."""
    return "" if INFO.match(text) else f"ply {ply}, {unit.players[seat].name}: {text}\n"


def _by_files(unit: Unit) -> Played:
    """Programs, started anew for every move by the referee."""
    table = Table(_header(unit))
    with ExitStack() as cleanup:
        programs = []
        for player in unit.players:
            command, env = _program(unit, player)
            programs.append(
                Program(command, env, seconds=None if player.ms is None else player.ms / 1000)
            )
            cleanup.callback(programs[-1].close)
        turns = [turn for _, turn in referee.turns(table, programs)]
    return _played(unit, turns, table.result(), _json_lines(table.header, turns, table.result()))


def _by_lines(unit: Unit) -> Played:
    """Programs that live as long as the game. Raises QuartetError where our judge fails."""
    game = games.load_lines(unit.game)
    usual = Terms.of(game.judge)
    terms = Terms(usual.ready_ms, usual.clock_ms, unit.megabytes or usual.megabytes)
    clocks = [
        usual.clock_ms if player.ms is None else max(1, round(player.ms)) for player in unit.players
    ]
    start = game.position.start(unit.seed, **unit.options)
    told = start_environment(unit.game, start, [player.command for player in unit.players])
    contestants = []
    for seat, player in enumerate(unit.players):
        command, env = _program(unit, player, "--seed", str(turn_seed(unit.seed, seat, 0)))
        contestants.append(Contestant(player.name, command, env={**env, **told}))
    turns, outcome, log = _duel(game, contestants, terms, start, clocks)
    for _ in range(unit.replay_overloaded):
        if outcome.overloaded:
            turns, outcome, log = _duel(game, contestants, terms, start, clocks)
    if outcome.termination is Termination.JUDGE:
        raise QuartetError(outcome.sentence)
    out = () if outcome.offender is None else (outcome.offender,)
    result = GameResult(
        number=unit.number,
        block=unit.block,
        seats=unit.seats,
        seed=unit.seed,
        plies=outcome.plies,
        scores=outcome.scores,
        places=tuple(places(outcome.scores, lower_wins=game.info.lower_wins, out=out)),
        shares=outcome.shares,
        use=tuple(_line_use(turns, outcome, seat) for seat in range(len(unit.seats))),
        seconds=0,
        reason=outcome.sentence,
        overloaded=outcome.overloaded,
        fouls=()
        if outcome.offender is None
        else (Foul(outcome.plies, outcome.offender, outcome.termination.value, outcome.sentence),),
    )
    said = sorted(
        (ply, seat, text) for seat, remarks in enumerate(outcome.remarks) for ply, text in remarks
    )
    return Played(
        result, log.encode(), "".join(_said(unit, seat, ply, text) for ply, seat, text in said)
    )


def _duel(
    game: games.LineGame,
    contestants: Sequence[Contestant],
    terms: Terms,
    start: DrawnPosition,
    clocks: Sequence[int],
) -> tuple[list[LineTurn], LineResult, str]:
    """One game between living programs, its outcome, and its log."""
    with Duel(game, contestants, terms, start, clocks=clocks) as duel:
        turns = list(duel.turns())
        assert duel.result is not None  # noqa: S101  (it was played to its end)
        return turns, duel.result, duel.log()


def _line_use(turns: Sequence[LineTurn], outcome: LineResult, seat: int) -> Use:
    """What a seat spent in a game of lines; a foul is its last turn, which is not among the
    turns."""
    own = [turn.seconds for turn in turns if turn.seat == seat]
    infos = [found for _, text in outcome.remarks[seat] if (found := INFO.search(text)) is not None]
    return Use(
        turns=len(own),
        seconds=round(sum(own), 6),
        longest=max(own, default=0.0),
        searches=len(infos),
        depth=sum(int(info[1]) for info in infos),
        nodes=sum(int(info[2]) for info in infos),
        search_seconds=round(sum(float(info[3]) for info in infos), 6),
        lost={outcome.termination.value: 1} if seat == outcome.offender else {},
    )


def _program(
    unit: Unit, player: Contender, *arguments: str
) -> tuple[str | list[str], dict[str, str]]:
    """The command of a contender, and what it is told in its environment."""
    command, env = launch(unit.game, player.command, *arguments)
    env["QUARTET_INFO"] = "1"
    if player.ms is not None:
        env["QUARTET_TARGET"] = str(TARGET * player.ms / 1000)
    if player.nodes is not None:
        env["QUARTET_NODES"] = str(player.nodes)
    return command, env


def _in_process(unit: Unit) -> Played:
    """Built-in players, called directly."""
    budgets = [inprocess.Budget(player.ms, player.nodes) for player in unit.players]
    turns, result = inprocess.game(
        unit.game,
        [player.command for player in unit.players],
        budgets,
        unit.seed,
        unit.seats,
        unit.options,
    )
    if registry.load(unit.game, "reference").INFO.lines is None:
        return _played(unit, turns, result, _json_lines(_header(unit), turns, result))
    return _played(unit, turns, result, _line_log(unit, turns, result).encode())


def _json_lines(header: Header, turns: Sequence[Turn], result: Result) -> bytes:
    return b"".join(msgspec.json.encode(record) + b"\n" for record in (header, *turns, result))


def _line_log(unit: Unit, turns: Sequence[Turn], result: Result) -> str:
    """The log that the game's judge would have written."""
    game = games.load_lines(unit.game)
    position = game.position.start(unit.seed, **unit.options)
    entries: list[Entry] = [
        Tag(side, player.name) for side, player in zip(SIDES, unit.players, strict=True)
    ]
    entries.append(Outcome(result.places.index(1) if result.places.count(1) == 1 else None))
    entries.append(Init(position.text()))
    for turn in turns:
        assert turn.move is not None  # noqa: S101  (built-in players lose no turns)
        position = position.play(turn.move)
        drawn = cast("ChancePosition", position).drawn if game.info.chance else None
        entries.append(Ply(turn.seat, turn.move, drawn, max(1, math.ceil(1000 * turn.seconds))))
    entries += [Finish(), *(Score(seat, score or 0) for seat, score in enumerate(result.scores))]
    lines = [game.protocol.format_entry(entry) for entry in entries]
    return "".join(line + "\n" for line in lines if line is not None)
