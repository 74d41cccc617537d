"""The contract of players: what every built-in player does, what it can do beside and declares, and
the options that it takes.

Agents import this module at their start, so it imports nothing slow.
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

# What a player can do: it declares a set of these names as CAPABILITIES. Each but MULTIPV is the
# name of a method, see Capable.

STOP = "stop"
"""`choose` takes a third argument, `report`; `stop` ends a search that runs in another thread."""
FORGET = "forget"
"""`forget` begins a new game."""
PACE = "pace"
"""`pace` says for how many moves a clock is to last."""
OBSERVE = "observe"
"""`observe` is told what the others play."""
CANDIDATES = "candidates"
"""`candidates` gives the moves of the last search with what it found of each."""
VISITS = "visits"
"""`visits` says how often the last search tried each move."""
EXPECTATION = "expectation"
"""`expectation` says what every seat may expect."""
SOLVE = "solve"
"""`solve` gives the value of a position under best play."""
MULTIPV = "multipv"
"""`choose` heeds `Limits.multipv`: it reports the best N lines, by their `rank`."""

CAPABILITIES = {
    STOP: "reports while it searches, and can be stopped",
    FORGET: "can begin a new game",
    PACE: "divides a clock by itself",
    OBSERVE: "learns from what the others play",
    CANDIDATES: "lists candidate moves",
    VISITS: "says how often it tried each move",
    EXPECTATION: "says what every seat may expect",
    SOLVE: "solves endings",
    MULTIPV: "shows several lines",
}
"""All of them, with what they mean in a few words."""
NO_UNIT = "points of its own"
"""The unit of the scores of a player that declares none."""


if TYPE_CHECKING:

    class Searcher(Protocol[PositionT_contra]):
        """What every built-in player can do, over one game's positions.

        It may declare, as attributes of its class:

            CAPABILITIES: frozenset[str]; what it can do beside. None of them where it has no such
                attribute. Tools ask `can`, and never look for methods.
            SCORE_UNIT: str; what `SearchInfo.score` counts, in a few words, for the side to move.
            OPTIONS: tuple[Option, ...]; what its constructor takes by keyword.
        """

        def choose(self, position: PositionT_contra, limits: Limits) -> SearchInfo:
            """The best move found within the limits. Raises RuleError when the position has no move
            at all."""

    class Engine(Searcher[PositionT_contra], Protocol[PositionT_contra]):
        """What the engine of every game can do and declares: at least STOP and FORGET."""

        CAPABILITIES: frozenset[str]
        SCORE_UNIT: str
        OPTIONS: tuple[Option, ...]

        def choose(
            self,
            position: PositionT_contra,
            limits: Limits,
            report: Callable[[SearchInfo], None] | None = None,
        ) -> SearchInfo:
            """The best move found within the limits.

            Args:
                position: Position; of the game's fast rules. It is left alone.
                limits: Limits.
                report: called with every better outcome on the way, in the thread of the search.
                    With MULTIPV and `limits.multipv` above 1, with every line, the best first.

            Returns:
                SearchInfo; of the best line.

            Raises:
                RuleError: the position has no move at all.
            """

        def stop(self) -> None:
            """End the search that runs in another thread, within some milliseconds: it returns what
            it has found. A search that is just beginning may not hear it, so repeat it."""

        def forget(self) -> None:
            """Begin a new game: what follows is what a new player would do."""

    class Capable(Engine[Any], Protocol):
        """A player that can do everything. One that has a capability has the method of that
        name."""

        def pace(self, position: Any) -> float:
            """What is left of a clock for the whole game is divided by so much for the move at this
            position; at least 1."""

        def observe(self, position: Any, move: Move) -> None:
            """Somebody else has made this legal move. Who lives for a whole game tells it every
            move of the others. It takes less than a millisecond."""

        def candidates(self) -> list[dict[str, Any]]:
            """For every move that the last search considered, the best first: the move under
            "move", and under other names whatever the player knows of it. Empty where it did not
            search."""

        def visits(self) -> list[tuple[Move, int]]:
            """How often the last search tried each move, the most first, without those it never
            tried. Empty where it did not search."""

        def expectation(self) -> tuple[float, ...] | None:
            """Every seat's share of the win as the last search saw it, adding up to 1; None where
            it did not search."""

        def solve(self, position: Any, nodes: int) -> int | None:
            """What the position is worth to the side to move when both play best: in points where
            they count, else 1 for a win, 0 for a draw, -1 for a loss.

            None where more nodes would be needed, or chance is not over.
            """


def can(player: object, capability: str) -> TypeGuard[Capable]:
    """Whether a player, or its class, declares a capability."""
    return capability in getattr(player, "CAPABILITIES", ())


def score_unit(player: object) -> str:
    """What a player's scores count."""
    unit: str = getattr(player, "SCORE_UNIT", NO_UNIT)
    return unit


