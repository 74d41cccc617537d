"""`quartet serve`: the page on which games are played, watched and reviewed, and runs followed."""

from __future__ import annotations

import secrets
import socket
import threading
import webbrowser
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import click

from core.errors import QuartetError
from core.extras import how_to_install
from quartet.judge.seats.players import NOBODY, PERSON

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType


@click.command(short_help="Open the page: play, watch, review, follow runs.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen to; any other lets others in who have the token.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="The port  [default: a free one].",
)
@click.option(
    "--runs",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="The folder of runs that the page shows  [default: runs/].",
)
@click.option(
    "--player",
    "players",
    multiple=True,
    metavar="NAME=COMMAND",
    help="A program that may be seated on the page, as for `quartet match`; repeat it.",
)
@click.option("--open", "browser", is_flag=True, help="Open the page in the browser.")
def command(host: str, port: int, runs: Path | None, players: Sequence[str], browser: bool) -> None:
    """Serve the page, until Ctrl-C. The first line of the output is its whole address, with the
    token that lets in who has it.

    On the page games are played against built-in players and the programs named by --player,
    watched, reviewed, and runs followed; runs are only read. Nothing else of this machine can be
    read there, and no other program started. When the server ends, so does everything that it has
    started.

    \b
    quartet serve --open
    quartet serve --runs runs --player mine=./mine --player "old=python3 $PWD/old.py"
    """
    try:
        import uvicorn  # noqa: PLC0415  (an extra)

        from quartet.web import app  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"uvicorn", "starlette"}:
            raise
        raise QuartetError(
            f"the page needs starlette and uvicorn: {how_to_install('starlette', 'uvicorn')}"
        ) from None
    programs = _programs(players)
    listener = _listen(host, port)
    token = secrets.token_urlsafe(24)
    settings = app.Settings(
        token, host, listener.getsockname()[1], runs or Path("runs"), programs, _version()
    )
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    name = f"[{shown}]" if ":" in shown else shown
    address = f"http://{name}:{settings.port}/?token={token}"
    print(address, flush=True)
    if browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    page, end_streams = app.make(settings)

    class Server(uvicorn.Server):
        """Ends the streams first: they would go on for ever."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            end_streams()
            super().handle_exit(sig, frame)

    config = uvicorn.Config(
        page,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=1,
    )
    with listener:
        Server(config).run(sockets=[listener])


def _version() -> str:
    try:
        return metadata.version("quartet")
    except metadata.PackageNotFoundError:
        return ""


def _programs(players: Sequence[str]) -> dict[str, str]:
    """The programs by name. Raises QuartetError."""
    found: dict[str, str] = {}
    for text in players:
        name, equals, program = text.partition("=")
        if not (equals and name and program):
            raise QuartetError(f"--player wants NAME=COMMAND, not {text!r}")
        if name in found or name in {NOBODY, PERSON}:
            raise QuartetError(f"--player: the name {name!r} is taken")
        found[name] = program
    return found


def _listen(host: str, port: int) -> socket.socket:
    """The socket of the server. Raises QuartetError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        family, kind, protocol, _, address = found
        # with the protocol named asyncio sends at once; otherwise answers wait 40 ms
        listener = socket.socket(family, kind, protocol or socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        raise QuartetError(f"cannot listen to {host}, port {port}: {error.strerror}") from error
    return listener
