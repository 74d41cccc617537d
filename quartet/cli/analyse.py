"""`quartet analyse`: the analysis of a position by an engine, while its search is running."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table as Grid

from core.background import BackgroundSearch
from core.engine import CANDIDATES, MULTIPV, can, score_unit
from core.errors import QuartetError
from core.limits import Limits, SearchInfo
from core.native.clock import now
from core.rules import Move, Position
from quartet import registry
from quartet.cli import following, game_options
from quartet.cli.terminal import drawing
from quartet.judge import game as games
from quartet.judge.seats.engine import fast_rules

if TYPE_CHECKING:
    from core.engine import Searcher

USUAL_SECONDS = 10.0
"""Search time without any limit."""
POLL_SECONDS = 0.1
"""Seconds between two checks for Ctrl-C."""
MAX_DEPTH = 2**31 - 1
"""Depths are 32-bit integers in engines."""
HEAD = f"{'depth':>5} {'score':>7} {'nodes':>14} {'nodes/s':>12} {'seconds':>8}  line"


@click.command(short_help="Analyse a position with an engine.")
@click.argument("game", metavar="GAME|LOG")
@game_options.position
@click.option(
    "--at",
    "ply",
    type=click.IntRange(min=0),
    metavar="PLY",
    help="Analyse the position of a LOG before this ply  [default: the last one with a move].",
)
@click.option(
    "--moves",
    default="",
    metavar="MOVES",
    help="Play these moves first; separate them by semicolons.",
)
@game_options.variants
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    help="Limit of wall clock  [default: 10, unless there is another limit].",
)
@click.option(
    "--nodes", type=click.IntRange(min=1), help="Limit of nodes, or of iterations of a tree search."
)
@click.option(
    "--depth",
    type=click.IntRange(1, MAX_DEPTH),
    help="Limit of iterative deepening, in plies.",
)
@click.option(
    "--player",
    "name",
    metavar="NAME",
    help="Built-in player instead of the game's engine, with or without options: "
    "bot:OPTION=VALUE,...",
)
@click.option(
    "--lines",
    "multipv",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Show the N best lines; the limits are for all of them together.",
    metavar="N",
)
@click.option("--json", "as_json", is_flag=True, help="Print only JSON, at the end.")
def command(
    game: str,
    position: str | None,
    ply: int | None,
    moves: str,
    variants: Sequence[str],
    seconds: float | None,
    nodes: int | None,
    depth: int | None,
    name: str | None,
    multipv: int,
    as_json: bool,
) -> None:
    """Analyse a position with the engine of GAME, and show depth, score, nodes, speed and the
    principal variation as they come.

    The score is for the side to move, in the unit named above the table. Ctrl-C stops the search
    and prints the result so far.

    \b
    quartet analyse ugolki --position input.txt --seconds 5
    quartet analyse ugolki --nodes 100000 --lines 3 --json
    quartet analyse game.log --at 30 --moves "MOVE 1 1 2 2; MOVE 7 7 6 6"
    """
    log = game if following.is_log(game) else None
    if log is None and game not in registry.GAMES:
        raise QuartetError(
            f"{game!r} is neither a log nor a game; the games are: {', '.join(registry.GAMES)}"
        )
    game = game if log is None else following.game_of(log)
    player = _player(game, name)
    if multipv > 1 and not can(player, MULTIPV):
        raise QuartetError("this player shows only one line: omit --lines")
    options = game_options.read_variants(game, variants)
    if log is None:
        if ply is not None:
            raise QuartetError("--at is for a log: name one instead of the game")
        start = game_options.read_start(games.load(game), position, options)
        root: Position = start.position(fast_rules(game))
        truth: Position = start.position(games.load(game).position)
    else:
        if position is not None or options:
            raise QuartetError("a log has its own positions: omit --position and --option")
        root, truth = following.of_log(log, game, ply)
    root, truth = following.along(game, moves, root, truth)
    if root.over:
        raise QuartetError("the game is over in this position")
    say = games.scene(game).write
    lines: list[SearchInfo] = []
    console = Console(highlight=False)
    if not as_json:
        console.print(drawing.position(game, truth))
        console.print(f"score: {score_unit(player)}", soft_wrap=True, markup=False)
        console.print(HEAD, style="bold", soft_wrap=True)

    def show(info: SearchInfo) -> None:
        lines.append(info)
        if not as_json:
            console.print(_line(info, root, say), soft_wrap=True, markup=False)

    if seconds is None and nodes is None and depth is None:
        seconds = USUAL_SECONDS
    limits = Limits(
        deadline=None if seconds is None else now() + seconds,
        nodes=nodes,
        depth=depth,
        multipv=multipv,
    )
    with _interrupts() as enough:
        search = BackgroundSearch(player, root, limits, show)
        while not (search.wait(POLL_SECONDS) or enough.is_set()):
            pass
        search.stop()
    found = search.outcome()
    if enough.is_set():
        print("quartet: interrupted", file=sys.stderr)
    candidates = [
        {**candidate, "move": say(candidate["move"], root)}
        for candidate in (player.candidates() if can(player, CANDIDATES) else ())
    ]
    if as_json:
        record = {
            "game": game,
            "position": root.text(),
            "seat": root.to_move,
            "best": say(found.move, root),
            "move": list(found.move),
            "score_unit": score_unit(player),
            **_facts(found, root, say),
            "interrupted": enough.is_set(),
            "lines": [_facts(info, root, say) for info in lines],
            "candidates": candidates,
        }
        print(json.dumps(record, indent=2))
        return
    first = [line for line in lines if line.rank == 1]
    if not first or (first[-1].nodes, first[-1].pv) != (found.nodes, found.pv):
        console.print(_line(found, root, say), soft_wrap=True, markup=False)
    if candidates:
        console.print(_table(candidates))
    answer = " ".join(
        registry.load(game, "protocol").format_answer(found.move, root.to_move).split()
    )
    console.print(
        f"best: {say(found.move, root)}    (its answer to the judge: {answer})",
        style="bold",
        soft_wrap=True,
        markup=False,
    )


def _player(game: str, name: str | None) -> Searcher[Any]:
    """The engine, or the player of that name. Raises QuartetError."""
    player: Searcher[Any] = (
        registry.load(game, "engine").Engine()
        if name is None
        else registry.load(game, "players").player(name, 0)
    )
    return player


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """Return an event that Ctrl-C sets; a second Ctrl-C raises KeyboardInterrupt."""
    said = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        said.set()
        signal.signal(signal.SIGINT, usual)

    usual = signal.signal(signal.SIGINT, note)
    try:
        yield said
    finally:
        signal.signal(signal.SIGINT, usual)


def _line(info: SearchInfo, root: Position, say: Callable[[Move, Position], str]) -> str:
    """Return a row below HEAD."""
    speed = f"{info.nps:,.0f}" if info.seconds > 0 else "-"
    moves = ", ".join(_named(info.pv or (info.move,), root, say))
    if info.rank > 1:
        moves = f"{info.rank}. {moves}"
    return f"{info.depth:>5} {info.score:>7} {info.nodes:>14,} {speed:>12} {info.seconds:>8.2f}  {moves}"


def _named(
    line: Sequence[Move], position: Position, say: Callable[[Move, Position], str]
) -> list[str]:
    """Return the moves of a line in the judge's notation."""
    words = []
    for move in line:
        words.append(say(move, position))
        position = position.play(move)
    return words


def _table(candidates: Sequence[Mapping[str, object]]) -> Grid:
    columns = list(dict.fromkeys(name for row in candidates for name in row))
    grid = Grid(*columns, box=None, pad_edge=False, header_style="bold")
    for row in candidates:
        grid.add_row(*(_cell(row.get(name, "")) for name in columns))
    return grid


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _facts(
    info: SearchInfo, root: Position, say: Callable[[Move, Position], str]
) -> dict[str, object]:
    """Return a report of the search for JSON, with moves in the judge's notation."""
    return {
        "rank": info.rank,
        "depth": info.depth,
        "score": info.score,
        "nodes": info.nodes,
        "seconds": round(info.seconds, 6),
        "nodes_per_second": round(info.nps),
        "line": _named(info.pv or (info.move,), root, say),
    }
