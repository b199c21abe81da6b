"""The work on one question: what is held from its first look at the rows to its answer, and let go of with it.

A store that can show one state of its rows for as long as it is asked to (a transaction of a database) holds that state here, so
that all passes of a question see the same rows, and nothing is held between questions. Threads that a question starts share its
work, where they are started in its context.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")


class Work:
    """Things that are held while a question is worked on, each for one owner."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[object, Any]] = {}
        self._ending = ExitStack()
        self._lock = threading.RLock()
        self._is_over = False

    def hold(self, owner: object, make: Callable[[], T], let_go: Callable[[T], None]) -> T:
        """What `owner` holds; made at its first call, and let go of at the end of the work."""
        with self._lock:
            if self._is_over:
                raise RuntimeError("the question is over.")
            if id(owner) not in self._held:
                made = make()
                self._ending.callback(let_go, made)
                self._held[id(owner)] = owner, made
            held: T = self._held[id(owner)][1]
            return held

    def end(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._is_over = True
            self._held.clear()
            self._ending.close()


_CURRENT: ContextVar[Work | None] = ContextVar("work on a question", default=None)


def current_work() -> Work | None:
    """The question that is being worked on here; None outside of all questions."""
    return _CURRENT.get()


@contextmanager
def one_question() -> Iterator[None]:
    """What happens within is one question, or a part of the one that it happens in."""
    if _CURRENT.get() is not None:
        yield
        return
    work = Work()
    token = _CURRENT.set(work)
    try:
        yield
    finally:
        _CURRENT.reset(token)
        work.end()
