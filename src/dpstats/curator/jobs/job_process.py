"""A worker process as whoever started it sees it: by its pipes, and one job at a time."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from dpstats.curator.jobs.reply_times import leaving_by_doubling
from dpstats.curator.jobs.worker import READY, frame, frames

_ONE_THREAD = ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMEXPR_NUM", "RAYON_NUM", "POLARS_MAX")


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
