"""Tails of what rows say: noisy numbers of rows in octaves of size, on either side of 0, which tell where to cut a sum of them.

The octaves lie around a place that was released. A row is in one octave at most, so that all of them together cost what one
count does. How rows thin out from octave to octave (clipped/thinning.py) tells what a sum loses at a cut. Each side is judged by
itself: an interval gets longer only on the side to which rows beyond the cut would have pulled.

Claim      epsilon-DP
Neighbors  ADD_REMOVE
Why        Noisy counts of disjoint sets of rows (histograms.proof.md), between edges that are functions of released numbers
Numerics   A row's octave is the exponent of one quotient of floats; counts and noise are exact; floats after that
Source     scores.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.mechanisms.discrete_laplace import noisy_counts
from dpstats.statistics.clipped.thinning import OCTAVES, Thinning, place_of, thinning_of

Floats = NDArray[np.float64]

SIDE = len(OCTAVES)
"""The octaves of one side; the last one has no end."""
CUTS = range(-4, 9)
"""The cuts that are tried, from a quarter of the place to 16 times that (thinning.py, `place_of`)."""
LIKELY = 0.5
"""The quantile of what may be lost that the place of the cut supposes. With .6, noise led cuts on normal pairs outward: at 3,000
rows and epsilon .5 errors were 1.4 times as large."""
MOST_ALLOWED = 0.92
"""And the quantile that an interval allows for where tails are heavy (`Allowance`)."""
BEARABLE = 0.5
"""A cut lies at least so far out that noise is this part of the sampling error, which is little: rows that noisy counts miss are
then often within it. Without this, intervals for a 0/1 column and a lognormal one held in 62% instead of 88%."""
LENGTH = 3.92
"""Standard deviations from end to end of an interval."""
TYPICAL, INNERMOST = 0.7, 0.4
"""Where rows of an octave lie, as a part of the size at which it ends, and where those do that are in none."""
SEEN, FURTHER = 2.5, 0.7
"""An octave shows rows where its noisy number is more than SEEN scales of its noise, and FURTHER for each octave from -1 on.
About one pair of normal columns in twelve shows any by noise alone."""
SHOWN = 1.5
"""Where the rows of such an octave are taken to lie, over its beginning."""
OUTER, SEEN_TOGETHER, SHOWN_TOGETHER = OCTAVES.index(0), 1.5, 3.7
"""Octaves from OUTER on show rows together if their sum is more than SEEN_TOGETHER deviations of its noise, which it is for about
one pair of normal columns in six; rows are then taken to lie SHOWN_TOGETHER times as far out as OUTER begins. Chosen on normal
pairs with .7 to 2% of one column 4 to 8 times as large: at 10,000 rows and epsilon 1, 53 to 85% of intervals held with octaves
from 1 on, and only where columns reached more than 3.7 of their scales; 82 to 97% hold now."""
MANY, FAR_OUT, DOUBT = 18.0, 0.01, 0.3
"""The index of a tail is read from the outermost octave with MANY scales of noise beyond its beginning, if no more than a share
FAR_OUT of the rows is: closer in, exponential tails look no lighter than those of a power. It is read DOUBT deviations of its
noise on the light side. With 12 and 0, 4 of 60 pairs of normal columns were refused at 10,000 rows and epsilon 4; with 12 and 1,
only a third of Pareto pairs of index 1.6 were, none of whose intervals held."""
HEAVY = 0.9
"""The index of scores below which the correlation is not known: sums of rows have a mean where the index is above 1. On 10,000
rows at epsilon 4 its medians were .5 for Pareto pairs of index 1.2, .76 for 2.2, 1.1 for 3, 1.0 for lognormal ones of deviation
1.2 and 1.3 for Student's of three degrees of freedom."""
FAR_INDICES, FAR_MORE = (1.4, 1.0), 2.5
"""Where the index is known and falls from the first to the second one, the quantile rises to MOST_ALLOWED, and FAR_MORE times
that is added, because laws end after six octaves. At 10,000 rows and epsilon 4, intervals of Pareto pairs of 2.2 held in 56%
without what is added, and in 92% with it."""
MOST_LAST = 20.0
"""Nor is the correlation known if the last octave, which has no end, shows more than that many scales of its noise. Without this,
55% of intervals held for sizes and counts at 10,000 rows and epsilon 4, and 93% with it."""
_HALVINGS = 40


