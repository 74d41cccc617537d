"""The agent's side of the line protocol: a loop that answers whatever the judge sends.

It ends after FINISH, at the end of input, or when no legal answer is known; always with status 0.
Only answers go to standard output. Each problem is one line on standard error.
"""

from __future__ import annotations

import os

from core.agent.files import GOOD, complain
from core.engine import OBSERVE, can
from core.limits import Limits
from core.messages import READY_ANSWER, Drew, Finish, Init, Message, Opponent, Ready, YourTurn
from core.timeman import Overhead, player_limits

try:
    from core.native.clock import now
# without compiled modules, only simple players on the reference rules play, and any clock will
# serve
except ImportError:
    from time import monotonic as now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO

    from core.engine import Searcher
    from core.rules import LineProtocol, Move, Position


CLOCK: Callable[[], float] = now
"""The clock of players' deadlines: that of `core.native.clock`, which compiled searches read. On
Windows it is not `time.monotonic`."""
PANIC_MS = 100
"""Milliseconds. With less on the clock, the agent plays a quick legal move without a search.
Not tuned."""
LONGEST_LINE = 1 << 16
"""Bytes. No judge's line is nearly as long. A longer one is split into lines that cannot be
read."""


class DesyncError(Exception):
    """The position is unknown; the message says why."""


