"""The bot: the engine and, where the opponent's replies can be predicted, a search for the moves
whose predicted replies suit us best.

Most bots of this game are a negamax of a few plies on the difference of cells; the judge's sample
AIs are just that, and answer the same position with the same move. So the bot sees which of these
policies have predicted every move of the opponent in the game that is played. As long as one has,
the bot knows more than a search for the best replies: it searches where the opponent will go wrong.
That is opponent-model search (Iida and others 1993, Carmel and Markovitch 1993), done best-first
(Korf and Chickering, "Best-first minimax search", 1996). A move that a policy has not predicted
refutes it for the rest of the game: somebody who plays a little like it is stronger or weaker in
just the positions that matter. Against all others the bot is the engine alone.

The policies are the frozen sample AIs: what never changes can be relied on. Who wants to expect
something else makes a copy of them first.
"""

from __future__ import annotations

import math

from applegame.engine import UNIT, Engine
from applegame.frozen.samples import Sample
from core.engine import FORGET, MULTIPV, OBSERVE, PACE, STOP, Option, settled
from core.limits import Limits, SearchInfo
from core.native.clock import now
from core.players import lead

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from applegame.rules import Position
    from core.rules import Move

POLICIES = (2, 3, 4, 5)
"""Plies that the sample AIs look ahead, from sample:4 to sample:7."""
LEAST_CONFIDENCE = 0.6
"""What a policy needs to be relied on, one move predicted; see OpponentPolicy.confidence."""
FIRST = 0.4
"""Part of a move's time or nodes that goes to the engine's own search, before replies are
predicted."""
WIDTH = 6
"""Moves of a position whose replies are predicted: those that a quick search finds best."""
QUICK = 100
"""Nodes of that quick search, for each move."""
LEAVES = 100
"""A position that predicted replies lead to gets one part in so many of the nodes that there are
for all of them,"""
LEAST, MOST = 300, 5_000
"""but no fewer and no more than these."""
SURE = 10 * UNIT
"""Points beyond which nothing is more certain."""
LITTLE_TABLE = 4
"""Megabytes of the table of the many little searches; in the engine's own they would push out what
matters."""


class OpponentPolicy:
    """A way to play that the opponent may have, and whether it has predicted the opponent's moves
    in this game so far."""

    def __init__(self, plies: int) -> None:
        self._sample = Sample(plies)
        self._hits = 0
        self._refuted = False

    @property
    def confidence(self) -> float:
        """How likely it predicts the next move: near 1 after many hits, 0 after a move that it
        would not have made (Laplace's rule)."""
        return 0 if self._refuted else (self._hits + 1) / (self._hits + 2)

    def predict(self, position: Position) -> Move:
        """The opponent's move in this position, if this is how it plays."""
        return self._sample.choose(position, Limits()).move

    def learn(self, position: Position, move: Move) -> None:
        """The opponent made this move."""
        if not self._refuted:
            self._refuted = self.predict(position) != move
            self._hits += 1


class Node:
    """A position with us to move.

    Attributes:
        value: our expected result, 0 to 1; move: our best by its own search, None where the game is
            over; branches: what our moves lead to, none before they are looked at.
    """

    __slots__ = ("branches", "move", "position", "value")

    def __init__(self, position: Position, value: float, move: Move | None) -> None:
        self.position = position
        self.value = value
        self.move = move
        self.branches: list[Branch] = []


class Branch:
    """A move of ours, and the position that the predicted reply leads to.

    Attributes:
        safe: the move's value against the best reply.
        confidence: that the opponent makes the predicted one; `safe` counts for the rest.
    """

    __slots__ = ("confidence", "move", "node", "safe")

    def __init__(self, move: Move, node: Node, safe: float, confidence: float) -> None:
        self.move = move
        self.node = node
        self.safe = safe
        self.confidence = confidence

    @property
    def value(self) -> float:
        """Our expected result after the move."""
        return self.confidence * self.node.value + (1 - self.confidence) * self.safe


class PolicySearch:
    """A best-first search against an opponent who is expected to play by a policy."""

    def __init__(
        self, engine: Engine, policy: OpponentPolicy, leaf: int, spent: Callable[[int], bool]
    ) -> None:
        """`leaf` are the nodes for a position, `spent` says whether so many nodes, all in all, are
        enough."""
        self.nodes = 0
        self._engine = engine
        self._policy = policy
        self._leaf = leaf
        self._spent = spent
        self._seat = 0

    def best(self, root: Node, move: Move) -> Branch | None:
        """Our best move; `move` is the best by the engine's search. None where there was no time to
        look.

        What an earlier search by the same policy has found out below `root` is kept.
        """
        self._seat = root.position.to_move
        confidence = self._policy.confidence
        for branch in root.branches:
            if self._spent(self.nodes):
                return None
            branch.confidence, branch.safe = (
                confidence,
                self._search(root.position.play(branch.move), self._leaf).value,
            )
        root.move = move
        if all(branch.move != move for branch in root.branches):
            self._expand(root, confidence)
        while not self._spent(self.nodes):
            path = [root]
            while path[-1].branches:
                path.append(max(path[-1].branches, key=lambda branch: branch.value).node)
            if path[-1].move is None:  # no end of the game is better than this one
                break
            self._expand(path[-1], 1)
            for node in reversed(path):
                node.value = max((branch.value for branch in node.branches), default=node.value)
        return max(root.branches, key=lambda branch: branch.value, default=None)

    def _expand(self, node: Node, confidence: float) -> None:
        """Search the most promising moves of a position, and the replies to them."""
        known = {branch.move for branch in node.branches}
        children = {
            move: node.position.play(move) for move in node.position.legal() if move not in known
        }
        values: dict[Move, float] = {}
        for move, child in children.items():
            if self._spent(self.nodes):
                return
            values[move] = self._search(child, QUICK).value
        for move in sorted(children, key=lambda move: (move != node.move, -values[move]))[
            : max(1, WIDTH - len(known))
        ]:
            if self._spent(self.nodes):
                break
            child = children[move]
            reply = child if child.over else child.play(self._policy.predict(child))
            safe = self._search(child, self._leaf).value if confidence < 1 else 0
            node.branches.append(Branch(move, self._search(reply, self._leaf), safe, confidence))

    def _search(self, position: Position, nodes: int) -> Node:
        """What a search of so many nodes finds: the value for our seat, and the best move."""
        if position.over:
            ahead = lead(position, self._seat)
            return Node(position, (ahead > 0) + (ahead == 0) / 2, None)
        found = self._engine.choose(position, Limits(nodes=nodes))
        self.nodes += found.nodes
        value = expected(found.score)
        return Node(position, value if position.to_move == self._seat else 1 - value, found.move)


