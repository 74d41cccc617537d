"""The limits of a search, and its results. Plain classes: an agent that starts one process per move
has no time for dataclasses."""

from __future__ import annotations

from core.errors import RuleError


class Limits:
    """Bounds of one search; it stops at the first one that it reaches. None means no bound.

    Times are in seconds on the clock of `core.native.clock.now`, which is `time.monotonic` on Linux
    and macOS.

    Attributes:
        deadline: Time at which the search must stop.
        late: Time at which the answer is too late. A search that measures stalls (the machine takes
            the processor away) stops so much earlier that several more stalls do no harm. Other
            engines only use the deadline.
        soft: Time at which a search of average difficulty should stop: earlier if the choice is
            clear, later if it is not, but never after the deadline. Engines without time management
            treat it as the deadline.
        nodes: Maximum number of nodes.
        depth: Maximum depth of iterative deepening, in plies.
        multipv: Number of best lines wanted, at least 1, for players with MULTIPV. The bounds apply
            to all lines together.
    """

    __slots__ = ("deadline", "depth", "late", "multipv", "nodes", "soft")

    def __init__(
        self,
        *,
        deadline: float | None = None,
        late: float | None = None,
        soft: float | None = None,
        nodes: int | None = None,
        depth: int | None = None,
        multipv: int = 1,
    ) -> None:
        """Set the bounds. Raises RuleError for a number below 1."""
        for name, value in (("nodes", nodes), ("depth", depth), ("multipv", multipv)):
            if value is not None and value < 1:
                raise RuleError(f"a search takes {name} of at least 1, not {value}")
        self.deadline = deadline
        self.late = late
        self.soft = soft
        self.nodes = nodes
        self.depth = depth
        self.multipv = multipv

    def __repr__(self) -> str:
        return (
            f"Limits(deadline={self.deadline}, late={self.late}, soft={self.soft}, "
            f"nodes={self.nodes}, depth={self.depth}, multipv={self.multipv})"
        )


class SearchInfo:
    """The result of a search so far.

    Attributes:
        move: Best move.
        score: Its value for the seat to move, in the player's SCORE_UNIT.
        depth: Plies searched completely.
        nodes: Nodes visited.
        seconds: Time spent.
        pv: Principal variation, `move` first.
        rank: Number of the line, from 1; above 1 only if `Limits.multipv` asks for more lines.
        visits: Visits of `move` in a tree search; 0 in any other.
    """

    __slots__ = ("depth", "move", "nodes", "pv", "rank", "score", "seconds", "visits")

    def __init__(
        self,
        move: tuple[int, ...],
        score: int = 0,
        depth: int = 0,
        nodes: int = 0,
        seconds: float = 0.0,
        pv: tuple[tuple[int, ...], ...] = (),
        rank: int = 1,
        visits: int = 0,
    ) -> None:
        self.move = move
        self.score = score
        self.depth = depth
        self.nodes = nodes
        self.seconds = seconds
        self.pv = pv
        self.rank = rank
        self.visits = visits

    @property
    def nps(self) -> float:
        """Nodes per second."""
        return self.nodes / self.seconds if self.seconds > 0 else 0.0

    def text(self) -> str:
        """Return one line for a program's stderr; the arena reads depth and speed from it."""
        return (
            f"info depth {self.depth} nodes {self.nodes} seconds {self.seconds:.6f} score "
            f"{self.score}"
        )

    def __repr__(self) -> str:
        return (
            f"SearchInfo(move={self.move}, score={self.score}, depth={self.depth}, "
            f"nodes={self.nodes}, seconds={self.seconds:.3f})"
        )
