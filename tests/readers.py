"""The targets of `tests.long.fuzz`: all parsers of foreign input, each with its contract.

A target's `read` takes any bytes; an exception is a finding. Valid inputs come from games played
now, so they always have the current formats.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
import tempfile
import zlib
from contextlib import contextmanager, redirect_stderr
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn
from urllib.parse import unquote_to_bytes

import msgspec
from msgspec.structs import replace

from ataxx import protocol as ataxx_protocol
from ataxx import uai, uai_adapter
from core.agent import lines, stalls
from core.agent.files import GOOD
from core.engine import options_of, parse_player
from core.errors import QuartetError
from core.limits import Limits
from core.messages import READY_ANSWER, Drew, Finish, Init, Message, Opponent, Ready, YourTurn
from core.nn.sealed import seal
from quartet import registry
from quartet.arena import catalogue, gauntlet, records, tuning, unit
from quartet.arena.config import PlayerConfig, RunConfig
from quartet.arena.store import read_lines
from quartet.cli import settings
from quartet.judge import game as games
from quartet.judge import turn as judged
from quartet.judge.logs import check, jsonl
from quartet.judge.process.pipes import StderrLog
from quartet.judge.seats.seat import read_info
from quartet.review import calibration
from quartet.training import samples
from ugolki import __main__ as ugolki_agent
from ugolki import protocol as ugolki_protocol
from ugolki.engine import Engine
from ugolki.rules import Position as UgolkiPosition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


LINE_GAMES = tuple(
    name for name in registry.GAMES if registry.load(name, "reference").INFO.lines is not None
)
PLIES = 12
"""Plies of the games that valid inputs come from."""
LONGEST = 300
"""Most characters of an error message."""


class Target(NamedTuple):
    """A reader.

    Attributes:
        name: Its name.
        seeds: Returns valid inputs.
        read: Takes any input, and raises if a contract is broken.
    """

    name: str
    seeds: Callable[[], list[bytes]]
    read: Callable[[bytes], None]


class BrokenError(Exception):
    """A reader broke its contract."""


@contextmanager
def refusing() -> Iterator[None]:
    """Allow the block to reject its input with an error of one line."""
    try:
        yield
    except QuartetError as error:
        one_line(str(error))


def one_line(text: str) -> None:
    """Raise BrokenError if a message is not one line that a terminal can show."""
    if not text or not text.isprintable():
        raise BrokenError(f"this is not one line: {text[:LONGEST]!r}")


def expect(condition: bool, words: str) -> None:
    """Raise BrokenError if a condition is false."""
    if not condition:
        raise BrokenError(words)


@cache
def played(name: str) -> tuple[Any, ...]:
    """Return the positions of a random game by the reference rules, its start first."""
    random = Random(name)
    positions: list[Any] = [games.load(name).position.start(1)]
    while len(positions) <= PLIES and not positions[-1].over:
        positions.append(positions[-1].play(random.choice(positions[-1].legal())))
    return tuple(positions)


@cache
def logs(name: str) -> tuple[bytes, ...]:
    """Return a game of a greedy and a random player in every log format; of Ugolki a short one,
    because the reference rules replay it."""
    with tempfile.TemporaryDirectory() as folder:
        live = Path(folder, "live")
        info = games.load(name).info
        players = (PlayerConfig("greedy", "greedy"), PlayerConfig("random", "random"))
        seats = tuple(seat % 2 for seat in range(info.players))
        done = unit.play(
            replace(
                RunConfig(
                    game=name,
                    players=players,
                    seed=1,
                    options={"moves": 5} if name == "ugolki" else {},
                    in_process=True,
                ).unit(0, 0, seats, 0),
                live=str(live),
            )
        )
        return tuple(dict.fromkeys((done.log, live.read_bytes())))


def choice(data: bytes, names: tuple[str, ...]) -> tuple[str, bytes]:
    """Return the choice that the first byte of an input makes, and its rest."""
    return names[data[0] % len(names) if data else 0], data[1:]


def for_each(names: tuple[str, ...], give: Callable[[str], list[bytes]]) -> list[bytes]:
    """Return the valid inputs of all choices, in the form for `choice`."""
    return [bytes([number]) + data for number, name in enumerate(names) for data in give(name)]


# Positions, moves, logs


def read_position(data: bytes) -> None:
    """Reference rules and fast rules parse the same texts into the same positions."""
    name, rest = choice(data, tuple(registry.GAMES))
    text = rest.decode("utf-8", "replace")
    found: list[Any] = []
    for module in ("reference", "rules"):
        with refusing():
            found.append(registry.load(name, module).Position.parse(text))
    expect(len(found) != 1, f"only one kind of rules takes this text of {name}")
    if found:
        slow, fast = found
        expect(slow.text() == fast.text(), f"{slow.text()!r} and {fast.text()!r}")
        expect(slow.over == fast.over, "one kind of rules says that the game is over")
        expect(sorted(slow.legal()) == sorted(fast.legal()), "other moves are legal")
        expect(slow.scores() == fast.scores(), "other scores")


def read_answer(data: bytes) -> None:
    """A program's answer is a move or is rejected with one line; both rules agree."""
    name, rest = choice(data, tuple(registry.GAMES))
    game = games.load(name)
    text = rest.decode("ascii", "replace")
    for position in played(name)[:: PLIES // 3]:
        with refusing():
            move = game.protocol.parse_answer(text, position.to_move)
            judged = []
            fast = registry.load(name, "rules").Position.parse(position.text())
            for rules in (position, fast):
                with refusing():
                    rules.play(move)
                    judged.append(move)
            expect(len(judged) != 1, "only one kind of rules takes this move")
    if game.info.lines is not None:
        with refusing():
            game.protocol.check_ready(text)


def answers(name: str) -> list[bytes]:
    game = games.load(name)
    return [
        game.protocol.format_answer(move, position.to_move).encode()
        for position in played(name)[::4]
        for move in position.legal()[:2]
    ]


def read_log(data: bytes) -> None:
    """A log is correct, or one line names its error."""
    name, rest = choice(data, tuple(registry.GAMES))
    found = check.check(games.load(name), rest)
    one_line(found.sentence())
    expect(found.agrees == (found.complaint is None), "it agrees, and does not")


# Agents


@cache
def conversation(name: str) -> bytes:
    """Return the judge's lines to an agent on seat 0 in a game of two random players."""
    game, random = games.load(name), Random(1)
    say = game.protocol.format_message
    agent = agent_of(name)
    position: Any = game.position.start(1)
    said = [say(Ready(0), 0)]
    if game.lines.init:
        said.append(say(Init(position.text()), 0))
    for line in said:
        agent.hear(line)
    while position.ply < PLIES and not position.over:
        if position.to_move == 0:
            said.append(say(YourTurn(9000, 9000), 0))
            answer = agent.hear(said[-1])
            position = position.play(game.protocol.parse_answer(answer or "", 0))
            more: list[Message] = [Drew(position.drawn)] if game.info.chance else []
        else:
            move = random.choice(position.legal())
            position = position.play(move)
            more = [Opponent(move, position.drawn if game.info.chance else None, 3)]
        said += [say(message, 0) for message in more]
        for line in said[len(said) - len(more) :]:
            agent.hear(line)
    return "".join(line + "\n" for line in [*said, say(Finish(), 0)]).encode()


def agent_of(name: str) -> lines.Agent:
    """Return a game's agent with the random player, as its `__main__` makes it."""
    protocol, rules = games.load(name).protocol, registry.load(name, "rules").Position
    return lines.Agent(
        protocol,
        rules,
        registry.load(name, "players").player("random", 1),
        init=games.load(name).lines.init,
        reveal=rules.reveal if games.load(name).info.chance else None,
        anywhere=protocol.PASS if name == "applegame" else None,  # type: ignore[attr-defined]
        start=rules.start() if name == "ataxx" else None,
        nodes=1,
    )


def read_messages(data: bytes) -> None:
    """A line-protocol agent answers in the protocol and exits with a known status."""
    name, rest = choice(data, LINE_GAMES)
    sink, said = io.BytesIO(), io.StringIO()
    with redirect_stderr(said):
        status = lines.converse(agent_of(name), io.BytesIO(rest), sink)
    expect(status == GOOD, f"it ended with status {status}")
    for answer in sink.getvalue().decode("ascii").splitlines():
        if answer != READY_ANSWER:
            games.load(name).protocol.parse_answer(answer, 0)
    for line in said.getvalue().splitlines():
        expect("internal error" not in line, line)


@cache
def ugolki_searching() -> Any:
    """Run a small search of the Ugolki agent from input to output."""
    chosen = ugolki_agent.AgentSettings(os.environ)
    chosen.nodes, chosen.memory, chosen.threads = 8, False, 1
    return ugolki_agent.searching(chosen)


def read_question(data: bytes) -> None:
    """The Ugolki agent answers every input.txt with a legal move, if the position has one."""
    answers: list[str] = []
    complaint = ugolki_searching()(data, answers.append)
    if complaint is not None:
        one_line(complaint)
    reading = ugolki_protocol.read_input(data)
    for answer in answers:
        move = ugolki_protocol.parse_answer(answer, 0)
        if reading.complaint is None:
            position = UgolkiPosition.from_cells(reading.cells, 4 * reading.turn, 10**6)
            expect(move in position.pseudolegal(), f"{move} is not legal")
        else:
            expect(reading.cells[move[1] * 10 + move[0]] == 1, f"{move} is no piece of ours")
            expect(reading.cells[move[3] * 10 + move[2]] == 0, f"{move} goes to no empty cell")
    expect(bool(answers) or complaint is not None, "neither an answer nor a complaint")


@cache
def scratch() -> Path:
    """Return a temporary folder, in memory if possible."""
    memory = Path("/dev/shm")  # noqa: S108  (only a new folder there is used)
    made = tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None)
    _kept.append(made)
    return Path(made.name)


