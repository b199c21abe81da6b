"""Locks on small files: one process at a time, let go of when the file is closed or its process ends."""

from __future__ import annotations

import os
import sys
import time

from dpstats.foundations.errors import LedgerError

PATIENCE = 30.0
"""Seconds to wait for another process."""
_PAUSE = 0.001

if sys.platform == "win32":
    import msvcrt

    _FAR = 2**30  # others may not even read what is locked there, so a byte is locked that nobody reads

    def _try_to_lock(descriptor: int) -> None:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)

else:
    import fcntl

    def _try_to_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def lock(descriptor: int, name: object) -> None:
    """Wait for the lock of an open file, and hold it until the file is closed."""
    deadline = None
    while True:
        try:
            return _try_to_lock(descriptor)
        except (BlockingIOError, PermissionError):
            deadline = deadline or time.monotonic() + PATIENCE
            if time.monotonic() > deadline:
                raise LedgerError(f"{name} was locked by another process for {PATIENCE:.0f} seconds: try again later.") from None
        time.sleep(_PAUSE)
