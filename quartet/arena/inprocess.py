"""Matches between built-in players inside worker processes: no programs are started, so thousands
of games are cheap.

`python -m quartet.arena.inprocess ugolki bot greedy greedy greedy --games 400 --ms 40` is the shape
of it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from statistics import fmean, stdev

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from core.errors import QuartetError
from core.limits import Limits
from core.native.clock import now
from core.rules import Position, places, shares
from quartet import registry
from quartet.judge.record import Result, Turn
from quartet.judge.verdict import Verdict


@dataclass(frozen=True)
class Budget:
    """What every choice may cost: milliseconds of wall clock, or nodes, or both."""

    ms: float | None = None
    nodes: int | None = None

    def limits(self) -> Limits:
        return Limits(
            deadline=None if self.ms is None else now() + self.ms / 1000, nodes=self.nodes
        )


@dataclass(frozen=True)
class Outcome:
    """One finished game, by contender (not by seat).

    Attributes:
        shares: of the win; k on the first place get 1/k each.
        scores: as the game counts them.
        plies: length of the game.
    """

    shares: tuple[float, ...]
    scores: tuple[int | None, ...]
    plies: int


def game(
    game: str,
    players: Sequence[str],
    budgets: Sequence[Budget],
    seed: int,
    contenders: Sequence[int],
    options: Mapping[str, bool | int],
) -> tuple[list[Turn], Result]:
    """One game between built-in players, by seat: its turns and its result, as the referee would
    record them.

    A contender's chance depends on `seed` and on its number in `contenders`, not on where it sits
    (one that has several seats has several chances). The referee is the fast rules,
    which the tests hold equal to the reference rules. Raises QuartetError for unknown names.
    """
    info, pass_move = registry.load(game, "reference").INFO, registry.load(game, "reference").PASS
    format_answer = registry.load(game, "protocol").format_answer
    player = registry.load(game, "players").player
    seeds = [
        (seed * 1_000_003 + number) * 64 + contenders[:seat].count(number)
        for seat, number in enumerate(contenders)
    ]
    searchers = [player(name, own) for name, own in zip(players, seeds, strict=True)]
    position: Position = registry.load(
        game, "rules" if registry.has(game, "rules") else "reference"
    ).Position.start(seed, **options)
    turns = []
    while not position.over:
        ply, seat, text = position.ply, position.to_move, position.text()
        if position.legal() == [pass_move]:
            turn = Turn(
                ply, seat, text, verdict=Verdict.PASS, reason="no piece can move", move=pass_move
            )
        else:
            started = now()
            found = searchers[seat].choose(position, budgets[seat].limits())
            seconds = round(now() - started, 6)
            answer = format_answer(found.move, seat)
            turn = Turn(
                ply,
                seat,
                text,
                answer,
                len(answer),
                move=found.move,
                seconds=seconds,
                stderr=found.text(),
            )
        turns.append(turn)
        move = turn.move or pass_move
        for other, searcher in enumerate(searchers):
            if other != seat and hasattr(searcher, "observe"):
                searcher.observe(position, move)
        position = position.play(move)
    scores = position.scores()
    place = places(scores, lower_wins=info.lower_wins)
    return turns, Result(
        position.ply, scores, tuple(place), tuple(shares(place)), (0,) * info.players, ()
    )


def play(
    name: str, contenders: tuple[str, ...], budgets: tuple[Budget, ...], number: int, seed: int
) -> Outcome:
    """Game `number` of a match. Games 0 to P-1, the next P, ... are blocks with the same seed and
    every contender on every seat once."""
    seats = len(contenders)
    block, shift = divmod(number, seats)
    order = [(seat + shift) % seats for seat in range(seats)]
    _, result = game(
        name, [contenders[c] for c in order], [budgets[c] for c in order], seed + block, order, {}
    )
    by_contender = sorted(range(seats), key=lambda seat: order[seat])
    return Outcome(
        tuple(result.shares[s] for s in by_contender),
        tuple(result.scores[s] for s in by_contender),
        result.plies,
    )


def match(
    game: str,
    contenders: tuple[str, ...],
    budgets: tuple[Budget, ...],
    games: int,
    seed: int,
    executor: Executor,
    *,
    progress: bool,
) -> list[Outcome]:
    """All games of a match, in order, played by the executor's workers."""
    futures = [
        executor.submit(play, game, contenders, budgets, number, seed) for number in range(games)
    ]
    console = Console(stderr=True)
    return [
        future.result()
        for future in track(
            futures, description=" ".join(contenders), console=console, disable=not progress
        )
    ]


def error(values: list[float], block: int) -> float:
    """Standard error of the mean, from blocks of games that belong together; nan when there are
    fewer than two."""
    blocks = [fmean(values[i : i + block]) for i in range(0, len(values) - block + 1, block)]
    return stdev(blocks) / math.sqrt(len(blocks)) if len(blocks) > 1 else math.nan


@click.command()
@click.argument("game")
@click.argument("contenders", nargs=-1, required=True)
@click.option(
    "--games",
    default=40,
    show_default=True,
    help="Rounded up to whole blocks, in which everybody sits on every seat once.",
)
@click.option(
    "--ms",
    type=float,
    multiple=True,
    help="Milliseconds a move; once for all, or once for each contender.",
)
@click.option(
    "--nodes",
    type=int,
    multiple=True,
    help="Nodes a move; once for all, or once for each contender. With nodes alone the match is reproducible.",
)
@click.option("--seed", default=1, show_default=True)
@click.option("--jobs", type=int, help="Games at a time; by default one for each core.")
def command(
    game: str,
    contenders: tuple[str, ...],
    games: int,
    ms: tuple[float, ...],
    nodes: tuple[int, ...],
    seed: int,
    jobs: int | None,
) -> None:
    """Play a match between built-in players in process and print each contender's share of the
    wins."""
    players = registry.load(game, "reference").INFO.players
    if len(contenders) != players:
        raise click.UsageError(
            f"{game} has {players} seats, but {len(contenders)} players were named"
        )
    for option, values in (("--ms", ms), ("--nodes", nodes)):
        if len(values) not in (0, 1, players):
            raise click.UsageError(
                f"{option} was given {len(values)} times; give it once, or {players} times"
            )
    if not ms and not nodes:
        ms = (40.0,)
    budgets = tuple(
        Budget(ms[i % len(ms)] if ms else None, nodes[i % len(nodes)] if nodes else None)
        for i in range(players)
    )
    games = -(-games // players) * players
    with ProcessPoolExecutor(jobs) as executor:
        outcomes = match(
            game, contenders, budgets, games, seed, executor, progress=sys.stderr.isatty()
        )
    table = Table(
        title=f"{game}: {games} games, {', '.join(str(b) for b in dict.fromkeys(budgets))}, seed {seed}"
    )
    for column in ("player", "share of wins %", "standard error", "mean score", "mean plies"):
        table.add_column(column, justify="left" if column == "player" else "right")
    for contender, name in enumerate(contenders):
        won = [outcome.shares[contender] for outcome in outcomes]
        score = fmean(outcome.scores[contender] or 0 for outcome in outcomes)
        plies = fmean(outcome.plies for outcome in outcomes)
        table.add_row(
            name,
            f"{100 * fmean(won):.1f}",
            f"{100 * error(won, players):.1f}",
            f"{score:.2f}",
            f"{plies:.1f}",
        )
    Console().print(table)


if __name__ == "__main__":
    try:
        command.main(standalone_mode=True)
    except QuartetError as error_:
        raise SystemExit(f"quartet: {error_}") from None