_kept: list[tempfile.TemporaryDirectory[str]] = []


def in_file(name: str, data: bytes) -> Path:
    """Return a file with this content."""
    path = scratch() / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


@cache
def ugolki_engine() -> Engine:
    return Engine(threads=1)


def _names(player: object) -> set[str]:
    return {option.name for option in options_of(player)}


def read_stall(data: bytes) -> None:
    """A file of stalls gives seconds within bounds."""
    in_file(stalls.FILE, data)
    expect(0 <= stalls.recall(str(scratch())) <= stalls.MAX_STALL, "a stall out of bounds")


# UAI, both sides


def commands() -> list[bytes]:
    talks = (
        "uai|isready|uainewgame|position startpos moves g2 a1c3|go depth 2|stop|quit",
        "setoption name MultiPV value 3|setoption name HalfmoveLimit value 100|uai|quit",
        "position fen x5o/7/2-1-2/7/2-1-2/7/o5x x 3 7 moves g2|go btime 9 wtime 9 winc 1|quit",
        "go perft 2|go movetime 5|position startpos|go nodes 50 infinite|stop|quit",
    )
    return [talk.replace("|", "\n").encode() for talk in talks]


def read_command(data: bytes) -> None:
    """The UAI program obeys commands or rejects them; a deep perft only takes long."""
    said: list[str] = []
    program = uai.UaiProgram(
        lambda _: registry.load("ataxx", "players").player("random", 1), said.append
    )
    text = re.sub(rb"perft\s+\S+", b"perft 1", data)
    for command in (*text.splitlines()[:40], b"quit"):
        program.hear(command.decode("ascii", "replace"))
    for line in said:
        one_line(line)
        expect("internal error" not in line, line)


