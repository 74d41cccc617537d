"""The document of a review, one JSON object per log. Page and text are made from it alone."""

from __future__ import annotations

from typing import Any

import msgspec

VERSION = 1
"""Version of the document."""
LABELS = ("best", "good", "inaccuracy", "mistake", "blunder")
"""Labels of moves, by the win probability they lose."""
THRESHOLDS = (0.05, 0.1, 0.2, 0.3)
"""Loss of win probability from which each label but the first applies."""
FORCED, FORFEITED = "forced", "foul"
"""Labels of turns with one legal move, and of forfeited turns."""


class Candidate(msgspec.Struct, frozen=True, omit_defaults=True):
    """A move that could have been played.

    Attributes:
        move: As the judge writes it.
        parts: Names of its cells.
        share: The mover's win probability after it.
        score: For the mover, in the engine's unit.
        proven: True if the outcome after it is certain.
        nodes: Nodes of the searches after it.
    """

    move: str
    parts: tuple[str, ...] = ()
    share: float | None = None
    score: float | None = None
    proven: bool = False
    nodes: int = 0


class Attempt(Candidate, frozen=True, kw_only=True, omit_defaults=False):
    """Another move for a turn, judged on request.

    Attributes:
        loss, score_loss: Loss compared with the best move.
        label: By the loss.
        is_best: True if it is the best move.
    """

    loss: float | None
    score_loss: float | None
    label: str
    is_best: bool


class Second(msgspec.Struct, frozen=True):
    """Another engine's opinion of a turn.

    Attributes:
        engine: Name of the engine.
        best: Its move.
        loss: Win probability that the move played lost, by this engine.
        label: By the loss.
        score_loss: The loss in its unit.
    """

    engine: str
    best: str
    loss: float | None
    label: str
    score_loss: float | None


class TurnReview(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One turn.

    Attributes:
        ply: From 0.
        seat: Seat of the mover.
        move: As the judge writes it; "-" for a forfeited turn.
        parts: Names of its cells.
        verdict, reason: As in `quartet.judge.turn.Turn`.
        seconds: Time used.
        clock: Milliseconds left after the turn, of a clock for the game.
        scores: On the board after the turn.
        shares: Every seat's win probability after the turn.
        expected: The same before chance decided; None if it does not.
        score: Of the position before, for the mover, in the engine's unit.
        best: The best move. Its share is the mover's win probability before the turn.
        line: The best move and the moves that the engine expects next.
        is_best: True if the best move was played.
        loss: Win probability that the move lost compared with the best; None without a calibration.
        score_loss: The same in the engine's unit.
        label: One of LABELS, FORCED or FORFEITED; empty without a calibration.
        luck: Win probability given by chance, compared with the mean over all draws.
        proven: True if the loss is certain: both positions are solved.
        missed_win: True if a win was lost.
        idle: True if the time used here could change nothing.
        gain: Change of the mover's lead on the board.
        best_gain: The same for the best move.
        overlooked: Moves with a higher gain than the one played, the highest first.
        overlooked_count: Number of moves with a higher gain.
        harm: Win probability that the move took from every seat.
        candidates: Best moves and the one played, the best first, if the move lost the first
            threshold or more.
        remarks: Output of programs during the turn, as (seat, text).
        second_opinions: Of other engines.
        kind: Of a loss: foul, missed win, ending, overlooked or judgement.
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
    """The totals of a seat.

    Attributes:
        seat: Number of the seat.
        name: As the judge calls it.
        player: None for an empty seat.
        turns: Turns with a choice.
        accuracy: 0 to 100, see `quartet.review.figures`.
        loss: Win probability lost in all turns together.
        score_loss: The same in the engine's unit.
        labels: Number of turns per label.
        missed_wins: Turns that lost a win.
        luck: Win probability given by chance in all turns together.
        seconds: Time used.
        idle_seconds: Time used in turns that could change nothing.
        gain: Points gained by its moves.
        best_gain: Points gained by the best moves.
        overlooked: Turns in which another move gained more at once.
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
        name: As on the command line.
        nodes: Nodes per search.
        calibrated: True if it has a calibration.
        error: Mean absolute error of the calibration, in win probability.
        calibrated_nodes: Nodes per search of the calibration.
    """

    name: str
    nodes: int
    calibrated: bool
    error: float | None = None
    calibrated_nodes: int | None = None


class Board(msgspec.Struct, frozen=True):
    """The boards of all positions, as `GAME/scene.py` describes them.

    Attributes:
        cells: [name, x, y, ground] of every cell.
        columns, rows: [place, label] of every column and row.
        pieces: [owner, text, colour] of every kind of piece.
        frames: For the start and every turn, the changed cells: cell number, piece number or -1,
            and so on.
        hands: The same for hands: [seat, piece numbers] of every hand, None if nothing changed.
            Empty for a game without hands.
        corners: True if a move covers the rectangle between its two cells.
    """

    cells: list[tuple[str, float, float, str]]
    columns: list[tuple[float, str]]
    rows: list[tuple[float, str]]
    pieces: list[tuple[int | None, str, int | None]]
    frames: list[list[int]]
    hands: list[list[tuple[int, list[int]]] | None]
    corners: bool = False


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """The review of a log.

    Attributes:
        version: VERSION.
        log: Path of the log.
        complaint: Why it could not be reviewed, in one line. Then all other fields are empty.
        game, title: Name of the game in the registry and for people.
        score_name: What the score counts.
        engines: The engines asked; the first one's verdict counts.
        thresholds: Of the labels, see THRESHOLDS.
        players: The players by seat; None for an empty seat.
        names: The seats, as the judge calls them.
        over: True if the game came to an end.
        notes: Peculiarities of the log.
        scores, places, shares: The result by seat.
        start: Every seat's win probability before the first turn.
        turns: All turns.
        seats: Totals of all seats.
        turning_point: Number of the turn from which the winner led to the end.
        harm: With more than two seats and a calibration: what every seat (row) took from every seat
            (column).
        worst: Numbers of the turns that lost the most, the worst first.
        differences: Numbers of the turns on which engines differ by two labels or more.
        board: The boards of all positions.
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
    """Parse a review from JSON."""
    return msgspec.json.decode(data, type=Review)
