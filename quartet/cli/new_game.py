"""`quartet new-game`: make the package of a new game, which is playable before it is changed."""

from __future__ import annotations

import keyword
import re
from importlib.util import find_spec
from pathlib import Path

import click

from core.errors import QuartetError
from quartet import registry

TEMPLATE = registry.ROOT / "build" / "template"
"""Folder of noughts and crosses, and of its test data."""
NAME, TITLE = "noughts", "Noughts and crosses"
"""Words of the template that are replaced."""
GAMES = "GAMES = {\n"
"""Line of the registry after which a game is added."""


@click.command(short_help="Make the package of a new game from a template.")
@click.argument("name")
@click.option("--title", help="Title of the game  [default: NAME].")
def command(name: str, title: str | None) -> None:
    """Add the game NAME to this checkout: noughts and crosses under another name. It has reference
    and fast rules, an engine, an agent, a scene, and test data. Then change it, file by file.

    \b
    quartet new-game tictac
    python3 build/run.py quartet match tictac human bot
    python3 build/run.py pytest tests/test_contract.py -k tictac
    """
    listed = registry.ROOT / "quartet" / "registry.py"
    if not (TEMPLATE.is_dir() and (registry.ROOT / "tests").is_dir()):
        raise QuartetError("a new game needs a checkout of the project; this is an installation")
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise QuartetError(f"{name!r} cannot name a package: use small letters and digits")
    if find_spec(name) is not None:
        raise QuartetError(f"there is already a module called {name}; choose another name")
    folders = registry.ROOT / name, registry.ROOT / "tests" / "data" / name
    for folder in folders:
        if folder.exists():
            raise QuartetError(f"{folder} already exists")
    for source, target in zip((TEMPLATE / NAME, TEMPLATE / "data"), folders, strict=True):
        _copy(source, target, name, title or name.capitalize())
    text = listed.read_text(encoding="utf-8")
    line = f'{GAMES}    "{name}": "{name}",\n'
    listed.write_text(text.replace(GAMES, line, 1), encoding="utf-8")
    for made in (*folders, listed):
        print(made.relative_to(registry.ROOT))


def _copy(source: Path, target: Path, name: str, title: str) -> None:
    """Copy the source files, with the game's name in them."""
    target.mkdir(parents=True)
    for file in sorted(source.iterdir()):
        if file.suffix in {".py", ".pyx", ".pxd", ".pyi", ".md", ".json", ".txt"}:
            text = file.read_text(encoding="utf-8")
            text = text.replace(TITLE, title).replace(TITLE.lower(), title).replace(NAME, name)
            (target / file.name).write_text(text, encoding="utf-8", newline="\n")