def replies() -> list[bytes]:
    talk = "id name x|uaiok|readyok|readyok|info depth 3 nodes 70 score cp 12 pv g2|bestmove g2"
    return [talk.replace("|", "\n").encode()]


class _Script:
    """An engine that has printed all its lines before it receives any."""

    def say(self, *lines: str) -> None:
        del lines

    def status(self) -> str:
        return "the script is over"


def read_reply(data: bytes) -> None:
    """The adapter of UAI engines forwards moves, or fails with one line."""
    heard: SimpleQueue[tuple[bool, str | None]] = SimpleQueue()
    adapter_says = io.BytesIO()
    chosen = uai_adapter.parse_arguments(["engine"])
    script: Any = _Script()
    adapter = uai_adapter.Adapter(script, chosen, heard, adapter_says)
    for message in (Ready(0), YourTurn(900, 900)):
        adapter._pending.append(ataxx_protocol.format_message(message, 0))
    for line in data.splitlines():
        heard.put((True, line.decode("ascii", "replace").strip()))
    heard.put((True, None))
    with redirect_stderr(io.StringIO()), refusing():
        adapter.run()


# What programs say to the judge


def remarks() -> list[bytes]:
    return [
        b"info depth 9 nodes 1234 seconds 0.250000 score -31\n",
        b"hello\tworld\n\xff\x1b[31mred\ninfo depth 1 nodes 2 seconds 3\n",
    ]


