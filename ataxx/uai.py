"""`python -m ataxx --uai`: the program for user interfaces and match tools of others.

RULES.md lists the commands. A search runs in its own thread, so that the program answers `stop` and
`isready` during it. A command that cannot be followed is answered by an `info string` line.
"""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ataxx.fen import START
from ataxx.players import NAMES, player
from ataxx.reference import PLIES
from ataxx.rules import Position
from ataxx.uai_text import NOTHING, format_uai, parse_uai
from core.agent.files import BAD_INPUT, complain
from core.agent.lines import CLOCK
from core.background import BackgroundSearch
from core.engine import (
    MOVES_TO_GO,
    MULTIPV,
    NEW_GAME,
    NO_UNIT,
    can,
    options_of,
    parse_player,
    score_unit,
    write_player,
)
from core.errors import QuartetError, TextError, UnknownNameError
from core.limits import Limits
from core.timeman import SHARE, game_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import BinaryIO

    from core.engine import Option, Searcher
    from core.limits import SearchInfo

OVERHEAD_MS = 5
"""Milliseconds of a move's time that are not searched: threads, pipes, the other side's clock."""
INCREMENT_SHARE = 0.8
"""Part of an increment that is added to the move's share of the clock."""
ENDLESS_PLIES = 19_999
"""Ply limit of a game that continues beyond ours; the fast rules allow no higher one."""
ENDLESS_DEPTH = 1000
"""Depth limit of an endless search; without any limit an engine sets its own."""
NUMBERS = ("movetime", "wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "perft")
"""Words of `go` that take a number; times are in milliseconds. By UAI's convention b is x, who
moves first, and w is o."""
FLAGS = ("infinite", "ponder")


OPTIONS = {
    "Threads": (1, 1, 1),
    "MultiPV": (1, 1, 64),
    "MoveOverhead": (OVERHEAD_MS, 0, 10000),
    "HalfmoveLimit": (0, 0, 1000),
    "PlyLimit": (PLIES, 1, ENDLESS_PLIES),
}
"""Options in addition to the player's own: default, minimum, maximum. MultiPV is offered if the
player shows several lines. Threads is fixed at 1."""
NO_VALUE = "<empty>"
"""UAI's text for an empty string."""


class UaiProgram:
    """The state of the program: options, position and the running search."""

    def __init__(
        self, make_player: Callable[[Mapping[str, str]], Searcher[Any]], say: Callable[[str], None]
    ) -> None:
        """Prepare the program.

        Args:
            make_player: Makes a player with these options, as texts.
            say: Prints a line; it is called from two threads.
        """
        self._make_player = make_player
        self._say = say
        self._options = {name: default for name, (default, _, _) in OPTIONS.items()}
        self._settings: dict[str, str] = {}
        self._player = make_player({})
        self._start: tuple[str, Sequence[str]] = (START, ())
        self._position = self._read(START, ())
        self._search: BackgroundSearch | None = None
        self._released = threading.Event()

    def hear(self, line: str) -> bool:
        """Follow a command, and return False after `quit`. It never raises an exception."""
        word, *words = line.split() or [""]
        if word in ("", "quit"):
            self._stop()
            return word != "quit"
        try:
            follow = getattr(self, f"_on_{word}", None) if word.isalpha() else None
            if follow is None:
                self._complain(f"there is no command {word[:40]!r}")
            else:
                follow(words)
        except QuartetError as error:
            self._complain(str(error))
        except Exception as error:  # noqa: BLE001  (a bug here must not end the program)
            self._complain(f"internal error: {type(error).__name__}: {error}")
        return True

    # Commands

    def _on_uai(self, words: Sequence[str]) -> None:  # noqa: ARG002
        self._say("id name quartet")
        self._say("id author quartet")
        for option in options_of(self._player):
            self._say(option_line(option))
        for name, (default, least, most) in OPTIONS.items():
            if name != "MultiPV" or can(self._player, MULTIPV):
                self._say(f"option name {name} type spin default {default} min {least} max {most}")
        if score_unit(self._player) != NO_UNIT:
            self._say(f"info string a score of 1 cp is {score_unit(self._player)}")
        self._say("uaiok")

    def _on_isready(self, words: Sequence[str]) -> None:  # noqa: ARG002
        self._say("readyok")

    def _on_setoption(self, words: Sequence[str]) -> None:
        self._await_search()
        given, _, value = " ".join(words).removeprefix("name ").partition(" value ")
        wanted = given.strip().lower()
        own = {option.name.lower(): option for option in options_of(self._player)}
        if wanted in own:
            self._set_own(own[wanted], value)
            return
        name = next((name for name in OPTIONS if name.lower() == wanted), None)
        if name is None:
            raise TextError(f"there is no option {given[:40]!r}")
        _, least, most = OPTIONS[name]
        if not (is_number(value) and least <= int(value) <= most):
            raise TextError(f"{name} takes a number from {least} to {most}, not {value[:40]!r}")
        self._options[name] = int(value)
        self._position = self._read(*self._start)

    def _set_own(self, option: Option, value: str) -> None:
        """Set an option of the player by making a new player. Raises TextError."""
        settings = {**self._settings, option.name: "" if value == NO_VALUE else value}
        option.read(settings[option.name])
        self._player = self._make_player(settings)
        self._settings = settings

    def _on_uainewgame(self, words: Sequence[str]) -> None:  # noqa: ARG002
        self._await_search()
        if can(self._player, NEW_GAME):
            self._player.new_game()

    def _on_position(self, words: Sequence[str]) -> None:
        self._await_search()
        before, _, after = " ".join(words).partition(" moves")
        kind, _, fen = before.partition(" ")
        if kind == "startpos":
            fen = START
        elif kind != "fen":
            raise TextError(f"a position is startpos or fen, not {kind[:40]!r}")
        start = fen, tuple(after.split())
        self._position = self._read(*start)
        self._start = start

    def _on_go(self, words: Sequence[str]) -> None:
        self._await_search()
        heard = CLOCK()
        wanted = self._parse_go(words)
        if "perft" in wanted:
            self._perft(wanted["perft"])
            return
        if self._position.over:
            self._complain("the game is over")
            self._say(f"bestmove {NOTHING}")
            return
        limits = self._limits(wanted, heard)
        position = self._position
        self._released = threading.Event()
        if limits.deadline is None and limits.nodes is None and limits.depth is None:
            limits = Limits(depth=ENDLESS_DEPTH, multipv=limits.multipv)
        else:
            self._released.set()

        def tell(info: SearchInfo) -> None:
            self._say(info_line(info, several=limits.multipv > 1))

        def tell_move(found: SearchInfo | None, error: Exception | None) -> None:
            if error is not None:
                self._complain(f"internal error: {type(error).__name__}: {error}")
            # an endless search prints its move only after `stop`
            self._released.wait()
            self._say(
                f"bestmove {format_uai(position.legal()[-1] if found is None else found.move)}"
            )

        self._search = BackgroundSearch(self._player, position, limits, tell, tell_move)

    def _on_stop(self, words: Sequence[str]) -> None:  # noqa: ARG002
        self._stop()

    # What they need

    def _stop(self) -> None:
        """End the search, if one is running, after it has printed its move."""
        self._released.set()
        if self._search is not None:
            self._search.stop()
            self._search = None

    def _await_search(self) -> None:
        """Wait for a search with a limit to end. Raises TextError if an endless one is running."""
        if self._search is not None and not self._search.over:
            if not self._released.is_set():
                raise TextError("a search is running; stop it first")
            self._search.wait()

    def _read(self, fen: str, moves: Sequence[str]) -> Position:
        """Return the position of a FEN, whose last two words may be missing, after moves.

        Raises TextError.
        """
        words = fen.split()
        if len(words) in (2, 3):
            words += ["0", "1"][len(words) - 2 :]
        options = {"plies": ENDLESS_PLIES, "halfmove_limit": self._options["HalfmoveLimit"]}
        position = Position.parse(" ".join(words), **options)
        if position.ply + len(moves) < self._options["PlyLimit"]:
            position = Position.parse(
                " ".join(words), **{**options, "plies": self._options["PlyLimit"]}
            )
        for text in moves:
            position = position.play(parse_uai(text, position))
        return position

    @staticmethod
    def _parse_go(words: Sequence[str]) -> dict[str, int]:
        """Parse the words after `go`. Other words are ignored next to a known limit. Raises
        TextError."""
        wanted: dict[str, int] = {}
        flags, unknown = False, ""
        rest = iter(words)
        for word in rest:
            if word in NUMBERS:
                number = next(rest, "")
                if not is_number(number.removeprefix("-")):
                    raise TextError(f"{word} takes a number, not {number[:40]!r}")
                wanted[word] = int(number)
            elif word in FLAGS:
                flags = True
            else:
                unknown = unknown or word
        if unknown and not wanted and not flags:
            raise TextError(f"go does not know {unknown[:40]!r}")
        return wanted

    def _limits(self, wanted: dict[str, int], heard: float) -> Limits:
        """Return the limits of a search that was requested at the time `heard`."""
        soft: list[float] = []
        hard: list[float] = []
        if "movetime" in wanted:
            hard.append(heard + max(1, wanted["movetime"] - self._options["MoveOverhead"]) / 1000)
        side = "bw"[self._position.to_move]
        if f"{side}time" in wanted:
            left = max(0, wanted[f"{side}time"] - self._options["MoveOverhead"]) / 1000
            moves_to_go = (
                self._player.moves_to_go(self._position)
                if can(self._player, MOVES_TO_GO)
                else SHARE
            )
            given = game_limits(
                heard, left, min(moves_to_go, wanted.get("movestogo") or moves_to_go)
            )
            extra = INCREMENT_SHARE * wanted.get(f"{side}inc", 0) / 1000
            if given.soft is not None and given.deadline is not None:
                soft.append(given.soft + extra)
                hard.append(min(given.deadline + extra, heard + left))
        return Limits(
            soft=min(soft, default=None),
            deadline=min(hard, default=None),
            nodes=wanted.get("nodes"),
            depth=wanted.get("depth"),
            multipv=self._options["MultiPV"],
        )

    def _perft(self, depth: int) -> None:
        count = 0
        for plies in range(1, depth + 1):
            started = CLOCK()
            count = self._position.perft(plies)
            seconds = max(CLOCK() - started, 1e-9)
            self._say(
                f"info depth {plies} nodes {count} time {seconds * 1000:.0f} nps "
                f"{count / seconds:.0f}"
            )
        self._say(f"nodes {count}")

    def _complain(self, text: str) -> None:
        self._say(f"info string {' '.join(text.split())}")


def is_number(word: str) -> bool:
    """Return True if a word is a natural number of at most 18 digits."""
    return word.isascii() and word.isdigit() and len(word) < 19


def info_line(info: SearchInfo, *, several: bool = False) -> str:
    """Return the `info` line of a search's result, with its rank if there are `several` lines.

    What UAI calls cp is the score in the unit that the player declares. For the engine that is
    1/260 of the logit of the win probability, so 260 means 73 %. It does not count cells.
    """
    line = " ".join(map(format_uai, info.pv or (info.move,)))
    rank = f" multipv {info.rank}" if several else ""
    return (
        f"info depth {info.depth}{rank} score cp {info.score} nodes {info.nodes} "
        f"nps {info.nps:.0f} time {info.seconds * 1000:.0f} pv {line}"
    )


def option_line(option: Option) -> str:
    """Return the line that offers an option of the player; fractions are strings."""
    name = "Hash" if option.name == "hash" else option.name
    if option.kind is int:
        kind = f"spin default {option.default} min {option.minimum:g} max {option.maximum:g}"
    elif option.kind is bool:
        kind = f"check default {'true' if option.default else 'false'}"
    else:
        kind = f"string default {option.text(option.default) or NO_VALUE}"
    return f"option name {name} type {kind}"


def converse(
    make_player: Callable[[Mapping[str, str]], Searcher[Any]], source: BinaryIO, sink: BinaryIO
) -> None:
    """Follow the commands of `source` until `quit`, the end of input, or a closed output."""
    lock = threading.Lock()

    def say(line: str) -> None:
        # after the output is closed, the input will end, too
        with lock, suppress(OSError):
            sink.write(line.encode("ascii", "replace") + b"\n")
            sink.flush()

    program = UaiProgram(make_player, say)
    with suppress(OSError, KeyboardInterrupt):
        while line := source.readline():
            if not program.hear(line.decode("ascii", "replace")):
                return
    program.hear("quit")


def main(arguments: Sequence[str]) -> int:
    """Run the program and return its exit status. Exits with status 2 for unknown options or
    names."""
    import argparse  # noqa: PLC0415

    parser = argparse.ArgumentParser(
        prog="python -m ataxx --uai", description="Speak UAI, the Universal Ataxx Interface."
    )
    parser.add_argument("--uai", action="store_true", help="this")
    parser.add_argument(
        "--player",
        default=NAMES[0],
        metavar="NAME",
        help=f"{', '.join(NAMES)} (default: %(default)s), with options as in NAME:OPTION=VALUE",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="for players that choose at random")
    chosen = parser.parse_args(arguments)

    try:
        name, settings = parse_player(chosen.player)
        player(chosen.player, chosen.seed)
    except (UnknownNameError, TextError) as error:
        complain(str(error))
        return BAD_INPUT

    def make_player(given: Mapping[str, str]) -> Searcher[Any]:
        return player(write_player(name, {**settings, **given}), chosen.seed)

    converse(make_player, sys.stdin.buffer, sys.stdout.buffer)
    return 0
