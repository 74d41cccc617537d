"""The bot: the engine and, if the opponent's replies can be predicted, a search for the moves whose
predicted replies are best for the bot.

Most bots of this game are a negamax of a few plies on the difference of cells. The judge's sample
AIs are too, and they always answer the same position with the same move. The bot checks which of
these policies have predicted every move of the opponent in the current game. While one has, the bot
searches for the opponent's mistakes instead of assuming best replies. This is opponent-model search
(Iida and others 1993, Carmel and Markovitch 1993), done best-first (Korf and Chickering,
"Best-first minimax search", 1996). A move that a policy has not predicted refutes it for the rest
of the game: a player that resembles a policy differs from it in just the positions that matter.
Against all other opponents the bot is the engine alone.

The policies are the frozen sample AIs, because they never change. To model another opponent, copy
them and change the copy.
"""

from __future__ import annotations

import math

from applegame.engine import UNIT, Engine
from applegame.frozen.samples import Sample
from core.engine import MOVES_TO_GO, MULTIPV, NEW_GAME, OBSERVE, STOP, Option, settled
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
"""Search depths in plies of the sample AIs, from sample:4 to sample:7."""
MIN_CONFIDENCE = 0.6
"""Confidence from which a policy is used: one predicted move gives 2/3. Not tuned."""
FIRST = 0.4
"""Fraction of a move's time or nodes for the engine's search, which comes first. Experiment 014."""
WIDTH = 6
"""Moves of a position whose replies are predicted: the best by a quick search."""
QUICK = 100
"""Nodes per move of that quick search."""
LEAVES = 100
"""A search after a predicted reply gets 1/LEAVES of the remaining nodes, within these bounds."""
MIN_NODES, MAX_NODES = 300, 5_000
SURE = 10 * UNIT
"""Score from which a game counts as won, in points: 10 logits."""
LEAF_TABLE = 4
"""Megabytes of the transposition table of the leaf searches. They use a table apart from the
engine's, so that they do not replace its entries."""


class OpponentPolicy:
    """A policy that the opponent may follow, and its record of predictions in this game."""

    def __init__(self, plies: int) -> None:
        self._sample = Sample(plies)
        self._hits = 0
        self._refuted = False

    @property
    def confidence(self) -> float:
        """Estimated probability that it predicts the next move, by Laplace's rule of succession; 0
        after a move that it did not predict."""
        return 0 if self._refuted else (self._hits + 1) / (self._hits + 2)

    def predict(self, position: Position) -> Move:
        """Return the move of an opponent that follows this policy."""
        return self._sample.choose(position, Limits()).move

    def learn(self, position: Position, move: Move) -> None:
        """Compare the opponent's move in a position with the prediction."""
        if not self._refuted:
            self._refuted = self.predict(position) != move
            self._hits += 1


class Node:
    """A position with the bot to move.

    Attributes:
        value: The bot's expected result, 0 to 1.
        move: The best move by the engine's search; None if the game has ended.
        branches: The searched moves; empty until the node is expanded.
    """

    __slots__ = ("branches", "move", "position", "value")

    def __init__(self, position: Position, value: float, move: Move | None) -> None:
        self.position = position
        self.value = value
        self.move = move
        self.branches: list[Branch] = []


class Branch:
    """A move of the bot, and the position after the predicted reply.

    Attributes:
        move: The bot's move.
        node: The position after the predicted reply.
        safe: The move's value against the best reply, 0 to 1.
        confidence: Probability that the opponent plays the predicted reply.
    """

    __slots__ = ("confidence", "move", "node", "safe")

    def __init__(self, move: Move, node: Node, safe: float, confidence: float) -> None:
        self.move = move
        self.node = node
        self.safe = safe
        self.confidence = confidence

    @property
    def value(self) -> float:
        """The bot's expected result after the move: the mean of both values by `confidence`."""
        return self.confidence * self.node.value + (1 - self.confidence) * self.safe


