"""Reply times: when the answer to a paid question leaves, however long it was worked on.

Claim      The time between a debit and the reply is a function of the question's document and of declared, public numbers alone
Why        The seconds are computed from these. A reply that is ready waits for them; one that is not ready by then is a charged
           `NoReply`, and its process is killed where it does not end soon
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
_HAND_OVER, _PART_HANDED_OVER = 0.02, 1 / 8


def reply_seconds(statistic: str, *, rows: int, groups: int = 1, values: int = 1, pace: float = 1.0) -> float:
    """When the reply to a question leaves; `rows` is what the data holder declares, `pace` how slow his tables are to read."""
    size = max(1.0, rows / _MANY_ROWS)
    work = _KINDS.get(statistic, LONG) * size * max(1, groups) * max(1, values) * pace * _PATIENCE
    seconds = SHORTEST
    while seconds < work:
        seconds *= 2
    return seconds


def hand_over(seconds: float) -> float:
    """The last part of a reply's time, which is kept to take the answer from a worker."""
    return min(_HAND_OVER, seconds * _PART_HANDED_OVER)


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
        while (left := instant - time.monotonic()) > 0:
            time.sleep(left)
