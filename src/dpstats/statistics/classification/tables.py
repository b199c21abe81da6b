"""Tables of classes by the codes of each column, and naive Bayes from them.

Claim      Paid for out of a share of a budget, an even part for each column
Neighbors  ADD_REMOVE of one row
Why        A row adds 1 to one cell of each table (coded/budget.py). All else is arithmetic on the noisy tables: how often a class
           has a code beside how often all rows have it, drawn towards 1 as far as the noise deserves
Numerics   Exact noise on whole numbers
Source     classifiers.proof.md; Blum, Dwork, McSherry & Nissim 2005 (naive Bayes by noisy counts)
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.summaries import CodedTable
from dpstats.statistics.classification.finding import FoundFeatures
from dpstats.statistics.classification.noise import Budget
from dpstats.statistics.classification.smoothing import smoothed
from dpstats.statistics.coded.budget import NoisyTable
from dpstats.statistics.likelihood.logarithms import log_of

Floats = NDArray[np.float64]

LEAST_RATIO = 0.05
"""A class never has a code less often than this part of how often all rows have it."""
DECIMALS = 6


def class_tables(table: CodedTable, found: FoundFeatures, budget: Budget, share: Fraction) -> list[NoisyTable]:
    """For each feature rows by class and code, with noise."""
    outcome, features = len(found.features), len(found.features)
    raw_tables = table.code_counts(found.codings, [(outcome, place) for place in range(features)])
    return [budget.noisy(raw_counts, share / features) for raw_counts in raw_tables]


def class_counts(tables: list[NoisyTable]) -> Floats:
    """About how many rows each class has, at least 1: the rows of all tables, those of fewer codes more."""
    weights = np.array([1.0 / table.noisy_counts.shape[1] for table in tables])
    totals = np.array([table.noisy_counts.sum(axis=1) for table in tables], dtype=np.float64)
    summed = np.zeros(totals.shape[1])
    for weight, total in zip(weights.tolist(), totals, strict=True):
        summed += weight * total
    return np.asarray(np.maximum(summed / weights.sum(), 1.0))


def log_ratios(table: NoisyTable, classes: Floats, counts: Floats, ordered: int) -> Floats:
    """For each class and code, the logarithm of how often the class has the code beside how often all rows have it."""
    shares = counts / counts.sum()
    rows = []
    for noisy, total in zip(table.noisy_counts.astype(np.float64), classes.tolist(), strict=True):
        expected = np.maximum(total * shares, 1e-9)
        excess = noisy / expected - 1.0
        variances = (table.law.variance + expected) / (expected * expected)
        rows.append(np.maximum(1.0 + smoothed(excess, variances, ordered), LEAST_RATIO))
    return np.round(log_of(np.array(rows)), DECIMALS)
