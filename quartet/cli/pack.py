"""`quartet pack`: makes what a judge takes, and proves that it works by playing with it.

A target is a module of `build/` with two functions; a new one is that module and a line in TARGETS.

    make(game, out, **options) -> Path    writes the artefact into the folder `out`, and gives its
                                          main file
    start(artefact, folder) -> command    lays the artefact into an empty folder as its judge does,
                                          and gives the command by which the judge starts it there,
                                          a list of words; None where this machine cannot run it

Both raise QuartetError. What they print on standard error is for people. `build/proof.py` knows two
more things that a target may have.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from quartet import registry
from quartet.cli import workshop

TARGETS = ("exe", "nypc", "alphano", "binary")
OPTIONS = {
    "platform": ("exe",),
    "windows_python": ("exe",),
    "onedir": ("exe",),
    "limit": ("alphano",),
}
"""Option -> the targets that know it."""


@click.command(short_help="Make what a judge takes.")
@click.argument("target", type=click.Choice(TARGETS))
@click.argument("game")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for what is made.",
)
@click.option(
    "--platform",
    type=click.Choice(["native", "windows"]),
    help="exe: the system it is for  [default: this one].",
)
@click.option(
    "--windows-python",
    type=click.Path(path_type=Path),
    help="exe: a folder with a Python for Windows.",
)
@click.option(
    "--onedir",
    is_flag=True,
    default=None,
    help="exe: a folder instead of one file; it starts faster.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="BYTES",
    help="alphano: warn when the file is larger.",
)
@click.option("--no-proof", is_flag=True, help="Do not play with it.")
def command(target: str, game: str, out: Path, no_proof: bool, **options: object) -> None:
    """Make TARGET for GAME in the folder --out.

    \b
    exe       one file for the contest's server, which starts it anew for every move
    nypc      main.py and data.bin
    alphano   one Python file
    binary    one executable file for this platform, for other programs and local matches

    In the end it is started as its judge starts it, in an empty folder, and plays whole games
    against a built-in player; at a fixed number of nodes it must play what the engine plays from
    source.

    \b
    quartet pack exe ugolki --platform windows --out dist
    quartet pack nypc connexion --out dist
    quartet pack alphano ataxx --out dist
    """
    registry.check(game)
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if target not in OPTIONS[name]:
            raise click.UsageError(
                f"--{name.replace('_', '-')} is for {', '.join(OPTIONS[name])}, not for {target}"
            )
    workshop.run_in_tree()
    tool = workshop.load(target)
    out.mkdir(parents=True, exist_ok=True)
    artefact: Path = tool.make(game, out.resolve(), **given)
    print(artefact)
    sys.stdout.flush()
    if not no_proof:
        workshop.load("proof").prove(game, artefact, tool)
