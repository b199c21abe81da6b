"""Many universal quantiles at once, by recursive halving.

Claim      epsilon-DP for all of them together
Neighbors  ADD_REMOVE; CHANGE_ONE is served as one row removed and one added, at half the slopes
Why        The middle quantile is drawn from all rows and splits them; each half draws its own middle quantile from its own
           rows, and so on. The nodes of one level hold disjoint rows, so a level costs what one node costs; levels add up.
           Rows are ordered by (decimal, coin), see order.py. An even list draws an unreported pivot between its two middle
           quantiles, which costs no level.
Numerics   Exact, as draw.py
Source     After Kaplan, Schnapp & Stemmer 2022; many.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from dpstats.accounting.groups import row_epsilon
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Column, WindowRequest, expect_windows
from dpstats.statistics.universal.bands import digits_told
from dpstats.statistics.universal.beside import Shells, shells_beside
from dpstats.statistics.universal.decimals import DIGITS, fraction_of
from dpstats.statistics.universal.draw import CLIP, RankLoss, symmetric_slope
from dpstats.statistics.universal.measure import MIXED
from dpstats.statistics.universal.order import COINS, LINE, Draw, Order, Part, Place, draw_in_parts


@dataclass(frozen=True)
class Node:
    """A part of the rows between two drawn places, and the quantiles still to draw from it."""

    part: Part
    quantiles: tuple[Fraction, ...]
    lower: Fraction
    upper: Fraction
    epsilon: Fraction
    """What this node and all below it may spend; they add up along a path, because a row is on one path only."""
    root: int | None = None
    """The decimal drawn first of all."""

    @property
    def pivot(self) -> Fraction:
        """The quantile to draw here: the middle one, or a place between the two middle ones, which costs no further level."""
        half = len(self.quantiles) // 2
        return self.quantiles[half] if len(self.quantiles) % 2 else (self.quantiles[half - 1] + self.quantiles[half]) / 2

    @property
    def share(self) -> Fraction:
        """The fraction of this node's own rows that should lie below the pivot."""
        return (self.pivot - self.lower) / (self.upper - self.lower)

    def loss(self, spent: Fraction) -> RankLoss:
        """The loss of a draw that aims at the pivot and spends `spent`."""
        slope = symmetric_slope(self.share, spent, Neighbors.ADD_REMOVE)
        return RankLoss(self.part.raw_first + self.share * (self.part.raw_last - self.part.raw_first), slope, slope)

    def shells(self) -> Shells | None:
        """Further public mass where the node reaches to the end of the line."""
        if self.root is None or (self.part.low > 0 and self.part.high < LINE):
            return None
        upward = self.part.high == LINE
        edge = MIXED.ordinal_at(min(self.part.low if upward else self.part.high, LINE - 1) // COINS)
        scale = abs(fraction_of(edge) - fraction_of(self.root))
        return shells_beside(self.part.low, self.part.high, COINS, edge, scale, upward)

    def split(self, place: Place, spent: Fraction) -> list[Node]:
        """The two halves at a drawn place, without those that have nothing left to draw."""
        low, high, raw_first, raw_last = self.part
        left = tuple(quantile for quantile in self.quantiles if quantile < self.pivot)
        right = tuple(quantile for quantile in self.quantiles if quantile > self.pivot)
        rest = self.epsilon - spent
        root = place.ordinal if self.root is None else self.root
        halves = [
            Node(Part(low, place.start, raw_first, place.raw_below), left, self.lower, self.pivot, rest, root),
            Node(Part(place.start, high, place.raw_below, raw_last), right, self.pivot, self.upper, rest, root),
        ]
        return [half for half in halves if half.quantiles]


def draw_quantiles(
    column: Column,
    quantiles: Sequence[Fraction],
    epsilon: Fraction,
    neighbors: Neighbors,
    rng: RandomSource,
    *,
    root_share: Fraction | None = None,
    digits: int = DIGITS,
) -> dict[Fraction, int]:
    """The ordinal of each private quantile, told to a public number of digits; `quantiles` ascend and differ."""
    total = row_epsilon(epsilon, neighbors)
    expect_windows(column, likely_windows(tuple(quantiles), total, root_share))
    drawn = draw_places(Order(column, rng, digits), quantiles, total, root_share)
    return {quantile: drawn[quantile].ordinal for quantile in quantiles}


def draw_places(
    order: Order, quantiles: Sequence[Fraction], epsilon: Fraction, root_share: Fraction | None = None
) -> dict[Fraction, Place]:
    """The place of each private quantile, and of the pivots between them, for one row added or removed.

    Each level spends the same, unless `root_share` says what part of epsilon the first draw takes.
    """
    drawn: dict[Fraction, Place] = {}
    nodes = [Node(Part(0, LINE, 0, order.raw_rows), tuple(quantiles), Fraction(0), Fraction(1), epsilon)]
    share = root_share
    while nodes:
        spends = [node.epsilon * (share or Fraction(1, len(node.quantiles).bit_length())) for node in nodes]
        draws = [Draw(node.part, node.loss(spent), node.shells()) for node, spent in zip(nodes, spends, strict=True)]
        children: list[Node] = []
        for node, spent, place in zip(nodes, spends, draw_in_parts(order, draws), strict=True):
            drawn[node.pivot] = place
            children += node.split(place, spent)
        nodes, share = children, None
    return drawn


def digits_of_several(
    quantiles: Sequence[Fraction], noisy_rows: int, epsilon: Fraction, root_share: Fraction | None = None
) -> int:
    """The digits that the draws of several quantiles can tell at the outermost of them, for one row added or removed."""
    levels = len(quantiles).bit_length()
    each = epsilon / levels if root_share is None else epsilon * (1 - root_share) / max(1, levels - 1)
    return digits_told(min(quantiles[0], 1 - quantiles[-1]) * noisy_rows * each)


@lru_cache(maxsize=64)
def likely_windows(quantiles: tuple[Fraction, ...], epsilon: Fraction, root_share: Fraction | None) -> list[WindowRequest]:
    """The windows that `draw_places` will ask for in a long column, with room for where the draws before them land."""
    nodes = [Node(Part(0, LINE, 0, 0), quantiles, Fraction(0), Fraction(1), epsilon)]
    share, around = root_share, 0
    requests: list[WindowRequest] = []
    while nodes:
        spends = [node.epsilon * (share or Fraction(1, len(node.quantiles).bit_length())) for node in nodes]
        around += math.ceil(2 * CLIP / min(spends))
        requests += [WindowRequest(node.pivot, around) for node in nodes]
        nodes = [half for node, spent in zip(nodes, spends, strict=True) for half in node.split(Place(0, 0, 0), spent)]
        share = None
    return requests
