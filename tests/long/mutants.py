"""Change the code in small ways and count the changes that the tests notice: `python -m
tests.long.mutants --sample 300`.

A mutant is one file with one change: a comparison, a number, a condition, a statement removed. It
is killed if a test of its module fails. Each worker runs the tests in its own copy of the project.
Results are kept in a folder, and the same command continues there.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from multiprocessing import Manager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import pytest

from core.commands.program import execute
from core.errors import QuartetError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, MutableMapping, Sequence
    from types import FrameType

ROOT = Path(__file__).resolve().parents[2]
TESTS: dict[str, tuple[str, ...]] = {
    "core/agent/cli": ("engine_options", "lines", "ataxx_openings"),
    "core/agent/executable": ("executable",),
    "core/agent/files": ("transport", "ugolki_agent"),
    "core/agent/lines": ("lines",),
    "core/agent/selftest": ("executable",),
    "core/agent/stalls": ("timeman",),
    "core/background": ("analyse", "ugolki_model", "contract"),
    "core/dialect": ("applegame_protocol", "connexion_protocol", "ataxx_protocol", "turns"),
    "core/engine": ("engine_options", "contract", "analyse"),
    "core/errors": ("fuzz",),
    "core/extras": ("release",),
    "core/limits": ("engine_seat", "contract", "turns"),
    "core/messages": ("ataxx_protocol", "applegame_protocol", "lines"),
    "core/nn/contract": ("training", "selfplay"),
    "core/nn/learning": ("training",),
    "core/nn/sealed": ("ataxx_network", "ugolki_opponents", "training"),
    "core/players": ("applegame_bot", "ugolki_players", "ataxx_rules"),
    "core/resource": ("ataxx_network",),
    "core/rules": ("contract", "ugolki_rules", "applegame_rules"),
    "core/scene": ("scenes",),
    "core/search/options": ("engine_options",),
    "core/signals": ("signals",),
    "core/timeman": ("timeman", "lines"),
    "quartet/arena/builds": ("builds",),
    "quartet/arena/catalogue": ("runs", "tune"),
    "quartet/arena/config": ("run_config", "schedule", "runs", "tournament"),
    "quartet/arena/cores": ("cores", "tournament"),
    "quartet/arena/curves": ("runs", "web_runs"),
    "quartet/arena/fingerprints": ("ataxx_openings", "builds", "engine_options"),
    "quartet/arena/gauntlet": ("gauntlet", "exam"),
    "quartet/arena/notes": ("notes",),
    "quartet/arena/optimisers": ("tune",),
    "quartet/arena/outcome": ("schedule", "runs", "run_config", "exam", "gauntlet", "tournament"),
    "quartet/arena/ratings": ("ratings", "sprt", "runs"),
    "quartet/arena/records": ("records", "live", "runs"),
    "quartet/arena/files": ("records", "runs"),
    "quartet/arena/processes": ("schedule", "tournament", "workers"),
    "quartet/arena/runner": ("schedule", "tournament", "workers"),
    "quartet/arena/schedule": ("schedule", "exam", "runs", "tournament"),
    "quartet/arena/sprt": ("sprt", "ratings", "gauntlet"),
    "quartet/arena/standings": ("standings", "schedule", "ratings", "tournament"),
    "quartet/arena/store": ("records", "runs", "selfplay"),
    "quartet/arena/swiss": ("swiss", "schedule"),
    "quartet/arena/tuning": ("tune",),
    "quartet/arena/unit": ("live", "records", "logs", "tournament"),
    "quartet/judge/game": ("match_games", "applegame_rules"),
    "quartet/judge/logs": ("turns", "logs", "replay", "take_back", "review"),
    "quartet/judge/ending": ("match", "lines_judge"),
    "quartet/judge/judging": ("match", "lines_judge", "logs"),
    "quartet/judge/state": ("match", "lines_judge", "logs"),
    "quartet/judge/match": ("match", "engine_seat", "take_back", "lines_judge", "match_lines"),
    "quartet/judge/process/live": ("live_program", "lines_judge"),
    "quartet/judge/process/once": ("judge_process", "match"),
    "quartet/judge/process/pipes": ("live_program", "lines_judge"),
    "quartet/judge/process/sandbox": ("sandbox",),
    "quartet/judge/process": ("judge_process", "live_program", "match", "lines_judge"),
    "quartet/judge/seats/engine": ("engine_seat", "take_back"),
    "quartet/judge/seats/files": ("match", "judge_process"),
    "quartet/judge/seats/lines": ("lines_judge", "match_lines", "resume"),
    "quartet/judge/seats/logged": ("logs", "replay"),
    "quartet/judge/seats/asked": ("review",),
    "quartet/judge/seats/person": ("take_back", "human"),
    "quartet/judge/seats/players": ("engine_options", "match_games", "ataxx_openings"),
    "quartet/judge/seats/seat": ("take_back", "match", "lines_judge", "fuzz"),
    "quartet/judge/seats/seating": ("ataxx_openings", "builds", "take_back"),
    "quartet/judge/seats/versions": ("builds", "gauntlet"),
    "quartet/judge/table": ("lines_judge", "match"),
    "quartet/judge/turn": ("turns", "match"),
}
"""Path of a module, or of a folder, without ending -> tests that use it, the quickest first."""
ELSEWHERE = ("quartet/judge/process/windows.py",)
"""Modules that do not run on this system."""
HEAVY = ("hypothesis", "msgspec", "rich.console", "psutil", "numpy", "click.testing")
"""What workers import once, before they branch for each mutant."""
SLACK_SECONDS, SLACK_TIMES = 30.0, 4.0
"""A mutant's tests are stopped after that many times their usual time, and this besides."""


