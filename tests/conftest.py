"""What all tests share: every test that asks for `game` runs over every game of the registry, for
`whole_game` over those that have fast rules and an engine.
"""

from __future__ import annotations

import os
import signal
import tempfile

import pytest
from hypothesis import settings

from quartet import registry
from tests.games import RANDOM_CASES, Game, is_whole, load

# Programs inherit what is ignored, and who starts these tests in the background, as .ci/run does,
# ignores Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A folder for temporary files of our own, but for pytest's: other tests at the same time play on
# the same cores, and that is fine here.
os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
TEMPORARY = tempfile.TemporaryDirectory(prefix="quartet-tests-")
os.environ["TMPDIR"] = tempfile.tempdir = TEMPORARY.name

# No deadline: machines differ. No database: what failed once belongs into a test of its own.
settings.register_profile(
    "quartet",
    deadline=None,
    database=None,
    derandomize=True,
    max_examples=max(20, RANDOM_CASES // 100),
)
settings.load_profile("quartet")


@pytest.fixture(scope="session", params=registry.GAMES)
def game(request: pytest.FixtureRequest) -> Game:
    return load(request.param)


@pytest.fixture(scope="session", params=[name for name in registry.GAMES if is_whole(name)])
def whole_game(request: pytest.FixtureRequest) -> Game:
    return load(request.param)
