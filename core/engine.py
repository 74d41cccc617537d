"""The contract of players: the methods and capabilities of built-in players, and their options.

Agents import this module when they start, so it imports nothing slow.
"""

from __future__ import annotations

from core.errors import TextError, UnknownNameError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Protocol, TypeGuard, TypeVar

    from core.limits import Limits, SearchInfo
    from core.rules import Move

    PositionT_contra = TypeVar("PositionT_contra", contravariant=True)
    PlayerT = TypeVar("PlayerT")

# A player declares a set of these names as CAPABILITIES. Each name but MULTIPV is the name of a
# method, see Capable.

STOP = "stop"
"""`choose` takes a third argument, `report`; `stop` ends a search in another thread."""
NEW_GAME = "new_game"
"""`new_game` forgets all previous games (UCI's ucinewgame)."""
MOVES_TO_GO = "moves_to_go"
"""`moves_to_go` returns the number of moves for which a game clock must last (UCI's movestogo)."""
OBSERVE = "observe"
"""`observe` takes the moves of the other players."""
CANDIDATES = "candidates"
"""`candidates` returns the moves of the last search with their figures."""
VISITS = "visits"
"""`visits` returns the number of visits of each move in the last search."""
EXPECTATION = "expectation"
"""`expectation` returns each seat's expected win share."""
SOLVE = "solve"
"""`solve` returns the value of a position under best play."""
MULTIPV = "multipv"
"""`choose` obeys `Limits.multipv`: it reports the best N lines, numbered by `rank`."""

CAPABILITIES = {
    STOP: "reports during the search, and can be stopped",
    NEW_GAME: "can forget previous games",
    MOVES_TO_GO: "divides a game clock itself",
    OBSERVE: "learns from the other players' moves",
    CANDIDATES: "lists candidate moves",
    VISITS: "counts the visits of each move",
    EXPECTATION: "estimates each seat's win share",
    SOLVE: "solves endings",
    MULTIPV: "shows several lines",
}
"""All capabilities, each with a short description."""
NO_UNIT = "points of its own"
"""Unit of the scores of a player that declares none."""


if TYPE_CHECKING:

    class Searcher(Protocol[PositionT_contra]):
        """A built-in player of one game.

        Its class may declare:
            CAPABILITIES: Set of capability names [default: none]. Tools call `can`, and never look
                for methods.
            SCORE_UNIT: What `SearchInfo.score` counts for the side to move, in a few words.
            OPTIONS: Keyword arguments of the constructor.
        """

        def choose(self, position: PositionT_contra, limits: Limits) -> SearchInfo:
            """Return the best move found within the limits. Raises RuleError if the game is
            over."""

    class Engine(Searcher[PositionT_contra], Protocol[PositionT_contra]):
        """The engine of a game. It has at least STOP and NEW_GAME."""

        CAPABILITIES: frozenset[str]
        SCORE_UNIT: str
        OPTIONS: tuple[Option, ...]

        def choose(
            self,
            position: PositionT_contra,
            limits: Limits,
            report: Callable[[SearchInfo], None] | None = None,
        ) -> SearchInfo:
            """Return the best line found within the limits.

            Args:
                position: Position of the game's fast rules; left unchanged.
                limits: Any combination of bounds.
                report: Called in the searching thread with each better result. With MULTIPV and
                    `limits.multipv` above 1, called with each line, the best first.

            Raises:
                RuleError: The game is over.
            """

        def stop(self) -> None:
            """End a search that runs in another thread; it returns its result within milliseconds.
            A search that is just starting may miss the call, so repeat it."""

        def new_game(self) -> None:
            """Forget all previous games: behave as a new player would."""

    class Capable(Engine[Any], Protocol):
        """A player with every capability; each capability is the name of its method."""

        def moves_to_go(self, position: Any) -> float:
            """Return the divisor of the remaining game clock for a move in this position; at least
            1."""

        def observe(self, position: Any, move: Move) -> None:
            """Take a legal move of another player, in less than a millisecond. A persistent process
            passes every such move of a game."""

        def candidates(self) -> list[dict[str, Any]]:
            """Return a dictionary for each move of the last search, the best first: the move under
            "move", and whatever else the player knows of it. [] if no search ran."""

        def visits(self) -> list[tuple[Move, int]]:
            """Return the visited moves of the last search with their numbers of visits, the most
            first. [] if no search ran."""

        def expectation(self) -> tuple[float, ...] | None:
            """Return each seat's win share as the last search estimated it; the sum is 1. None if
            no search ran."""

        def solve(self, position: Any, nodes: int) -> int | None:
            """Return the value for the side to move if both sides play best: in points if the
            game counts points, else 1 for a win, 0 for a draw, -1 for a loss.

            None if `nodes` are too few, or if draws are still to come.
            """


def can(player: object, capability: str) -> TypeGuard[Capable]:
    """Return True if a player, or its class, declares a capability."""
    return capability in getattr(player, "CAPABILITIES", ())


def score_unit(player: object) -> str:
    """Return the unit of a player's scores, in a few words."""
    unit: str = getattr(player, "SCORE_UNIT", NO_UNIT)
    return unit


def options_of(player: object) -> tuple[Option, ...]:
    """Return the options that a player, or its class, declares."""
    options: tuple[Option, ...] = getattr(player, "OPTIONS", ())
    return options


