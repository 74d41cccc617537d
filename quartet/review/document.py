"""What a review says: one JSON document for a log. The page and the text are made from it alone."""

from __future__ import annotations

from typing import Any

import msgspec

VERSION = 1
"""Of the document."""
LABELS = ("best", "good", "inaccuracy", "mistake", "blunder")
"""By what a move loses."""
THRESHOLDS = (0.05, 0.1, 0.2, 0.3)
"""Where each label but the first begins, in win probability."""
FORCED, FOUL = "forced", "foul"
"""Labels of turns with one legal move, and of turns that were lost."""


class Candidate(msgspec.Struct, frozen=True, omit_defaults=True):
    """A move that could have been played.

    Attributes:
        move: str; as the judge writes it. parts: tuple[str, ...]; the cells it names.
        share: float | None; the mover's win probability after it. score: float | None; for the
            mover, in the engine's unit.
        proven: bool.
    """

    move: str
    parts: tuple[str, ...] = ()
    share: float | None = None
    score: float | None = None
    proven: bool = False


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """Another move for a turn, as good as it is.

    Attributes:
        move, parts, share, score, proven: as in Candidate.
        loss, score_loss: float | None; against the engine's move. label: str; by the loss.
        is_best: bool; whether it is the engine's move.
    """

    move: str
    parts: tuple[str, ...]
    share: float | None
    score: float | None
    proven: bool
    loss: float | None
    score_loss: float | None
    label: str
    is_best: bool


class Second(msgspec.Struct, frozen=True):
    """What another engine says of a turn.

    Attributes:
        engine: str. best: str; its move. loss: float | None; by it. label: str.
        score_loss: float | None; in its unit.
    """

    engine: str
    best: str
    loss: float | None
    label: str
    score_loss: float | None


