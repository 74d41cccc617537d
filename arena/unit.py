"""The unit of work: one game. `play` is all that a worker ever runs, here or on another machine."""

from __future__ import annotations

import re
import time
from collections import Counter
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import msgspec
import psutil

import registry
from arena import inprocess
from core.errors import QuartetError
from judge import referee
from judge.launch import launch
from judge.program import Program
from judge.record import Header, Result, Turn
from judge.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

TARGET = 0.8
"""Of a clock that was set for a built-in program: the part after which it is to have ended, as 0.4 s are of the contest's 0.5 s."""

INFO = re.compile(r"^info depth (\d+) nodes (\d+) seconds ([\d.]+)", re.MULTILINE)
"""What `core.limits.SearchInfo.text` writes."""


class Contender(msgspec.Struct, frozen=True):
    """Somebody who takes part.

    Attributes:
        name: as the tables show it.
        command: a built-in player, an executable file or a shell command, as in `quartet match`.
        ms: milliseconds of wall clock for a move, None for the contest's; nodes: bound of a built-in player's search.
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
        seats: the contender on each seat, as an index into the run's list; players: the same, in full.
        seed: opening, board, bag, and whatever else is left to chance.
        disqualify, megabytes: as in the log's header; None is the contest's limit.
        in_process: play built-in players inside the worker, without programs.
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


class Use(msgspec.Struct, frozen=True):
    """What one seat spent in a game.

    Attributes:
        turns: that it took; seconds: wall clock of all of them; longest: of one.
        searches: turns whose depth and nodes are known, and their sums: depth, nodes, search_seconds.
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


class GameResult(msgspec.Struct, frozen=True):
    """One finished game: a line of `games.jsonl`. By seat, but for `seconds` of the whole game; the rest as in Unit and Result."""

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


class Played(msgspec.Struct, frozen=True):
    """What comes back from a worker: the result, and the log in the judge's own format."""

    result: GameResult
    log: bytes


def play(unit: Unit, core: int | None = None) -> Played:
    """Play one game, pinned with all its programs to one core where the system can do that.

    Pure but for the clock and the date, and idempotent: it touches nothing outside, so that a game that was lost with its worker is
    simply played again. Raises QuartetError where a unit cannot be played at all, or where the system fails us.
    """
    if core is not None:
        # Programs inherit it. macOS has no such call; a core may have been taken away meanwhile.
        with suppress(AttributeError, OSError, ValueError, psutil.Error):
            psutil.Process().cpu_affinity([core])
    started = time.perf_counter()
    header, turns, result = _in_process(unit) if unit.in_process else _by_files(unit)
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
            seconds=round(time.perf_counter() - started, 6),
        ),
        b"".join(msgspec.json.encode(record) + b"\n" for record in (header, *turns, result)),
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
    if exchange is None and not unit.in_process:
        # The judge that speaks lines on stdin and stdout plugs in beside `_by_files`.
        raise QuartetError(f"the judge of {unit.game} does not speak through files; play its built-in players in process")
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


def _by_files(unit: Unit) -> tuple[Header, list[Turn], Result]:
    """Programs, started anew for every move by the referee."""
    table = Table(_header(unit))
    with ExitStack() as cleanup:
        programs = []
        for player in unit.players:
            command, env = launch(unit.game, player.command)
            env["QUARTET_INFO"] = "1"
            if player.ms is not None:
                env["QUARTET_TARGET"] = str(TARGET * player.ms / 1000)
            if player.nodes is not None:
                env["QUARTET_NODES"] = str(player.nodes)
            programs.append(Program(command, env, seconds=None if player.ms is None else player.ms / 1000))
            cleanup.callback(programs[-1].close)
        turns = [turn for _, turn in referee.turns(table, programs)]
    return table.header, turns, table.result()


def _in_process(unit: Unit) -> tuple[Header, list[Turn], Result]:
    """Built-in players, called directly under the fast rules."""
    budgets = [inprocess.Budget(player.ms, player.nodes) for player in unit.players]
    turns, result = inprocess.game(unit.game, [player.command for player in unit.players], budgets, unit.seed, unit.seats, unit.options)
    return _header(unit), turns, result
