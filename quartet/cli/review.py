"""`quartet review`: where games were lost, and what would have been better."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from core.errors import QuartetError
from quartet.cli import running
from quartet.cli.progress import work_off
from quartet.review import calibration as calibrations
from quartet.review import document, engines, text, work, worker
from quartet.review.document import THRESHOLDS, Review
from quartet.review.page import index, page
from quartet.review.summary import Summary, summary
from quartet.review.summary import document as summary_document
from quartet.review.work import Kept, Unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ENDS = (".txt", ".log", ".jsonl")
"""Of the names of logs, in a folder."""


@click.command(short_help="Show where games were lost, and what would have been better.")
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="LOG...")
@click.option("--game", help="The game of the logs  [default: each log says it].")
@click.option(
    "--engine",
    "names",
    multiple=True,
    metavar="ENGINE",
    help="Who is asked: bot, a built-in player, or uai:COMMAND; repeat it, the first one's "
    "word counts  [default: bot].",
)
@click.option(
    "--nodes", type=click.IntRange(1), help="Of each search  [default: those of the calibration]."
)
@click.option(
    "--thresholds",
    metavar="A,B,C,D",
    default=",".join(map(str, THRESHOLDS)),
    show_default=True,
    help="Where good, inaccuracy, mistake and blunder begin, in win probability lost.",
)
@click.option(
    "--candidates",
    type=click.IntRange(1, 20),
    default=3,
    show_default=True,
    help="Moves that are named where the one played was not good.",
)
@click.option(
    "--calibration",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A file of `quartet calibrate`  [default: the game's].",
)
@click.option(
    "--worst",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Losses that are listed of many logs.",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a page that opens from disk; of many logs a folder of pages.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the reviews of many logs  [default: one in runs/].",
)
@click.option("--jobs", type=click.IntRange(1), help="Logs at a time  [default: one a free core].")
@click.option("--crowded", is_flag=True, help="Share cores with other runs.")
@click.option("--cluster", metavar="ADDRESS", help="Review on the Dask scheduler there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else.")
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
    crowded: bool,
    cluster: str | None,
    as_json: bool,
) -> None:
    """Review each LOG, of the official tools or ours: what every move lost, what would have been
    better, and whose luck it was. A folder stands for all logs in it, the folder of a run for its
    games.

    Losses are in win probability, by the game's calibration (see `quartet calibrate`). Fixed nodes
    before and after every ply: the same command gives the same review. Endings that the engine can
    solve are proven. Many logs are reviewed on all cores; every one that is done is kept, and the
    same command goes on after any interruption. What cannot be reviewed is told in one line; then
    the exit status is 1.

    \b
    quartet review game.log
    quartet review game.log --html game.html
    quartet review runs/ataxx-sprt-1a2b3c4d --html pages
    quartet review game.log --engine bot --engine "uai:./zataxx"
    """
    bounds = _thresholds(thresholds)
    files = found_logs(logs)
    for name in names if game is not None else ():
        engines.require(game or "", name)

    def unit(number: int, path: Path) -> Unit:
        data, complaint = work.read(path)
        return Unit(
            number=number,
            game=game or "",
            name=str(path),
            data=data,
            complaint=complaint,
            engines=names or (engines.BOT,),
            nodes=nodes,
            thresholds=bounds,
            candidates=candidates,
            calibration=str(calibration.resolve()) if calibration else "",
        )

    if len(files) == 1 and out is None and not logs[0].is_dir():
        try:
            found = worker.reviewed(unit(0, files[0]))
        finally:
            worker.close()
        _one(found, html, as_json=as_json)
        sys.exit(1 if found.complaint else 0)
    plan: dict[str, object] = {
        "kind": "review",
        "logs": [str(path) for path in files],
        "game": game or "",
        "engines": list(names or (engines.BOT,)),
        "nodes": nodes,
        "thresholds": list(bounds),
        "candidates": candidates,
        "calibrations": _digest(calibration),
        "contents": hashlib.sha256(
            b"".join(hashlib.sha256(work.read(path)[0]).digest() for path in files)
        ).hexdigest()[:16],
    }
    digest = hashlib.sha256(msgspec.json.encode(plan)).hexdigest()[:8]
    with Kept(out or Path("runs") / f"review-{digest}", plan) as kept:
        _all(files, unit, kept, jobs, crowded, cluster)
        reviews = [document.read(value) for value in kept.values()]
        found_all = summary(reviews, worst)
        if html is not None:
            _pages(html, reviews, found_all)
        if as_json:
            print(json.dumps(summary_document(reviews, found_all)))
        else:
            print("\n".join(text.summary(found_all)))
            print(f"reviews: {kept.folder}{f', pages: {html}/index.html' if html else ''}")
    sys.exit(1 if found_all.complaints else 0)


def _all(
    files: Sequence[Path],
    unit: Callable[[int, Path], Unit],
    kept: Kept,
    jobs: int | None,
    crowded: bool,
    cluster: str | None,
) -> None:
    """Review all logs that are not done yet."""

    def units() -> Iterator[Unit]:
        for number, path in enumerate(files):
            if number in kept.done:
                yield Unit(number=number, game="", name=str(path), data=b"")
            else:
                yield unit(number, path)

    workers = running.workers(worker.play, jobs, cluster, crowded=crowded)
    work_off("logs", units(), len(files), workers, kept)


def _one(found: Review, html: Path | None, *, as_json: bool) -> None:
    """Print a review."""
    if html is not None and not found.complaint:
        _write(html, page(found))
    if as_json:
        print(msgspec.json.encode(found).decode())
    else:
        print("\n".join(text.lines(found)))
        if html is not None and not found.complaint:
            print(f"\npage: {html}")


def _pages(folder: Path, reviews: Sequence[Review], found: Summary) -> None:
    """A page for every review, and an index."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise QuartetError(f"cannot make the folder {folder}: {error.strerror}") from error
    for number, review in enumerate(reviews):
        if not review.complaint:
            _write(folder / f"{number:06}.html", page(review, home="index.html"))
    _write(folder / "index.html", index(reviews, found))


def _write(file: Path, content: str) -> None:
    try:
        file.write_text(content, encoding="utf-8")
    except OSError as error:
        raise QuartetError(f"cannot write {file}: {error.strerror}") from error


def found_logs(paths: Sequence[Path]) -> list[Path]:
    """The logs; of a folder all that lie in it, of a run's folder its games. Raises QuartetError
    where there are none."""
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            if not path.exists():
                raise QuartetError(f"there is no log {path}")
            found.append(path)
            continue
        home = path / "games" if (path / "run.json").is_file() else path
        inside = sorted(file for file in home.iterdir() if file.suffix in ENDS and file.is_file())
        if not inside:
            raise QuartetError(f"{path}: there are no logs in this folder ({', '.join(ENDS)})")
        found += inside
    return found


def _thresholds(given: str) -> tuple[float, ...]:
    """Raises QuartetError."""
    try:
        bounds = tuple(float(part) for part in given.split(","))
    except ValueError:
        bounds = ()
    if len(bounds) != len(THRESHOLDS) or list(bounds) != sorted(bounds) or not 0 < bounds[0] <= 1:
        raise QuartetError(f"--thresholds wants four rising numbers, not {given!r}")
    return bounds


def _digest(file: Path | None) -> str:
    """Of the calibrations: other ones give another review."""
    from quartet import registry  # noqa: PLC0415

    files = [file] if file else [calibrations.place_of(name) for name in registry.GAMES]
    data = b"".join(path.read_bytes() for path in files if path.is_file())
    return hashlib.sha256(data).hexdigest()[:16]
