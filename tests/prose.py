"""Find damaged prose: ragged wraps, merged tables, and names of files and objects that do not
exist.

Prose is a comment, a docstring or a Markdown paragraph. A formatter that joins or breaks its lines
leaves traces that this module finds: `python -m tests.prose` prints them, and `--fix` wraps damaged
paragraphs again. Code, tables and indented examples are not prose.
"""

from __future__ import annotations

import builtins
import re
import subprocess
import sys
import textwrap
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from quartet import registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WIDTH = 100
"""Characters per line."""
SLACK = 8
"""A line may be this much shorter than the longest line of its paragraph allows."""
PYTHON = {".py", ".pyi", ".pyx", ".pxd", ".pxi"}
C = {".h", ".c"}
HASH = {".toml", ".yml", ".yaml", ""}
CODE = PYTHON | C | HASH | {".json", ".js", ".html"}
FOREIGN = ("frozen", "vendor", "data", "source", ".build", ".pytest_cache")
"""Folders whose files are not checked. Git omits those with a dot, but a copy may lack git."""
HISTORY = ("docs/experiments/", "docs/results", "CHANGELOG.md")
"""Documents that describe former versions: they may name what is gone."""


class Line(NamedTuple):
    """A line of prose.

    Attributes:
        number: The line in its file, from 1.
        indent: The column at which the text starts.
        text: The text without comment marks.
        width: The length of the whole line of the file.
        starts: True if the line starts an item.
    """

    number: int
    indent: int
    text: str
    width: int
    starts: bool = False


@cache
def files(root: Path) -> list[Path]:
    """Return the files that have prose, without copies and data of others."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    names = listed.stdout.splitlines() if listed.returncode == 0 else ()
    found = [root / name for name in names] or list(root.rglob("*"))
    return sorted(
        path
        for path in found
        if path.suffix in PYTHON | C | HASH | {".md"}
        and path.is_file()
        and not set(path.relative_to(root).parts[:-1]) & {*FOREIGN}
        and path.name != "LICENSE"
        and not path.name.startswith(".git")
    )


# Extraction


def blocks(path: Path) -> Iterator[list[Line]]:
    """Return the comments, docstrings or paragraphs of a file; lines of a block are adjacent."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    if path.suffix == ".md":
        yield from _markdown(lines)
    elif path.suffix in C:
        yield from _c_comments(lines)
    elif path.suffix in PYTHON | HASH:
        yield from _hash_comments(lines)
        if path.suffix in PYTHON:
            yield from _docstrings(lines)


def _line(number: int, line: str, start: int, end: int | None = None) -> Line:
    text = line[start:end]
    return Line(number, start + len(text) - len(text.lstrip()), text.strip(), len(line.rstrip()))


def _docstrings(lines: Sequence[str]) -> Iterator[list[Line]]:
    """Yield strings in triple quotes that start a line."""
    block: list[Line] | None = None
    is_code = False  # within a string that does not start its line
    for number, line in enumerate(lines, start=1):
        marks = line.count('"""')
        opening = re.match(r'\s*r?"""', line)
        if is_code:
            is_code = marks % 2 == 0
        elif block is None and opening:
            start = opening.end()
            first = _line(number, line, start, len(line) - 3 if marks == 2 else None)
            block = [first._replace(indent=len(line) - len(line.lstrip()))]
            if marks == 2:
                yield block
                block = None
        elif block is not None and marks:
            block.append(_line(number, line, 0, line.index('"""')))
            yield block
            block = None
        elif block is not None:
            block.append(_line(number, line, 0))
        else:
            is_code = marks % 2 == 1


def _hash_comments(lines: Sequence[str]) -> Iterator[list[Line]]:
    """Yield comments on lines without code."""
    block: list[Line] = []
    last = 0  # where the text of the line above starts
    for number, line in enumerate(lines, start=1):
        mark = re.match(r"\s*#(?!!)", line)
        if mark is None or (block and mark.end() != last):  # another indentation, another comment
            if block:
                yield block
            block = []
        if mark is not None:
            last = mark.end()
            block.append(_line(number, line, mark.end()))
    if block:
        yield block


