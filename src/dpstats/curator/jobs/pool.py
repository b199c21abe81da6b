"""The pool: processes that work on paid questions, each within a deadline, and are killed where they do not keep it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, LifoQueue
from typing import IO, Any

from dpstats.curator.jobs.worker import FAILED, READY, frame, frames

MEMORY = 4 * 2**30
"""Bytes for a worker, where nobody says otherwise."""
START_SECONDS = 60.0
"""How long somebody waits, before anything is paid for, while all processes are being started."""
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

    def wait_until_ready(self) -> bool:
        """Whether it has loaded what answers need; False where it ended instead."""
        return self._replies.read(len(READY)) == READY

    def run(self, job: WorkerJob, seconds: float) -> dict[str, Any]:
        """The answer to a job; a process that takes longer is killed, and its job has failed."""
        timer = threading.Timer(seconds, self.kill)
        timer.daemon = True
        timer.start()
        try:
            message = {**vars(job), "seconds": seconds}
            self._requests.write(frame(json.dumps(message).encode("ascii")))
            self._requests.flush()
            answer: dict[str, Any] = json.loads(next(frames(self._replies)))
        except (OSError, ValueError, StopIteration):
            self.kill()
            raise JobFailedError from None
        finally:
            timer.cancel()
        if answer == FAILED:
            raise JobFailedError
        return answer

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


class JobPool:
    """A fixed number of worker processes; whoever was killed is replaced."""

    def __init__(self, processes: int = 2, memory: int = MEMORY) -> None:
        self._memory = memory
        self._idle: LifoQueue[JobProcess] = LifoQueue()
        self._lock = threading.Condition()
        self._processes: set[JobProcess] = set()
        self._ready: set[JobProcess] = set()
        self._is_closed = False
        for _ in range(processes):
            self._hire()

    def wait_until_ready(self, seconds: float = START_SECONDS) -> bool:
        """Whether a process is ready for jobs, be it busy with another one; waits for those that are being started."""
        with self._lock:
            return self._lock.wait_for(lambda: bool(self._ready), seconds)

    def run(self, job: WorkerJob, until: float) -> dict[str, Any]:
        """The answer to a job, or a plan; raises `JobFailedError` at the instant `until`, at the latest."""
        try:
            process = self._idle.get(timeout=max(0.0, until - time.monotonic()))
        except Empty:
            raise JobFailedError from None
        try:
            if (left := until - time.monotonic()) <= 0:  # the process is spared
                raise JobFailedError
            return process.run(job, left)
        finally:
            if process.is_alive:
                self._idle.put(process)
            else:
                self._let_go(process)
                self._hire()

    def close(self) -> None:
        """End all workers, and take no more jobs."""
        with self._lock:
            self._is_closed = True
            processes = list(self._processes)
        for process in processes:
            self._let_go(process)

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
                with self._lock:
                    self._ready.add(process)
                    self._lock.notify_all()
                self._idle.put(process)

    def _let_go(self, process: JobProcess) -> None:
        with self._lock:
            self._processes.discard(process)
            self._ready.discard(process)
        process.close()

    def __enter__(self) -> JobPool:
        return self

    def __exit__(self, *how: object) -> None:
        self.close()
