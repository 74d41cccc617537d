"""What the page is shown of games and positions, as JSON can hold it; docs/web.md says how it
reads. It knows no game."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import msgspec

from core.errors import QuartetError
from quartet import registry
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.process.words import printable
from quartet.judge.table import Penalty, table_rules
from quartet.judge.turn import Result, Turn
from quartet.review import calibration as calibrations
from quartet.review.boards import Boards
from quartet.review.engines import BOT, Found

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from core.limits import SearchInfo
    from core.rules import Move
    from core.scene import SceneModule
    from quartet.judge.game import Game
    from quartet.judge.logs.check import CheckedLog
    from quartet.judge.logs.jsonl import Header
    from quartet.judge.match import Match
    from quartet.judge.table import TableRules

Json = dict[str, Any]
MOST_LINES = 100
"""Of what programs said in a turn that are shown; the log has all that were kept."""


def scenes(game: str) -> SceneModule:
    """How a game is seen. Raises NotBuiltError where it does not say."""
    return cast("SceneModule", registry.load(game, "scene"))


class Viewer:
    """A game as it is shown, turn by turn.

    Attributes:
        view: Json; the whole of it so far. position: the present one, by the reference rules.
    """

    def __init__(
        self,
        game: Game,
        names: Sequence[str | None],
        table: TableRules,
        start: Start,
        first: Any,
        *,
        runs: Sequence[bool] | None = None,
        engines: Mapping[int, str] | None = None,
    ) -> None:
        """Begin a game.

        Args:
            game: Game. names: of the players. table: TableRules. start: Start.
            first: Position; the one before the first turn.
            runs: for every seat whether its clock counts, by default everybody's.
            engines: by seat the built-in player there, where that is known: what its scores mean.
        """
        self.game, self.table, self.position = game, table, first
        self._scene = scenes(game.info.name)
        self._boards = Boards(self._scene.scene(first))
        self._clocks = list(table.clocks)
        self._known = {
            seat: found
            for seat, name in (engines or {}).items()
            if name.partition(":")[0] == BOT
            and (found := calibrations.of_engine(game.info.name, BOT)) is not None
        }
        info = game.info
        self.view: Json = {
            "game": info.name,
            "title": info.title,
            "score_name": info.score_name,
            "lower_wins": info.lower_wins,
            "labels": [game.label(seat) for seat in range(info.players)],
            "players": [None if name is None else printable(name) for name in names],
            "clock": {
                "per_move": table.per_move,
                "ms": list(table.clocks),
                "runs": list(runs or [name is not None for name in names]),
            },
            "clocks": self._clocks,
            "board": msgspec.structs.asdict(self._boards.board),
            "turns": [],
            "start": {"seed": start.seed, "options": dict(start.options), "position": start.text},
            "scores": [list(first.scores())],
            "to_move": first.to_move,
            "over": first.over,
            "ply": first.ply,
            "result": None,
            "notes": [],
            "complaint": "",
        }

    def turn(self, turn: Turn) -> Json:
        """Show a turn; gives what is new."""
        before = self.position
        if turn.move is not None or self.table.foul is not Penalty.GAME:
            while not before.over and before.to_move != turn.seat:  # nobody sits there
                before = before.lose_turn()
        if turn.move is not None:
            self.position = before.play(turn.move)
            if self.game.info.chance:
                self.position = self.position.reveal(turn.drawn)
        elif self.table.foul is not Penalty.GAME:
            self.position = before.lose_turn()
        if not self.table.per_move and self.view["clock"]["runs"][turn.seat]:
            left = max(0, self._clocks[turn.seat] - turn.ms)
            self._clocks[turn.seat] = left
        seen = self._scene.scene(self.position)
        self._boards.add(seen)
        position, view = self.position, self.view
        held = [h.pieces[-1].text for h in seen.hands if h.pieces and h.seat == turn.seat]
        shown = self._shown(turn, before, held[0] if held else None)
        view["turns"].append(shown)
        view["scores"].append(list(position.scores()))
        now = {"to_move": position.to_move, "over": position.over, "ply": position.ply}
        view |= now
        return {
            "step": len(view["turns"]),
            "turn": shown,
            "pieces": self._boards.board.pieces,
            "frame": self._boards.board.frames[-1],
            "hands": self._boards.hands,
            "scores": view["scores"][-1],
            "clocks": list(self._clocks),
            **now,
        }

    def end(self, result: Result) -> Json:
        """Show how the game ended."""
        found = msgspec.to_builtins(result)
        names = ("scores", "places", "shares", "lost", "disqualified")
        self.view["result"] = {
            **{name: found[name] for name in names},
            "termination": result.termination.value,
            "reason": result.reason,
            "offender": result.offender,
            "code": result.code,
            "notes": list(result.notes),
            "said": _remarks(result.said),
        }
        return cast("Json", self.view["result"])

    def info(self, info: SearchInfo, seat: int, before: Any, move: Move | None = None) -> Json:
        """What a player has told of its search.

        Args:
            info: SearchInfo. seat: int; whose. before: Position; that was searched.
            move: Move | None; what it played, where that is known.
        """
        line = [tuple(part) for part in info.pv or ((info.move,) if info.move else ())]
        if line and move is not None and line[0] != move:
            line = [self.seen(part, seat) for part in line]  # it sees the board from its own side
            line = line if line[0] == move else []
        words, parts = said(self._scene, line, before)
        share = None
        known = self._known.get(seat)
        if known is not None and self.game.info.players == 2:
            shares = known.shares(
                Found(score=float(info.score)), before.ply, seat, self.game.info.players
            )
            share = None if shares is None else round(shares[seat], 4)
        return {
            "depth": info.depth,
            "score": info.score,
            "nodes": info.nodes,
            "seconds": round(info.seconds, 4),
            "nps": round(info.nps),
            "line": words,
            "parts": parts,
            "share": share,
            "rank": info.rank,
        }

    def seen(self, move: Move, seat: int) -> Move:
        """A move by the cells of the board, of one by what its player sees."""
        if move == self.game.pass_move or self.game.info.exchange is None:
            return move
        protocol = self.game.protocol
        return protocol.parse_answer(protocol.format_answer(move, 0), seat)

    def _shown(self, turn: Turn, before: Any, newest: str | None) -> Json:
        """A turn; `newest` is what lies last in the mover's hand."""
        move = turn.move
        words = [*turn.said, *((turn.seat, text) for text in turn.stderr.splitlines())]
        return {
            "ply": turn.ply,
            "seat": turn.seat,
            "move": "-" if move is None else self._scene.write(move, before),
            "parts": [] if move is None else list(self._scene.parts(move, before)),
            "verdict": turn.verdict.value,
            "reason": printable(turn.reason),
            "seconds": turn.seconds,
            "ms": turn.ms,
            "clock": None if self.table.per_move else self._clocks[turn.seat],
            "drawn": None if turn.drawn is None else newest,
            "info": None if turn.info is None else self.info(turn.info, turn.seat, before, move),
            "said": _remarks(words),
            "exit": turn.exit,
            "files": bool(turn.input),
        }


