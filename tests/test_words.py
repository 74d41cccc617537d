"""Every text that the page can show is translated: those of the page, the server and the games."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from core.engine import options_of
from quartet import registry
from quartet.judge import game as games
from quartet.judge.seats import players as seating
from tests.games import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LANGUAGES = ("ru", "ko")
OURS = {"ataxx", "applegame", "connexion", "ugolki"}
"""Games whose texts must be translated. Others may be: their `messages/` are optional."""
SERVER = (
    *sorted((ROOT / "quartet" / "web").glob("*.py")),
    *sorted((ROOT / "quartet" / "judge").rglob("*.py")),
    *(ROOT / "core" / name for name in ("dialect.py", "engine.py", "messages.py")),
)
"""Modules whose messages the page can show."""
PARTS = ("protocol", "reference", "scene", "text", "fen", "openings")
"""Modules of a game whose messages the page can show."""
SENTENCE = re.compile(r"[a-z]{2,} [a-z{]|\} [a-z]{2,}")
SILENT = {
    # statuses that other modules put into words, and what only the command line prints
    *("a line has come", "the time was up", "the program held too much memory"),
    "more output than any answer has, without an end of the line",
    "the program has exited, or closed its output",
    *("it exited, with whatever status", "its time was up", "it held too much memory"),
    *("the system could not start it", "pipe reader", "the player has answered"),
    *("there is no game", "{} plies, {} {}", ", places {}", "info depth "),
    *("player of this checkout", "player of another commit of this project"),
    *("program that an adapter of the game runs", "executable file or shell command"),
    *("there is no sandbox on this machine: {}", "bubblewrap cannot make one: {}"),
    "{} is missing (Linux only; Debian and Ubuntu: apt install {})",
    *("(only the first {} bytes are kept)", "this judge does not say {}"),
    '<meta http-equiv="refresh" content="0;url={}">',
    *("every game writes its own INIT", " ({}, line {})", "ply {} passes {}"),
    # the judges' codes, which logs have
    *("Not legal", "Parse failed", "Out of range", "Sum not equals to 10", "Not fit"),
    # abilities of engines, and parts of sentences
    *("points of its own", "reports during the search, and can be stopped"),
    *("can forget previous games", "divides a game clock itself", "lists candidate moves"),
    *("learns from the other players' moves", "counts the visits of each move"),
    *("estimates each seat's win share", "solves endings", "shows several lines"),
    *(" from {} to {}", "is given twice", "is not of the form OPTION=VALUE"),
    "; it is running and has written nothing: does it flush its output?",
    # what the server prints at the terminal
    *("cannot use the data folder {}: {}", "quartet: skipped the damaged file {}: {}"),
    "another server uses the data folder {}: end it, or name another with --data",
    "quartet: cannot write {}: {}; games may be lost with the server",
}
"""Sentences that the page does not show, at least not in this form."""
ASSEMBLED = {
    # names of seats and players
    *("FIRST", "SECOND", "FIRST {}", "SECOND {}", "human", "guest", "new", "old", "pass"),
    # sentences of several parts
    *("{}; {}", "exit status {}: {}", "an integer", "an integer from {} to {}"),
    *("a number from {} to {}", "{} is given twice", "FIRST resigned", "SECOND resigned"),
    "{}; it is running and has written nothing: does it flush its output?",
    *(f"this {kind} does not exist any more" for kind in ("match", "review", "analysis")),
    *(f"the {side} side of {{}} has no digit" for side in ("top", "bottom", "left", "right")),
    *("groups of FIRST, of equal pattern", "groups of SECOND, of equal colour"),
    *(f"points that {side} gains there with its best tile" for side in ("FIRST", "SECOND")),
    *("nothing", "resigned", "a second FINISH", "a second INIT"),
    # messages of other modules
    "{} is {}, not from {} to {}",
    *(
        "Expected {} - at `$.{}`",
        "ratings need choix: {}",
        "{} leads",
        "nobody leads",
        "{} against {}",
    ),
}
"""Texts that are assembled from parts of sentences, or come from other modules."""


def template(node: ast.AST) -> str | None:
    """Return the text of a literal with {} for every value in it."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def sentences(path: Path) -> Iterator[str]:
    """Yield the sentences among the literals of a module; docstrings are none."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr | ast.Expr)
        for part in ast.iter_child_nodes(node)
    }
    for node in ast.walk(tree):
        text = template(node)
        if text and id(node) not in inside and SENTENCE.search(text):
            yield text


def of_game(name: str) -> set[str]:
    """Return the texts of a game."""
    info = games.load(name).info
    package = ROOT / registry.GAMES[name]
    found = {info.name, info.title, info.score_name}
    found |= {option.help for option in info.options.values()}
    for part in PARTS:
        if (package / f"{part}.py").is_file():
            found |= {*sentences(package / f"{part}.py")}
    for player in seating.names(name):
        found.add(re.sub(r":.*", ":{}", player))
        options = options_of(seating.built_in(name, player))
        found |= {option.help for option in options if option.kind is not str}
    return found - {seating.EMPTY_SEAT}


def messages(package: Path, language: str) -> Path:
    return package / "messages" / f"{language}.json"


def translations(package: Path, language: str) -> dict[str, str]:
    text = messages(package, language).read_text(encoding="utf-8")
    found: dict[str, str] = json.loads(text)
    return found


def translated(language: str) -> list[str]:
    """Return the games whose texts are translated into a language."""
    return [
        game
        for game, package in registry.GAMES.items()
        if game in OURS or messages(ROOT / package, language).is_file()
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_of_the_server_is_translated(language: str) -> None:
    known = translations(ROOT / "quartet" / "web", language)
    wanted = {text for path in SERVER for text in sentences(path)}
    assert wanted - SILENT - set(known) == set()
    shared = {text for name in registry.GAMES for text in of_game(name)}
    assert set(known) - wanted - ASSEMBLED - shared == set(), "no code has these"


@pytest.mark.parametrize(
    ("name", "language"),
    [(name, language) for language in LANGUAGES for name in translated(language)],
)
def test_every_text_of_a_game_is_translated(name: str, language: str) -> None:
    shared = translations(ROOT / "quartet" / "web", language)
    own = translations(ROOT / registry.GAMES[name], language)
    assert of_game(name) - SILENT - set(own) - set(shared) == set()
    assert set(own) - of_game(name) - ASSEMBLED == set(), "no code has these"


@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_keep_what_they_quote(language: str) -> None:
    """No two packages translate a text differently, and no value is invented."""
    all_of_them: dict[str, str] = {}
    for package in ("quartet/web", *(registry.GAMES[name] for name in translated(language))):
        for english, own in translations(ROOT / package, language).items():
            assert all_of_them.setdefault(english, own) == own
            assert own.strip()
            quoted = Counter(re.findall(r"\{(\d)\}", own))
            assert set(quoted) <= {str(n + 1) for n in range(english.count("{}"))}, english
