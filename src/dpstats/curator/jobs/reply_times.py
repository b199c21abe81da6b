"""Reply times: when the answer to a paid question leaves, however long it was worked on.

Claim      The time between a question and its reply is a function of its document and of declared, public numbers alone
Why        The seconds are computed from these, and counted from when the question came: neither the work shows, nor what the
           ledger takes to write a debit and an answer. The answer is archived when the last part of them begins; one that is
           not ready by then is a charged `NoReply`, and its process is killed where it does not end soon
Limits     A machine so busy that a thread wakes up late shows that it is busy. An answer that is not ready in time shows that, by
           being no reply: declare more rows, or a slower pace, where that happens
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

T = TypeVar("T")

QUICK, USUAL, LONG = 0.05, 0.1, 2.0
"""Seconds of one processor that a kind of statistic may take on a table of 100,000 rows; generously, for `pace` makes it less."""
_KINDS: Mapping[str, float] = {
    **dict.fromkeys(("count", "histogram", "sum", "mode"), QUICK),
    **dict.fromkeys(("mean", "median", "quantile", "iqr", "std", "variance"), USUAL),
}
_MANY_ROWS = 100_000
_PATIENCE = 4
"""How many times as long a reply may take on a machine that has other work too."""
SHORTEST = 1 / 32
"""Seconds; longer ones are this, doubled as often as it takes."""
_FOR_A_SLOT = 60.0
_FIRST_INSTANT = 0.25
_HAND_OVER, _PART_HANDED_OVER, _PART_SETTLED = 0.02, 1 / 16, 1 / 8


def reply_seconds(statistic: str, *, rows: int, groups: int = 1, values: int = 1, pace: float = 1.0) -> float:
    """When the reply to a question leaves; `rows` is what the data holder declares, `pace` how slow his tables are to read."""
    size = max(1.0, rows / _MANY_ROWS)
    work = _KINDS.get(statistic, LONG) * size * max(1, groups) * max(1, values) * pace * _PATIENCE
    seconds = SHORTEST
    while seconds < work:
        seconds *= 2
    return seconds


def archived_after(seconds: float) -> float:
    """When the answer is archived of a reply that leaves after so many seconds; in the rest of them the ledger writes it down."""
    return seconds * (1 - _PART_SETTLED)


def ready_after(seconds: float) -> float:
    """When a worker must be ready, so that its answer can be taken over in time."""
    return archived_after(seconds) - min(_HAND_OVER, seconds * _PART_HANDED_OVER)


class Departure:
    """When a reply leaves: so long after its question came as all that was worked on may take, and at the end of a `with`."""

    def __init__(self) -> None:
        self._since = time.monotonic()
        self._seconds = 0.0

    def work_begins(self, seconds: float, *, waited: bool) -> None:
        """Work begins that has so many seconds; those who had to wait for a slot of their own count from now."""
        if waited:
            self._since, self._seconds = time.monotonic(), 0.0
        self._seconds += seconds

    def __enter__(self) -> Departure:
        return self

    def __exit__(self, *how: object) -> None:
        if self._seconds:
            _sleep_until(self._since + self._seconds)


def leaving_by_doubling(work: Callable[[], T]) -> T:
    """What `work` returns, at the first instant after it among few: a quarter of a second after it began, a half, one, two ..."""
    begun, instant = time.monotonic(), _FIRST_INSTANT
    found = work()
    while begun + instant < time.monotonic():
        instant *= 2
    return leaving_at(begun + instant, lambda: found)


def waiting_seconds(seconds: float) -> float:
    """How long to wait for the reply to somebody else's identical question, which leaves so many seconds after its debit: twice
    that, and a while in which that one may have waited for a slot.
    """
    return 2 * seconds + _FOR_A_SLOT


def leaving_at(instant: float, work: Callable[[], T]) -> T:
    """What `work` returns or raises, at an instant of the monotonic clock and not before."""
    try:
        return work()
    finally:
        _sleep_until(instant)


def _sleep_until(instant: float) -> None:
    while (left := instant - time.monotonic()) > 0:
        time.sleep(left)
