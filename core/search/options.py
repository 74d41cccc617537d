"""Options of the engines that include `alphabeta.pxi`.

They are Python, because the kernel is compiled into every engine, for every CPU level. Origin of
the defaults: docs/experiments/005 for futility, late_moves, quiet_margin, quiet_slope, reduction
and deficit; SPSA changed none of these or window by more than 17 % (docs/experiments/019).
"""

from __future__ import annotations

from core.engine import Option


def ab_options(patience: float) -> tuple[Option, ...]:
    """Return the options of such an engine; the default of `patience` differs by game."""
    return (
        Option("hash", int, 64, "size of the transposition table, in MB", 1, 65536),
        Option(
            "patience",
            float,
            patience,
            "part of the planned time that a move of average difficulty takes",
            0.01,
            10,
        ),
        Option(
            "futility",
            int,
            50,
            "reverse futility pruning: margin per ply of remaining depth, in points",
            0,
            10_000,
        ),
        Option(
            "late_moves",
            int,
            4,
            "late move pruning: quiet moves tried up to depth 4, in addition to 2 * depth * depth",
            1,
            1000,
        ),
        Option("quiet_margin", int, 160, "futility pruning: margin, in points", 0, 10_000),
        Option(
            "quiet_slope",
            int,
            80,
            "futility pruning: additional margin per ply of remaining depth, in points",
            0,
            10_000,
        ),
        Option(
            "reduction",
            float,
            2.0,
            "late move reductions: divisor of log(depth) * log(move number), which gives plies",
            0.25,
            1000,
        ),
        Option(
            "deficit",
            int,
            40,
            "points below alpha, after a late move, per ply of additional reduction",
            1,
            100_000,
        ),
        Option("window", int, 30, "aspiration window: half width, in points", 1, 30_000),
    )
