"""The work on one question: what is held from its first look at the rows to its answer, and let go of with it.

A store that can show one state of its rows for as long as it is asked to (a transaction of a database) holds that state here, so
that all passes of a question see the same rows, and nothing is held between questions. Threads that a question starts share its
work, where they are started in its context.

It has a numeric state of its own. `np.seterr`, `decimal.getcontext` and the filters of `warnings` are settings of the caller: by
np.seterr(all="raise") an underflow that is as good as 0 would become a refusal at full cost, and so would any warning by
warnings.simplefilter("error"). Without such filters a warning would be printed, and that it is there may go by rows.
"""

from __future__ import annotations

import decimal
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

_DECIMALS = decimal.Context(
    prec=28,
    rounding=decimal.ROUND_HALF_EVEN,
    Emin=-999999,
    Emax=999999,
    capitals=1,
    clamp=0,
    flags=[],
    traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
)
"""Python's own defaults, which a caller may have changed even in `decimal.DefaultContext`."""


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


class _Silence:
    """Ignores all warnings of the process as long as one thread works on a question.

    `warnings.catch_warnings` puts back what it found, so that of two threads that overlap the later one would leave the filters
    of the earlier one behind. Here the first to come changes them, and the last to leave puts them back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._caught = warnings.catch_warnings()

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._caught = warnings.catch_warnings()
                self._caught.__enter__()
                warnings.simplefilter("ignore")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._caught.__exit__(None, None, None)


_SILENCE = _Silence()
if hasattr(os, "register_at_fork"):  # a process that is forked meanwhile has no threads that would leave
    os.register_at_fork(after_in_child=_SILENCE.__init__)  # type: ignore[misc]


@contextmanager
def own_state(private: bool) -> Iterator[None]:
    """Compute in our own state. Where nothing is private (a seeded source), warnings show as numpy gives them by default."""
    floats = np.errstate(all="ignore") if private else np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")
    with floats, decimal.localcontext(_DECIMALS), _silence() if private else nullcontext():
        yield


def _silence() -> AbstractContextManager[object]:
    if getattr(sys.flags, "context_aware_warnings", False):  # then filters belong to a thread
        return warnings.catch_warnings(action="ignore")
    return _SILENCE
