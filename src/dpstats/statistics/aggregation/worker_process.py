"""A worker process as seen by the process that started it: send it functions once, then one piece of rows after the other."""

from __future__ import annotations

import json
import math
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Timer
from typing import IO, Any, Protocol

from dpstats.foundations.errors import InvalidParameterError
from dpstats.statistics.aggregation import worker

START_SECONDS = 120.0
"""How long a worker may take to load the functions."""
GRACE = 5.0
"""Seconds after which a process that should have ended, or begun, is ended by force."""
_SINGLE = ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMEXPR_NUM", "BLIS_NUM", "RAYON_NUM", "VECLIB_MAXIMUM", "POLARS_MAX")
_LIMIT_FILE = Path("/sys/fs/cgroup/memory.max")
_UNLOADABLE = (
    "the function could not be loaded in a worker process: let it import what it needs from installed packages or from"
    " files on sys.path, or pass workers=0 to run it in this process."
)


class WorkerGoneError(Exception):
    """A worker is gone and has not called the function; somebody else must answer the piece."""


@dataclass(frozen=True)
class WorkerTerms:
    """What all workers of one evaluation are given; public."""

    shipment: bytes
    """The pickled functions."""
    seconds: float
    """For a piece."""
    memory: int
    """Bytes for a piece; 0 for any number."""
    hash_seed: int
    """One for all workers: in which order a set lists its texts must not depend on who had time for a piece."""


class Worker(Protocol):
    """Whoever answers one piece after the other."""

    def ask(self, function: int, raw_pickled: bytes, patience: float) -> bytes | None:
        """What a function, by its number, makes of pickled arguments; None where that is no answer.

        Raises WorkerGoneError where it has not been called after `patience` seconds, and never after it has.
        """

    def stop(self) -> None:
        """Tell the worker to end, and its child with it; may be called while another thread asks."""

    def close(self) -> None:
        """Stop the worker and let go of what leads to it."""


class WorkerSource(Protocol):
    """Where workers come from. It is closed once, by `close`, which may be called from another thread."""

    def hire(self, modules: Sequence[str]) -> Worker:
        """A new worker, which has loaded the functions, and `modules` too, because pieces will need them."""

    def close(self) -> None:
        """Hand out no more workers."""


class SeparatePrograms:
    """Workers that run as a program each and call the functions themselves: the way where there is no fork."""

    def __init__(self, terms: WorkerTerms) -> None:
        self._terms = terms
        self._lock = Lock()
        self._is_closed = False
        self._loading: set[PipedWorker] = set()

    def hire(self, modules: Sequence[str]) -> Worker:
        """A new program that has loaded the functions."""
        with self._lock:
            if self._is_closed:
                raise WorkerGoneError
            process = PipedWorker(self._terms)
            self._loading.add(process)
        try:
            process.load(self._terms, modules)
        except BaseException:
            process.close()
            raise
        finally:
            with self._lock:
                self._loading.discard(process)
        return process

    def close(self) -> None:
        """Start no more programs, and end those that are loading."""
        with self._lock:
            self._is_closed = True
            loading = list(self._loading)
        for process in loading:
            process.stop()


class PipedWorker:
    """One worker, by its pipes."""

    def __init__(self, terms: WorkerTerms) -> None:
        self._seconds = terms.seconds
        self._is_spent = False
        self._process = start_program(terms, subprocess.PIPE, subprocess.PIPE)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests: IO[bytes] = self._process.stdin
        self._replies: IO[bytes] = self._process.stdout

    def load(self, terms: WorkerTerms, modules: Sequence[str]) -> None:
        """Send the functions, and wait until they are loaded."""
        with self._ended_after(START_SECONDS):
            load(self._send, self._replies.read, terms, modules, forks=False)

    def ask(self, function: int, raw_pickled: bytes, patience: float) -> bytes | None:
        """What a function makes of a piece; see `Worker`. Who got no answer asks this worker no more."""
        if self._is_spent:
            raise WorkerGoneError
        with self._ended_after(self._seconds), suppress(OSError, ValueError, struct.error):
            self._send(worker.REQUEST.pack(function, len(raw_pickled)) + raw_pickled)
            (length,) = worker.REPLY.unpack(self._replies.read(worker.REPLY.size))
            if 0 <= length <= worker.LONGEST:
                return self._replies.read(length)
        self._is_spent = True  # its state may be that of a call that failed
        return None

    def stop(self) -> None:
        """End the program."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End the program and let go of its pipes."""
        self.stop()
        for pipe in (self._requests, self._replies):
            with suppress(OSError, ValueError):
                pipe.close()

    def _send(self, message: bytes) -> None:
        self._requests.write(message)
        self._requests.flush()

    @contextmanager
    def _ended_after(self, seconds: float) -> Iterator[None]:
        """Stop the worker if what is done here takes longer."""
        if math.isinf(seconds):
            yield
            return
        timer = Timer(seconds, self.stop)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def start_program(terms: WorkerTerms, stdin: int, stdout: int) -> subprocess.Popen[bytes]:
    """Start the program of workers."""
    return subprocess.Popen(
        [sys.executable, "-P", str(Path(worker.__file__))],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        env=_environment(os.environ, terms.hash_seed),
        start_new_session=True,  # Ctrl-C at the terminal is for us; we end the workers
    )


def load(
    send: Callable[[bytes], object], read: Callable[[int], bytes], terms: WorkerTerms, modules: Sequence[str], *, forks: bool
) -> None:
    """Send a program that was started its settings and the functions, and wait until they are loaded."""
    settings = {"path": list(map(str, sys.path)), "memory": terms.memory, "modules": list(modules), "forks": forks}
    with suppress(OSError, ValueError):
        for message in (json.dumps(settings).encode("ascii"), terms.shipment):
            send(worker.REPLY.pack(len(message)))
            send(message)
        if read(1) == worker.READY:
            return
    raise InvalidParameterError(_UNLOADABLE)


def memory_share(workers: int) -> int:
    """Bytes of memory for each of the workers, of what this machine has or this process may use; 0 where that is unknown."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0
    with suppress(OSError, ValueError):
        whole = min(whole, int(_LIMIT_FILE.read_text()))
    return whole // (workers + 1)


def modules_of(raw_arguments: Sequence[Any]) -> list[str]:
    """The modules that containers come from; what is in them is not looked at."""
    containers = [part for each in raw_arguments for part in ((each, *each.values()) if isinstance(each, dict) else (each,))]
    return sorted({type(container).__module__ for container in containers} - {"__main__", "builtins"})


def _environment(mine: Mapping[str, str], hash_seed: int) -> dict[str, str]:
    """My environment, but for one thread in each process and for what could tell workers apart."""
    threads = {f"{name}_THREADS": "1" for name in _SINGLE}
    without_python = {name: value for name, value in mine.items() if name not in ("PYTHONSTARTUP", "PYTHONINSPECT")}
    apple = {"OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES"}
    return {**without_python, **threads, **apple, "PYTHONHASHSEED": str(hash_seed), "PYTHONWARNINGS": "ignore"}
