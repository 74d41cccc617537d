"""What a search may spend, and what it reports. Plain classes: an agent that is started for every
move cannot afford dataclasses."""

from __future__ import annotations


class Limits:
    """Bounds of one search; it stops at the first one reached. None means no bound.

    Attributes:
        deadline: moment on the clock of `core.native.clock.now`, in seconds; on Linux and macOS
            that is `time.monotonic`.
        late: moment on the same clock at which the answer is too late. A search that is held up, since
            the machine takes the processor away, leaves more room before it; engines that cannot tell
            keep to the deadline alone.
        soft: moment on the same clock by which a search that goes as expected is to have ended:
            sooner where the choice is clear, later, but never after the deadline, where it is not.
            Engines that cannot tell take it for a deadline.
        nodes: nodes visited.
        depth: plies of iterative deepening.
        multipv: how many of the best lines are wanted, at least 1; for players with MULTIPV. Bounds
            are for all of them together.
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
    """The outcome of a search so far.

    Attributes:
        move: the best move.
        score: its value for the seat to move, in the unit that the player declares as SCORE_UNIT.
        depth: plies searched completely.
        nodes: nodes visited.
        seconds: time spent.
        pv: the principal variation, `move` first.
        rank: of the line, from 1; others than 1 are reported only where `Limits.multipv` asks for
            them.
    """

    __slots__ = ("depth", "move", "nodes", "pv", "rank", "score", "seconds")

    def __init__(
        self,
        move: tuple[int, ...],
        score: int = 0,
        depth: int = 0,
        nodes: int = 0,
        seconds: float = 0.0,
        pv: tuple[tuple[int, ...], ...] = (),
        rank: int = 1,
    ) -> None:
        self.move = move
        self.score = score
        self.depth = depth
        self.nodes = nodes
        self.seconds = seconds
        self.pv = pv
        self.rank = rank

    @property
    def nps(self) -> float:
        """Nodes per second."""
        return self.nodes / self.seconds if self.seconds > 0 else 0.0

    def text(self) -> str:
        """One line for a program's standard error; the arena reads depth and speed from it."""
        return (
            f"info depth {self.depth} nodes {self.nodes} seconds {self.seconds:.6f} score "
            f"{self.score}"
        )

    def __repr__(self) -> str:
        return (
            f"SearchInfo(move={self.move}, score={self.score}, depth={self.depth}, "
            f"nodes={self.nodes}, seconds={self.seconds:.3f})"
        )
