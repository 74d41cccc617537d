"""A UAI engine for the tests. It plays the first legal move, or does what its argument names. `keep
FILE` records all input."""

import os
import signal
import sys
import time
from pathlib import Path

from ataxx.rules import Position
from ataxx.uai_text import format_uai

WHAT = sys.argv[1] if len(sys.argv) > 1 else ""
MORE = sys.argv[2:]


def say(text: str) -> None:
    os.write(1, text.encode() + b"\n")


def spin() -> None:
    while True:
        time.sleep(0.05)


def move(position: Position) -> str:
    match WHAT:
        case "illegal leap":
            return "a1g7"
        case "illegal division":
            return "d4"
        case "garbage":
            return "zz\x1b[2J"
        case "nothing":
            return ""
        case "full division":  # as some write it: both cells
            row1, column1, row2, column2 = position.legal()[0]
            return "".join(
                f"{'abcdefg'[column - 1]}{8 - row}"
                for row, column in ((row1, column1), (row2, column2))
            )
        case "halfmoves":  # dies of the field's rule
            if position.halfmoves:
                sys.exit("a halfmove clock")
    return format_uai(position.legal()[0])


def on_go(words: list[str], position: Position) -> None:
    match WHAT:
        case "dies":
            sys.exit("out of luck")
        case "crashes":
            os.kill(os.getpid(), signal.SIGKILL)
        case "silent" | "deaf":
            spin()
        case "closes":
            os.close(1)
            spin()
        case "clock":  # whatever it is asked for, it takes half of its clock, while that is long
            left = int(words[words.index("btime" if position.to_move == 0 else "wtime") + 1])
            time.sleep(left / 2000 if left > 1000 else 0)
        case "chatty":
            for depth in range(1, 4):
                say(
                    f"info depth {depth} score cp 10 nodes {1000 * depth} time 1 nps 1000000 pv "
                    "a1 b2"
                )
            say("info string bestmove is not this")
    say(f"bestmove {move(position)}")


def main() -> None:
    position = Position.start()
    if WHAT in ("deaf", "spins"):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
    for line in sys.stdin:
        if WHAT == "keep":
            with Path(MORE[0]).open("a") as file:
                file.write(line)
        word, *words = line.split() or [""]
        if word == "uai":
            if WHAT == "no engine":
                sys.exit(3)
            say("id name double\nuaiok")
        elif word == "isready":
            say("readyok")
        elif word == "position":
            assert words[0] == "fen"
            position = Position.parse(" ".join(words[1:5]), plies=19_999)
        elif word == "go":
            on_go(words, position)
        elif word == "quit" and WHAT != "spins":
            return
    if WHAT == "spins":
        spin()


main()