# Options of players.

ON = ("on", "true", "yes", "1")
OFF = ("off", "false", "no", "0")
"""Spellings of a switch."""


class Option:
    """An option of a player.

    Attributes:
        name: The constructor's keyword.
        kind: int, float, bool, or str for a file (its path, or its content as bytes).
        default: Default value; an empty path is the package's own file.
        help: Effect and unit, in one line.
        minimum: Smallest value of a number.
        maximum: Greatest value of a number.
    """

    __slots__ = ("default", "help", "kind", "maximum", "minimum", "name")

    def __init__(
        self,
        name: str,
        kind: type,
        default: float | str,
        help: str,  # noqa: A002  (as in click and argparse)
        minimum: float = 0,
        maximum: float = 0,
    ) -> None:
        self.name = name
        self.kind = kind
        self.default = default
        self.help = help
        self.minimum = minimum
        self.maximum = maximum

    @property
    def type_name(self) -> str:
        """Its type, in one word."""
        return {int: "integer", float: "number", bool: "switch"}.get(self.kind, "file")

    @property
    def range(self) -> str:
        """Its valid values, in words."""
        if self.kind is bool:
            return "on, off"
        if self.kind is str:
            return "a path"
        return f"{self.minimum:g} .. {self.maximum:g}"

    def text(self, value: Any) -> str:
        """Return the text of a value, for `read`."""
        if self.kind is bool:
            return ON[0] if value else OFF[0]
        return f"{value:g}" if isinstance(value, float) else str(value)

    def read(self, text: str) -> Any:
        """Return the value of a text. Raises TextError."""
        if self.kind is str:
            return text
        try:
            if self.kind is bool:
                return {**dict.fromkeys(ON, True), **dict.fromkeys(OFF, False)}[text.lower()]
            return self.check(self.kind(text))
        except (ValueError, LookupError):
            raise self._refusal(text) from None

    def check(self, value: Any) -> Any:
        """Return the value if it is valid for this option. Raises TextError."""
        if self.kind is str:
            return value
        if self.kind is bool:
            if isinstance(value, bool):
                return value
        elif (
            isinstance(value, (int, float) if self.kind is float else int)
            and not isinstance(value, bool)
            and self.minimum <= value <= self.maximum
        ):
            return self.kind(value)
        raise self._refusal(value)

    def _refusal(self, value: object) -> TextError:
        wanted = {int: "an integer", float: "a number", bool: "on or off"}[self.kind]
        if self.kind is not bool:
            wanted += f" from {self.minimum:g} to {self.maximum:g}"
        return TextError(f"{self.name} takes {wanted}, not {str(value)[:40]!r}")


def settled(options: Sequence[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all options: the given ones, else the defaults.

    Raises:
        UnknownNameError: An option does not exist.
        TextError: A value is not valid for its option.
    """
    known = {option.name: option for option in options}
    for name in given:
        if name not in known:
            raise UnknownNameError(f"there is no option {name!r}; there are: {listed(known)}")
    return {
        name: option.check(given[name]) if name in given else option.default
        for name, option in known.items()
    }


def listed(names: Iterable[str]) -> str:
    """Return names as one text, for a message."""
    return ", ".join(names) or "none"


def parse_player(text: str) -> tuple[str, dict[str, str]]:
    """Split NAME or NAME:OPTION=VALUE,OPTION=VALUE into the name and the options.

    A name may contain colons, a value anything but a comma. Raises TextError if an option has no
    value, or is given twice.
    """
    before, equals, _ = text.partition("=")
    name, colon, _ = before.rpartition(":")
    if not (equals and colon):
        return text, {}
    found: dict[str, str] = {}
    for part in text[len(name) + 1 :].split(","):
        option, equals, value = part.partition("=")
        if not (option and equals) or option in found:
            reason = "is given twice" if option in found else "is not of the form OPTION=VALUE"
            raise TextError(f"{text[:80]!r}: {part[:40]!r} {reason}")
        found[option] = value
    return name, found


def write_player(name: str, settings: Mapping[str, str]) -> str:
    """Return the text of a player with these options, for `parse_player`."""
    if not settings:
        return name
    return f"{name}:{','.join(f'{option}={value}' for option, value in settings.items())}"


def configured(text: str, maker: Callable[[str], Callable[..., PlayerT]]) -> PlayerT:
    """Create the player that a text names; every game's `players.player` calls this.

    Args:
        text: NAME or NAME:OPTION=VALUE,OPTION=VALUE.
        maker: Returns the constructor of a name: a class that declares OPTIONS, or a function
            without options. Raises UnknownNameError.

    Raises:
        UnknownNameError: The player or one of the options does not exist.
        TextError: A value or a file is not valid for its option.
    """
    name, settings = parse_player(text)
    make = maker(name)
    options = {option.name: option for option in options_of(make)}
    for setting in settings:
        if setting not in options:
            raise UnknownNameError(
                f"{name} has no option {setting!r}; there are: {listed(options)}"
            )
    values = {setting: options[setting].read(value) for setting, value in settings.items()}
    try:
        return make(**values)
    except TextError as error:
        said = str(error)
        files = [value for setting, value in settings.items() if options[setting].kind is str]
        raise TextError(": ".join((*(file for file in files if file not in said), said))) from None
