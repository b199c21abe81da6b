"""Pooling: what several noisy tables of one column say together about its fine codes.

Codes are found by looking: values that many rows share are counted, and so are the codes of each look. These counts have been
paid for, and hold for the codes that follow wherever both have the same edges. Each such stretch is moved towards its earlier
count, as far as the noise of both deserves. All of it is arithmetic on released numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from dpstats.statistics.coded.budget import GaussianLaw, LaplaceLaw, NoiseLaw, NoisyTable
from dpstats.statistics.synthetic.fine_codes import FineColumn, Label


@dataclass(frozen=True)
class CountedStretch:
    """Fine codes from `first` up to `end`, an earlier noisy count of all their rows, and the variance of its noise."""

    first: int
    end: int
    noisy_count: float
    variance: float


def stretches_of_look(fine: FineColumn, looked: FineColumn, look: NoisyTable) -> list[CountedStretch]:
    """Stretches between the edges that a look and the fine codes of a column of numbers have in common."""
    places = {edge: place for place, edge in enumerate(looked.edges, 1)}
    ends = [(place, places[edge]) for place, edge in enumerate(fine.edges, 1) if edge in places]
    bounds = [(0, 0), *ends, (fine.missing, looked.missing), (fine.size, looked.size)]
    return [
        CountedStretch(
            first, end, float(look.noisy_counts[looked_first:looked_end].sum()), look.law.variance * (looked_end - looked_first)
        )
        for (first, looked_first), (end, looked_end) in pairwise(bounds)
    ]


def stretches_of_values(
    fine: FineColumn, values: Sequence[tuple[Fraction, Fraction]], noisy_counts: Iterable[int], variance: float
) -> list[CountedStretch]:
    """Stretches of single numbers, each given with the edge after it, where the fine codes have both edges."""
    places = {edge: place for place, edge in enumerate(fine.edges, 1)}
    return [
        CountedStretch(places[low], places[high], float(count), variance)
        for (low, high), count in zip(values, noisy_counts, strict=True)
        if low in places and high in places
    ]


def stretches_of_labels(labels: Sequence[Label], noisy_counts: Iterable[int], variance: float) -> list[CountedStretch]:
    """The codes of labels that were found, which come in the same order."""
    return [
        CountedStretch(place, place + 1, float(count), variance)
        for place, count in zip(range(len(labels)), noisy_counts, strict=True)
    ]


def pooled(noisy: NoisyTable, stretches: Sequence[CountedStretch]) -> NoisyTable:
    """Counts of fine codes moved towards earlier counts of stretches, with a law of about the variance that is left."""
    if not stretches:
        return noisy
    counts = noisy.noisy_counts.astype(np.float64)
    variances = np.full(counts.size, noisy.law.variance)
    for each in stretches:
        inside = slice(each.first, each.end)
        whole = math.fsum(variances[inside].tolist())
        difference = each.noisy_count - math.fsum(counts[inside].tolist())
        parts = variances[inside] / (whole + each.variance)
        counts[inside] += parts * difference
        variances[inside] *= 1 - parts
    variance = math.fsum(variances.tolist()) / variances.size
    return NoisyTable(np.rint(counts).astype(np.int64), _law_of(noisy.law, variance))


def _law_of(law: NoiseLaw, variance: float) -> NoiseLaw:
    """The law of the same kind that has this variance: of discrete Laplace noise 1 / (2 sinh(1 / (2 scale))**2)."""
    if not isinstance(law, LaplaceLaw):
        return GaussianLaw(variance)
    return LaplaceLaw(0.5 / math.asinh(math.sqrt(0.5 / variance)))
