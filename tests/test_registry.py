"""The registry lists the games, and knows which parts an unfinished game lacks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import NotBuiltError, UnknownNameError
from quartet import registry
from tests.linegames import NAMES

ROOT = Path(__file__).resolve().parents[1]
HEAVY = {"typing", "re", "dataclasses", "enum", "argparse", "inspect"}


def test_parts_are_found_in_their_sources() -> None:
    for game in registry.GAMES:
        assert registry.has(game, "reference")
        assert not registry.has(game, "nothing")
        with pytest.raises(NotBuiltError, match=f"{game} has no nothing yet"):
            registry.load(game, "nothing")
    with pytest.raises(UnknownNameError, match="ugolki"):
        registry.has("nowhere", "reference")


@pytest.mark.parametrize(
    "module", [*(f"{registry.GAMES[name]}.protocol" for name in NAMES), "core.agent.lines"]
)
def test_the_first_imports_of_an_agent_are_small(module: str) -> None:
    """Use `-S`: the start-up files of site-packages import other modules."""
    code = f"import sys; sys.path.insert(0, '.'); import {module}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert HEAVY & set(done.stdout.split()) == set()
