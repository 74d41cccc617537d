"""`quartet pack`: make a submission for a judge, and play games with it.

A target is a module of `build/` with two functions; a new one is that module and a line in TARGETS.

    make(game, out, **options) -> Path    write the artefact into the folder `out`, and return its
                                          main file
    start(artefact, folder) -> command    put the artefact into an empty folder as its judge does, and
                                          return the list of words by which the judge starts it there;
                                          None if this machine cannot run it

Both raise QuartetError, and print progress on standard error. `build/proof.py` documents two
optional attributes of a target.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from quartet import registry
from quartet.cli import build_tools, outputs
from quartet.cli.paths import PathType

TARGETS = ("exe", "nypc", "alphano", "binary")
OPTIONS = {
    "platform": ("exe",),
    "windows_python": ("exe",),
    "onedir": ("exe",),
    "limit": ("alphano",),
}
"""Option -> its targets."""
FILES = {"nypc": "main.py", "alphano": "{game}.py"}
"""Target -> its main file, for targets that write Python; `build.bundle` names the game in it."""


@click.command(short_help="Make a submission for a judge, and test it.")
@click.argument("target", type=click.Choice(TARGETS))
@click.argument("game")
@click.option(
    "--out",
    required=True,
    type=PathType(file_okay=False),
    help="Folder for the submission; for nypc, one for each game.",
)
@click.option(
    "--platform",
    type=click.Choice(["native", "windows"]),
    help="exe: system that runs it  [default: this one].",
)
@click.option(
    "--windows-python",
    type=PathType(),
    help="exe: folder with a Python for Windows.",
)
@click.option(
    "--onedir",
    is_flag=True,
    default=None,
    help="exe: make a folder instead of one file; it starts faster.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="BYTES",
    help="alphano: warn when the file is larger.",
)
@click.option("--no-proof", is_flag=True, help="Do not play test games.")
def command(target: str, game: str, out: Path, no_proof: bool, **options: object) -> None:
    """Make TARGET for GAME in the folder --out.

    \b
    exe       one file for the contest's server, which starts it once per move
    nypc      main.py and data.bin; NYPC plays applegame and connexion
    alphano   one Python file; ALPHANO plays ataxx
    binary    one executable file for this platform, for other programs and local matches

    Finally, the command starts the submission as its judge does, in an empty folder. It plays whole
    games against a built-in player. At a fixed number of nodes its moves must be the engine's.

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
    if "windows_python" in given and given.get("platform") != "windows":
        raise click.UsageError("--windows-python is for --platform windows")
    if target in FILES:
        file = out / FILES[target].format(game=game)
        outputs.require("--out", file, begins=f'"""plays {game} '.encode())
    build_tools.run_in_tree()
    tool = build_tools.load(target)
    out.mkdir(parents=True, exist_ok=True)
    artefact: Path = tool.make(game, out.resolve(), **given)
    print(artefact)
    sys.stdout.flush()
    if not no_proof:
        build_tools.load("proof").prove(game, artefact, tool)
