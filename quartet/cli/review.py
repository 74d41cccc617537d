"""`quartet review`: what each move of a log cost, and what would have been better."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from core.errors import QuartetError
from quartet import registry
from quartet.arena import runner
from quartet.arena.fingerprints import reviewer_fingerprint
from quartet.cli import outputs
from quartet.cli.following import log_files
from quartet.cli.paths import PathType
from quartet.cli.progress import run_units
from quartet.cli.run_options import worker_options
from quartet.review import calibration as calibrations
from quartet.review import document, engines, reviewing, text, work
from quartet.review.document import THRESHOLDS, Review
from quartet.review.page import MARK, index, page
from quartet.review.summary import Summary, summary
from quartet.review.summary import document as summary_document
from quartet.review.work import LogTask, ResultFolder


@click.command(short_help="Show what each move cost, and what would have been better.")
@click.argument("logs", nargs=-1, required=True, type=PathType(), metavar="LOG...")
@click.option("--game", help="Game of the logs  [default: detected].")
@click.option(
    "--engine",
    "names",
    multiple=True,
    metavar="ENGINE",
    help="Engine: bot, a built-in player, or uai:COMMAND. Repeat to compare; the first one's verdict "
    "counts  [default: bot].",
)
@click.option(
    "--nodes", type=click.IntRange(1), help="Nodes per search  [default: those of the calibration]."
)
@click.option(
    "--thresholds",
    metavar="A,B,C,D",
    default=",".join(map(str, THRESHOLDS)),
    show_default=True,
    help="Win probability lost from which a move is good, an inaccuracy, a mistake, a blunder.",
)
@click.option(
    "--candidates",
    type=click.IntRange(1, 20),
    default=3,
    show_default=True,
    help="Best moves listed for a move that lost the first threshold or more.",
)
@click.option(
    "--calibration",
    type=PathType(exists=True, dir_okay=False),
    help="File of `quartet calibrate`  [default: the game's].",
)
@click.option(
    "--worst",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Losses listed for several logs.",
)
@click.option(
    "--html",
    type=PathType(),
    metavar="FILE",
    help="Write a page that opens from disk, or a folder of pages for several logs.",
)
@click.option(
    "--out",
    type=PathType(file_okay=False),
    help="Folder of the reviews of several logs  [default: a new one in runs/].",
)
@worker_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON only.")
def command(
    logs: tuple[Path, ...],
    game: str | None,
    names: tuple[str, ...],
    nodes: int | None,
    thresholds: str,
    candidates: int,
    calibration: Path | None,
    worst: int,
    html: Path | None,
    out: Path | None,
    jobs: int | None,
    oversubscribe: bool,
    cluster: str | None,
    as_json: bool,
) -> None:
    """Review each LOG, in the format of the official tools or of this project: what every move
    cost, what would have been better, and who was lucky. A folder means all logs in it, the folder
    of a run means its games.

    Losses are in win probability, by the game's calibration (see `quartet calibrate`). Positions
    before and after every ply are searched with fixed nodes, so the same command gives the same
    review. Endings that the engine can solve are proven. Several logs are reviewed on all free
    cores. The same command resumes after an interruption. A log that cannot be reviewed takes one
    line; the exit status is then 1.

    \b
    quartet review game.log
    quartet review game.log --html game.html
    quartet review runs/ataxx-sprt-1a2b3c4d --html pages
    quartet review game.log --engine bot --engine "uai:./zataxx"
    """
    bounds = _thresholds(thresholds)
    if not any(path.exists() for path in logs):
        raise QuartetError(f"there is no log {logs[0]}")
    files = log_files(logs)
    is_single = len(files) == 1 and out is None and not logs[0].is_dir()
    if is_single and html is not None:
        outputs.require_place("--html", html)
        outputs.require("--html", html, inputs=files, contains=MARK)
    for name in names if game is not None else ():
        engines.require(game or "", name)

    settings = LogTask(
        number=0,
        name="",
        data=b"",
        game=game or "",
        engines=names or (engines.BOT,),
        nodes=nodes,
        thresholds=bounds,
        candidates=candidates,
        calibration=str(calibration.resolve()) if calibration else "",
    )

    def task(number: int, path: Path) -> LogTask:
        data, complaint = work.read(path)
        changes = {"number": number, "name": str(path), "data": data, "complaint": complaint}
        return msgspec.structs.replace(settings, **changes)

    if is_single:
        try:
            review = reviewing.review(task(0, files[0]))
        finally:
            reviewing.close()
        _one(review, html, as_json=as_json)
        sys.exit(1 if review.complaint else 0)
    if html is not None:
        _make(html)
        for file in (html / "index.html", *(_page(html, number) for number in range(len(files)))):
            outputs.require("--html", file, contains=MARK)
    plan: dict[str, object] = {
        "kind": "review",
        "logs": [str(path) for path in files],
        "game": settings.game,
        "engines": list(settings.engines),
        "fingerprints": [
            reviewer_fingerprint(name, engine)
            for name in ([game] if game is not None else registry.GAMES)
            for engine in settings.engines
        ],
        "nodes": nodes,
        "thresholds": list(bounds),
        "candidates": candidates,
        "calibrations": _digest(calibration),
        "contents": hashlib.sha256(
            b"".join(hashlib.sha256(work.read(path)[0]).digest() for path in files)
        ).hexdigest()[:16],
    }
    digest = hashlib.sha256(msgspec.json.encode(plan)).hexdigest()[:8]
    with ResultFolder(out or Path("runs") / f"review-{digest}", plan) as folder:
        tasks = (
            msgspec.structs.replace(settings, number=number, name=str(path))
            if number in folder.done
            else task(number, path)
            for number, path in enumerate(files)
        )
        workers = runner.workers(reviewing.play, jobs, cluster, oversubscribe=oversubscribe)
        run_units("logs", tasks, len(files), workers, folder)
        reviews = [document.read(value) for value in folder.values()]
        found = summary(reviews, worst)
        if html is not None:
            _pages(html, reviews, found)
        if as_json:
            print(json.dumps(summary_document(reviews, found)))
        else:
            print("\n".join(text.summary(found)))
            print(f"reviews: {folder.folder}{f', pages: {html}/index.html' if html else ''}")
    sys.exit(1 if found.complaints else 0)


def _one(found: Review, html: Path | None, *, as_json: bool) -> None:
    """Write and print a review."""
    print(msgspec.json.encode(found).decode() if as_json else "\n".join(text.lines(found)))
    if html is not None and not found.complaint:
        _write(html, page(found))
        if not as_json:
            print(f"\npage: {html}")


def _pages(folder: Path, reviews: Sequence[Review], found: Summary) -> None:
    """Write a page for every review, and an index."""
    for number, review in enumerate(reviews):
        if not review.complaint:
            _write(_page(folder, number), page(review, home="index.html"))
    _write(folder / "index.html", index(reviews, found))


def _page(folder: Path, number: int) -> Path:
    """Return the file of a review's page."""
    return folder / f"{number:06}.html"


def _make(folder: Path) -> None:
    """Make the folder of the pages, before the work."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise QuartetError(f"cannot make the folder {folder}: {error.strerror}") from error


def _write(file: Path, content: str) -> None:
    try:
        file.write_text(content, encoding="utf-8")
    except OSError as error:
        raise QuartetError(f"cannot write {file}: {error.strerror}") from error


def _thresholds(given: str) -> tuple[float, ...]:
    """Parse --thresholds. Raises QuartetError."""
    try:
        bounds = tuple(float(part) for part in given.split(","))
    except ValueError:
        bounds = ()
    if len(bounds) != len(THRESHOLDS) or list(bounds) != sorted(bounds) or not 0 < bounds[0] <= 1:
        raise QuartetError(f"--thresholds takes four ascending numbers, not {given!r}")
    return bounds


def _digest(file: Path | None) -> str:
    """Return a digest of the calibrations: others give another review."""
    files = [file] if file else [calibrations.place_of(name) for name in registry.GAMES]
    data = b"".join(path.read_bytes() for path in files if path.is_file())
    return hashlib.sha256(data).hexdigest()[:16]