class Agent:
    """A program's view of the games that it plays: it reads lines and returns answers.

    An unreadable line may be a damaged request, so an answer may be due: OK to the first line, a
    quick move if it is our turn. The agent gives it at once. If the request itself follows, it is
    not answered again.

    If a line is missing, or contradicts the previous ones, the position is unknown. Then the agent
    plays the move that is legal anywhere. In games without such a move, it exits.

    Attributes:
        done: True when the conversation has ended.
    """

    def __init__(
        self,
        protocol: LineProtocol,
        rules: type[Position],
        player: Searcher[Any],
        *,
        init: bool = True,
        reveal: Callable[[Any, int | None], Position] | None = None,
        anywhere: Move | None = None,
        start: Position | None = None,
        nodes: int | None = None,
        clock: Callable[[], float] = CLOCK,
    ) -> None:
        """Create an agent that has read nothing yet.

        Args:
            init: True if the judge describes the start position.
            reveal: `Position.reveal` in a game of chance, else None.
            anywhere: A move that is legal in every position, if the game has one.
            start: Start position of games without Init, if it is not the start of the rules.
            nodes: Nodes per search, instead of the clock.
            clock: Clock of the player's deadlines.
        """
        self.done = False
        self._protocol = protocol
        self._rules = rules
        self._player = player
        self._init = init
        self._reveal = reveal
        self._anywhere = anywhere
        self._start = start
        self._nodes = nodes
        self._tell = "QUARTET_INFO" in os.environ
        self._clock = clock
        self._overhead = Overhead()
        self._greeted = False
        self._seat: int | None = None
        self._position: Position | None = None
        self._init_due = False
        self._draw_due = False
        self._answered_early: type[Message] | None = None

    def hear(self, line: str) -> str | None:
        """Return the answer to a line, both without line end; None if none is due. Never raises,
        whatever the line, the rules and the player do."""
        heard = self._clock()
        if not line.strip():
            return None
        try:
            message: Message | None = self._protocol.parse_message(line, self._seat or 0)
        except Exception as error:  # noqa: BLE001  (a damaged line must not hit a parser's bug)
            complain(f"cannot read {line[:80]!r}: {error}")
            message = None
        answered, self._answered_early = self._answered_early, None
        try:
            if message is None:
                return self._guess(heard, answered)
            answer = self._react(message, heard, is_answered=answered is type(message))
        # A bug, or a message that contradicts the known position.
        except Exception as error:  # noqa: BLE001
            complain(f"position lost at {line[:80]!r}: {error or type(error).__name__}")
            self._position = None
            move = self._lost_move()
            return move if isinstance(message, YourTurn) and answered is not YourTurn else None
        return None if answered is type(message) else answer

    def _react(self, message: Message, heard: float, *, is_answered: bool) -> str | None:
        """Return the answer to a readable line."""
        match message:
            case Ready(seat=seat):
                self._begin(seat)
                return READY_ANSWER
            case Init(text=text):
                if self._seat is None:
                    raise DesyncError("READY did not name our side")
                self._init_due = False
                self._draw_due = False
                self._position = self._rules.parse(text)
            case YourTurn(mine=mine) if not is_answered:
                return (
                    self._lost_move()
                    if self._position is None
                    else self._move(self._position, mine, heard)
                )
            case Drew(drawn=drawn):
                self._learn(drawn)
            case Opponent(move=move, drawn=drawn):
                self._follow(move, drawn)
            case Finish():
                self.done = True
        return None

    def _guess(self, heard: float, answered: type[Message] | None) -> str | None:
        """Return the answer that may be due to an unreadable line; `answered` is the last request
        that was answered in advance."""
        if answered is not None:
            self._answered_early = answered
            return None
        if not self._greeted:
            self._answered_early = Ready
            self._begin(None)
            return READY_ANSWER
        if self._init_due:
            self._init_due = False
            return None
        if self._position is None:
            self._answered_early = YourTurn
            return self._lost_move()
        if self._position.to_move == self._seat and not self._position.over:
            self._answered_early = YourTurn
            return self._move(self._position, 0, heard)
        return None

    def _begin(self, seat: int | None) -> None:
        """Start a new game."""
        self._greeted = True
        self._overhead.new_game()
        self._seat = seat
        self._init_due = self._init
        self._draw_due = False
        self._position = None if self._init else self._start or self._rules.start()

    def _move(self, position: Position, mine: int, heard: float) -> str:
        """Return our move, with `mine` milliseconds on the clock, and play it on our board. Raises
        DesyncError."""
        # READY was unreadable, and the side that we have followed is asked to move
        if self._seat is None:
            self._seat = position.to_move
        if position.to_move != self._seat or self._draw_due:
            raise DesyncError("the line before this one is missing")
        if mine:  # an unreadable line gives no clock
            self._overhead.asked(mine / 1000)
        move = self._choose(position, mine, heard)
        answer = self._protocol.format_answer(move, self._seat)
        try:
            self._position = position.play(move)
            self._draw_due = self._reveal is not None
        # Only the judge decides whether the game continues.
        except Exception as error:  # noqa: BLE001
            complain(f"position unknown after {answer}: {error}")
            self._position = None
        return answer

    def _choose(self, position: Position, mine: int, heard: float) -> Move:
        """Return the player's move, or a quick one if there is no time or the player fails. Raises
        DesyncError if there is no move."""
        # the judge may continue a game that is over by our rules
        moves = position.legal() or position.pseudolegal()
        if not moves:
            raise DesyncError("there is no legal move")
        quick = moves[-1]  # a pass comes first in ascending order
        if len(moves) == 1 or mine < PANIC_MS:
            return quick
        try:
            limits = self._limits(position, mine / 1000, heard)
            info = self._player.choose(position, limits)
            if limits.deadline is not None:
                self._overhead.searched(min(self._clock(), limits.deadline) - heard)
            if self._tell:
                complain(info.text())
            move = info.move
        except Exception as error:  # noqa: BLE001  (a bug must not lose the game)
            complain(f"internal error: {type(error).__name__}: {error}")
            return quick
        if move not in moves:
            complain(f"internal error: the player chose {move}, which is not legal")
            return quick
        return move

    def _limits(self, position: Position, left: float, heard: float) -> Limits:
        """Return the limits of a move, with `left` seconds on the clock."""
        if self._nodes is not None:
            return Limits(nodes=self._nodes)
        return player_limits(self._player, position, heard, left, self._overhead.seconds)

    def _learn(self, drawn: int | None) -> None:
        """Take our draw. Raises DesyncError and RuleError."""
        if self._position is None:
            return
        if self._reveal is None or not self._draw_due:
            raise DesyncError("no draw was due")
        self._position = self._reveal(self._position, drawn)
        self._draw_due = False

    def _follow(self, move: Move, drawn: int | None) -> None:
        """Take the opponent's move. Raises DesyncError and RuleError."""
        if self._position is None:
            return
        if self._draw_due or self._position.to_move == self._seat:
            raise DesyncError("the line before this one is missing")
        before, self._position = self._position, self._position.play(move)
        if can(self._player, OBSERVE):
            self._player.observe(before, move)
        if self._reveal is not None:
            self._position = self._reveal(self._position, drawn)

    def _lost_move(self) -> str | None:
        """Return the move that is legal anywhere; without such a move, end the conversation."""
        if self._anywhere is None:
            complain("no legal move is known: exiting")
            self.done = True
            return None
        return self._protocol.format_answer(self._anywhere, self._seat or 0)


def converse(agent: Agent, source: BinaryIO, sink: BinaryIO) -> int:
    """Answer the lines of `source` on `sink` until the end. Returns the exit status, always
    GOOD."""
    try:
        while not agent.done:
            line = source.readline(LONGEST_LINE)
            if not line:
                break
            answer = agent.hear(line.decode("ascii", "replace").rstrip("\r\n"))
            if answer is not None:
                sink.write(answer.encode("ascii") + b"\n")
                sink.flush()
    except (OSError, KeyboardInterrupt):
        pass  # the judge has closed its end
    return GOOD