def options_of(player: object) -> tuple[Option, ...]:
    """The options that a player, or its class, declares."""
    options: tuple[Option, ...] = getattr(player, "OPTIONS", ())
    return options


# Options.

ON = ("on", "true", "yes", "1")
OFF = ("off", "false", "no", "0")
"""How a switch is written."""


class Option:
    """An option of a player.

    Attributes:
        name: str; of the constructor's keyword.
        kind: type; int, float, bool, or str for a file: its path, or its content as bytes.
        default: int | float | bool | str; an empty path is the package's own file.
        help: str; one line, with the unit.
        least: float; most: float; the range of a number, both included.
    """

    __slots__ = ("default", "help", "kind", "least", "most", "name")

    def __init__(
        self,
        name: str,
        kind: type,
        default: float | str,
        help: str,  # noqa: A002  (as in click and argparse)
        least: float = 0,
        most: float = 0,
    ) -> None:
        self.name = name
        self.kind = kind
        self.default = default
        self.help = help
        self.least = least
        self.most = most

    @property
    def type_name(self) -> str:
        """Its type in a word."""
        return {int: "integer", float: "number", bool: "switch"}.get(self.kind, "file")

    @property
    def range(self) -> str:
        """What it takes, in words."""
        if self.kind is bool:
            return "on, off"
        if self.kind is str:
            return "a path"
        return f"{self.least:g} .. {self.most:g}"

    def text(self, value: Any) -> str:
        """A value as `read` takes it."""
        if self.kind is bool:
            return ON[0] if value else OFF[0]
        return f"{value:g}" if isinstance(value, float) else str(value)

    def read(self, text: str) -> Any:
        """The value that a text says. Raises TextError."""
        if self.kind is str:
            return text
        try:
            if self.kind is bool:
                return {**dict.fromkeys(ON, True), **dict.fromkeys(OFF, False)}[text.lower()]
            return self.check(self.kind(text))
        except (ValueError, LookupError):
            raise self._refusal(text) from None

    def check(self, value: Any) -> Any:
        """The value, if it is one of this option. Raises TextError."""
        if self.kind is str:
            return value
        if self.kind is bool:
            if isinstance(value, bool):
                return value
        elif (
            isinstance(value, (int, float) if self.kind is float else int)
            and not isinstance(value, bool)
            and self.least <= value <= self.most
        ):
            return self.kind(value)
        raise self._refusal(value)

    def _refusal(self, value: object) -> TextError:
        wanted = {int: "an integer", float: "a number", bool: "on or off"}[self.kind]
        if self.kind is not bool:
            wanted += f" from {self.least:g} to {self.most:g}"
        return TextError(f"{self.name} takes {wanted}, not {str(value)[:40]!r}")


def settled(options: Sequence[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of all options: those that were given, else the defaults.

    Raises:
        UnknownNameError: there is no option of a name that was given.
        TextError: a value is not one of its option.
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
    """Names, for a message."""
    return ", ".join(names) or "none"


def parse_player(text: str) -> tuple[str, dict[str, str]]:
    """A player's name and its options, of NAME or NAME:OPTION=VALUE,OPTION=VALUE.

    A name may have colons of its own, and a value anything but a comma. Raises TextError where
    something is no option, or is given twice.
    """
    before, equals, _ = text.partition("=")
    name, colon, _ = before.rpartition(":")
    if not (equals and colon):
        return text, {}
    found: dict[str, str] = {}
    for part in text[len(name) + 1 :].split(","):
        option, equals, value = part.partition("=")
        if not (option and equals) or option in found:
            fault = "is given twice" if option in found else "is no option: write OPTION=VALUE"
            raise TextError(f"{text[:80]!r}: {part[:40]!r} {fault}")
        found[option] = value
    return name, found


def write_player(name: str, settings: Mapping[str, str]) -> str:
    """The text of a player with these options, for `parse_player`."""
    if not settings:
        return name
    return f"{name}:{','.join(f'{option}={value}' for option, value in settings.items())}"


def configured(text: str, maker: Callable[[str], Callable[..., PlayerT]]) -> PlayerT:
    """The player that a text names, with its options; every game's `players.player` is this.

    Args:
        text: str; NAME or NAME:OPTION=VALUE,OPTION=VALUE.
        maker: gives for a name what makes its player: a class that declares OPTIONS, or anything
            that takes none. Raises UnknownNameError.

    Raises:
        UnknownNameError: there is no such player, or no such option of it.
        TextError: a value or a file is not one of its option.
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
