"""Prove that a package works: start it as its judge does, and play.

    games       complete games in the local judge against a built-in player, on both sides, at a node
                limit
    equality    in all of them the package plays the moves of the agent from source, with the
                checkout's compiled modules
    variants    a bundle's other levels and ways give the same answers
    clock       a timed game, or some of its turns, within the judge's limits

The package is in an empty folder, and its Python finds nothing of the project.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from core.errors import QuartetError
from core.messages import Drew, Finish, Init, Message, Opponent, Ready, YourTurn
from quartet import registry
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.match import Match
from quartet.judge.process.pipes import hub
from quartet.judge.seats.files import FileSeat, turn_seed
from quartet.judge.seats.lines import Command, LineSeat
from quartet.judge.seats.players import PlayerSpec
from quartet.judge.table import table_rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from quartet.judge.game import JudgedGame
    from quartet.judge.table import TableRules
    from quartet.judge.turn import Turn

NODES, SEED = 2000, 1
"""Nodes per search at a node limit, and the seed of all random numbers."""
OPPONENT = "greedy"
PATIENCE = 10
"""Factor on the judge's time limits in games at a node limit, which do not test speed."""
TURNS_BY_THE_CLOCK = 10
HOME = str(registry.ROOT)
NO_PYTHON = {"PYTHONPATH": "", "PYTHONHOME": "", "PYTHONSTARTUP": ""}
"""Variables that Python ignores if they are empty."""
FIXED = {"QUARTET_NODES": str(NODES), "QUARTET_SEED": str(SEED)}


def prove(game: str, artefact: Path, target: ModuleType) -> None:
    """Play with the package of a game and print the findings on stderr.

    `quartet/cli/pack.py` describes targets. `target.VARIANTS`, if any, are environments in which a
    line-protocol program must give the same answers. `target.seconds(artefact)`, if defined, is the
    limit of a turn for a package that cannot meet the judge's limit on this machine. Raises
    QuartetError with what is wrong.
    """
    with tempfile.TemporaryDirectory(prefix="quartet-proof-") as name:
        folder = Path(name)
        command = target.start(artefact, folder)
        if command is None:
            say(f"{artefact.name} cannot be run on this machine: it is not proven")
        elif registry.load(game, "reference").INFO.lines is not None:
            prove_lines(games.load(game), command, folder, getattr(target, "VARIANTS", ()))
        else:
            slow = target.seconds(artefact) if hasattr(target, "seconds") else None
            prove_exchange(game, command, folder, slow)


def say(text: str) -> None:
    print(f"proof: {text}", file=sys.stderr, flush=True)


# Judges that speak lines


def prove_lines(
    game: JudgedGame,
    command: Sequence[str],
    folder: Path,
    variants: Sequence[Mapping[str, str]] = (),
) -> None:
    """Prove a line-protocol program, one process per game. Raises QuartetError."""
    name = game.info.name
    judge = game.lines
    ready, clock = PATIENCE * judge.ready_ms, PATIENCE * judge.clock_ms
    patient = table_rules(game.info, ms=[clock] * 2, ready_ms=ready)
    answers = 0
    for seat in (0, 1):
        match = play(game, command, folder, seat, patient, FIXED)
        said = [turn.output or "" for turn in match.turns if turn.seat == seat]
        lines = conversation(match, seat)
        package = registry.GAMES[name]
        expected = ask(
            [sys.executable, "-m", package], Path(HOME), lines, {**FIXED, "PYTHONPATH": HOME}
        )
        compare(Heard(said), expected, "the artefact", "source")
        for variant in variants:
            setting = " ".join(f"{key}={value}" for key, value in variant.items())
            compare(
                ask(command, folder, lines, {**NO_PYTHON, **FIXED, **variant}),
                expected,
                f"the artefact with {setting}",
                "source",
            )
        answers += len(said)
    more = f", {len(variants)} variants too" * bool(variants)
    against = f"2 games at {NODES} nodes against {opponent(name)}"
    say(f"{against}: {answers} answers, all as from source{more}")
    result = play(game, command, folder, 0, table_rules(game.info), {}).result
    assert result is not None  # noqa: S101  (it was played to its end)
    report = result.exits[0]
    used = ""
    if report is not None:
        used = f"; {report.seconds:.1f} s of processor time, {report.megabytes:.0f} MB"
    say(f"a game by the clock: {result.reason}{used}")


