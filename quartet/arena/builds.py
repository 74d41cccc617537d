"""Builds of the project at other commits, for players named `git:REF`.

Each commit is built once, in a folder outside the checkout, under another name that is renamed when
the build is complete. A lock serialises builds. A damaged build is made again. A new build removes
those that were not used for MAX_DAYS days.
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
from dataclasses import replace
from pathlib import Path

from core.engine import parse_player, write_player
from core.errors import QuartetError
from core.extras import install_hint
from quartet import registry
from quartet.arena.files import alone
from quartet.judge.seats import versions
from quartet.judge.seats.players import PlayerSpec, absolute
from quartet.judge.seats.versions import Version

MAX_DAYS = 30
"""Days after its last use at which a build is removed."""
STAMP = ".quartet-build"
"""The file of a build with a digest of all other files; its date is that of the last use."""
LEFT_OUT = ("tests", "docs")
"""Folders that no player needs."""
PROBE = """
import sys
from importlib import import_module
players = import_module(sys.argv[1] + ".players")
import_module(sys.argv[1] + ".__main__")
players.player(sys.argv[2] or players.NAMES[0])
"""
"""Makes the player of a build once, as a check."""


def resolve(game: str, text: str, folder: str | Path | None = None) -> PlayerSpec:
    """Return the player that a text on the command line names, built and checked.

    Args:
        game: Name of the game.
        text: As for `PlayerSpec.parse`.
        folder: Working directory of the player's program [default: the current one].

    Raises:
        QuartetError: There is no such player, or its commit cannot be built or does not have it.
    """
    spec = built(PlayerSpec.parse(game, text))
    spec.require(folder)
    return spec


def built(spec: PlayerSpec, checkout: Path | None = None) -> PlayerSpec:
    """Return a player of a commit by the commit's whole id, built; any other player unchanged.

    Args:
        spec: The player.
        checkout: Checkout that has the commit; by default this one.

    Raises:
        QuartetError: There is no such commit, it cannot be built, or has no such player.
    """
    if spec.version is None:
        return spec
    commit = commit_of(spec.version.ref, checkout)
    tree = ensure(commit, checkout, fresh=True)
    name, settings = parse_player(spec.version.player)
    player = write_player(name, {key: absolute(value) for key, value in settings.items()})
    version = Version(commit, player)
    package = registry.GAMES[spec.game]
    if not (tree / package / "__main__.py").is_file():
        raise QuartetError(f"{versions.short(str(Version(commit)))} does not play {spec.game} yet")
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
        raise QuartetError(f"{versions.short(str(version))} cannot play: {reason}")
    return replace(spec, text=str(version), version=version)


def commit_of(ref: str, checkout: Path | None = None) -> str:
    """Return the whole id of a commit. Raises QuartetError."""
    root = checkout or registry.ROOT
    if not (root / ".git").exists():
        raise QuartetError(f"git:{ref} needs a checkout of the project; {root} is not one")
    complaint = f"there is no commit {ref!r} in {root}"
    asked = ("--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    return _git(root, complaint, "rev-parse", *asked)


def is_changed(checkout: Path | None = None) -> bool:
    """Return True if tracked files differ from the last commit. Raises QuartetError."""
    root = checkout or registry.ROOT
    complaint = f"git cannot tell what has changed in {root}"
    return _git(root, complaint, "status", "--porcelain", "--untracked-files=no") != ""


def head() -> str:
    """Return 12 digits of the checkout's commit, with a plus sign if files changed since.

    Returns "" outside a checkout.
    """
    try:
        return commit_of("HEAD")[:12] + ("+" if is_changed() else "")
    except QuartetError:
        return ""


def ensure(commit: str, checkout: Path | None = None, *, fresh: bool = False) -> Path:
    """Return the folder of a commit's build, and build it if needed.

    Args:
        commit: Its whole id.
        checkout: The repository, None for this project's.
        fresh: Check that no file of the build changed, else build it again.

    Raises:
        QuartetError: It cannot be built.
    """
    tree = versions.tree(commit)
    try:
        if tree.is_dir() and (not fresh or _is_whole(tree)):  # without waiting for other builds
            (tree / STAMP).touch()
            return tree
        tree.parent.mkdir(parents=True, exist_ok=True)
        with alone(tree.parent / "lock"):
            if not _is_whole(tree):
                _build(commit, tree, checkout or registry.ROOT)
                prune(tree.parent, time.time())
    except OSError as error:
        raise QuartetError(
            f"cannot keep builds in {tree.parent}: {error.strerror or error}"
        ) from error
    return tree


def prune(folder: Path, now: float) -> None:
    """Remove incomplete builds, and those last used more than MAX_DAYS days before `now`.

    Args:
        folder: The folder of builds.
        now: Time in seconds since 1970.

    Raises:
        OSError: One cannot be removed.
    """
    for tree in folder.iterdir():
        stamp = tree / STAMP
        if tree.is_dir() and (
            not stamp.is_file() or now - stamp.stat().st_mtime > MAX_DAYS * 24 * 3600
        ):
            stamp.unlink(missing_ok=True)  # first: a kill leaves an incomplete build
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
            f"{commit[: versions.SHORT]} cannot be built: {_reason(done.stdout)} (log: {log})"
        )
    shutil.rmtree(draft / ".build", ignore_errors=True)  # intermediate files
    (draft / STAMP).write_text(_digest(draft), encoding="utf-8")
    draft.replace(tree)


def _reason(said: str) -> str:
    """Return why a build failed, in one sentence."""
    ours = re.search(r"^quartet: (.+)", said, re.MULTILINE)
    missing = re.search(r"No module named '(?:Cython|setuptools)[.']", said)
    if ours:
        return ours[1].strip()
    if missing:
        return f"Cython and setuptools are needed: {install_hint('cython>=3.1,<4', 'setuptools')}"
    lines = re.findall(r"^.*error: .+", said, re.MULTILINE | re.IGNORECASE)
    return (lines or said.strip().splitlines() or ["setup.py has failed"])[-1].strip()


def _is_whole(tree: Path) -> bool:
    try:
        return (tree / STAMP).read_text(encoding="utf-8") == _digest(tree)
    except OSError:
        return False


def _digest(tree: Path) -> str:
    """Return a digest of all files of a build except the caches that Python writes."""
    digest = hashlib.sha256()
    for path in sorted(tree.rglob("*")):
        if path.is_file() and path.name != STAMP and "__pycache__" not in path.parts:
            digest.update(f"\0{path.relative_to(tree).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _git(root: Path, complaint: str, *arguments: str) -> str:
    """Return the output of git. Raises QuartetError."""
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
    """Return the environment without variables that redirect git or Python."""
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTHON"))
    }
