"""Games, positions and rules as JSON for the page. No code here knows a game.

A view is a whole game: header, turns, scores, and a board with one frame per position.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from typing import Any, Self

import msgspec

from core.errors import QuartetError
from core.limits import SearchInfo
from core.rules import Move
from core.scene import Example, Lens, Scene, SceneModule
from quartet.judge import game as games
from quartet.judge.game import JudgedGame
from quartet.judge.logs import jsonl
from quartet.judge.logs.checked import CheckedLog
from quartet.judge.logs.jsonl import Header
from quartet.judge.match import Match
from quartet.judge.process.words import printable
from quartet.judge.state import GameState
from quartet.judge.turn import Result, Turn
from quartet.review import calibration as calibrations
from quartet.review.boards import Boards
from quartet.review.engines import BOT, SearchResult
from quartet.web.errors import Refused

Json = dict[str, Any]
MAX_LINES = 100
"""Lines of programs that are shown per turn; the log has all that were recorded."""


class Viewer:
    """Makes the view of a game, turn by turn.

    Attributes:
        view: The game so far.
    """

    def __init__(
        self,
        header: Header,
        *,
        runs: Sequence[bool] = (),
        engines: Mapping[int, str] | None = None,
        ms: Sequence[float | None] = (),
    ) -> None:
        """Begin a game.

        Args:
            header: Header of its log.
            runs: For each seat, True if its clock runs; by default every player's.
            engines: Built-in players by seat, if known. Their scores become win probabilities.
            ms: Clock of each seat in milliseconds, if known; official logs do not name it.

        Raises QuartetError.
        """
        self.game = game = games.load(header.game)
        start, names, info = header.start(), header.players, game.info
        first = start.position(game.position)
        for seat, name in enumerate(names):
            first = first.without(seat) if name is None else first
        table = header.table(game)
        clocks = zip(ms or table.clocks, table.clocks, strict=True)
        table = replace(table, clocks=tuple(round(own or usual) for own, usual in clocks))
        clocked = list(runs or [name is not None for name in names])
        self._state = GameState(game, table, first, clocked)
        self._scene = games.scene(info.name)
        self._boards = Boards(self._scene.scene(first))
        self._known = {
            seat: found
            for seat, name in (engines or {}).items()
            if name.partition(":")[0] == BOT
            and (found := calibrations.of_engine(info.name, BOT)) is not None
        }
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
                "runs": clocked,
            },
            "clocks": self._state.clocks,
            "board": msgspec.structs.asdict(self._boards.board),
            "turns": [],
            "scores": [list(first.scores())],
            "to_move": first.to_move,
            "over": first.over,
            "ply": first.ply,
            "result": None,
            "notes": [],
            "complaint": "",
        }

    @property
    def position(self) -> Any:
        """The present position, by the reference rules."""
        return self._state.position

    def turn(self, turn: Turn) -> Json:
        """Add a turn, and return what is new."""
        before = self._state.apply(turn)
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
            "clocks": list(self._state.clocks),
            **now,
        }

    def replay(self, turns: Iterable[Turn], result: Result | None = None) -> Self:
        """Add turns, and the result if there is one; return this."""
        for turn in turns:
            self.turn(turn)
        if result is not None:
            self.end(result)
        return self

    def end(self, result: Result) -> Json:
        """Add the result, and return it."""
        counted = [[part._asdict() for part in own] for own in self._scene.counted(self.position)]
        shown: Json = {
            **msgspec.structs.asdict(result),
            "said": _remarks(result.said),
            "counted": counted,
        }
        self.view["result"] = shown
        return shown

    def info(self, info: SearchInfo, seat: int, before: Any, move: Move | None = None) -> Json:
        """Return what a player reported of its search.

        Args:
            info: The report.
            seat: The player's seat.
            before: The position that was searched.
            move: The move that was played, if known.
        """
        line = [tuple(part) for part in info.pv or ((info.move,) if info.move else ())]
        if line and move is not None and line[0] != move:
            line = [self._turned(part, seat) for part in line]
            line = line if line[0] == move else []
        words, parts = said(self._scene, line, before)
        share = None
        known = self._known.get(seat)
        if known is not None and self.game.info.players == 2:
            shares = known.shares(
                SearchResult(score=float(info.score)), before.ply, seat, self.game.info.players
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

    def _turned(self, move: Move, seat: int) -> Move:
        """Return a move in the board's cells; a program sees the board from its own side."""
        if move == self.game.pass_move or self.game.info.exchange is None:
            return move
        protocol = self.game.protocol
        return protocol.parse_answer(protocol.format_answer(move, 0), seat)

    def _shown(self, turn: Turn, before: Any, newest: str | None) -> Json:
        """Return a turn; `newest` is the last piece in the mover's hand."""
        move = turn.move
        words = [*turn.said, *((turn.seat, text) for text in turn.stderr.splitlines())]
        return {
            "ply": turn.ply,
            "seat": turn.seat,
            **written(self._scene, move, before),
            "verdict": turn.verdict.value,
            "reason": printable(turn.reason),
            "seconds": turn.seconds,
            "ms": turn.ms,
            "clock": None if self._state.table.per_move else self._state.clocks[turn.seat],
            "drawn": None if turn.drawn is None else newest,
            "info": None if turn.info is None else self.info(turn.info, turn.seat, before, move),
            "said": _remarks(words),
            "exit": turn.exit,
            "files": bool(turn.input),
        }