def _c_comments(lines: Sequence[str]) -> Iterator[list[Line]]:
    block: list[Line] = []
    for number, line in enumerate(lines, start=1):
        if block:
            end = line.find("*/")
            block.append(_line(number, line, 0, end if end >= 0 else None))
            if end < 0:
                continue
            yield block
            block = []
        elif (start := line.find("/*")) >= 0:
            end = line.find("*/", start)
            block.append(_line(number, line, start + 2, end if end >= 0 else None))
            if end >= 0:
                yield block
                block = []


def _markdown(lines: Sequence[str]) -> Iterator[list[Line]]:
    """Yield paragraphs outside code, tables and HTML."""
    block: list[Line] = []
    fenced = False
    for number, line in enumerate(lines, start=1):
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        if fenced or fence or re.match(r"\s*(\||#|<|:::|---|===|!!!|\w+: )", line):
            block += [Line(number, 0, mark, 0) for mark in ("<>", "")]
        else:
            block.append(_line(number, line, 0))
    if block:
        yield block


# Wraps


SECTION = re.compile(r"^(Args|Attributes|Raises|Returns|Yields|Environment variables)\b.*:$")
BULLET = re.compile(r"^([-+•]|\d+\.) +(?=\S)")
ROW = re.compile(r"(?<=\S) {2,}(?=\S)|[─│┐┘└┤├]")
WIDE_GAP = re.compile(r"(?<=\S) {3,}(?=\S)")
END = (".", ":", ";", "!", "?", ")", "`")
"""A line may end early after one of these."""


def wrap_damage(root: Path, path: Path) -> Iterator[str]:
    """Return lines of a file whose wrap looks like a formatter's accident."""
    name = path.relative_to(root).as_posix()
    for block in blocks(path):
        found = list(_stray_stars(block)) if path.suffix in C else []
        text = list(without_examples(block))
        found += _merged_rows(text)
        for paragraph in paragraphs(text):
            found += _ragged(paragraph)
        yield from (f"{name}:{number}: {what}" for number, what in found)


def without_examples(block: Sequence[Line]) -> Iterator[Line]:
    """Return the lines of a block, with empty ones for examples and with items set apart.

    An example is indented below a text, or follows click's mark. An item is a bullet or an
    entry of a section; its text starts where its second line does.
    """
    base: int | None = None  # the indentation of the text above an example
    section: int | None = None  # the indentation of a section's title
    verbatim = False
    before, above = Line(0, 0, "", 0), None
    for line in block:
        verbatim = line.text == "\\b" or (verbatim and line.text != "")
        if line.text and base is not None and line.indent <= base:
            base = None
        if line.text and section is not None and line.indent <= section:
            section = None
        bullet = BULLET.match(line.text)
        if SECTION.match(line.text):
            section = line.indent
        elif (
            section is None
            and base is None
            and above
            and (not before.text or before.text[-1] == ":")
        ):
            base = above.indent if line.indent >= above.indent + 4 and not bullet else None
        if verbatim or base is not None:
            yield line._replace(text="")
        elif bullet:
            yield line._replace(
                indent=line.indent + bullet.end(), text=line.text[bullet.end() :], starts=True
            )
        elif section is not None and line.indent == section + 4:
            yield line._replace(indent=section + 8, starts=True)
        else:
            yield line
        before, above = line, line if line.text and base is None else above


def paragraphs(block: Sequence[Line]) -> Iterator[list[Line]]:
    """Split a block at blank lines and items, and leave tables out."""
    found: list[Line] = []
    is_table = False
    for line in block:
        is_table = bool(line.text and (is_table or ROW.search(line.text)))
        if found and (not line.text or line.starts or is_table):
            yield found
            found = []
        if line.text and not is_table:
            found.append(line)
    if found:
        yield found


