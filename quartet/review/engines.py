"""Searches of positions by any engine of any game, built in or behind UAI."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.background import BackgroundSearch
from core.engine import CANDIDATES, EXPECTATION, MULTIPV, NEW_GAME, SOLVE, STOP, can
from core.errors import QuartetError, RuleError
from core.limits import Limits, SearchInfo
from core.rules import Move, places, shares
from quartet import registry
from quartet.judge import game as games
from quartet.judge.seats.engine import fast_rules

BOT = "bot"
"""Name of the game's own engine."""
UAI = "uai:"
"""Prefix of the command of a UAI engine."""
MATE, MATE_SPAN = 30_000, 1_000
"""A forced win in n plies scores MATE - n; scores from MATE - MATE_SPAN are forced wins."""
ANSWER_SECONDS = 60.0
"""Longest wait for an answer of a UAI engine."""
USUAL_NODES = 2_000
"""Nodes per search of a game that has no engine."""


@dataclass(frozen=True)
class SearchResult:
    """What a search finds.

    Attributes:
        move: The best move; None after the end of the game.
        score: For the side to move, in the engine's unit; None if the engine gives none.
        shares: Win share of every seat, if the engine knows it or it is proven; else None.
        proven: True if the outcome is certain.
        line: The principal variation.
        depth: Depth reached, in plies.
        nodes: Nodes searched.
    """

    move: Move | None = None
    score: float | None = None
    shares: tuple[float, ...] | None = None
    proven: bool = False
    line: tuple[Move, ...] = ()
    depth: int = 0
    nodes: int = 0


