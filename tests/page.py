"""The page in a real Chromium: a server of its own, a browser, and what a person does there."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psutil
from playwright.sync_api import sync_playwright

from tests.games import ROOT
from tests.tools import need

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ENOUGH = 60_000.0
"""Milliseconds in which everything happens on a busy machine."""
QUIET = re.compile(
    r"script-src.*was not explicitly set|status of 4\d\d|INCOMPLETE_CHUNKED|CONNECTION_REFUSED"
)
"""What Chromium says to the console that is no fault of ours: also when a server ends."""


class Server:
    """`quartet serve` as a process.

    Attributes:
        address: str; the first line, token included. base: str; without it.
        process: subprocess.Popen[str].
    """

    def __init__(self, folder: Path, *arguments: str, house: Path = ROOT) -> None:
        self.folder, self.house, self.arguments = folder, house, arguments
        self.port = 0
        self.begin()

    def begin(self) -> None:
        """Start it; after `end` on the same port."""
        command = [sys.executable, "-m", "quartet", "serve", "--port", str(self.port)]
        self.process = subprocess.Popen(
            [*command, *self.arguments],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(self.house)},
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        self.base = self.address.partition("?")[0]
        found = re.search(r":(\d+)/", self.base)
        assert found, self.address
        self.port = int(found[1])

    def end(self) -> None:
        """As Ctrl-C does. It leaves nothing behind."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(30)
        finally:
            self.process.kill()
            self.process.communicate()
        _, left = psutil.wait_procs(children, 10)
        for child in left:
            with suppress(psutil.NoSuchProcess):
                child.kill()
        assert left == []


@contextmanager
def serving(folder: Path, *arguments: str, house: Path = ROOT) -> Iterator[Server]:
    """A server that is ended afterwards."""
    server = Server(folder, *arguments, house=house)
    try:
        yield server
    finally:
        server.end()


@contextmanager
def browsing() -> Iterator[Any]:
    """A Chromium. Without one the test is skipped, in CI it fails."""
    chromium = need("chromium", "chromium", "chromium-browser")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


class Tab:
    """A tab of a browser; it fails where a script of the page does.

    Attributes:
        page: the tab of playwright. faults: list[str]; what went wrong on the page.
    """

    def __init__(self, context: Any, server: Server) -> None:
        self.server = server
        self.page = context.new_page()
        self.page.set_default_timeout(ENOUGH)
        self.faults: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._heard)

    def _heard(self, message: Any) -> None:
        if message.type == "error" and not QUIET.search(message.text):
            self.faults.append(message.text)

    def enter(self, view: str = "#/") -> None:
        """Come in with the token, and go to a view."""
        self.page.goto(self.server.address)
        self.page.locator("#lobby").wait_for()
        if view != "#/":
            self.go(view)

    def go(self, view: str) -> None:
        """Another view."""
        self.page.goto(self.server.base + view)

    def find(self, selector: str) -> Any:
        """What is found by a selector."""
        return self.page.locator(selector)

    @property
    def turns(self) -> int:
        """How many turns the list has."""
        return int(self.find("#moves li").count())

    def wait_turns(self, least: int) -> None:
        """Wait until the list has so many turns."""
        self.find("#moves li").nth(least - 1).wait_for(state="attached")

    def state(self) -> str:
        """What the match is doing, once it waits for a person or is over."""
        self.find('#status[data-state="asking"], #status[data-state="over"]').wait_for()
        return str(self.find("#status").get_attribute("data-state"))

    def place(self, cell: str) -> tuple[float, float]:
        """Where a cell is on the screen."""
        found = self.find(f'[data-cell="{cell}"]').first
        while (box := found.bounding_box()) is None:  # the board is being drawn anew
            self.page.wait_for_timeout(20)
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def ask(self, path: str) -> Any:
        """What the server answers to this tab."""
        return self.page.evaluate("async path => (await fetch('api/' + path)).json()", path)

    def asking(self) -> Any:
        """The position in which a person is asked."""
        return self.ask("matches/" + self.page.url.rpartition("/")[2])["asking"]

    def start(self, game: str, *seats: tuple[str, str]) -> None:
        """Set a game up in the lobby and start it; a seat is a player and a strength."""
        self.go("#/")
        self.find(f'input[value="{game}"]').check()
        for number, (player, strength) in enumerate(seats):
            self.find(f"#seat{number}").select_option(player)
            if strength:
                self.find(f"#strength{number}").select_option(strength)
        self.find("#start").click()
        self.find("#status").wait_for()
