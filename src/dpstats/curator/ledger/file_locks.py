"""Locks on small files: one process at a time, let go of when the file is closed or its process ends."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from dpstats.foundations.errors import LedgerError

PATIENCE = 30.0
"""Seconds to wait for another process."""
_PAUSE = 0.001

if sys.platform == "win32":
    import msvcrt

    _FAR = 2**30  # Windows forbids others to read what is locked, so a byte is locked that nobody reads

    def _try(file: BinaryIO, shared: bool) -> None:
        os.lseek(file.fileno(), _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(file.fileno(), 0, os.SEEK_SET)

    def _release(file: BinaryIO) -> None:
        os.lseek(file.fileno(), _FAR, os.SEEK_SET)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try(file: BinaryIO, shared: bool) -> None:
        fcntl.flock(file.fileno(), (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)

    def _release(file: BinaryIO) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_UN)


@contextmanager
def locked(file: BinaryIO, *, shared: bool = False) -> Iterator[None]:
    """Hold the lock of a file that is open at its beginning; with `shared`, together with others who only read."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            _try(file, shared)
            break
        except (BlockingIOError, PermissionError):
            if time.monotonic() > deadline:
                raise LedgerError(
                    f"{file.name} was locked by another process for {PATIENCE:.0f} seconds: try again later."
                ) from None
        time.sleep(_PAUSE)
    try:
        yield
    finally:
        _release(file)
