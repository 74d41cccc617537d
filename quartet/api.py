"""The Python API: `quartet.game(NAME)` returns a `Game`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from core.engine import options_of
from core.errors import QuartetError, UnknownNameError
from core.rules import GameInfo, Move, Position
from quartet import registry
from quartet.judge import game as games
from quartet.judge.logs.check import check
from quartet.judge.logs.checked import CheckedLog
from quartet.judge.match import Match
from quartet.judge.seats import seating
from quartet.judge.seats.engine import fast_rules
from quartet.judge.seats.players import EMPTY_SEAT, PlayerSpec
from quartet.judge.seats.seating import SeatSetup
from quartet.judge.table import table_rules
from quartet.review.document import Review

if TYPE_CHECKING:
    from core.engine import Engine, Option, Searcher


class Game:
    """A game.

    Attributes:
        name: Its name.
        info: Its data sheet: players, protocol, options of the rules.
    """

    def __init__(self, name: str) -> None:
        """Load a game. Raises UnknownNameError if there is none of that name."""
        self.name = name
        self._known = games.load(name)
        self.info: GameInfo = self._known.info

    @property
    def players(self) -> tuple[str, ...]:
        """Names of the usual built-in players; "bot" is the engine. Raises NotBuiltError."""
        return tuple(registry.load(self.name, "players").NAMES)

    def start(self, seed: int = 0, **options: bool | int) -> Position:
        """Return the start of a game, by the fast rules.

        Args:
            seed: Seed of a random start.
            options: Variants of the rules, by the names in `info.options`.

        Raises:
            UnknownNameError: There is no such option.
        """
        self._check(options)
        return cast("Position", fast_rules(self.name).start(seed, **options))

    def parse(self, text: str, **options: bool | int) -> Position:
        """Return the position that a text describes, in the form of `Position.text`.

        Args:
            text: The text.
            options: As for `start`.

        Raises:
            TextError: The text describes no position.
            UnknownNameError: There is no such option, or it is for the start of a game.
        """
        self._check(options, parsed=True)
        return cast("Position", fast_rules(self.name).parse(text, **options))

    def _check(self, options: Iterable[str], *, parsed: bool = False) -> None:
        known = [n for n, option in self.info.options.items() if not (parsed and option.of_start)]
        for name in set(options) - set(known):
            listed = ", ".join(known) or "none"
            raise UnknownNameError(f"{self.name} has no option {name} here; there are: {listed}")

    def write(self, move: Move, position: Position) -> str:
        """Return a move in a position in the judge's notation."""
        return games.scene(self.name).write(move, self._plain(position))

    def read(self, text: str, position: Position) -> Move:
        """Return the move that a text in the judge's notation names, legal or not. Raises
        TextError."""
        return games.scene(self.name).read(text, self._plain(position))

    def engine(self, **options: Any) -> Engine[Any]:
        """Return a new engine of the game: the player "bot".

        Args:
            options: Options by the names in `engine_options`: numbers, bool, or for a file its path
                or its content as bytes.

        Raises:
            NotBuiltError: The game's compiled modules are missing.
            UnknownNameError: There is no such option.
            TextError: An option has no such value.
        """
        made = self.player("bot")
        return cast("Engine[Any]", type(made)(**options) if options else made)

    @property
    def engine_options(self) -> tuple[Option, ...]:
        """Options of `engine`. Raises NotBuiltError."""
        return options_of(self.player("bot"))

    def player(self, name: str, seed: int = 0) -> Searcher[Any]:
        """Return a built-in player.

        Args:
            name: A name of `players`, with or without options: "bot:exploration=0.8".
            seed: Seed of its random choices.

        Raises:
            UnknownNameError: There is no such player, or no such option.
            TextError: An option has no such value.
            NotBuiltError: The game's compiled modules are missing.
        """
        try:
            return cast("Searcher[Any]", registry.load(self.name, "players").player(name, seed))
        except ModuleNotFoundError as error:  # players import their engines late
            raise registry.not_built(error) from error

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
            players: A player for every seat, with or without options; "none" for an empty seat.
            seed: Seed of the start and of random choices.
            ms: Clock of each player in milliseconds, for a move or for the game, as the judge has
                it.
            nodes: Nodes per search. Without clock and nodes engines search to their default depth.
            position: A start as text.
            options: Variants of the rules.

        Returns:
            The match, with `turns`, `position` and `result`.

        Raises:
            QuartetError: The players do not fit the game, or the clock is not positive.
        """
        if ms is not None and not 0 < ms < math.inf:
            raise QuartetError(f"a clock must be positive and finite, not {ms} ms")
        start = games.Start(seed, options, position)
        seats = [
            None
            if name == EMPTY_SEAT
            else seating.engine_seat(
                self._known,
                SeatSetup(PlayerSpec.built_in(self.name, name), ms=ms, nodes=nodes, seed=seed),
            )
            for name in players
        ]
        names = [None if name == EMPTY_SEAT else name for name in players]
        table = table_rules(self.info, ms=[ms] * self.info.players)
        rules = fast_rules(self.name) if EMPTY_SEAT not in players else None
        with Match(self._known, seats, names, table, start, rules=rules) as match:
            match.play_out()
        return match

    def check(self, log: bytes | str | Path) -> CheckedLog:
        """Check a log of the judge, or a JSON Lines log, against the rules.

        Args:
            log: Its content as bytes, or the path of its file.

        Raises:
            QuartetError: The file cannot be read.
        """
        return check(self._known, _content(log))

    def review(
        self, log: bytes | str | Path, nodes: int | None = None, candidates: int = 3
    ) -> Review:
        """Review a log as `quartet review` does: evaluate what every move has lost.

        Args:
            log: Its content as bytes, or the path of its file.
            nodes: Nodes per search; None for the nodes of the calibration.
            candidates: Number of best moves that are listed for a move that lost 0.05 or more.

        Raises:
            QuartetError: The file cannot be read, or the log cannot be reviewed.
        """
        from quartet.review import reviewing, work  # noqa: PLC0415  (lazy)

        name = "" if isinstance(log, bytes) else str(log)
        found = reviewing.review(
            work.LogTask(
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

    def _plain(self, position: Position) -> Any:
        """Return the position by the reference rules, which scenes are made of."""
        plain = self._known.position
        if isinstance(position, plain):
            return position
        return plain.parse(position.text())


def _content(log: bytes | str | Path) -> bytes:
    """Return the content of a log. Raises QuartetError if its file cannot be read."""
    if isinstance(log, bytes):
        return log
    try:
        return Path(log).read_bytes()
    except OSError as error:
        raise QuartetError(f"cannot read {log}: {error.strerror}") from error
