"""The options of every run of games, and the run itself.

`RunOptions.read` sorts the values: those of `quartet.arena.config.RunConfig` by name, and how to
play."""

from __future__ import annotations

import hashlib
import io
import math
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import click
import msgspec
from rich.console import Console, RenderableType

from core.errors import QuartetError
from quartet.arena import builds, notes, runner
from quartet.arena.config import DEFAULTS, GameUnit, PlayerConfig, RunConfig
from quartet.arena.fingerprints import fingerprint
from quartet.arena.records import Records
from quartet.arena.schedule import Schedule
from quartet.arena.unit import GameResult, Played, play, resolved
from quartet.cli import game_options, paths, tables
from quartet.cli.game_options import Decorator
from quartet.cli.progress import run_units
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.seats import seating, versions
from quartet.judge.seats.players import Kind

MAX_NODES = 2**63 - 1
"""Limit of --nodes: engines and plans hold 64-bit integers."""


class RenamedOption(click.Option):
    """An option whose former names work, but are not in its help: the first name is the current
    one."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the help with the current name only."""
        names, self.opts = self.opts, self.opts[:1]
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts = names


WORKER_OPTIONS: list[Decorator] = [
    click.option(
        "--jobs",
        type=click.IntRange(min=1),
        metavar="N",
        help="Units of work at a time  [default: as many as there are free cores for].",
    ),
    click.option(
        "--oversubscribe",
        "--crowded",
        "oversubscribe",
        is_flag=True,
        cls=RenamedOption,
        help="Use cores that other runs use, too. Games then slow each other down.",
    ),
    click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Work on the Dask scheduler at ADDRESS, e.g. tcp://10.0.0.1:8786.",
    ),
]
OPTIONS: list[Decorator] = [
    click.option(
        "--cores",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        metavar="N",
        help="Cores reserved for each game.",
    ),
    click.option(
        "--seed",
        default=1,
        show_default=True,
        help="Seed of the openings and of all other chance.",
    ),
    click.option(
        "--clock",
        multiple=True,
        metavar="[NAME=]MS",
        help="Clock in ms, for all players or for NAME: per move with the file protocol, per game with "
        "the line protocol  [default: the judge's].",
    ),
    click.option(
        "--nodes",
        multiple=True,
        metavar="[NAME=]N",
        help="Nodes per search, for all built-in players and versions, or for NAME  "
        "[default: no limit].",
    ),
    game_options.variants,
    game_options.sandboxed,
    click.option(
        "--disqualify",
        is_flag=True,
        help="Disqualify a player at its first forfeited turn; it ranks last.",
    ),
    click.option(
        "--megabytes",
        type=click.FloatRange(min=1),
        help="Memory of a program and its children, in MiB  [default: the judge's].",
    ),
    click.option(
        "--replay-overloaded",
        type=click.IntRange(min=0),
        default=0,
        metavar="N",
        help="Replay a line-protocol game lost by a time-out on an overloaded machine, up to N "
        "times.",
    ),
    click.option(
        "--in-process",
        is_flag=True,
        help="Play built-in players inside the worker, without programs; fast.",
    ),
    click.option(
        "--out",
        type=paths.PathType(file_okay=False),
        help="Folder of the records  [default: one in runs/ per command].",
    ),
    click.option(
        "--note",
        metavar="TOPIC: IDEA",
        help="Write the result to the experiment page docs/experiments/NNN-TOPIC.md.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else."),
]


def worker_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options for where work is done: `jobs`, `oversubscribe` and `cluster`."""
    for option in reversed(WORKER_OPTIONS):
        function = option(function)
    return function


def options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options of every run of games; `RunOptions.read` takes their values."""
    for option in reversed(OPTIONS):
        function = option(function)
    return worker_options(function)


