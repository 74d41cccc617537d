"""The document of a review, made from a log and what engines find in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core.errors import QuartetError
from core.rules import Move
from quartet.judge.process.words import printable
from quartet.judge.turn import Verdict
from quartet.review import figures
from quartet.review.boards import Boards
from quartet.review.document import (
    FORCED,
    FORFEITED,
    Attempt,
    Candidate,
    EngineUsed,
    Review,
    SeatReview,
    Second,
    TurnReview,
)
from quartet.review.evaluation import GameAnalysis, MoveAnalysis
from quartet.review.search import CalibratedEngine, PositionValue

LINE = 6
"""Moves shown of a principal variation."""
OVERLOOKED = 3
"""Moves listed that gain more than the one played."""
MUCH = 3
"""Cells or points that the best move swings more than the played one if the loss is called
overlooked instead of a misjudgement. Not tuned."""
WORST = 5
"""Turns listed as the worst of a game."""


class Report:
    """The presentation of one game's review."""

    def __init__(self, analyses: Sequence[GameAnalysis]) -> None:
        """Take the analyses by every engine; the caller may add to them later.

        The verdict of the first engine counts. All analyses are of the same log.
        """
        self.analyses, self.log, self.game = analyses, analyses[0].log, analyses[0].log.game
        self.thresholds = analyses[0].thresholds

    def review(self, name: str) -> Review:
        """Return the whole document; `name` is the log's."""
        log, info = self.log, self.game.info
        turns = tuple(self.turn(number) for number in range(len(log.turns)))
        scores, places, _ = log.match.standing()
        result = log.match.result
        ended = result is not None and (log.truth[-1].over or result.offender is not None)
        final = tuple(result.shares) if ended and result is not None else ()
        start = self.analyses[0].values[0].shares
        losses = [(turn.score_loss if start is None else turn.loss) or 0.0 for turn in turns]
        order = sorted(range(len(turns)), key=lambda number: (-losses[number], number))
        return Review(
            log=name,
            game=info.name,
            title=info.title,
            score_name=info.score_name,
            engines=tuple(_used(analysis.engine) for analysis in self.analyses),
            thresholds=self.thresholds,
            players=tuple(log.players),
            names=tuple(self.game.label(seat) for seat in range(info.players)),
            over=ended,
            notes=tuple(log.notes),
            scores=tuple(scores),
            places=tuple(result.places if result is not None else places),
            shares=final,
            start=_rounded(start),
            turns=turns,
            seats=tuple(self.seat(seat, start, turns) for seat in range(info.players)),
            turning_point=figures.turning_point(start, turns, final),
            harm=_harm(turns, info.players) if info.players > 2 and start is not None else (),
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
            board=Boards(*map(log.scene.scene, log.truth)).board,
        )

    def turn(self, number: int) -> TurnReview:
        """Return a turn's review by all engines."""
        log, turn, truth = self.log, self.log.turns[number], self.log.truth[number]
        seat, move = turn.seat, turn.move
        first, before = self.analyses[0].moves[number], self.analyses[0].values[number]
        best, shares = first.best, first.played.shares
        forced = log.is_forced(number)
        loss, score_loss, label, certain = self._loss(self.analyses[0], number)
        flawed = loss is not None and loss >= self.thresholds[0]
        chosen = first.chosen.shares
        gain, overlooked, count = self._gains(number)
        best_gain = None if best is None else log.gain(number, best)
        if turn.verdict is Verdict.RESIGNED:  # no choice of a move
            overlooked, count, best_gain = (), 0, None
        missed = bool(
            loss is not None
            and loss >= self.thresholds[2]
            and first.other.shares is not None
            and first.other.shares[seat] >= figures.SURE
        )
        decided = before.shares is not None and figures.is_decided(before.shares[seat])
        harm: tuple[float, ...] = ()
        if self.game.info.players > 2 and chosen is not None and before.shares is not None:
            harm = tuple(round(b - a, 4) for a, b in zip(chosen, before.shares, strict=True))
        kinds = {
            "foul": turn.verdict.lost,
            "missed win": missed,
            "ending": before.proven,
            "overlooked": best_gain is not None and best_gain >= gain + MUCH,
        }
        kind = next((name for name, applies in kinds.items() if applies), "judgement")
        return TurnReview(
            ply=truth.ply,
            seat=seat,
            move=self._written(number, move),
            parts=() if move is None else log.scene.parts(move, truth),
            verdict=turn.verdict.value,
            reason=printable(turn.reason) if turn.verdict.lost else "",
            seconds=round(turn.ms / 1000 if turn.ms else turn.seconds, 3),
            clock=log.clocks[number],
            scores=tuple(log.truth[number + 1].scores()),
            shares=_rounded(shares),
            expected=None if first.expected is None else _rounded(chosen),
            score=before.score,
            best=None if best is None else self._candidate(number, best, first.other),
            line=self._line(number, first, before),
            is_best=forced or log.same(number, best, move),
            loss=loss,
            score_loss=score_loss,
            label=label,
            luck=None if first.luck is None else round(first.luck, 4),
            proven=certain,
            missed_win=missed,
            idle=(forced or before.proven or decided) and not flawed,
            gain=gain,
            best_gain=best_gain,
            overlooked=overlooked,
            overlooked_count=count,
            harm=harm,
            candidates=tuple(self._candidate(number, *item) for item in first.candidates)
            if flawed and not forced
            else (),
            remarks=log.remarks.get(number, ()),
            second_opinions=tuple(self._second(other, number) for other in self.analyses[1:]),
            kind=kind if flawed else "",
        )

    def _loss(
        self, analysis: GameAnalysis, number: int
    ) -> tuple[float | None, float | None, str, bool]:
        """Return what a move lost by one engine.

        Returns:
            Win probability lost, the same in the engine's unit, the label, True if that is proven.
        """
        turn, found = self.log.turns[number], analysis.moves[number]
        other, played = found.other, found.chosen
        loss = score_loss = None
        # Solved positions may be scored in results, searched ones in points.
        if other.proven == played.proven:
            score_loss = _lost(other.score, played.score, 3)
        if analysis.engine.calibration is not None:
            loss = _lost(other.share(turn.seat), played.share(turn.seat), 4)
        certain = other.proven and played.proven and loss is not None
        if self.log.is_forced(number):
            return (None if loss is None else 0.0), score_loss and 0.0, FORCED, certain
        if turn.verdict is Verdict.RESIGNED:
            return None, None, "", False
        label = FORFEITED if turn.verdict.lost else self._label(loss)
        return loss, score_loss, label, certain

    def _label(self, loss: float | None) -> str:
        """Return the label of a loss; empty if the loss is unknown."""
        return "" if loss is None else figures.label(loss, self.thresholds)

    def _second(self, analysis: GameAnalysis, number: int) -> Second:
        """Return another engine's verdict on a turn."""
        loss, score_loss, label, _ = self._loss(analysis, number)
        best = self._written(number, analysis.moves[number].best)
        return Second(analysis.engine.name, best, loss, label, score_loss)

    def _written(self, number: int, move: Move | None) -> str:
        """Return a move in a turn as the judge writes it; "-" for none."""
        return "-" if move is None else self.log.scene.write(move, self.log.truth[number])

    def _candidate(self, number: int, move: Move, value: PositionValue) -> Candidate:
        truth, seat = self.log.truth[number], self.log.turns[number].seat
        return Candidate(
            self._written(number, move),
            self.log.scene.parts(move, truth),
            None if value.shares is None else round(value.shares[seat], 4),
            None if value.score is None else round(value.score, 3),
            value.proven,
            value.nodes,
        )

    def _line(self, number: int, found: MoveAnalysis, before: PositionValue) -> tuple[str, ...]:
        """Return the engine's move and the moves it expects next, as the judge writes them."""
        if found.best is None:
            return ()
        moves = [found.best]
        if found.other.search is not None:
            moves += found.other.search.line
        elif before.search is not None and before.search.line[:1] == (found.best,):
            moves += before.search.line[1:]
        position = self.log.truth[number]
        words = []
        for move in moves[: 1 if self.game.info.chance else LINE]:
            try:
                words.append(self.log.scene.write(move, position))
                position = position.play(move)
            except QuartetError:
                break
        return tuple(words)

    def _gains(self, number: int) -> tuple[float, tuple[tuple[str, float], ...], int]:
        """Return what the move gained at once, the moves that gain most, and how many gain more."""
        log, truth = self.log, self.log.truth[number]
        mine = log.gain(number, log.turns[number].move)
        gains = [(-log.gain(number, move), move) for move in log.positions[number].legal()]
        better = sorted(item for item in gains if item[0] < -mine)
        named = ((log.scene.write(move, truth), -gain) for gain, move in better[:OVERLOOKED])
        return mine, tuple(named), len(better)

    def attempt(self, number: int, text: str, turn: TurnReview) -> Attempt:
        """Return the verdict on another move for a turn, compared with that turn's review."""
        log, scene, best = self.log, self.log.scene, turn.best
        truth = log.truth[number]
        move = scene.read(text, truth)
        truth.play(move)
        listed = (*(() if best is None else (best,)), *turn.candidates)
        same = (c for c in listed if log.same(number, scene.read(c.move, truth), move))
        value = next(same, None) or self._new_candidate(number, move, best)
        loss = None if best is None else _lost(best.share, value.share, 4)
        return Attempt(
            move=scene.write(move, truth),
            parts=scene.parts(move, truth),
            share=value.share,
            score=value.score,
            proven=value.proven,
            nodes=value.nodes,
            loss=loss,
            score_loss=None if best is None else _lost(best.score, value.score, 3),
            label=self._label(loss),
            is_best=value is best,
        )

    def _new_candidate(self, number: int, move: Move, best: Candidate | None) -> Candidate:
        """Search a move that the review does not list.

        If chance follows, the move is compared with the best one by equally short searches, as in
        the review.
        """
        search, seat = self.analyses[0], self.log.turns[number].seat
        value = search.after_move(number, move)
        if best is not None and best.share is not None and self.game.info.chance:
            known = self.log.scene.read(best.move, self.log.truth[number])
            short = search.after_move(number, known)
            shares = tuple(
                best.share if s == seat else 1 - best.share for s in range(self.game.info.players)
            )
            value = value.shifted(short, PositionValue(best.score, shares))
        return self._candidate(number, move, value)

    def seat(
        self, seat: int, start: Sequence[float] | None, turns: Sequence[TurnReview]
    ) -> SeatReview:
        """Return the totals of a seat; `start` is every seat's win probability at the start."""
        own = [turn for turn in turns if turn.seat == seat]
        chosen = [
            d for n, d in figures.weighted_losses(start, turns).items() if turns[n].seat == seat
        ]
        free = [turn for turn in own if turn.label != FORCED]
        luck = [turn.luck for turn in own if turn.luck is not None]
        return SeatReview(
            seat=seat,
            name=self.game.label(seat),
            player=self.log.players[seat],
            turns=len(free),
            accuracy=figures.accuracy(chosen),
            loss=round(sum(decision.loss for decision in chosen), 4) if chosen else None,
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


def _used(engine: CalibratedEngine) -> EngineUsed:
    known = engine.calibration
    return EngineUsed(
        engine.name,
        engine.nodes,
        known is not None,
        None if known is None else known.error,
        None if known is None else known.nodes,
    )


def _lost(best: float | None, value: float | None, digits: int) -> float | None:
    """Return by how much a value is below the best one, at least 0; None if one is unknown."""
    return None if best is None or value is None else round(max(0.0, best - value), digits)


def _rounded(shares: tuple[float, ...] | None) -> tuple[float, ...] | None:
    return None if shares is None else tuple(round(share, 4) for share in shares)


def _harm(turns: Sequence[TurnReview], seats: int) -> tuple[tuple[float, ...], ...]:
    """Return what every seat's moves (row) took from every seat (column); negative: gave."""
    harms = [[t.harm for t in turns if t.seat == seat and t.harm] for seat in range(seats)]
    return tuple(
        tuple(round(sum((harm[other] for harm in own), 0.0), 4) for other in range(seats))
        for own in harms
    )
