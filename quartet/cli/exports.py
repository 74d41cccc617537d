"""The games of a run for other tools, for `quartet runs --export`: JSON, CSV, and text with
tags."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from core.errors import QuartetError, printable
from quartet.arena.outcome import Outcome
from quartet.arena.records import log_name
from quartet.arena.unit import GameResult


def as_json(folder: Path, games: Sequence[GameResult], found: Outcome) -> str:
    """Return the games as a JSON list."""
    lines = [
        {
            **msgspec.to_builtins(game),
            "players": [found.names[player] for player in game.seats],
            "log": str(folder / log_name(game.number)),
        }
        for game in games
    ]
    return json.dumps(lines, indent=2) + "\n"


def as_csv(folder: Path, games: Sequence[GameResult], found: Outcome) -> str:
    """Return a line for every seat of every game."""
    columns = [
        "game",
        "block",
        "opening",
        "seat",
        "player",
        "score",
        "place",
        "share",
        "plies",
        "turns",
        "seconds",
        "longest",
        "depth",
        "nodes",
        "forfeited",
        "log",
        "searches",
        "search_seconds",
        "reason",
        "overloaded",
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    for game in games:
        log = folder / log_name(game.number)
        writer.writerows(_seat_row(game, seat, found.names, log) for seat in range(len(game.seats)))
    return text.getvalue()


def _seat_row(game: GameResult, seat: int, names: Sequence[str], log: Path) -> dict[str, Any]:
    use = game.use[seat]
    return {
        "game": game.number,
        "block": game.block,
        "opening": game.seed,
        "seat": seat,
        "player": names[game.seats[seat]],
        "score": game.scores[seat],
        "place": game.places[seat],
        "share": game.shares[seat],
        "plies": game.plies,
        "turns": use.turns,
        "seconds": use.seconds,
        "longest": use.longest,
        "depth": use.depth / use.searches if use.searches else "",
        "nodes": use.nodes,
        "forfeited": sum(use.lost.values()),
        "log": log,
        "searches": use.searches,
        "search_seconds": use.search_seconds,
        "reason": game.reason,
        "overloaded": game.overloaded,
    }


def as_text(folder: Path, games: Sequence[GameResult], found: Outcome) -> str:
    """Return tags as in PGN and the judge's log of every game. Raises QuartetError."""
    parts = []
    for game in games:
        log = folder / log_name(game.number)
        tags = {
            "Game": found.config.game,
            "Round": str(game.number),
            "Opening": str(game.seed),
            **{f"Player{i + 1}": found.names[p] for i, p in enumerate(game.seats)},
            "Result": " ".join(f"{share:g}" for share in game.shares),
            "Scores": " ".join("-" if s is None else str(s) for s in game.scores),
            "Plies": str(game.plies),
            "Termination": game.reason,
        }
        head = "".join(f'[{name} "{_quoted(value)}"]\n' for name, value in tags.items())
        try:
            body = log.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise QuartetError(f"cannot read {log}: {error.strerror}") from error
        parts.append(f"{head}\n{body.rstrip()}\n\n")
    return "".join(parts)


def _quoted(text: str) -> str:
    """Return a text in one line, with quotes and backslashes escaped as in PGN."""
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')


EXPORTS: dict[str, Callable[[Path, Sequence[GameResult], Outcome], str]] = {
    "json": as_json,
    "csv": as_csv,
    "text": as_text,
}
