"""Measure the speed of the page in a real Chromium: `python -m tests.bench.page`.

It needs Debian's package chromium and the extra `dev`. Figures:

- from the start of the server to the first board in an open tab
- from the click that completes a move until the board shows it, and until the server has taken it
- from a request to an engine's first line on the screen, and the delay of its other lines
- from the click on a run to its table

Chromium reports what is on the screen: the frame after the change was painted.
"""

from __future__ import annotations

import json
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from core.commands.program import execute
from quartet import registry

GAME = next(iter(registry.GAMES))
TOURNAMENT = (
    *(sys.executable, "-m", "quartet", "tournament", GAME),
    *("--games", "20", "--in-process", "--option", "opening=4"),
)
PAINTED = """() => {
    window.shown = [];
    window.clicked = 0;
    addEventListener("pointerup", event => { window.clicked = event.timeStamp; }, true);
    const noted = (name, node) => new MutationObserver(() => requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => window.shown.push([name, performance.now()]);
        channel.port2.postMessage(null);
    })).observe(node, { childList: true, subtree: true, characterData: true });
    for (const name of %s) noted(name, document.querySelector(name));
}"""
"""Record when a change of the page was painted."""
LINES = """async seconds => {
    const found = [], sent = performance.timeOrigin + performance.now();
    const made = await (await fetch("api/analyses", { method: "POST", headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ from: { game: "%s" }, player: "bot", options: {}, seconds, nodes: null, lines: 1 }) })).json();
    await new Promise(done => {
        const source = new EventSource("api/events?topic=analysis/" + made.id);
        source.addEventListener("line", event => {
            const line = JSON.parse(event.data).line;
            requestAnimationFrame(() => found.push(performance.timeOrigin + performance.now() - sent - 1000 * line.seconds));
        });
        source.addEventListener("end", () => { source.close(); done(); });
    });
    return found;
}"""
"""Return milliseconds from the request to each line on the screen, without the search's own
time."""


@contextmanager
def serving(runs: Path) -> Iterator[tuple[str, float]]:
    """Run a server; yield its address and its start time."""
    started = time.perf_counter()
    with (
        tempfile.TemporaryDirectory() as data,
        subprocess.Popen(
            [sys.executable, "-m", "quartet", "serve", "--runs", str(runs), "--data", data],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        address = process.stdout.readline().strip() if process.stdout else ""
        yield address, started
        process.send_signal(signal.SIGINT)


def many_games(folder: Path, games: int) -> None:
    """Write a run with `games` games: the records of a short tournament, repeated."""
    players = [word for name in ("a", "b") for word in ("--player", f"{name}=greedy")]
    subprocess.run(
        [*TOURNAMENT, *players, "--out", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    file = folder / "games.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    with file.open("w", encoding="utf-8") as out:
        for number in range(games):
            line = lines[number % len(lines)] | {"number": number, "block": number // 2}
            out.write(json.dumps(line | {"seed": 1 + number // 2}, separators=(",", ":")) + "\n")


def first_boards(browser: Any, runs: Path, times: int) -> list[float]:
    """Return milliseconds from the start of the process to the first board, without a first try."""
    found = []
    for _ in range(times + 1):
        page = browser.new_page()
        with serving(runs) as (address, started):
            page.goto(address, wait_until="commit")
            page.locator("#board .cell").first.wait_for()
            found.append(1000 * (time.perf_counter() - started))
        page.close()
    return found[1:]


def moves(page: Any, base: str, times: int) -> tuple[list[float], list[float]]:
    """Return the delays of moves against `random` in milliseconds.

    The first list counts from the click to the painted board, the second until the server has
    taken the move.
    """
    found: list[float] = []
    at_once: list[float] = []
    while len(found) < times:
        page.goto(base + "#/")
        page.locator(f'input[value="{GAME}"]').check()
        page.locator("#seat0").select_option("person")
        page.locator("#seat1").select_option("engine:random")
        page.locator("#start").click()
        page.locator('#status[data-state="asking"]').wait_for()
        page.evaluate(PAINTED % '["#moves", "#board"]')
        identity = page.url.rpartition("/")[2]
        for _ in range(10):
            asking = page.evaluate(
                "async id => (await (await fetch('api/matches/' + id)).json()).asking", identity
            )
            if asking is None or len(found) == times:
                break
            before = page.locator("#moves li").count()
            page.evaluate("() => { window.shown = []; }")
            for part in asking["position"]["choices"][0]["parts"]:
                box = page.locator(f'[data-cell="{part}"]').first.bounding_box()
                page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            page.locator("#moves li").nth(before).wait_for()
            page.wait_for_timeout(150)
            shown, clicked = page.evaluate("() => [window.shown, window.clicked]")
            for name, list_ in (("#moves", found), ("#board", at_once)):
                list_.append(min(at for n, at in shown if n == name and at > clicked) - clicked)
            state = '#status[data-state="asking"], #status[data-state="over"]'
            page.locator(state).wait_for()
    return at_once, found


def tables(page: Any, base: str, name: str, times: int) -> list[float]:
    """Return milliseconds from the click on a run to its table."""
    found = []
    for _ in range(times):
        page.goto(base + "#/runs")
        page.locator("#results").check()
        link = page.get_by_role("link", name=name)
        link.wait_for()
        started = time.perf_counter()
        link.click()
        page.locator("#standings").wait_for()
        found.append(1000 * (time.perf_counter() - started))
    return found


def report(name: str, values: Sequence[float]) -> str:
    """Return a line of the report."""
    ordered = sorted(values)
    worst = ordered[math.ceil(0.95 * len(ordered)) - 1]
    return (
        f"{name:<52} {statistics.median(ordered):7.0f} ms median, "
        f"{worst:7.0f} ms at 95 %, {len(ordered)} times"
    )


@click.command()
@click.option(
    "--times",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Measurements per figure; a quarter for slow ones.",
)
@click.option(
    "--games", type=click.IntRange(20), default=10_000, show_default=True, help="Games of the run."
)
@click.option("--chromium", default="/usr/bin/chromium", show_default=True)
def command(times: int, games: int, chromium: str) -> None:
    """Measure the speed of the page."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    os.environ.pop("PYTHONUNBUFFERED", None)
    with tempfile.TemporaryDirectory(prefix="quartet-page-") as place, sync_playwright() as driver:
        runs = Path(place)
        many_games(runs / "large", games)
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        boards = first_boards(browser, runs, max(3, times // 4))
        click.echo(report("start of the server to the first board", boards))
        with serving(runs) as (address, _):
            base = re.sub(r"\?.*", "", address)
            page = browser.new_page()
            page.goto(address)
            page.locator("#board .cell").first.wait_for()
            at_once, taken = moves(page, base, times)
            click.echo(report("click to the move on the board", at_once))
            click.echo(report("click to the move that the server has taken", taken))
            lines = page.evaluate(LINES % GAME, 5)
            click.echo(report("request to an engine's first line", lines[:1]))
            click.echo(
                report("its lines, over the quickest", [line - min(lines) for line in lines])
            )
            opened = tables(page, base, "large", max(3, times // 4))
            click.echo(report(f"a run with {games} games to its table, first", opened[:1]))
            click.echo(report(f"a run with {games} games to its table, again", opened[1:]))
            page.close()
        browser.close()


if __name__ == "__main__":
    execute(command)
