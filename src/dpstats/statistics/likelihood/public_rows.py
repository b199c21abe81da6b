"""Public rows: rows of a family at parameters that are public, in which nobody's data is.

At the parameters of a step they tell what scores are expected to be there; at plain ones a plan tries a fit on them.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.registry import Simulated
from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.likelihood.family import SmoothFamily

CELLS, END, OCTAVES, IN_OCTAVE = 1 << 10, 8, 40, 8
"""A law on the line is cut into CELLS cells of equal shares; END of them at either end are cut into octaves instead, and these
into cells, because scores are large there. Each cell is taken at Gauss's two places."""
SIMULATED = 1 << 15
"""Rows of a law that has no quantiles."""
SEED = 7
POSITIVE = 2.0
APART = 10.0
"""Between unlimited parameters of a law on the line, such as the means of a mixture."""
_BITS = 64
_SIGN = np.uint64(1 << 63)
_ORDINALS_OF_INFINITIES = (0x000FFFFFFFFFFFFF, 0xFFF0000000000000)


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
    shares, weights = _places()
    rows = _quantiles(distribution, theta, shares)
    if (rows[1:] == rows[:-1]).any():  # a law with atoms: take each by its own share
        rows = np.unique(rows)
        weights = np.diff(distribution(rows[:-1], theta), prepend=0.0, append=1.0)
    return PublicRows(rows[:, None], weights, simulated=False)


def simulated_rows(family: Any, columns: int, rows: int, generator: np.random.Generator) -> Simulated:
    """Simulate `rows` rows of a family at plain parameters; an error where it cannot make rows."""
    if not hasattr(family, "sample"):
        raise InvalidParameterError(f"{family.name} cannot be planned, because no rows of it can be made up by themselves.")
    theta = plain_parameters(family.space, columns)
    shown = ", ".join(f"{name} {value:g}" for name, value in zip(family.parameters, theta.tolist(), strict=True))
    return Simulated(family.sample(theta, rows, generator), tuple(theta.tolist()), f"rows of {family.name} with {shown}")


def plain_parameters(space: tuple[tuple[float, float], ...], columns: int) -> Floats:
    """Parameters well inside their ranges: 0 where there is no limit, 2 away from a single one, and equal shares between two."""
    between = sum(math.isfinite(low) and math.isfinite(high) for low, high in space)
    theta, unlimited = [], 0
    for low, high in space:
        if math.isfinite(low) and math.isfinite(high):
            theta.append(low + (high - low) / (1 + between))
        elif math.isfinite(low) or math.isfinite(high):
            theta.append(low + POSITIVE if math.isfinite(low) else high - POSITIVE)
        else:
            theta.append(APART * unlimited if columns == 1 else 0.0)
            unlimited += 1
    return np.array(theta)


@functools.cache
def _places() -> tuple[Floats, Floats]:
    """Two places in each cell, as shares of the law, and what they stand for."""
    octaves = np.concatenate([[0.0], 2.0 ** np.arange(-OCTAVES, 1)]) * END / CELLS
    end = np.concatenate([np.linspace(low, high, IN_OCTAVE, endpoint=False) for low, high in itertools.pairwise(octaves)])
    edges = np.concatenate([end, np.arange(END, CELLS - END + 1) / CELLS, 1.0 - end[::-1]])
    middles, halves = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    off = halves / math.sqrt(3)
    return np.column_stack([middles - off, middles + off]).reshape(-1), np.repeat(halves, 2)


def _quantiles(distribution: Callable[[Floats, Floats], Floats], theta: Floats, shares: Floats) -> Floats:
    """The least float with at least each share of the law at or below it, by bisection among all floats."""
    low, high = (np.full(len(shares), ordinal, dtype=np.uint64) for ordinal in _ORDINALS_OF_INFINITIES)
    for _ in range(_BITS):
        middle = low + (high - low) // np.uint64(2)
        with np.errstate(all="ignore"):
            reached = distribution(_float(middle), theta) >= shares
        high = np.where(reached, middle, high)
        low = np.where(reached, low, np.minimum(middle + np.uint64(1), high))
    return np.clip(_float(high), -np.finfo(float).max, np.finfo(float).max)


def _float(ordinals: NDArray[np.uint64]) -> Floats:
    """The floats at places among all floats: the bits of a positive one with the first set, those of a negative one turned."""
    positive = (ordinals & _SIGN) != 0
    return np.where(positive, ordinals & ~_SIGN, ~ordinals).view(np.float64)
