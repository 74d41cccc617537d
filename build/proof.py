"""The proof that what was packed works: it is started as its judge starts it, and plays.

    games       whole games in our judge against a built-in player, on both sides, at a fixed number
                of nodes
    equality    in all of them it has played what the agent plays from source, with the checkout's
                own compiled modules
    variants    a bundle's other levels and ways have the same answers
    clock       a game, or some turns of one, by the clock, within the judge's limits

The artefact lies in an empty folder, and nothing of the project is on any path of its Python.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from core.errors import QuartetError
from core.messages import Drew, Finish, Init, Message, Opponent, Ready
from core.messages import Turn as Call
from quartet import registry
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.match import Match
from quartet.judge.process.pipes import hub
from quartet.judge.seats.files import FileSeat, turn_seed
from quartet.judge.seats.lines import Command, LineSeat
from quartet.judge.seats.players import launch
from quartet.judge.table import table_rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from quartet.judge.game import Game
    from quartet.judge.table import TableRules
    from quartet.judge.turn import Turn

NODES, SEED = 2000, 1
"""Of every search at fixed nodes; of everything that is left to chance."""
OPPONENT = "greedy"
PATIENCE = 10
"""At fixed nodes, so many times what the judge allows: speed is not the question there."""
TURNS_BY_THE_CLOCK = 10
HOME = str(registry.ROOT)
NO_PYTHON = {"PYTHONPATH": "", "PYTHONHOME": "", "PYTHONSTARTUP": ""}
"""Python takes an empty one of these for none."""
FIXED = {"QUARTET_NODES": str(NODES), "QUARTET_SEED": str(SEED)}


def prove(game: str, artefact: Path, target: ModuleType) -> None:
    """Play with what was made for a game; `quartet/cli/pack.py` says what a target offers. Says on
    stderr what was seen.

    `target.VARIANTS`, where there are any, are environments in which a program that speaks lines
    must have the same answers. `target.seconds(artefact)`, where it is there, is a limit of a turn
    for an artefact that cannot keep to the judge's on this machine. Raises QuartetError with what
    is wrong.
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
    game: Game, command: Sequence[str], folder: Path, variants: Sequence[Mapping[str, str]] = ()
) -> None:
    """The proof for a program that lives for a whole game. Raises QuartetError."""
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
    game: Game,
    command: Sequence[str],
    folder: Path,
    seat: int,
    table: TableRules,
    env: Mapping[str, str],
) -> Match:
    """A game of the artefact on a seat, played to its end. Raises QuartetError where it did not go
    well."""
    name = opponent(game.info.name)
    how, more = launch(game, name, "--seed", str(SEED))
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
    """What was not as it should be in a game, or None."""
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
    """The built-in player to play against."""
    names: Sequence[str] = registry.load(game, "players").NAMES
    return OPPONENT if OPPONENT in names else names[-1]


def conversation(match: Match, seat: int) -> list[str]:
    """What the program on a seat has heard in a game, with full clocks."""
    game = match.game
    heard: list[Message] = [Ready(seat)]
    if game.lines.init:
        heard.append(Init(match.first().text()))
    for turn in match.turns:
        assert turn.move is not None  # noqa: S101  (nobody lost a turn)
        if turn.seat == seat:
            heard.append(Call(game.lines.clock_ms, game.lines.clock_ms))
            heard += [Drew(turn.drawn)] if game.info.chance else []
        else:
            heard.append(Opponent(turn.move, turn.drawn, turn.ms))
    return [game.protocol.format_message(message, seat) for message in [*heard, Finish()]]


class Heard(NamedTuple):
    """What a program has answered, the answer to READY left away, and what is wrong with how it
    ended."""

    answers: list[str]
    complaint: str | None = None


def ask(
    command: Sequence[str], folder: Path, lines: Sequence[str], env: Mapping[str, str]
) -> Heard:
    """What a program answers to these lines."""
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
    """Raises QuartetError at the first difference: one that would have moved otherwise complains of
    what it hears next."""
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
    """The proof for a program that is started anew for every move. Raises QuartetError."""
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
    """The artefact's turns in a game on the seats `ours`, the first `most` of them. Raises
    QuartetError where one is lost."""
    known = games.load(game)
    info = known.info
    # An opponent from source may take its time.
    ms = [1000 * seconds if seat in ours else 60_000 for seat in range(info.players)]
    table = table_rules(info, ms=ms)
    how, more = launch(known, opponent(game))
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
    """What the agent from source answers to a question. Raises QuartetError."""
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
