"""The agent's side of a judge that speaks lines with a running program: the loop that answers,
whatever it hears.

It ends after FINISH, at the end of input, or when no legal answer is known any more: always with
status 0. Nothing but answers goes to standard output; what is wrong is said on standard error, a
line for each fault.
"""

from __future__ import annotations

import os

from core.agent.files import GOOD, complain
from core.engine import OBSERVE, can
from core.limits import Limits
from core.messages import READY_ANSWER, Drew, Finish, Init, Message, Opponent, Ready, Turn
from core.timeman import player_limits

try:
    from core.native.clock import now
# where nothing is compiled, no player is: the reference rules and simple players need no more than
# any clock
except ImportError:
    from time import monotonic as now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO

    from core.engine import Searcher
    from core.rules import LineProtocol, Move, Position


CLOCK: Callable[[], float] = now
"""What the deadlines of players are on: the clock of `core.native.clock`, which compiled searches
read. In Windows it is not `time.monotonic`."""
PANIC_MS = 100
"""With less than this on the clock no search begins: a quick legal move is played."""
LONGEST_LINE = 1 << 16
"""Bytes; no judge's line comes near it. A longer one is taken for several, none of which can be
read."""


class LostError(Exception):
    """We do not know the position any more; the message says why."""


class Agent:
    """A program's view of the games that it plays: it hears lines and gives answers.

    A line that cannot be read may be torn, and an answer may be due: OK to the first line, a quick
    move when it is our turn. It is given at once; the call itself, should it come after all, is
    then not answered again.

    Where a line is missing, or does not fit what came before, the position is lost. Then the agent
    plays the move that is legal anywhere, or, in games without such a move, leaves.

    Attributes:
        done: whether the conversation is over.
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
        """Make an agent that has heard nothing yet.

        `init` says whether the judge describes the start position. `reveal` is the position's
        method of that name in a game of chance, `anywhere` a move that is legal in every position,
        `start` where games begin of which the judge does not say it, if it is not the start of the
        rules, `nodes` what a search visits instead of looking at the clock, `clock` what the player
        measures its deadline by.
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
        self._greeted = False
        self._seat: int | None = None
        self._position: Position | None = None
        self._init_due = False
        self._draw_due = False
        self._answered_early: type[Message] | None = None

    def hear(self, line: str) -> str | None:
        """The answer to a line, without its end; None where none is due. It never raises, whatever
        line, rules and player do."""
        heard = self._clock()
        if not line.strip():
            return None
        try:
            message: Message | None = self._protocol.parse_message(line, self._seat or 0)
        except Exception as error:  # noqa: BLE001  (a torn line must not find a bug in a parser)
            complain(f"cannot read {line[:80]!r}: {error}")
            message = None
        answered, self._answered_early = self._answered_early, None
        try:
            if message is None:
                return self._guess(heard, answered)
            answer = self._react(message, heard, is_answered=answered is type(message))
        # A bug of ours, or a message that does not fit what we know.
        except Exception as error:  # noqa: BLE001
            complain(f"lost the thread at {line[:80]!r}: {error or type(error).__name__}")
            self._position = None
            move = self._lost_move()
            return move if isinstance(message, Turn) and answered is not Turn else None
        return None if answered is type(message) else answer

    def _react(self, message: Message, heard: float, *, is_answered: bool) -> str | None:
        """The answer to a line that could be read."""
        match message:
            case Ready(seat=seat):
                self._begin(seat)
                return READY_ANSWER
            case Init(text=text):
                if self._seat is None:
                    raise LostError("nobody told us our side")
                self._init_due = False
                self._draw_due = False
                self._position = self._rules.parse(text)
            case Turn(mine=mine) if not is_answered:
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
        """The answer that may be due to a line that could not be read; `answered` is the call that
        was last answered in advance."""
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
            self._answered_early = Turn
            return self._lost_move()
        if self._position.to_move == self._seat and not self._position.over:
            self._answered_early = Turn
            return self._move(self._position, 0, heard)
        return None

    def _begin(self, seat: int | None) -> None:
        """A new game."""
        self._greeted = True
        self._seat = seat
        self._init_due = self._init
        self._draw_due = False
        self._position = None if self._init else self._start or self._rules.start()

    def _move(self, position: Position, mine: int, heard: float) -> str:
        """Our move, with `mine` milliseconds on the clock; it is made on our board, too. Raises
        LostError."""
        # READY was torn, and a side that has followed so far is called to move
        if self._seat is None:
            self._seat = position.to_move
        if position.to_move != self._seat or self._draw_due:
            raise LostError("a line before this one is missing")
        move = self._choose(position, mine, heard)
        answer = self._protocol.format_answer(move, self._seat)
        try:
            self._position = position.play(move)
            self._draw_due = self._reveal is not None
        # The judge has the last word on whether the game goes on.
        except Exception as error:  # noqa: BLE001
            complain(f"cannot go on after {answer}: {error}")
            self._position = None
        return answer

    def _choose(self, position: Position, mine: int, heard: float) -> Move:
        """The player's move, or a quick one when the clock or the player leaves no choice. Raises
        LostError when there is none."""
        # the judge may play on where the game is over by our rules
        moves = position.legal() or position.pseudolegal()
        if not moves:
            raise LostError("no move is left")
        quick = moves[-1]  # a pass comes first in ascending order
        if len(moves) == 1 or mine < PANIC_MS:
            return quick
        try:
            info = self._player.choose(position, self._limits(position, mine / 1000, heard))
            if self._tell:
                complain(info.text())
            move = info.move
        except Exception as error:  # noqa: BLE001  (a bug of ours must not lose the game)
            complain(f"internal error: {type(error).__name__}: {error}")
            return quick
        if move not in moves:
            complain(f"internal error: the player chose {move}, which is not legal")
            return quick
        return move

    def _limits(self, position: Position, left: float, heard: float) -> Limits:
        """What the player may spend on its move, with `left` seconds on the clock."""
        if self._nodes is not None:
            return Limits(nodes=self._nodes)
        return player_limits(self._player, position, heard, left)

    def _learn(self, drawn: int | None) -> None:
        """What chance gave us. Raises LostError and RuleError."""
        if self._position is None:
            return
        if self._reveal is None or not self._draw_due:
            raise LostError("nothing was to be drawn")
        self._position = self._reveal(self._position, drawn)
        self._draw_due = False

    def _follow(self, move: Move, drawn: int | None) -> None:
        """The opponent's move. Raises LostError and RuleError."""
        if self._position is None:
            return
        if self._draw_due or self._position.to_move == self._seat:
            raise LostError("a line before this one is missing")
        before, self._position = self._position, self._position.play(move)
        if can(self._player, OBSERVE):
            self._player.observe(before, move)
        if self._reveal is not None:
            self._position = self._reveal(self._position, drawn)

    def _lost_move(self) -> str | None:
        """What can be played without knowing the position; where there is no such move, we
        leave."""
        if self._anywhere is None:
            complain("no legal move is known; leaving")
            self.done = True
            return None
        return self._protocol.format_answer(self._anywhere, self._seat or 0)


def converse(agent: Agent, source: BinaryIO, sink: BinaryIO) -> int:
    """Answer the lines of `source` on `sink` until the end; returns the exit status, which is
    always GOOD."""
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
        pass  # nobody listens any more
    return GOOD
