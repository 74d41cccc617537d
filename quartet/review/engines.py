"""What an engine says of a position, for any engine of any game: built in, or behind UAI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.background import BackgroundSearch
from core.engine import CANDIDATES, EXPECTATION, FORGET, MULTIPV, SOLVE, can
from core.errors import QuartetError, RuleError
from core.limits import Limits
from core.rules import places, shares
from quartet import registry
from quartet.judge import game as games
from quartet.judge.seats.engine import fast_rules
from quartet.review.uai import Uai

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from core.limits import SearchInfo
    from core.rules import Move
    from quartet.judge.game import Game

BOT = "bot"
"""The game's own engine."""
UAI = "uai:"
"""The prefix of engines that speak UAI."""
MATE, MATE_SPAN = 30_000, 1_000
"""Scores from MATE - MATE_SPAN are forced wins: MATE less the plies to them."""
USUAL_NODES = 2_000
"""Of an engine that has no calibration and no limits for its fingerprint."""


@dataclass(frozen=True)
class Found:
    """What an engine says of a position.

    Attributes:
        move: Move | None; the best one, None where the game is over.
        score: float | None; for the side to move, in the engine's unit; None where it gives none.
        shares: tuple[float, ...] | None; of every seat, where the engine knows them, or they are
            proven.
        proven: bool; whether the outcome is certain.
        line: tuple[Move, ...]; the principal variation.
        depth: int. nodes: int.
    """

    move: Move | None = None
    score: float | None = None
    shares: tuple[float, ...] | None = None
    proven: bool = False
    line: tuple[Move, ...] = ()
    depth: int = 0
    nodes: int = 0