def _stray_stars(block: Sequence[Line]) -> Iterator[tuple[int, str]]:
    stars = [line for line in block[1:] if line.text.startswith("* ")]
    if stars and len(stars) < sum(bool(line.text) for line in block[1:]):
        yield stars[0].number, "a stray * starts the line"


def _merged_rows(block: Sequence[Line]) -> Iterator[tuple[int, str]]:
    """Yield rows whose first column is the end of the row above."""
    gaps = [(line, gap) for line in block if (gap := WIDE_GAP.search(line.text))]
    for (above, one), (below, other) in pairwise(gaps):
        same = above.indent + one.end() == below.indent + other.end()
        words = below.text[: other.start()].split()
        if (
            above.indent == below.indent
            and not same
            and len(words) > 1
            and words[0].rstrip(".").isalpha()
        ):
            yield below.number, "rows of a table run into each other"


def _ragged(paragraph: Sequence[Line]) -> Iterator[tuple[int, str]]:
    widest = min(WIDTH, max(line.width for line in paragraph))
    for above, below in pairwise(paragraph):
        fits = above.width + 1 + len(below.text.split()[0])
        if below.indent > above.indent and fits > WIDTH - SLACK and above.text[-1] != ":":
            yield below.number, "the line is indented, but continues the one above"
        elif below.indent == above.indent and fits <= widest - SLACK and above.text[-1] not in END:
            yield above.number, "the line ends early"
    for line in paragraph:
        if line.width > WIDTH and " " in line.text[: WIDTH - line.width]:
            yield line.number, f"the line is longer than {WIDTH} characters"


# Names


OURS = (*registry.PACKAGES, "build", "tests")
FILE = re.compile(
    r"(?<![\w./*{}<>$-])((?:[\w.-]+/)*\w[\w-]*\.(?:pyx|pyi|py|pxd|pxi|h|md))(?![\w*/])"
)
DOTTED = re.compile(rf"(?<![\w./-])((?:{'|'.join(OURS)})(?:\.[a-z_]\w*)+)(?![\w/-])")
QUOTED = re.compile(r"`([A-Za-z_][\w.]*[A-Za-z_]{2})(?:\(\))?`")
PLACEHOLDER = re.compile(r"(^|[/.])([A-Z]{3,})(?!.*RULES)([/.]|-|$)")
ELSEWHERE = {
    *("Python.h", "windows.h", "winternl.h"),  # systems
    "stat_util.py",  # fishtest
    *("RELEASE.md", "mine.py", "dist/ataxx.py", "ugolki.exe", "quartet.ini"),  # made by commands
}
"""Files that are not in the project."""


def missing_names(root: Path, path: Path) -> Iterator[str]:
    """Return references of a file's prose to project files and attributes that do not exist."""
    name = path.relative_to(root).as_posix()
    if name.startswith(HISTORY):
        return
    for block in blocks(path):
        for line in without_examples(block):
            for target in _missing(root, path, line.text):
                yield f"{name}:{line.number}: {target} does not exist"
        for line in block:
            for found in QUOTED.finditer(line.text):
                if not set(found[1].split(".")) <= words(root):
                    yield f"{name}:{line.number}: {found[1]} is in no code"


def _missing(root: Path, path: Path, text: str) -> Iterator[str]:
    for found in FILE.finditer(text):
        target = found[1]
        places = (root, path.parent, *(root / folder for folder in OURS))
        known = any((place / target).is_file() for place in places) or _is_below(root, target)
        if target not in ELSEWHERE and not PLACEHOLDER.search(target) and not known:
            yield target
    for found in DOTTED.finditer(text):
        if found[1] not in ELSEWHERE and not _resolves(root, found[1].split(".")):
            yield found[1]


