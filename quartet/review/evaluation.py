"""What each move of a game cost, by one engine: the move played against the best one.

1. From the end backwards, positions are solved as far as the engine can.
2. Every other position is searched, the last one first: entries that the engine has stored for
   later positions help it with earlier ones. The position after the move played has a value by
   then.
3. If the engine prefers another move, the position after that one is searched with the same nodes.
4. A loss that may or may not be a mistake is searched again, for longer.
5. If the move played lost the first threshold or more, the engine's next best moves are searched as
   well. The best of all these moves is the best move, and its value becomes that of the position.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.rules import Move
from quartet.review.logged_game import LoggedGame
from quartet.review.search import CalibratedEngine, GameSearch, PositionValue

DOUBT = 0.1
"""Search again if the win probability drops by this from before to after the engine's move. Not
tuned."""
LONG_LOOK = 4
"""Nodes of the searches that check a doubtful loss, in multiples of a search's nodes. Not
tuned."""


@dataclass(frozen=True)
class MoveAnalysis:
    """The value of the move played in one turn, and of the best move.

    Attributes:
        best: The best move; None if the engine names none.
        played: Value after the turn, for the mover.
        other: Value of the best move, for the mover; also the value of the position.
        expected: Value of the move played before chance decides; None if it does not.
        luck: Win probability given by chance, by searches as short as those of `expected`.
        candidates: Moves with their values, the best first, if the move played lost the first
            threshold or more.
    """

    best: Move | None
    played: PositionValue
    other: PositionValue
    expected: PositionValue | None = None
    luck: float | None = None
    candidates: tuple[tuple[Move, PositionValue], ...] = ()

    @property
    def chosen(self) -> PositionValue:
        """The value by which the move played is judged: without luck."""
        return self.expected or self.played


class MoveValues:
    """The moves of one turn that are compared.

    Attributes:
        known: Moves and their values for the mover, in the order in which they were added.
    """

    def __init__(self, search: GameSearch, number: int) -> None:
        self._search, self._number = search, number
        self._position, self._seat = search.log.positions[number], search.log.turns[number].seat
        self.known: list[tuple[Move, PositionValue]] = []

    def find(self, move: Move) -> PositionValue | None:
        """Return the value of a move, or None if it is not among them."""
        same = self._search.log.same
        return next((value for other, value in self.known if same(self._number, move, other)), None)

    def add(self, move: Move, nodes: int | None = None) -> PositionValue:
        """Return the value of a move; search after it if it is not among them."""
        value = self.find(move)
        if value is None:
            value = self._search.after_move(self._number, move, nodes)
            self.known.append((move, value))
        return value

    def ranked(self) -> list[tuple[Move, PositionValue]]:
        """Return the moves, the best first: by score if a win probability is unknown."""
        by_score = any(value.shares is None for _, value in self.known)
        return sorted(self.known, key=lambda item: -item[1].rank(self._seat, by_score=by_score))

    def shift(self, before: PositionValue, chosen: PositionValue) -> PositionValue:
        """Shift all values, and `chosen`, so that the best one is that of the position before.

        If chance follows a move, its value is a mean over many short searches. These compare moves
        well. The longer search of the position knows better how good the best one is.
        """
        if not self.known:
            return chosen
        best = self.ranked()[0][1]
        self.known = [(move, value.shifted(best, before)) for move, value in self.known]
        return chosen.shifted(best, before)

    def loss(self, chosen: PositionValue) -> float:
        """Return the win probability by which `chosen` is worse than the best; 0 if unknown."""
        return self.ranked()[0][1].minus(chosen, self._seat) or 0.0 if self.known else 0.0

    def add_proven(self, before: PositionValue, played: PositionValue) -> None:
        """Add a move that keeps a proven value, unless the move played does."""
        if self.known and (played.shares, played.score) == (before.shares, before.score):
            return
        best = self._best(before)
        if best is not None and self.find(best) is None:
            self.known.insert(0, (best, replace(before, search=None)))

    def _best(self, value: PositionValue) -> Move | None:
        """Return the engine's move; in a solved position one that keeps the value."""
        if value.search is not None:
            return value.search.move
        guess = self._search.engine.analyse(self._position).move
        legal: list[Move] = self._position.legal()
        for move in sorted(legal, key=lambda move: move != guess):
            child = self._position.play(move)
            solved = self._search.solve(child)
            if solved is None or solved.shares != value.shares:
                continue
            if solved.seen_by(self._seat, child).score == value.score:
                return move
        return guess

    def compare(self, before: PositionValue, *, repeat: bool) -> PositionValue:
        """Add the engine's move to the moves that are compared.

        If the search after the engine's move finds much less than the search before it, search the
        position again with twice the nodes: the engine may want another move. Skip all this if the
        move played wins anyway.

        Args:
            before: The value of the position by a search.
            repeat: True if the search before the move may be repeated.

        Returns:
            The value of the position by its last search.
        """
        if repeat and self.known[0][1].is_won(self._seat):
            return before
        nodes = usual = self._search.nodes
        best = self._best(before)
        while best is not None and (nodes == usual or self.find(best) is None):
            drop = before.minus(self.add(best), self._seat)
            if not repeat or drop is None or drop < DOUBT or nodes >= LONG_LOOK * usual:
                break
            nodes *= 2
            before = self._search.value(self._position, nodes)
            best = None if before.search is None else before.search.move
        return before

    def look_again(self, nodes: int) -> None:
        """Compare the best move, and the one that the engine wants now, with more nodes.

        The move played keeps its value, unless that is a mean over draws.
        """
        (move, value), best = self.known[0], self.ranked()[0][0]
        if self._search.log.game.info.chance:
            value = self._search.after_move(self._number, move, nodes)
        self.known = [(move, value)]
        found = self._search.value(self._position, nodes).search
        for wanted in (best, None if found is None else found.move):
            if wanted is not None:
                self.add(wanted, nodes)

    def add_candidates(self, count: int, nodes: int, *, is_exact: bool) -> None:
        """Add the engine's next best moves, up to `count` moves.

        One that seems better than the best so far is searched as long as that was. If the value of
        the position is exact, such a move is left out.
        """
        top = self.ranked()[0][1].rank(self._seat)
        for move in self._search.engine.several(self._position, count + 1):
            if len(self.known) > count:
                break
            if self.find(move) is not None:
                continue
            value = self._search.after_move(self._number, move)
            if value.rank(self._seat) > top and nodes > self._search.nodes:
                value = self._search.after_move(self._number, move, nodes)
            if value.rank(self._seat) <= top or not is_exact:
                self.known.append((move, value))


