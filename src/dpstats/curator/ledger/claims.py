"""Claims: one thread of one process works on a question at a time; whoever asks the same meanwhile waits for its answer.

Inside a process a claim is a lock; between processes it is a lock that the operating system or the database lets go of when its
holder ends, however that is. Two questions may share a lock by chance: then one waits for the other, and nothing else happens. A
claim only saves paying twice for one answer. What is spent and whether it fits is settled by the ledger's transactions alone.
"""

from __future__ import annotations

import hashlib
import os
import random
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from dpstats.foundations.errors import LedgerError

_TOO_LONG = "somebody else is at work on this very question, and takes too long. Nothing was spent: ask again later."
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.001, 0.02


class SharedLocks(Protocol):
    """Locks by number that several processes see."""

    def try_to_take(self, number: int) -> bool:
        """Take a lock if it is free."""

    def let_go(self, number: int) -> None:
        """Let go of a lock."""

    def forget(self) -> None:
        """Called in a child process, which holds none of the locks."""


class Claim:
    """What one thread holds, and others wait for."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.interested = 0
        self.waited = False
        """Whether whoever holds it had to wait for another one."""
        self.result: Any = None
        """What the holder leaves for those who wait, where they cannot find it in the ledger."""


class Claims:
    """All claims of one process at one ledger."""

    def __init__(self, shared: SharedLocks | None = None) -> None:
        self._shared = shared
        self._claims: dict[str, Claim] = {}
        self._changing = threading.Lock()
        _ALL.add(self)

    @contextmanager
    def held(self, question: str, patience: float) -> Iterator[Claim]:
        """Hold the claim of a question; waits until nobody else does, and raises `LedgerError` after so many seconds."""
        deadline = time.monotonic() + patience
        with self._changing:
            claim = self._claims.setdefault(question, Claim())
            claim.interested += 1
        try:
            has_waited = claim.turn.locked()
            with _taken(claim.turn, deadline), self._between_processes(question, deadline) as came_second:
                claim.waited = has_waited or came_second
                yield claim
        finally:
            with self._changing:
                claim.interested -= 1
                if not claim.interested and self._claims.get(question) is claim:
                    del self._claims[question]

    @contextmanager
    def _between_processes(self, question: str, deadline: float) -> Iterator[bool]:
        """Holds the lock that other processes see; says whether one of them had it first."""
        if self._shared is None:
            yield False
            return
        number, pause = _number(question), _SHORTEST_PAUSE
        while not self._shared.try_to_take(number):
            if time.monotonic() > deadline:
                raise LedgerError(_TOO_LONG)
            time.sleep(random.uniform(0, pause))
            pause = min(2 * pause, _LONGEST_PAUSE)
        try:
            yield pause > _SHORTEST_PAUSE
        finally:
            self._shared.let_go(number)

    def forget(self) -> None:
        """Called in a child process: what its parent's threads hold is not its own."""
        self._changing = threading.Lock()
        self._claims = {}
        if self._shared is not None:
            self._shared.forget()


class FileLocks:
    """Locks on single bytes of a file beside a ledger, which stays empty. Closing the file would let go of all of them, so one
    process has it open once, as long as it holds any.
    """

    def __init__(self, ledger: str) -> None:
        self._ledger = ledger
        self._path = f"{ledger}.claims"
        self._held: set[int] = set()
        self._descriptor: int | None = None
        self._changing = threading.Lock()

    def try_to_take(self, number: int) -> bool:
        """Take a lock if it is free."""
        with self._changing:
            if number in self._held:  # of another question of this process
                return False
            try:
                if self._descriptor is None:
                    self._descriptor = self._opened()
                taken = _lock_byte(self._descriptor, number)
            except OSError:
                raise LedgerError(f"{self._path}, by which questions wait, cannot be locked: check its permissions.") from None
            if taken:
                self._held.add(number)
            self._close_if_idle()
            return taken

    def let_go(self, number: int) -> None:
        """Let go of a lock."""
        with self._changing, suppress(OSError):
            if number in self._held and self._descriptor is not None:
                self._held.discard(number)
                _unlock_byte(self._descriptor, number)
            self._close_if_idle()

    def forget(self) -> None:
        """A child process holds none of its parent's locks."""
        self._changing = threading.Lock()
        self._held = set()
        self._close_if_idle()

    def _opened(self) -> int:
        """The file, which may be used by whoever may use the ledger."""
        is_new = not os.path.exists(self._path)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        if is_new and os.name == "posix":
            with suppress(OSError):
                os.fchmod(descriptor, os.stat(self._ledger).st_mode & 0o666)
        return descriptor

    def _close_if_idle(self) -> None:
        if not self._held and self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            with suppress(OSError):
                os.close(descriptor)


def claims_at(path: str) -> Claims:
    """The claims at a ledger in a file: the same for all who open it in this process."""
    with _OPENING:
        found = _AT_PATHS.get(path)
        if found is None:
            found = _AT_PATHS[path] = Claims(FileLocks(path))
        return found


if sys.platform == "win32":
    import msvcrt

    def _lock_byte(descriptor: int, number: int) -> bool:
        os.lseek(descriptor, number % 2**30, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock_byte(descriptor: int, number: int) -> None:
        os.lseek(descriptor, number % 2**30, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock_byte(descriptor: int, number: int) -> bool:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def _unlock_byte(descriptor: int, number: int) -> None:
        fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, number)


@contextmanager
def _taken(turn: threading.Lock, deadline: float) -> Iterator[None]:
    if not turn.acquire(timeout=max(0.0, deadline - time.monotonic())):
        raise LedgerError(_TOO_LONG)
    try:
        yield
    finally:
        turn.release()


def _number(question: str) -> int:
    """The lock of a question: a whole number of 62 bits."""
    return int.from_bytes(hashlib.sha256(question.encode("utf-8", "surrogatepass")).digest()[:8]) >> 2


def _in_the_child() -> None:
    global _OPENING
    _OPENING = threading.Lock()
    for claims in list(_ALL):
        claims.forget()


_ALL: weakref.WeakSet[Claims] = weakref.WeakSet()
_AT_PATHS: weakref.WeakValueDictionary[str, Claims] = weakref.WeakValueDictionary()
_OPENING = threading.Lock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_the_child)
