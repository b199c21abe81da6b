"""Passwords: kept as argon2 digests, and checked by few at a time, because a check takes a tenth of a second and 64 MB."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from functools import cache
from typing import TYPE_CHECKING

from dpstats.foundations.errors import AccessError, InvalidParameterError

if TYPE_CHECKING:
    from pwdlib import PasswordHash

SHORTEST, LONGEST = 12, 200
AT_ONCE = 2
"""Checks that are worked on at the same time, whoever wants them."""
MOST_FAILURES = 5
"""After so many wrong passwords for a name in a row, each further try waits."""
FIRST_WAIT, LONGEST_WAIT = 2.0, 300.0
MOST_NAMES = 10_000
"""Whose failures are remembered."""
_gate = threading.Semaphore(AT_ONCE)


def digest_of(password: str) -> str:
    """What is kept of a password."""
    if not isinstance(password, str) or not SHORTEST <= len(password) <= LONGEST:
        raise InvalidParameterError(f"a password has {SHORTEST} to {LONGEST} letters.")
    with _gate:
        return _hasher().hash(password)


def is_right(password: str, digest: str | None) -> bool:
    """Whether a password is the one of a digest; takes as long where there is no digest, because there is no such person."""
    with _gate:
        return bool(_hasher().verify(password[:LONGEST], digest or _nobodys())) and digest is not None


class Attempts:
    """Wrong passwords, by name: after some in a row, each try must come later than the one before."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def check(self, name: str) -> None:
        """Raise where it is too early for another try."""
        with self._lock:
            failures, last = self._failures.get(name, (0, 0.0))
        wait = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(failures - MOST_FAILURES, 20)) if failures >= MOST_FAILURES else 0.0
        if time.monotonic() < last + wait:
            raise AccessError("there were too many wrong passwords for this name: wait a few minutes, and try again.")

    def note(self, name: str, *, was_right: bool) -> None:
        """Remember how a try ended."""
        with self._lock:
            failures, _ = self._failures.pop(name, (0, 0.0))
            if not was_right:
                self._failures[name] = (failures + 1, time.monotonic())
            while len(self._failures) > MOST_NAMES:
                self._failures.popitem(last=False)


@cache
def _hasher() -> PasswordHash:
    from pwdlib import PasswordHash
    from pwdlib.hashers.argon2 import Argon2Hasher

    return PasswordHash((Argon2Hasher(),))


@cache
def _nobodys() -> str:
    return _hasher().hash("nobody has this password")
