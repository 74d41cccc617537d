"""Line-protocol games for the tests, and a minimal judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from core.agent.lines import CLOCK, Agent
from core.messages import Drew, Entry, Finish, Init, Message, Opponent, Ply, Ready, Score, YourTurn
from quartet import registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.engine import Searcher
    from core.rules import ChancePosition, GameInfo, LineProtocol, Move, Position

NAMES = [name for name in registry.GAMES if registry.load(name, "reference").INFO.lines is not None]


class LineReader(Protocol):
    """A program, or an agent in this process."""

    def hear(self, line: str) -> str | None:
        """Receive a line; return the answer, if one is due."""
        ...


@dataclass(frozen=True)
class LineGame:
    """The parts of a game that a judge needs, and its players."""

    name: str
    info: GameInfo
    protocol: LineProtocol
    rules: type[Position]
    pass_move: Move
    player: Callable[[str, int | None], Searcher[Any]]

    @property
    def init(self) -> bool:
        """Return True if the judge describes the start."""
        assert self.info.lines is not None
        return self.info.lines.init

    def agent(
        self,
        name: str = "greedy",
        seed: int = 1,
        player: Searcher[Any] | None = None,
        clock: Callable[[], float] = CLOCK,
    ) -> Agent:
        """Return the agent that `python -m` would run."""
        anywhere = self.pass_move if self.pass_move in self.rules.start().legal() else None
        reveal = cast("type[ChancePosition]", self.rules).reveal if self.info.chance else None
        return Agent(
            self.protocol,
            self.rules,
            player or self.player(name, seed),
            init=self.init,
            reveal=reveal,
            anywhere=anywhere,
            clock=clock,
        )


def load(name: str) -> LineGame:
    """Return the game of that name."""
    reference, protocol, players = (
        registry.load(name, part) for part in ("reference", "protocol", "players")
    )
    return LineGame(
        name,
        reference.INFO,
        cast("LineProtocol", protocol),
        reference.Position,
        reference.PASS,
        players.player,
    )


def judge(
    game: LineGame,
    programs: tuple[LineReader, LineReader],
    seed: int = 1,
    plies: int = 1000,
    lost: int = 1,
) -> list[str]:
    """Play a game of at most `plies` plies through the protocol; return the log's lines. Each ply
    takes `lost` milliseconds of both clocks.

    Raises TextError and IllegalMoveError for an illegal answer.
    """
    position = game.rules.start(seed)
    log: list[str] = []

    def record(entry: Entry) -> None:
        line = game.protocol.format_entry(entry)
        assert line is not None
        log.append(line)

    def say(seat: int, message: Message) -> str | None:
        return programs[seat].hear(game.protocol.format_message(message, seat))

    record(Init(position.text()))
    for seat in (0, 1):
        game.protocol.check_ready(say(seat, Ready(seat)) or "")
        assert not game.init or say(seat, Init(position.text())) is None
    while not position.over and position.ply < plies:
        seat = position.to_move
        move = game.protocol.parse_answer(
            say(seat, YourTurn(10000 - lost * position.ply, 10000)) or "", seat
        )
        position = position.play(move)
        drawn = cast("ChancePosition", position).drawn if game.info.chance else None
        assert not game.info.chance or say(seat, Drew(drawn)) is None
        assert say(1 - seat, Opponent(move, drawn, 1)) is None
        record(Ply(seat, move, drawn, 1))
    for seat in (0, 1):
        assert say(seat, Finish()) is None
    record(Finish())
    for seat, score in enumerate(position.scores()):
        record(Score(seat, score or 0))
    return log