class Mutant(NamedTuple):
    """One change of one file.

    Attributes:
        path: The file, relative to the project.
        line: Its line in the file, from 1.
        function: The first line of the function around it, 0 for none.
        kind: The kind of change.
        start, end: The characters of the file that `after` replaces.
    """

    path: str
    line: int
    function: int
    kind: str
    start: int
    end: int
    before: str
    after: str


SWAPS: dict[type[ast.AST], Any] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
"""Operator -> the one that a mutant has in its place."""


def mutants(path: str, text: str) -> list[Mutant]:
    """Return all mutants of a file, in the order of the text."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    lines = text.splitlines()

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    found = []
    tree = ast.parse(text)
    functions = [
        (min([node.lineno, *(one.lineno for one in node.decorator_list)]), node.end_lineno or 0)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    for node, kind, after in changes(tree):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = offset(node.lineno, node.col_offset)
        end = offset(node.end_lineno, node.end_col_offset)
        inner = max((one for one in functions if one[0] <= node.lineno <= one[1]), default=(0, 0))
        found.append(Mutant(path, node.lineno, inner[0], kind, start, end, text[start:end], after))
    return found


def changes(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    """Yield a node, the kind of its change, and the text that replaces it.

    Annotations, docstrings, imports, f-strings and code for type checkers stay as they are.
    """
    for node in children(tree):
        if isinstance(node, ast.expr | ast.stmt):
            for kind, changed in variants(node):
                text = ast.unparse(changed)
                yield node, kind, f"({text})" if isinstance(changed, ast.expr) else text
        yield from changes(node)


def children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node that may be changed."""
    if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "bases", "msg", "exc"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child


