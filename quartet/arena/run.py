"""Plays a schedule on any Executor: local processes, each pinned to a core, or a Dask cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, MutableMapping
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from concurrent.futures import CancelledError as Cancelled
from contextlib import contextmanager
from typing import Any, Generic, Protocol, TypeVar

from core.errors import QuartetError
from core.extras import how_to_install
from core.leaving import leave_on, leaving
from quartet.arena.cores import Cores

MOST_LOSSES = 5
"""Times that a game may be lost with its worker before we stop believing in bad luck."""
GRACE = 10.0
"""Seconds that a worker whose master was killed has to end its programs."""


class Work(Protocol):
    """A unit of work: a game of a match, and whatever else is done in pieces that can be done
    again."""

    @property
    def number(self) -> int:
        """Its place in the schedule, from 0."""
        ...

    def require_same(self, result: Any) -> None:
        """Raise QuartetError where a result that was recorded is not of this unit."""
        ...


class Done(Protocol):
    """What comes back from a worker."""

    @property
    def result(self) -> Any:
        """What the run remembers of it."""
        ...


WorkT = TypeVar("WorkT", bound=Work)
DoneT = TypeVar("DoneT", bound=Done)
WorkT_contra = TypeVar("WorkT_contra", bound=Work, contravariant=True)

Play = Callable[[WorkT, "tuple[int, ...] | None"], DoneT]
"""Does a unit on these cores; None: on any."""


class Workers(Protocol[WorkT_contra, DoneT]):
    """Where units are played.

    Attributes:
        lost: what a future raises whose worker has died; the unit is then played again.
    """

    lost: tuple[type[BaseException], ...]

    @property
    def width(self) -> int:
        """Units that it is good for at a time; it may change."""
        ...

    def submit(self, unit: WorkT_contra) -> Future[DoneT]:
        """Play a unit some time soon."""
        ...

    def repair(self) -> None:
        """Be ready again after a worker has died."""
        ...

    def close(self) -> None:
        """Stop all work."""
        ...


def drive(
    schedule: Iterator[WorkT | None],
    workers: Workers[WorkT, DoneT],
    done: MutableMapping[int, Any],
    record: Callable[[DoneT], None],
) -> None:
    """Play the schedule to its end: whatever is in `done` already is not played again.

    `record` gets every game as it ends; it, or we, put it into `done`, which the schedule reads.
    Raises what a game raised, after the others that had ended were recorded.
    """
    running: dict[Future[DoneT], WorkT] = {}
    again: list[WorkT] = []
    losses: Counter[int] = Counter()
    exhausted = False
    while True:
        while len(running) < workers.width and (again or not exhausted):
            unit = again.pop() if again else next(schedule, _END)
            if isinstance(unit, _End):
                exhausted = True
            elif unit is None:
                break
            elif unit.number in done:
                unit.require_same(done[unit.number])
            else:
                running[workers.submit(unit)] = unit
        if not running:
            if exhausted:
                return
            raise RuntimeError("the schedule waits, and nothing runs")
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        failure: BaseException | None = None
        broken = False
        for future in finished:
            unit = running.pop(future)
            try:
                played = future.result()
            except workers.lost as error:
                broken = True
                losses[unit.number] += 1
                if losses[unit.number] == MOST_LOSSES:
                    failure = QuartetError(
                        f"game {unit.number} lost its worker {MOST_LOSSES} times: "
                        f"{type(error).__name__} {error}".strip()
                    )
                again.append(unit)
            except Exception as error:  # noqa: BLE001  (the other games that have ended come first)
                failure = error
            else:
                record(played)
                done[unit.number] = played.result
        if failure is not None:
            raise failure
        if broken:
            workers.repair()


class _End:
    """The schedule has no more units."""


_END = _End()


class Local(Generic[WorkT, DoneT]):
    """Processes on this machine, one for each core, or each few cores, that are free; a game and
    its programs stay on theirs."""

    lost: tuple[type[BaseException], ...] = (BrokenExecutor,)

    def __init__(
        self,
        play: Play[WorkT, DoneT],
        jobs: int | None = None,
        *,
        each: int = 1,
        crowded: bool = False,
    ) -> None:
        """`play` does a unit on some cores (None: any). `jobs`, `each` and `crowded` as for
        `Cores`. Raises QuartetError."""
        self._play = play
        self._cores = Cores(jobs, each=each, crowded=crowded)
        self._slots: list[tuple[tuple[int, ...], Future[DoneT] | None]] = [
            (cores, None) for cores in self._cores.of_jobs
        ]
        self._strangers = multiprocessing.active_children()
        self._executor: Executor = self._start()

    @property
    def width(self) -> int:
        """One game for each job."""
        return len(self._slots)

    def submit(self, unit: WorkT) -> Future[DoneT]:
        """Play a unit on cores that are free."""
        slot, cores = next(
            (i, cores)
            for i, (cores, future) in enumerate(self._slots)
            if future is None or future.done()
        )
        with no_ctrl_c():
            try:
                future = self._executor.submit(_work, self._play, unit, cores)
            except BrokenExecutor as error:  # a worker died while it was idle
                future = Future()
                future.set_exception(error)
            self._slots[slot] = cores, future
        return future

    def repair(self) -> None:
        """Start new processes; those that are left of the old ones end."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._executor = self._start()

    def close(self) -> None:
        """End all processes, and with them their programs, and wait for that."""
        if any(future is not None and not future.done() for _, future in self._slots):
            for process in multiprocessing.active_children():
                if process not in self._strangers:
                    process.terminate()
        self._executor.shutdown(cancel_futures=True)
        self._cores.close()

    def _start(self) -> Executor:
        # Spawned, not forked: the display has threads, and a forked child could inherit a lock that
        # nobody opens any more.
        return ProcessPoolExecutor(
            len(self._slots),
            mp_context=multiprocessing.get_context("spawn"),
            initializer=start_worker,
        )