def _remarks(said: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Seat and line of what programs said, without what they were asked to say."""
    lines = islice((line for line in said if not line[1].startswith("info depth ")), MOST_LINES)
    return [(seat, printable(text)) for seat, text in lines]


def grow(view: Json, new: Json) -> None:
    """Make a copy of a view as its Viewer's is, by what `Viewer.turn` gave."""
    board = view["board"]
    board["pieces"] = new["pieces"]
    board["frames"].append(new["frame"])
    if board["hands"]:
        board["hands"].append(new["hands"])
    view["turns"].append(new["turn"])
    view["scores"].append(new["scores"])
    view |= {name: new[name] for name in ("clocks", "to_move", "over", "ply")}


def said(
    scene: SceneModule, line: Sequence[Move], position: Any
) -> tuple[list[str], list[list[str]]]:
    """The moves of a line as the judge writes them, and their parts, as far as they can be
    played."""
    words: list[str] = []
    parts: list[list[str]] = []
    for move in line:
        try:
            text, cells = scene.write(move, position), list(scene.parts(move, position))
            position = position.play(move)
        except (QuartetError, LookupError, ValueError):
            break
        words.append(text)
        parts.append(cells)
    return words, parts


def of_log(checked: CheckedLog) -> Json:
    """The view of a log that was checked, as far as it agrees. Raises QuartetError where there is
    not even a start."""
    match = checked.match
    if match is None:
        raise QuartetError(checked.complaint or "there is no game")
    viewer = Viewer(
        checked.game,
        [None if name is None else name.removeprefix("COMMAND: ") for name in match.names],
        match.table,
        match.start,
        checked.positions[0],
    )
    for turn in match.turns:
        viewer.turn(turn)
    viewer.view["notes"] = list(checked.notes)
    viewer.view["complaint"] = checked.complaint or ""
    if match.result is not None and checked.agrees:
        viewer.end(match.result)
    return viewer.view


def of_match(match: Match, **more: Any) -> Viewer:
    """Begins the view of a match that begins; `more` as for Viewer."""
    return Viewer(match.game, match.names, match.table, match.start, match.first(), **more)


def of_header(header: Header, engines: Mapping[int, str]) -> Viewer:
    """Begins the view of a game by its live file; `engines` as for Viewer. Raises QuartetError."""
    game = games.load(header.game)
    ms = [1000 * header.seconds] * game.info.players
    table = table_rules(game.info, ms=ms, megabytes=header.megabytes, disqualify=header.disqualify)
    start = Start(header.seed, header.options, header.position or None)
    first = start.position(game.position)
    for seat, name in enumerate(header.players):
        first = first.without(seat) if name is None else first
    return Viewer(game, header.players, table, start, first, engines=engines)


def position(game: Game, shown: Any, last: Json | None = None, *, secret: bool = False) -> Json:
    """One position, to look at and to choose moves in.

    Args:
        game: Game. shown: Position; by the reference rules.
        last: Json | None; seat and parts of the move before. secret: bool; whether its text would
            tell what chance has not given yet.
    """
    scene = scenes(game.info.name)
    seen = scene.scene(shown)
    choices = {} if shown.over else scene.choices(shown)
    written = {move: scene.write(move, shown) for move in set(choices.values())}
    return {
        "game": game.info.name,
        "text": "" if secret else shown.text(),
        "ply": shown.ply,
        "to_move": shown.to_move,
        "over": shown.over,
        "scores": list(shown.scores()),
        "board": Boards(seen).board,
        "hands": [{"seat": h.seat, "cells": [cell.name for cell in h.cells]} for h in seen.hands],
        "choices": [
            {"parts": list(parts), "move": written[move]} for parts, move in choices.items()
        ],
        "last": last,
    }


def takes_nobody(game: Game) -> bool:
    """Whether seats of a game may stay empty."""
    start: Any = game.position.start()
    try:
        start.without(0)
    except (AttributeError, QuartetError):
        return False
    return True


def check_options(game: Game, options: Mapping[str, Any]) -> None:
    """Raise QuartetError for variants of the rules that the game does not have."""
    known = game.info.options
    for name, value in options.items():
        if name not in known or type(value) is not type(known[name].default):
            listed = ", ".join(known) or "none"
            raise QuartetError(
                f"{game.info.name} has no option {name}={value}; there are: {listed}"
            )


def lenses(game: Game, shown: Any) -> list[Json]:
    """What the game has to say of a position beside its pieces."""
    look = getattr(scenes(game.info.name), "lenses", None)
    return (
        []
        if look is None
        else [
            {
                **asdict(lens),
                "regions": [region._asdict() for region in lens.regions],
            }
            for lens in look(shown)
        ]
    )


def lens_names(game: Game) -> list[str]:
    """The names of a game's lenses."""
    return list(getattr(scenes(game.info.name), "LENSES", ()))