@dataclass(frozen=True)
class RunOptions:
    """The options of a run of games, as they were given on the command line.

    Attributes:
        fields: Those that are fields of RunConfig, by name; a new one needs no line here.
        clock: --clock, as VALUE or NAME=VALUE.
        nodes: --nodes, as VALUE or NAME=VALUE.
        variants: --option, as NAME=VALUE.
        jobs: Games at a time, None for as many as there are cores for.
        oversubscribe: Share cores with other runs.
        cluster: Address of a Dask scheduler, None for this machine.
        out: The run's folder, None for one in runs/.
        note: "TOPIC: IDEA" of an experiment's page, None for none.
        as_json: Print JSON only.
    """

    fields: Mapping[str, Any]
    clock: Sequence[str]
    nodes: Sequence[str]
    variants: Sequence[str]
    jobs: int | None
    oversubscribe: bool
    cluster: str | None
    out: Path | None
    note: str | None
    as_json: bool

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> Self:
        """Sort the values of `options`, the decorator, into those of RunConfig and the others."""
        fields = {name: options[name] for name in RunConfig.__struct_fields__ if name in options}
        return cls(fields, **{name: v for name, v in options.items() if name not in fields})

    def config(self, game: str, players: Sequence[tuple[str, str]]) -> RunConfig:
        """Return the settings of a run, after checks that would else fail in its games.

        Args:
            game: The game's name.
            players: Names and commands of the players.

        Raises:
            QuartetError: A player cannot play, or an option does not fit the game.
        """
        if self.note is not None:
            notes.parse(self.note)
        known = games.load(game)
        names = [name for name, _ in players]
        ms = per_player("--clock", self.clock, names)
        nodes = per_player("--nodes", self.nodes, names)
        for number in nodes.values():
            if not (number.is_integer() and number <= MAX_NODES):
                raise QuartetError(f"--nodes: {number:.10g} is not an integer from 1 to 2^63 - 1")
        in_process = self.fields["in_process"]
        specs = []
        for name, given in players:
            if in_process and versions.parse(given) is not None:
                raise QuartetError(f"--in-process is for this checkout's players, not for {given}")
            spec = builds.resolve(game, given)
            if spec.kind is not Kind.BUILT_IN and in_process:
                raise QuartetError(f"--in-process is for built-in players; {given!r} is not one")
            if not spec.is_ours and any(text.startswith(f"{name}=") for text in self.nodes):
                raise QuartetError(f"--nodes is for built-in players; {given!r} is not one")
            if name in nodes:
                spec.require_nodes()
            specs.append(spec)
        config = RunConfig(
            game=game,
            players=tuple(
                PlayerConfig(
                    name,
                    spec.full,
                    ms.get(name),
                    int(nodes[name]) if spec.is_ours and name in nodes else None,
                )
                for name, spec in zip(names, specs, strict=True)
            ),
            options=game_options.read_variants(game, self.variants),
            **self.fields,
        )
        if config.disqualify and in_process:
            raise QuartetError(
                "built-in players forfeit no turns: omit --disqualify or --in-process"
            )
        if config.disqualify and known.info.lines is not None:
            raise QuartetError(
                "--disqualify is for games that continue after a forfeited turn; the first one loses "
                f"a game of {game}"
            )
        if config.replay_overloaded and known.info.lines is None:
            raise QuartetError(f"--replay-overloaded is for line protocols, not for {game}")
        if in_process and (config.replay_overloaded or config.megabytes is not None):
            option = "--replay-overloaded" if config.replay_overloaded else "--megabytes"
            raise QuartetError(f"{option} is for programs: omit it or --in-process")
        start = Start(config.seed, config.options)
        if start.position(known.position).over:
            raise QuartetError("the start: the game is over")
        seating.start_environment(known, start, specs)
        return config

    @property
    def changed(self) -> dict[str, Any]:
        """The fields with another value than their default, but for the seed."""
        return {
            name: v for name, v in self.fields.items() if v != DEFAULTS[name] and name != "seed"
        }

    @property
    def is_silent(self) -> bool:
        """Return True if only the outcome is printed."""
        return self.as_json or not (sys.stdout.isatty() and sys.stderr.isatty())

    def keep_note(
        self, records: Records, number: int, show: Callable[[Console], None], decision: str
    ) -> None:
        """Write the result to an experiment's page if --note asks for it.

        Args:
            records: The open folder of the run.
            number: Games that count.
            show: Prints the result.
            decision: The command's decision, `notes.OPEN` if it makes none.

        Raises:
            QuartetError: The page cannot be written.
        """
        if self.note is None:
            return
        topic, idea = notes.parse(self.note)
        page = io.StringIO()
        show(Console(file=page, highlight=False, width=tables.PAGE_WIDTH))
        kept = notes.keep(
            notes.Note(
                topic,
                idea,
                shlex.join(["quartet", *without_note(sys.argv[1:])]),
                notes.commit(),
                self.fields["seed"],
                number,
                records.folder,
                page.getvalue(),
                decision,
                notes.today(),
            )
        )
        print(f"quartet: wrote the experiment to {kept}", file=sys.stderr)

    def records(self, kind: str, config: RunConfig, **more: object) -> Records:
        """Open the folder of this run, new or existing.

        Args:
            kind: The command.
            config: The settings.
            more: More lines of the plan.

        Raises:
            QuartetError: The folder belongs to another run; a new folder is then not created.
        """
        runner.check_cluster(self.jobs, self.cluster, config.cores)
        plan: dict[str, Any] = {"kind": kind, **config.plan(), **more}
        for player in plan["players"]:
            player["fingerprint"] = fingerprint(resolved(config.game, player["command"]))
        digest = hashlib.sha256(msgspec.json.encode(plan)).hexdigest()[:8]
        return Records(self.out or Path("runs") / f"{config.game}-{kind}-{digest}", plan)


