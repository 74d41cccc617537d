"""Fixtures of all tests: `game` is every game of the registry in turn, `whole_game` every game with
fast rules and an engine.
"""

from __future__ import annotations

import os
import pathlib
import signal
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from quartet import registry
from quartet.arena.cores import usable_cores
from tests.games import RANDOM_CASES, GameUnderTest, is_whole, load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.page import Server, Tab

# Programs inherit ignored signals, and tests in the background, as in .ci/run, ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A separate folder for temporary files, except pytest's. It also separates the locks of cores:
# other tests may play on the same cores at the same time.
os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
# Not below an outer test's own folder: the path of a Chromium's socket must stay short.
TEMPORARY = tempfile.TemporaryDirectory(
    prefix="quartet-tests-", dir=os.environ["PYTEST_DEBUG_TEMPROOT"]
)
os.environ["TMPDIR"] = tempfile.tempdir = TEMPORARY.name
os.environ["QUARTET_DATA"] = str(pathlib.Path(TEMPORARY.name, "data"))

# No deadline: machines differ. No database: a failure belongs into a separate test.
settings.register_profile(
    "quartet",
    deadline=None,
    database=None,
    derandomize=True,
    max_examples=max(20, RANDOM_CASES // 100),
)
settings.load_profile("quartet")


def pytest_xdist_auto_num_workers() -> int:
    """Return the number of workers for `-n logical`: one more than cores, since many tests wait."""
    return len(usable_cores()) + 1


@pytest.fixture(scope="session", params=registry.GAMES)
def game(request: pytest.FixtureRequest) -> GameUnderTest:
    return load(request.param)


@pytest.fixture(scope="session", params=[name for name in registry.GAMES if is_whole(name)])
def whole_game(request: pytest.FixtureRequest) -> GameUnderTest:
    return load(request.param)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium."""
    from tests.page import browsing  # noqa: PLC0415  (few tests need Playwright)

    with browsing() as found:
        yield found


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    """A fresh profile of the browser."""
    found = browser.new_context(locale="en-GB")
    yield found
    found.close()


@pytest.fixture
def tab(context: Any, server: Server) -> Iterator[Tab]:
    """A tab that has entered the module's `server`; its page must report no error."""
    from tests.page import Tab  # noqa: PLC0415

    found = Tab(context, server)
    found.enter()
    yield found
    assert found.faults == []
