"""`python -m ataxx --uai`: the program that other people's user interfaces and match tools run.
RULES.md lists what it understands.

A search runs in a thread of its own, so that `stop` and `isready` are heard meanwhile. A command
that cannot be followed is answered by an `info string` line.
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
    FORGET,
    MULTIPV,
    NO_UNIT,
    PACE,
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
"""Of a move's time, for what is not search: threads, pipes, and whoever measures it."""
INCREMENT_SHARE = 0.8
"""Of an increment, beside the move's share of the clock."""
ENDLESS_PLIES = 19_999
"""The limit of a game that goes on beyond ours; fast rules know no longer one."""
ENDLESS_DEPTH = 1000
"""Of an endless search; without any limit an engine takes one of its own."""
NUMBERS = ("movetime", "wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "perft")
"""What `go` takes with a number; times in milliseconds. As everywhere in the field, b is x, who
moves first, and w is o."""
FLAGS = ("infinite", "ponder")


OPTIONS = {
    "Threads": (1, 1, 1),
    "MultiPV": (1, 1, 64),
    "MoveOverhead": (OVERHEAD_MS, 0, 10000),
    "HalfmoveLimit": (0, 0, 1000),
    "PlyLimit": (PLIES, 1, ENDLESS_PLIES),
}
"""What `setoption` sets beside the player's own options, all of them numbers: default, least, most.
MultiPV is for players with several lines; there is one thread."""
NO_VALUE = "<empty>"
"""How the field's programs write an empty string."""


class Program:
    """What a UAI program knows: its options, the position, and the search that goes on."""

    def __init__(
        self, make_player: Callable[[Mapping[str, str]], Searcher[Any]], say: Callable[[str], None]
    ) -> None:
        """`make_player` takes the player's options that were set, as texts; `say` gets lines, from
        two threads."""
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
        """Follow a command; whether there may be another one. It never raises, whatever the line
        says."""
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
        except Exception as error:  # noqa: BLE001  (a bug of ours must not end the conversation)
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
        """Set an option of the player, which begins anew. Raises TextError."""
        settings = {**self._settings, option.name: "" if value == NO_VALUE else value}
        option.read(settings[option.name])
        self._player = self._make_player(settings)
        self._settings = settings

    def _on_uainewgame(self, words: Sequence[str]) -> None:  # noqa: ARG002
        self._await_search()
        if can(self._player, FORGET):
            self._player.forget()

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
            # whoever asked for an endless search does not want to hear a move before `stop`
            self._released.wait()
            self._say(
                f"bestmove {format_uai(position.legal()[-1] if found is None else found.move)}"
            )

        self._search = BackgroundSearch(self._player, position, limits, tell, tell_move)

    def _on_stop(self, words: Sequence[str]) -> None:  # noqa: ARG002
        self._stop()

    # What they need

    def _stop(self) -> None:
        """End the search, if there is one; its move has then been said."""
        self._released.set()
        if self._search is not None:
            self._search.stop()
            self._search = None

    def _await_search(self) -> None:
        """Let a search come to its end, as those with a bound do. Raises TextError where an endless
        one goes on."""
        if self._search is not None and not self._search.over:
            if not self._released.is_set():
                raise TextError("a search goes on; stop it first")
            self._search.wait()

    def _read(self, fen: str, moves: Sequence[str]) -> Position:
        """A position by a FEN, whose last two words may be missing, and moves. Raises TextError."""
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
        """What `go` was given. Raises TextError."""
        wanted = {}
        rest = iter(words)
        for word in rest:
            if word in NUMBERS:
                number = next(rest, "")
                if not is_number(number.removeprefix("-")):
                    raise TextError(f"{word} takes a number, not {number[:40]!r}")
                wanted[word] = int(number)
            elif word not in FLAGS:
                raise TextError(f"go does not know {word[:40]!r}")
        return wanted

    def _limits(self, wanted: dict[str, int], heard: float) -> Limits:
        """The bounds of a search that was asked for at the moment `heard`."""
        soft: list[float] = []
        hard: list[float] = []
        if "movetime" in wanted:
            hard.append(heard + max(1, wanted["movetime"] - self._options["MoveOverhead"]) / 1000)
        side = "bw"[self._position.to_move]
        if f"{side}time" in wanted:
            left = max(0, wanted[f"{side}time"] - self._options["MoveOverhead"]) / 1000
            pace = self._player.pace(self._position) if can(self._player, PACE) else SHARE
            given = game_limits(heard, left, min(pace, wanted.get("movestogo") or pace))
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
    """Whether a word is a natural number of a length that can be meant."""
    return word.isascii() and word.isdigit() and len(word) < 19


def info_line(info: SearchInfo, *, several: bool = False) -> str:
    """An outcome of a search, with its rank where there are `several` lines.

    What the protocol calls cp is the score as it is, in the unit that the player declares: for the
    engine 400 times the logit of winning, so that 400 are a chance of 73 %. It counts no cells.
    """
    line = " ".join(map(format_uai, info.pv or (info.move,)))
    rank = f" multipv {info.rank}" if several else ""
    return (
        f"info depth {info.depth}{rank} score cp {info.score} nodes {info.nodes} "
        f"nps {info.nps:.0f} time {info.seconds * 1000:.0f} pv {line}"
    )


def option_line(option: Option) -> str:
    """How an option of the player is offered: numbers that are not whole as strings."""
    name = "Hash" if option.name == "hash" else option.name
    if option.kind is int:
        kind = f"spin default {option.default} min {option.least:g} max {option.most:g}"
    elif option.kind is bool:
        kind = f"check default {'true' if option.default else 'false'}"
    else:
        kind = f"string default {option.text(option.default) or NO_VALUE}"
    return f"option name {name} type {kind}"


def converse(
    make_player: Callable[[Mapping[str, str]], Searcher[Any]], source: BinaryIO, sink: BinaryIO
) -> None:
    """Follow the commands of `source` until `quit`, or until nobody speaks or listens any more."""
    lock = threading.Lock()

    def say(line: str) -> None:
        # where nobody listens any more, the end of input will come, too
        with lock, suppress(OSError):
            sink.write(line.encode("ascii", "replace") + b"\n")
            sink.flush()

    program = Program(make_player, say)
    with suppress(OSError, KeyboardInterrupt):
        while line := source.readline():
            if not program.hear(line.decode("ascii", "replace")):
                return
    program.hear("quit")


def main(arguments: Sequence[str]) -> int:
    """Run the program; gives the exit status. Exits with status 2 on unknown options and names."""
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