@dataclass(frozen=True)
class Allowance:
    """How much an interval allows for, between light tails and heavy ones."""

    least: float
    """The quantile of what may be lost that it allows for where tails look light."""
    indices: tuple[float, float]
    """The index of scores from which tails look heavier, and that at which they are heavy."""
    reaches: tuple[float, float]
    """The same of how far columns reach over their scale, which tells where noise hides rows far out."""


BALANCED, UNBALANCED = Allowance(0.6, (1.3, 0.9), (4.5, 9.0)), Allowance(0.6, (0.9, 0.5), (3.2, 5.0))
"""With 2,500 rows times epsilon and more, and with fewer. The reaches of normal columns were 2.8 to 3.6 scales at 3,000 rows and
epsilon 1.7, 2 to 3.5 at .5; those of exponential ones 4.4 to 8.4 and 2.1 to 5.8, of lognormal ones of deviation 1.2 8 to 16 and
2.7 to 8. With .78 for .7, intervals of normal pairs were 12% longer at 3,000 rows and epsilon 1.7. Without reaches, 89% held for
lognormal pairs of 4,000 rows at 3,000 rows and epsilon .5, and all with them."""


def _part_of(place: float, ends: tuple[float, float]) -> float:
    """How far along a place is from the first end to the second one, from 0 to 1."""
    return min(max((place - ends[0]) / (ends[1] - ends[0]), 0.0), 1.0)


def count_octaves(raw_values: Floats, place: float) -> NDArray[np.int64]:
    """How many values lie in each octave around a place: the octaves of negative ones first."""
    with np.errstate(over="ignore"):
        raw_ratios = np.clip(raw_values / place, -np.finfo(np.float64).max, np.finfo(np.float64).max)
    raw_octaves = np.minimum(np.frexp(raw_ratios)[1].astype(np.int64) - 1, OCTAVES[-1]) - OCTAVES[0]
    raw_cells = np.where(raw_ratios > 0, raw_octaves + SIDE, raw_octaves)
    return np.bincount(raw_cells[(raw_octaves >= 0) & (raw_ratios != 0)], minlength=2 * SIDE).astype(np.int64, copy=False)