def read_remarks(data: bytes) -> None:
    """A program's standard error fits a record, a log and a terminal."""
    found = StderrLog()
    found.feed(data)
    found.finish()
    for line in found.lines:
        expect(line.isprintable(), f"{line!r} disturbs terminals")
    info = read_info("\n".join(found.lines))
    turn = judged.Turn(ply=0, seat=0, verdict=judged.Verdict.OK, move=(1, 2, 3, 4), info=info)
    again = msgspec.json.decode(jsonl.line(turn), type=judged.Turn, dec_hook=judged.decode)
    expect((again.info is None) == (info is None), "an info is lost on its way")


# Files


def sealed(kind: str, data: bytes) -> bytes:
    """Return a mutated sealed file with a valid checksum; otherwise no input would pass the
    checksum."""
    head, _, body = data.partition(b"\n\n")
    kept = [line for line in head.split(b"\n")[1:] if not line.startswith((b"bytes ", b"crc32 "))]
    lines = [f"quartet {kind} 1".encode(), *kept, b"bytes %d" % len(body)]
    text = b"".join(line + b"\n" for line in lines)
    return text + b"crc32 %08x\n\n" % zlib.crc32(body, zlib.crc32(text)) + body


WEIGHTS = ("ataxx", "connexion", "ugolki")
"""Games with weight files."""


def weights(name: str) -> list[bytes]:
    if name == "ataxx":  # the smallest there is
        fields = {"game": name, "inputs": "2916", "hidden": "32", "activation": "screlu"}
        return [seal("weights", fields, bytes(2 * 32 * 2918 + 4))]
    return [(registry.ROOT / registry.GAMES[name] / "nn" / "weights.bin").read_bytes()]


def read_weights(data: bytes) -> None:
    """An engine accepts a weight file or rejects it."""
    name, rest = choice(data, WEIGHTS)
    engine = registry.load(name, "engine").Engine
    for content in (rest, sealed("weights", rest)):
        with refusing():
            player = (
                engine(weights=content, hash=1)
                if "hash" in _names(engine)
                else engine(weights=content)
            )
            position = registry.load(name, "rules").Position.parse(played(name)[4].text())
            expect(player.choose(position, Limits(nodes=4)).move in position.legal(), "not legal")


def sample_files() -> list[bytes]:
    fields = {"game": "ataxx", "number": "0", "seed": "1", "games": "1", "nodes": "9"}
    sample = bytes(range(16)) + samples.TAIL.pack(12, 3, 1, 3)
    return [seal("samples", {**fields, "positions": "3"}, 3 * sample)]


def read_samples(data: bytes) -> None:
    """A file of samples is accepted for training or rejected."""
    import numpy as np  # noqa: PLC0415  (an extra)

    from quartet.training import dataset  # noqa: PLC0415

    training = registry.load("ataxx", "train.selfplay")
    folder = scratch() / "samples"
    for content in (data, sealed("samples", data)):
        for number in range(2):
            path = in_file(f"samples/{number}.samples", content)
        with refusing():
            samples.batch_of(samples.read(path, "ataxx")[0], path)
        with refusing(), np.errstate(all="ignore"):
            found = dataset.load("ataxx", [folder], training.POSITION_BYTES)
            chosen = np.arange(len(found))
            inputs = np.empty((len(found), training.ACTIVE), np.uint16)
            looks = (chosen % training.SYMMETRIES).astype(np.uint8)
            buckets = np.empty(len(found), np.uint8)
            training.features(found.positions, chosen, looks, inputs, buckets)