class PolicySearch:
    """A best-first search against an opponent that is expected to follow a policy."""

    def __init__(
        self, engine: Engine, policy: OpponentPolicy, leaf: int, spent: Callable[[int], bool]
    ) -> None:
        """Prepare a search.

        Args:
            engine: Evaluates positions.
            policy: Predicts the opponent's replies.
            leaf: Nodes per evaluated position.
            spent: Returns True if the search must end after that many nodes in total.
        """
        self.nodes = 0
        self._engine = engine
        self._policy = policy
        self._leaf = leaf
        self._spent = spent
        self._seat = 0

    def best(self, root: Node, move: Move) -> Branch | None:
        """Return the best branch of `root`, or None if the limits ended the search before one.

        The results of an earlier search by the same policy below `root` are reused.

        Args:
            root: The position to move in.
            move: The best move by the engine's search.
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
            if path[-1].move is None:  # the best line ends the game
                break
            self._expand(path[-1], 1)
            for node in reversed(path):
                node.value = max((branch.value for branch in node.branches), default=node.value)
        return max(root.branches, key=lambda branch: branch.value, default=None)

    def _expand(self, node: Node, confidence: float) -> None:
        """Add branches for the most promising moves of a position, with the replies to them."""
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
        """Return a node with the result of the engine's search, at that many nodes."""
        if position.over:
            ahead = lead(position, self._seat)
            return Node(position, (ahead > 0) + (ahead == 0) / 2, None)
        found = self._engine.choose(position, Limits(nodes=nodes))
        self.nodes += found.nodes
        value = expected(found.score)
        return Node(position, value if position.to_move == self._seat else 1 - value, found.move)


class Bot:
    """The player `bot`; it is an engine. See `core.engine.Engine`."""

    CAPABILITIES = frozenset({STOP, NEW_GAME, MOVES_TO_GO, OBSERVE, MULTIPV})
    SCORE_UNIT = Engine.SCORE_UNIT
    OPTIONS = (
        Option(
            "predict", bool, True, "search for moves whose predicted replies are best for the bot"
        ),
        *Engine.OPTIONS,
    )

    def __init__(self, **options: Any) -> None:
        """Set OPTIONS by keyword. Raises TextError and UnknownNameError."""
        settings = settled(self.OPTIONS, options)
        self._predicts = settings.pop("predict")
        self._engine = Engine(**settings)
        self._leaf_engine = Engine(**{**settings, "hash": LEAF_TABLE})
        self._policies = [OpponentPolicy(plies) for plies in POLICIES]
        self._heard: list[tuple[Position, Move]] = []
        self._ply = 0
        self._policy = self._policies[0]
        self._expected: Node | None = None
        self._stopped = False

    def moves_to_go(self, position: Position) -> float:
        """See `applegame.engine.Engine.moves_to_go`."""
        return self._engine.moves_to_go(position)

    def stop(self) -> None:
        """End the search that runs in another thread. It returns its best result."""
        self._stopped = True
        self._engine.stop()  # leaf searches end within their few nodes

    def new_game(self) -> None:
        """Begin a new game: forget the opponent and all searched positions."""
        self._engine.new_game()
        self._leaf_engine.new_game()
        self._ply = 0
        self._expected = None
        self._forget_opponent()

    def observe(self, position: Position, move: Move) -> None:
        """Store the opponent's move. `choose` evaluates it later, on the bot's own clock."""
        if self._predicts:
            self._forget_if_new(position)
            self._heard.append((position, move))

    def choose(
        self, position: Position, limits: Limits, report: Callable[[SearchInfo], None] | None = None
    ) -> SearchInfo:
        """Return the best move found. See `applegame.engine.Engine.choose`."""
        started = now()
        self._stopped = False
        self._forget_if_new(position)
        for heard in self._heard:
            for policy in self._policies:
                policy.learn(*heard)
        self._heard.clear()
        # among equals the one that searches deepest: it errs least
        policy = max(reversed(self._policies), key=lambda one: one.confidence)
        if (
            policy.confidence < MIN_CONFIDENCE
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
            self._leaf_engine,
            policy,
            int(min(max(MIN_NODES, left / LEAVES), MAX_NODES)),
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
        """Forget the opponent if another game has begun: it may be another opponent."""
        if position.ply < self._ply:
            self._forget_opponent()
        self._ply = position.ply

    def _forget_opponent(self) -> None:
        self._policies = [OpponentPolicy(plies) for plies in POLICIES]
        self._heard.clear()


def expected(score: int) -> float:
    """Return the expected result, 0 to 1, of a score in points."""
    return 1 / (1 + math.exp(-max(-SURE, min(SURE, score)) / UNIT))


def score(value: float) -> int:
    """Return the score in points of an expected result; the inverse of `expected`."""
    least = expected(-SURE)
    value = min(max(value, least), 1 - least)
    return round(UNIT * math.log(value / (1 - value)))
