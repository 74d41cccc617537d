"""The process tree of a program on Windows: a job object that ends all its processes at once.

A process that a member of a job starts is a member too, and none can leave.
"""

from __future__ import annotations

import ctypes
import sys
import time
from contextlib import suppress
from typing import Any

import psutil

CREATE_SUSPENDED = 0x00000004
CREATE_NO_WINDOW = 0x08000000
SPAWN: dict[str, Any] = {"creationflags": CREATE_SUSPENDED | CREATE_NO_WINDOW}
"""Keywords for Popen. The program is suspended until it is in its job. Without a console it does
not receive the user's Ctrl-C."""

QUIET_ERRORS = 0x0001 | 0x0002 | 0x8000
"""SEM_FAILCRITICALERRORS, SEM_NOGPFAULTERRORBOX, SEM_NOOPENFILEERRORBOX: a crash opens no window.
Children inherit them."""
BASIC_ACCOUNTING_INFORMATION = 1
BASIC_PROCESS_ID_LIST = 3
EXTENDED_LIMIT_INFORMATION = 9
KILL_ON_JOB_CLOSE = 0x00002000
MAX_PROCESSES = 4096
SWEEP_SECONDS = 10.0


class BasicLimits(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION."""

    _fields_ = (
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", ctypes.c_uint32),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", ctypes.c_uint32),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", ctypes.c_uint32),
        ("SchedulingClass", ctypes.c_uint32),
    )


class Accounting(ctypes.Structure):
    """JOBOBJECT_BASIC_ACCOUNTING_INFORMATION; times in units of 100 ns."""

    _fields_ = (
        ("TotalUserTime", ctypes.c_int64),
        ("TotalKernelTime", ctypes.c_int64),
        ("ThisPeriodTotalUserTime", ctypes.c_int64),
        ("ThisPeriodTotalKernelTime", ctypes.c_int64),
        ("TotalPageFaultCount", ctypes.c_uint32),
        ("TotalProcesses", ctypes.c_uint32),
        ("ActiveProcesses", ctypes.c_uint32),
        ("TotalTerminatedProcesses", ctypes.c_uint32),
    )


class ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

    _fields_ = (
        ("BasicLimitInformation", BasicLimits),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


class ProcessIds(ctypes.Structure):
    """JOBOBJECT_BASIC_PROCESS_ID_LIST."""

    _fields_ = (
        ("NumberOfAssignedProcesses", ctypes.c_uint32),
        ("NumberOfProcessIdsInList", ctypes.c_uint32),
        ("ProcessIdList", ctypes.c_size_t * MAX_PROCESSES),
    )


if sys.platform == "win32":

    class WindowsTree:
        """All processes of one program. Raises OSError if Windows refuses."""

        def __init__(self) -> None:
            self.environment: dict[str, str] = {}
            self._kernel = ctypes.WinDLL("kernel32", use_last_error=True)
            self._kernel.SetErrorMode(QUIET_ERRORS)
            self._kernel.CreateJobObjectW.restype = ctypes.c_void_p
            self._job = ctypes.c_void_p(self._kernel.CreateJobObjectW(None, None))
            if not self._job:
                raise ctypes.WinError(ctypes.get_last_error())
            limits = ExtendedLimits()
            limits.BasicLimitInformation.LimitFlags = KILL_ON_JOB_CLOSE
            self._check(
                self._kernel.SetInformationJobObject(
                    self._job,
                    EXTENDED_LIMIT_INFORMATION,
                    ctypes.byref(limits),
                    ctypes.sizeof(limits),
                )
            )

        def adopt(self, main: psutil.Popen) -> None:
            """Put the suspended program into the job, and resume it."""
            handle = int(main._handle)  # noqa: SLF001  (Popen has no public one)
            self._check(self._kernel.AssignProcessToJobObject(self._job, ctypes.c_void_p(handle)))
            main.resume()

        def members(self) -> list[int]:
            """Return the ids of the program's present processes."""
            ids = ProcessIds()
            self._kernel.QueryInformationJobObject(
                self._job, BASIC_PROCESS_ID_LIST, ctypes.byref(ids), ctypes.sizeof(ids), None
            )
            return list(ids.ProcessIdList[: ids.NumberOfProcessIdsInList])

        def cpu(self) -> float:
            """Return the processor time of all processes so far in seconds, dead ones included."""
            used = Accounting()
            self._kernel.QueryInformationJobObject(
                self._job,
                BASIC_ACCOUNTING_INFORMATION,
                ctypes.byref(used),
                ctypes.sizeof(used),
                None,
            )
            return float(used.TotalUserTime + used.TotalKernelTime) / 1e7

        def waited(self) -> float | None:
            """Return None: Windows does not report how long threads wait for a processor."""
            return None

        def kill(self, main: psutil.Popen | None) -> int:
            """Kill every process, and wait until it has gone.

            Args:
                main: The program; None if its start was interrupted. Then it is not in the job, and
                    escapes.

            Returns:
                The number of processes other than `main` that were alive.
            """
            alive = len(set(self.members()) - {None if main is None else main.pid})
            if main is not None:
                with suppress(psutil.Error):
                    main.kill()  # it may not have reached the job
            self._kernel.TerminateJobObject(self._job, 1)
            deadline = time.monotonic() + SWEEP_SECONDS
            while self.members() and time.monotonic() < deadline:
                time.sleep(0.001)
            self.close()
            if main is not None:
                with suppress(psutil.Error):
                    main.wait(SWEEP_SECONDS)
            return alive

        def close(self) -> None:
            """Release the job, once it has ended or if no program was started."""
            self._kernel.CloseHandle(self._job)

        def _check(self, succeeded: int) -> None:
            if not succeeded:
                raise ctypes.WinError(ctypes.get_last_error())
