"""One log reviewed: fixed nodes before and after every ply, the same every time.

1. The log is judged again. What disagrees with the rules is not reviewed.
2. From the end backwards, positions are solved as long as the engine can.
3. Every other position is searched, the last one first: what the engine has stored of the later ones
   helps it with the earlier. The search of the position after a move says what the move was worth.
   Where the engine would have played another move, the position after that one is searched as well,
   with the same nodes: both are judged alike.
4. Where chance follows a move, both positions are the mean over all draws, by their probabilities; what
   the draw gave over that mean is luck.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from core.errors import QuartetError
from core.messages import Debug, Ply
from quartet import registry
from quartet.judge import game as games
from quartet.judge.logs.check import check, origin
from quartet.judge.process.words import printable
from quartet.judge.table import Penalty
from quartet.review import calibration as calibrations
from quartet.review import figures
from quartet.review.boards import boards
from quartet.review.document import (
    FORCED,
    FOUL,
    THRESHOLDS,
    Attempt,
    Candidate,
    EngineUsed,
    Review,
    SeatReview,
    Second,
    TurnReview,
)
from quartet.review.engines import Asker, Found, lead

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from core.rules import Move, Position
    from core.scene import SceneModule
    from quartet.judge.game import Game
    from quartet.judge.logs.check import CheckedLog
    from quartet.judge.turn import Turn
    from quartet.review.calibration import Calibration

SOLVE = 20
"""A position of the ending is solved with so many times the nodes of a search."""
DRAW_PART = 4
"""The position after a draw is searched with the nodes of a search by this."""
LEAST_NODES = 64
LINE = 6
"""Moves of a principal variation that are shown."""
OVERLOOKED = 3
"""Moves that gain more which are named."""
MUCH = 3
"""So much more on the board is overlooked, not weighed."""
WORST = 5
DOUBT = 0.1
"""So much less after a move than before it, and the engine is asked again."""
LONG_LOOK = 4
"""With so many times the nodes at most; so long are losses looked at that may be mistakes or not."""


@dataclass(frozen=True)
class Opinion:
    """An engine with what its scores mean."""

    asker: Asker
    calibration: Calibration | None


@dataclass
class Worth:
    """What a position is worth.

    Attributes:
        score: float | None; for the seat that is asked about. shares: tuple | None; of all seats.
        proven: bool. found: Found | None; the search, where there was one.
    """

    score: float | None = None
    shares: tuple[float, ...] | None = None
    proven: bool = False
    found: Found | None = None


@dataclass
class Judged:
    """What one engine says of a game.

    Attributes:
        worths: list[Worth]; of every position, the score for the seat to move.
        best: dict[int, Move | None]; of every turn that was judged so far, the engine's move.
        played, other: dict[int, Worth]; after the move that was played, and after the best one;
            scores for the mover.
        expected: dict[int, Worth | None]; `played` before chance had its part.
    """

    worths: list[Worth] = field(default_factory=list)
    best: dict[int, Any] = field(default_factory=dict)
    played: dict[int, Worth] = field(default_factory=dict)
    other: dict[int, Worth] = field(default_factory=dict)
    expected: dict[int, Worth | None] = field(default_factory=dict)


def review(
    name: str,
    data: bytes,
    opinions: Callable[[str], Sequence[Opinion]],
    *,
    game: str = "",
    thresholds: Sequence[float] = THRESHOLDS,
    candidates: int = 3,
    told: Callable[[int, TurnReview], None] | None = None,
) -> Review:
    """Review a log.

    Args:
        name: str; of the log. data: bytes; its content.
        opinions: called with the game's name, gives the engines, the one that counts first.
        game: str; which game, empty to find out.
        thresholds: Sequence[float]; of the labels, four.
        candidates: int; moves that are named where the one played was not good.
        told: is given every turn by its number as soon as the first engine has judged it, the last
            one first, still without candidates and other engines' words.

    Returns:
        The review; of a log that cannot be reviewed, its complaint.

    Raises:
        QuartetError: an engine fails.
    """
    if not data.strip():
        return Review(log=name, complaint="the log is empty")
    found = game or origin(data)
    if found is None:
        return Review(log=name, complaint="this is no log of a game that is known here")
    known = games.load(found)
    checked = check(known, data)
    if not checked.agrees or checked.match is None:
        return Review(log=name, complaint=checked.complaint or "there is no game")
    if not checked.turns:
        return Review(log=name, complaint="nothing was played")
    asked = list(opinions(found))
    return _Game(known, checked, data, asked, tuple(thresholds), candidates, told).review(name)


def attempt(data: bytes, found: Review, opinion: Opinion, number: int, text: str) -> Attempt:
    """Judge another move for a turn of a game that was reviewed, with the nodes of the opinion.

    Args:
        data: bytes; the log. found: Review; of it. opinion: Opinion; of the same engine.
        number: int; of the turn. text: str; the move, as the judge writes it.

    Raises:
        TextError, IllegalMoveError: it is no move there.
        QuartetError: there is no such turn, or an engine fails.
    """
    known = games.load(found.game)
    told = _Game(known, check(known, data), data, [opinion], found.thresholds, 0)
    if number not in range(len(told.turns)):
        raise QuartetError(f"there is no turn {number}; the game has {len(told.turns)}")
    opinion.asker.begin(told.match.start.options)
    return told.attempt(number, text, found.turns[number])


class _Game:
    """A game under review."""

    def __init__(
        self,
        game: Game,
        checked: CheckedLog,
        data: bytes,
        opinions: Sequence[Opinion],
        thresholds: tuple[float, ...],
        candidates: int,
        told: Callable[[int, TurnReview], None] | None = None,
    ) -> None:
        assert checked.match is not None  # noqa: S101  (the log agrees)
        self.game, self.checked, self.match = game, checked, checked.match
        self.data, self.opinions = data, opinions
        self.thresholds, self.number, self.told = thresholds, candidates, told
        self.scene = cast("SceneModule", registry.load(game.info.name, "scene"))
        self.truth: list[Any] = checked.positions
        self.positions = self._fast(opinions[0].asker.rules)
        self.turns: list[Turn] = checked.turns

    def review(self, name: str) -> Review:
        judged = [self.judge(opinion) for opinion in self.opinions]
        first = judged[0]
        turns = tuple(self.turn(number, judged) for number in range(len(self.turns)))
        scores, places, shares = self.match.standing()
        result = self.match.result
        final = result.shares if result is not None else tuple(shares)
        order = sorted(range(len(turns)), key=lambda n: (-(turns[n].loss or 0.0), n))
        if first.worths[0].shares is None:
            order = sorted(range(len(turns)), key=lambda n: (-(turns[n].score_loss or 0.0), n))
        seats = self.game.info.players
        ended = result is not None and (self.truth[-1].over or result.offender is not None)
        return Review(
            log=name,
            game=self.game.info.name,
            title=self.game.info.title,
            score_name=self.game.info.score_name,
            engines=tuple(map(_used, self.opinions)),
            thresholds=self.thresholds,
            players=tuple(self.players()),
            names=tuple(self.game.label(seat) for seat in range(seats)),
            over=ended,
            notes=tuple(self.checked.notes),
            scores=tuple(scores),
            places=tuple(result.places if result is not None else places),
            shares=tuple(final) if ended else (),
            start=_rounded(first.worths[0].shares),
            turns=turns,
            seats=tuple(self.seat(seat, turns) for seat in range(seats)),
            turning_point=figures.turning_point(
                first.worths[0].shares, turns, final if ended else ()
            ),
            harm=_harm(turns, seats) if seats > 2 else (),
            worst=tuple(
                n
                for n in order[:WORST]
                if (turns[n].loss or 0) > 0 or (turns[n].score_loss or 0) > 0
            ),
            differences=tuple(
                number
                for number, turn in enumerate(turns)
                if any(
                    abs(figures.severity(turn.label) - figures.severity(other.label)) > 1
                    for other in turn.second_opinions
                    if turn.label and other.label
                )
            ),
            board=boards(map(self.scene.scene, self.truth)).board,
        )

    # What an engine says.

    def judge(self, opinion: Opinion) -> Judged:
        """Ask one engine about the whole game."""
        asker = opinion.asker
        asker.begin(self.match.start.options)
        told = Judged()
        solved = self.solve(asker)
        told.worths = [Worth() for _ in self.positions]
        for number in reversed(range(len(self.positions))):
            if number in solved:
                score, shares = solved[number]
                told.worths[number] = Worth(score, shares, proven=True)
            elif self.forced(number):
                after, seat = told.worths[number + 1], self.positions[number].to_move
                after = seen_by(after, self.positions[number + 1], seat)
                told.worths[number] = replace(after, found=None)
            else:
                told.worths[number] = self.worth(opinion, self.positions[number])
            if number < len(self.turns):
                self.weigh(opinion, told, number, self.turns[number])
                if self.told is not None and opinion is self.opinions[0]:
                    self.told(number, self.turn(number, [told], whole=False))
        return told

    def solve(self, asker: Asker) -> dict[int, tuple[float, tuple[float, ...]]]:
        """The positions at the end that the engine can solve: value and shares."""
        found: dict[int, tuple[float, tuple[float, ...]]] = {}
        if not asker.solves:
            return found
        for number in reversed(range(len(self.positions))):
            value = asker.solve(self.positions[number], SOLVE * asker.nodes)
            if value is None:
                break
            found[number] = value
        return found

    def forced(self, number: int) -> bool:
        """Whether the only move there was has been played: what followed says what it was worth."""
        played = number < len(self.turns) and self.turns[number].move is not None
        return played and not self.game.info.chance and len(self.positions[number].legal()) == 1

    def worth(self, opinion: Opinion, position: Any, nodes: int | None = None) -> Worth:
        """Search a position; the score is for the side to move."""
        legal = [] if position.over or self.game.info.chance else position.legal()
        if len(legal) == 1:  # an engine does not think about it
            child = position.play(legal[0])
            after = seen_by(self.worth(opinion, child, nodes), child, position.to_move)
            return replace(after, found=None)
        found = opinion.asker.ask(position, nodes)
        seats = self.game.info.players
        shares = found.shares if found.proven else None
        if opinion.calibration is not None and shares is None:
            shares = opinion.calibration.shares(found, position.ply, position.to_move, seats)
        return Worth(found.score, shares, found.proven, found)

    def weigh(self, opinion: Opinion, told: Judged, number: int, turn: Turn) -> None:
        """What the move of a turn was worth, and what the best one."""
        before, seat = self.positions[number], turn.seat
        worth, after = told.worths[number], told.worths[number + 1]
        played = seen_by(after, self.positions[number + 1], seat)
        ended_by_foul = turn.verdict.lost and self.truth[number + 1] is self.truth[number]
        if (turn.verdict.lost and self.positions[number + 1] is before) or ended_by_foul:
            nothing = tuple(float(s != seat) for s in range(self.game.info.players))
            played = Worth(None, nothing if len(nothing) == 2 else None, proven=True)
        told.expected[number] = None
        legal = before.legal()
        if len(legal) == 1 and turn.move is not None:
            told.best[number] = legal[0]
            told.played[number] = told.other[number] = played
            return
        draws = draws_after(before) if self.game.info.chance else None
        best = self.best(opinion, worth, before, seat, legal)
        same = turn.move is not None and best is not None and self.same(before, best, turn.move)
        if worth.proven or best is None:
            other = played if same else replace(worth, found=None)
        elif draws is not None and turn.move is not None:
            told.expected[number] = mean = self.mean(opinion, before, turn.move, seat, draws)
            played = self.mean(opinion, before, turn.move, seat, {turn.drawn: 1.0})
            other = mean if same else self.mean(opinion, before, best, seat, draws)
            if self.doubtful(other, mean, seat):
                nodes = LONG_LOOK * opinion.asker.nodes
                best, mean, other = self.long_look(opinion, number, best)
                played = self.mean(opinion, before, turn.move, seat, {turn.drawn: 1.0}, nodes)
                told.expected[number] = mean
        elif turn.move is None or turn.verdict.lost:
            other = self.after_move(opinion, number, best)
        else:
            told.worths[number], best, other = self.contest(opinion, number, worth, played)
            if self.doubtful(other, played, seat):
                best, played, other = self.long_look(opinion, number, best)
        told.best[number], told.played[number], told.other[number] = best, played, other

    def doubtful(self, other: Worth, played: Worth, seat: int) -> bool:
        """Whether a loss is one that may be a mistake or not."""
        lost = _value(other, seat) - _value(played, seat)
        known = other.shares is not None and played.shares is not None
        return known and self.thresholds[0] <= lost < self.thresholds[3]

    def long_look(self, opinion: Opinion, number: int, best: Move) -> tuple[Move, Worth, Worth]:
        """A loss again, with LONG_LOOK times the nodes: the best move, which may be another one now,
        the worth after the move that was played, and after the best."""
        before, turn = self.positions[number], self.turns[number]
        nodes = LONG_LOOK * opinion.asker.nodes
        move = cast("Move", turn.move)
        played = self.after_move(opinion, number, move, nodes)
        found = self.worth(opinion, before, nodes).found
        weighed = [(played, move)]
        for wanted in (best, None if found is None else found.move):
            if wanted is None or any(self.same(before, wanted, known) for _, known in weighed):
                continue
            weighed.append((self.after_move(opinion, number, wanted, nodes), wanted))
        other, best = max(weighed, key=lambda item: _value(item[0], turn.seat))
        return best, played, other

    def after_move(
        self, opinion: Opinion, number: int, move: Move, nodes: int | None = None
    ) -> Worth:
        """What a move of a turn is worth to the mover, by a search of the position after it: the
        mean over what chance may give, where it gives something."""
        before, seat = self.positions[number], self.turns[number].seat
        draws = draws_after(before) if self.game.info.chance else None
        if draws is not None:
            return self.mean(opinion, before, move, seat, draws, nodes)
        child = self.after(number, move)
        return seen_by(self.worth(opinion, child, nodes), child, seat)

    def contest(
        self, opinion: Opinion, number: int, worth: Worth, played: Worth
    ) -> tuple[Worth, Move, Worth]:
        """Which move was the best, by searches of what follows: the one played, or one that the
        engine wants.

        Where the search of what follows says much less than the one before the move, the engine is
        asked again, with twice the nodes: it may want another.

        Returns:
            The position's worth by the last search of it, the move, and the worth after it.
        """
        before, turn = self.positions[number], self.turns[number]
        seat, usual = turn.seat, opinion.asker.nodes
        weighed = [(played, cast("Move", turn.move))]
        nodes = usual
        while worth.found is not None and worth.found.move is not None:
            best = worth.found.move
            if played.shares is not None and played.shares[seat] >= 1 - figures.DECIDED:
                return worth, best, played
            other = next((w for w, move in weighed if self.same(before, best, move)), None)
            if other is not None and nodes > usual:
                break
            if other is None:
                other = self.after_move(opinion, number, best)
                weighed.append((other, best))
            if (
                worth.shares is None
                or other.shares is None
                or worth.shares[seat] - other.shares[seat] < DOUBT
                or nodes >= LONG_LOOK * usual
            ):
                break
            nodes *= 2
            worth = self.worth(opinion, before, nodes)
        other, best = max(weighed, key=lambda item: _value(item[0], seat))
        return worth, best, other

    def best(
        self, opinion: Opinion, worth: Worth, before: Any, seat: int, legal: list[Move]
    ) -> Move | None:
        """The engine's move; in a solved position one that keeps its value."""
        if worth.found is not None:
            return worth.found.move
        guess = opinion.asker.ask(before).move
        for move in sorted(legal, key=lambda move: move != guess):
            child = before.play(move)
            value = opinion.asker.solve(child, SOLVE * opinion.asker.nodes)
            if value is not None and value[1] == worth.shares:
                mine = value[0] if child.to_move == seat else -value[0]
                if mine == worth.score:
                    return move
        return guess

    def after(self, number: int, move: Move) -> Any:
        """The position after another move than the one that was played, when the next one moves who
        sits there."""
        position = self.positions[number].play(move)
        absent = {seat for seat, name in enumerate(self.match.names) if name is None}
        if self.match.table.foul is Penalty.OUT:
            absent |= {turn.seat for turn in self.turns[: number + 1] if turn.verdict.lost}
        while not position.over and position.to_move in absent:
            position = position.lose_turn()
        return position

    def mean(
        self,
        opinion: Opinion,
        before: Any,
        move: Move,
        seat: int,
        draws: dict[int | None, float],
        nodes: int | None = None,
    ) -> Worth:
        """What a position is worth after a move, over the draws by their probabilities."""
        after = before.play(move)
        nodes = max(LEAST_NODES, (nodes or opinion.asker.nodes) // DRAW_PART)
        score: float | None = 0.0
        total: list[float] | None = [0.0] * self.game.info.players
        proven = True
        for drawn, chance in draws.items():
            position = after if after.over else after.reveal(drawn)
            worth = seen_by(self.worth(opinion, position, nodes), position, seat)
            proven = proven and worth.proven
            score = None if score is None or worth.score is None else score + chance * worth.score
            if total is not None:
                total = (
                    None
                    if worth.shares is None
                    else [a + chance * b for a, b in zip(total, worth.shares, strict=True)]
                )
        return Worth(
            score, None if total is None else tuple(total), proven=proven and len(draws) == 1
        )

    @staticmethod
    def same(position: Any, one: Move, other: Move) -> bool:
        """Whether two moves lead to the same position."""
        if tuple(one) == tuple(other):
            return True
        canonical = getattr(position, "canonical", None)
        return canonical is not None and canonical(one) == canonical(other)

    def attempt(self, number: int, text: str, turn: TurnReview) -> Attempt:
        """Another move for a turn, against what its review says."""
        truth, opinion = self.truth[number], self.opinions[0]
        move = self.scene.read(text, truth)
        truth.play(move)
        best = None if turn.best is None else self.scene.read(turn.best.move, truth)
        is_best = best is not None and self.same(self.positions[number], best, move)
        if is_best and turn.best is not None:
            worth = turn.best
        else:
            worth = self.candidate(number, move, self.after_move(opinion, number, move))
        loss = score_loss = None
        if turn.best is not None and worth.share is not None and turn.best.share is not None:
            loss = round(max(0.0, turn.best.share - worth.share), 4)
        if turn.best is not None and worth.score is not None and turn.best.score is not None:
            score_loss = round(max(0.0, turn.best.score - worth.score), 3)
        return Attempt(
            move=self.scene.write(move, truth),
            parts=self.scene.parts(move, truth),
            share=worth.share,
            score=worth.score,
            proven=worth.proven,
            loss=loss,
            score_loss=score_loss,
            label="" if loss is None else figures.label(loss, self.thresholds),
            is_best=is_best,
        )

    # What is said of a turn.

    def turn(self, number: int, judged: Sequence[Judged], *, whole: bool = True) -> TurnReview:
        """What is said of a turn; candidates, which take searches, only where it is to be whole."""
        turn, told = self.turns[number], judged[0]
        truth, after = self.truth[number], self.truth[number + 1]
        seat, move = turn.seat, turn.move
        forced = len(truth.legal()) == 1 and move is not None
        loss, score_loss, label, certain = self.lost(self.opinions[0], told, number, forced=forced)
        other, played = told.other[number], told.played[number]
        expected = told.expected[number]
        shares, mean = played.shares, None if expected is None else expected.shares
        luck = None
        if shares is not None and mean is not None:
            luck = round(shares[seat] - mean[seat], 4)
        best = told.best[number]
        is_best = forced or (
            best is not None and move is not None and self.same(self.positions[number], best, move)
        )
        missed = bool(
            loss is not None
            and other.shares is not None
            and loss >= self.thresholds[2]
            and other.shares[seat] >= figures.SURE
        )
        gain, overlooked, count = self.gains(number)
        before = told.worths[number]
        idle = forced or before.proven
        if before.shares is not None:
            idle = idle or figures.is_decided(before.shares[seat])
        idle = idle and (loss or 0.0) < self.thresholds[0]
        base = mean if mean is not None else shares
        harm: tuple[float, ...] = ()
        if self.game.info.players > 2 and base is not None and before.shares is not None:
            harm = tuple(round(b - a, 4) for a, b in zip(base, before.shares, strict=True))
        kind = ""
        if loss is not None and loss >= self.thresholds[0]:
            best_gain = None if best is None else self.gain(number, best)
            kind = (
                "foul"
                if turn.verdict.lost
                else "missed win"
                if missed
                else "ending"
                if before.proven
                else "overlooked"
                if best_gain is not None and best_gain >= gain + MUCH
                else "judgement"
            )
        bad = loss is not None and loss >= self.thresholds[0] and not forced
        return TurnReview(
            ply=truth.ply,
            seat=seat,
            move="-" if move is None else self.scene.write(move, truth),
            parts=() if move is None else self.scene.parts(move, truth),
            verdict=turn.verdict.value,
            reason=printable(turn.reason) if turn.verdict.lost else "",
            seconds=round(turn.ms / 1000 if turn.ms else turn.seconds, 3),
            clock=self.clocks[number],
            scores=tuple(after.scores()),
            shares=_rounded(shares),
            expected=_rounded(mean),
            score=before.score,
            best=None if best is None else self.candidate(number, best, other),
            line=self.line(number, best, other, before),
            is_best=is_best,
            loss=loss,
            score_loss=score_loss,
            label=label,
            luck=luck,
            proven=certain,
            missed_win=missed,
            idle=idle,
            gain=gain,
            best_gain=None if best is None else self.gain(number, best),
            overlooked=overlooked,
            overlooked_count=count,
            harm=harm,
            candidates=self.candidates(number, told) if bad and whole else (),
            remarks=self.remarks.get(number, ()),
            second_opinions=tuple(
                self.second(opinion, also, number, forced=forced)
                for opinion, also in zip(self.opinions[1:], judged[1:], strict=whole)
            ),
            kind=kind,
        )

    def lost(
        self, opinion: Opinion, told: Judged, number: int, *, forced: bool
    ) -> tuple[float | None, float | None, str, bool]:
        """What a move lost: of win probability, in the engine's unit, the label, and whether that
        is certain."""
        turn = self.turns[number]
        other = told.other[number]
        played = told.expected[number] or told.played[number]
        loss = score_loss = None
        # what is solved may be told in results, what is searched in points
        comparable = other.proven == played.proven
        if comparable and other.score is not None and played.score is not None:
            score_loss = round(max(0.0, other.score - played.score), 3)
        known = opinion.calibration is not None
        if known and other.shares is not None and played.shares is not None:
            loss = round(max(0.0, other.shares[turn.seat] - played.shares[turn.seat]), 4)
        certain = other.proven and played.proven and loss is not None
        if forced:
            return (None if loss is None else 0.0), score_loss and 0.0, FORCED, certain
        if turn.verdict.lost:
            return loss, score_loss, FOUL, certain
        label = "" if loss is None else figures.label(loss, self.thresholds)
        return loss, score_loss, label, certain

    def second(self, opinion: Opinion, told: Judged, number: int, *, forced: bool) -> Second:
        """Another engine's word."""
        loss, score_loss, label, _ = self.lost(opinion, told, number, forced=forced)
        best = told.best[number]
        said = "-" if best is None else self.scene.write(best, self.truth[number])
        return Second(opinion.asker.name, said, loss, label, score_loss)

    def candidate(self, number: int, move: Move, worth: Worth) -> Candidate:
        truth, seat = self.truth[number], self.turns[number].seat
        return Candidate(
            self.scene.write(move, truth),
            self.scene.parts(move, truth),
            None if worth.shares is None else round(worth.shares[seat], 4),
            None if worth.score is None else round(worth.score, 3),
            worth.proven,
        )

    def candidates(self, number: int, told: Judged) -> tuple[Candidate, ...]:
        """The best moves, the one played among them: the engine shows several lines, and what follows
        each is searched as it is after the best."""
        opinion, before = self.opinions[0], self.positions[number]
        turn = self.turns[number]
        known = {}
        for move, worth in (
            (told.best[number], told.other[number]),
            (turn.move, told.expected[number] or told.played[number]),
        ):
            if move is not None:
                known[tuple(move)] = worth
        for move in opinion.asker.several(before, self.number + 1):
            if len(known) > self.number:
                break
            if any(self.same(before, move, other) for other in known):
                continue
            known[tuple(move)] = self.after_move(opinion, number, move)
        listed = [self.candidate(number, move, worth) for move, worth in known.items()]
        return tuple(sorted(listed, key=lambda c: (-(c.share or 0.0), c.move)))

    def line(self, number: int, best: Move | None, other: Worth, worth: Worth) -> tuple[str, ...]:
        """What the engine expects after its move, in the judge's words."""
        if best is None:
            return ()
        moves = [best]
        if other.found is not None:
            moves += other.found.line
        elif worth.found is not None and worth.found.line[:1] == (best,):
            moves += worth.found.line[1:]
        position = self.truth[number]
        words = []
        for move in moves[: 1 if self.game.info.chance else LINE]:
            try:
                words.append(self.scene.write(move, position))
                position = position.play(move)
            except QuartetError:
                break
        return tuple(words)

    def gain(self, number: int, move: Move) -> float:
        """By how much a move changes the mover's lead on the board."""
        before, seat = self.positions[number], self.turns[number].seat
        after = before.play(move)
        return self.ahead(after, seat) - self.ahead(before, seat)

    def ahead(self, position: Any, seat: int) -> float:
        """A seat's lead; where the scores of a view are turned, so is the seat."""
        return lead(self.game, position.scores(), seat)

    def gains(self, number: int) -> tuple[float, tuple[tuple[str, float], ...], int]:
        """What the move gained at once, and which gain more."""
        turn, before = self.turns[number], self.positions[number]
        mine = 0.0 if turn.move is None else self.gain(number, turn.move)
        better = []
        for move in before.legal():
            gain = self.gain(number, move)
            if gain > mine:
                better.append((-gain, move))
        better.sort()
        truth = self.truth[number]
        named = tuple((self.scene.write(move, truth), -gain) for gain, move in better[:OVERLOOKED])
        return mine, named, len(better)

    # What the log says beside.

    def players(self) -> list[str | None]:
        """Who played, by the log."""
        return [
            None if name is None else printable(name.removeprefix("COMMAND: "))
            for name in self.match.names
        ]

    @cached_property
    def remarks(self) -> dict[int, tuple[tuple[int | None, str], ...]]:
        """What programs said, by the number of the turn after which they did."""
        found: dict[int, list[tuple[int | None, str]]] = {}
        for number, turn in enumerate(self.turns):
            said = [(seat, text) for seat, text in turn.said]
            said += [(turn.seat, text) for text in turn.stderr.splitlines()]
            for seat, text in said:
                if not text.startswith("info depth "):
                    found.setdefault(number, []).append((seat, printable(text)))
        if self.data.lstrip()[:1] != b"{" and self.game.info.lines is not None:
            moved = [n for n, t in enumerate(self.turns) if t.move != self.game.pass_move]
            count = 0
            for line in self.data.decode("utf-8-sig", "replace").splitlines():
                try:
                    entry = self.game.protocol.parse_entry(line)
                except QuartetError:
                    continue
                if isinstance(entry, Ply) and entry.move != self.game.pass_move:
                    count += 1
                elif isinstance(entry, Debug) and moved:
                    place = moved[min(max(count - 1, 0), len(moved) - 1)]
                    found.setdefault(place, []).append((entry.seat, printable(entry.text)))
        return {number: tuple(said) for number, said in found.items()}

    @cached_property
    def clocks(self) -> list[int | None]:
        """Milliseconds that the mover has left after each turn, of a clock for the game."""
        table = self.match.table
        left = list(table.clocks)
        found: list[int | None] = []
        for turn in self.turns:
            if table.per_move:
                found.append(None)
                continue
            left[turn.seat] = max(0, left[turn.seat] - turn.ms)
            found.append(left[turn.seat])
        return found

    def seat(self, seat: int, turns: Sequence[TurnReview]) -> SeatReview:
        own = [turn for turn in turns if turn.seat == seat]
        chosen = figures.judged(turns, seat)
        free = [turn for turn in own if turn.label != FORCED]
        luck = [turn.luck for turn in own if turn.luck is not None]
        return SeatReview(
            seat=seat,
            name=self.game.label(seat),
            player=self.players()[seat],
            turns=len(free),
            accuracy=figures.accuracy([turn.loss or 0.0 for turn in chosen]),
            loss=round(sum(turn.loss or 0.0 for turn in chosen), 4) if chosen else None,
            score_loss=round(sum(turn.score_loss or 0.0 for turn in free), 3) if free else None,
            labels=dict(Counter(turn.label for turn in own if turn.label)),
            missed_wins=sum(turn.missed_win for turn in own),
            luck=round(sum(luck), 4) if luck else None,
            seconds=round(sum(turn.seconds for turn in own), 3),
            idle_seconds=round(sum(turn.seconds for turn in own if turn.idle), 3),
            gain=sum(turn.gain for turn in own),
            best_gain=sum(turn.best_gain or 0.0 for turn in own),
            overlooked=sum(turn.overlooked_count > 0 for turn in own),
        )

    def _fast(self, rules: type[Position]) -> list[Any]:
        """The positions on the fast rules; the reference ones where those cannot play the log."""
        try:
            fast = check(self.game, self.data, rules=rules)
        except (QuartetError, AttributeError):
            return self.truth
        fits = fast.agrees and len(fast.positions) == len(self.truth)
        return fast.positions if fits else self.truth


def _value(worth: Worth, seat: int) -> float:
    """What moves are compared by."""
    known = worth.score if worth.shares is None else worth.shares[seat]
    return -math.inf if known is None else known


def seen_by(worth: Worth, position: Any, seat: int) -> Worth:
    """A position's worth with the score for a seat of two that may not be the one to move."""
    score = worth.score
    if score is not None and position.to_move != seat:
        score = -score
    if worth.shares is not None and len(worth.shares) > 2:
        score = round(1000 * worth.shares[seat], 1)
    return Worth(score, worth.shares, worth.proven, worth.found)


def draws_after(position: Any) -> dict[int | None, float] | None:
    """What chance may give the mover after its move, with the probabilities; None where the position
    does not tell its bags. Everything in the bag is as likely."""
    bags = getattr(position, "bags", None)
    if bags is None:
        return None
    bag = bags[position.to_move]
    if not bag:
        return {None: 1.0}
    return {drawn: number / len(bag) for drawn, number in sorted(Counter(bag).items())}


def _used(opinion: Opinion) -> EngineUsed:
    known = opinion.calibration
    return EngineUsed(
        opinion.asker.name,
        opinion.asker.nodes,
        known is not None,
        None if known is None else known.error,
        None if known is None else known.nodes,
    )


def _rounded(shares: tuple[float, ...] | None) -> tuple[float, ...] | None:
    return None if shares is None else tuple(round(share, 4) for share in shares)


def _harm(turns: Sequence[TurnReview], seats: int) -> tuple[tuple[float, ...], ...]:
    """What every seat's moves (row) took from every seat (column); negative: gave."""
    table = [[0.0] * seats for _ in range(seats)]
    for turn in turns:
        for other, taken in enumerate(turn.harm):
            table[turn.seat][other] += taken
    return tuple(tuple(round(value, 4) for value in row) for row in table)


def opinion(game: str, engine: str, nodes: int | None, file: str = "") -> Opinion:
    """An engine with its calibration; without other nodes, it searches as it was calibrated.

    Raises QuartetError.
    """
    known = calibrations.of_engine(game, engine, Path(file) if file else None)
    usual = known.nodes if known is not None else None
    return Opinion(Asker(game, engine, nodes or usual), known)
