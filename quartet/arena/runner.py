"""The runner: does units of work on any Executor, local processes pinned to cores or a Dask
cluster."""

from __future__ import annotations

import multiprocessing
import os
import sys
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
from typing import Any, Generic, Protocol, TypeVar

from core.errors import QuartetError
from core.extras import install_hint
from core.signals import is_exiting
from quartet.arena.cores import Cores
from quartet.arena.processes import busy, no_ctrl_c, start_worker
from quartet.judge.process import sandbox

MAX_LOSSES = 5
"""A unit that lost its worker this many times aborts the run."""


class Work(Protocol):
    """A unit of work that can be done again: a game, the review of a log, games of self-play."""

    @property
    def number(self) -> int:
        """The unit's place in the schedule, from 0."""
        ...

    def require_same(self, result: Any) -> None:
        """Raise QuartetError if a recorded result is not of this unit."""
        ...


class Done(Protocol):
    """What comes back from a worker."""

    @property
    def result(self) -> Any:
        """What the run remembers of the unit."""
        ...


WorkT = TypeVar("WorkT", bound=Work)
DoneT = TypeVar("DoneT", bound=Done)
WorkT_contra = TypeVar("WorkT_contra", bound=Work, contravariant=True)

Play = Callable[[WorkT, "tuple[int, ...] | None"], DoneT]
"""Does a unit on these cores, or on any if they are None."""


