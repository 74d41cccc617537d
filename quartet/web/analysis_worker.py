"""The worker that analyses positions and reviews logs, one task after the other."""

from __future__ import annotations

import queue
import threading

import msgspec

from core.engine import parse_player
from core.limits import Limits, SearchInfo
from core.native.clock import now
from quartet.judge import game as games
from quartet.review import calibration as calibrations
from quartet.review import reviewing
from quartet.review.document import TurnReview, read
from quartet.review.engines import BOT, Analyser, SearchResult
from quartet.web import views
from quartet.web.link import Link
from quartet.web.openings import Openings

REPORT_EVERY = 0.05
"""Seconds between two reports of a running search."""
MAX_UNSTOPPED = 2.0
"""Seconds of a search that cannot be stopped."""


class AnalysisWorker:
    """Does reviews, retries and analyses as the server requests them."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._tasks: queue.Queue[views.Json] = queue.Queue()
        self._stopped = ""  # id of the analysis that must end
        self._engines: dict[tuple[str, str, str], Analyser] = {}

    def run(self) -> None:
        """Do tasks until the server ends the process."""
        threading.Thread(target=self._link.serve, args=(self._take,), daemon=True).start()
        kinds = {
            "review": self._review,
            "attempt": self._attempt,
            "again": self._again,
            "analyse": self._analyse,
            "openings": Openings().answer,
        }
        while True:
            task = self._tasks.get()
            self._link.answer(task, kinds[task["do"]])

    def _take(self, request: views.Json) -> views.Json | None:
        if request["do"] == "stop":
            self._stopped = request["id"]
            return {}
        self._tasks.put(request)
        return None

    def _review(self, task: views.Json) -> views.Json:
        def report(number: int, turn: TurnReview) -> None:
            data = msgspec.json.encode(turn)
            self._link.send("turn", request=task["request"], number=number, turn=data)

        return {"document": msgspec.json.encode(reviewing.review(task["log"], report))}

    def _attempt(self, task: views.Json) -> views.Json:
        log, document = task["log"], read(task["document"])
        engine = reviewing.engine(log.game, log.engines[0], log.nodes)
        found = reviewing.attempt(log.data, document, engine, task["turn"], task["text"])
        return {"attempt": found}

    def _again(self, task: views.Json) -> views.Json:
        log, document = task["log"], read(task["document"])
        engine = reviewing.engine(log.game, log.engines[0], task["nodes"])
        turn = reviewing.again(log.data, document, engine, task["turn"], log.candidates)
        return {"turn": turn}

    def _analyse(self, task: views.Json) -> views.Json:
        """Search until a limit is reached or the server stops the task; report every line."""
        game, name, position = games.load(task["game"]), task["player"], task["position"]
        key = task["game"], name, repr(task["options"])
        if key not in self._engines:
            self._engines = {key: Analyser(task["game"], name)}  # only one: it needs much memory
            self._engines[key].begin(task["options"])
        engine, scene = self._engines[key], games.scene(task["game"])
        is_bot = parse_player(name)[0] == BOT
        calibration = calibrations.of_engine(task["game"], BOT) if is_bot else None
        new: dict[int, tuple[SearchResult, SearchInfo]] = {}  # by rank; the search writes it

        def row(found: SearchResult, info: SearchInfo) -> views.Json:
            """Return a line as the page shows it; `share` is that of the side to move."""
            line = found.line or (() if found.move is None else (found.move,))
            words, parts = views.said(scene, line, position)
            shares = None
            if calibration is not None and (info.rank == 1 or game.info.players == 2):
                shares = calibration.shares(
                    found, position.ply, position.to_move, game.info.players
                )
            return {
                "rank": info.rank,
                "depth": info.depth,
                "score": info.score,
                "share": shares and round(shares[position.to_move], 4),
                "shares": shares and [round(share, 4) for share in shares],
                "nodes": info.nodes,
                "visits": info.visits,
                "nps": round(info.nps),
                "seconds": round(info.seconds, 3),
                "line": words,
                "parts": parts,
            }

        def report() -> None:
            for rank in sorted(list(new)):  # noqa: C414  (a search inserts meanwhile)
                self._link.send("line", request=task["request"], line=row(*new.pop(rank)))

        seconds = task["seconds"] if engine.stops else min(task["seconds"], MAX_UNSTOPPED)
        limits = Limits(deadline=now() + seconds, nodes=task["nodes"], multipv=task["lines"])
        search = engine.start_search(
            position, limits, lambda found, info: new.update({info.rank: (found, info)})
        )
        while not (search.wait(REPORT_EVERY) or task["id"] == self._stopped):
            report()
        search.stop()
        found = engine.outcome(search, position)
        new.setdefault(1, (found, search.outcome()))
        report()
        candidates = [
            {**views.written(scene, move, position), "share": round(share, 4)}
            for move, share in engine.candidates(position)
        ]
        return {"best": views.written(scene, found.move, position), "candidates": candidates}