@dataclass(frozen=True)
class Tails:
    """How rows thin out on both sides of 0, as noisy numbers of them tell."""

    place: float
    scale: float
    """Of the noise of one number."""
    noisy: tuple[tuple[float, ...], tuple[float, ...]]
    """The numbers of rows in octaves, of negative and of positive values."""
    sides: tuple[Thinning, Thinning]

    def lost(self, end: int, quantile: float) -> tuple[float, float]:
        """What a sum of sizes loses below and above at a cut."""
        below, above = (
            self.place * max(side.lost(end, 1, quantile), self._shown(noisy, place_of(end)))
            for side, noisy in zip(self.sides, self.noisy, strict=True)
        )
        return below, above

    def lost_squares(self, end: int, quantile: float) -> float:
        """What a sum of squared sizes loses at a cut."""
        return self.place**2 * math.fsum(side.lost(end, 2, quantile) for side in self.sides)

    def allowed(self, end: int, rows: float, reaching: float, *, balanced: bool) -> tuple[float, float]:
        """What an interval allows for at a cut below and above.

        `reaching` is how far columns reach, over their scale; `balanced` says whether columns are known to vary alike.
        """
        law, index = BALANCED if balanced else UNBALANCED, self.near_index(rows)
        if math.isfinite(self.index(rows)):
            heavy = _part_of(index, FAR_INDICES)
            times = 1 + FAR_MORE * heavy
        else:
            heavy, times = max(_part_of(index, law.indices), _part_of(reaching, law.reaches)), 1.0
        below, above = (times * lost for lost in self.lost(end, law.least + (MOST_ALLOWED - law.least) * heavy))
        if not balanced:
            return below, above
        return max(below, self.together(end)[0]), max(above, self.together(end)[1])

    def are_known(self, rows: float) -> bool:
        """Whether rows get fewer far out, as fast as the mean of what they say needs it."""
        return self.index(rows) >= HEAVY and self.most_in_last <= MOST_LAST

    @property
    def most_in_last(self) -> float:
        """The noisy number of rows in the last octave of a side, which has no end, in scales of its noise."""
        return max(noisy[-1] for noisy in self.noisy) / self.scale

    def cuts(self, rows: float, noise: float, quantile: float = LIKELY, times: float = 1.0) -> tuple[int, int]:
        """The cut that should make the shortest interval, and the one to take, which may lie further out (`BEARABLE`).

        `noise` is the deviation that the noise of the sum would have for a cut at 1; `quantile` and `times` say how much of what
        may be lost counts.
        """
        lengths: dict[int, float] = {}
        quiet = CUTS[0]
        for end in CUTS:
            cut = place_of(end) * self.place
            sampled = self._squares(rows, cut)
            if noise * cut <= BEARABLE * math.sqrt(sampled):
                quiet = end
            lengths[end] = LENGTH * math.sqrt(sampled + (noise * cut) ** 2) + times * sum(self.lost(end, quantile))
        likely = min(lengths, key=lambda end: lengths[end])
        return likely, max(likely, quiet)

    def index(self, rows: float) -> float:
        """With which power of their size rows get fewer far out, on the side where they do so more slowly.

        It is infinite where noise hides it.
        """
        return min(self._index(noisy, FAR_OUT * rows) for noisy in self.noisy)

    def near_index(self, rows: float) -> float:
        """The same wherever noise shows rows beyond: closer in, exponential tails look as heavy as those of a power."""
        return min(self._index(noisy, rows) for noisy in self.noisy)

    def _index(self, noisy: Sequence[float], most: float) -> float:
        beyond = list(accumulate(reversed(noisy)))[::-1]
        deep = [place for place, count in enumerate(beyond[:-1]) if count > MANY * self.scale]
        if not deep or beyond[deep[-1]] > most:
            return math.inf
        further = [max(count, 0.0) for count in beyond[deep[-1] + 1 :]]
        doubt = math.sqrt(2 * sum(power**2 for power in range(1, len(further) + 1))) * self.scale
        ratio = (sum(further) - DOUBT * doubt) / beyond[deep[-1]]
        if ratio <= 0:
            return math.inf
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            less = sum(middle**power for power in range(1, len(further) + 1)) < ratio
            low, high = (middle, high) if less else (low, middle)
        return -math.log2(high)

    def _shown(self, noisy: Sequence[float], cut: float) -> float:
        """What octaves that show rows lose at a cut."""
        return math.fsum(
            count * max(0.0, SHOWN * 2.0**octave - cut)
            for octave, count in zip(OCTAVES, noisy, strict=True)
            if count > (SEEN + FURTHER * max(0, octave + 1)) * self.scale
        )

    def together(self, end: int) -> tuple[float, float]:
        """What the outer octaves lose below and above at a cut if they show rows together, as few rows of another kind do."""
        below, above = (self._together(noisy[OUTER:], end) for noisy in self.noisy)
        return below, above

    def _together(self, outer: Sequence[float], end: int) -> float:
        rows = math.fsum(outer)
        if rows <= SEEN_TOGETHER * math.sqrt(2 * len(outer)) * self.scale:
            return 0.0
        return self.place * rows * max(0.0, SHOWN_TOGETHER * 2.0 ** OCTAVES[OUTER] - place_of(end))

    def _squares(self, rows: float, cut: float) -> float:
        """About the sum of squares of sizes that are cut off."""
        counts = [max(0.0, below) + max(0.0, above) for below, above in zip(*self.noisy, strict=True)]
        inner = max(0.0, rows - math.fsum(counts)) * (INNERMOST * 2.0 ** OCTAVES[0] * self.place) ** 2
        sizes = [min(cut, TYPICAL * 2.0 ** (octave + 1) * self.place) for octave in OCTAVES]
        return inner + math.fsum(count * size**2 for count, size in zip(counts, sizes, strict=True))


def release_tails(raw_counts: Sequence[int], place: float, epsilon: Fraction, rng: RandomSource) -> Tails:
    """The tails that noisy counts of octaves tell, at a cost of epsilon for one row added or removed."""
    noisy = tuple(map(float, noisy_counts(raw_counts, epsilon, rng)))
    below, above, scale = noisy[:SIDE], noisy[SIDE:], 1 / float(epsilon)
    return Tails(place, scale, (below, above), (thinning_of(below, scale), thinning_of(above, scale)))
