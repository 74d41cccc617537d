"""What `quartet tournament` and `quartet sprt` share: their options, the run itself, and its
display."""

from __future__ import annotations

import hashlib
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import click
import msgspec
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table as Grid

from core.errors import QuartetError
from core.messages import SIDES
from quartet import registry
from quartet.arena import fingerprints
from quartet.arena.ratings import Rating
from quartet.arena.records import Records
from quartet.arena.run import Cluster, Local, Workers, drive
from quartet.arena.schedule import Casting, Schedule
from quartet.arena.standings import by_seat, standings
from quartet.arena.unit import GameResult, Played, Player, Unit, play
from quartet.cli import variants
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.seats import players as seating

DRAW_EVERY = 0.5
"""Seconds between two drawings of the live table."""

OPTIONS: list[Callable[[Callable[..., None]], Callable[..., None]]] = [
    click.option(
        "--jobs",
        type=click.IntRange(min=1),
        help="Games at a time  [default: one for each core, or each few cores (--cores), that no other run plays on].",
    ),
    click.option(
        "--cores",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        metavar="N",
        help="Cores of a game and its programs, that no other game plays on.",
    ),
    click.option(
        "--crowded",
        is_flag=True,
        help="Allow more games at a time than cores that are free; they take time from each other.",
    ),
    click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Play on the workers of the Dask scheduler there, e.g. tcp://10.0.0.1:8786.",
    ),
    click.option(
        "--seed",
        default=1,
        show_default=True,
        help="Seed of the openings and of everything that is left to chance.",
    ),
    click.option(
        "--clock",
        multiple=True,
        metavar="[NAME=]MS",
        help="Milliseconds, for all or for one player: for a move in games by files, for a whole game in games of lines.",
    ),
    click.option(
        "--nodes",
        multiple=True,
        metavar="[NAME=]N",
        help="Bound of a built-in player's search, for all or for one player.",
    ),
    variants.option,
    click.option(
        "--disqualify", is_flag=True, help="The first lost turn puts a player out; it ranks last."
    ),
    click.option(
        "--megabytes",
        type=click.FloatRange(min=1),
        help="Memory for a program and its children  [default: the contest's].",
    ),
    click.option(
        "--replay-overloaded",
        type=click.IntRange(min=0),
        default=0,
        metavar="N",
        help="Play a game of lines that was lost by a time-out on an overloaded machine again, up to N times.",
    ),
    click.option(
        "--in-process",
        is_flag=True,
        help="Play built-in players without starting programs: thousands of games are cheap.",
    ),
    click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder of the records  [default: one in runs/ for each command].",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else."),
]


def options(function: Callable[..., None]) -> Callable[..., None]:
    """The options that every run has; they arrive as the fields of Settings."""
    for option in reversed(OPTIONS):
        function = option(function)
    return function


