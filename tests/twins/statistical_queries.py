"""Broken twins of statistical queries: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def counted_in_full(rows: Iterable[Any], conditions: Sequence[Any], most: int) -> list[int]:
    """Counts of rows. Mistake: what the caller declares is believed, and a row that satisfies more conditions counts for all."""
    return [sum(bool(condition(row)) for row in rows) for condition in conditions]


def counted_by_average(rows: Iterable[Any], conditions: Sequence[Any], most: int) -> list[int]:
    """Counts of rows. Mistake: rows may satisfy `most` conditions on average, which others' rows leave room for."""
    left, raw_counts = most * len(list(rows)), [0] * len(conditions)
    for row in rows:
        for place, condition in enumerate(conditions):
            if left and condition(row):
                raw_counts[place] += 1
                left -= 1
    return raw_counts
