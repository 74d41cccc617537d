"""Reviews of logs: what each move cost, with fixed nodes, so the same task gives the same review.

`logged_game` replays the log, `search` and `evaluation` judge its moves, `report` makes the
document. Engines live as long as the process.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from core.errors import QuartetError
from quartet.arena.cores import pin
from quartet.judge import game as games
from quartet.judge.logs.check import check, origin
from quartet.review.document import Attempt, Review, TurnReview
from quartet.review.evaluation import GameAnalysis
from quartet.review.logged_game import LoggedGame
from quartet.review.report import Report
from quartet.review.search import CalibratedEngine
from quartet.review.work import LogResult, LogTask

_engines: dict[tuple[str, str, int | None, str], CalibratedEngine] = {}


def play(task: LogTask, cores: tuple[int, ...] | None = None) -> LogResult:
    """Review a log in a worker, on the given cores. Raises QuartetError if an engine fails."""
    pin(cores)
    return LogResult(task.number, task.name, msgspec.Raw(msgspec.json.encode(review(task))))


def review(task: LogTask, on_turn: Callable[[int, TurnReview], None] | None = None) -> Review:
    """Review a log.

    Args:
        task: The log, its game if that is known, engines and settings.
        on_turn: Called with each turn's number and review, the last turn first, as soon as the
            first engine has judged it; other engines' opinions are still missing.

    Returns:
        The review. If the log cannot be reviewed, its `complaint` says why.

    Raises:
        QuartetError: An engine failed.
    """
    game, complaint = task.game or origin(task.data), task.complaint
    if not complaint and not task.data.strip():
        complaint = "the log is empty"
    if complaint or game is None:
        return Review(log=task.name, complaint=complaint or "this is not a log of a known game")
    known = games.load(game)
    checked = check(known, task.data)
    if not checked.agrees or checked.match is None or not checked.turns:
        why = checked.complaint or f"the log has no turns: {checked.sentence()}"
        return Review(log=task.name, complaint=why)
    used = [engine(game, name, task.nodes, task.calibration) for name in task.engines]
    log = LoggedGame(known, checked, task.data, used[0].rules)
    analyses = [GameAnalysis(log, used[0], task.thresholds, task.candidates)]
    report = Report(analyses)

    def notify(number: int) -> None:
        if on_turn is not None:
            on_turn(number, report.turn(number))

    analyses[0].run(notify)
    for other in used[1:]:
        analyses.append(GameAnalysis(log, other, task.thresholds))
        analyses[-1].run()
    return report.review(task.name)


def attempt(data: bytes, found: Review, used: CalibratedEngine, number: int, text: str) -> Attempt:
    """Judge another move for a turn of a reviewed game, with the engine's usual nodes.

    Args:
        data: Content of the log.
        found: Review of the log by the same engine.
        used: The engine.
        number: Number of the turn.
        text: The move, as the judge writes it.

    Raises:
        TextError, IllegalMoveError: The text is not a legal move.
        QuartetError: There is no such turn, or the engine failed.
    """
    report = Report([_analysis(data, found, used, number)])
    return report.attempt(number, text, found.turns[number])


def again(
    data: bytes, found: Review, used: CalibratedEngine, number: int, candidates: int
) -> TurnReview:
    """Review one turn of a reviewed game again, by an engine with more nodes.

    Raises:
        QuartetError: There is no such turn, or the engine failed.
    """
    analysis = _analysis(data, found, used, number, candidates)
    analysis.one(number)
    return Report([analysis]).turn(number)


def _analysis(
    data: bytes, found: Review, used: CalibratedEngine, number: int, candidates: int = 0
) -> GameAnalysis:
    """Begin an analysis of a reviewed game. Raises QuartetError if it has no such turn."""
    known = games.load(found.game)
    log = LoggedGame(known, check(known, data), data, used.rules)
    if number not in range(len(log.turns)):
        raise QuartetError(f"there is no turn {number}; the game has {len(log.turns)}")
    return GameAnalysis(log, used, found.thresholds, candidates)


def engine(game: str, name: str, nodes: int | None = None, file: str = "") -> CalibratedEngine:
    """Return an engine of this process with its calibration; start it on first use, in place of the
    same engine with other nodes, because each needs much memory.

    Args:
        game: Name of the game.
        name: Name of the engine.
        nodes: Nodes per search; None for those of the calibration.
        file: File of calibrations; "" for the game's.

    Raises:
        QuartetError: The engine or the file is missing.
    """
    key = game, name, nodes, file
    if key not in _engines:
        for other in [other for other in _engines if (*other[:2], other[3]) == (game, name, file)]:
            _engines.pop(other).close()
        _engines[key] = CalibratedEngine(game, name, nodes, Path(file) if file else None)
    return _engines[key]


def close() -> None:
    """Stop the engines that are programs."""
    while _engines:
        _engines.popitem()[1].close()