def variants(node: ast.expr | ast.stmt) -> Iterator[tuple[str, ast.expr | ast.stmt]]:
    """Yield each change of one node: its kind, and the node that takes its place."""
    match node:
        case ast.Compare(left, [op], rest) if type(op) in SWAPS:
            yield "comparison", ast.Compare(left, [_swapped(op)], rest)
        case ast.BinOp(left, op, right) if type(op) in SWAPS and not _is_text(left, right):
            yield "arithmetic", ast.BinOp(left, _swapped(op), right)
        case ast.AugAssign(target, op, value) if type(op) in SWAPS and not _is_text(value):
            yield "arithmetic", ast.AugAssign(target, _swapped(op), value)
        case ast.BoolOp(op, values):
            yield "and, or", ast.BoolOp(_swapped(op), values)
        case ast.UnaryOp(ast.Not(), operand):
            yield "not", operand
        case ast.Constant(bool() as value):
            yield "true, false", ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield "number", ast.Constant(value + 1)
        case ast.IfExp(test, body, orelse):
            yield "condition", ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Return(value) if value is not None and not _is_none(value):
            yield "return", ast.Return(ast.Constant(None))
        case ast.Break():
            yield "break, continue", ast.Continue()
        case ast.Continue():
            yield "break, continue", ast.Break()
        case ast.Raise():
            yield "raise removed", ast.Pass()
        case ast.Expr(ast.Call() | ast.Await()):
            yield "call removed", ast.Pass()
        case ast.Assign([ast.Attribute() | ast.Subscript()]):
            yield "assignment removed", ast.Pass()


def _swapped(op: ast.AST) -> Any:
    return SWAPS[type(op)]()


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_text(*nodes: ast.expr) -> bool:
    """Return True if a text is among these: neither + nor % of it computes."""
    return any(
        isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
        for node in nodes
    )


def modules(prefixes: Sequence[str]) -> list[str]:
    """Return the files below these paths that have tests in TESTS."""
    return sorted(
        name
        for path in ROOT.rglob("*.py")
        for name in [path.relative_to(ROOT).as_posix()]
        if name.startswith(tuple(prefixes)) and name not in ELSEWHERE and tests_of(name)
    )


def tests_of(path: str) -> tuple[str, ...]:
    """Return the test files of a module; none if TESTS does not list it."""
    name = path.removesuffix(".py")
    while name and name not in TESTS:
        name = name.rpartition("/")[0]
    return tuple(f"tests/test_{test}.py" for test in TESTS.get(name, ()))


def start_worker(shared: MutableMapping[tuple[str, ...], Baseline | None]) -> None:
    """Make the worker's copy of the project and import what all tests need."""
    global tree, usual  # noqa: PLW0603  (one per process)
    usual = shared
    tree = Path(os.environ["MUTANTS_OUT"]).absolute() / f"tree-{os.getpid()}"
    code = "import sys; from pathlib import Path; from tests import checkout; "
    code += "checkout.copy_built(Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(tree)], cwd=ROOT, check=True)
    for name in HEAVY:
        with suppress(ImportError):
            importlib.import_module(name)


tree = ROOT
"""The copy that this process changes."""
usual: MutableMapping[tuple[str, ...], Baseline | None] = {}
"""Test files -> their run without a change; None if they fail. All workers share it."""


class Baseline(NamedTuple):
    """A run of test files without a change.

    Attributes:
        seconds: Its time.
        callers: File and first line of a function -> the tests that call it.
    """

    seconds: float
    callers: dict[str, list[str]]


class Recorder:
    """A plugin of pytest that records which tests call which functions of the project.

    Calls by a test's setup count for all tests of its file, since they may share a fixture.
    """

    def __init__(self) -> None:
        self._calls: set[str] = set()
        self._by_test: dict[str, set[str]] = {}
        self._by_file: dict[str, set[str]] = {}

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            code = frame.f_code
            self._calls.add(f"{code.co_filename}:{code.co_firstlineno}")

    @contextmanager
    def _noted(self, calls: set[str]) -> Iterator[None]:
        self._calls = calls
        sys.setprofile(self._note)
        threading.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        with self._noted(self._by_file.setdefault(item.nodeid.partition("::")[0], set())):
            yield

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        with self._noted(self._by_test.setdefault(item.nodeid, set())):
            yield

    def save(self, file: Path) -> None:
        callers: dict[str, list[str]] = {}
        root = f"{tree}/"
        for test, calls in self._by_test.items():
            for call in calls | self._by_file[test.partition("::")[0]]:
                if call.startswith(root):
                    callers.setdefault(call.removeprefix(root), []).append(test)
        file.write_text(json.dumps(callers), encoding="utf-8")


