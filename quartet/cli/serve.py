"""`quartet serve`: the web page on which to play, watch and review games, and follow runs."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

import click
import msgspec

from core.errors import QuartetError
from core.extras import install_hint
from quartet.cli.paths import PathType
from quartet.cli.version import installed_version
from quartet.judge.seats.players import EMPTY_SEAT, PERSON


@click.command(short_help="Serve the web page: play, watch, review, follow runs.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; 0.0.0.0 admits other machines that have the token or a guest's link.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port to listen on  [default: as last time, or a free one].",
)
@click.option(
    "--runs",
    type=PathType(file_okay=False, exists=True),
    help="Folder of the runs that the page shows  [default: runs/].",
)
@click.option(
    "--games",
    "logs",
    type=PathType(file_okay=False, exists=True),
    help="Folder of logs, at any depth, in which the page looks up positions in addition to its "
    "runs, logs and games.",
)
@click.option(
    "--player",
    "players",
    multiple=True,
    metavar="NAME=COMMAND",
    help="Offer a program on the page, as for `quartet match`; repeatable.",
)
@click.option(
    "--data",
    type=PathType(file_okay=False),
    help="Folder for games, logs, reviews and the token  [default: quartet/ in the user's data "
    "directory, or $QUARTET_DATA].",
)
@click.option("--open", "browser", is_flag=True, help="Open the page in the browser.")
def command(
    host: str,
    port: int,
    runs: Path | None,
    logs: Path | None,
    players: Sequence[str],
    data: Path | None,
    browser: bool,
) -> None:
    """Serve the web page until Ctrl-C. The first line of output is its address, with the token that
    grants access.

    On the page users play built-in players and the programs of --player, watch and review games,
    and follow runs. The page only reads runs and the logs of --games. It can read nothing else of
    this machine, and start no other program. When the server ends, so does everything that it has
    started. The next server with the same data folder resumes matches and reviews; address and
    token stay the same.

    \b
    quartet serve --open
    quartet serve --runs runs --player mine=./mine --player "old=python3 $PWD/old.py"
    """
    try:
        import uvicorn  # noqa: PLC0415  (an extra)

        from quartet.web import app  # noqa: PLC0415
        from quartet.web.data_folder import DataFolder, default_folder  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"uvicorn", "starlette"}:
            raise
        raise QuartetError(
            f"the page needs starlette and uvicorn: {install_hint('starlette', 'uvicorn')}"
        ) from None
    programs = _programs(players)
    folder = DataFolder(data or default_folder())
    access = folder.access()
    listener = _listen(host, port, access.port)
    token, port = access.token, listener.getsockname()[1]
    folder.set_access(msgspec.structs.replace(access, port=port))
    api = app.Api(folder, runs or Path("runs"), programs, installed_version(), logs)
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    name = f"[{shown}]" if ":" in shown else shown
    address = f"http://{name}:{port}/?token={token}"
    print(address, flush=True)
    if browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    class PageServer(uvicorn.Server):
        """A server that ends the event streams before it waits for requests to end."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            folder.freeze()  # the workers may have got the signal, too, and their games go on later
            api.streams.close()
            super().handle_exit(sig, frame)

    config = uvicorn.Config(
        api.guarded(token, host, port),
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=1,
    )
    with listener:
        PageServer(config).run(sockets=[listener])


def _programs(players: Sequence[str]) -> dict[str, str]:
    """Return the programs of --player by name. Raises QuartetError."""
    found: dict[str, str] = {}
    for text in players:
        name, equals, program = text.partition("=")
        if not (equals and name and program):
            raise QuartetError(f"--player wants NAME=COMMAND, not {text!r}")
        if name in found or name in {EMPTY_SEAT, PERSON}:
            raise QuartetError(f"--player: the name {name!r} is taken")
        found[name] = program
    return found


def _listen(host: str, port: int, usual: int) -> socket.socket:
    """Return the listening socket; without a port use the usual one if it is free.

    Raises QuartetError.
    """
    if not port and usual:
        with suppress(QuartetError):
            return _listen(host, usual, 0)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        family, kind, protocol, _, address = found
        # only with the protocol named does asyncio disable Nagle's delay of 40 ms
        listener = socket.socket(family, kind, protocol or socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        raise QuartetError(f"cannot listen to {host}, port {port}: {error.strerror}") from error
    return listener
