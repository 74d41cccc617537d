"""Cores are reserved for games: no core has two games, and a game may have several cores."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

import pytest

from core.errors import QuartetError
from quartet.arena import cores as cores_of_machine
from quartet.arena.cores import Cores, pin, usable_cores

if TYPE_CHECKING:
    from pathlib import Path


def test_games_of_several_cores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Check that no two games share a core, and that leftover cores stay free."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(cores_of_machine, "usable_cores", lambda: [0, 1, 2, 3, 4])
    with Cores(each=2) as pairs:
        assert pairs.of_jobs == [(0, 1), (2, 3)]
    with Cores(1, each=3) as one:
        assert one.of_jobs == [(0, 1, 2)]
        with Cores(each=2) as rest:
            assert rest.of_jobs == [(3, 4)]
        with pytest.raises(
            QuartetError, match="cannot run 1 game of 3 cores each at a time: 2 of 5 cores are free"
        ):
            Cores(1, each=3)
        with Cores(1, each=3, oversubscribe=True) as shared:
            assert shared.of_jobs == [(3, 4, 0)]
    with pytest.raises(QuartetError, match="a game on 6 cores needs 6"):
        Cores(each=6)


def test_a_process_stays_on_its_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that engines have a thread per core."""
    monkeypatch.setenv(cores_of_machine.THREADS, "9")
    usable = usable_cores()
    try:
        pin(tuple(usable[:1]))
        assert usable_cores() == usable[:1]
        assert os.environ[cores_of_machine.THREADS] == "1"
    finally:
        pin(tuple(usable))
    assert usable_cores() == usable
    assert os.environ[cores_of_machine.THREADS] == str(len(usable))
    pin(None)
    assert usable_cores() == usable
    assert os.environ[cores_of_machine.THREADS] == "1"
