"""Broken twins of histograms: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tests.laws.histograms import counts_law, joint_law
from tests.laws.keys import HIDDEN
from tests.laws.mechanisms import discrete_laplace_law


def half_noise_law(counts: Sequence[int], epsilon: Fraction, low: int, high: int) -> dict[Hashable, Fraction]:
    """Mistake: half of the noise in every bin."""
    return counts_law(counts, 1 / (2 * epsilon), low, high)


def closed_bin_counts(values: Sequence[float], edges: Sequence[float]) -> list[int]:
    """Mistake: bins hold both of their ends, so that a row at an edge is counted twice."""
    inner = [sum(low <= value <= high for value in values) for low, high in pairwise(edges)]
    return [sum(value <= edges[0] for value in values), *inner, sum(value >= edges[-1] for value in values)]


def bare_labels_law(counts: Mapping[Any, int], labels: Sequence[Any], scale: Fraction, high: int) -> dict[Hashable, Fraction]:
    """Mistake: every label that is there leaves with its noisy count, without a threshold."""
    laws: list[Mapping[Hashable, Fraction]] = []
    for label in labels:
        count = counts.get(label, 0)
        laws.append(discrete_laplace_law(count, scale, -high, high) if count else {HIDDEN: Fraction(1)})
    return joint_law(laws)


def raw_edges(values: Sequence[float], bins: int) -> tuple[float, ...]:
    """Mistake: edges from the smallest row to the largest one."""
    low, high = min(values), max(values)
    return tuple(low + (high - low) * place / bins for place in range(bins + 1))


def whole_epsilon_after_edges(epsilon: Fraction, spent: Fraction) -> Fraction:
    """Mistake: the counts get the whole of epsilon, although the edges have spent some of it."""
    return epsilon


def whole_epsilon_for_a_changed_row(epsilon: Fraction) -> Fraction:
    """Mistake: a changed row counts as one step, although it leaves one bin and enters another."""
    return epsilon
