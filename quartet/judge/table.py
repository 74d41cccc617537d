"""The rules of the table: clocks, memory, and what a foul costs. The rules of play are the
game's."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.rules import GameInfo


class Penalty(StrEnum):
    """What a foul costs."""

    TURN = "turn"
    """The turn: nothing moves, and the game goes on."""
    OUT = "out"
    """Disqualification: the player is passed over from then on, and ranks last."""
    GAME = "game"
    """The game ends, and the player has lost it."""


@dataclass(frozen=True)
class TableRules:
    """What players are allowed.

    Attributes:
        clocks: tuple[int, ...]; milliseconds of every seat, for a move or for the whole game.
        per_move: bool; whether the clocks run anew for every move.
        foul: Penalty.
        megabytes: float | None; resident memory of all processes of a player, in units of 2**20
            bytes, None for no limit.
        ready_ms: int; until a living program's answer to READY.
        cpu: bool; whether clocks count processor time of all processes and threads of a program, as
            NYPC's graders say (also what it uses while the opponent is to move), instead of wall clock.
        asks_stuck: bool; whether a seat that can only pass is asked for its pass.
    """

    clocks: tuple[int, ...]
    per_move: bool
    foul: Penalty
    megabytes: float | None = None
    ready_ms: int = 3000
    cpu: bool = False
    asks_stuck: bool = False


def table_rules(
    info: GameInfo,
    *,
    ms: Sequence[float | None] | None = None,
    megabytes: float | None = None,
    ready_ms: int | None = None,
    cpu: bool = False,
    disqualify: bool = False,
) -> TableRules:
    """The rules of the game's judge, where nothing else is given.

    Args:
        info: GameInfo.
        ms: the clock of every seat in milliseconds, None for the judge's.
        megabytes, ready_ms, cpu: as in TableRules.
        disqualify: bool; the first foul puts a player out, in games that go on after one.
    """
    given = list(ms or [None] * info.players)
    if info.lines is not None:
        usual, memory = float(info.lines.clock_ms), info.lines.megabytes
        ready = info.lines.ready_ms
    else:
        exchange = info.exchange
        usual = 1000 * exchange.seconds if exchange is not None else 0.0
        memory, ready = (None if exchange is None else exchange.megabytes), 0
    lines = info.lines is not None
    return TableRules(
        clocks=tuple(max(1, round(usual if own is None else own)) for own in given),
        per_move=not lines,
        foul=Penalty.GAME if lines else Penalty.OUT if disqualify else Penalty.TURN,
        megabytes=megabytes or memory,
        ready_ms=ready if ready_ms is None else ready_ms,
        cpu=cpu,
        asks_stuck=lines,
    )
