"""Zeros and ones: whether a column holds nothing else, before limits are drawn that such a column does not need.

A column of zeros and ones has one of them as its median. So where the middle was drawn at 0 or at 1, noisy counts of the rows
there and elsewhere are released: a cheap look first, then, if that finds hardly a row elsewhere, closer ones. If all say so, all
that is left of epsilon counts them once more: no draw can go astray, and few ones among many zeros are told as well as a count
can be. Rows above 1 and up to 2 have a count of their own then, for columns of counts with a few twos. Other columns pay nothing,
or a few hundredths of epsilon.

Claim      epsilon-DP, where epsilon is what was spent
Neighbors  ADD_REMOVE
Why        Up to five vectors of noisy counts of disjoint sets of rows, whose epsilons add up
Numerics   Exact counts by the rows' decimals; exact noise
Source     means.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Refusal
from dpstats.foundations.summaries import Column
from dpstats.foundations.text_tables import counted
from dpstats.mechanisms.discrete_laplace import noisy_counts
from dpstats.statistics.binned.edges import raw_counts_between
from dpstats.statistics.clipped.cells import EndCells, NoisyUnits
from dpstats.statistics.clipped.margins import FEWEST_ROWS, critical_value
from dpstats.statistics.score_intervals import CountNoise, score_interval, share_of_counts, thinned
from dpstats.statistics.universal.decimals import float_of, ordinal_of

ZERO, ONE = ordinal_of(0.0), ordinal_of(1.0)
_EDGES = tuple(float_of(ordinal) for ordinal in (ZERO, ZERO + 1, ONE, ONE + 1, ordinal_of(2.0) + 1))
LOOKS = (Fraction(2, 100), 3.5), (Fraction(6, 100), 3.0), (Fraction(22, 100), 2.0)
"""What the looks take of epsilon, one after the other, and the scales of noise up to which the number of other rows counts as
none. The first is for columns with many other rows and a middle of 0, such as incomes with zeros, which it costs 2%; the second
for mostly zeros. The last one tells 15 / epsilon other rows from none: with less, more columns with a few twos are refused."""
AGAIN, AGAIN_SCALES = (Fraction(20, 100), 1.5), 5.0
"""The same for a further look, where the last one showed up to AGAIN_SCALES. It leaves 4% of columns of zeros and ones whose
limits are drawn, which would be 10%: such limits do not see fewer than 40 / epsilon ones."""
NOTICED_SCALES = 4.5
"""Scales of the last and least noise above which rows from 1 to 2 are taken to be there: Poisson counts of mean .1 have half a
per cent of them, which no look tells from none. Fewer than that only lengthen the interval."""
SURE_SCALES = 7.0
"""Scales above which there must be rows elsewhere, and no reply: less than 1 of 2,000 columns without any has more."""
CHOSEN_SCALES = 3.0
"""A column with fewer ones would be refused, so that the noise of those that are not is large: up to this many scales above that
threshold a number of ones says nothing of how few there may be (what Laplace noise exceeds by is the same from any number below),
and the interval begins at 0. Of .5% ones in 3,000 rows at epsilon .5, 71% of intervals held without."""


@dataclass(frozen=True)
class ZerosAndOnes:
    """Noisy numbers of rows at 0, at 1, above 1 and up to 2, and elsewhere, with the epsilon that they cost."""

    zeros: int
    ones: int
    twos: int
    others: int
    epsilon: Fraction
    stretch: float = 1.0
    """By how much sampling variances are larger than for independent rows, where units have several."""

    @property
    def noisy_rows(self) -> int:
        """The rows at 0 and at 1, and those up to 2 where there are some."""
        return self.zeros + self.ones + self.noticed

    @property
    def noticed(self) -> int:
        """The noisy number of rows above 1 and up to 2 that are taken to be there."""
        return self.twos if self.twos * self.epsilon > NOTICED_SCALES else 0

    @property
    def unnoticed(self) -> int:
        """How many of them there may be where none is taken to be there."""
        return max(0, self.twos - self.noticed)

    @property
    def seem_alike(self) -> bool:
        """Whether the noise explains all rows that are 0, or all that are 1."""
        return min(self.zeros, self.ones) * self.epsilon <= SURE_SCALES

    @property
    def seem_zero(self) -> bool:
        """Whether the noise explains all rows that are not 0: then nothing tells how large others are."""
        return self.zeros > self.ones and self.ones * self.epsilon <= SURE_SCALES and not self.noticed

    @property
    def noise(self) -> CountNoise:
        """The noise of each number."""
        return CountNoise.laplace(float(self.epsilon))

    def total(self, power: int) -> int:
        """The noisy sum of a power of the rows, 1 or more."""
        return self.ones + (self.noticed << power)

    def mean_of(self, power: int) -> float:
        """The noisy mean of a power of the rows; no rows are fewer than none, so that it lies where means of such rows do."""
        zeros, ones = max(self.zeros, 0), max(self.ones, 0)
        return (ones + (self.noticed << power)) / max(float(zeros + ones + self.noticed), FEWEST_ROWS)

    def mean_reach(self, level: float) -> tuple[float, float]:
        """How far the mean's interval reaches below it and above it.

        What is uncertain in the shares of ones and of twos adds up in squares. Twos that were not noticed may be there.
        """
        share, (low, high) = share_of_counts(self.ones, self.zeros), self._share_ends(level)
        return self._with_twos(share - low, high - share, 2.0, 2.0, level)

    def variance_reach(self, level: float) -> tuple[float, float]:
        """The same for their variance."""
        share, (low, high) = share_of_counts(self.ones, self.zeros), self._share_ends(level)
        value, ends = share * (1 - share), [low * (1 - low), high * (1 - high)]
        most = 0.25 if low < 0.5 < high else max(ends)
        return self._with_twos(value - min(ends), most - value, 4.0 * abs(1 - self.mean_of(1)), 4.0, level)

    def _share_ends(self, level: float) -> tuple[float, float]:
        low, high = score_interval(*thinned(self.ones, self.zeros, self.noise, self.stretch), level)
        return (0.0 if self.ones * self.epsilon <= SURE_SCALES + CHOSEN_SCALES else low), high

    def _with_twos(self, below: float, above: float, each: float, unnoticed: float, level: float) -> tuple[float, float]:
        """Reaches for the share of ones and, in units of `each`, for that of twos; and for those that were not noticed."""
        rows, twos = max(float(self.noisy_rows), FEWEST_ROWS), 0.0
        if self.noticed:
            twos = each * critical_value(level, 0.0) * math.sqrt(self.noticed + self.noise.variance) / rows
        return math.hypot(max(below, 0.0), twos), math.hypot(max(above, 0.0), twos) + unnoticed * self.unnoticed / rows

    @property
    def refusal(self) -> Refusal | None:
        """What is due where there are other rows after all, too few for limits."""
        if self.others * self.epsilon <= SURE_SCALES:
            return None
        return Refusal(
            f"All rows are 0, 1 or 2 but about {counted(self.others, 'row')}, too few to tell how far out they lie.",
            "Ask for a share of the rows (proportion), or with a larger epsilon; rough=True leaves them out.",
        )

    def cells(self, degree: int) -> EndCells:
        """The cells of the rows in a clip from 0 to 1."""
        cells = EndCells.of(self.zeros, self.ones + self.noticed, degree, self.epsilon)
        return cells if self.stretch <= 1 else replace(cells, units=NoisyUnits(math.inf, self.stretch))


def spent_by_looks() -> list[tuple[Fraction, ...]]:
    """The parts of epsilon that none of the looks may take, or the first, or the first two, and so on."""
    shares = [share for share, _ in (*LOOKS, AGAIN)]
    return [tuple(shares[:taken]) for taken in range(len(shares) + 1)]


def release_zeros_and_ones(column: Column, epsilon: Fraction, rng: RandomSource) -> ZerosAndOnes:
    """The four noisy numbers, for one row added or removed."""
    below, zeros, between, ones, twos, above = raw_counts_between(column, _EDGES)
    noisy = noisy_counts([zeros, ones, twos, below + between + above], epsilon, rng)
    return ZerosAndOnes(noisy[0], noisy[1], noisy[2], noisy[3], epsilon)


def look_for_zeros_and_ones(column: Column, middle: int, epsilon: Fraction, rng: RandomSource) -> tuple[bool, Fraction]:
    """Whether a column with that middle seems to hold zeros and ones alone, and what of the whole epsilon was spent to see it."""
    spent = Fraction(0)
    if middle not in (ZERO, ONE):
        return False, spent
    looks = list(LOOKS)
    while looks:
        share, scales = looks.pop(0)
        spent += epsilon * share
        inside, others = _look(column, epsilon * share, rng)
        seen = others * epsilon * share if others < inside else math.inf
        if seen > scales:
            if looks or share == AGAIN[0] or seen > AGAIN_SCALES:
                return False, spent
            looks.append(AGAIN)
    return True, spent


def _look(column: Column, epsilon: Fraction, rng: RandomSource) -> list[int]:
    """The noisy number of rows at 0 or 1, and that of all others."""
    below, zeros, between, ones, *above = raw_counts_between(column, _EDGES)
    return noisy_counts([zeros + ones, below + between + sum(above)], epsilon, rng)
