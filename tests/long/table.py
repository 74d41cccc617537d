"""Write the table of `docs/trust.md` from the records of the long trials: `python -m
tests.long.table`."""

from __future__ import annotations

import textwrap
from pathlib import Path

import click

from core.commands.program import execute
from quartet.registry import GAMES, ROOT
from tests.long.catalogue import TRIALS, LongTrial
from tests.long.trials import Slice, slices
from tests.prose import WIDTH

DOCUMENT = ROOT / "docs" / "trust.md"
BEGIN, END = "<!-- made by python -m tests.long.table -->", "<!-- end of the table -->"
HEAD = """| trial | amount | goal | findings | fixed | time | dates | commit |
|---|---|---|---|---|---|---|---|"""


def table() -> str:
    """Return the table: a row per trial that has a slice, the machines, and the other trials,
    without those of games that have no slice at all. Raises QuartetError."""
    records = {name: slices(name) for name in TRIALS}
    rows = [row(TRIALS[name], lines) for name, lines in records.items() if lines]
    machines = dict.fromkeys(line.machine for lines in records.values() for line in lines)
    by_game = {f"-{game}": [n for n in records if n.endswith(f"-{game}")] for game in GAMES}
    untried = tuple(end for end, names in by_game.items() if not any(map(records.get, names)))
    missing = [
        f"`{name}`" for name, lines in records.items() if not lines and not name.endswith(untried)
    ]
    parts = [f"Machines: {'; '.join(filter(None, machines))}."] if rows else []
    parts += [f"Not run: {', '.join(missing)}."] if missing else []
    wrapped = [textwrap.fill(part, WIDTH, break_on_hyphens=False) for part in parts]
    return "\n\n".join(["\n".join([HEAD, *rows]), *wrapped])


def row(trial: LongTrial, lines: list[Slice]) -> str:
    """Return the row of a trial."""
    last = lines[-1].tested
    now = sum(line.count for line in lines if line.tested == last)
    total = sum(line.count for line in lines)
    amount = f"{now:,}" + (f" ({total:,} with earlier versions)" if total > now else "")
    seconds = sum(line.seconds for line in lines)
    dates = sorted({line.date for line in lines})
    cells = (
        trial.title,
        f"{amount} {trial.unit}",
        f"{trial.goal:,}",
        "; ".join(text for line in lines for text in line.findings) or "none",
        "; ".join(text for line in lines for text in line.fixes),
        f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.0f} min",
        dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}",
        next(line.commit for line in reversed(lines) if line.machine),
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def rewritten(text: str) -> str:
    """Return the document with the table between its marks. Raises QuartetError."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


@click.command()
@click.argument(
    "document", type=click.Path(dir_okay=False, exists=True, path_type=Path), default=DOCUMENT
)
def main(document: Path) -> None:
    """Write the table into DOCUMENT [default: docs/trust.md]."""
    document.write_text(rewritten(document.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    execute(main)
