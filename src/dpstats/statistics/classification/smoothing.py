"""Smoothing: noisy numbers for the codes of a column, drawn together by how alike neighbours prove to be.

Numbers of neighbouring codes are taken to follow an autoregression about 0, others to be independent; how far they lie from 0,
and how alike neighbours are, is what makes the noisy numbers likeliest (empirical Bayes). What is returned are posterior means.
Nothing here sees rows: it is arithmetic on released numbers, in an order that is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.likelihood.logarithms import log_of

Floats = NDArray[np.float64]

SPREADS = (0.03, 0.06, 0.12, 0.25, 0.5, 1.0)
"""Standard deviations about 0 that are tried."""
LIKENESSES = (0.14, 0.61, 0.85)
"""Correlations of neighbours that are tried."""


def smoothed(values: Floats, variances: Floats, ordered: int) -> Floats:
    """The likely numbers behind noisy ones of known variances; the first `ordered` codes are neighbours in their order."""
    likenesses = LIKENESSES if ordered > 1 else (0.0,)
    tried = [_filtered(values.tolist(), variances.tolist(), ordered, *each) for each in product(SPREADS, likenesses)]
    logs = log_of(np.array([innovations for innovations, _, _ in tried]))
    losses = [
        sum(row) + sum(surprise * surprise / variance for surprise, variance in zip(surprises, innovations, strict=True))
        for row, (innovations, surprises, _) in zip(logs.tolist(), tried, strict=True)
    ]
    return np.array(tried[losses.index(min(losses))][2])


def _filtered(
    values: Sequence[float], variances: Sequence[float], ordered: int, spread: float, likeness: float
) -> tuple[list[float], list[float], list[float]]:
    """Kalman's filter, and back the smoother: variances of what each value adds, what it adds, and posterior means."""
    prior, keeps = spread * spread, [likeness if 0 < place < ordered else 0.0 for place in range(len(values))]
    mean, variance = 0.0, 0.0
    innovations, surprises, ahead, steps = [], [], [], []
    for value, noise, keep in zip(values, variances, keeps, strict=True):
        expected, before = keep * mean, keep * keep * variance + (1.0 - keep * keep) * prior
        innovation, surprise = before + noise, value - expected
        gain = before / innovation
        mean, variance = expected + gain * surprise, before * (1.0 - gain)
        innovations.append(innovation)
        surprises.append(surprise)
        ahead.append((expected, before))
        steps.append((mean, variance))
    means = [mean for mean, _ in steps]
    for place in range(len(values) - 2, -1, -1):
        mean, variance = steps[place]
        expected, before = ahead[place + 1]
        means[place] = mean + variance * keeps[place + 1] / before * (means[place + 1] - expected)
    return innovations, surprises, means