class TurnReview(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One turn.

    Attributes:
        ply: int, from 0. seat: int.
        move: str; as the judge writes it, "-" for a lost turn. parts: tuple[str, ...]; its cells.
        verdict: str; reason: str; as in `quartet.judge.turn.Turn`.
        seconds: float. clock: int | None; milliseconds left afterwards, of a clock for the game.
        scores: tuple[int | None, ...]; on the board afterwards.
        shares: tuple[float, ...] | None; everybody's win probability afterwards.
        expected: tuple[float, ...] | None; the same before chance had its part, where it has one.
        score: float | None; of the position before, for the mover, in the engine's unit.
        best: Candidate | None; the engine's move. line: tuple[str, ...]; what it expects.
        is_best: bool; whether it was played.
        loss: float | None; win probability that the move lost against the best; None without a
            calibration. score_loss: float | None; the same in the engine's unit.
        label: str; one of LABELS, FORCED or FOUL; empty without a calibration.
        luck: float | None; win probability that chance gave, over what was to be expected.
        proven: bool; whether the loss is certain: both positions are solved.
        missed_win: bool. idle: bool; whether the time spent here could change nothing.
        gain: float; by how much the move changed the mover's lead on the board. best_gain: float |
            None; the same of the engine's move.
        overlooked: tuple[tuple[str, float], ...]; moves that gain the most at once, where they gain
            more than the one played. overlooked_count: int; how many gain more.
        harm: tuple[float, ...]; what the move took from every seat, of its share.
        candidates: tuple[Candidate, ...]; where the move was not good.
        remarks: tuple[tuple[int | None, str], ...]; what programs said then.
        second_opinions: tuple[Second, ...]; of other engines.
        kind: str; of a loss: foul, missed win, ending, overlooked, judgement.
    """

    ply: int
    seat: int
    move: str
    parts: tuple[str, ...] = ()
    verdict: str = "ok"
    reason: str = ""
    seconds: float = 0.0
    clock: int | None = None
    scores: tuple[int | None, ...] = ()
    shares: tuple[float, ...] | None = None
    expected: tuple[float, ...] | None = None
    score: float | None = None
    best: Candidate | None = None
    line: tuple[str, ...] = ()
    is_best: bool = False
    loss: float | None = None
    score_loss: float | None = None
    label: str = ""
    luck: float | None = None
    proven: bool = False
    missed_win: bool = False
    idle: bool = False
    gain: float = 0.0
    best_gain: float | None = None
    overlooked: tuple[tuple[str, float], ...] = ()
    overlooked_count: int = 0
    harm: tuple[float, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    remarks: tuple[tuple[int | None, str], ...] = ()
    second_opinions: tuple[Second, ...] = ()
    kind: str = ""


class SeatReview(msgspec.Struct, frozen=True, kw_only=True):
    """One seat.

    Attributes:
        seat: int. name: str; what the judge calls it. player: str | None; None where nobody sits.
        turns: int; with a choice. accuracy: float | None; 0 to 100, see `quartet.review.figures`.
        loss: float | None; win probability lost in all. score_loss: float | None; in the engine's
            unit.
        labels: dict[str, int]; how many turns have each.
        missed_wins: int. luck: float | None; what chance gave it in all.
        seconds: float; all its time. idle_seconds: float; that spent where it did not matter.
        gain: float; points that its moves swung. best_gain: float; those of the engine's moves.
        overlooked: int; turns at which another move gained more at once.
    """

    seat: int
    name: str
    player: str | None
    turns: int
    accuracy: float | None
    loss: float | None
    score_loss: float | None
    labels: dict[str, int]
    missed_wins: int
    luck: float | None
    seconds: float
    idle_seconds: float
    gain: float
    best_gain: float
    overlooked: int


class EngineUsed(msgspec.Struct, frozen=True):
    """An engine that was asked.

    Attributes:
        name: str. nodes: int; of a search. calibrated: bool. error: float | None; of its
            calibration, in win probability. calibrated_nodes: int | None; what it was fitted at.
    """

    name: str
    nodes: int
    calibrated: bool
    error: float | None = None
    calibrated_nodes: int | None = None


class Board(msgspec.Struct, frozen=True):
    """The boards of all positions, as `GAME/scene.py` tells them.

    Attributes:
        cells: list of [name, x, y, ground]. columns, rows: lists of [place, label].
        pieces: list of [owner, text, colour]; every kind of piece there is.
        frames: list; for the start, then for every turn, the changes: cell number, piece number or
            -1, and so on.
        hands: list; the same for hands: for every frame a list of [seat, piece numbers], None where
            nothing changed. Empty where there are none.
        corners: bool; whether a move covers the rectangle between its two cells.
    """

    cells: list[tuple[str, float, float, str]]
    columns: list[tuple[float, str]]
    rows: list[tuple[float, str]]
    pieces: list[tuple[int | None, str, int | None]]
    frames: list[list[int]]
    hands: list[list[tuple[int, list[int]]] | None]
    corners: bool = False


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """A log, reviewed.

    Attributes:
        version: int; VERSION. log: str; its path.
        complaint: str; why it could not be reviewed, in one line; then there is nothing else.
        game: str. title: str. score_name: str; what is counted.
        engines: tuple[EngineUsed, ...]; the first one's opinion counts.
        thresholds: tuple[float, ...].
        players: tuple[str | None, ...]. names: tuple[str, ...]; of the seats.
        over: bool; whether the game came to an end. notes: tuple[str, ...]; of the log.
        scores, places, shares: tuple; how it stands at the end of the log.
        start: tuple[float, ...] | None; win probabilities before the first turn.
        turns: tuple[TurnReview, ...]. seats: tuple[SeatReview, ...].
        turning_point: int | None; the number of the turn from which the winner led to the end.
        harm: tuple; for more than two seats: what every seat (row) took from every other (column).
        worst: tuple[int, ...]; numbers of the turns that lost the most, the worst first.
        differences: tuple[int, ...]; turns on which engines differ by two labels or more.
        board: Board | None.
    """

    version: int = VERSION
    log: str
    complaint: str = ""
    game: str = ""
    title: str = ""
    score_name: str = ""
    engines: tuple[EngineUsed, ...] = ()
    thresholds: tuple[float, ...] = THRESHOLDS
    players: tuple[str | None, ...] = ()
    names: tuple[str, ...] = ()
    over: bool = False
    notes: tuple[str, ...] = ()
    scores: tuple[int | None, ...] = ()
    places: tuple[int | None, ...] = ()
    shares: tuple[float, ...] = ()
    start: tuple[float, ...] | None = None
    turns: tuple[TurnReview, ...] = ()
    seats: tuple[SeatReview, ...] = ()
    turning_point: int | None = None
    harm: tuple[tuple[float, ...], ...] = ()
    worst: tuple[int, ...] = ()
    differences: tuple[int, ...] = ()
    board: Board | None = None


def read(data: bytes | Any) -> Review:
    """A review by its JSON."""
    return msgspec.json.decode(data, type=Review)
