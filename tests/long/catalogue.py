"""The long trials: what they count, how much is enough, and which sources they test."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

from quartet import registry
from tests.long import cluster, differential, fuzz, kill, libfuzzer, soak, torture, windows
from tests.long.progress import Attempt


class LongTrial(NamedTuple):
    """A long trial.

    Attributes:
        title: What is tried, for the table.
        unit: What an attempt counts.
        goal: Number of units that is enough.
        tested: Patterns of the tested sources, below the project's folder.
        open: Returns a context with the attempt.
    """

    title: str
    unit: str
    goal: int
    tested: tuple[str, ...]
    open: Callable[[], AbstractContextManager[Attempt]]


CORE = ("core/*.py", "core/native/*")
JUDGE = (*CORE, "core/agent/*", "quartet/judge/**/*")
ARENA = (*JUDGE, "quartet/arena/*")
PARSERS = {
    "positions": ("*/reference.py", "*/rules.*", "ataxx/fen.py", "*/protocol.py", "*/text.py"),
    "answers": ("*/reference.py", "*/rules.*", "*/protocol.py"),
    "logs": ("core/errors.py", "quartet/judge/**/*", "*/protocol.py"),
    "messages": ("core/agent/*", "core/messages.py", "*/protocol.py"),
    "questions": ("ugolki/__main__.py", "ugolki/protocol.py", "ugolki/emergency.py"),
    "stalls": ("core/agent/stalls.py",),
    "uai-commands": ("ataxx/uai*.py", "ataxx/fen.py"),
    "uai-replies": ("ataxx/uai*.py",),
    "remarks": ("quartet/judge/process/pipes.py", "quartet/judge/seats/seat.py"),
    "weights": ("core/nn/*", "*/engine.pyx"),
    "samples": ("quartet/training/*",),
    "records": ("quartet/arena/*",),
    "settings": ("quartet/cli/settings.py",),
    "players": ("core/engine.py", "quartet/judge/seats/players.py"),
    "requests": ("quartet/web/*.py",),
}
"""Name in `tests.readers.TARGETS` -> the sources of the parser."""


COMPILED = (
    "core/native/*",
    "core/nn/*.h",
    "core/search/*",
    "*/rules.*",
    "*/engine.pyx",
    "*/nn/*.h",
)
"""What the compiled readers share."""


def _rules(game: str) -> tuple[str, ...]:
    package = registry.GAMES[game]
    return (f"{package}/reference.py", f"{package}/rules.*", "core/native/*")


def _by_lines(game: str) -> bool:
    return registry.load(game, "reference").INFO.lines is not None


TRIALS = {
    **{
        f"differential-{game}": LongTrial(
            f"fast against reference rules, {game}",
            "positions",
            10_000_000,
            _rules(game),
            differential.trial(game),
        )
        for game in registry.GAMES
    },
    **{
        f"soak-{game}": LongTrial(
            f"games in one judge process, {game}",
            "games",
            3000 if _by_lines(game) else 100,
            JUDGE,
            soak.trial(game, soak.PROGRAMS),
        )
        for game in registry.GAMES
    },
    **{
        f"clocks-{game}": LongTrial(
            f"clocks of one process's games, {game}",
            "s",
            24 * 3600,
            (*CORE, f"{registry.GAMES[game]}/*", "core/search/*"),
            soak.trial(game, soak.CLOCKS),
        )
        for game in registry.GAMES
    },
    **{
        f"busy-{game}": LongTrial(
            f"games with 1 s per player on busy cores, {game}",
            "games",
            3000,
            (*JUDGE, f"{registry.GAMES[game]}/*", "core/search/*"),
            soak.trial(game, soak.ONE_SECOND),
        )
        for game in filter(_by_lines, registry.GAMES)
    },
    "busy-ugolki": LongTrial(
        "turns next to two busy processes, ugolki",
        "turns",
        10_000,
        (*JUDGE, "ugolki/*"),
        soak.trial("ugolki", soak.BUSY),
    ),
    **{
        f"kill-{what}": LongTrial(
            f"SIGKILL during `{what}`",
            "kills",
            100,
            (*ARENA, f"quartet/cli/{what}.py"),
            kill.trial(what, "applegame" if what == "pack" else "ataxx", size=size, kills=10),
        )
        for what, size in {
            "tournament": 100,
            "tune": 100,
            "selfplay": 320,
            "train": 20,
            "review": 100,
            "pack": 1,
        }.items()
    },
    "windows-ugolki": LongTrial(
        "moves of the packed executable under Wine, every second input damaged, ugolki",
        "moves",
        1000,
        (*CORE, "core/agent/*", "ugolki/*", "build/*.py", "build/windows/*"),
        windows.trial,
    ),
    **{
        f"cluster-{what}": LongTrial(
            f"`{what}` on a Dask cluster: of four workers, two killed and one slow",
            "killed workers",
            20,
            (*ARENA, f"quartet/cli/{what}.py"),
            cluster.trial(what, "ataxx", size),
        )
        for what, size in {
            "tournament": 80,
            "gauntlet": 80,
            "tune": 80,
            "selfplay": 320,
            "review": 80,
        }.items()
    },
    **{
        f"torture-{program.replace(' --', '-')}": LongTrial(
            f"damaged conversations, `{program}`",
            "conversations",
            2_000,
            ("core/agent/*", f"{registry.GAMES[program.split()[0]]}/*.py"),
            torture.trial(program),
        )
        for program in (*filter(_by_lines, registry.GAMES), torture.UAI)
    },
    **{
        f"fuzz-{name}": LongTrial(
            f"mutated inputs, {name}", "inputs", 10_000_000, tested, fuzz.trial(name)
        )
        for name, tested in PARSERS.items()
    },
    **{
        f"libfuzzer-{name}": LongTrial(
            f"libFuzzer with AddressSanitizer and UBSan, {name}",
            "s",
            3600,
            (*PARSERS[name], *COMPILED),
            libfuzzer.trial(name),
        )
        for name in ("positions", "messages", "questions", "weights", "samples")
    },
}
"""Name -> trial."""
