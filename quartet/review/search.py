"""Values of positions and of moves: searches with fixed nodes, turned into win probabilities.

A move's value is the value of the position after it. If chance follows a move, it is the mean over
all draws, weighted by their probabilities.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.rules import ChancePosition, Move
from quartet.review import calibration as calibrations
from quartet.review import figures
from quartet.review.engines import Analyser, SearchResult
from quartet.review.logged_game import LoggedGame

SOLVE = 20
"""Node limit of solving an ending, in multiples of a search's nodes. Not tuned."""
DRAW_PART = 4
"""Divisor of a search's nodes for each position after a draw. Not tuned."""
MIN_NODES = 64
"""Least nodes for such a position. Not tuned."""


class CalibratedEngine(Analyser):
    """An engine with the meaning of its scores.

    Attributes:
        calibration: Turns scores into win probabilities; None if it is missing.
    """

    def __init__(self, game: str, name: str, nodes: int | None, file: Path | None) -> None:
        """Start the engine.

        Args:
            game: Name of the game.
            name: Name of the engine.
            nodes: Nodes per search; None for those of the calibration.
            file: File of calibrations; None for the game's.

        Raises:
            QuartetError: The engine or the file is missing.
        """
        self.calibration = calibrations.of_engine(game, name, file)
        usual = None if self.calibration is None else self.calibration.nodes
        super().__init__(game, name, nodes or usual)


@dataclass(frozen=True)
class PositionValue:
    """The value of a position.

    Attributes:
        score: For one seat, in the engine's unit; None if the engine gives none.
        shares: Win probability of every seat; None if unknown.
        proven: True if the outcome is certain.
        search: The search that found it; None if none ran.
        nodes: Nodes of all searches that found it.
    """

    score: float | None = None
    shares: tuple[float, ...] | None = None
    proven: bool = False
    search: SearchResult | None = None
    nodes: int = 0

    def share(self, seat: int) -> float | None:
        """Return the win probability of a seat; None if unknown."""
        return None if self.shares is None else self.shares[seat]

    def rank(self, seat: int, *, by_score: bool = False) -> float:
        """Return the number by which moves of a seat are compared: its win probability.

        It is the score if that is unknown or, with `by_score`, always.
        """
        known = self.score if by_score or self.shares is None else self.shares[seat]
        return -math.inf if known is None else known

    def is_won(self, seat: int) -> bool:
        """Return True if a seat has all but won."""
        return self.shares is not None and self.shares[seat] >= 1 - figures.DECIDED

    def wins(self, seat: int) -> bool:
        """Return True if a seat wins alone."""
        return self.shares is not None and self.shares[seat] == 1

    def minus(self, other: PositionValue, seat: int) -> float | None:
        """Return by how much the win probability of a seat is higher; None if unknown."""
        mine, others = self.share(seat), other.share(seat)
        return None if mine is None or others is None else mine - others

    def shifted(self, old: PositionValue, new: PositionValue) -> PositionValue:
        """Return the value plus the difference from `old` to `new`, win probabilities in 0 to 1."""
        score, shares = self.score, self.shares
        if score is not None and old.score is not None and new.score is not None:
            score += new.score - old.score
        if shares is not None and old.shares is not None and new.shares is not None:
            changes = zip(shares, old.shares, new.shares, strict=True)
            shares = tuple(min(1.0, max(0.0, share + b - a)) for share, a, b in changes)
        return replace(self, score=score, shares=shares)

    def seen_by(self, seat: int, position: Any) -> PositionValue:
        """Return the value with the score for `seat` instead of the side to move."""
        score = self.score
        if score is not None and position.to_move != seat:
            score = -score
        if self.shares is not None and len(self.shares) > 2:
            score = round(1000 * self.shares[seat], 1)
        return replace(self, score=score)


class GameSearch:
    """Searches of one game's positions by one engine.

    Attributes:
        log: LoggedGame. engine: CalibratedEngine. nodes: Usual nodes per search.
    """

    def __init__(self, log: LoggedGame, engine: CalibratedEngine) -> None:
        self.log, self.engine = log, engine
        self.nodes = engine.nodes

    def solve_endings(self) -> dict[int, PositionValue]:
        """Return the values of the last positions, as far back as the engine can solve them."""
        found: dict[int, PositionValue] = {}
        for number in reversed(range(len(self.log.positions))):
            value = self.solve(self.log.positions[number])
            if value is None:
                break
            found[number] = value
        return found

    def solve(self, position: Any) -> PositionValue | None:
        """Return a position's exact value for the side to move, or None."""
        value = self.engine.solve(position, SOLVE * self.nodes)
        return None if value is None else PositionValue(*value, proven=True)

    def value(self, position: Any, nodes: int | None = None) -> PositionValue:
        """Search a position; the score is for the side to move."""
        info = self.log.game.info
        legal = [] if position.over or info.chance else position.legal()
        if len(legal) == 1:  # engines do not search a forced move
            child = position.play(legal[0])
            after = self.value(child, nodes).seen_by(position.to_move, child)
            return replace(after, search=None)
        found = self.engine.analyse(position, nodes)
        shares = found.shares if found.proven else None
        if self.engine.calibration is not None and shares is None:
            shares = self.engine.calibration.shares(
                found, position.ply, position.to_move, info.players
            )
        return PositionValue(found.score, shares, found.proven, found, found.nodes)

    def after_move(self, number: int, move: Move, nodes: int | None = None) -> PositionValue:
        """Return a move's value for the mover of turn `number`, by a search after the move."""
        if self.log.game.info.chance:
            return self.mean(number, move, draws_after(self.log.positions[number]), nodes)
        child = self.log.after(number, move)
        return self.value(child, nodes).seen_by(self.log.turns[number].seat, child)

    def mean(
        self, number: int, move: Move, draws: dict[int | None, float], nodes: int | None = None
    ) -> PositionValue:
        """Return a move's mean value for the mover over the given draws."""
        after, seat = self.log.positions[number].play(move), self.log.turns[number].seat
        nodes = max(MIN_NODES, (nodes or self.nodes) // DRAW_PART)
        positions = [after if after.over else after.reveal(drawn) for drawn in draws]
        values = [self.value(position, nodes).seen_by(seat, position) for position in positions]
        weighted = list(zip(draws.values(), values, strict=True))
        scores = [chance * value.score for chance, value in weighted if value.score is not None]
        shares = [[chance * s for s in value.shares] for chance, value in weighted if value.shares]
        return PositionValue(
            sum(scores) if len(scores) == len(draws) else None,
            tuple(map(sum, zip(*shares, strict=True))) if len(shares) == len(draws) else None,
            proven=len(draws) == 1 and values[0].proven,
            nodes=sum(value.nodes for value in values),
        )


def draws_after(position: ChancePosition) -> dict[int | None, float]:
    """Return what chance can give the mover after its move, with the probabilities."""
    bag = position.bags[position.to_move]
    if not bag:
        return {None: 1.0}
    return {drawn: number / len(bag) for drawn, number in sorted(Counter(bag).items())}
