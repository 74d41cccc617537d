"""`quartet match` where the judge speaks lines: two programs that live for the whole game, and the
official tools' command lines."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from core.errors import QuartetError, TextError
from core.messages import SIDES
from core.rules import places
from quartet.arena.launch import launch, start_environment
from quartet.cli import drawing, positions
from quartet.cli.screen import Screen
from quartet.judge import game as games
from quartet.judge.lines import Contestant, Duel, Terms
from quartet.judge.program import printable, turn_seed
from quartet.judge.verdict import Termination

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.rules import DrawnPosition
    from quartet.judge.game import LineGame
    from quartet.judge.lines import LineResult

CONFIG_FILES = ("setting.ini", "config.ini")
"""What the official tools call their settings; the first that is in the current folder is taken
where no program is named."""
CONFIG_KEYS = ("INPUT", "LOG", "EXEC1", "EXEC2", "CWD1", "CWD2")
NO_PLAYERS = ("none", "human")


@dataclass(frozen=True)
class Request:
    """What the command line asks for; the options of `quartet match` tell more.

    Attributes:
        first, second: programs by -a and -b, instead of those in `programs`.
        options: variants of the rules.
        seconds, ready_seconds, megabytes: None for the judge's.
    """

    programs: tuple[str, ...]
    seed: int
    options: Mapping[str, bool | int]
    seconds: float | None
    ready_seconds: float | None
    megabytes: float | None
    position: str | None
    log: Path | None
    first: str | None
    second: str | None
    cwd1: Path | None
    cwd2: Path | None
    config: Path | None
    cpu: bool
    replay_overloaded: int
    as_json: bool
    quiet: bool
    step: bool
    delay: int


def command(name: str, request: Request) -> None:
    """Play the game called `name`, and print what came out. Raises QuartetError."""
    game = games.load_lines(name)
    config = _config(request)
    position = _start(game, request, config)
    players = _contestants(name, request, config, position)
    terms = _terms(game, request)
    log = request.log or _path(config.get("LOG"))
    console = Console(highlight=False)
    screen = (
        None
        if request.as_json or request.quiet
        else Screen(console, delay=request.delay / 1000, step=request.step)
    )
    attempts = 0
    while True:
        attempts += 1
        duel = _play(game, players, terms, position, screen, console, log)
        assert duel.result is not None  # noqa: S101  (it was played to its end)
        if not duel.result.overloaded or attempts > request.replay_overloaded:
            break
        print(f"quartet: {duel.result.sentence}; the game is played again", file=sys.stderr)
    if duel.result.termination is Termination.JUDGE:
        raise QuartetError(duel.result.sentence)
    if request.as_json:
        print(
            json.dumps(
                summary(game, players, duel.result, seed=request.seed, attempts=attempts), indent=2
            )
        )
    else:
        _print_result(console, game, players, duel.result)


def summary(
    game: LineGame, players: list[Contestant], result: LineResult, *, seed: int, attempts: int = 1
) -> dict[str, object]:
    """A finished game for machines: why it ended, and for every seat what it scored and used."""
    out = () if result.offender is None else (result.offender,)
    place = places(result.scores, lower_wins=game.info.lower_wins, out=out)
    seats = [
        {
            "seat": seat,
            "player": player.name,
            "score": result.scores[seat],
            "place": place[seat],
            "share": result.shares[seat],
            "foul": result.code if seat == result.offender else None,
            "exit": farewell and farewell.exit,
            "cpu_seconds": farewell and round(farewell.seconds, 6),
            "megabytes": farewell and round(farewell.megabytes, 3),
            "left_behind": farewell and farewell.left_behind,
            "stderr": [{"ply": ply, "text": text} for ply, text in result.remarks[seat]],
        }
        for seat, (player, farewell) in enumerate(zip(players, result.farewells, strict=True))
    ]
    return {
        "game": game.info.name,
        "seed": seed,
        "score": game.info.score_name,
        "plies": result.plies,
        "termination": result.termination.value,
        "reason": result.sentence,
        "overloaded": result.overloaded,
        "games_played": attempts,
        "notes": list(result.notes),
        "seats": seats,
    }


def _play(
    game: LineGame,
    players: list[Contestant],
    terms: Terms,
    position: DrawnPosition,
    screen: Screen | None,
    console: Console,
    log: Path | None,
) -> Duel:
    """Play to the end, show every ply as it happens, and leave a log however the game ends."""
    if log is not None:
        _write(log, "")  # an error must not wait for the end of the game
    with Duel(game, players, terms, position) as duel:
        if screen is not None:
            console.print(drawing.board(position))
        try:
            for turn in duel.turns():
                if screen is not None:
                    line = drawing.said_line(
                        f"{turn.ply} {SIDES[turn.seat]}", turn.seat, turn.answer, f"{turn.ms} ms"
                    )
                    screen.present(line, drawing.board(duel.position))
        except KeyboardInterrupt:
            kept = "" if log is None else f"; the log is kept in {log}"
            print(
                f"\nquartet: the game was left after {duel.position.ply} plies{kept}",
                file=sys.stderr,
            )
            raise
        finally:
            if log is not None:
                _write(log, duel.log())
    return duel


def _print_result(
    console: Console, game: LineGame, players: list[Contestant], result: LineResult
) -> None:
    console.print()
    console.print(
        f"{game.info.title}: {result.sentence}", style="bold", soft_wrap=True, markup=False
    )
    for seat, (player, farewell) in enumerate(zip(players, result.farewells, strict=True)):
        used = (
            ""
            if farewell is None
            else f", {farewell.seconds:.2f} s of processor time, {farewell.megabytes:.0f} MB"
        )
        text = f"{SIDES[seat]} {printable(player.name)}: {result.scores[seat]} {game.info.score_name}{used}"
        console.print(text, soft_wrap=True, markup=False)
    for note in result.notes:
        console.print(note, style="red", soft_wrap=True, markup=False)


def _contestants(
    name: str, request: Request, config: Mapping[str, str], start: DrawnPosition
) -> list[Contestant]:
    given = list(request.programs)
    programs = []
    for flag, option, key in (("-a", request.first, "EXEC1"), ("-b", request.second, "EXEC2")):
        program = option or (given.pop(0) if given else config.get(key))
        if program is None:
            raise QuartetError(
                f"{name} has {len(SIDES)} players: name two programs, or use -a and -b, or a file with EXEC1 and EXEC2"
            )
        if program in NO_PLAYERS:
            raise QuartetError(
                f"{flag}: {program!r} cannot play {name}: its judge speaks with programs"
            )
        programs.append(program)
    if given:
        raise QuartetError(f"{name} has {len(SIDES)} players; left over: {' '.join(given)}")
    folders = [request.cwd1 or _path(config.get("CWD1")), request.cwd2 or _path(config.get("CWD2"))]
    told = start_environment(name, start, programs)
    contestants = []
    for seat, (program, folder) in enumerate(zip(programs, folders, strict=True)):
        if folder is not None and not folder.is_dir():
            raise QuartetError(f"there is no folder {folder}")
        how, env = launch(name, program, "--seed", str(turn_seed(request.seed, seat, 0)))
        contestants.append(Contestant(program, how, folder, {**env, **told}))
    return contestants


def _terms(game: LineGame, request: Request) -> Terms:
    usual = Terms.of(game.judge)
    return Terms(
        usual.ready_ms if request.ready_seconds is None else _milliseconds(request.ready_seconds),
        usual.clock_ms if request.seconds is None else _milliseconds(request.seconds),
        request.megabytes or usual.megabytes,
        request.cpu,
    )


def _start(game: LineGame, request: Request, config: Mapping[str, str]) -> DrawnPosition:
    """The position to start from. Raises TextError and QuartetError."""
    for option in request.options:
        if option not in game.info.options:
            raise TextError(
                f"{game.info.name} has no option {option!r}; there are: {', '.join(game.info.options) or 'none'}"
            )
    given = request.position or config.get("INPUT")
    start = positions.root(game.info.name, game.position, given, request.options, seed=request.seed)
    if start.over:
        raise QuartetError(f"{given or 'the start'}: the game is over")
    return start


def _config(request: Request) -> dict[str, str]:
    """The settings of a file in the official tools' form: KEY=VALUE, a line each. Raises
    QuartetError."""
    path = request.config
    if path is None and not request.programs and not request.first and not request.second:
        path = next((Path(name) for name in CONFIG_FILES if Path(name).is_file()), None)
    if path is None:
        return {}
    config = {}
    for number, line in enumerate(_read(path).splitlines(), start=1):
        text = line.strip()
        if not text or text[0] in "#;[":
            continue
        key, equals, value = text.partition("=")
        key = key.strip().upper()
        if not equals or key not in CONFIG_KEYS:
            raise QuartetError(
                f"{path}: line {number}: expected KEY=VALUE with one of {', '.join(CONFIG_KEYS)}, not {text[:40]!r}"
            )
        if value.strip():
            config[key] = value.strip()
    return config


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise QuartetError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise QuartetError(f"{path} is no text: {error.reason} at byte {error.start}") from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise QuartetError(f"cannot write the log {path}: {error.strerror}") from error


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
