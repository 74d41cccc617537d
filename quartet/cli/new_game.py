"""`quartet new-game`: make the folder of a game that plays, is judged, drawn and tested before a
line of it is changed."""

from __future__ import annotations

import keyword
import re
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from core.errors import QuartetError
from quartet import registry

if TYPE_CHECKING:
    from pathlib import Path

TEMPLATE = registry.ROOT / "build" / "template"
"""Noughts and crosses, and its data for the tests."""
NAME, TITLE = "noughts", "Noughts and crosses"
"""The words of the template that are exchanged."""
GAMES = "GAMES = {\n"
"""Where a game's line goes, in the registry."""


@click.command(short_help="Make the folder of a new game, which plays at once.")
@click.argument("name")
@click.option("--title", help="What people call the game  [default: NAME].")
def command(name: str, title: str | None) -> None:
    """Make the game NAME in this checkout: noughts and crosses under another name, with rules (slow
    and fast), engine, agent, scene, and the data of its tests. Then change it, file by file.

    \b
    quartet new-game tictac
    python3 build/run.py quartet match tictac human bot
    python3 build/run.py pytest tests/test_contract.py -k tictac
    """
    listed = registry.ROOT / "quartet" / "registry.py"
    if not (TEMPLATE.is_dir() and (registry.ROOT / "tests").is_dir()):
        raise QuartetError("a game is made in a checkout of the project; this one is installed")
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise QuartetError(f"{name!r} is no name of a package: use small letters and digits")
    if find_spec(name) is not None:
        raise QuartetError(f"there is a module called {name} already; choose another name")
    folders = registry.ROOT / name, registry.ROOT / "tests" / "data" / name
    for folder in folders:
        if folder.exists():
            raise QuartetError(f"{folder} is there already")
    for source, target in zip((TEMPLATE / NAME, TEMPLATE / "data"), folders, strict=True):
        _copy(source, target, name, title or name.capitalize())
    text = listed.read_text(encoding="utf-8")
    line = f'{GAMES}    "{name}": "{name}",\n'
    listed.write_text(text.replace(GAMES, line, 1), encoding="utf-8")
    for made in (*folders, listed):
        print(made.relative_to(registry.ROOT))


def _copy(source: Path, target: Path, name: str, title: str) -> None:
    """Copy the files that people write, with the game's own name in them."""
    target.mkdir(parents=True)
    for file in sorted(source.iterdir()):
        if file.suffix in {".py", ".pyx", ".pxd", ".pyi", ".md", ".json", ".txt"}:
            text = file.read_text(encoding="utf-8")
            text = text.replace(TITLE, title).replace(TITLE.lower(), title).replace(NAME, name)
            (target / file.name).write_text(text, encoding="utf-8", newline="\n")
