"""Builds of the project at other commits, for players that are named `git:REF`.

Each is made once, in place, in a folder of its own apart from the checkout. It is made under another
name and renamed when it is whole; a lock keeps two commands from building at once. What has changed
since is made anew; what nobody has used for KEPT days goes when another one is made.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from core.engine import parse_player, write_player
from core.errors import QuartetError
from core.extras import how_to_install
from quartet import registry
from quartet.arena.files import locked
from quartet.judge.seats import versions
from quartet.judge.seats.players import absolute
from quartet.judge.seats.versions import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT = 30
"""Days that a build is kept after its last use."""
STAMP = ".quartet-build"
"""The file of a build that has a digest of all others, and whose date is that of the last use."""
LEFT_OUT = ("tests", "docs")
"""What a player needs nothing of."""
LOOK_EVERY = 0.2
"""Seconds between two looks whether another command has done with building."""
PROBE = """
import sys
from importlib import import_module
players = import_module(sys.argv[1] + ".players")
import_module(sys.argv[1] + ".__main__")
players.player(sys.argv[2] or players.NAMES[0])
"""
"""Makes the player of a build once, to see that it can."""


def named(game: str, program: str, checkout: Path | None = None) -> str:
    """A program as it can be seated: `git:REF` by the whole id of its commit, built, and with its
    files by their whole paths; any other as it is.

    Args:
        game: str. program: str; as on the command line.
        checkout: Path | None; of the repository, ours by default.

    Raises:
        QuartetError: there is no such commit, it cannot be built, or has no such player.
    """
    version = versions.parse(program)
    if version is None:
        return program
    commit = commit_of(version.ref, checkout)
    tree = ensure(commit, checkout, fresh=True)
    name, settings = parse_player(version.player)
    player = write_player(name, {key: absolute(value) for key, value in settings.items()})
    package = registry.GAMES[game]
    if not (tree / package / "__main__.py").is_file():
        raise QuartetError(f"{versions.short(str(Version(commit)))} does not play {game} yet")
    probe = [sys.executable, "-P", "-c", PROBE, package, player]
    done = subprocess.run(
        probe,
        env={**_environment(), "PYTHONPATH": str(tree)},
        cwd=tree,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        reason = re.sub(r"^[\w.]+(Error|Exception): ", "", said)
        raise QuartetError(f"{versions.short(str(Version(commit, player)))} cannot play: {reason}")
    return str(Version(commit, player))


def commit_of(ref: str, checkout: Path | None = None) -> str:
    """The whole id of the commit that git calls `ref`. Raises QuartetError."""
    root = checkout or registry.ROOT
    if not (root / ".git").exists():
        raise QuartetError(f"git:{ref} needs a checkout of the project, and {root} is none")
    complaint = f"there is no commit {ref!r} in {root}"
    asked = ("--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    return _git(root, complaint, "rev-parse", *asked)


def is_changed(checkout: Path | None = None) -> bool:
    """Whether files that git knows differ from the last commit. Raises QuartetError."""
    root = checkout or registry.ROOT
    complaint = f"git cannot tell what has changed in {root}"
    return _git(root, complaint, "status", "--porcelain", "--untracked-files=no") != ""


def head() -> str:
    """The commit of this checkout, 12 digits, with a plus sign where files have changed since; empty
    where it is none."""
    try:
        return commit_of("HEAD")[:12] + ("+" if is_changed() else "")
    except QuartetError:
        return ""


def ensure(commit: str, checkout: Path | None = None, *, fresh: bool = False) -> Path:
    """The folder of a commit's build, which is made where there is none.

    Args:
        commit: str; its whole id. checkout: Path | None; of the repository, ours by default.
        fresh: bool; whether to look that nothing in it has changed, and make it anew where it has.

    Raises:
        QuartetError: it cannot be built.
    """
    tree = versions.tree(commit)
    try:
        if tree.is_dir() and (
            not fresh or _is_whole(tree)
        ):  # whoever builds need not be waited for
            (tree / STAMP).touch()
            return tree
        tree.parent.mkdir(parents=True, exist_ok=True)
        with _alone(tree.parent / "lock"):
            if not _is_whole(tree):
                _build(commit, tree, checkout or registry.ROOT)
                prune(tree.parent, time.time())
    except OSError as error:
        raise QuartetError(
            f"cannot keep builds in {tree.parent}: {error.strerror or error}"
        ) from error
    return tree


def prune(folder: Path, now: float) -> None:
    """Remove what is no whole build, and builds that were last used more than KEPT days before
    `now`, in seconds since 1970. Raises OSError."""
    for tree in folder.iterdir():
        stamp = tree / STAMP
        if tree.is_dir() and (
            not stamp.is_file() or now - stamp.stat().st_mtime > KEPT * 24 * 3600
        ):
            stamp.unlink(missing_ok=True)  # half of it is left where this is killed
            shutil.rmtree(tree)


def _build(commit: str, tree: Path, root: Path) -> None:
    draft = tree.with_name(tree.name + ".new")
    for left in (draft, tree):
        if left.exists():
            shutil.rmtree(left)
    print(
        f"quartet: building {commit[: versions.SHORT]} once, in {tree} ...",
        file=sys.stderr,
        flush=True,
    )
    draft.mkdir()
    archive = draft / "archive.zip"
    excluded = [f":(exclude){name}" for name in LEFT_OUT]
    _git(
        root,
        f"git cannot give the files of {commit}",
        "archive",
        "--format=zip",
        f"--output={archive}",
        commit,
        "--",
        ".",
        *excluded,
    )
    with zipfile.ZipFile(archive) as files:
        files.extractall(draft)
    archive.unlink()
    done = subprocess.run(
        [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"],
        cwd=draft,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        log = tree.with_name(tree.name + ".log")
        log.write_text(done.stdout, encoding="utf-8")
        raise QuartetError(
            f"{commit[: versions.SHORT]} cannot be built: {_reason(done.stdout)} "
            f"(the whole story: {log})"
        )
    shutil.rmtree(draft / ".build", ignore_errors=True)  # what only the compiler has read
    (draft / STAMP).write_text(_digest(draft), encoding="utf-8")
    draft.replace(tree)


def _reason(said: str) -> str:
    """Why a build has failed, in one sentence."""
    ours = re.search(r"^quartet: (.+)", said, re.MULTILINE)
    missing = re.search(r"No module named '(?:Cython|setuptools)[.']", said)
    if ours:
        return ours[1].strip()
    if missing:
        return f"Cython and setuptools are needed: {how_to_install('cython>=3.1,<4', 'setuptools')}"
    lines = re.findall(r"^.*error: .+", said, re.MULTILINE | re.IGNORECASE)
    return (lines or said.strip().splitlines() or ["setup.py has failed"])[-1].strip()


def _is_whole(tree: Path) -> bool:
    try:
        return (tree / STAMP).read_text(encoding="utf-8") == _digest(tree)
    except OSError:
        return False


def _digest(tree: Path) -> str:
    """Of every file of a build but what Python leaves in it when it runs."""
    digest = hashlib.sha256()
    for path in sorted(tree.rglob("*")):
        if path.is_file() and path.name != STAMP and "__pycache__" not in path.parts:
            digest.update(f"\0{path.relative_to(tree).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Hold a lock file, after whoever holds it. Raises OSError."""
    waiting = False
    while (file := locked(lock)) is None:
        if not waiting:
            print("quartet: waiting for another command's build ...", file=sys.stderr, flush=True)
        waiting = True
        time.sleep(LOOK_EVERY)
    with file:
        yield


def _git(root: Path, complaint: str, *arguments: str) -> str:
    """What git says. Raises QuartetError."""
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(
            command,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise QuartetError("players named git:REF need git, which is not installed") from None
    if done.returncode:
        said = " ".join(done.stderr.split())
        raise QuartetError(f"{complaint}: {said}" if said else complaint)
    return done.stdout.strip()


def _environment() -> dict[str, str]:
    """Ours, without what would send git or Python elsewhere."""
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTHON"))
    }
