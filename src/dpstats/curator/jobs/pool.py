"""The pool: processes that work on paid questions, each within a deadline; who is late by far is killed, and replaced.

A table is opened by every process before anything about it is paid for, and by every process that is started later before it
takes jobs. When a table counts as open is rounded up to few instants, because how long that takes depends on its rows.

Whoever ends, for whatever reason, is replaced: one that was idle before anybody pays for it, one that cannot be started after a
pause, which grows. A table whose opening ends processes is given up, so that the others can be asked about.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from dpstats.curator.jobs.deadlines import Deadlines
from dpstats.curator.jobs.job_process import JobProcess, WorkerJob
from dpstats.curator.jobs.worker import FAILED, MOST_TABLES

MEMORY = 4 * 2**30
"""Bytes for a worker, where nobody says otherwise."""
START_SECONDS = 60.0
"""How long somebody waits, before anything is paid for, while all processes are being started."""
GRACE_SECONDS = 2.0
"""How long a process may go on with a job that is late, before it is killed."""
MOST_ENDS = 2
"""Processes that may end while they open a table, before it is given up."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 30.0
"""Seconds until a process is started again that could not be."""


class JobFailedError(Exception):
    """A job has no answer: it was late, or failed, or its process is gone. Whoever asked learns nothing more than that."""


def _grace() -> float:
    """Seconds from when a job is late until its process is killed; none where it cannot be left alone meanwhile."""
    return GRACE_SECONDS if os.name == "posix" else 0.0


@dataclass(eq=False)
class _Waiting:
    """Somebody who waits for a process: for a certain one, or for any that knows a table."""

    table: str
    wanted: JobProcess | None = None
    process: JobProcess | None = None
    """The process that was handed over."""
    called: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.called.acquire()


