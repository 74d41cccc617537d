"""A review as lines of text for the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from quartet.review import figures
from quartet.review.document import Review, TurnReview
from quartet.review.summary import Group, Summary, player

HARM = "change of each seat's win share (column) by each seat's moves (row)"
"""Title of the table of harm."""


def lines(review: Review) -> Iterator[str]:
    """Yield a review: the outcome, totals, the worst moves, then all other flawed moves."""
    if review.complaint:
        yield f"{review.log}: {review.complaint}"
        return
    turns, worst = review.turns, review.worst
    yield f"{review.log}: {review.title}, {len(turns)} turns, {outcome(review)}"
    yield from (f"  {note}" for note in review.notes)
    engine = review.engines[0]
    asked = ", ".join(f"{e.name} at {e.nodes:,} nodes" for e in review.engines)
    yield f"  reviewed by {asked}"
    if review.start is None:
        yield "  no calibration: scores in the engine's unit, and no labels (quartet calibrate)"
    elif engine.calibrated_nodes not in {None, engine.nodes}:
        yield f"  calibrated at {engine.calibrated_nodes:,} nodes"
    yield ""
    yield from table(_seats(review))
    if review.start is not None:
        yield f"  {figures.ACCURACY_NOTE}"
    if review.harm:
        seats = [seat for seat, who in enumerate(review.players) if who is not None]
        rows = [["", *(f"to {review.names[seat]}" for seat in seats)]]
        rows += [
            [
                f"{review.names[seat]} {player(review, seat)}",
                *(_points(-review.harm[seat][other]) for other in seats),
            ]
            for seat in seats
        ]
        yield from _section(f"  {HARM}", table(rows))
    if review.turning_point is not None:
        turn = turns[review.turning_point]
        winner = _who(review, review.shares.index(max(review.shares)))
        mover = _who(review, turn.seat)
        yield ""
        yield f"  turning point: ply {turn.ply}, {mover} played {turn.move}; then {winner} led"
    named = (_turn(review, turns[number]) for number in worst)
    yield from _section("  the worst moves", (line for turn in named for line in turn))
    rest = (
        line
        for number, turn in enumerate(turns)
        if number not in worst and figures.severity(turn.label) >= figures.severity("inaccuracy")
        for line in _turn(review, turn)
    )
    yield from _section("  other flawed moves", rest)
    drawn = [turn for turn in turns if turn.luck is not None]
    lucky = sorted(drawn, key=lambda turn: -abs(turn.luck or 0.0))[:3]
    draws = (f"    ply {t.ply}, {_who(review, t.seat)}: {_points(t.luck)}" for t in lucky)
    yield from _section("  the luckiest and unluckiest draws", draws)
    yield from _section(
        "  turns on which engines differ",
        (_difference(turns[number]) for number in review.differences),
    )


def _section(title: str, content: Iterable[str]) -> Iterator[str]:
    """Yield an empty line, a title and content; nothing if there is no content."""
    for number, line in enumerate(content):
        if number == 0:
            yield from ("", title)
        yield line


def outcome(review: Review) -> str:
    """Return how the game ended."""
    scores = " to ".join("-" if score is None else str(score) for score in review.scores)
    best = [seat for seat, share in enumerate(review.shares) if share > 0]
    if not review.over:
        said = "unfinished"
    elif len(best) > 1:
        said = "a draw"
    else:
        said = f"{_who(review, best[0])} wins"
    return f"{said}, {scores} {review.score_name}"


def summary(found: Summary) -> Iterator[str]:
    """Yield the summary of many reviews."""
    for log, complaint in found.complaints:
        yield f"{log}: {complaint}"
    yield f"{found.reviewed} of {found.logs} logs reviewed"
    if found.worst:
        rows = [["loss", "log", "ply", "player", "move", "better", "label", "kind", "phase"]]
        rows += [
            [
                _loss(loss.loss, loss.score_loss),
                loss.log,
                str(loss.ply),
                loss.player,
                loss.move,
                loss.best,
                loss.label,
                loss.kind,
                loss.phase,
            ]
            for loss in found.worst
        ]
        yield from _section("the worst losses", table(rows))
    for name, groups in (
        ("player", found.players),
        ("phase", found.phases),
        ("kind of loss", found.kinds),
    ):
        if groups:
            yield ""
            yield from table(_groups(name, groups))
    if found.players:
        yield f"  {figures.ACCURACY_NOTE}"


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows in columns; figures are right-aligned."""
    width = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            text.rjust(size) if _is_figure(text) else text.ljust(size)
            for text, size in zip(row, width, strict=True)
        )
        yield ("  " + "  ".join(cells)).rstrip()


