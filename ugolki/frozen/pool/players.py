"""The pool: frozen players of Ugolki, a row of numbers each, over one engine.

Odd numbers are for training and tuning. Even ones are the test half: they are run for the figures
of a change that is finished, never while one is being chosen or anything is being fitted. A figure
against an opponent that was tuned on is no figure of strength. `quartet exam` takes either half;
what trains and tunes refuses the even ones (`quartet.registry.require_training`).

Once figures against them are published rows never change, nor does the engine: new players are new
rows at the end, two at a time, so that the halves stay alike. docs/experiments/017 says how strong
they are, and which even rows were replaced when some of their results were known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ugolki.frozen.pool.engine import Player

PREFIX = "pool:"


class Row(NamedTuple):
    """A player. Costs are in 64ths of a move, and less is better.

    Attributes:
        search: str; "tree", "best reply", "paranoid", "max^n" or "beam", which is greedy with
            look-ahead where it keeps all.
        linear, square: int; cost of a piece d steps from its square: linear * d + square * d * d.
        middle: int; cost of a piece in the middle of the board: less than 0, it stays as a ladder.
        stay, stay_moves: int; what a piece at home costs less in the first so many own moves.
        triples, solo: int; weights, in sixteenths, of the moves home by the table of triples, and by
            the solo network.
        width: int; moves of a node, or placements of a beam; 0 for all.
        plies: int; the greatest depth; own moves of a beam.
        moving: bool; whether in a beam the others take their greatest gain meanwhile.
        part: float; of the time, or of the nodes, that it is given.
        most: int; nodes at most, whatever the time; 0 for no bound.
        default: int; nodes where neither time nor nodes are given.
        noise: int; uniform from 0, on the value of each move: 64ths of a move, thousandths of a
            tree's visits.
        block: int; of the leader's greatest gain after a move, in sixteenths, off its value.
        exploration, first_play, prior: a tree's: of the bonus; what an untried move is worth, in
            the node's average; the cost that makes a move e times less likely.
        playout, playout_full, playout_noise: a tree's: plies; whether by the whole evaluation,
            otherwise by steps and squares in sixteenths of a step; uniform noise on each move, 1 at
            least, 17 at most where by these.
        blur, blur_far: int; a tree's: the cost behind the first that makes a share of the win e
            times less; more of it for each move that the first is from home.
    """

    search: str
    linear: int = 0
    square: int = 0
    middle: int = 0
    stay: int = 0
    stay_moves: int = 0
    triples: int = 0
    solo: int = 0
    width: int = 0
    plies: int = 3
    moving: bool = False
    part: float = 1.0
    most: int = 0
    default: int = 10_000
    noise: int = 0
    block: int = 0
    exploration: float = 0.6
    first_play: float = 0.8
    prior: int = 48
    playout: int = 4
    playout_full: bool = False
    playout_noise: int = 8
    blur: int = 64
    blur_far: int = 6

    @property
    def evaluation(self) -> str:
        """What the costs are made of, in words."""
        parts = [
            name
            for name, weight in (
                ("penalty" if not self.square else "steps", self.linear or self.square),
                ("triples", self.triples),
                ("solo", self.solo),
            )
            if weight
        ]
        return "+".join(parts)


PENALTY: dict[str, Any] = {"linear": 24}
"""The penalty, in the measure of moves: 52 steps are 19 moves."""
STEPS: dict[str, Any] = {"linear": 14, "square": 1}
"""Steps and squares: stragglers are dear."""
HALF: dict[str, Any] = {"linear": 7, "square": 1}
"""A part of a blend."""
STRONG: dict[str, Any] = {
    "width": 16,
    "exploration": 0.4,
    "prior": 20,
    "playout": 8,
    "playout_noise": 16,
    "blur": 48,
    "blur_far": 14,
}
"""A tree that is hard for bot2611."""

ROWS = (
    # 1 and 2: greedy, with one or two own moves looked ahead
    Row("beam", **PENALTY, width=168, plies=2, noise=24, part=1 / 256),
    Row("beam", **STEPS, width=168, plies=1, noise=16, block=8, part=1 / 256),
    # 3 and 4: beams that hold the others still
    Row("beam", **STEPS, width=100, plies=3),
    Row("beam", triples=16, width=60, plies=4),
    # 5 and 6: beams that let them move
    Row("beam", triples=16, stay=40, stay_moves=4, width=300, plies=3, moving=True),
    Row("beam", solo=16, middle=-12, width=200, plies=4, moving=True),
    # 7 and 8: best reply, not deep
    Row("best reply", **STEPS, middle=10, plies=5, part=0.25),
    Row("best reply", triples=16, width=12, plies=5, noise=12, part=0.25),
    # 9 and 10: best reply, all the time
    Row("best reply", triples=16, width=16, plies=20),
    Row("best reply", **HALF, triples=8, width=20, plies=20),
    # 11 and 12: paranoid
    Row("paranoid", solo=16, width=8, plies=20),
    Row("paranoid", triples=16, width=6, plies=20, part=0.5, block=8),
    # 13 and 14: max^n
    Row("max^n", **STEPS, width=5, plies=20),
    Row("max^n", triples=16, width=4, plies=20),
    # 15 and 16: trees of a few milliseconds
    Row("tree", **STEPS, part=1 / 256, noise=40),
    Row("tree", triples=16, width=12, part=1 / 64, noise=20),
    # 17 and 18: trees with all the time
    Row("tree", triples=16, width=10),
    Row("tree", triples=16, width=16, playout_full=True, playout_noise=12),
    # 19 to 28: the strong ones
    Row("tree", **HALF, triples=8, **STRONG),
    Row("tree", **HALF, triples=8, **{**STRONG, "width": 20, "playout_noise": 12, "blur": 56}),
    Row("tree", **HALF, solo=8, **STRONG),
    Row("tree", **HALF, solo=8, **{**STRONG, "width": 20, "prior": 22}),
    Row("tree", **STEPS, **STRONG),
    Row("tree", linear=8, square=1, triples=7, **{**STRONG, "prior": 18}),
    Row("tree", linear=5, square=1, solo=10, **{**STRONG, "width": 24}),
    Row("tree", **HALF, triples=2, solo=6, **{**STRONG, "width": 18}),
    Row("tree", **HALF, solo=8, **{**STRONG, "width": 20, "playout": 10, "blur": 56}),
    Row("tree", linear=6, square=1, solo=9, first_play=0.9, **{**STRONG, "playout_noise": 12}),
)
"""The players, from `pool:1` on."""

NAMES = tuple(f"{PREFIX}{number}" for number in range(1, len(ROWS) + 1))
HALVES = {"odd": NAMES[::2], "even": NAMES[1::2]}
TEST_HALF = "even"


def kinds(name: str) -> dict[str, str]:
    """What a player is like, in words, by what is told; nothing of others."""
    row = row_of(name)
    return {} if row is None else {"search": row.search, "evaluation": row.evaluation}


def row_of(name: str) -> Row | None:
    """The row of a player; None where the name is none's."""
    return ROWS[NAMES.index(name)] if name in NAMES else None


def player(name: str, seed: int | None) -> Player | None:
    """The player of that name; None where there is none. Raises ImportError where it is not
    compiled."""
    row = row_of(name)
    if row is None:
        return None
    from ugolki.frozen.pool.engine import Player  # noqa: PLC0415  (compiled)

    return Player(row, (seed or 0) & 0xFFFF_FFFF_FFFF_FFFF)