busy = threading.Event()
"""In a worker: there may be programs to end."""


def _work(play: Play[WorkT, DoneT], unit: WorkT, cores: tuple[int, ...]) -> DoneT:
    # the pool outlives the exception that ended the game before, and has a unit left
    if leaving.is_set():
        sys.exit()
    busy.set()
    try:
        return play(unit, cores)
    finally:
        busy.clear()


@contextmanager
def no_ctrl_c() -> Iterator[None]:
    """Hear Ctrl-C a moment later; processes that are started within do not hear it before
    `start_worker` makes them deaf to it."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start_worker() -> None:
    """A worker process leaves Ctrl-C to its master, ends its programs on SIGTERM, and ends itself
    when the master is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # see no_ctrl_c
    threading.Thread(target=_follow_master, daemon=True).start()
    # last: until here there is nothing to end, and the pool would print the exception
    leave_on("SIGTERM")


def _follow_master() -> None:
    """Wait for the master to be gone, killed perhaps; the pool's own processes would wait for its
    work for ever."""
    master = multiprocessing.parent_process()
    if master is None:
        return
    master.join()
    if sys.platform != "win32":  # there programs are in a job that ends with us
        # The exception ends the programs of a game on its way out.
        os.kill(os.getpid(), signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        while busy.is_set() and time.monotonic() < deadline:
            time.sleep(0.01)
    os._exit(1)


class Cluster(Generic[WorkT, DoneT]):
    """The workers of a Dask scheduler. Each should have one thread (`dask worker --nthreads 1`),
    and its core to itself."""

    def __init__(self, play: Play[WorkT, DoneT], address: str) -> None:
        """`play` as for Local. Raises QuartetError where distributed is not installed, or nobody
        answers at `address`."""
        try:
            import distributed  # noqa: PLC0415  (an extra, and slow to import)
        except ImportError:
            raise QuartetError(
                f"a cluster needs distributed: {how_to_install('distributed')}"
            ) from None
        try:
            self._client: Any = distributed.Client(address, timeout="10s", set_as_default=False)
        except (OSError, ValueError) as error:
            raise QuartetError(f"no Dask scheduler answers at {address}: {error}") from None
        self._executor = self._client.get_executor(pure=False)
        self._play = play
        self.lost: tuple[type[BaseException], ...] = (
            distributed.KilledWorker,
            Cancelled,
            distributed.client.FutureCancelledError,
        )

    @property
    def width(self) -> int:
        """Two games for each thread, so that no worker waits for us."""
        threads: int = sum(self._client.nthreads().values())
        return 2 * max(1, threads)

    def submit(self, unit: WorkT) -> Future[DoneT]:
        """Play a unit anywhere; the scheduler plays it again by itself where a worker died."""
        future: Future[DoneT] = self._executor.submit(self._play, unit, None)
        return future

    def repair(self) -> None:
        """The scheduler has seen to it."""

    def close(self) -> None:
        """Leave the cluster; it goes on without us."""
        self._executor.shutdown(wait=False)
        self._client.close()