def _is_figure(text: str) -> bool:
    return re.fullmatch(r"[+-]?[\d,.]+ ?[%s]?", text) is not None


def _groups(name: str, groups: Sequence[Group]) -> list[tuple[str, ...]]:
    per_turn = [group.loss / max(1, group.turns) for group in groups]
    games = any(group.games for group in groups)
    return _rows(
        (True, name, [group.name for group in groups]),
        (games, "games", [str(group.games) for group in groups]),
        (games, "points", [f"{group.shares:g}" for group in groups]),
        (True, "turns", [str(group.turns) for group in groups]),
        (True, "accuracy", [_accuracy(group.accuracy) for group in groups]),
        (True, "loss per turn", [f"{100 * loss:.1f} %" for loss in per_turn]),
        (True, "mistakes", [str(group.mistakes) for group in groups]),
        (any(g.forfeits for g in groups), "forfeits", [str(g.forfeits) for g in groups]),
    )


def _seats(review: Review) -> list[tuple[str, ...]]:
    seats = [seat for seat in review.seats if seat.player is not None]
    labels = review.start is not None
    lost = [_loss(seat.loss, None if labels else seat.score_loss) for seat in seats]
    return _rows(
        (True, "", [f"{seat.name} {seat.player}" for seat in seats]),
        (True, "turns", [str(seat.turns) for seat in seats]),
        (labels, "accuracy", [_accuracy(seat.accuracy) for seat in seats]),
        (True, "lost", lost),
        (any(s.luck is not None for s in seats), "luck", [_points(s.luck) for s in seats]),
        (labels, "mistakes", [str(seat.labels.get("mistake", 0)) for seat in seats]),
        (labels, "blunders", [str(seat.labels.get("blunder", 0)) for seat in seats]),
        (labels, "missed wins", [str(seat.missed_wins) for seat in seats]),
        (True, f"{review.score_name} swung", [f"{seat.gain:+g}" for seat in seats]),
        (True, "best moves", [f"{seat.best_gain:+g}" for seat in seats]),
        (True, "overlooked", [str(seat.overlooked) for seat in seats]),
        (True, "time", [f"{seat.seconds:.1f} s" for seat in seats]),
        (True, "idle", [f"{seat.idle_seconds:.1f} s" for seat in seats]),
    )


def _rows(*columns: tuple[bool, str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the rows of a table: a line of titles, then the cells.

    Args:
        columns: Of each column, True if it is shown, its title, and its cells.
    """
    shown = ((title, *cells) for is_shown, title, cells in columns if is_shown)
    return list(zip(*shown, strict=True))


def _accuracy(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _turn(review: Review, turn: TurnReview) -> Iterator[str]:
    lost = _loss(turn.loss, turn.score_loss)
    head = f"    ply {turn.ply}, {_who(review, turn.seat)}: {turn.move}  {turn.label or 'lost'} "
    facts = ["proven" if turn.proven else "", "a missed win" if turn.missed_win else ""]
    yield ", ".join(filter(None, [head + lost, *facts, turn.reason]))
    if turn.best is not None and not turn.is_best:
        line = ", ".join(turn.line[1:])
        yield f"      better: {turn.best.move}{f' ({line})' if line else ''}"
    if turn.overlooked and turn.kind == "overlooked":
        named = ", ".join(f"{move} {gain:+g}" for move, gain in turn.overlooked)
        yield f"      swung {turn.gain:+g}; {turn.overlooked_count} moves swing more: {named}"


def _difference(turn: TurnReview) -> str:
    others = "; ".join(f"{o.engine}: {o.label}, {o.best}" for o in turn.second_opinions)
    return f"    ply {turn.ply}, {turn.move}: {turn.label}; {others}"


def _who(review: Review, seat: int) -> str:
    name, who = review.names[seat], review.players[seat]
    return f"{name} ({who})" if who and who != name else name


def _loss(loss: float | None, score_loss: float | None) -> str:
    """Return a loss in percent, or in the engine's unit if there is no calibration."""
    if loss is not None:
        return f"{100 * loss:.1f} %"
    return "-" if score_loss is None else f"{score_loss:g}"


def _points(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:+.1f} %" if value else "0 %"