@dataclass(frozen=True)
class Settings:
    """The options that every run has, as they were given."""

    jobs: int | None
    cores: int
    crowded: bool
    cluster: str | None
    seed: int
    clock: Sequence[str]
    nodes: Sequence[str]
    variants: Sequence[str]
    disqualify: bool
    megabytes: float | None
    replay_overloaded: int
    in_process: bool
    out: Path | None
    as_json: bool

    def casting(self, game: str, players: Sequence[tuple[str, str]]) -> Casting:
        """Who plays what, checked before any game begins.

        Args:
            game: str.
            players: Sequence[tuple[str, str]]; names and commands.

        Raises:
            QuartetError: somebody cannot play, or an option does not fit the game.
        """
        known = games.load(game)
        info = known.info
        names = [name for name, _ in players]
        ms = per_player("--clock", self.clock, names)
        nodes = per_player("--nodes", self.nodes, names)
        taking_part = []
        for name, command in players:
            seating.require(known, command)
            built_in = registry.is_player(game, command)
            if not built_in:
                if self.in_process:
                    raise QuartetError(
                        f"--in-process is for built-in players, and {command!r} is none"
                    )
                if any(text.startswith(f"{name}=") for text in self.nodes):
                    raise QuartetError(f"--nodes is for built-in players, and {command!r} is none")
            prefix, program = seating.split(known, command)
            path = seating.absolute(program)
            whole = command if built_in else f"{prefix}:{path}" if prefix else path
            bound = int(nodes[name]) if built_in and name in nodes else None
            taking_part.append(Player(name, whole, ms.get(name), bound))
        casting = Casting(
            game=game,
            seats=info.players,
            players=taking_part,
            seed=self.seed,
            options=variants.read(game, self.variants),
            disqualify=self.disqualify,
            megabytes=self.megabytes,
            in_process=self.in_process,
            replay_overloaded=self.replay_overloaded,
        )
        if self.disqualify and self.in_process:
            raise QuartetError(
                "built-in players lose no turns: leave away --disqualify or --in-process"
            )
        if self.disqualify and info.lines is not None:
            raise QuartetError(
                "--disqualify is for games that go on after a foul; "
                f"the first foul loses a game of {game}"
            )
        start = Start(self.seed, casting.options)
        start.position(known.position)
        seating.start_environment(known, start, [command for _, command in players])
        return casting

    def workers(self) -> Workers[Unit, Played]:
        """Where the games are played."""
        if self.cluster is None:
            return Local(play, self.jobs, each=self.cores, crowded=self.crowded)
        if self.cores > 1:
            raise QuartetError("--cores is for this machine; workers of a cluster have their own")
        if self.jobs is not None:
            raise QuartetError(
                "--jobs is for this machine; a cluster plays a game on each of its threads"
            )
        return Cluster(play, self.cluster)

    def records(self, kind: str, casting: Casting, **more: object) -> Records:
        """The folder of this run, new or begun before."""
        players = [
            {
                **msgspec.to_builtins(player),
                "fingerprint": fingerprints.fingerprint(casting.game, player.command),
            }
            for player in casting.players
        ]
        plan: dict[str, object] = {
            "kind": kind,
            "game": casting.game,
            "players": players,
            "seed": casting.seed,
            "options": casting.options,
            "disqualify": casting.disqualify,
            "megabytes": casting.megabytes,
            "in_process": casting.in_process,
            "replay_overloaded": casting.replay_overloaded,
            **({"cores": self.cores} if self.cores > 1 else {}),
            **more,
        }
        digest = hashlib.sha256(msgspec.json.encode(plan)).hexdigest()[:8]
        return Records(
            self.out or Path("runs") / f"{casting.game}-{kind}-{digest}",
            plan,
            [c.name for c in casting.players],
        )


def per_player(option: str, texts: Sequence[str], names: Sequence[str]) -> dict[str, float]:
    """Name -> value of an option that was given for all, as VALUE, or for one player, as
    NAME=VALUE. Raises QuartetError."""
    found: dict[str, float] = {}
    for text in sorted(texts, key=lambda text: "=" in text):
        name, _, value = text.rpartition("=")
        if name and name not in names:
            raise QuartetError(
                f"{option} {text}: no player is called {name!r}; there are: {', '.join(names)}"
            )
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not 0 < number < math.inf:
            raise QuartetError(f"{option} {text}: {value!r} is not a positive number")
        found.update(dict.fromkeys([name] if name else names, number))
    return found


def run(
    settings: Settings,
    records: Records,
    schedule: Callable[[dict[int, GameResult]], Schedule],
    view: Callable[[Sequence[GameResult]], RenderableType],
    total: int | None,
) -> list[GameResult]:
    """Play until the schedule ends, with a live display on a terminal; all results, in the order of
    the schedule.

    An interrupted run says where it goes on.
    """
    workers = settings.workers()
    units = schedule(records.done)
    if settings.cluster is None:  # another machine has not our folder
        units = (unit and msgspec.structs.replace(unit, live=records.live(unit)) for unit in units)
    try:
        with Display(view, records, total, silent=is_silent(settings)) as display:
            drive(units, workers, records.done, display.record)
    except (KeyboardInterrupt, SystemExit):
        print(
            f"quartet: left after {len(records.done)} games; the same command goes on from {records.folder}",
            file=sys.stderr,
        )
        raise
    finally:
        workers.close()
    return [records.done[number] for number in sorted(records.done)]


def is_silent(settings: Settings) -> bool:
    """Whether nothing but the outcome is printed."""
    return settings.as_json or not (sys.stdout.isatty() and sys.stderr.isatty())


