"""Checks of logs: the game of a log is judged again, with the log's answers."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import QuartetError
from core.rules import Position
from quartet import registry
from quartet.judge import game as games
from quartet.judge.game import JudgedGame
from quartet.judge.logs import jsonl
from quartet.judge.logs.checked import CheckedLog
from quartet.judge.logs.replays import JsonlReplay, LogReplay, OfficialReplay
from quartet.judge.match import Match, Watcher
from quartet.judge.seats.logged import AskedSeat
from quartet.judge.seats.seat import Seat


def check(
    game: JudgedGame,
    data: bytes,
    watchers: Sequence[Watcher] = (),
    *,
    rules: type[Position] | None = None,
) -> CheckedLog:
    """Play a log again, up to its end or the first line that disagrees; never raise for a bad log.

    Args:
        game: Game of the log.
        data: Content of the log's file.
        watchers: Watchers of the match.
        rules: Class of the positions; by default that of the reference rules.
    """
    checked = CheckedLog(game, watchers, rules)
    replay = _replay(checked, data)
    try:
        replay.read()
    except QuartetError as error:
        said = str(error)
        checked.complaint = said if said.startswith("line ") else f"line {replay.line}: {said}"
        other = None if checked.turns else origin(data, game.info.name)
        if other is not None:
            checked.complaint = f"line 1: this is a game of {other}, not of {game.info.name}"
    return checked


def question(
    game: JudgedGame, data: bytes, player: Seat, seat: int, ply: int, *, follows: bool
) -> Match:
    """Return the match of a log, with a player who is asked at a ply.

    Playing it raises AskedError with the player's answer.

    Args:
        game: Game of the log.
        data: Content of a log that agrees with the rules.
        player: The player.
        seat: Seat that is to move at `ply`.
        ply: Ply at which to ask.
        follows: True if the player must play its way there.
    """
    replay = _replay(CheckedLog(game), data)
    replay.asked = seat, AskedSeat(player, replay, ply, follows=follows)
    return replay.start()


def origin(data: bytes, but: str = "") -> str | None:
    """Return the game of a log, by its first lines; None if it is unknown.

    Args:
        data: Content of the log's file.
        but: A game to leave out.
    """
    return next((n for n in registry.GAMES if n != but and _begins(games.load(n), data)), None)


def _replay(checked: CheckedLog, data: bytes) -> LogReplay:
    is_jsonl = jsonl.begins(data) or checked.game.info.lines is None
    return (JsonlReplay if is_jsonl else OfficialReplay)(checked, data)


def _begins(game: JudgedGame, data: bytes) -> bool:
    """Return True if a log begins like those of a game."""
    checked = CheckedLog(game)
    try:
        if jsonl.begins(data):
            first = data.split(b"\n", 1)[0] + b"\n"
            return jsonl.read_log(first).header.game == game.info.name
        if game.info.lines is None:
            return False
        OfficialReplay(checked, data).start()
    except QuartetError:
        return False
    return checked.match is not None
