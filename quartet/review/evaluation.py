"""What each move of a game cost, by one engine: the move played against the best one.

1. From the end backwards, positions are solved as far as the engine can.
2. Every other position is searched, the last one first: entries that the engine has stored for
   later positions help it with earlier ones. The position after the move played has a value by
   then.
3. If the engine prefers another move, the position after that one is searched with the same nodes.
4. A loss that may or may not be a mistake is searched again, for longer.
5. If the move played was not good, the engine's next best moves are searched as well. The best of
   all these moves is the best move, and its value becomes that of the position.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from core.rules import Move
from quartet.review.search import GameSearch, PositionValue

DOUBT = 0.1
"""Search again if the win probability drops by this from before to after the engine's move."""
LONG_LOOK = 4
"""Nodes of the searches that check a doubtful loss, in multiples of a search's nodes."""


@dataclass(frozen=True)
class MoveAnalysis:
    """The value of the move played in one turn, and of the best move.

    Attributes:
        best: The best move; None if the engine names none.
        played: Value after the turn, for the mover.
        other: Value of the best move, for the mover; also the value of the position.
        expected: Value of the move played before chance decides; None if it does not.
        luck: Win probability given by chance, by searches as short as those of `expected`.
        candidates: Moves with their values, the best first, if the move played was not good.
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


@dataclass
class GameAnalysis:
    """What one engine finds in a game.

    Attributes:
        values: Value of every position, for the seat to move.
        moves: Analysis of every turn, by its number.
    """

    values: list[PositionValue]
    moves: dict[int, MoveAnalysis] = field(default_factory=dict)


class MoveValues:
    """The moves of one turn that are compared.

    Attributes:
        known: Moves and their values for the mover, in the order in which they were added.
    """

    def __init__(self, search: GameSearch, number: int) -> None:
        self._search, self._number = search, number
        self._seat = search.log.turns[number].seat
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


class Evaluation:
    """The evaluation of one game by one engine."""

    def __init__(
        self, search: GameSearch, thresholds: Sequence[float], candidates: int = 0
    ) -> None:
        """Prepare the evaluation.

        Args:
            search: Searches of the game.
            thresholds: The four thresholds of the labels.
            candidates: Moves to compare with the one played if that was not good.
        """
        self.search, self.log = search, search.log
        self._thresholds, self._candidates = thresholds, candidates

    def run(self, on_turn: Callable[[int, GameAnalysis], None] | None = None) -> GameAnalysis:
        """Analyse the game from its end; `on_turn` is called with each turn's number."""
        search, log = self.search, self.log
        search.engine.analyser.begin(log.match.start.options)
        solved = search.solve_endings()
        found = GameAnalysis([PositionValue() for _ in log.positions])
        values = found.values
        for number in reversed(range(len(log.positions))):
            position, ended = log.positions[number], number == len(log.turns)
            if number in solved:
                values[number] = solved[number]
            elif ended or log.game.info.chance or not log.is_forced(number):
                values[number] = search.value(position)
            if not ended:
                found.moves[number] = self._move(found, number)
                if on_turn is not None:
                    on_turn(number, found)
        return found

    def one(self, number: int) -> GameAnalysis:
        """Analyse one turn only, without what a search of later positions would have stored."""
        search, log = self.search, self.log
        search.engine.analyser.begin(log.match.start.options)
        found = GameAnalysis([PositionValue() for _ in log.positions])
        for place in (number + 1, number):
            position = log.positions[place]
            found.values[place] = search.solve(position) or search.value(position)
        found.moves[number] = self._move(found, number)
        return found

    def _move(self, found: GameAnalysis, number: int) -> MoveAnalysis:
        """Analyse a turn, and set the value of its position; all later positions have one."""
        search, log = self.search, self.log
        turn, before = log.turns[number], found.values[number]
        seat, move = turn.seat, turn.move
        played = found.values[number + 1].seen_by(seat, log.positions[number + 1])
        if turn.verdict.lost and any(
            p[number + 1] is p[number] for p in (log.positions, log.truth)
        ):
            lost = tuple(float(s != seat) for s in range(log.game.info.players))
            played = PositionValue(None, lost if len(lost) == 2 else None, proven=True)
        expected = None
        if move is not None and log.game.info.chance and not before.proven:
            expected = search.after_move(number, move)
        moves, nodes = MoveValues(search, number), search.nodes
        is_forced, is_legal = log.is_forced(number), move is not None and not turn.verdict.lost
        if move is not None and (is_forced or is_legal):
            moves.known.append((move, expected or played))
        if before.proven:
            self._add_proven(moves, number, before, played)
        elif not is_forced:
            before = self._compare(moves, number, before, repeat=is_legal and expected is None)
            loss = moves.loss(expected or played)
            if is_legal and self._thresholds[0] <= loss < self._thresholds[3]:
                nodes *= LONG_LOOK
                self._look_again(moves, number, nodes)
                expected = expected and moves.known[0][1]
        flawed = moves.loss(expected or played) >= self._thresholds[0]
        if flawed:
            self._add_candidates(moves, number, nodes, is_exact=before.proven)
        luck = None
        if expected is not None and move is not None:
            drawn = search.mean(number, move, {turn.drawn: 1.0}, nodes)
            luck = drawn.minus(expected, seat)
            expected = moves.shift(before, expected)
        ranked = moves.ranked()
        best, other = ranked[0] if ranked else (None, before)
        found.values[number] = replace(other, search=before.search)
        shown = [item for n, item in enumerate(ranked) if n < self._candidates or item[0] == move]
        return MoveAnalysis(best, played, other, expected, luck, tuple(shown) if flawed else ())

    def _add_proven(
        self, moves: MoveValues, number: int, before: PositionValue, played: PositionValue
    ) -> None:
        """Add a move that keeps a proven value, unless the move played does."""
        if moves.known and (played.shares, played.score) == (before.shares, before.score):
            return
        best = self._best(number, before)
        if best is not None and moves.find(best) is None:
            moves.known.insert(0, (best, replace(before, search=None)))

    def _best(self, number: int, value: PositionValue) -> Move | None:
        """Return the engine's move; in a solved position one that keeps the value."""
        if value.search is not None:
            return value.search.move
        before = self.log.positions[number]
        guess = self.search.engine.analyser.analyse(before).move
        legal: list[Move] = before.legal()
        for move in sorted(legal, key=lambda move: move != guess):
            child = before.play(move)
            solved = self.search.solve(child)
            if solved is None or solved.shares != value.shares:
                continue
            if solved.seen_by(before.to_move, child).score == value.score:
                return move
        return guess

    def _compare(
        self, moves: MoveValues, number: int, before: PositionValue, *, repeat: bool
    ) -> PositionValue:
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
        search, seat, nodes = self.search, self.log.turns[number].seat, self.search.nodes
        if repeat and moves.known[0][1].is_won(seat):
            return before
        best = self._best(number, before)
        while best is not None and (nodes == search.nodes or moves.find(best) is None):
            value = moves.add(best)
            shares = before.shares, value.shares
            if not repeat or shares[0] is None or shares[1] is None:
                break
            if shares[0][seat] - shares[1][seat] < DOUBT or nodes >= LONG_LOOK * search.nodes:
                break
            nodes *= 2
            before = search.value(self.log.positions[number], nodes)
            best = None if before.search is None else before.search.move
        return before

    def _look_again(self, moves: MoveValues, number: int, nodes: int) -> None:
        """Compare the best move, and the one that the engine wants now, with more nodes.

        The move played keeps its value, unless that is a mean over draws.
        """
        (move, value), best = moves.known[0], moves.ranked()[0][0]
        if self.log.game.info.chance:
            value = self.search.after_move(number, move, nodes)
        moves.known = [(move, value)]
        found = self.search.value(self.log.positions[number], nodes).search
        for wanted in (best, None if found is None else found.move):
            if wanted is not None:
                moves.add(wanted, nodes)

    def _add_candidates(
        self, moves: MoveValues, number: int, nodes: int, *, is_exact: bool
    ) -> None:
        """Add the engine's next best moves, up to the number wanted.

        One that seems better than the best so far is searched as long as that was. If the value of
        the position is exact, such a move is left out.
        """
        search, seat = self.search, self.log.turns[number].seat
        top = moves.ranked()[0][1].rank(seat)
        several = search.engine.analyser.several if self._candidates else lambda *_: []
        for move in several(self.log.positions[number], self._candidates + 1):
            if len(moves.known) > self._candidates:
                break
            if moves.find(move) is not None:
                continue
            value = search.after_move(number, move)
            if value.rank(seat) > top and nodes > search.nodes:
                value = search.after_move(number, move, nodes)
            if value.rank(seat) <= top or not is_exact:
                moves.known.append((move, value))