def baseline(tests: tuple[str, ...]) -> Baseline | None:
    """Run test files without a change; return None if they fail."""
    began = time.monotonic()
    calls = tree / "calls.json"
    if run_tests(tests, 900.0, calls):
        return None
    return Baseline(time.monotonic() - began, json.loads(calls.read_text(encoding="utf-8")))


def examine(mutant: Mutant) -> dict[str, object]:
    """Run the tests of a mutant in this worker's copy; its fields, outcome and seconds.

    The tests that call its function come first, then the others. The outcome is "unknown" if the
    tests fail without the change.
    """
    tests = tests_of(mutant.path)
    if tests not in usual:
        usual[tests] = baseline(tests)
    base = usual[tests]
    began = time.monotonic()
    outcome = "unknown"
    if base is not None:
        file = tree / mutant.path
        text, stat = file.read_text(encoding="utf-8"), file.stat()
        changed = text[: mutant.start] + mutant.after + text[mutant.end :]
        file.write_text(changed, encoding="utf-8")
        first = base.callers.get(f"{mutant.path}:{mutant.function}", [])
        rest = [*(word for test in first for word in ("--deselect", test)), *tests]
        limit = SLACK_SECONDS + SLACK_TIMES * base.seconds
        try:
            killed = (first and run_tests(first, limit)) or run_tests(rest, limit)
        finally:
            file.write_text(text, encoding="utf-8")
            os.utime(file, (stat.st_atime, stat.st_mtime))
        outcome = "killed" if killed else "survived"
    return mutant._asdict() | {"outcome": outcome, "seconds": round(time.monotonic() - began, 1)}


def run_tests(tests: Sequence[str], seconds: float, calls: Path | None = None) -> int:
    """Run tests in a fork of this process. Return 0 if they pass or there are none, -1 if time is
    up.

    With `calls`, write there which tests call which functions.
    """
    child = os.fork()
    if child == 0:
        _run_pytest(tests, calls)
    until = time.monotonic() + seconds
    status = 0
    done = 0
    while not done and time.monotonic() < until:
        time.sleep(0.05)
        done, status = os.waitpid(child, os.WNOHANG)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what the tests left, too
    if done:
        code = os.waitstatus_to_exitcode(status)
        return 0 if code == pytest.ExitCode.NO_TESTS_COLLECTED else code
    os.waitpid(child, 0)
    return -1


