"""The page of a review: one file that opens from disk, without a network; and the index of many."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from quartet.review import figures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quartet.review.document import Review
    from quartet.review.summary import Summary

FOLDER = Path(__file__).resolve().parent
DRAWING = FOLDER.parent / "web" / "static"
"""Where that lies which draws boards and graphs, here as on the page of `quartet serve`."""


def page(review: Review, home: str = "") -> str:
    """The page of one review; `home` is the page that it links back to."""
    data = msgspec.json.encode(review).decode()
    return _fill(
        "page.html",
        title=html.escape(f"{review.title}: {Path(review.log).name}"),
        home=f'<a href="{html.escape(home)}">all games</a>' if home else "",
        board_css=(DRAWING / "board.css").read_text(encoding="utf-8"),
        board_js=_inline((DRAWING / "board.js").read_text(encoding="utf-8")),
        data=_safe(data),
        formula=html.escape(figures.FORMULA),
    )


def index(reviews: Sequence[Review], found: Summary) -> str:
    """The page with the links to all others."""
    return _fill(
        "index.html",
        title=f"{found.reviewed} games reviewed",
        data=_safe(
            json.dumps(
                {
                    "summary": msgspec.to_builtins(found),
                    "games": [
                        {
                            "page": f"{number:06}.html",
                            "log": Path(review.log).name,
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
        formula=html.escape(figures.FORMULA),
        home="",
    )


def _inline(module: str) -> str:
    """A module that imports nothing, as part of another script."""
    return module.replace("\nexport ", "\n")


def _safe(data: str) -> str:
    """JSON that may stand in a page."""
    return data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _fill(name: str, **values: str) -> str:
    text = (FOLDER / name).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace("{{" + key + "}}", value)
    return text