class Analyser:
    """An engine that analyses positions of one game after the other.

    Attributes:
        game: The game.
        name: Name of the engine, as on the command line.
        nodes: Nodes per search.
        rules: Class of its positions.
        stops: True if its search can be stopped.
    """

    def __init__(self, game: str, name: str, nodes: int | None = None) -> None:
        """Start the engine.

        Args:
            game: Name of the game.
            name: "bot", a built-in player, or "uai:COMMAND".
            nodes: Nodes per search; None for those of the engine's fingerprint.

        Raises:
            QuartetError: There is no such engine, or it cannot be started.
        """
        self.game: games.JudgedGame = games.load(game)
        self.name = name
        self.rules = fast_rules(game)
        self._options: Mapping[str, Any] = {}
        self._uai: Any = None
        self._engine: Any = None
        if name.startswith(UAI):
            require(game, name)
            client = registry.load(game, "uai_client")
            self._uai = client.connect(name.removeprefix(UAI), ANSWER_SECONDS)
        else:
            self._engine = self._make()
        self.nodes = nodes or usual_nodes(game)
        self.stops = can(self._engine, STOP)

    def begin(self, options: Mapping[str, Any]) -> None:
        """Begin a new game with the given variants, and forget the last one."""
        self._options = self.game.lasting(options)
        if self._uai is not None:
            self._uai.new_game()
        elif can(self._engine, NEW_GAME):
            self._engine.new_game()
        else:
            self._engine = self._make()

    def analyse(self, position: Any, nodes: int | None = None) -> SearchResult:
        """Search a position; `nodes` are the usual ones by default. Raises QuartetError."""
        if position.over:
            return over(self.game, position)
        view = self._view(position)
        if self._uai is not None:
            move = self._uai.best_move(view, f"nodes {nodes or self.nodes}")
            depth, spent = (self._uai.number(name) for name in ("depth", "nodes"))
            return SearchResult(move, self._uai.score(), None, False, (move,), depth, spent)
        try:
            info = self._engine.choose(view, Limits(nodes=nodes or self.nodes))
        except RuleError:  # the engine has no move, although the judge plays on
            return SearchResult()
        return self._found(info, position, view)

    def start_search(
        self, position: Any, limits: Limits, report: Callable[[SearchResult, SearchInfo], None]
    ) -> BackgroundSearch:
        """Start a search by a built-in player in its own thread.

        Args:
            position: A position in which the game is not over.
            limits: Limits of the search, which `stop` of the result can end earlier.
            report: Called in that thread with each better result and the player's own.
        """
        view = self._view(position)

        def note(info: SearchInfo) -> None:
            report(self._found(info, position, view), info)

        return BackgroundSearch(self._engine, view, limits, note)

    def outcome(self, search: BackgroundSearch, position: Any) -> SearchResult:
        """Wait for a search from `start_search` and return its result. Raises what it raised."""
        return self._found(search.outcome(), position, self._view(position))

    def _found(self, info: SearchInfo, position: Any, view: Any) -> SearchResult:
        """Translate the player's result to the seats of the position that was asked about."""
        found = self._engine.expectation() if can(self._engine, EXPECTATION) else None
        if found is not None:
            turn = self._turn(position, view)
            found = tuple(found[(seat - turn) % len(found)] for seat in range(len(found)))
        proven = abs(info.score) >= MATE - MATE_SPAN
        if proven and self.game.info.players == 2:
            won = (info.score > 0) == (position.to_move == 0)
            found = (1.0, 0.0) if won else (0.0, 1.0)
        return SearchResult(
            move=self._move(info.move, view, position),
            score=float(info.score),
            shares=found,
            proven=proven,
            line=tuple(self._move(move, view, position) for move in info.pv),
            depth=info.depth,
            nodes=info.nodes,
        )

    def candidates(self, position: Any) -> list[tuple[Move, float]]:
        """Return moves with their shares of the last search, of this position; [] if unknown."""
        if not can(self._engine, CANDIDATES):
            return []
        view = self._view(position)
        return [
            (self._move(row["move"], view, position), float(row["share"]))
            for row in self._engine.candidates()
            if "share" in row
        ]

    def several(self, position: Any, number: int) -> list[Move]:
        """Return the best moves by one search, the best first; [] if the engine shows one line."""
        if not can(self._engine, MULTIPV):
            return []
        view = self._view(position)
        told: dict[int, Move] = {}
        limits = Limits(nodes=self.nodes, multipv=number)
        self._engine.choose(view, limits, lambda info: told.update({info.rank: info.move}))
        return [self._move(told[rank], view, position) for rank in sorted(told)]

    def solve(self, position: Any, nodes: int) -> tuple[float, tuple[float, ...]] | None:
        """Return the exact score for the side to move, and every seat's share.

        Returns None if that would take more nodes, or if the engine does not solve positions.
        """
        if not can(self._engine, SOLVE):
            return None
        value = self._engine.solve(self._view(position), nodes)
        if value is None:
            return None
        mine = (value > 0) + (value == 0) / 2
        return float(value), (mine, 1 - mine) if position.to_move == 0 else (1 - mine, mine)

    def close(self) -> None:
        """Stop the engine if it is a program."""
        if self._uai is not None:
            self._uai.close()

    def _make(self) -> Any:
        if self.name == BOT:
            return registry.load(self.game.info.name, "engine").Engine()
        return registry.load(self.game.info.name, "players").player(self.name, 0)

    # A game that turns the board to the mover's side for programs does so for its engine.

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


def over(game: games.JudgedGame, position: Any) -> SearchResult:
    """Return the value of a finished game's position."""
    scores = position.scores()
    won = tuple(shares(places(scores, lower_wins=game.info.lower_wins)))
    return SearchResult(score=lead(game, scores, position.to_move), shares=won, proven=True)


def lead(game: games.JudgedGame, scores: tuple[int | None, ...], seat: int) -> float:
    """Return by how much a seat leads the best other seat, by the scores on the board."""
    sign = -1 if game.info.lower_wins else 1
    mine = scores[seat]
    others = [sign * s for other, s in enumerate(scores) if other != seat and s is not None]
    return float(sign * (mine or 0) - max(others, default=0))


def usual_nodes(game: str) -> int:
    """Return the nodes per search of the engine's fingerprint, the default."""
    if not registry.has(game, "engine"):
        return USUAL_NODES
    return registry.load(game, "engine").BENCH_LIMITS.nodes or USUAL_NODES


def require(game: str, name: str) -> None:
    """Raise QuartetError if a game has no such engine."""
    if name.startswith(UAI):
        if not registry.has(game, "uai_client"):
            raise QuartetError(f"{game} has no UAI: omit uai:")
    elif name != BOT and not registry.is_player(game, name):
        names = ", ".join(registry.load(game, "players").NAMES)
        raise QuartetError(f"{game} has no engine {name!r}; choose {names} or uai:COMMAND")
