"""A game from Python: what `quartet.game(NAME)` gives. The command line uses it, too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from core.engine import options_of
from core.errors import QuartetError
from quartet import registry
from quartet.judge import game as games
from quartet.judge.game import Start
from quartet.judge.logs.check import check
from quartet.judge.match import Match
from quartet.judge.seats import players as seating
from quartet.judge.seats.engine import fast_rules
from quartet.judge.seats.players import NOBODY, Player
from quartet.judge.table import table_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.engine import Engine, Option, Searcher
    from core.rules import GameInfo, Move, Position
    from core.scene import SceneModule
    from quartet.judge.logs.check import CheckedLog
    from quartet.review.document import Review


class Game:
    """A game of the registry.

    Attributes:
        name: str.
        info: GameInfo; how many play, how the judge speaks, options of the rules.
    """

    def __init__(self, name: str) -> None:
        """Raises UnknownNameError where there is no such game."""
        self.name = name
        self._known = games.load(name)
        self.info: GameInfo = self._known.info

    @property
    def players(self) -> tuple[str, ...]:
        """Names of built-in players, "bot" for the engine. Raises NotBuiltError."""
        return tuple(registry.load(self.name, "players").NAMES)

    def start(self, seed: int = 0, **options: bool | int) -> Position:
        """The position that a game starts from, on the fast rules.

        Args:
            seed: int; chooses it where chance does.
            options: variants of the rules, by the names in `info.options`.
        """
        return cast("Position", fast_rules(self.name).start(seed, **options))

    def parse(self, text: str, **options: bool | int) -> Position:
        """The position that a text describes, in the form that `Position.text` gives.

        Raises:
            TextError: it describes none.
        """
        return cast("Position", fast_rules(self.name).parse(text, **options))

    def write(self, move: Move, position: Position) -> str:
        """A move of a position in the notation of the game's judge."""
        return self._scene.write(move, self._plain(position))

    def read(self, text: str, position: Position) -> Move:
        """The move that a text in the judge's notation names, legal or not. Raises TextError."""
        return self._scene.read(text, self._plain(position))

    def engine(self, **options: Any) -> Engine[Any]:
        """A new engine of the game: the player "bot".

        Args:
            options: as `engine_options` has them: numbers, bool, or for a file its path or its
                content as bytes.

        Raises:
            NotBuiltError: the game's compiled modules are missing.
            UnknownNameError: there is no option of a name.
            TextError: an option has no such value.
        """
        made = self.player("bot")
        return cast("Engine[Any]", type(made)(**options) if options else made)

    @property
    def engine_options(self) -> tuple[Option, ...]:
        """The options of `engine`. Raises NotBuiltError."""
        return options_of(self.player("bot"))

    def player(self, name: str, seed: int = 0) -> Searcher[Any]:
        """A built-in player.

        Args:
            name: str; as in `players`, with or without options: "bot:exploration=0.8".
            seed: int; of its random choices.

        Raises:
            UnknownNameError: there is none of that name, or it has no such option.
            TextError: an option has no such value.
        """
        return cast("Searcher[Any]", registry.load(self.name, "players").player(name, seed))

    def play(
        self,
        players: Sequence[str],
        *,
        seed: int = 0,
        ms: float | None = None,
        nodes: int | None = None,
        position: str | None = None,
        **options: bool | int,
    ) -> Match:
        """Play a game between built-in players in this process.

        Args:
            players: Sequence[str]; a name for every seat, with or without options, "none" for an
                empty one.
            seed: int; of the start and of random choices.
            ms: float | None; the clock of each, as the judge runs it: for a move or for the game.
            nodes: int | None; of every search. Without clock and nodes engines search as far as
                they do by themselves.
            position: str | None; a start as text.
            options: variants of the rules.

        Returns:
            The match: `turns`, `position` and `result`.

        Raises:
            QuartetError: the players do not fit the game.
        """
        start = Start(seed, options, position)
        seats = [
            None
            if name == NOBODY
            else seating.engine_seat(self._known, Player(name, ms=ms, nodes=nodes, seed=seed))
            for name in players
        ]
        names = [None if name == NOBODY else name for name in players]
        table = table_rules(self.info, ms=[ms] * self.info.players)
        rules = fast_rules(self.name) if NOBODY not in players else None
        with Match(self._known, seats, names, table, start, rules=rules) as match:
            match.play_out()
        return match

    def check(self, log: bytes | str | Path) -> CheckedLog:
        """Check a log, the judge's or ours, against the rules.

        Args:
            log: bytes, its content; or the path of its file.

        Raises:
            QuartetError: the file cannot be read.
        """
        return check(self._known, _content(log))

    def review(
        self, log: bytes | str | Path, nodes: int | None = None, candidates: int = 3
    ) -> Review:
        """Find out what every move of a log lost, as `quartet review` does.

        Args:
            log: bytes, its content; or the path of its file.
            nodes: int | None; of every search, None for those of the calibration.
            candidates: int; moves that are named where the one played was not good.

        Raises:
            QuartetError: the file cannot be read, or the log cannot be reviewed.
        """
        from quartet.review.work import Unit  # noqa: PLC0415  (lazy)
        from quartet.review.worker import reviewed  # noqa: PLC0415

        name = "" if isinstance(log, bytes) else str(log)
        found = reviewed(
            Unit(
                number=0,
                game=self.name,
                name=name,
                data=_content(log),
                nodes=nodes,
                candidates=candidates,
            )
        )
        if found.complaint:
            raise QuartetError(found.complaint)
        return found

    @property
    def _scene(self) -> SceneModule:
        return cast("SceneModule", registry.load(self.name, "scene"))

    def _plain(self, position: Position) -> Any:
        """The position on the reference rules, whose scenes are told."""
        plain = self._known.position
        if isinstance(position, plain):
            return position
        return plain.parse(position.text())


def _content(log: bytes | str | Path) -> bytes:
    """The content of a log. Raises QuartetError where its file cannot be read."""
    if isinstance(log, bytes):
        return log
    try:
        return Path(log).read_bytes()
    except OSError as error:
        raise QuartetError(f"cannot read {log}: {error.strerror}") from error
