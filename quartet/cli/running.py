"""What `quartet tournament` and `quartet sprt` share: their options, the run itself, and its
display."""

from __future__ import annotations

import hashlib
import io
import math
import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

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

from core.errors import QuartetError
from quartet import registry
from quartet.arena import builds, fingerprints, notes
from quartet.arena.records import Records
from quartet.arena.run import Cluster, DoneT, Local, Play, Workers, WorkT, drive
from quartet.arena.schedule import Casting, Schedule
from quartet.arena.unit import GameResult, Played, Player, Unit, play
from quartet.cli import variants
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.process import sandbox
from quartet.judge.seats import players as seating
from quartet.judge.seats import versions

DRAW_EVERY = 0.5
"""Seconds between two drawings of the live table."""
SAY_EVERY = 30.0
"""Seconds between two lines of a run that is not drawn."""
PAGE_WIDTH = 400
"""Columns of a table in a page of an experiment, at most."""

OPTIONS: list[Callable[[Callable[..., None]], Callable[..., None]]] = [
    click.option(
        "--jobs",
        type=click.IntRange(min=1),
        help="Games at a time  [default: one for each core, or each few cores (--cores), "
        "that no other run plays on].",
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
        help="Milliseconds, for all or for one player: for a move in games by files, for a whole "
        "game in games of lines.",
    ),
    click.option(
        "--nodes",
        multiple=True,
        metavar="[NAME=]N",
        help="Bound of a built-in player's search, for all or for one player.",
    ),
    variants.option,
    variants.sandboxed,
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
        help="Play a game of lines that was lost by a time-out on an overloaded machine again, up "
        "to N times.",
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
    click.option(
        "--note",
        metavar="TOPIC: IDEA",
        help="Keep the result as an experiment, docs/experiments/NNN-TOPIC.md.",
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
    note: str | None
    as_json: bool

    def casting(self, game: str, players: Sequence[tuple[str, str]]) -> Casting:
        """Who plays what, checked before any game begins.

        Args:
            game: str.
            players: Sequence[tuple[str, str]]; names and commands.

        Raises:
            QuartetError: somebody cannot play, or an option does not fit the game.
        """
        if self.note is not None:
            notes.parse(self.note)
        known = games.load(game)
        info = known.info
        names = [name for name, _ in players]
        ms = per_player("--clock", self.clock, names)
        nodes = per_player("--nodes", self.nodes, names)
        taking_part = []
        for name, given in players:
            if self.in_process and versions.parse(given) is not None:
                raise QuartetError(f"--in-process is for this checkout's players, not for {given}")
            command = builds.named(game, given)
            seating.require(known, command)
            built_in = registry.is_player(game, command)
            if not built_in and self.in_process:
                raise QuartetError(f"--in-process is for built-in players, and {command!r} is none")
            ours = seating.is_ours(game, command)
            if not ours and any(text.startswith(f"{name}=") for text in self.nodes):
                raise QuartetError(f"--nodes is for built-in players, and {command!r} is none")
            version = versions.parse(command)
            if version is not None and name in nodes:
                seating.require_nodes(known, version)
            prefix, program = seating.split(known, command)
            path = seating.absolute(program)
            whole = (
                seating.whole_player(game, command)
                if built_in
                else f"{prefix}:{path}"
                if prefix
                else path
            )
            bound = int(nodes[name]) if ours and name in nodes else None
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
        seating.start_environment(known, start, [player.command for player in taking_part])
        return casting

    def workers(self) -> Workers[Unit, Played]:
        """Where the games are played."""
        return workers(play, self.jobs, self.cluster, each=self.cores, crowded=self.crowded)

    def keep_note(
        self, records: Records, number: int, show: Callable[[Console], None], decision: str
    ) -> None:
        """Keep the result as an experiment, if that was asked for.

        Args:
            records: Records. number: int; games that count.
            show: prints the result.
            decision: str; that the command has taken, `notes.OPEN` if none.

        Raises:
            QuartetError: the page cannot be written.
        """
        if self.note is None:
            return
        topic, idea = notes.parse(self.note)
        page = io.StringIO()
        show(Console(file=page, highlight=False, width=PAGE_WIDTH))
        kept = notes.keep(
            notes.Note(
                topic,
                idea,
                shlex.join(["quartet", *without_note(sys.argv[1:])]),
                notes.commit(),
                self.seed,
                number,
                records.folder,
                page.getvalue(),
                decision,
                notes.today(),
            )
        )
        print(f"quartet: the experiment is kept in {kept}", file=sys.stderr)

    def records(self, kind: str, casting: Casting, **more: object) -> Records:
        """The folder of this run, new or begun before. Raises QuartetError, and then there is none
        that was not there."""
        check_cluster(self.jobs, self.cluster, self.cores)
        players = [
            {
                **msgspec.to_builtins(player),
                "fingerprint": _fingerprint(casting.game, player.command),
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


def workers(
    play: Play[WorkT, DoneT],
    jobs: int | None,
    cluster: str | None,
    *,
    each: int = 1,
    crowded: bool = False,
) -> Workers[WorkT, DoneT]:
    """Where units are worked on: cores of this machine, or the Dask scheduler at `cluster`.

    Args:
        play: does a unit.
        jobs: int | None; units at a time, None for as many as there is room for.
        cluster: str | None; the scheduler's address.
        each: int; cores of a unit.
        crowded: bool; whether cores are shared with other runs.

    Raises:
        QuartetError: the options do not fit together, or there are not so many cores.
    """
    check_cluster(jobs, cluster, each)
    if cluster is None:
        return Local(play, jobs, each=each, crowded=crowded)
    return Cluster(play, cluster)


def check_cluster(jobs: int | None, cluster: str | None, each: int) -> None:
    """Raise QuartetError for options, as of `workers`, that no cluster takes."""
    if cluster is None:
        return
    if each > 1:
        raise QuartetError("--cores is for this machine; workers of a cluster have their own")
    if os.environ.get(sandbox.WANTED):
        raise QuartetError(
            f"--sandbox is for this machine; set {sandbox.WANTED}=1 where a cluster's workers start"
        )
    if jobs is not None:
        raise QuartetError("--jobs is for this machine; a cluster uses all of its threads")


def without_note(words: Sequence[str]) -> list[str]:
    """A command line without --note and what it says."""
    found: list[str] = []
    before = ""
    for word in words:
        if before != "--note" and word != "--note" and not word.startswith("--note="):
            found.append(word)
        before = word
    return found


def _fingerprint(game: str, command: str) -> str:
    """A digest of all that makes a player, the files that its options name included."""
    found = fingerprints.fingerprint(game, command)
    if not registry.is_player(game, command):
        return found
    for file in seating.option_files(game, command).values():
        found = hashlib.sha256(found.encode() + file.read_bytes()).hexdigest()[:16]
    return found


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
            f"quartet: left after {len(records.done)} games; the same command goes on from "
            f"{records.folder}",
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
    """The standing while games go on, on standard error, and a bar of progress; when `silent`,
    a line now and then."""

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
        self._total = total
        self._began = self._said = time.monotonic()
        self._before = len(records.done)

    def record(self, played: Played) -> None:
        """A game has ended."""
        self._records.add(played)
        self._progress.update(self._task, completed=len(self._records.done))
        if not self._silent and time.monotonic() - self._drawn > DRAW_EVERY:
            self._draw()
        if self._silent and time.monotonic() - self._said > SAY_EVERY:
            self._say()

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

    def _say(self) -> None:
        """How far it is, in one line."""
        self._said = time.monotonic()
        done = len(self._records.done)
        line = f"quartet: {done}{f' of {self._total}' if self._total else ''} games"
        each = (self._said - self._began) / max(1, done - self._before)
        if self._total:
            line += f", about {duration(each * (self._total - done))} to go"
        print(line, file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """A time in the unit that fits."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