def recorded() -> list[bytes]:
    """Return the files of a run, in the form for `choice`."""
    name = "ataxx"
    done = unit.play(
        RunConfig(
            game=name,
            players=(PlayerConfig("a", "greedy"), PlayerConfig("b", "random")),
            seed=1,
            in_process=True,
        ).unit(0, 0, (0, 1), 0)
    )
    players = [{"name": "a", "command": "greedy"}, {"name": "b", "command": "random"}]
    plan = {"kind": "tournament", "game": name, "seed": 1, "players": players}
    line = msgspec.json.encode(done.result) + b"\n"
    return [
        b"\0" + msgspec.json.encode(plan),
        b"\1" + line,
        b"\1" + line + line.replace(b'"number":0', b'"number":1') + line[:40],
        b"\2" + (registry.ROOT / "ataxx" / "calibration.json").read_bytes(),
        b"\3" + msgspec.json.encode({"kind": "selfplay", "game": name}),
        *(b"%c" % kind + b'{"number":0,"name":"x","value":{}}\n' for kind in (4, 5)),
    ]


def read_records(data: bytes) -> None:
    """Check that all readers of a run's files accept them or reject them with one line."""
    kind, rest = (data[0] % 6 if data else 0), data[1:]
    names = ("run.json", "games.jsonl", "calibration.json", "plan.json", "steps", "gauntlet")
    folder = scratch() / "run"
    for name in names:
        (folder / name).unlink(missing_ok=True)
    path = in_file(f"run/{names[kind]}", rest)
    if kind == 1:
        in_file("run/run.json", recorded_once()[0][1:])
    if kind in (0, 1):
        (folder / "games.jsonl").touch()
        with refusing():
            records.read(folder)
    if kind in (0, 1, 3):
        with refusing():
            found = catalogue.read(folder)
            with refusing():
                found.outcome()
            one_line(catalogue.state_of(found, None))
    with refusing():
        if kind == 1:
            plan = msgspec.json.decode((folder / "run.json").read_bytes())
            with records.Records(folder, plan):
                pass
        elif kind == 2:
            calibration.read_all(path)
        elif kind == 4:
            path.rename(folder / tuning.TRAJECTORY)
            tuning.read(folder)
        elif kind == 5:
            read_lines(path, gauntlet.RatingRecord)


@cache
def recorded_once() -> list[bytes]:
    return recorded()


def read_settings(data: bytes) -> None:
    """The settings file of the official tool is accepted or rejected."""
    with refusing():
        settings.read(in_file("config.ini", data))


def read_player(data: bytes) -> None:
    """The name of a player with options is parsed. No player is made, which might need
    gigabytes."""
    name, rest = choice(data, tuple(registry.GAMES))
    declared = {o.name: o for o in options_of(registry.load(name, "engine").Engine)}
    with refusing():
        _, given = parse_player(rest.decode("utf-8", "replace"))
        for option, value in given.items():
            if option in declared:
                declared[option].check(declared[option].read(value))


# The page


@cache
def page() -> tuple[Any, asyncio.AbstractEventLoop]:
    """Return the server without worker processes: it rejects what would start one."""
    from starlette.applications import Starlette  # noqa: PLC0415  (an extra)

    from quartet.web import app, data_folder, errors, security  # noqa: PLC0415

    def none(*_: object) -> NoReturn:
        raise errors.Refused("no process is started here")

    runs_folder = scratch() / "runs"
    runs_folder.mkdir(exist_ok=True)
    server = app.Api(data_folder.DataFolder(scratch() / "data"), runs_folder)
    server.sessions.jobs = SimpleNamespace(start=none, prepare=none)  # type: ignore[assignment]
    starlette = Starlette(routes=server.routes())
    guard = security.Guard(starlette, "token", "127.0.0.1", 8000)
    return guard, asyncio.new_event_loop()