def _run_pytest(tests: Sequence[str], calls: Path | None) -> None:
    """Run pytest in the copy, and exit. Modules of the project are imported again from the copy."""
    status = 1
    try:
        os.setsid()
        for name in list(sys.modules):
            if (ROOT / name.partition(".")[0]).exists() or name.startswith("setup"):
                del sys.modules[name]
        os.chdir(tree)
        os.environ |= {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
        sys.dont_write_bytecode = True
        sys.path[:] = [str(tree), *(path for path in sys.path if Path(path or ".") != ROOT)]
        output = os.open("output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        quiet = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # of what is imported already
        recorder = Recorder()
        options = ["-x", "-q", "-p", "no:cacheprovider", *quiet, *tests]
        status = pytest.main(options, [recorder] if calls else [])
        if calls:
            recorder.save(calls)
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(int(status))


def read_results(file: Path, plan: Mapping[str, object]) -> list[dict[str, Any]]:
    """Return the results so far. Raises QuartetError if the file has another plan."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(plan) + "\n", encoding="utf-8")
    data = file.read_text(encoding="utf-8")
    first, *lines = data[: data.rfind("\n") + 1].splitlines()
    file.write_text("".join(f"{line}\n" for line in (first, *lines)), encoding="utf-8")
    if json.loads(first) != plan:
        raise QuartetError(f"{file} has another plan: {first}; choose another --out")
    return [json.loads(line) for line in lines]


def report(results: Sequence[Mapping[str, Any]]) -> str:
    """Return the killed share by package, the survivors by kind, and each survivor."""
    lines = []
    for package in ("core/", "quartet/judge/", "quartet/arena/"):
        own = [r["outcome"] for r in results if r["path"].startswith(package)]
        tried, killed = len(own) - own.count("unknown"), own.count("killed")
        if own:
            lines.append(
                f"{package} {killed} of {tried} killed, {100 * killed / max(1, tried):.0f} %, "
                f"{own.count('unknown')} unknown"
            )
    survivors = sorted(
        (r for r in results if r["outcome"] == "survived"), key=lambda r: (r["path"], r["line"])
    )
    lines.append(f"survivors by kind: {dict(Counter(r['kind'] for r in survivors))}")
    for r in survivors:
        before, after = (" ".join(r[side].split())[:60] for side in ("before", "after"))
        lines.append(f"{r['path']}:{r['line']}: {r['kind']}: {before} -> {after}")
    return "\n".join(lines)


@click.command()
@click.argument("prefixes", nargs=-1, metavar="[PATH]...")
@click.option("--sample", type=click.IntRange(1), help="Mutants to try [default: all].")
@click.option("--seed", default=1, show_default=True, help="Seed of the sample.")
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".build/mutants"),
    show_default=True,
    help="Folder of the results.",
)
@click.option("--required", default=0.0, show_default=True, help="Percent killed, or fail.")
def main(
    prefixes: tuple[str, ...], sample: int | None, seed: int, jobs: int, out: Path, required: float
) -> None:
    """Try mutants of the modules below PATH (default: core, quartet/judge and quartet/arena)."""
    chosen = prefixes or ("core/", "quartet/judge/", "quartet/arena/")
    names = modules(chosen)
    every = [m for name in names for m in mutants(name, (ROOT / name).read_text(encoding="utf-8"))]
    tried = random.Random(seed).sample(every, len(every))[:sample]  # a larger one adds to it
    code = [[m.path, m.start, m.before, m.after] for m in every]
    digest = f"{random.Random(json.dumps(code)).getrandbits(64):016x}"
    plan = {"modules": list(chosen), "mutants": len(every), "code": digest, "seed": seed}
    results = read_results(out / "results.jsonl", plan)
    known = {(r["path"], r["start"], r["after"]) for r in results}
    todo = [m for m in tried if (m.path, m.start, m.after) not in known]
    os.environ["MUTANTS_OUT"] = str(out)
    print(f"{len(every)} mutants, {len(tried)} in the sample, {len(todo)} to do", file=sys.stderr)
    with (
        (out / "results.jsonl").open("a", encoding="utf-8") as file,
        Manager() as manager,
        ProcessPoolExecutor(jobs, initializer=start_worker, initargs=(manager.dict(),)) as pool,
    ):
        for future in as_completed([pool.submit(examine, mutant) for mutant in todo]):
            result = future.result()
            results.append(result)
            file.write(json.dumps(result) + "\n")
            file.flush()
            print(
                f"{len(results)} of {len(tried)}: {result['path']} {result['outcome']}", flush=True
            )
    for copy in out.glob("tree-*"):
        shutil.rmtree(copy)
    print(report(results))
    outcomes = Counter(r["outcome"] for r in results)
    killed = 100 * outcomes["killed"] / max(1, outcomes["killed"] + outcomes["survived"])
    if killed < required:
        raise QuartetError(f"{killed:.1f} % of the mutants were killed, less than {required:g} %")


if __name__ == "__main__":
    execute(main)
