"""Parsers survive short runs of the fuzzer; `python -m tests.long.fuzz` has long ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from core.errors import QuartetError, TextError
from quartet.judge.seats.seat import read_info
from tests import readers
from tests.games import RANDOM_CASES
from tests.long import fuzz

if TYPE_CHECKING:
    from collections.abc import Sequence

KEPT = Path(__file__).parent / "data" / "fuzz"
"""Inputs that once broke a contract, one folder per target."""


@pytest.fixture(params=readers.TARGETS)
def target(request: pytest.FixtureRequest) -> readers.Target:
    return readers.TARGETS[request.param]


@pytest.mark.parametrize(
    "path", sorted(KEPT.glob("*/*")), ids=lambda path: f"{path.parent.name}-{path.name}"
)
def test_former_findings_stay_fixed(path: Path) -> None:
    fuzz.attempt(readers.TARGETS[path.parent.name], path.read_bytes())


def test_mutated_inputs_are_accepted_or_rejected(target: readers.Target) -> None:
    inputs = max(50, RANDOM_CASES // 100)
    *_, done = fuzz.fuzz(target, seed=RANDOM_CASES, inputs=inputs, seconds=60)
    assert done > len(target.seeds())


WORDS = {
    name: sorted({w for seed in target.seeds() for w in re.findall(rb"\w+|\W", seed)[:500]})
    for name, target in readers.TARGETS.items()
    if name not in {"weights", "samples"}
}
"""Target -> the words of its valid inputs; sealed files have none."""


def texts(words: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Draw lines of words of a language and of other texts."""
    word = st.one_of(
        st.sampled_from(words),
        st.integers().map(lambda number: b"%d" % number),
        st.text(max_size=5).map(str.encode),
        st.binary(max_size=5),
    )
    line = st.tuples(st.sampled_from([b"", b" "]), st.lists(word, max_size=12)).map(
        lambda found: found[0].join(found[1])
    )
    return st.tuples(st.binary(max_size=1), st.lists(line, max_size=8)).map(
        lambda found: found[0] + b"\n".join(found[1])
    )


@pytest.mark.parametrize("name", WORDS)
def test_any_words_are_accepted_or_rejected(name: str) -> None:
    @given(data=texts(WORDS[name]))
    def read(data: bytes) -> None:
        fuzz.attempt(readers.TARGETS[name], data)

    read()


def test_the_same_seed_draws_the_same_inputs(tmp_path: Path) -> None:
    seen: list[list[bytes]] = [[], []]
    for some in seen:
        broken = readers.Target("broken", lambda: [b"move 1 2", b"pass"], some.append)
        *_, done = fuzz.fuzz(broken, seed=3, inputs=40, seconds=60)
        assert done == len(some) == 40
    assert seen[0] == seen[1]
    assert len(set(seen[0])) > 20


def test_a_finding_is_kept(tmp_path: Path) -> None:
    def read(data: bytes) -> None:
        if b"1" not in data:
            raise KeyError(data)

    broken = readers.Target("broken", lambda: [b"move 1 2"], read)
    with pytest.raises(fuzz.Finding) as caught:
        list(fuzz.fuzz(broken, seed=1, inputs=1000, seconds=60))
    path = fuzz.kept(caught.value, tmp_path)
    assert path.parent == tmp_path / "broken"
    assert b"1" not in path.read_bytes()


def test_an_unknown_target_is_rejected() -> None:
    done = CliRunner().invoke(fuzz.main, ["nonsense"])
    assert isinstance(done.exception, QuartetError)
    assert str(done.exception).startswith("there is no target nonsense; there are: positions")


@pytest.mark.parametrize(
    "line",
    [
        "info depth 1 nodes 2 seconds",
        "info depth 1 nodes 2 seconds nan",
        "info depth 1 nodes 2 seconds inf",
        f"info depth 1 nodes {10**30} seconds 1",
        "info depth 1 nodes 2 seconds -1",
        "info depth 1 nodes 1000000000000 seconds 1e-320",
        "info nodes 2 depth 1 seconds 3",
        "note depth 1 nodes 2 seconds 3",
    ],
)
def test_impossible_search_reports_are_ignored(line: str) -> None:
    assert read_info(line) is None
    assert read_info(line + "\ninfo depth 1 nodes 2 seconds 3") is not None


def test_an_error_is_a_line_that_a_terminal_can_show() -> None:
    assert str(TextError("no\nfile \x1b[2J\u202eevil")) == "no file ?[2J?evil"