class Bot:
    """The player `bot`; it is an engine. See `core.engine.Engine`."""

    CAPABILITIES = frozenset({STOP, FORGET, PACE, OBSERVE, MULTIPV})
    SCORE_UNIT = Engine.SCORE_UNIT
    OPTIONS = (
        Option(
            "predict", bool, True, "whether it searches for moves whose predicted replies suit it"
        ),
        *Engine.OPTIONS,
    )

    def __init__(self, **options: Any) -> None:
        """By OPTIONS. Raises TextError and UnknownNameError."""
        settings = settled(self.OPTIONS, options)
        self._predicts = settings.pop("predict")
        self._engine = Engine(**settings)
        self._little = Engine(**{**settings, "hash": LITTLE_TABLE})
        self._policies = [OpponentPolicy(plies) for plies in POLICIES]
        self._heard: list[tuple[Position, Move]] = []
        self._ply = 0
        self._policy = self._policies[0]
        self._expected: Node | None = None
        self._stopped = False

    def pace(self, position: Position) -> float:
        """For how many moves the clock is to last. See `applegame.engine.Engine.pace`."""
        return self._engine.pace(position)

    def stop(self) -> None:
        """End the search that runs in another thread; it returns what it has found."""
        self._stopped = True
        self._engine.stop()  # the little searches are over at once, anyway

    def forget(self) -> None:
        """Begin a new game: nothing is known of the opponent, nor of positions searched before."""
        self._engine.forget()
        self._little.forget()
        self._ply = 0
        self._expected = None
        self._forget_opponent()

    def observe(self, position: Position, move: Move) -> None:
        """The opponent made this move. What follows from it is found out when we are to move: then
        the time for it is ours."""
        if self._predicts:
            self._forget_if_new(position)
            self._heard.append((position, move))

    def choose(
        self, position: Position, limits: Limits, report: Callable[[SearchInfo], None] | None = None
    ) -> SearchInfo:
        """The best move found. See `applegame.engine.Engine.choose`."""
        started = now()
        self._stopped = False
        self._forget_if_new(position)
        for heard in self._heard:
            for policy in self._policies:
                policy.learn(*heard)
        self._heard.clear()
        # of equals the one that searches deeper: it errs less
        policy = max(reversed(self._policies), key=lambda one: one.confidence)
        if (
            policy.confidence < LEAST_CONFIDENCE
            or (limits.nodes is None and limits.deadline is None)
            or limits.multipv > 1
        ):
            return self._engine.choose(position, limits, report)
        meant = math.inf if limits.deadline is None else (limits.soft or limits.deadline) - started
        first = Limits(
            nodes=None if limits.nodes is None else int(FIRST * limits.nodes),
            soft=None if limits.deadline is None else started + FIRST * meant,
            deadline=limits.deadline,
            depth=limits.depth,
        )
        found = self._engine.choose(position, first, report)
        if found.score >= SURE:
            return found
        most = math.inf if limits.nodes is None else limits.nodes - found.nodes
        end = (
            math.inf
            if limits.deadline is None
            else min(max(started + meant, now() + (1 - FIRST) * meant), limits.deadline)
        )
        left = most if limits.deadline is None else min(most, found.nps * (end - now()))
        search = PolicySearch(
            self._little,
            policy,
            int(min(max(LEAST, left / LEAVES), MOST)),
            lambda nodes: self._stopped or nodes >= most or now() >= end,
        )
        root = self._expected
        if root is None or policy is not self._policy or root.position.key != position.key:
            root = Node(position, 0, found.move)
        best = search.best(root, found.move)
        self._policy, self._expected = policy, None if best is None else best.node
        if best is None:
            return found
        return SearchInfo(
            best.move,
            score(best.value),
            found.depth,
            found.nodes + search.nodes,
            now() - started,
            (best.move,),
        )

    def _forget_if_new(self, position: Position) -> None:
        """Forget the opponent where another game has begun: it may be another one."""
        if position.ply < self._ply:
            self._forget_opponent()
        self._ply = position.ply

    def _forget_opponent(self) -> None:
        self._policies = [OpponentPolicy(plies) for plies in POLICIES]
        self._heard.clear()


def expected(score: int) -> float:
    """The expected result of a score, 0 to 1."""
    return 1 / (1 + math.exp(-max(-SURE, min(SURE, score)) / UNIT))


def score(value: float) -> int:
    """The score of an expected result."""
    least = expected(-SURE)
    value = min(max(value, least), 1 - least)
    return round(UNIT * math.log(value / (1 - value)))