class Display:
    """The standing while games go on, on standard error, and a bar of progress; nothing when
    `silent`."""

    def __init__(
        self,
        view: Callable[[Sequence[GameResult]], RenderableType],
        records: Records,
        total: int | None,
        *,
        silent: bool,
    ) -> None:
        self._view, self._records, self._silent = view, records, silent
        columns = [
            TextColumn("games"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        ]
        self._progress = Progress(*columns)
        self._task = self._progress.add_task("games", total=total, completed=len(records.done))
        self._live = Live(console=Console(stderr=True), auto_refresh=not silent, transient=True)
        self._drawn = -math.inf

    def record(self, played: Played) -> None:
        """A game has ended."""
        self._records.add(played)
        self._progress.update(self._task, completed=len(self._records.done))
        if not self._silent and time.monotonic() - self._drawn > DRAW_EVERY:
            self._draw()

    def __enter__(self) -> Self:
        if not self._silent:
            self._live.start()
            self._draw()
        return self

    def __exit__(self, *_: object) -> None:
        if not self._silent:
            self._live.stop()

    def _draw(self) -> None:
        self._live.update(Group(self._view(list(self._records.done.values())), self._progress))
        self._drawn = time.monotonic()


def table(
    results: Sequence[GameResult],
    names: Sequence[str],
    order: Sequence[int],
    extra: Mapping[str, Sequence[str]],
) -> RenderableType:
    """The players in `order`; `extra` are more columns, by player, after the score."""
    lines = standings(results, len(names))
    # At a table of four a player may have several seats; each counts.
    count = "games" if not results or len(results[0].seats) == len(SIDES) else "seats"
    score = grid("", "player", count, "W-D-L", "score", "%", "±", *extra)
    cost = grid(
        "", "player", "1st seat %", "ms/move", "longest", "depth", "knodes/s", "lost turns"
    )
    for place, player in enumerate(order, start=1):
        line = lines[player]
        spent = line.use
        score.add_row(
            str(place),
            names[player],
            str(line.games),
            f"{line.wins}-{line.draws}-{line.losses}",
            f"{line.score:.10g}",
            figure(100 * line.share, 1),
            figure(100 * line.error, 1),
            *(column[player] for column in extra.values()),
        )
        cost.add_row(
            str(place),
            names[player],
            figure(100 * line.first_score / line.firsts if line.firsts else math.nan, 1),
            figure(1000 * spent.seconds / spent.turns if spent.turns else math.nan, 1),
            figure(1000 * spent.longest if spent.turns else math.nan, 0),
            figure(line.depth, 1),
            figure(line.speed / 1000, 1),
            ", ".join(f"{count} {verdict}" for verdict, count in sorted(spent.lost.items())),
        )
    seats = by_seat(results)
    shares = ", ".join(f"{100 * share:.1f}" for share in seats) or "-"
    return Group(score, cost, f"share of the wins by seat, first to last: {shares} %")


def grid(*columns: str, left: Sequence[str] = ("player", "lost turns")) -> Grid:
    """An empty table of figures; what stands in the columns `left` begins at their left."""
    found = Grid(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        found.add_column(column, justify="left" if column in left else "right", no_wrap=True)
    return found


def rating_columns(ratings: Sequence[Rating] | None) -> dict[str, list[str]]:
    """The columns of Elo and its interval of 95 %."""
    if ratings is None:
        return {}
    return {
        "Elo": [elo_text(rating.elo) for rating in ratings],
        "95 %": [interval(rating) for rating in ratings],
    }


def elo_text(elo: float) -> str:
    """A rating; a dash where it is infinite."""
    return f"{elo:+.0f}" if math.isfinite(elo) else "-"


def interval(rating: Rating) -> str:
    """The interval of a rating in words; it may be one-sided."""
    if math.isinf(rating.high):
        return f"above {rating.low:+.0f}"
    if math.isinf(rating.low):
        return f"below {rating.high:+.0f}"
    return f"{rating.low:+.0f} .. {rating.high:+.0f}"


def figures(
    results: Sequence[GameResult], names: Sequence[str], ratings: Sequence[Rating] | None
) -> list[dict[str, Any]]:
    """Everybody's figures for machines; None for what is not known."""
    found = []
    for line in standings(results, len(names)):
        rating = None if ratings is None else ratings[line.player]
        spent = line.use
        found.append(
            {
                "name": names[line.player],
                "games": line.games,
                "wins": line.wins,
                "draws": line.draws,
                "losses": line.losses,
                "score": line.score,
                "share": known(line.share),
                "error": known(line.error),
                "elo": None if rating is None else known(rating.elo),
                "elo95": None if rating is None else [known(rating.low), known(rating.high)],
                "first_seat_share": line.first_score / line.firsts if line.firsts else None,
                "seconds": spent.seconds,
                "turns": spent.turns,
                "longest": spent.longest,
                "depth": known(line.depth),
                "nodes_per_second": known(line.speed),
                "lost": spent.lost,
            }
        )
    return found


def figure(value: float, digits: int) -> str:
    """A number for the table; a dash for nan."""
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def known(value: float) -> float | None:
    """The value, None where it is no number: JSON has neither nan nor infinity."""
    return value if math.isfinite(value) else None
