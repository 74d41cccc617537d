"""The cores that games play on: none plays two games, some games have several."""

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
    """No two games share a core, and what is too few for a game is left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(cores_of_machine, "usable_cores", lambda: [0, 1, 2, 3, 4])
    with Cores(each=2) as pairs:
        assert pairs.of_jobs == [(0, 1), (2, 3)]
    with Cores(1, each=3) as one:
        assert one.of_jobs == [(0, 1, 2)]
        with Cores(each=2) as rest:
            assert rest.of_jobs == [(3, 4)]
        with pytest.raises(QuartetError, match="1 game at a time of 3 cores each on 5 cores, 3 of"):
            Cores(1, each=3)
        with Cores(1, each=3, crowded=True) as crowded:
            assert crowded.of_jobs == [(3, 4, 0)]
    with pytest.raises(QuartetError, match="a game on 6 cores needs them"):
        Cores(each=6)


def test_a_process_stays_on_its_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """And engines in it have a thread for each."""
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
