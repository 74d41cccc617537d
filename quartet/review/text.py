"""A review for people, as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quartet.review import figures
from quartet.review.summary import player

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from quartet.review.document import Review, TurnReview
    from quartet.review.summary import Group, Summary


def lines(review: Review) -> Iterator[str]:
    """A review, the outcome first, then the worst moves, then every move that was not good."""
    if review.complaint:
        yield f"{review.log}: {review.complaint}"
        return
    yield f"{review.log}: {review.title}, {len(review.turns)} turns, {outcome(review)}"
    yield from (f"  {note}" for note in review.notes)
    calibrated = review.start is not None
    engine = review.engines[0]
    asked = ", ".join(f"{e.name} at {e.nodes:,} nodes" for e in review.engines)
    yield f"  reviewed by {asked}"
    if not calibrated:
        yield "  no calibration: scores in the engine's unit, and no labels (quartet calibrate)"
    elif engine.calibrated_nodes not in {None, engine.nodes}:
        yield f"  the calibration is of {engine.calibrated_nodes:,} nodes"
    yield ""
    yield from table(_seats(review))
    if calibrated:
        yield f"  {figures.FORMULA}"
    if review.harm:
        yield ""
        yield "  what each seat's moves did to everybody's share of the win (-: took)"
        head = ["", *(f"to {name}" for name in review.names)]
        rows = [
            [f"{review.names[m]} {player(review, m)}", *(_points(-v) for v in row)]
            for m, row in enumerate(review.harm)
        ]
        yield from table([head, *rows])
    if review.turning_point is not None:
        turn = review.turns[review.turning_point]
        winner = review.shares.index(max(review.shares))
        yield ""
        yield (
            f"  turning point: ply {turn.ply}, {_who(review, turn.seat)} played {turn.move}; "
            f"from then on {_who(review, winner)} led"
        )
    if review.worst:
        yield ""
        yield "  the worst moves"
        for number in review.worst:
            yield from _turn(review, review.turns[number])
    rest = [
        turn
        for number, turn in enumerate(review.turns)
        if number not in review.worst
        and figures.severity(turn.label) >= figures.severity("inaccuracy")
    ]
    if rest:
        yield ""
        yield "  other moves that were not good"
        for turn in rest:
            yield from _turn(review, turn)
    lucky = sorted(
        (turn for turn in review.turns if turn.luck is not None),
        key=lambda turn: -abs(turn.luck or 0.0),
    )[:3]
    if lucky:
        yield ""
        yield "  the luckiest and unluckiest draws"
        for turn in lucky:
            yield f"    ply {turn.ply}, {_who(review, turn.seat)}: {_points(turn.luck)}"
    if review.differences:
        yield ""
        yield "  where the engines differ"
        for number in review.differences:
            turn = review.turns[number]
            others = "; ".join(f"{o.engine}: {o.label}, {o.best}" for o in turn.second_opinions)
            yield f"    ply {turn.ply}, {turn.move}: {turn.label}; {others}"


def outcome(review: Review) -> str:
    """How the game ended."""
    scores = " to ".join("-" if score is None else str(score) for score in review.scores)
    if not review.over:
        return f"broken off, {scores} {review.score_name}"
    best = [seat for seat, share in enumerate(review.shares) if share > 0]
    if len(best) > 1:
        return f"a draw, {scores} {review.score_name}"
    return f"{_who(review, best[0])} wins, {scores} {review.score_name}"


def summary(found: Summary) -> Iterator[str]:
    """Many reviews."""
    for log, complaint in found.complaints:
        yield f"{log}: {complaint}"
    yield f"{found.reviewed} of {found.logs} logs reviewed"
    if found.worst:
        yield ""
        yield "the worst losses"
        rows = [["loss", "log", "ply", "player", "move", "better", "label", "kind", "phase"]]
        rows += [
            [
                _lost(loss.loss) if loss.loss is not None else f"{loss.score_loss:g}",
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
        yield from table(rows)
    for name, groups in (
        ("player", found.players),
        ("phase", found.phases),
        ("kind of loss", found.kinds),
    ):
        if groups:
            yield ""
            yield from table(_groups(name, groups))
    if found.players:
        yield f"  {figures.FORMULA}"


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows in columns; figures on the right."""
    width = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = (
            text.rjust(size) if _is_figure(text) else text.ljust(size)
            for text, size in zip(row, width, strict=True)
        )
        yield ("  " + "  ".join(cells)).rstrip()


