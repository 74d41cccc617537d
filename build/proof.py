"""The proof that what was packed works: it is started as its judge starts it, and plays.

    games       whole games in our judge against a built-in player, on both sides, at a fixed number of nodes
    equality    in all of them it has played what the agent plays from source, with the checkout's own compiled modules
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
from typing import TYPE_CHECKING, Any, NamedTuple

from core.errors import QuartetError
from core.messages import Drew, Finish, Init, Message, Opponent, Ply, Ready, Turn
from quartet import registry
from quartet.arena.launch import launch
from quartet.judge import game as games
from quartet.judge import referee
from quartet.judge.lines import Contestant, Duel, Terms
from quartet.judge.program import Program, turn_seed
from quartet.judge.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from quartet.judge.game import LineGame
    from quartet.judge.lines import LineResult

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
            prove_lines(games.load_lines(game), command, folder, getattr(target, "VARIANTS", ()))
        else:
            slow = target.seconds(artefact) if hasattr(target, "seconds") else None
            prove_exchange(game, command, folder, slow)


def say(text: str) -> None:
    print(f"proof: {text}", file=sys.stderr, flush=True)


# Judges that speak lines


def prove_lines(
    game: LineGame, command: Sequence[str], folder: Path, variants: Sequence[Mapping[str, str]] = ()
) -> None:
    """The proof for a program that lives for a whole game. Raises QuartetError."""
    name = game.info.name
    clock = game.judge.clock_ms
    answers = 0
    for seat in (0, 1):
        duel, said = play(
            game,
            command,
            folder,
            seat,
            Terms(PATIENCE * game.judge.ready_ms, PATIENCE * clock),
            FIXED,
        )
        lines = conversation(game, duel, seat)
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
    say(
        f"2 games at {NODES} nodes against {opponent(name)}: {answers} answers, all as from source"
        + f", {len(variants)} variants too" * bool(variants)
    )
    duel, _ = play(game, command, folder, 0, Terms.of(game.judge), {})
    assert duel.result is not None  # noqa: S101  (it was played to its end)
    farewell = duel.result.farewells[0]
    used = (
        ""
        if farewell is None
        else f"; {farewell.seconds:.1f} s of processor time, {farewell.megabytes:.0f} MB"
    )
    say(f"a game by the clock: {duel.result.sentence}{used}")


def play(
    game: LineGame,
    command: Sequence[str],
    folder: Path,
    seat: int,
    terms: Terms,
    env: Mapping[str, str],
) -> tuple[Duel, list[str]]:
    """A game of the artefact on a seat; gives it, and what the artefact has answered. Raises
    QuartetError where it did not go well."""
    name = game.info.name
    how, more = launch(name, opponent(name), "--seed", str(SEED))
    players = [
        Contestant("artefact", command, folder, {**NO_PYTHON, **env}),
        Contestant(opponent(name), how, folder, more),
    ]
    with Duel(
        game, players if seat == 0 else players[::-1], terms, game.position.start(SEED)
    ) as duel:
        said = [turn.answer for turn in duel.turns() if turn.seat == seat]
    assert duel.result is not None  # noqa: S101
    complaint = fault(duel.result, seat)
    if complaint is not None:
        raise QuartetError(f"the artefact does not work: {complaint}")
    return duel, said


def fault(result: LineResult, seat: int) -> str | None:
    """What was not as it should be in a game, or None."""
    if (
        result.termination.foul
        or result.offender is not None
        or any(score is None for score in result.scores)
    ):
        return result.sentence
    if result.notes:
        return result.notes[0]
    if result.remarks[seat]:
        return f"it says {result.remarks[seat][0][1]!r}"
    return None


def opponent(game: str) -> str:
    """The built-in player to play against."""
    names: Sequence[str] = registry.load(game, "players").NAMES
    return OPPONENT if OPPONENT in names else names[-1]


def conversation(game: LineGame, duel: Duel, seat: int) -> list[str]:
    """What the program on a seat has heard in a game, with full clocks."""
    start = next(entry for entry in duel.entries if isinstance(entry, Init))
    heard: list[Message] = [Ready(seat), *([start] if game.judge.init else [])]
    for entry in duel.entries:
        if isinstance(entry, Ply) and entry.seat == seat:
            heard += [
                Turn(game.judge.clock_ms, game.judge.clock_ms),
                *([Drew(entry.drawn)] if game.info.chance else []),
            ]
        elif isinstance(entry, Ply):
            heard.append(Opponent(entry.move, entry.drawn, entry.ms))
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
                Heard([turn.output]), Heard([expected]), f"the artefact at ply {turn.ply}", "source"
            )
            count += 1
    say(
        f"a game on every second seat, at {NODES} nodes, against {opponent(game)}: {count} answers, all as from source"
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
            f"{len(turns)} turns by the clock: the longest took {longest:.3f} s of {info.exchange.seconds:g}, at most {fattest:.0f} MB"
        )


def take_turns(
    game: str,
    command: Sequence[str],
    ours: set[int],
    seconds: float,
    env: Mapping[str, str],
    most: int | None = None,
) -> list[Any]:
    """The artefact's turns in a game on the seats `ours`, the first `most` of them. Raises
    QuartetError where one is lost."""
    info = registry.load(game, "reference").INFO
    header = referee.header(
        game,
        ["artefact"] * info.players,
        seed=SEED,
        seconds=seconds,
        megabytes=info.exchange.megabytes,
    )
    table = Table(header)
    players = [
        Program(list(command), {**NO_PYTHON, **env})
        if seat in ours
        else Program(*launch(game, opponent(game)), seconds=60)
        for seat in range(info.players)
    ]
    taken = []
    try:
        for _, turn in referee.turns(table, players):
            if turn.verdict.lost or (turn.stderr_size and turn.seat in ours):
                raise QuartetError(
                    f"the artefact does not work: ply {turn.ply} is {turn.verdict.value}: {turn.reason} {turn.stderr}".strip()
                )
            if turn.seat in ours and turn.output is not None:
                taken.append(turn)
            if most is not None and len(taken) >= most:
                break
    finally:
        for player in players:
            player.close()
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
            f"the agent from source ends with status {done.returncode}, and says {done.stderr.strip()[:200]!r}"
        )
    return Path(folder, exchange.output).read_text(encoding="utf-8")
