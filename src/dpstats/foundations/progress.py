"""A line of progress on a terminal, for work that takes a while."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

PATIENCE = 2.0
"""Seconds that pass in silence."""
_PAUSE = 0.2


class Progress:
    """Says on stderr how much of the work is done, when that is a terminal and somebody has waited for a while."""

    def __init__(
        self,
        total: int | None,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        work: str = "planning",
        pieces: str = "simulated tables",
    ) -> None:
        """`total` is how many pieces of work there are, where that is known."""
        self._total = total
        self._work = work
        self._pieces = pieces
        self._task = ""
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._next = clock() + PATIENCE if self._stream is not None and self._stream.isatty() else float("inf")
        self._done = 0
        self._shown = 0

    def begin(self, task: str) -> None:
        """What the next pieces of work are for, in a few words."""
        self._task = f" ({task})"

    def step(self) -> None:
        """One piece of work is done."""
        self._done += 1
        now = self._clock()
        if now >= self._next:
            self._next = now + _PAUSE
            known = "" if self._total is None else f" of {self._total:,}"
            self._show(f"{self._work}: {self._done:,}{known} {self._pieces}{self._task}")

    def close(self) -> None:
        """Wipe the line."""
        if self._shown:
            self._show("")
            self._stream.write("\r")
            self._stream.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *how: object) -> None:
        self.close()

    def _show(self, text: str) -> None:
        self._stream.write(f"\r{text:<{self._shown}}")
        self._stream.flush()
        self._shown = len(text)