def without_note(words: Sequence[str]) -> list[str]:
    """Return a command line without --note and its value."""
    found: list[str] = []
    before = ""
    for word in words:
        if before != "--note" and word != "--note" and not word.startswith("--note="):
            found.append(word)
        before = word
    return found


def per_player(option: str, texts: Sequence[str], names: Sequence[str]) -> dict[str, float]:
    """Return values by player, from VALUE (for all) and NAME=VALUE. Raises QuartetError."""
    found: dict[str, float] = {}
    for text in sorted(texts, key=lambda text: "=" in text):
        name, _, value = text.rpartition("=")
        if name and name not in names:
            raise QuartetError(
                f"{option} {text}: no player is called {name!r}; there are: {', '.join(names)}"
            )
        if [other.rpartition("=")[0] for other in texts].count(name) > 1:
            raise QuartetError(f"{option}: two values for {name or 'all players'}; pass one")
        found.update(dict.fromkeys([name] if name else names, positive(value, f"{option} {text}")))
    return found


def positive(text: str, what: str, hint: str = "") -> float:
    """Return the positive number in a text. Raises QuartetError, which begins with `what`."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise QuartetError(f"{what}: {text!r} is not a positive number{hint}")
    return number


def run(
    options: RunOptions,
    config: RunConfig,
    records: Records,
    schedule: Callable[[dict[int, GameResult]], Schedule],
    view: Callable[[Sequence[GameResult]], RenderableType],
    total: int | None,
) -> list[GameResult]:
    """Play a schedule to its end with a progress display.

    Args:
        options: Where the games are played.
        config: The settings.
        records: The open folder of the run.
        schedule: Makes the schedule from the results, which grow.
        view: Makes the table above the progress bar.
        total: Games in all, None if it is not known.

    Returns:
        All results in the order of the schedule.
    """
    units = schedule(records.done)
    if options.cluster is None:  # another machine does not have the folder
        units = (unit and msgspec.structs.replace(unit, live=records.live(unit)) for unit in units)
    workers: runner.Workers[GameUnit, Played] = runner.workers(
        play,
        options.jobs,
        options.cluster,
        each=config.cores,
        oversubscribe=options.oversubscribe,
    )
    run_units(
        "games",
        units,
        total,
        workers,
        records,
        view=lambda: view(list(records.done.values())),
        silent=options.is_silent,
    )
    return [records.done[number] for number in sorted(records.done)]