def _is_figure(text: str) -> bool:
    return bool(text) and (text[-1] in "0123456789%s" and text[0] in "+-0123456789")


def _groups(name: str, groups: Sequence[Group]) -> list[list[str]]:
    with_games = any(group.games for group in groups)
    head = [
        name,
        *(["games", "points"] if with_games else []),
        "turns",
        "accuracy",
        "lost a turn",
        "mistakes",
    ]
    return [
        head,
        *(
            [
                group.name,
                *([str(group.games), f"{group.shares:g}"] if with_games else []),
                str(group.turns),
                "-" if group.accuracy is None else f"{group.accuracy:.1f}",
                f"{100 * group.loss / max(1, group.turns):.1f} %",
                str(group.mistakes),
            ]
            for group in groups
        ),
    ]


def _seats(review: Review) -> list[list[str]]:
    calibrated = review.start is not None
    lucky = any(seat.luck is not None for seat in review.seats)
    head = ["", "turns", *(["accuracy", "lost"] if calibrated else ["lost"])]
    head += ["luck"] if lucky else []
    head += ["mistakes", "blunders", "missed wins"] if calibrated else []
    head += [f"{review.score_name} swung", "best moves", "overlooked", "time", "idle"]
    rows = [head]
    for seat in review.seats:
        if seat.player is None:
            continue
        row = [f"{seat.name} {seat.player}", str(seat.turns)]
        if calibrated:
            row += ["-" if seat.accuracy is None else f"{seat.accuracy:.1f}", _lost(seat.loss)]
        else:
            row += ["-" if seat.score_loss is None else f"{seat.score_loss:g}"]
        row += [_points(seat.luck)] if lucky else []
        if calibrated:
            row += [str(seat.labels.get(name, 0)) for name in ("mistake", "blunder")]
            row += [str(seat.missed_wins)]
        row += [
            f"{seat.gain:+g}",
            f"{seat.best_gain:+g}",
            str(seat.overlooked),
            f"{seat.seconds:.1f} s",
            f"{seat.idle_seconds:.1f} s",
        ]
        rows.append(row)
    return rows


def _turn(review: Review, turn: TurnReview) -> Iterator[str]:
    lost = _lost(turn.loss) if turn.loss is not None else f"{turn.score_loss:g}"
    head = (
        f"    ply {turn.ply}, {_who(review, turn.seat)}: {turn.move}  {turn.label or 'lost'} {lost}"
    )
    words = [head.rstrip()]
    if turn.proven:
        words.append("proven")
    if turn.missed_win:
        words.append("a missed win")
    if turn.reason:
        words.append(turn.reason)
    yield ", ".join(words)
    if turn.best is not None and not turn.is_best:
        line = ", ".join(turn.line[1:])
        yield f"      better: {turn.best.move}{f' ({line})' if line else ''}"
    if turn.overlooked and turn.kind == "overlooked":
        named = ", ".join(f"{move} {gain:+g}" for move, gain in turn.overlooked)
        yield (f"      swung {turn.gain:+g}; {turn.overlooked_count} moves swing more: {named}")


def _who(review: Review, seat: int) -> str:
    name, who = review.names[seat], review.players[seat]
    return f"{name} ({who})" if who and who != name else name


def _lost(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _points(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:+.1f} %" if value else "0 %"
