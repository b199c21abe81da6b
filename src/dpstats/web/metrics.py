"""Metrics: how many requests each address has answered, and how, for whoever watches the service.

Only routes as their tables have them, methods and statuses are counted: no names, no data sets, no durations, and nothing that
happens after a debit, where every answer is a 200. Each process of a server counts by itself.
"""

from __future__ import annotations

import os
import threading
from collections import Counter

NAME = "dpstats_requests_total"


class RequestCounts:
    """The counts of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str, int]] = Counter()

    def add(self, method: str, path: str, status: int) -> None:
        """A request was answered; the path is written as its table has it."""
        with self._lock:
            self._counts[method, path, status] += 1

    def text(self) -> str:
        """The counts in the text form of Prometheus."""
        with self._lock:
            counted = sorted(self._counts.items())
        lines = [
            f'{NAME}{{worker="{os.getpid()}",method="{method}",route="{path}",status="{status}"}} {count}\n'
            for (method, path, status), count in counted
        ]
        return f"# HELP {NAME} Requests that were answered.\n# TYPE {NAME} counter\n{''.join(lines)}"
