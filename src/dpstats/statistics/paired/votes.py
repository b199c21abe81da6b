"""Votes: how two columns order the same rows, counted over pairs of rows or over pairs and triples together.

A pair votes for agreement or against it, or it is tied in the first column only, in the second only, or in both: five classes,
and a pair gives all of its weight to one of them. A triple, which is tied where all three rows are, does the same, except that it
may part its weight between the first two. Kendall's tau is the votes of pairs, Spearman's rho those of pairs and triples, each
of weight 1/2; either is (for - against) / sqrt(all but those tied in x * all but those tied in y).

Claim      epsilon-DP for the five noisy classes together
Neighbors  ADD_REMOVE, and CHANGE_ONE at a scale of its own; the number of rows is private
Why        A row more brings as much weight as there are pairs (and triples) with it, and lowers the share of all others. Divided
           by a size that grows with the rows, all classes together move by less than 3/2 (Kendall) or 5/12 (Spearman)
Numerics   Exact whole numbers from the rows to the classes, which are rounded to a grid far finer than the noise
Source     votes.proof.md; Kendall 1938, Spearman 1904; the triples: Hoeffding 1948
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.mechanisms.discrete_laplace import add_laplace
from dpstats.mechanisms.grid import grid_for
from dpstats.statistics.paired.inversions import count_inversions

Floats = NDArray[np.float64]
_LARGEST_DOT = 1 << 62


@dataclass(frozen=True)
class RawOrders:
    """Two columns by the order of their rows alone: codes from 0 that are equal where rows are, and how many rows have each."""

    x: NDArray[np.int64]
    y: NDArray[np.int64]
    x_ties: NDArray[np.int64]
    y_ties: NDArray[np.int64]
    ties: NDArray[np.int64]
    """Rows with each pair of codes that occurs."""
    y_by_x: NDArray[np.int64]
    """The codes of the second column, by the first one ascending and then by the second."""

    @classmethod
    def of(cls, raw_x: NDArray[Any], raw_y: NDArray[Any]) -> RawOrders:
        """The orders of two columns of the same rows."""
        _, x, x_ties = np.unique(raw_x, return_inverse=True, return_counts=True)
        _, y, y_ties = np.unique(raw_y, return_inverse=True, return_counts=True)
        different = max(len(y_ties), 1)
        both = np.sort(x.astype(np.int64) * different + y)
        ends = np.flatnonzero(np.diff(both, append=-1))
        return cls(x, y, x_ties, y_ties, np.diff(ends, prepend=-1), both % different)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.x)


@dataclass(frozen=True)
class Count:
    """A way to count votes."""

    weight: Callable[[int], Fraction]
    """The weight of all votes, by the number of rows."""
    size: Callable[[int], int]
    """What the classes are divided by."""
    net: Callable[[RawOrders], Fraction]
    """The weight for agreement without the weight against it."""
    l1_sensitivity: dict[Neighbors, Fraction]
    rows_per_share: int
    """The classes add up to (rows - 1) / this."""

    def raw_classes(self, raw: RawOrders) -> list[Fraction]:
        """For, against, tied in x only, tied in y only, tied in both; each divided by the size."""
        if not raw.rows:
            return [Fraction(0)] * 5
        tied_x, tied_y, tied = (self._among(ties) for ties in (raw.x_ties, raw.y_ties, raw.ties))
        untied, net = self.weight(raw.rows) - tied_x - tied_y + tied, self.net(raw)
        classes = [(untied + net) / 2, (untied - net) / 2, tied_x - tied, tied_y - tied, tied]
        return [weight / self.size(raw.rows) for weight in classes]

    def _among(self, ties: NDArray[np.int64]) -> Fraction:
        """The weight of all votes within ties of these lengths."""
        lengths, times = np.unique(ties, return_counts=True)
        return sum((self.weight(int(t)) * int(k) for t, k in zip(lengths, times, strict=True)), Fraction(0))


@dataclass(frozen=True)
class Votes:
    """The five noisy classes, and the scale of their noise."""

    noisy: Floats
    scale: float
    rows_per_share: int


def release_votes(
    count: Count, raw_x: NDArray[Any], raw_y: NDArray[Any], epsilon: Fraction, neighbors: Neighbors, rng: RandomSource
) -> Votes:
    """The noisy classes of two columns of the same rows."""
    sensitivity = count.l1_sensitivity[neighbors]
    grid = grid_for(sensitivity / epsilon, None, False)
    noisy = add_laplace(count.raw_classes(RawOrders.of(raw_x, raw_y)), sensitivity, epsilon, grid, rng)
    return Votes(np.array(noisy, dtype=float), float(sensitivity / epsilon), count.rows_per_share)


def pairs_among(rows: int) -> Fraction:
    """The number of pairs."""
    return Fraction(rows * (rows - 1), 2)


def pairs_and_triples_among(rows: int) -> Fraction:
    """Half the number of pairs and triples."""
    return Fraction(rows * (rows - 1) * (rows + 1), 12)


def net_pairs(raw: RawOrders) -> Fraction:
    """Pairs that both columns order alike, without those that they order in opposite ways."""
    tied_x, tied_y, tied = (int((ties * (ties - 1) // 2).sum()) for ties in (raw.x_ties, raw.y_ties, raw.ties))
    return pairs_among(raw.rows) - tied_x - tied_y + tied - 2 * count_inversions(raw.y_by_x)


def net_triples(raw: RawOrders) -> Fraction:
    """The sum over rows of the products of their two ranks, each counted from the middle; tied rows share their mean rank."""
    ranks = [_twice_from_middle(codes, ties) for codes, ties in ((raw.x, raw.x_ties), (raw.y, raw.y_ties))]
    block = max(1, _LARGEST_DOT // max(raw.rows, 1) ** 2)
    starts = range(0, raw.rows, block)
    return Fraction(sum(int(ranks[0][start : start + block] @ ranks[1][start : start + block]) for start in starts), 4)


def _twice_from_middle(codes: NDArray[np.int64], ties: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each row how many lie below it, without those that lie above."""
    up_to = np.cumsum(ties)
    return np.asarray((2 * up_to - ties - len(codes))[codes], dtype=np.int64)


def pair_size(rows: int) -> int:
    """What votes of pairs are divided by."""
    return rows


def triple_size(rows: int) -> int:
    """What votes of pairs and triples are divided by."""
    return rows * (rows + 1)


KENDALL_SENSITIVITY = {Neighbors.ADD_REMOVE: Fraction(3, 2), Neighbors.CHANGE_ONE: Fraction(2)}
SPEARMAN_SENSITIVITY = {Neighbors.ADD_REMOVE: Fraction(5, 12), Neighbors.CHANGE_ONE: Fraction(1, 2)}

KENDALL = Count(pairs_among, pair_size, net_pairs, KENDALL_SENSITIVITY, 2)
SPEARMAN = Count(pairs_and_triples_among, triple_size, net_triples, SPEARMAN_SENSITIVITY, 12)
