"""Deadlines: what is to happen to whoever is late, for many at the same time, by one thread."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Deadlines:
    """Calls somebody at an instant of the monotonic clock, unless what was waited for is over by then."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._late: dict[object, tuple[float, Callable[[], None]]] = {}
        self._looks_at = math.inf
        self._is_closed = False
        self._thread: threading.Thread | None = None

    @contextmanager
    def kept(self, until: float, late: Callable[[], None]) -> Iterator[None]:
        """Work that is to be done before an instant; otherwise `late` is called, once, while it goes on."""
        ours = object()
        with self._changed:
            self._late[ours] = until, late
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, daemon=True)
                self._thread.start()
            elif until < self._looks_at:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._late.pop(ours, None)

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._is_closed:
                now = time.monotonic()
                for ours, (until, late) in list(self._late.items()):
                    if until <= now:
                        del self._late[ours]
                        late()
                self._looks_at = min((until for until, _ in self._late.values()), default=math.inf)
                left = self._looks_at - time.monotonic()
                if left > 0:
                    self._changed.wait(min(left, threading.TIMEOUT_MAX))