class JobPool:
    """A fixed number of worker processes; whoever was killed is replaced."""

    def __init__(self, processes: int = 2, memory: int = MEMORY) -> None:
        self._memory = memory
        self._lock = threading.Condition()
        self._idle: list[JobProcess] = []
        self._waiting: deque[_Waiting] = deque()
        self._processes: set[JobProcess] = set()
        self._ready: set[JobProcess] = set()
        self._tables: dict[str, None] = {}
        self._ends: Counter[str] = Counter()
        self._deadlines = Deadlines()
        self._closed = threading.Event()
        for _ in range(processes):
            self._hire()

    def open(self, table: str) -> None:
        """Let all processes open a table, by its recipe; returns at once. See `wait_until_ready`."""
        with self._lock:
            self._tables.pop(table, None)
            self._tables[table] = None
            self._ends.pop(table, None)
            while len(self._tables) > MOST_TABLES:
                self._tables.pop(next(iter(self._tables)))
            processes = list(self._ready)
        for process in processes:
            threading.Thread(target=self._open, args=(process, table), daemon=True).start()

    def forget(self, table: str) -> None:
        """Open a table no more, by its recipe: it was opened anew, by another one."""
        with self._lock:
            self._tables.pop(table, None)
            self._ends.pop(table, None)

    def wait_until_ready(self, table: str = "", seconds: float = START_SECONDS) -> bool:
        """Whether a process is ready for jobs, about a table, be it busy with another one; waits for those that will be."""
        self._replace_ended()

        def has_ready() -> bool:
            return bool(self._knowing(table) if table in self._tables else self._ready)

        with self._lock:
            self._lock.wait_for(lambda: has_ready() or self._is_given_up(table), seconds)
            return has_ready() and not self._is_given_up(table)

    def run(self, job: WorkerJob, until: float) -> dict[str, Any]:
        """The answer to a job, or a plan; raises `JobFailedError` at the instant `until`, at the latest."""
        process = self._taken(_Waiting(job.table), until)
        if process is None:
            raise JobFailedError
        if (left := until - time.monotonic()) <= 0:  # the process is spared
            self._give_back(process)
            raise JobFailedError
        with self._deadlines.kept(until + _grace(), process.kill):
            process.begin(job, left)
            is_late = not process.replies_by(until)
            answer = None if is_late else process.reply()
        if is_late:
            threading.Thread(target=self._wait_out, args=(process,), daemon=True).start()
            raise JobFailedError
        self._give_back(process)
        if answer is None or answer == FAILED:
            raise JobFailedError
        return answer

    def close(self) -> None:
        """End all workers, and take no more jobs."""
        with self._lock:
            self._closed.set()
            processes = list(self._processes)
        self._deadlines.close()
        for process in processes:
            self._let_go(process)

    def _taken(self, waiting: _Waiting, until: float) -> JobProcess | None:
        """A process that somebody may have; None where there is none in time, or the one that is wanted has ended."""
        self._replace_ended()
        with self._lock:
            for process in reversed(self._idle):  # the one that was used last has the most at hand
                if self._may_have(waiting, process):
                    self._idle.remove(process)
                    return process
            self._waiting.append(waiting)
        waiting.called.acquire(timeout=max(0.0, min(until - time.monotonic(), threading.TIMEOUT_MAX)))
        with self._lock:
            if waiting.process is None:
                self._waiting.remove(waiting)
            return waiting.process

    def _hand_out(self, process: JobProcess) -> None:
        """Give a process to the first one who waits for it, or let it be idle."""
        with self._lock:
            waiting = next((each for each in self._waiting if self._may_have(each, process)), None)
            if waiting is None:
                self._idle.append(process)
                return
            self._waiting.remove(waiting)
            waiting.process = process
            waiting.called.release()

    def _may_have(self, waiting: _Waiting, process: JobProcess) -> bool:
        """Whether a process is one that is waited for. Where none knows the table, it is any."""
        if waiting.wanted is not None:
            return waiting.wanted is process
        return waiting.table in process.tables or not self._knowing(waiting.table)

    def _knowing(self, table: str) -> list[JobProcess]:
        return [process for process in self._ready if table in process.tables]

    def _give_back(self, process: JobProcess) -> None:
        if process.is_alive:
            self._hand_out(process)
        else:
            self._let_go(process)
            self._hire()

    def _wait_out(self, process: JobProcess) -> None:
        """Let a process end a job that nobody waits for any more, or kill it: to start another takes longer than most jobs."""
        with self._deadlines.kept(time.monotonic() + _grace(), process.kill):
            process.reply()
        self._give_back(process)

    def _open(self, process: JobProcess, table: str) -> None:
        """Have one process open a table, when it is free."""
        if self._taken(_Waiting(table, process), time.monotonic() + threading.TIMEOUT_MAX) is not None:
            self._opens(process, table)
            self._give_back(process)

    def _opens(self, process: JobProcess, table: str) -> bool:
        """Have a process open a table; False where it has ended."""
        process.open(table)
        with self._lock:
            if process.is_alive:
                process.tables.add(table)
            else:
                self._ends[table] += 1
            self._lock.notify_all()
            return table in process.tables

    def _is_given_up(self, table: str) -> bool:
        return self._ends[table] >= MOST_ENDS

    def _replace_ended(self) -> None:
        """Let go of idle processes that have ended, before anybody is given one of them."""
        with self._lock:
            ended = [each for each in self._idle if not each.is_alive]
            self._idle = [each for each in self._idle if each not in ended]
        for process in ended:
            self._let_go(process)
            self._hire()

    def _hire(self) -> None:
        """Start a process; it takes jobs as soon as it is ready. One that does not get so far is started again after a pause."""
        threading.Thread(target=self._welcome, args=(self._started(),), daemon=True).start()

    def _started(self) -> JobProcess | None:
        """A new process; None where the system has none to give."""
        with self._lock, suppress(OSError):
            if not self._closed.is_set():
                process = JobProcess(self._memory)
                self._processes.add(process)
                return process
        return None

    def _welcome(self, process: JobProcess | None) -> None:
        pause = _FIRST_PAUSE
        while process is None or not self._made_ready(process):
            if process is not None:
                self._let_go(process)
            if self._closed.wait(pause):
                return
            pause = min(2 * pause, _LONGEST_PAUSE)
            process = self._started()
        self._give_back(process)

    def _made_ready(self, process: JobProcess) -> bool:
        """Whether a new process has loaded what answers need and opened all tables; False where it ended instead."""
        with suppress(OSError, ValueError):  # its pipes are closed with the pool
            if process.wait_until_ready():
                while (table := self._next_table(process)) is not None:
                    if not self._opens(process, table):
                        return False
                return True
        return False

    def _next_table(self, process: JobProcess) -> str | None:
        """A table that a new process has yet to open; None, and it is ready, where there is none."""
        with self._lock:
            left = (each for each in self._tables if each not in process.tables and not self._is_given_up(each))
            table = next(left, None)
            if table is None:
                self._ready.add(process)
                self._lock.notify_all()
            return table

    def _let_go(self, process: JobProcess) -> None:
        with self._lock:
            self._processes.discard(process)
            self._ready.discard(process)
            for waiting in self._waiting:
                if waiting.wanted is process and waiting.called.locked():
                    waiting.called.release()
        process.close()

    def __enter__(self) -> JobPool:
        return self

    def __exit__(self, *how: object) -> None:
        self.close()
