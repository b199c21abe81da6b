"""Public rows: rows of a family at parameters that are public, to work out what scores are expected to be there."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.likelihood.family import SmoothFamily

CELLS, HALVINGS, IN_EACH = 1 << 11, 40, 4
"""A law on the line is cut into cells of equal shares; the outermost are halved again and again toward the end, and each of these
is taken at so many places, because scores are large there."""
SIMULATED = 1 << 15
"""Rows of a law that has no quantiles."""
SEED = 7
_BITS = 64
_SIGN = np.uint64(1 << 63)


@dataclass(frozen=True)
class PublicRows:
    """Rows that stand for a law."""

    rows: Floats
    weights: Floats
    """Their shares, which add up to 1."""
    simulated: bool
    """Whether they are a random sample, the same at every call, or quantiles."""


def public_rows(family: SmoothFamily, theta: Floats) -> PublicRows:
    """The quantiles of a law on the line, else simulated rows."""
    distribution = getattr(family, "distribution", None)
    if distribution is None:
        rows = family.sample(theta, SIMULATED, np.random.default_rng(SEED))
        return PublicRows(rows, np.full(SIMULATED, 1 / SIMULATED), simulated=True)
    shares, weights = _cells()
    return PublicRows(_quantiles(distribution, theta, shares)[:, None], weights, simulated=False)


@functools.cache
def _cells() -> tuple[Floats, Floats]:
    """The middles of cells, as shares of the law, and their widths."""
    halved = np.concatenate([[0.0], 2.0 ** np.arange(-HALVINGS, 1)]) / CELLS
    end = np.concatenate([np.linspace(low, high, IN_EACH, endpoint=False) for low, high in itertools.pairwise(halved)])
    inner = np.arange(1, CELLS) / CELLS
    edges = np.concatenate([end, inner, 1.0 - end[::-1]])
    return (edges[1:] + edges[:-1]) / 2, np.diff(edges)


def _quantiles(distribution: Callable[[Floats, Floats], Floats], theta: Floats, shares: Floats) -> Floats:
    """The least float with at least each share of the law at or below it, by bisection among all floats."""
    low = np.full(len(shares), _ordinal(-np.inf), dtype=np.uint64)
    high = np.full(len(shares), _ordinal(np.inf), dtype=np.uint64)
    for _ in range(_BITS):
        middle = low + (high - low) // np.uint64(2)
        with np.errstate(all="ignore"):
            reached = distribution(_float(middle), theta) >= shares
        high = np.where(reached, middle, high)
        low = np.where(reached, low, np.minimum(middle + np.uint64(1), high))
    return np.clip(_float(high), -np.finfo(float).max, np.finfo(float).max)


def _ordinal(number: float) -> int:
    """The place of a float among all floats."""
    bits = int(np.float64(number).view(np.uint64))
    return (~bits & 0xFFFFFFFFFFFFFFFF) if bits >> 63 else bits | 1 << 63


def _float(ordinals: NDArray[np.uint64]) -> Floats:
    """The floats at such places."""
    positive = (ordinals & _SIGN) != 0
    return np.where(positive, ordinals & ~_SIGN, ~ordinals).view(np.float64)
