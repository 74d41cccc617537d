"""The agent's side of a judge that speaks lines with a running program: the loop that answers, whatever it hears.

It ends in one of two ways: after FINISH, or when it can neither go on nor be silent, always with status 0. Nothing but answers goes
to standard output; what is wrong is said on standard error, a line for each fault.
"""

from __future__ import annotations

import time

from core.limits import Limits
from core.messages import READY_ANSWER, Drew, Finish, Init, Message, Opponent, Ready, Turn
from core.transport import BAD_INPUT, GOOD, complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, BinaryIO

    from core.rules import LineProtocol, Move, Position, Searcher

PANIC_MS = 200
"""With less than this on the clock nobody thinks: a quick legal move is played."""
SHARE = 25
"""The part of the clock that one move may take is 1 / SHARE of what is left: players who can use more know better themselves."""
LONGEST_LINE = 1 << 16
"""Bytes; no judge's line comes near it. A longer one is taken for several, none of which can be read."""


class LostError(Exception):
    """The judge wants an answer, and we do not know the position any more."""


class Agent:
    """One program's view of the games that it plays: it hears lines and gives answers.

    Lines that cannot be read may be torn, and an answer may be due: OK while the side is not known, a quick move when it is our
    turn. It is given at once; the call itself, should it come after all, is then not answered again.

    Where a line is missing, or the opponent's move is illegal, the position is lost, and with it every legal move but one that is
    legal anywhere. Without such a move the only clean thing is to leave.

    Attributes:
        done: whether the conversation is over.
    """

    def __init__(
        self,
        protocol: LineProtocol,
        rules: type[Position],
        player: Searcher,
        *,
        reveal: Callable[[Any, int | None], Position] | None = None,
        anywhere: Move | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`reveal` is the position's method of that name in a game of chance, `anywhere` a move that is legal in every position, `clock`
        what the player measures its deadline by.
        """
        self.done = False
        self._protocol = protocol
        self._rules = rules
        self._player = player
        self._reveal = reveal
        self._anywhere = anywhere
        self._clock = clock
        self._seat: int | None = None
        self._position: Position | None = None
        self._draw_due = False
        self._answered_early: type[Message] | None = None

    def hear(self, line: str) -> str | None:
        """The answer to a line, without its end; None where none is due. Never raises, whatever the line, the rules and the player do."""
        heard = self._clock()
        if not line.strip():
            return None
        try:
            message = self._protocol.parse_message(line, self._seat or 0)
        except Exception as error:  # noqa: BLE001  (torn lines must not find a fault in a parser)
            complain(f"cannot read {line[:80]!r}: {error}")
            return self._early_answer(heard)
        is_answered, self._answered_early = self._answered_early is type(message), None
        try:
            answer = self._react(message, heard, is_answered=is_answered)
        except LostError as error:
            return self._lost_answer(error)
        except Exception as error:  # noqa: BLE001  (a bug of ours, or a message that does not fit what we know)
            complain(f"lost the thread at {line[:80]!r}: {error or type(error).__name__}")
            self._position = None
            return self._lost_answer(LostError("it happened on our turn")) if isinstance(message, Turn) and not is_answered else None
        return None if is_answered else answer

    def _react(self, message: Message, heard: float, *, is_answered: bool) -> str | None:
        match message:
            case Ready(seat=seat):
                self._begin(seat)
                return READY_ANSWER
            case Init(text=text):
                if self._seat is None:
                    raise LostError("no READY has come")
                self._position = self._rules.parse(text)
            case Turn(mine=mine):
                return None if is_answered else self._move(mine, heard)
            case Drew(drawn=drawn):
                self._learn(drawn)
            case Opponent(move=move, drawn=drawn):
                self._follow(move, drawn)
            case Finish():
                self.done = True
        return None

    def _begin(self, seat: int | None) -> None:
        self._seat = seat
        self._draw_due = False
        # Where the judge describes the start, this guess lives until INIT.
        self._position = self._rules.start()

    def _move(self, mine: int, heard: float) -> str:
        """Our move, with `mine` milliseconds on the clock; it is made on our board, too. Raises LostError."""
        if self._position is None:
            raise LostError("the position is not known")
        if self._seat is None:  # a torn READY; whoever is called first is FIRST
            self._seat = self._position.to_move
        if self._position.to_move != self._seat or self._draw_due:
            raise LostError("a line before this one is missing")
        move = self._choose(self._position, mine, heard)
        answer = self._protocol.format_answer(move, self._seat)
        try:
            self._position = self._position.play(move)
            self._draw_due = self._reveal is not None
        except Exception as error:  # noqa: BLE001  (the judge has the last word on whether the game goes on)
            complain(f"cannot go on after {answer}: {error}")
            self._position = None
        return answer

    def _choose(self, position: Position, mine: int, heard: float) -> Move:
        """The player's move, or a quick one when the clock or the player leaves us no choice. Raises LostError when there is none."""
        moves = position.legal() or position.pseudolegal()  # the judge may play on where we think it is over
        if not moves:
            raise LostError("no move is left")
        quick = moves[-1]  # a pass comes first in ascending order
        if len(moves) == 1 or mine < PANIC_MS:
            return quick
        try:
            move = self._player.choose(position, Limits(deadline=heard + mine / 1000 / SHARE)).move
        except Exception as error:  # noqa: BLE001  (a bug of ours must not lose the game)
            complain(f"internal error: {type(error).__name__}: {error}")
            return quick
        if move not in moves:
            complain(f"internal error: the player chose {move}, which is not legal")
            return quick
        return move

    def _learn(self, drawn: int | None) -> None:
        """What chance gave us."""
        if self._position is not None and self._reveal is not None and self._draw_due:
            self._position = self._reveal(self._position, drawn)
            self._draw_due = False

    def _follow(self, move: Move, drawn: int | None) -> None:
        """The opponent's move. Raises RuleError when it does not fit our position, which is then wrong."""
        if self._position is None:
            return
        if self._draw_due or self._position.to_move == self._seat:
            complain("a line before this one is missing")
            self._position = None
            return
        self._position = self._position.play(move)
        if self._reveal is not None:
            self._position = self._reveal(self._position, drawn)

    def _early_answer(self, heard: float) -> str | None:
        """The answer that may be due to a line that cannot be read."""
        if self._answered_early is not None:
            return None
        if self._position is None and self._seat is None:
            self._answered_early = Ready
            try:
                self._begin(None)
            except Exception as error:  # noqa: BLE001  (see `hear`)
                complain(f"internal error: {error}")
            return READY_ANSWER
        if self._position is not None and self._position.to_move == self._seat and not self._draw_due:
            try:
                answer = self._move(0, heard)
            except Exception as error:  # noqa: BLE001  (see `hear`)
                complain(f"internal error: {error}")
                return None
            self._answered_early = Turn
            return answer
        return None

    def _lost_answer(self, error: LostError) -> str | None:
        if self._anywhere is not None:
            complain(f"{error}; playing what is always legal")
            return self._protocol.format_answer(self._anywhere, self._seat or 0)
        complain(f"{error}; leaving")
        self.done = True
        return None


def converse(agent: Agent, source: BinaryIO, sink: BinaryIO) -> int:
    """Answer the lines of `source` on `sink` until the end; returns the exit status, which is always GOOD."""
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


def arguments_of(game: str, words: Sequence[str], players: Sequence[str]) -> tuple[str, int | None]:
    """The player's name and the seed that the command line of an agent asks for. Exits with status 2 on unknown options."""
    if not words:
        return players[0], None  # argparse costs milliseconds, and judges give no options
    import argparse  # noqa: PLC0415

    parser = argparse.ArgumentParser(prog=f"python -m {game}", description=f"Play {game} with the judge on standard input and output.")
    parser.add_argument("word", nargs="*", help="ignored: some judges add a word of their own")
    parser.add_argument("--player", default=players[0], metavar="NAME", help=f"one of {', '.join(players)} (default: %(default)s)")
    parser.add_argument("--seed", type=int, metavar="N", help="for players that choose at random")
    chosen = parser.parse_args(words)
    return chosen.player, chosen.seed


def complain_about_arguments(error: Exception) -> int:
    """For an agent that cannot begin: says why, and returns the exit status."""
    complain(str(error))
    return BAD_INPUT
