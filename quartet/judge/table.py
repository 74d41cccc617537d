"""A game in progress under the referee's rules: what stands on the board, who plays, who is out.
Judging and checking share it."""

from __future__ import annotations

from core.errors import IllegalMoveError, RuleError, TextError
from core.rules import Move, places, shares
from quartet.judge import game as games
from quartet.judge.folder import ANSWER_LIMIT, Answer
from quartet.judge.record import Header, Result, Turn
from quartet.judge.verdict import Verdict


class Table:
    """A game from its header on.

    Attributes:
        game: the rules; header: who plays.
        position: the present position.
        disqualified: seats that are out; they are passed over, their pieces stay.
        lost: turns that each seat has lost.
    """

    def __init__(self, header: Header) -> None:
        """The start of the game. Raises UnknownNameError, and TextError for a header that does not
        fit the game."""
        self.header = header
        self.game = games.load(header.game)
        info = self.game.info
        if len(header.players) != info.players:
            raise TextError(f"{header.game} has {info.players} players, not {len(header.players)}")
        if all(player is None for player in header.players):
            raise TextError("somebody must play: all seats are empty")
        for option, value in header.options.items():
            if option not in info.options:
                raise TextError(
                    f"{header.game} has no option {option!r}; there are: {', '.join(info.options) or 'none'}"
                )
            if type(value) is not type(info.options[option].default):
                raise TextError(f"option {option} of {header.game} cannot be {value!r}")
        self.position = self.game.position.start(header.seed, **header.options)
        self._empty = {seat for seat, player in enumerate(header.players) if player is None}
        for seat in self._empty:
            self.position = self.position.without(seat)
        self.disqualified: set[int] = set()
        self.lost = [0] * info.players

    def wait(self) -> bool:
        """Go on to the next turn that somebody takes; False when the game is over."""
        absent = self._empty | self.disqualified
        if len(absent) == self.game.info.players:
            return False
        while not self.position.over and self.position.to_move in absent:
            self.position = self.position.lose_turn()
        return not self.position.over

    @property
    def stuck(self) -> bool:
        """Whether the seat to move can only pass."""
        return self.position.legal() == [self.game.pass_move]

    def judge(self, answer: Answer) -> tuple[Verdict, str, Move | None]:
        """What an answer to the present position is worth by itself: a verdict, a reason, and the
        move when it is legal."""
        if answer.data is None:
            return Verdict.MISSING, answer.problem or "there is no answer", None
        if answer.size > ANSWER_LIMIT:
            return Verdict.MALFORMED, f"the answer has {answer.size} bytes", None
        try:
            move = self.game.parse_answer(answer.data.decode("ascii"), self.position.to_move)
            self.position.play(move)
        except UnicodeDecodeError as error:
            return (
                Verdict.MALFORMED,
                f"byte {error.start} of the answer is {answer.data[error.start]:#04x}, no character of a move",
                None,
            )
        except TextError as error:
            return Verdict.MALFORMED, str(error), None
        except IllegalMoveError as error:
            return Verdict.ILLEGAL, str(error), None
        return Verdict.OK, "", move

    def take(self, turn: Turn) -> None:
        """Let a turn happen. Raises RuleError where it is not the turn's time, or its move is
        illegal."""
        if (turn.ply, turn.seat) != (self.position.ply, self.position.to_move):
            raise RuleError(
                f"a turn of seat {turn.seat} at ply {turn.ply}, where seat {self.position.to_move} has ply {self.position.ply}"
            )
        if turn.move is not None:
            self.position = self.position.play(turn.move)
            return
        self.position = self.position.lose_turn()
        self.lost[turn.seat] += 1
        if self.header.disqualify:
            self.disqualified.add(turn.seat)

    def result(self) -> Result:
        """The standing by the present position."""
        scores = self.position.scores()
        place = places(scores, lower_wins=self.game.info.lower_wins, out=self.disqualified)
        out = tuple(sorted(self.disqualified))
        return Result(
            self.position.ply,
            tuple(scores),
            tuple(place),
            tuple(shares(place)),
            tuple(self.lost),
            out,
        )
