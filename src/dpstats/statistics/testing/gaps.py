"""Gaps: how far the rows are from a distribution, or two groups from each other, at the place where they are farthest; in rows.

Claim      One row added or removed moves `raw_gap_to` by at most 1, and likewise `raw_gap_between`, of either group
Numerics   A row becomes a whole number from 0 to STEPS by a map of this row alone, so that it does not matter how well floats
           compute a distribution function; everything after the map is exact
Source     gaps.proof.md
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.summaries import NumberRuns
from dpstats.statistics.lazy_scipy import special

STEPS = 1 << 30
_EXACT_ROWS = 1 << 31
"""With fewer rows, products of two numbers of rows, or of rows and steps, fit into 64 bits."""
Floats = NDArray[np.float64]


DISTRIBUTIONS: dict[str, Callable[[Floats], Floats]] = {
    "normal": lambda z: special.ndtr(z),
    "uniform": lambda z: np.clip(z, 0.0, 1.0),
    "exponential": lambda z: -np.expm1(-np.maximum(z, 0.0)),
    "laplace": lambda z: np.where(z < 0, np.exp(-np.abs(z)) / 2, 1 - np.exp(-np.abs(z)) / 2),
    "logistic": lambda z: special.expit(z),
    "lognormal": lambda z: special.ndtr(np.log(np.maximum(z, 0.0))),
    "cauchy": lambda z: 0.5 + np.arctan(z) / np.pi,
}
"""Distribution functions of standard form; a lognormal one is that of exp(Z) with Z standard normal, before loc and scale."""


def raw_places(raw_runs: NumberRuns, distribution: str, location: Fraction, scale: Fraction) -> NumberRuns:
    """Every row as a whole number of STEPS: what the distribution function says of it."""
    with np.errstate(all="ignore"):
        z = (raw_runs.raw_values.astype(np.float64) - float(location)) / float(scale)
        chances = np.nan_to_num(DISTRIBUTIONS[distribution](z), nan=0.0)
    places = np.rint(np.clip(chances, 0.0, 1.0) * STEPS).astype(np.int64)
    return merged_runs(places, raw_runs.raw_counts)


def merged_runs(raw_values: NDArray[Any], raw_counts: NDArray[np.int64]) -> NumberRuns:
    """Values in any order with their counts, as runs."""
    values, where = np.unique(raw_values, return_inverse=True)
    counts = np.zeros(len(values), dtype=np.int64)
    np.add.at(counts, where.ravel(), raw_counts)
    return NumberRuns(values, counts)


def raw_gap_to(raw_places: NumberRuns) -> Fraction:
    """The largest |rows up to a place - rows * place / STEPS| over all places from 0 to STEPS."""
    if not len(raw_places.raw_values):
        return Fraction(0)
    places, counts = exact_products(int(raw_places.raw_counts.sum()), raw_places.raw_values, raw_places.raw_counts)
    up_to = np.cumsum(counts)
    line = up_to[-1] * places
    above, below = up_to * STEPS - line, line - (up_to - counts) * STEPS
    return Fraction(max(int(above.max()), int(below.max()), 0), STEPS)


def raw_gap_between(first: NumberRuns, second: NumberRuns) -> Fraction:
    """The largest |n2 c1(x) - n1 c2(x)| / (n1 + n2), where c1(x) of the n1 rows of the first group lie up to x."""
    raw_values = np.concatenate([first.raw_values, second.raw_values])
    order = np.unique(raw_values, return_inverse=True)[1].ravel()
    total = int(first.raw_counts.sum() + second.raw_counts.sum())
    if not total:
        return Fraction(0)
    ups = []
    for runs, places in ((first, order[: len(first.raw_values)]), (second, order[len(first.raw_values) :])):
        counts = np.zeros(int(order.max()) + 1, dtype=np.int64)
        counts[places] = runs.raw_counts
        ups.append(np.cumsum(counts))
    one, other = exact_products(total, *ups)
    return Fraction(int(np.abs(other[-1] * one - one[-1] * other).max()), total)


def exact_products(raw_rows: int, first: NDArray[Any], second: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both as arrays whose products do not overflow: of Python's numbers where there are very many rows."""
    return (first, second) if raw_rows < _EXACT_ROWS else (first.astype(object), second.astype(object))