def requests() -> list[bytes]:
    asked = (
        "GET /",
        "GET /api/games",
        "GET /api/games/ataxx",
        "GET /static/page.js",
        "GET /api/view?game=ataxx&step=3&number=1",
        "GET /api/text?log=abc&step=3",
        "GET /api/events?topic=match/1&topic=run/x",
        "GET /api/runs/x/games?sort=number&order=asc&offset=1&limit=2&result=win&player=a",
        "GET /api/matches/abc",
        "DELETE /api/reviews/abc",
    )
    bot = {"kind": "built-in", "name": "bot", "options": {"hash": 1}, "ms": 100, "nodes": 9}
    seats = [{"kind": "person"}, bot]
    wishes: dict[str, object] = {
        "matches/abc/move": {"step": 1, "parts": ["a1"], "text": None},
        "position": {"game": "ataxx", "moves": ["g2"], "seed": 1, "options": {}, "step": 0},
        "lenses": {"game": "connexion", "position": None, "seed": 7},
        "matches": {"game": "ataxx", "seats": seats, "seed": 3, "clock": 10, "delay": 1},
        "reviews": {"from": {"log": "abc"}, "nodes": 5, "candidates": 2},
        "analyses": {"from": {"game": "ataxx"}, "player": "bot", "seconds": 1, "lines": 2},
    }
    return [
        *(line.encode() + b"\n" for line in asked),
        *(f"POST /api/{k}\n".encode() + msgspec.json.encode(v) for k, v in wishes.items()),
        b"POST /api/logs?name=x\n" + logs("applegame")[0],
    ]


def read_request(data: bytes) -> None:
    """The page's server answers or rejects a request with one line."""
    head, _, body = data.partition(b"\n")
    method, _, target = head.partition(b" ")
    path, _, query_string = target.partition(b"?")
    guard, loop = page()
    kind = b"octet-stream" if path == b"/api/logs" else b"json"
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "method": method.decode("latin-1"),
        "path": unquote_to_bytes(path).decode("utf-8", "replace"),
        "raw_path": path,
        "root_path": "",
        "query_string": query_string,
        "headers": [
            (b"host", b"127.0.0.1:8000"),
            (b"authorization", b"Bearer token"),
            (b"content-type", b"application/" + kind),
            *([(b"last-event-id", body[:80])] if b"events" in path else []),
        ],
    }
    given = [{"type": "http.request", "body": body}, {"type": "http.disconnect"}]
    sent: list[Any] = []

    async def receive() -> Any:
        return given.pop(0) if len(given) > 1 else given[0]

    async def send(message: Any) -> None:
        sent.append(message)

    loop.run_until_complete(asyncio.wait_for(guard(scope, receive, send), 20))
    expect(bool(sent), "no answer")
    status = sent[0]["status"]
    expect(status < 500, f"status {status}")
    if status >= 400 and sent[1]["body"].startswith(b"{"):
        one_line(msgspec.json.decode(sent[1]["body"])["error"])


TARGETS = {
    target.name: target
    for target in (
        Target(
            "positions",
            lambda: for_each(
                tuple(registry.GAMES), lambda name: [p.text().encode() for p in played(name)[::4]]
            ),
            read_position,
        ),
        Target("answers", lambda: for_each(tuple(registry.GAMES), answers), read_answer),
        Target(
            "logs", lambda: for_each(tuple(registry.GAMES), lambda name: list(logs(name))), read_log
        ),
        Target(
            "messages",
            lambda: for_each(LINE_GAMES, lambda name: [conversation(name)]),
            read_messages,
        ),
        Target(
            "questions", lambda: [p.text().encode() for p in played("ugolki")[::4]], read_question
        ),
        Target("stalls", lambda: [b"0.0712\n", b"0.02"], read_stall),
        Target("uai-commands", commands, read_command),
        Target("uai-replies", replies, read_reply),
        Target("remarks", remarks, read_remarks),
        Target("weights", lambda: for_each(WEIGHTS, weights), read_weights),
        Target("samples", sample_files, read_samples),
        Target("records", recorded_once, read_records),
        Target(
            "settings", lambda: [b"# x\nINPUT=input.txt\nLOG=log.txt\nEXEC1=./a\n"], read_settings
        ),
        Target(
            "players",
            lambda: for_each(
                tuple(registry.GAMES), lambda _: [b"bot:hash=16,threads=2,weights=x.bin", b"brs:5"]
            ),
            read_player,
        ),
        Target("requests", requests, read_request),
    )
}
"""Name -> target."""
