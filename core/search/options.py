"""The options of engines with the kernel `alphabeta.pxi`. Not part of it: there they would be
compiled into every engine, for every level of processor."""

from __future__ import annotations

from core.engine import Option


def ab_options(patience: float) -> tuple[Option, ...]:
    """The options of every engine with this search; of `patience`, the default differs."""
    return (
        Option("hash", int, 64, "transposition table, in MB", 1, 65536),
        Option(
            "patience",
            float,
            patience,
            "part of the time meant for a move that one of middling difficulty takes",
            0.01,
            10,
        ),
        Option(
            "futility",
            int,
            50,
            "reverse futility: margin for each ply that is left, in points",
            0,
            10_000,
        ),
        Option(
            "late_moves",
            int,
            4,
            "moves tried at shallow nodes, beside twice the square of the depth",
            1,
            1000,
        ),
        Option("quiet_margin", int, 160, "futility of quiet moves: margin, in points", 0, 10_000),
        Option(
            "quiet_slope",
            int,
            80,
            "futility of quiet moves: more of it for each ply that is left, in points",
            0,
            10_000,
        ),
        Option(
            "reduction",
            float,
            2.0,
            "late moves: log(depth) * log(number) is divided by it, for plies less",
            0.25,
            1000,
        ),
        Option(
            "deficit",
            int,
            40,
            "points short of the window for which a late move is searched a ply less deep",
            1,
            100_000,
        ),
        Option("window", int, 30, "half of the aspiration window, in points", 1, 30_000),
    )
