"""`quartet new-game`: make the package of a new game, which is playable before it is changed."""

from __future__ import annotations

import keyword
import re
from importlib.util import find_spec
from pathlib import Path

import click

from core.errors import QuartetError
from quartet import registry
from quartet.bench import fingerprint

TEMPLATE = registry.ROOT / "build" / "template"
"""Folder of noughts and crosses, of its test data and of its fingerprint."""
NAME, TITLE = "noughts", "Noughts and crosses"
"""Words of the template that are replaced."""
LISTS = {
    "quartet/registry.py": ('\n}\n"""Game name -> package."""', '    "{name}": "{name}",'),
    "mkdocs.yml": ("\n      - Results: docs/results.md", '      - "{title}": {name}/RULES.md'),
}
"""File that lists all games -> the text before which a game is added, and its line."""


@click.command(short_help="Make the package of a new game from a template.")
@click.argument("name")
@click.option("--title", help="Title of the game  [default: NAME, capitalised].")
def command(name: str, title: str | None) -> None:
    """Add the game NAME to this checkout: noughts and crosses under another name. It has reference
    and fast rules, an engine, an agent, a scene, and test data. Then change it, file by file, as
    docs/add-a-game.md says.

    \b
    quartet new-game tictac
    python3 build/run.py quartet match tictac human bot
    python3 build/run.py pytest -k tictac
    """
    title = title or name.capitalize()
    if not (TEMPLATE.is_dir() and (registry.ROOT / "tests").is_dir()):
        raise QuartetError("a new game needs a checkout of the project; this is an installation")
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise QuartetError(f"{name!r} cannot name a package: use small letters and digits")
    if not re.fullmatch(r"\w[\w .,:!?'()-]*", title):
        raise QuartetError(
            f"{title!r} cannot be a title: use letters, digits, spaces and . , : ! ? ' ( ) -"
        )
    if find_spec(name) is not None:
        raise QuartetError(f"there is already a module called {name}; choose another name")
    folders = registry.ROOT / name, registry.ROOT / "tests" / "data" / name
    for folder in folders:
        if folder.exists():
            raise QuartetError(f"{folder} already exists")
    for source, target in zip((TEMPLATE / NAME, TEMPLATE / "data"), folders, strict=True):
        _copy(source, target, name, title)
    for file, (end, line) in LISTS.items():
        place = registry.ROOT / file
        text = place.read_text(encoding="utf-8")
        added = f"\n{line.format(name=name, title=title)}{end}"
        place.write_text(text.replace(end, added, 1), encoding="utf-8")
    recorded = (TEMPLATE / "fingerprint.txt").read_text(encoding="utf-8").replace(NAME, name)
    fingerprint.record(dict(line.split() for line in recorded.splitlines()))
    changed = (registry.ROOT / file for file in LISTS)
    for made in (*folders, *changed, fingerprint.RECORDED):
        print(made.relative_to(registry.ROOT))


def _copy(source: Path, target: Path, name: str, title: str) -> None:
    """Copy the source files, with the game's name in them."""
    target.mkdir(parents=True)
    for file in sorted(source.iterdir()):
        if file.suffix in {".py", ".pyx", ".pxd", ".pyi", ".md", ".json", ".txt"}:
            text = file.read_text(encoding="utf-8")
            text = text.replace(TITLE, title).replace(TITLE.lower(), title).replace(NAME, name)
            (target / file.name).write_text(text, encoding="utf-8", newline="\n")