class Workers(Protocol[WorkT_contra, DoneT]):
    """Where units are done.

    Attributes:
        lost: Exceptions of a future whose worker died; its unit is done again.
    """

    lost: tuple[type[BaseException], ...]

    @property
    def width(self) -> int:
        """Units to submit at a time; it may change."""
        ...

    def submit(self, unit: WorkT_contra) -> Future[DoneT]:
        """Schedule a unit."""
        ...

    def repair(self) -> None:
        """Replace workers that died."""
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
    """Do the units of a schedule until it ends, except those in `done`.

    Args:
        schedule: Yields units, or None while the next unit depends on running ones.
        workers: Where the units are done.
        done: Results by unit number; the schedule may read it. It gets every new result.
        record: Receives what a worker returns, as each unit ends.

    Raises:
        Exception: What a unit raised, after the other units that ended with it are recorded.
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
            raise RuntimeError("the schedule waits, but no unit is running")
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        failure: BaseException | None = None
        broken = False
        for future in finished:
            unit = running.pop(future)
            try:
                ended = future.result()
            except workers.lost as error:
                broken = True
                losses[unit.number] += 1
                if losses[unit.number] == MAX_LOSSES:
                    failure = QuartetError(
                        f"game {unit.number} lost its worker {MAX_LOSSES} times: "
                        f"{type(error).__name__} {error}".strip()
                    )
                again.append(unit)
            except Exception as error:  # noqa: BLE001  (record the other units first)
                failure = error
            else:
                record(ended)
                done[unit.number] = ended.result
        if failure is not None:
            raise failure
        if broken:
            workers.repair()


class _End:
    """The schedule has no more units."""


_END = _End()


def workers(
    play: Play[WorkT, DoneT],
    jobs: int | None,
    cluster: str | None,
    *,
    each: int = 1,
    oversubscribe: bool = False,
) -> Workers[WorkT, DoneT]:
    """Return workers on this machine, or of the Dask scheduler at `cluster`.

    Args:
        play: Does a unit.
        jobs: Units at a time, None for as many as there are cores for.
        cluster: The scheduler's address, None for this machine.
        each: Cores per unit.
        oversubscribe: Share cores with other runs.

    Raises:
        QuartetError: The options contradict each other, or cores are missing.
    """
    check_cluster(jobs, cluster, each)
    if cluster is None:
        return LocalWorkers(play, jobs, each=each, oversubscribe=oversubscribe)
    return ClusterWorkers(play, cluster)


def check_cluster(jobs: int | None, cluster: str | None, each: int = 1) -> None:
    """Raise QuartetError for an option that does not go with `--cluster`."""
    if cluster is None:
        return
    if each > 1:
        raise QuartetError("--cores is for this machine; workers of a cluster have their own")
    if os.environ.get(sandbox.WANTED):
        raise QuartetError(
            f"--sandbox is for this machine; set {sandbox.WANTED}=1 where a cluster's workers start"
        )
    if jobs is not None:
        raise QuartetError("--jobs is for this machine; a cluster uses all of its threads")


class LocalWorkers(Generic[WorkT, DoneT]):
    """Processes on this machine. A unit and its programs stay on the cores of its process."""

    lost: tuple[type[BaseException], ...] = (BrokenExecutor,)

    def __init__(
        self,
        play: Play[WorkT, DoneT],
        jobs: int | None = None,
        *,
        each: int = 1,
        oversubscribe: bool = False,
    ) -> None:
        """Start the processes. Arguments as for `workers`. Raises QuartetError as `Cores` does."""
        self._play = play
        self._cores = Cores(jobs, each=each, oversubscribe=oversubscribe)
        self._slots: list[tuple[tuple[int, ...], Future[DoneT] | None]] = [
            (cores, None) for cores in self._cores.of_jobs
        ]
        self._strangers = multiprocessing.active_children()
        self._executor: Executor = self._start()

    @property
    def width(self) -> int:
        """One unit for each job."""
        return len(self._slots)

    def submit(self, unit: WorkT) -> Future[DoneT]:
        """Do a unit on free cores."""
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
        """Start new processes; the remaining old ones end."""
        # Cancels nothing: the units of a broken executor have failed, and if it was repaired before
        # the last of them was noticed, the new units go on.
        self._executor.shutdown(wait=False)
        self._executor = self._start()

    def close(self) -> None:
        """End all processes and their programs, and wait for that."""
        if any(future is not None and not future.done() for _, future in self._slots):
            for process in multiprocessing.active_children():
                if process not in self._strangers:
                    process.terminate()
        self._executor.shutdown(cancel_futures=True)
        self._cores.close()

    def _start(self) -> Executor:
        # Spawned, not forked: the display has threads, and a forked child could inherit a lock that
        # no thread ever releases.
        return ProcessPoolExecutor(
            len(self._slots),
            mp_context=multiprocessing.get_context("spawn"),
            initializer=start_worker,
        )


def _work(play: Play[WorkT, DoneT], unit: WorkT, cores: tuple[int, ...]) -> DoneT:
    busy.set()
    try:
        # A worker that is to end may receive one more unit.
        if is_exiting.is_set():
            sys.exit()
        return play(unit, cores)
    finally:
        busy.clear()


class ClusterWorkers(Generic[WorkT, DoneT]):
    """The workers of a Dask scheduler.

    Each should have one thread (`dask worker --nthreads 1`) and its own core.
    """

    def __init__(self, play: Play[WorkT, DoneT], address: str) -> None:
        """Connect to the scheduler.

        Raises QuartetError if `distributed` is not installed or no scheduler answers.
        """
        try:
            import distributed  # noqa: PLC0415  (an extra, and slow to import)
        except ImportError:
            raise QuartetError(
                f"a cluster needs distributed: {install_hint('distributed')}"
            ) from None
        try:
            distributed.comm.resolve_address(address)  # half a client would print a traceback
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
        """Two units per thread, so that no worker waits for this process."""
        threads: int = sum(self._client.nthreads().values())
        return 2 * max(1, threads)

    def submit(self, unit: WorkT) -> Future[DoneT]:
        """Do a unit anywhere; the scheduler itself repeats it if a worker dies."""
        future: Future[DoneT] = self._executor.submit(self._play, unit, None)
        return future

    def repair(self) -> None:
        """Do nothing: the scheduler replaces its workers."""

    def close(self) -> None:
        """Disconnect from the cluster, which keeps running."""
        self._executor.shutdown(wait=False)
        self._client.close()
