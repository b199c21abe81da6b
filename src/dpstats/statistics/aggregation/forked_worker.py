"""Workers that are forked from one process, which has loaded the functions; see `worker` for their side of it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock

from dpstats.statistics.aggregation import worker, worker_process
from dpstats.statistics.aggregation.worker_process import START_SECONDS, WorkerGoneError, WorkerTerms

_PART = 1 << 20
"""Bytes that are sent with one patience."""
_LONG = 1e5
"""Seconds; sockets cannot wait for months at once."""


class Loader:
    """The process that loads the functions and forks workers; another one where it is gone."""

    def __init__(self, terms: WorkerTerms) -> None:
        self._terms = terms
        self._hiring = Lock()
        self._changing = Lock()
        self._is_closed = False
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        """None as long as the functions are not loaded."""

    def hire(self, modules: Sequence[str]) -> ForkedWorker:
        """A new worker, which has loaded the functions, and the `modules` of the first one who was hired."""
        with self._hiring:
            for patience in (worker_process.GRACE, START_SECONDS):  # a function may have stopped or ended the loader
                control = self._control or self._started(modules)
                try:
                    return ForkedWorker(control, self._terms.seconds, patience)
                except OSError:
                    self._end(0)
            raise WorkerGoneError

    def close(self) -> None:
        """Fork no more workers, and end when those that were forked have ended."""
        with self._changing:
            self._is_closed = True
        self._end(worker_process.GRACE if self._control else 0)

    def _started(self, modules: Sequence[str]) -> socket.socket:
        control, theirs = socket.socketpair()
        try:
            with theirs, self._changing:
                if self._is_closed:
                    raise WorkerGoneError
                self._process = worker_process.start_program(self._terms, theirs.fileno(), theirs.fileno())
            control.settimeout(START_SECONDS)
            worker_process.load(control.sendall, control.recv, self._terms, modules, forks=True)
            with self._changing:
                if self._is_closed:
                    raise WorkerGoneError
                self._control = control
        except BaseException:
            control.close()
            self._end(0)
            raise
        return control

    def _end(self, grace: float) -> None:
        """End the process, after `grace` seconds by force; it waits for its workers, which end when they are told to."""
        with self._changing:
            process, self._process = self._process, None
            control, self._control = self._control, None
        if control is not None:
            control.close()
        if process is not None:
            try:
                process.wait(grace)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class ForkedWorker:
    """One worker, by the socket that tells it about pieces; each piece has a socket of its own, to the child that answers it."""

    def __init__(self, loader: socket.socket, seconds: float, patience: float) -> None:
        self._seconds = seconds
        self._piece: socket.socket | None = None
        self._control, theirs = socket.socketpair()
        try:
            _give(loader, theirs)
            (self._process,) = worker.REPLY.unpack(_exactly(self._control, worker.REPLY.size, patience))
        except BaseException:
            self._control.close()
            raise

    def ask(self, function: int, raw_pickled: bytes, patience: float) -> bytes | None:
        """What a child makes of a piece; see `worker_process.Worker`."""
        self._piece, theirs = socket.socketpair()
        with self._piece as piece:
            try:
                _give(self._control, theirs)
                piece.settimeout(patience)
                piece.sendall(worker.REQUEST.pack(function, len(raw_pickled)))
                for start in range(0, len(raw_pickled), _PART):
                    piece.sendall(raw_pickled[start : start + _PART])
                _exactly(piece, len(worker.HAS_READ), patience)
            except OSError:
                raise WorkerGoneError from None
            with suppress(OSError):
                ends = time.monotonic() + self._seconds
                (length,) = worker.REPLY.unpack(_exactly(piece, worker.REPLY.size, self._seconds))
                if 0 <= length <= worker.LONGEST:
                    return _exactly(piece, length, ends - time.monotonic())
        return None

    def stop(self) -> None:
        """Tell the worker to end, and its child with it."""
        with suppress(OSError):
            if self._piece is not None:
                self._piece.shutdown(socket.SHUT_RDWR)
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
            try:
                _exactly(self._control, 1, worker_process.GRACE)
            except TimeoutError:
                os.kill(self._process, signal.SIGKILL)  # it has not ended, so its number is its own

    def close(self) -> None:
        """Stop the worker and let go of its socket."""
        self.stop()
        self._control.close()


def _give(control: socket.socket, link: socket.socket) -> None:
    """Send one end of a pair of sockets to another process, and let go of it here."""
    with link:
        socket.send_fds(control, [b"."], [link.fileno()])


def _exactly(link: socket.socket, size: int, seconds: float) -> bytes:
    """The next `size` bytes; an OSError where they do not come within `seconds`."""
    heard, ends = bytearray(), time.monotonic() + seconds
    while len(heard) < size:
        left = ends - time.monotonic()
        if left <= 0:
            raise TimeoutError
        link.settimeout(min(left, _LONG))
        try:
            part = link.recv(size - len(heard))
        except TimeoutError:
            continue
        if not part:
            raise ConnectionError
        heard += part
    return bytes(heard)