def _remarks(said: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return seat and text of lines that programs wrote, without reports of searches."""
    lines = islice((line for line in said if not line[1].startswith("info depth ")), MAX_LINES)
    return [(seat, printable(text)) for seat, text in lines]


def grow(view: Json, new: Json) -> None:
    """Add to a copy of a view what `Viewer.turn` returned."""
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
    """Return the moves of a line and their parts, up to the first that cannot be played."""
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


def move_of(scene: SceneModule, position: Any, parts: Sequence[str]) -> Move:
    """Return the move with these parts. Raises Refused if it is illegal."""
    move = scene.choices(position).get(tuple(parts))
    if move is None:
        raise Refused("this move is not legal", 422)
    return move


def written(scene: SceneModule, move: Move | None, position: Any) -> Json:
    """Return a move in the judge's notation, and its parts."""
    if move is None:
        return {"move": "-", "parts": []}
    return {"move": scene.write(move, position), "parts": list(scene.parts(move, position))}


def of_log(checked: CheckedLog, match: Match, ms: Sequence[float | None] = ()) -> Json:
    """Return the view of a log as far as the log is correct.

    Args:
        checked: The log.
        match: Its game.
        ms: Clock of each seat in milliseconds, if known; official logs do not name it.
    """
    result = match.result if checked.agrees else None
    notes = {"notes": list(checked.notes), "complaint": checked.complaint or ""}
    return Viewer(jsonl.header(match), ms=ms).replay(match.turns, result).view | notes


def position(
    game: JudgedGame, shown: Any, last: Json | None = None, *, secret: bool = False
) -> Json:
    """Return a position and every way to choose a move in it.

    Args:
        game: The game.
        shown: The position, by the reference rules.
        last: Seat and parts of the move before.
        secret: Leave out the position's text, which reveals what chance will give.
    """
    scene = games.scene(game.info.name)
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


def lens_view(lens: Lens) -> Json:
    """Return an overlay."""
    return {**asdict(lens), "regions": [region._asdict() for region in lens.regions]}


def lenses(game: JudgedGame, shown: Any) -> list[Json]:
    """Return the overlays of a position."""
    shown_lenses = games.scene(game.info.name).lenses(shown) if game.info.lenses else ()
    return [lens_view(lens) for lens in shown_lenses]


def examples(name: str) -> Json:
    """Return the rules of a game with boards. Raises UnknownNameError."""
    scene = games.scene(name)
    return {"examples": [_example(scene, example) for example in scene.examples()]}


def _example(scene: SceneModule, example: Example) -> Json:
    shown: Json = {"text": example.text, "board": None, "moves": [], "lens": None}
    position, move = example.position, example.move
    if position is None:
        return shown
    boards = Boards(_cropped(scene.scene(position), example.cells))
    if move is not None:
        boards.add(_cropped(scene.scene(position.play(move)), example.cells))
        shown["moves"] = [{"parts": scene.parts(move, position), "seat": position.to_move}]
    return {**shown, "board": boards.board, "lens": example.lens and lens_view(example.lens)}


def _cropped(scene: Scene, cells: Sequence[str]) -> Scene:
    """Return a scene without hands and without other cells than these; () for all."""
    kept = [cell for cell in scene.cells if not cells or cell.name in cells]
    names, xs, ys = {cell.name for cell in kept}, {cell.x for cell in kept}, {c.y for c in kept}
    return replace(
        scene,
        cells=tuple(kept),
        pieces=tuple(piece for piece in scene.pieces if piece.cell in names),
        columns=tuple(label for label in scene.columns if label[0] in xs),
        rows=tuple(label for label in scene.rows if label[0] in ys),
        hands=(),
    )
