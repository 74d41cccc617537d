"""The HTML page of a review, one file that opens from disk without a network, and an index."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from quartet.review import figures
from quartet.review.document import Review
from quartet.review.summary import Summary

FOLDER = Path(__file__).resolve().parent
DRAWING = FOLDER.parent / "web" / "static"
"""Scripts and styles for boards and graphs, shared with the page of `quartet serve`."""
MARK = b'<script type="application/json" id="data">'
"""What every page of a review contains."""


def page(review: Review, home: str = "") -> str:
    """Return the page of one review; `home` is the page to link back to."""
    board_js = (DRAWING / "board.js").read_text(encoding="utf-8")  # a module without imports
    return _fill(
        "page.html",
        title=html.escape(f"{review.title}: {Path(review.log).name}"),
        home=f'<a href="{html.escape(home)}">all games</a>' if home else "",
        board_css=(DRAWING / "board.css").read_text(encoding="utf-8"),
        board_js=board_js.replace("\nexport ", "\n"),
        data=_safe(msgspec.json.encode(review).decode()),
        formula=html.escape(figures.ACCURACY_NOTE),
    )


def index(reviews: Sequence[Review], found: Summary) -> str:
    """Return the page that links to the pages of all reviews; logs are named below the folder that
    they share."""
    shared = os.path.commonprefix([r.log for r in reviews])  # noqa: RUF071  (cut at a folder below)
    return _fill(
        "index.html",
        title=f"{found.reviewed} games reviewed",
        data=_safe(
            json.dumps(
                {
                    "summary": msgspec.to_builtins(found),
                    "home": shared[: 1 + max(map(shared.rfind, "/\\"))],
                    "games": [
                        {
                            "page": f"{number:06}.html",
                            "log": review.log,
                            "game": review.title,
                            "players": [p for p in review.players if p is not None],
                            "scores": list(review.scores),
                            "shares": list(review.shares),
                            "accuracy": [seat.accuracy for seat in review.seats],
                            "turns": len(review.turns),
                            "worst": max((t.loss or 0.0 for t in review.turns), default=0.0),
                        }
                        for number, review in enumerate(reviews)
                        if not review.complaint
                    ],
                }
            )
        ),
        formula=html.escape(figures.ACCURACY_NOTE),
        home="",
    )


def _safe(data: str) -> str:
    """Return JSON that can be embedded in a page."""
    return data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _fill(name: str, **values: str) -> str:
    text = (FOLDER / name).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace("{{" + key + "}}", value)
    return text
