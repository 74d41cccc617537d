"""What all tests share: every test that asks for `game` runs over every game of the registry."""

from __future__ import annotations

import pytest
from hypothesis import settings

import registry
from tests.games import RANDOM_CASES, Game, load

# No deadline: machines differ. No database: what failed once belongs into a test of its own.
settings.register_profile("quartet", deadline=None, database=None, derandomize=True, max_examples=max(20, RANDOM_CASES // 100))
settings.load_profile("quartet")


@pytest.fixture(scope="session", params=[game for game in registry.GAMES if registry.has(game, "engine")])
def game(request: pytest.FixtureRequest) -> Game:
    return load(request.param)
