"""Denoising: the likely counts behind noisy ones, by what all codes of a column show together.

Where many codes have about the same count, their noisy counts say what it is better than each says its own. So a law of counts is
fitted to all noisy counts of a column at once (nonparametric maximum likelihood), and each count becomes its mean given the noisy
one (empirical Bayes; Kiefer & Wolfowitz 1956, Robbins 1956). Counts far apart, beside the noise, stay as they are. All of it is
arithmetic on released numbers, the same on every machine.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.portable import exponential
from dpstats.statistics.coded.budget import LaplaceLaw, NoiseLaw, NoisyTable

Floats = NDArray[np.float64]

ROUNDS = 50
"""Steps of the fit (expectation maximisation)."""
MOST_POINTS = 400
"""The most counts that the law may have; a column of more codes is left as it is."""
_LEAST_DOUBT = 1e-290
"""Variances that add up to less are none: rows divided by them may not be a float."""


def likely_counts(noisy: NoisyTable, rows: float) -> Floats:
    """The mean of each count given the noisy one, where all of them add up to about `rows`."""
    counts = noisy.noisy_counts.astype(np.float64)
    if not 1 < counts.size < MOST_POINTS:
        return counts
    points = np.unique(np.append(np.maximum(counts, 0.0), 0.0))
    likelihoods = _likelihoods(counts, points, noisy.law)
    weights = np.full(points.size, 1.0 / points.size)
    for _ in range(ROUNDS):
        weights = np.add.reduce(_given(likelihoods, weights), axis=0) / counts.size
    given = _given(likelihoods, weights)
    means = np.add.reduce(given * points, axis=1)
    variances = np.add.reduce(given * np.square(points - means[:, None]), axis=1)
    doubt = math.fsum(variances.tolist())
    missing = rows - math.fsum(means.tolist())
    return np.asarray(means + variances * (missing / doubt) if doubt > _LEAST_DOUBT else means)


def _likelihoods(counts: Floats, points: Floats, law: NoiseLaw) -> Floats:
    """How likely each noisy count is for each point, up to a factor for each count."""
    apart = np.abs(counts[:, None] - points)
    logs = -apart / law.scale if isinstance(law, LaplaceLaw) else -np.square(apart) / (2.0 * law.variance)
    return exponential(logs - np.maximum.reduce(logs, axis=1, keepdims=True))


def _given(likelihoods: Floats, weights: Floats) -> Floats:
    """The probability of each point given each noisy count."""
    joint = likelihoods * weights
    return np.asarray(joint / np.maximum(np.add.reduce(joint, axis=1, keepdims=True), 1e-300))
