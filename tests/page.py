"""The page in a real Chromium: a server, a browser, and what a user does in a tab."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from playwright.sync_api import expect, sync_playwright

from tests.commands import ONE_JOB
from tests.games import ROOT
from tests.processes import outliving
from tests.tools import need

if TYPE_CHECKING:
    from collections.abc import Iterator

ENOUGH = 60_000.0
"""Milliseconds after which a test gives up."""
expect.set_options(timeout=ENOUGH)
QUIET = re.compile(
    r"script-src.*was not explicitly set|status of 4\d\d"
    r"|ERR_(INCOMPLETE_CHUNKED_ENCODING|CONNECTION_(REFUSED|RESET|CLOSED)|EMPTY_RESPONSE)"
    r"|Cross-Origin-Opener-Policy header has been ignored"  # without encryption, from another machine
)
"""Console messages that are not errors of the page, also if a server ends."""
SEEN = """node => {
    let { left, top, right, bottom } = node.getBoundingClientRect();
    if (!(right > left && bottom > top)) return false;
    for (let box = node.parentElement; box; box = box.parentElement) {
        const is = box.getBoundingClientRect(), scrolls = getComputedStyle(box).overflow !== "visible";
        if (scrolls && (left < is.left - 1 || right > is.right + 1 || top < is.top - 1 || bottom > is.bottom + 1))
            return false;
    }
    return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
}"""
"""True if an element is on the screen, and no box that scrolls hides a part of it."""


class Server:
    """`quartet serve` as a process.

    Attributes:
        address: The first line of its output, token included.
        base: The address without the token.
        data: The data folder.
        process: The process.
    """

    def __init__(self, folder: Path, *arguments: str, house: Path = ROOT) -> None:
        self.folder, self.house, self.arguments = folder, house, arguments
        self.port, self.data = 0, Path(tempfile.mkdtemp())
        self.begin()

    def begin(self) -> None:
        """Start the server; after `end` on the same port."""
        command = [sys.executable, "-m", "quartet", "serve", "--port", str(self.port)]
        if "--data" not in self.arguments:
            command += ["--data", str(self.data)]
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

    def end(self, how: signal.Signals = signal.SIGINT) -> None:
        """End the server, by default as Ctrl-C does, and check that no process is left."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        self.process.send_signal(how)
        try:
            self.process.wait(ENOUGH / 1000)
        finally:
            self.process.kill()
            self.process.communicate()
        left = outliving(children, ENOUGH / 1000)
        for child in left:
            with suppress(psutil.NoSuchProcess):
                child.kill()
        assert left == []


def quartet(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a command."""
    return subprocess.Popen(
        [sys.executable, "-m", "quartet", *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )


def sprt(games: int) -> list[str]:
    """Return the arguments of a sequential test too close to be decided before its last game."""
    options = ("--in-process", "--option", "opening=4", "--clock", "20", *ONE_JOB)
    close = ["--elo0", "0", "--elo1", "0.01"]
    return [
        "sprt",
        "ataxx",
        "bot",
        "greedy",
        *options,
        *close,
        "--games",
        str(games),
        "--out",
        "runs/one",
    ]


@contextmanager
def serving(folder: Path, *arguments: str, house: Path = ROOT) -> Iterator[Server]:
    """Yield a server that ends afterwards."""
    server = Server(folder, *arguments, house=house)
    try:
        yield server
    finally:
        server.end()


@contextmanager
def browsing() -> Iterator[Any]:
    """Yield a Chromium. Without one, skip the test; in CI, fail it."""
    chromium = need("chromium", "chromium", "chromium-browser")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--force-prefers-reduced-motion"]
        )
        yield browser
        browser.close()


class Tab:
    """A tab of a browser.

    Attributes:
        page: Playwright's tab.
        faults: Errors of the page's scripts.
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
        """Open the page with the token, and go to a view."""
        self.page.goto(self.server.address)
        self.page.locator("#lobby").wait_for()
        if view != "#/":
            self.go(view)

    def go(self, view: str) -> None:
        """Go to another view."""
        self.page.goto(self.server.base + view)

    def find(self, selector: str) -> Any:
        """Return the elements of a selector."""
        return self.page.locator(selector)

    @property
    def turns(self) -> int:
        """Return the number of turns in the list."""
        return int(self.find("#moves li").count())

    def wait_turns(self, least: int) -> None:
        """Wait until the list has at least `least` turns."""
        self.find("#moves li").nth(least - 1).wait_for(state="attached")

    def state(self) -> str:
        """Wait until the match asks a human or has ended; return which."""
        self.find('#status[data-state="asking"], #status[data-state="over"]').wait_for()
        return str(self.find("#status").get_attribute("data-state"))

    def sees(self, selector: str) -> bool:
        """Return True if the first element of a selector is on the screen as a whole."""
        return bool(self.find(selector).first.evaluate(SEEN))

    def place(self, cell: str) -> tuple[float, float]:
        """Return the centre of a cell on the screen."""
        found = self.find(f'[data-cell="{cell}"]').first
        while (box := found.bounding_box()) is None:  # the board is being drawn
            self.page.wait_for_timeout(20)
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def ask(self, path: str) -> Any:
        """Send a GET request from the tab; return the answer."""
        return self.page.evaluate("async path => (await fetch('api/' + path)).json()", path)

    def asking(self) -> Any:
        """Return the position in which a human is asked, without how long it has been asked."""
        asking = self.ask("matches/" + self.page.url.rpartition("/")[2])["asking"]
        return asking and {key: asking[key] for key in asking if key != "since_ms"}

    def start(self, game: str, *seats: tuple[str, str], speed: str = "0", seed: str = "") -> None:
        """Set up a match and start it; a seat is a player and a strength."""
        self.go("#/")
        self.find(f'input[value="{game}"]').check()
        if seed:
            self.find("details:has(#seed) summary").click()
            self.find("#seed").fill(seed)
        self.begin(*seats, speed=speed)

    def begin(self, *seats: tuple[str, str], speed: str = "0") -> None:
        """Start the match that is set up, with these seats; bots play at the speed."""
        for number, (player, strength) in enumerate(seats):
            self.find(f"#seat{number}").select_option(player)
            if strength:
                self.find(f"#strength{number}").select_option(strength)
        if self.find("#speed").is_visible():
            self.find("#speed").select_option(speed)
        self.find("#start").click()
        self.find("#status").wait_for()
