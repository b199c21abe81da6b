"""Numbers that should not fall: the nearest ones that do not, and a band around them. Nothing here sees data."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def isotonic(noisy_totals: Sequence[int], weights: Sequence[int]) -> list[tuple[int, int, int]]:
    """The non-decreasing least-squares fit to totals / weights, weighted so, as runs (total, weight, how many).

    Pools adjacent violators; the comparison is of whole numbers, so that no rounding decides.
    """
    runs: list[tuple[int, int, int]] = []
    for total, weight in zip(noisy_totals, weights, strict=True):
        count = 1
        while runs and runs[-1][0] * weight >= total * runs[-1][1]:
            before_total, before_weight, before_count = runs.pop()
            total, weight, count = total + before_total, weight + before_weight, count + before_count
        runs.append((total, weight, count))
    return runs


def rounded_fit(noisy_counts: Sequence[int], most: int) -> NDArray[np.int64]:
    """The isotonic fit to whole numbers between 0 and `most`, as whole numbers again."""
    runs = isotonic(noisy_counts, [1] * len(noisy_counts))
    levels = [min(max((2 * total + weight) // (2 * weight), 0), most) for total, weight, _ in runs]
    return np.repeat(np.asarray(levels, dtype=np.int64), [count for _, _, count in runs])


def monotone_band(
    noisy_counts: NDArray[np.int64], scale: float, failure: float, most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lower and upper ends that hold all of the non-decreasing true counts at once, but for a probability of `failure`.

    A true count is at most the mean of any window of counts that starts with it, and at least that of any window that ends
    there. The mean of w discrete Laplace noises of that scale exceeds scale * (2 sqrt(L / w) + L / w) with probability at most
    exp(-L); L is large enough for all windows of 1, 2, 4, ... counts together.
    """
    size = len(noisy_counts)
    if not size:
        return noisy_counts, noisy_counts
    levels = size.bit_length()
    nats = math.ceil(100 * math.log(2 * size * levels / failure)) / 100
    sums = np.concatenate([[0], np.cumsum(noisy_counts)])
    low, high = np.zeros(size), np.full(size, float(most))
    for level in range(levels):
        width = 1 << level
        slack = scale * (2 * math.sqrt(nats / width) + nats / width)
        means = (sums[width:] - sums[:-width]) / width
        high[: len(means)] = np.minimum(high[: len(means)], means + slack)
        low[width - 1 :] = np.maximum(low[width - 1 :], means - slack)
    low = np.maximum.accumulate(low)
    high = np.minimum.accumulate(high[::-1])[::-1]
    return np.ceil(low - 1e-9).astype(np.int64), np.floor(np.maximum(high, 0) + 1e-9).astype(np.int64)