class Asker:
    """An engine that is asked about the positions of one game after the other.

    Attributes:
        game: Game. name: str; of the engine, as on the command line.
        nodes: int; of a search.
        solves: bool; whether it proves endings.
    """

    def __init__(self, game: str, name: str, nodes: int | None = None) -> None:
        """Make it ready.

        Args:
            game: str. name: str; "bot", a built-in player, or "uai:COMMAND".
            nodes: int | None; of a search, by default those of the engine's fingerprint.

        Raises:
            QuartetError: there is no such engine, or it cannot be started.
        """
        self.game: Game = games.load(game)
        self.name = name
        self.rules = fast_rules(game)
        self._options: Mapping[str, Any] = {}
        self._uai = Uai(game, name.removeprefix(UAI)) if name.startswith(UAI) else None
        self._engine: Any = None if self._uai is not None else self._make()
        self.nodes = nodes or usual_nodes(game)
        self.solves = can(self._engine, SOLVE)

    def begin(self, options: Mapping[str, Any]) -> None:
        """A new game begins: nothing is known of the one before.

        Args:
            options: Mapping; variants of its rules.
        """
        known = self.game.info.options
        self._options = {n: v for n, v in options.items() if not known[n].of_start}
        if self._uai is not None:
            self._uai.begin()
            return
        if can(self._engine, FORGET):
            self._engine.forget()
        else:  # an engine that cannot forget is made anew
            self._engine = self._make()

    def ask(self, position: Any, nodes: int | None = None) -> Found:
        """Search a position, with so many nodes, or the usual ones. Raises QuartetError."""
        if position.over:
            return over(self.game, position)
        view = self._view(position)
        if self._uai is not None:
            return self._uai.ask(view, nodes or self.nodes)
        try:
            info = self._engine.choose(view, Limits(nodes=nodes or self.nodes))
        except RuleError:  # it knows no move where the game's judge plays on
            return Found()
        return self._found(info, position, view)

    def search(
        self, position: Any, limits: Limits, report: Callable[[Found, SearchInfo], None]
    ) -> BackgroundSearch:
        """Search a position that is not over, in a thread of its own, until `stop`; for built-in
        players.

        Args:
            position: Position. limits: Limits.
            report: called in that thread with every better outcome on the way, and what the player
                said of it; the last one is what `outcome` gives.
        """
        view = self._view(position)

        def note(info: SearchInfo) -> None:
            report(self._found(info, position, view), info)

        return BackgroundSearch(self._engine, view, limits, note)

    def outcome(self, search: BackgroundSearch, position: Any) -> Found:
        """What a search that `search` began has found; waits for it. Raises what it raised."""
        return self._found(search.outcome(), position, self._view(position))

    def _found(self, info: SearchInfo, position: Any, view: Any) -> Found:
        """What the player says, about the position that was asked about."""
        turn = self._turn(position, view)
        known = self._engine.expectation() if can(self._engine, EXPECTATION) else None
        found = None if known is None else self._seats(known, turn)
        proven = abs(info.score) >= MATE - MATE_SPAN
        if proven and self.game.info.players == 2:
            won = (info.score > 0) == (position.to_move == 0)
            found = (1.0, 0.0) if won else (0.0, 1.0)
        return Found(
            move=self._move(info.move, view, position),
            score=float(info.score),
            shares=found,
            proven=proven,
            line=tuple(self._move(move, view, position) for move in info.pv),
            depth=info.depth,
            nodes=info.nodes,
        )

    def candidates(self, position: Any) -> list[tuple[Move, float]]:
        """Single moves and their shares, as the last search, of this position, has them; none where
        the engine does not say."""
        if not can(self._engine, CANDIDATES):
            return []
        view = self._view(position)
        return [
            (self._move(row["move"], view, position), float(row["share"]))
            for row in self._engine.candidates()
            if "share" in row
        ]

    def several(self, position: Any, number: int) -> list[Move]:
        """The best moves, the best first, by one search; none where the engine shows one line."""
        if not can(self._engine, MULTIPV):
            return []
        view = self._view(position)
        told: dict[int, Move] = {}
        limits = Limits(nodes=self.nodes, multipv=number)
        self._engine.choose(view, limits, lambda info: told.update({info.rank: info.move}))
        return [self._move(told[rank], view, position) for rank in sorted(told)]

    def solve(self, position: Any, nodes: int) -> tuple[float, tuple[float, ...]] | None:
        """The value of a position for the side to move, and everybody's share, when all play best;
        None where more nodes would be needed."""
        value = self._engine.solve(self._view(position), nodes) if self.solves else None
        if value is None:
            return None
        mine = (value > 0) + (value == 0) / 2
        return float(value), (mine, 1 - mine) if position.to_move == 0 else (1 - mine, mine)

    def close(self) -> None:
        """End the program, where it is one."""
        if self._uai is not None:
            self._uai.close()

    def _make(self) -> Any:
        if self.name == BOT:
            return registry.load(self.game.info.name, "engine").Engine()
        return registry.load(self.game.info.name, "players").player(self.name, 0)

    # Where a program is sent the board turned to its own side, so is the engine.

    def _view(self, position: Any) -> Any:
        if isinstance(position, self.rules):
            return position
        return self.rules.parse(position.text(), **self._options)

    def _turn(self, position: Any, view: Any) -> int:
        return int(position.to_move - view.to_move) % self.game.info.players

    def _move(self, move: Move, view: Any, position: Any) -> Move:
        if self._turn(position, view) == 0 or move == self.game.pass_move:
            return tuple(move)
        protocol = self.game.protocol
        return protocol.parse_answer(protocol.format_answer(move, view.to_move), position.to_move)

    @staticmethod
    def _seats(known: tuple[float, ...], turn: int) -> tuple[float, ...]:
        count = len(known)
        return tuple(known[(seat - turn) % count] for seat in range(count))


def over(game: Game, position: Any) -> Found:
    """What a position is worth in which the game is over: that is certain."""
    scores = position.scores()
    won = tuple(shares(places(scores, lower_wins=game.info.lower_wins)))
    return Found(score=lead(game, scores, position.to_move), shares=won, proven=True)


def lead(game: Game, scores: tuple[int | None, ...], seat: int) -> float:
    """By how much a seat is ahead of the best of the others, by the scores on the board."""
    sign = -1 if game.info.lower_wins else 1
    mine = scores[seat]
    others = [sign * s for other, s in enumerate(scores) if other != seat and s is not None]
    return float(sign * (mine or 0) - max(others, default=0))


def usual_nodes(game: str) -> int:
    """The nodes of a search where nothing else is said: those of the engine's fingerprint."""
    if not registry.has(game, "engine"):
        return USUAL_NODES
    limits = getattr(registry.load(game, "engine"), "BENCH_LIMITS", None)
    return int(limits.nodes) if limits is not None and limits.nodes else USUAL_NODES


def require(game: str, name: str) -> None:
    """Raise QuartetError where a game has no such engine."""
    if name.startswith(UAI):
        Uai.require(game)
    elif name != BOT and not registry.is_player(game, name):
        names = ", ".join(registry.load(game, "players").NAMES)
        raise QuartetError(f"{game} has no engine {name!r}; there are: {names}, uai:COMMAND")