class GameAnalysis(GameSearch):
    """What one engine finds in a game.

    Attributes:
        thresholds: The four thresholds of the labels.
        values: Value of every position, for the seat to move.
        moves: Analysis of every turn, by its number.
    """

    def __init__(
        self,
        log: LoggedGame,
        engine: CalibratedEngine,
        thresholds: Sequence[float],
        candidates: int = 0,
    ) -> None:
        """Begin an analysis; `run` or `one` does it.

        Args:
            log: The game.
            engine: The engine.
            thresholds: The four thresholds of the labels.
            candidates: Moves to compare with the one played if that lost the first threshold.
        """
        super().__init__(log, engine)
        self.thresholds, self._candidates = tuple(thresholds), candidates
        self.values = [PositionValue() for _ in log.positions]
        self.moves: dict[int, MoveAnalysis] = {}
        engine.begin(log.match.start.options)

    def run(self, on_turn: Callable[[int], None] = lambda _: None) -> None:
        """Analyse the game from its end; `on_turn` is called with each turn's number."""
        log, solved = self.log, self.solve_endings()
        for number in reversed(range(len(log.positions))):
            position, ended = log.positions[number], number == len(log.turns)
            if number in solved:
                self.values[number] = solved[number]
            elif ended or log.game.info.chance or not log.is_forced(number):
                self.values[number] = self.value(position)
            if not ended:
                self.moves[number] = self._move(number)
                on_turn(number)

    def one(self, number: int) -> None:
        """Analyse one turn only, without what a search of later positions would have stored."""
        for place in (number + 1, number):
            position = self.log.positions[place]
            self.values[place] = self.solve(position) or self.value(position)
        self.moves[number] = self._move(number)

    def _move(self, number: int) -> MoveAnalysis:
        """Analyse a turn, and set the value of its position; all later positions have one."""
        log, turn, before = self.log, self.log.turns[number], self.values[number]
        seat, move = turn.seat, turn.move
        played = self.values[number + 1].seen_by(seat, log.positions[number + 1])
        if turn.verdict.lost and any(
            p[number + 1] is p[number] for p in (log.positions, log.truth)
        ):
            lost = tuple(float(s != seat) for s in range(log.game.info.players))
            played = PositionValue(None, lost if len(lost) == 2 else None, proven=True)
        expected = None
        if move is not None and log.game.info.chance and not before.proven:
            expected = self.after_move(number, move)
        moves, nodes = MoveValues(self, number), self.nodes
        is_forced, is_legal = log.is_forced(number), move is not None and not turn.verdict.lost
        if move is not None and (is_forced or is_legal):
            moves.known.append((move, expected or played))
        if before.proven:
            moves.add_proven(before, played)
        elif not is_forced:
            before = moves.compare(before, repeat=is_legal and expected is None)
            loss = moves.loss(expected or played)
            if is_legal and self.thresholds[0] <= loss < self.thresholds[3]:
                nodes *= LONG_LOOK
                moves.look_again(nodes)
                expected = expected and moves.known[0][1]
        flawed = moves.loss(expected or played) >= self.thresholds[0]
        if flawed and self._candidates:
            moves.add_candidates(self._candidates, nodes, is_exact=before.proven)
        luck = None
        if expected is not None and move is not None:
            drawn = self.mean(number, move, {turn.drawn: 1.0}, nodes)
            luck = drawn.minus(expected, seat)
            expected = moves.shift(before, expected)
        ranked = moves.ranked()
        best, other = ranked[0] if ranked else (None, before)
        # Without a solved position, one move proves only that it wins, unless it is the only one.
        proven = other.proven and (before.proven or is_forced or other.wins(seat))
        shares = other.shares if proven or self.engine.calibration is not None else None
        self.values[number] = replace(other, search=before.search, proven=proven, shares=shares)
        shown = [item for n, item in enumerate(ranked) if n < self._candidates or item[0] == move]
        return MoveAnalysis(best, played, other, expected, luck, tuple(shown) if flawed else ())
