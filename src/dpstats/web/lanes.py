"""Lanes: threads in which handlers run. Quick work has threads of its own, so that it waits neither behind paid work nor behind
passwords, which anybody can have checked as often as they like.

Of paid work everybody has a fixed number of questions under way; one more is refused before anything is spent, so that nobody's
questions keep others' waiting. Of passwords a fixed number waits, whoever sends them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from dpstats.web.complaints import TOO_MANY, TOO_MANY_SIGN_IN
from dpstats.web.people.passwords import AT_ONCE
from dpstats.web.routes import Lane

T = TypeVar("T")
QUICK_THREADS = 8
PAID_THREADS = 256
MOST_UNDER_WAY = 16
"""Paid questions of one visitor."""
MOST_SIGNING_IN = 64
"""Passwords that are checked, or wait for it."""


class Lanes:
    """The threads of one process."""

    def __init__(self) -> None:
        self._quick = ThreadPoolExecutor(QUICK_THREADS, "quick")
        self._paid = ThreadPoolExecutor(PAID_THREADS, "paid")
        self._passwords = ThreadPoolExecutor(AT_ONCE, "passwords")
        self._under_way: Counter[str] = Counter()
        self._signing_in = 0

    async def run(self, lane: Lane, visitor: str, work: Callable[[], T]) -> T:
        """What some work gives, done in a lane."""
        loop = asyncio.get_running_loop()
        if lane is Lane.QUICK:
            return await loop.run_in_executor(self._quick, work)
        if lane is Lane.PASSWORDS:
            return await self._checked(work)
        if self._under_way[visitor] >= MOST_UNDER_WAY:
            raise TOO_MANY
        self._under_way[visitor] += 1
        try:
            return await loop.run_in_executor(self._paid, work)
        finally:
            self._under_way[visitor] -= 1
            if not self._under_way[visitor]:
                del self._under_way[visitor]

    async def _checked(self, work: Callable[[], T]) -> T:
        """What some work on a password gives, if not too many wait already."""
        if self._signing_in >= MOST_SIGNING_IN:
            raise TOO_MANY_SIGN_IN
        self._signing_in += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._passwords, work)
        finally:
            self._signing_in -= 1

    def close(self) -> None:
        """End the threads; what is paid for is finished and archived first."""
        self._quick.shutdown()
        self._passwords.shutdown()
        self._paid.shutdown()
