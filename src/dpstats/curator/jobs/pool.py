"""The pool: processes that work on paid questions, each within a deadline; who is late by far is killed, and replaced.

A table is opened by every process before anything about it is paid for, and by every process that is started later before it
takes jobs. When a table counts as open is rounded up to few instants, because how long that takes depends on its rows.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any

from dpstats.curator.jobs.deadlines import Deadlines
from dpstats.curator.jobs.reply_times import leaving_by_doubling
from dpstats.curator.jobs.worker import FAILED, MOST_TABLES, READY, frame, frames

MEMORY = 4 * 2**30
"""Bytes for a worker, where nobody says otherwise."""
START_SECONDS = 60.0
"""How long somebody waits, before anything is paid for, while all processes are being started."""
GRACE_SECONDS = 2.0
"""How long a process may go on with a job that is late, before it is killed."""
_ONE_THREAD = ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMEXPR_NUM", "RAYON_NUM", "POLARS_MAX")


class JobFailedError(Exception):
    """A job has no answer: it was late, or failed, or its process is gone. Whoever asked learns nothing more than that."""


@dataclass(frozen=True)
class PaidJob:
    """A question that was paid for, about a table that a worker can open."""

    table: str
    """The recipe of the table, as JSON."""
    question: dict[str, Any]
    """The document of the question."""


@dataclass(frozen=True)
class PlanJob:
    """A plan that is to be simulated; the table is opened to price the question, and none of its rows is read."""

    table: str
    plan: dict[str, Any]
    """The document of the plan."""


WorkerJob = PaidJob | PlanJob


class JobProcess:
    """One worker process, by its pipes; it works on one job at a time."""

    def __init__(self, memory: int) -> None:
        threads = {f"{name}_THREADS": "1" for name in _ONE_THREAD}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "dpstats.curator.jobs.worker", "--memory", str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **threads, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # Ctrl-C at the terminal is for whoever started it
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests: IO[bytes] = self._process.stdin
        self._replies: IO[bytes] = self._process.stdout
        self.tables: set[str] = set()
        """The recipes of the tables that it has opened before it was asked about them."""

    def wait_until_ready(self) -> bool:
        """Whether it has loaded what answers need; False where it ended instead."""
        return self._replies.read(len(READY)) == READY

    def open(self, table: str) -> None:
        """Have a table opened. Where that fails, its jobs will fail: nothing is said here."""
        self._send({"table": table})
        leaving_by_doubling(self.reply)

    def begin(self, job: WorkerJob, seconds: float) -> None:
        """Hand a job over, which may take so long."""
        self._send({**vars(job), "seconds": seconds})

    def replies_by(self, until: float) -> bool:
        """Whether there is a reply, or the process is gone, before an instant; where that cannot be known, it is supposed."""
        if os.name != "posix":
            return True
        waiting = select.poll()
        waiting.register(self._replies, select.POLLIN)
        return bool(waiting.poll(1000 * max(0.0, until - time.monotonic())))

    def reply(self) -> dict[str, Any] | None:
        """The reply to what was sent last, as soon as there is one; None where the process is gone."""
        try:
            reply: dict[str, Any] = json.loads(next(frames(self._replies)))
        except (OSError, ValueError, StopIteration):
            self.kill()
            return None
        return reply

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._requests.write(frame(json.dumps(message).encode("ascii")))
            self._requests.flush()
        except (OSError, ValueError):
            self.kill()

    @property
    def is_alive(self) -> bool:
        """Whether it can take another job."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End the process, and let go of its pipes."""
        self.kill()
        for pipe in (self._requests, self._replies):
            with suppress(OSError, ValueError):
                pipe.close()


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
        self._deadlines = Deadlines()
        self._is_closed = False
        for _ in range(processes):
            self._hire()

    def open(self, table: str) -> None:
        """Let all processes open a table, by its recipe; returns at once. See `wait_until_ready`."""
        with self._lock:
            self._tables.pop(table, None)
            self._tables[table] = None
            while len(self._tables) > MOST_TABLES:
                self._tables.pop(next(iter(self._tables)))
            processes = list(self._ready)
        for process in processes:
            threading.Thread(target=self._open, args=(process, table), daemon=True).start()

    def wait_until_ready(self, table: str = "", seconds: float = START_SECONDS) -> bool:
        """Whether a process is ready for jobs, about a table, be it busy with another one; waits for those that will be."""
        with self._lock:
            return self._lock.wait_for(lambda: bool(self._knowing(table) if table in self._tables else self._ready), seconds)

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
            self._is_closed = True
            processes = list(self._processes)
        self._deadlines.close()
        for process in processes:
            self._let_go(process)

    def _taken(self, waiting: _Waiting, until: float) -> JobProcess | None:
        """A process that somebody may have; None where there is none in time."""
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
            process.open(table)
            self._note(process, table)
            self._give_back(process)

    def _note(self, process: JobProcess, table: str) -> None:
        with self._lock:
            process.tables.add(table)
            self._lock.notify_all()

    def _hire(self) -> None:
        """Start a process; it takes jobs as soon as it is ready."""
        with self._lock:
            if self._is_closed:
                return
            process = JobProcess(self._memory)
            self._processes.add(process)
        threading.Thread(target=self._welcome, args=(process,), daemon=True).start()

    def _welcome(self, process: JobProcess) -> None:
        with suppress(OSError, ValueError):
            if process.wait_until_ready():
                while (table := self._next_table(process)) is not None:
                    process.open(table)
                    self._note(process, table)
                self._give_back(process)

    def _next_table(self, process: JobProcess) -> str | None:
        """A table that a new process has yet to open; None, and it is ready, where there is none."""
        with self._lock:
            table = next((each for each in self._tables if each not in process.tables), None)
            if table is None:
                self._ready.add(process)
                self._lock.notify_all()
            return table

    def _let_go(self, process: JobProcess) -> None:
        with self._lock:
            self._processes.discard(process)
            self._ready.discard(process)
        process.close()

    def __enter__(self) -> JobPool:
        return self

    def __exit__(self, *how: object) -> None:
        self.close()
