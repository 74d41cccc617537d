"""Play the fake game of the tests. The first argument is the number to say; each other one names a
misbehaviour and its moment."""

import mmap
import os
import signal
import sys
import time
from pathlib import Path

NUMBER = sys.argv[1]
WHAT = sys.argv[2] if len(sys.argv) > 2 else ""
MORE = sys.argv[3:]
MAPPED: list[mmap.mmap] = []

out, err = sys.stdout.fileno(), sys.stderr.fileno()


def say(text: str) -> None:
    os.write(out, text.encode() + b"\n")


def endless(descriptor: int, chunk: bytes) -> None:
    while True:
        os.write(descriptor, chunk)


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def fork(*, daemon: bool) -> bool:
    """Return True in the new process; a daemon leads a new session, and its parent is
    dead."""
    if os.fork() != 0:
        return False
    if daemon:
        os.setsid()
        if os.fork() != 0:
            os._exit(0)
    return True


def at_ready() -> None:
    match WHAT:
        case "bad ready":
            say("YES")
        case "maps":
            with Path(MORE[0]).open("rb") as file:
                MAPPED.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            say("OK")
        case "late ready":
            time.sleep(60)
        case "dies at ready":
            sys.exit(3)
        case "silent death":
            os._exit(0)
        case "flood":
            endless(out, b"x" * 65536)
        case "binary flood":
            endless(out, bytes(range(256)).replace(b"\n", b"") * 256)
        case "endless lines":
            say("OK")
            endless(out, b"SAY 1\n" * 10000)
        case "shouts":
            os.write(err, (b"y" * 99 + b"\n") * 50000)
            say("OK")
        case "endless stderr":
            if fork(daemon=False):
                endless(err, b"z" * 65536)
            say("OK")
        case "children" | "daemons":
            for _ in range(3):
                if fork(daemon=WHAT == "daemons"):
                    time.sleep(60)
                    os._exit(0)
            say("OK")
        case "naked daemon":
            # Nothing tells whose it is: its parents are dead and its environment is empty.
            if fork(daemon=True):
                sleep = [sys.executable, "-c", "import time; time.sleep(60)", *MORE]
                os.execve(sys.executable, sleep, {})  # noqa: S606
            time.sleep(0.2)
            say("OK")
        case "hog":
            memory.append(b"x" * (int(MORE[0]) << 20))
            time.sleep(60)
        case "early":
            say(f"OK\nSAY {NUMBER}\nSAY {NUMBER}")
        case "deaf":
            os.close(0)
            say("OK")
            time.sleep(60)
        case "never reads":
            say("OK")
            time.sleep(60)
        case "never flushes":
            print("OK")
        case _:
            say("OK")


def at_turn(turn: int) -> None:
    match WHAT:
        case "illegal":
            say("SAY 7")
        case "format":
            say("\x1b[2J")
        case "rubbish":
            os.write(out, b"\x00\xff\xfe SAY\x85 1\n")
        case "empty":
            say("")
        case "stall":
            time.sleep(60)
        case "ignores signals":
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            time.sleep(60)
        case "raises":
            raise RuntimeError("no idea")
        case "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "dies between turns":
            say(f"SAY {NUMBER}")
            sys.exit(4)
        case "closes stdout":
            os.close(out)
            time.sleep(60)
        case "closes all":
            os.closerange(0, 3)
            time.sleep(60)
        case "no newline":
            os.write(out, b"SAY 1")
            time.sleep(60)
        case "last line":
            os.write(out, f"SAY {NUMBER}".encode())
            sys.exit(0)
        case "bomb":
            for _ in range(4):  # 16 processes
                os.fork()
            time.sleep(60)
        case "crlf":
            say(f"SAY {NUMBER}\r")
        case "long line":
            say(f"SAY {NUMBER}" + 60_000 * " ")
        case "burns":
            burn(float(MORE[0]))
            say(f"SAY {NUMBER}")
        case "sleeps":
            time.sleep(float(MORE[0]))
            say(f"SAY {NUMBER}")
        case "explains":
            print(f"turn {turn}", file=sys.stderr)
            say(f"SAY {NUMBER}")
        case "breaks the referee":
            say("SAY 9")
        case "orphan hog":
            # What a daemon of another session holds counts, too.
            if fork(daemon=True):
                memory.append(b"x" * (int(MORE[0]) << 20))
                time.sleep(60)
                os._exit(0)
            time.sleep(60)
        case _:
            say(f"SAY {NUMBER}")


def at_finish() -> None:
    match WHAT:
        case "ignores finish":
            time.sleep(60)
        case "ignores finish and signals":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(60)
        case "fails in the end":
            sys.exit(5)
        case "talks on":
            endless(out, b"thank you")
        case "leaves a child":
            if fork(daemon=False):
                time.sleep(60)
                os._exit(0)
    sys.exit(0)


memory: list[bytes] = []
turns = 0
for line in sys.stdin:
    if line.startswith("READY"):
        at_ready()
    elif line.startswith("TIME"):
        at_turn(turns)
        turns += 1
    elif line.startswith("OPP") and WHAT == "ponders":
        burn(float(MORE[0]))
    elif line.startswith("FINISH"):
        at_finish()
