"""Table rules: clocks, memory, and what a forfeit costs. The rules of play belong to the game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.rules import GameInfo


class Penalty(StrEnum):
    """What a forfeit costs."""

    TURN = "turn"
    """The turn: nothing moves, and the game continues."""
    OUT = "out"
    """Disqualification: the player has no more turns, and ranks last."""
    GAME = "game"
    """The game."""


@dataclass(frozen=True)
class TableRules:
    """Limits of the players.

    Attributes:
        clocks: Milliseconds of every seat, for a move or for the whole game.
        per_move: True if the clocks are for a move.
        penalty: What a forfeit costs.
        megabytes: Resident memory of all processes of a player, in units of 2**20 bytes; None for
            no limit.
        ready_ms: Milliseconds until a persistent program's answer to READY.
        cpu: True if clocks count the processor time of all processes and threads of a program, as
            NYPC's graders do, instead of wall clock. Time used during the opponent's turn counts.
        asks_stuck: True if a seat that can only pass is asked for its pass.
    """

    clocks: tuple[int, ...]
    per_move: bool
    penalty: Penalty
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
    """Return the table rules of a game's judge, with changes.

    Args:
        info: The game.
        ms: Clock of every seat in milliseconds, None for the judge's.
        megabytes: As in TableRules; None for the judge's limit.
        ready_ms: As in TableRules; None for the judge's limit.
        cpu: As in TableRules.
        disqualify: True if the first forfeit disqualifies a player, in games that continue after
            it.
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
        penalty=Penalty.GAME if lines else Penalty.OUT if disqualify else Penalty.TURN,
        megabytes=megabytes or memory,
        ready_ms=ready if ready_ms is None else ready_ms,
        cpu=cpu,
        asks_stuck=lines,
    )
