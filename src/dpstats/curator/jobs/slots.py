"""Slots: how many paid questions of one analyst are worked on at a time. Nobody waits for anybody else's."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

SLOTS = 4
"""For each analyst, where nobody says otherwise."""


class Slots:
    """A fixed number of slots for everybody; who has none left waits for one of his own."""

    def __init__(self, each: int = SLOTS) -> None:
        self._lock = threading.Lock()
        self._slots: defaultdict[str, threading.Semaphore] = defaultdict(lambda: threading.Semaphore(each))

    @contextmanager
    def held(self, actor: str) -> Iterator[bool]:
        """One slot of somebody, for as long as this lasts; says whether it had to be waited for."""
        with self._lock:
            own = self._slots[actor]
        waited = not own.acquire(blocking=False)
        if waited:
            own.acquire()
        try:
            yield waited
        finally:
            own.release()