def play(
    game: JudgedGame,
    command: Sequence[str],
    folder: Path,
    seat: int,
    table: TableRules,
    env: Mapping[str, str],
) -> Match:
    """Play a game with the package on a seat to its end. Raises QuartetError if it forfeits or
    differs."""
    name = opponent(game.info.name)
    how, more = PlayerSpec.parse(game.info.name, name).launch("--seed", str(SEED))
    shared = hub()
    seats = [
        LineSeat(Command(command, folder, {**NO_PYTHON, **env}), shared),
        LineSeat(Command(how, folder, more), shared),
    ]
    names = ["artefact", name]
    if seat == 1:
        seats, names = seats[::-1], names[::-1]
    with Match(game, seats, names, table, Start(SEED, {})) as match:
        match.play_out()
    complaint = fault(match, seat)
    if complaint is not None:
        raise QuartetError(f"the artefact does not work: {complaint}")
    return match


def fault(match: Match, seat: int) -> str | None:
    """Return what went wrong in a game, or None."""
    result = match.result
    assert result is not None  # noqa: S101  (it was played to its end)
    if result.offender is not None or any(score is None for score in result.scores):
        return result.reason
    if result.notes:
        return result.notes[0]
    said = [text for turn in match.turns for own, text in turn.said if own == seat]
    said += [text for own, text in result.said if own == seat]
    return f"it says {said[0]!r}" if said else None


def opponent(game: str) -> str:
    """Return the built-in opponent."""
    names: Sequence[str] = registry.load(game, "players").NAMES
    return OPPONENT if OPPONENT in names else names[-1]


def conversation(match: Match, seat: int) -> list[str]:
    """Return the lines that the program on a seat received in a game, with full clocks."""
    game = match.game
    heard: list[Message] = [Ready(seat)]
    if game.lines.init:
        heard.append(Init(match.first().text()))
    for turn in match.turns:
        assert turn.move is not None  # noqa: S101  (no turn was forfeited)
        if turn.seat == seat:
            heard.append(YourTurn(game.lines.clock_ms, game.lines.clock_ms))
            heard += [Drew(turn.drawn)] if game.info.chance else []
        else:
            heard.append(Opponent(turn.move, turn.drawn, turn.ms))
    return [game.protocol.format_message(message, seat) for message in [*heard, Finish()]]


class Heard(NamedTuple):
    """Return a program's answers without the one to READY, and what is wrong with its end."""

    answers: list[str]
    complaint: str | None = None


