"""A worker process as seen by the process that started it: send it functions once, then one piece of rows after the other."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import IO, Any

from dpstats.foundations.errors import InvalidParameterError
from dpstats.statistics.aggregation import worker

START_SECONDS = 120.0
"""How long a worker may take to load the functions."""
GRACE = 5.0
"""Seconds after which a worker that has not ended a child in time is ended itself."""
_SINGLE = ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMEXPR_NUM", "BLIS_NUM", "RAYON_NUM", "VECLIB_MAXIMUM", "POLARS_MAX")
_LIMIT_FILE = Path("/sys/fs/cgroup/memory.max")


class WorkerGoneError(Exception):
    """A worker ended without a reply; somebody else must answer the next piece."""


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


class WorkerProcess:
    """One worker, by its pipes. It is closed once, by `close`, which may be called from another thread."""

    def __init__(self, terms: WorkerTerms) -> None:
        self._seconds = terms.seconds
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(Path(worker.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(os.environ, terms.hash_seed),
            start_new_session=True,  # Ctrl-C at the terminal is for us; we end the workers
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests: IO[bytes] = self._process.stdin
        self._replies: IO[bytes] = self._process.stdout

    def load(self, terms: WorkerTerms, modules: Sequence[str]) -> None:
        """Send the functions, and wait until they are loaded; `modules` are imported too, because pieces will need them."""
        settings = {"path": list(map(str, sys.path)), "seconds": terms.seconds, "memory": terms.memory, "modules": list(modules)}
        spoken = json.dumps(settings).encode("ascii")
        with self._ended_after(START_SECONDS), suppress(OSError, WorkerGoneError):
            for message in (spoken, terms.shipment):
                self._requests.write(worker.REPLY.pack(len(message)))
                self._requests.write(message)
            self._requests.flush()
            if self._read(1) == worker.READY:
                return
        raise InvalidParameterError(
            "the function could not be loaded in a worker process: let it import what it needs from installed packages or from"
            " files on sys.path, or pass workers=0 to run it in this process."
        )

    def ask(self, function: int, raw_pickled: bytes) -> bytes | None:
        """What a function, by its number, makes of pickled arguments; None where that is no answer."""
        try:
            self._requests.write(worker.REQUEST.pack(function, len(raw_pickled)))
            self._requests.write(raw_pickled)
            self._requests.flush()
        except (OSError, ValueError):
            raise WorkerGoneError from None
        with self._ended_after(self._seconds + GRACE if worker.FORKS else self._seconds):
            (length,) = worker.REPLY.unpack(self._read(worker.REPLY.size))
            if not worker.FORKS and length == worker.NO_ANSWER:
                raise WorkerGoneError  # its state may be that of a call that failed
            return self._read(length) if 0 <= length <= worker.LONGEST else None

    def stop(self) -> None:
        """Tell the worker to end, and its child with it; may be called while another thread asks."""
        with suppress(OSError):
            self._process.terminate()
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def close(self) -> None:
        """Stop the worker and let go of its pipes."""
        self.stop()
        for pipe in (self._requests, self._replies):
            with suppress(OSError, ValueError):
                pipe.close()

    def _read(self, size: int) -> bytes:
        try:
            message = self._replies.read(size)
        except (OSError, ValueError):
            message = b""
        if len(message) < size:
            raise WorkerGoneError
        return message

    @contextmanager
    def _ended_after(self, seconds: float) -> Iterator[None]:
        """Stop the worker if what is done here takes longer; told and not killed, it ends what it forked with itself."""
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