@cache
def words(root: Path) -> frozenset[str]:
    """Return the words of all code files, and Python's own."""
    found = {*dir(builtins), ""}
    for path in root.rglob("*.*"):
        if (
            path.suffix in CODE
            and path.is_file()
            and not path.relative_to(root).parts[0].startswith(".")
        ):
            lines = path.read_text(encoding="utf-8").splitlines()
            prose = {line.number for block in blocks(path) for line in block}
            code = (line for number, line in enumerate(lines, start=1) if number not in prose)
            found |= set(re.findall(r"\w+", "\n".join(code)))
    return frozenset(found)


@cache
def _is_below(root: Path, target: str) -> bool:
    """Return True if some folder has this file."""
    return any(target == "/".join(path.parts[-len(Path(target).parts) :]) for path in files(root))


def _resolves(root: Path, words: Sequence[str]) -> bool:
    """Return True if the words are a module, or a module and a name that it defines."""
    for count in range(len(words), 0, -1):
        place = root.joinpath(*words[:count])
        if count == len(words) and (place.is_dir() or _module(place)):
            return True
        text = _module(place) or _module(place / "__init__")
        if text and count < len(words):
            name = re.escape(words[count])
            return bool(
                re.search(
                    rf"(def|class|cdef|cpdef|struct)\b.*\b{name}\b|^\s*{name}\b", text, re.MULTILINE
                )
            )
    return False


@cache
def _module(place: Path) -> str:
    """Return the text of a module's files; empty if there are no files."""
    found = [place.with_suffix(suffix) for suffix in sorted(PYTHON | {".h"})]
    return "\n".join(path.read_text(encoding="utf-8") for path in found if path.is_file())


# Repair


def repair(path: Path) -> None:
    """Wrap every paragraph of a file again whose wrap is damaged. Tables are left as they are."""
    tried: set[int] = set()
    while found := _damaged(path, tried):
        tried.add(found[0].number)
        lines = path.read_text(encoding="utf-8").split("\n")
        lines[found[0].number - 1 : found[-1].number] = _wrapped(lines, found)
        path.write_text("\n".join(lines), encoding="utf-8")


def _damaged(path: Path, tried: set[int]) -> list[Line]:
    """Return the first damaged paragraph that does not start at one of these lines; empty if there
    is none."""
    for block in blocks(path):
        for paragraph in paragraphs(list(without_examples(block))):
            if paragraph[0].number not in tried and any(_ragged(paragraph)):
                return paragraph
    return []


def _wrapped(lines: Sequence[str], paragraph: Sequence[Line]) -> list[str]:
    """Return the lines of a file that hold a paragraph, filled up to WIDTH."""
    first, last = paragraph[0], paragraph[-1]
    opening, closing = lines[first.number - 1], lines[last.number - 1]
    start, end = opening.find(first.text), closing.rfind(last.text) + len(last.text)
    prefix, suffix = opening[:start], closing[end:]
    if start < 0 or suffix.strip() not in {"", '"""', "*/"}:
        return list(lines[first.number - 1 : last.number])
    margin = len(prefix) - len(prefix.lstrip())
    if '"""' in prefix:
        rest = " " * margin
    elif prefix.lstrip().startswith("#"):
        rest = prefix
    elif first.starts and not BULLET.match(opening.lstrip()):
        rest = " " * (margin + 4)  # an entry of a section
    else:
        rest = " " * len(prefix)
    text = " ".join(line.text for line in paragraph) + suffix.replace(" ", "\0")
    filled = textwrap.wrap(
        text, WIDTH, initial_indent=prefix, subsequent_indent=rest,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return [line.replace("\0", " ") for line in filled]


def main() -> None:
    """Print every finding in the project, or in the folder that an argument names.

    With --fix, repair what wrapping can repair first.
    """
    roots = [Path(word) for word in sys.argv[1:] if word != "--fix"]
    root = roots[0] if roots else Path(__file__).parents[1]
    for path in files(root):
        if "--fix" in sys.argv:
            repair(path)
        for finding in (*wrap_damage(root, path), *missing_names(root, path)):
            print(finding)


if __name__ == "__main__":
    main()
