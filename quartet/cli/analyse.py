"""`quartet analyse`: the analysis of a position by an engine, as its search goes on."""

from __future__ import annotations

import json
import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import click
from rich.console import Console
from rich.table import Table as Grid

from core.background import BackgroundSearch
from core.engine import CANDIDATES, MULTIPV, can, score_unit
from core.errors import QuartetError
from core.limits import Limits
from core.native.clock import now
from quartet import registry
from quartet.cli import drawing, following, positions
from quartet.cli import variants as variant_options
from quartet.judge.seats.engine import fast_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import FrameType

    from core.engine import Searcher
    from core.limits import SearchInfo
    from core.rules import Move, Position

USUAL_SECONDS = 10.0
"""Where no limit is given."""
LISTEN_SECONDS = 0.1
"""How often a person at the terminal is listened to."""
HEAD = f"{'depth':>5} {'score':>7} {'nodes':>14} {'nodes/s':>12} {'seconds':>8}  line"


@click.command(short_help="Let an engine analyse a position.")
@click.argument("game", metavar="GAME|LOG")
@click.option("--position", metavar="POSITION", help=positions.HELP)
@click.option(
    "--at",
    "ply",
    type=click.IntRange(min=0),
    metavar="PLY",
    help="The position of a LOG before this ply  [default: the last one in which somebody moves].",
)
@click.option(
    "--moves", default="", metavar="MOVES", help="Moves to follow first, with semicolons between."
)
@variant_options.option
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    help="Wall clock  [default: 10, unless another limit is given].",
)
@click.option("--nodes", type=click.IntRange(min=1), help="Nodes, or iterations of a tree search.")
@click.option("--depth", type=click.IntRange(min=1), help="Plies of iterative deepening.")
@click.option(
    "--player",
    "name",
    metavar="NAME",
    help="A built-in player instead of the game's engine, with or without options: "
    "bot:OPTION=VALUE,...",
)
@click.option(
    "--lines",
    "multipv",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many of the best lines; the limits are for all of them together.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else, in the end.")
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
    """Let the engine of GAME analyse a position, and show depth, score, nodes, speed and the
    principal variation as they come.

    The score is for the side to move, in the unit that stands above the table. Ctrl-C ends the
    search; what is known by then is the result.

    \b
    quartet analyse ugolki --position input.txt --seconds 5
    quartet analyse ugolki --nodes 100000 --lines 3 --json
    quartet analyse game.log --at 30 --moves "MOVE 1 1 2 2; MOVE 7 7 6 6"
    """
    log = game if following.is_log(game) else None
    game = game if log is None else following.game_of(log)
    player = _player(game, name)
    if multipv > 1 and not can(player, MULTIPV):
        raise QuartetError("this player shows one line only: leave away --lines")
    options = variant_options.read(game, variants)
    if log is None:
        if ply is not None:
            raise QuartetError("--at is for a log: name one instead of the game")
        rules, plain = fast_rules(game), registry.load(game, "reference").Position
        root: Position = positions.root(game, rules, position, options)
        truth: Position = positions.root(game, plain, position, options)
    else:
        if position is not None or options:
            raise QuartetError("a log has its own positions: leave away --position and --option")
        root, truth = following.of_log(log, game, ply)
    root, truth = following.along(game, moves, root, truth)
    if root.over:
        raise QuartetError("the game is over in this position")
    say = _namer(game)
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
    with _enough() as enough:
        search = BackgroundSearch(player, root, limits, show)
        while not (search.wait(LISTEN_SECONDS) or enough.is_set()):
            pass
        search.stop()
    found = search.outcome()
    if enough.is_set():
        print("quartet: interrupted", file=sys.stderr)
    candidates = _candidates(player)
    if as_json:
        print(
            json.dumps(
                _record(
                    game,
                    root,
                    found,
                    lines,
                    candidates,
                    say,
                    unit=score_unit(player),
                    interrupted=enough.is_set(),
                ),
                indent=2,
            )
        )
        return
    first = [line for line in lines if line.rank == 1]
    if not first or (first[-1].nodes, first[-1].pv) != (found.nodes, found.pv):
        console.print(_line(found, root, say), soft_wrap=True, markup=False)
    if candidates:
        console.print(_table(candidates, root, say))
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
def _enough() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets; a second Ctrl-C is a KeyboardInterrupt again."""
    said = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        said.set()
        signal.signal(signal.SIGINT, usual)

    usual = signal.signal(signal.SIGINT, note)
    try:
        yield said
    finally:
        signal.signal(signal.SIGINT, usual)


def _namer(game: str) -> Callable[[Move, Position], str]:
    """How a game writes a move of a position: as its judge does."""
    module = drawing.scenes(game)
    return module.write


def _line(info: SearchInfo, root: Position, say: Callable[[Move, Position], str]) -> str:
    """A row below HEAD."""
    speed = f"{info.nps:,.0f}" if info.seconds > 0 else "-"
    moves = ", ".join(_named(info.pv or (info.move,), root, say))
    if info.rank > 1:
        moves = f"{info.rank}. {moves}"
    return f"{info.depth:>5} {info.score:>7} {info.nodes:>14,} {speed:>12} {info.seconds:>8.2f}  {moves}"


def _named(
    line: Sequence[Move], position: Position, say: Callable[[Move, Position], str]
) -> list[str]:
    """The moves of a line, each in the words of the seat that makes it."""
    words = []
    for move in line:
        words.append(say(move, position))
        position = position.play(move)
    return words


def _candidates(player: object) -> list[Mapping[str, object]]:
    """The candidate moves of the last search; none for most engines."""
    return [*player.candidates()] if can(player, CANDIDATES) else []


def _table(
    candidates: Sequence[Mapping[str, object]], root: Position, say: Callable[[Move, Position], str]
) -> Grid:
    columns = list(dict.fromkeys(name for row in candidates for name in row))
    grid = Grid(*columns, box=None, pad_edge=False, header_style="bold")
    for row in candidates:
        grid.add_row(
            *(_cell(row.get(name), root, say if name == "move" else None) for name in columns)
        )
    return grid


def _cell(value: Any, root: Position, say: Callable[[Move, Position], str] | None) -> str:
    if value is None:
        return ""
    return (
        say(value, root)
        if say is not None
        else f"{value:.3f}"
        if isinstance(value, float)
        else str(value)
    )


def _record(
    game: str,
    root: Position,
    found: SearchInfo,
    lines: Sequence[SearchInfo],
    candidates: Sequence[Mapping[str, object]],
    say: Callable[[Move, Position], str],
    *,
    unit: str,
    interrupted: bool,
) -> dict[str, object]:
    """The outcome for machines; moves as the game writes them."""

    def row(info: SearchInfo) -> dict[str, object]:
        return {
            "rank": info.rank,
            "depth": info.depth,
            "score": info.score,
            "nodes": info.nodes,
            "seconds": round(info.seconds, 6),
            "nodes_per_second": round(info.nps),
            "line": _named(info.pv or (info.move,), root, say),
        }

    return {
        "game": game,
        "position": root.text(),
        "seat": root.to_move,
        "best": say(found.move, root),
        "move": list(found.move),
        "score_unit": unit,
        **row(found),
        "interrupted": interrupted,
        "lines": [row(info) for info in lines],
        "candidates": [
            {**candidate, "move": say(cast("Move", candidate["move"]), root)}
            for candidate in candidates
        ],
    }
