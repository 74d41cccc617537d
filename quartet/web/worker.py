"""The start of a worker process of the page.

A worker plays one match, or it analyses positions and reviews logs one after the other. A worker
that crashes or hangs harms no other; everything it has started ends with it.
"""

from __future__ import annotations

from multiprocessing.connection import Connection

from quartet.arena import processes
from quartet.web.analysis_worker import AnalysisWorker
from quartet.web.link import Link
from quartet.web.match_worker import MatchWorker


def main(connection: Connection) -> None:
    """Wait for a task, and do it."""
    processes.start_worker()
    processes.busy.set()
    link = Link(connection)
    try:
        match = connection.recv()
    except EOFError:
        return
    worker = AnalysisWorker(link) if match is None else MatchWorker(link, *match)
    worker.run()
