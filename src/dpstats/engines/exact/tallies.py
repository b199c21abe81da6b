"""Tallies: labels with the number of rows that hold them, the most common ones first.

A label is a number or a text. Labels with the same count stand in their own order: numbers by size, then texts by code points.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.exact.runs import Runs, runs_of_sorted
from dpstats.engines.exact.wholes import are_exact, floats_of_wholes
from dpstats.engines.kinds import Kind, kind_of_element
from dpstats.engines.moments import moment_text
from dpstats.foundations.summaries import LabelCounts, label_order
from dpstats.foundations.units import LARGEST_EXACT


def common_numbers(raw_sorted: NDArray[Any], how_many: int) -> LabelCounts:
    """The most common numbers of sorted rows: a plain int where a number is whole and exact among floats, else a float.

    Whole numbers beyond 2**53 count as the 15-digit float that they are among floats, and a 32-bit 12.99 as 12.99. What a label
    looks like depends on that label alone: a 5 must not become 5.0 because some other row has a fraction or is huge.
    """
    return common_runs(tally_sorted(raw_sorted), how_many)


def common_runs(runs: Runs, how_many: int) -> LabelCounts:
    """The most common numbers of runs, as `common_numbers` shows them."""
    if runs.values.dtype.kind in "iu" and not are_exact(runs.values):
        runs = _as_floats(runs)
    places = _places_of_largest(runs.counts, how_many)
    return list(zip(number_labels(runs.values[places]), runs.counts[places].tolist(), strict=True))


def number_labels(raw_numbers: NDArray[Any]) -> list[int | float]:
    """Each number as the label that it is in `common_numbers`; different whole numbers beyond 2**53 may have the same."""
    if raw_numbers.dtype.kind in "iu" and not are_exact(raw_numbers):
        raw_numbers = floats_of_wholes(raw_numbers)
    numbers = [float(str(number)) for number in raw_numbers] if raw_numbers.dtype == np.float32 else raw_numbers.tolist()
    return [_own_look(number) for number in numbers]


def _own_look(number: int | float) -> int | float:
    is_exact = abs(number) <= LARGEST_EXACT and number == int(number)
    return int(number) if is_exact else float(number)


def common_texts(raw_counts: Mapping[str, int], how_many: int) -> LabelCounts:
    """The most common texts of a tally."""
    return heapq.nsmallest(how_many, raw_counts.items(), key=lambda pair: (-pair[1], pair[0]))


def merged_labels(parts: Iterable[LabelCounts], how_many: int) -> LabelCounts:
    """The most common labels of several lists of different ones; of equal counts numbers stand before texts."""
    return heapq.nsmallest(
        how_many, [pair for part in parts for pair in part], key=lambda pair: (-pair[1], *label_order(pair[0]))
    )


def tally_sorted(raw_sorted: NDArray[Any]) -> Runs:
    """Every distinct value of sorted rows with its count."""
    return runs_of_sorted(raw_sorted, 1, raw_sorted.size)


def tally_texts(raw_labels: Iterable[tuple[Any, int]]) -> Counter[str]:
    """Labels of any kind with their counts, by their text; what has no text is a missing row."""
    tally: Counter[str] = Counter()
    for raw_label, count in raw_labels:
        text = label_text(raw_label)
        if text is not None and count:
            tally[text] += count
    return tally


def label_text(label: Any) -> str | None:
    """The text of a label: text itself, bytes as UTF-8, dates and times in ISO form, others as they print; None if missing.

    Bytes and characters that are not valid in UTF-8 are replaced. Nothing that the label does makes this raise.
    """
    try:
        kind = kind_of_element(type(label))
        if kind is Kind.MISSING or (kind is Kind.NUMBER and label != label):
            return None
        if kind is Kind.DATE:
            return moment_text(label)
        if isinstance(label, bytes):
            return bytes.decode(label, "utf-8", "replace")
        text = str.__str__(label if isinstance(label, str) else str(label))  # a subclass may have put anything into its methods
        return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
    except Exception:
        return None


def _as_floats(runs: Runs) -> Runs:
    """Runs of whole numbers as runs of floats; their order stays, and neighbours may fall together."""
    floats = floats_of_wholes(runs.values)
    starts = np.flatnonzero(np.diff(floats, prepend=-np.inf))
    return Runs(runs.below, floats[starts], np.add.reduceat(runs.counts, starts))


def _places_of_largest(counts: NDArray[np.int64], how_many: int) -> NDArray[np.int64]:
    """Where the largest counts stand, largest first; of equal ones those that stand first."""
    if how_many >= counts.size:
        return np.argsort(-counts, kind="stable")
    if how_many < 1:
        return np.zeros(0, dtype=np.int64)
    least = np.partition(counts, -how_many)[-how_many]
    above = np.flatnonzero(counts > least)
    places = np.concatenate([above, np.flatnonzero(counts == least)[: how_many - above.size]])
    return places[np.argsort(-counts[places], kind="stable")]