def ask(
    command: Sequence[str], folder: Path, lines: Sequence[str], env: Mapping[str, str]
) -> Heard:
    """Return a program's answers to these lines."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **env},
        input="".join(line + "\n" for line in lines),
        capture_output=True,
        text=True,
        check=False,
    )
    wrong = (
        f"ends with status {done.returncode}, and says {done.stderr.strip()[:200]!r}"
        if done.returncode or done.stderr
        else None
    )
    return Heard(done.stdout.splitlines()[1:], wrong)


def compare(said: Heard, expected: Heard, who: str, whom: str) -> None:
    """Raise QuartetError at the first difference. An agent that would have moved otherwise rejects
    the next line that it receives."""
    for number, (one, other) in enumerate(
        zip(said.answers, expected.answers, strict=False), start=1
    ):
        if one != other:
            raise QuartetError(f"answer {number} of {who} is {one!r}, that from {whom} {other!r}")
    for heard, name in ((said, who), (expected, whom)):
        if heard.complaint is not None:
            raise QuartetError(f"{name} {heard.complaint}")
    if len(said.answers) != len(expected.answers):
        raise QuartetError(
            f"{who} gives {len(said.answers)} answers, {whom} {len(expected.answers)}"
        )


# Judges that exchange files


def prove_exchange(game: str, command: Sequence[str], folder: Path, slow: float | None) -> None:
    """Prove a file-protocol program, one process per move. Raises QuartetError."""
    info = registry.load(game, "reference").INFO
    limit = slow or PATIENCE * info.exchange.seconds
    count = 0
    for first in range(2) if info.players == 2 else range(1):
        ours = set(range(first, info.players, 2))
        for turn in take_turns(game, command, ours, limit, FIXED):
            seed = str(turn_seed(SEED, turn.seat, turn.ply))
            own = folder / f"source-{first}-{turn.seat}"  # it may remember things from move to move
            own.mkdir(exist_ok=True)
            expected = from_source(game, turn.input, {**FIXED, "QUARTET_SEED": seed}, own)
            compare(
                Heard([turn.output or ""]),
                Heard([expected]),
                f"the artefact at ply {turn.ply}",
                "source",
            )
            count += 1
    say(
        f"a game on every second seat, at {NODES} nodes, against {opponent(game)}: {count} "
        "answers, all as from source"
    )
    if slow is None:
        turns = take_turns(
            game,
            command,
            set(range(0, info.players, 2)),
            info.exchange.seconds,
            {},
            TURNS_BY_THE_CLOCK,
        )
        longest, fattest = (
            max(turn.seconds for turn in turns),
            max(turn.megabytes for turn in turns),
        )
        say(
            f"{len(turns)} turns by the clock: the longest took {longest:.3f} s of "
            f"{info.exchange.seconds:g}, at most {fattest:.0f} MB"
        )


def take_turns(
    game: str,
    command: Sequence[str],
    ours: set[int],
    seconds: float,
    env: Mapping[str, str],
    most: int | None = None,
) -> list[Turn]:
    """Return the package's turns in a game on the seats `ours`, at most `most`. Raises QuartetError
    if one is forfeited."""
    known = games.load(game)
    info = known.info
    # An opponent from source starts slowly.
    ms = [1000 * seconds if seat in ours else 60_000 for seat in range(info.players)]
    table = table_rules(info, ms=ms)
    how, more = PlayerSpec.parse(info.name, opponent(game)).launch()
    seats = [
        FileSeat(list(command), {**NO_PYTHON, **env}) if seat in ours else FileSeat(how, more)
        for seat in range(info.players)
    ]
    taken = []
    with Match(known, seats, ["artefact"] * info.players, table, Start(SEED, {})) as match:
        for turn in match.play():
            if turn.verdict.lost or (turn.stderr_size and turn.seat in ours):
                raise QuartetError(
                    f"the artefact does not work: ply {turn.ply} is {turn.verdict.value}: "
                    f"{turn.reason} {turn.stderr}".strip()
                )
            if turn.seat in ours and turn.output is not None:
                taken.append(turn)
            if most is not None and len(taken) >= most:
                break
    return taken


def from_source(game: str, text: str, env: Mapping[str, str], folder: Path) -> str:
    """Return the answer of the agent from source to an input. Raises QuartetError."""
    exchange = registry.load(game, "reference").INFO.exchange
    (folder / exchange.input).write_text(text, encoding="utf-8", newline="\n")
    command = [sys.executable, "-m", registry.GAMES[game]]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **env, "PYTHONPATH": HOME},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or done.stderr:
        raise QuartetError(
            f"the agent from source ends with status {done.returncode}, and says "
            f"{done.stderr.strip()[:200]!r}"
        )
    return Path(folder, exchange.output).read_text(encoding="utf-8")
