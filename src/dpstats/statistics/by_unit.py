"""Variances by unit: how much less the rows of units with several rows each tell than as many independent rows.

A statistic gives every row a score, a whole number that is about 0 on average: how far the row is from a released mean, or
whether it lies below a released quantile. The scores of a unit's rows are added up. The squares of these sums, added up over all
units, are the statistic's sampling variance by unit. Its ratio to what independent rows would have is the design effect.

Claim      epsilon-DP for one unit added or removed with all of its rows, at the epsilon that the column's units name for the step
Neighbors  ADD_REMOVE of a unit; under CHANGE_ONE, and in groups, that epsilon is smaller (curator/protection.py)
Why        The square of a unit's sum is shared out between the two powers of two around it, in shares that add up to at most 1;
           the shares of all units give the sum of the squares exactly. A unit more or less moves all shares together by at most
           1, however many rows it has, and discrete Laplace noise of scale 1 / epsilon hides that
Numerics   Exact from the rows to the noisy shares; floats after that
Source     by_unit.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import BelowScore, Clip, Column, PlaceScore, SquareOctaves, Units, UnitScore, units_of
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.statistics.clipped.cells import NoisyCells, NoisyUnits
from dpstats.statistics.clipped.margins import CAUTION, FEWEST_ROWS, spread_of

if TYPE_CHECKING:
    from dpstats.foundations.registry import Question

FINE_BITS, COARSE_BITS = 16, 11
"""Scores have about this many binary digits, where they are distances and where their squares are used. Rounding to a hundredth
of their spread adds a hundred-thousandth to the variance."""
BELOW, ABOVE = 2, 8
"""Shares begin BELOW octaves under a row's squared spread, and end ABOVE octaves beyond that of a unit whose rows are alike."""
WHOLE = 5
"""All places count up to this number of octaves beyond a unit whose rows are alike. A few units, of a rare property or with large
amounts, may have most of the variance, and noise hides them: shares of .5 to 5% held in 70 to 82% of panels, and t tests of
lognormal persons (3,000 with 6 rows, epsilon 1) in 83%, when places beyond those that show units were left out. Both hold in 94%
and more now. The noise of these places makes t tests of normal persons 16% wider."""
SEEN = 4.0
"""Noise scales from which on a share shows units. Of 16 shares without any, one release in seven has one that shows some by
noise alone: that costs width and no coverage. A larger number cuts off the tails of sums."""
MOST_SUMMED = 61


def with_units(column: Column, clip: Clip, cells: NoisyCells, rng: RandomSource) -> NoisyCells:
    """The cells of a column with what its units' sums say of their variance; as they are where each row is a unit."""
    units = units_of(column)
    if units is None or cells.degree < 2:
        return cells
    epsilon = units.next_step()
    if epsilon is None:
        return replace(cells, units=NoisyUnits(math.inf, units.rows))
    power = 2 if cells.degree >= 4 else 1
    spread = spread_of(cells.inside)
    coarse, half = coarse_clip(clip, FINE_BITS if power == 1 else COARSE_BITS)
    middle = (clip.low + (spread.mean + 1) / 2 * clip.steps) * float(clip.unit / coarse.unit) - coarse.low
    deviation = min(math.sqrt(max(spread.sampling * spread.rows, 0.0)), 1.0) * half  # of rows between two ends it is no more
    score = PlaceScore(coarse, round(middle), None if power == 1 else round(deviation * deviation))
    typical, frame = (deviation, half) if power == 1 else (deviation * deviation, half * half)
    far = max(abs(score.centre), abs(coarse.steps - score.centre)) ** power
    total = noisy_squares(units, score, typical, epsilon, rng, most=units.rows * far)
    return replace(cells, units=NoisyUnits(total / (frame * frame), units.rows))


def coarse_clip(clip: Clip, bits: int) -> tuple[Clip, float]:
    """A clip of at most about 2**bits steps over the same numbers, and how many of its steps half of the clip is."""
    shift = max(clip.steps.bit_length() - bits, 0)
    low, high = clip.low >> shift, -(-(clip.low + clip.steps) >> shift)
    return Clip(low, high - low, clip.unit * 2**shift), clip.steps / 2 / 2**shift


def rank_stretch(column: Column, quantile: Fraction, value: float, noisy_rows: float, rng: RandomSource) -> float:
    """The variance of the number of rows below a released quantile over that of independent rows; 1 where each row is a unit."""
    units = units_of(column)
    if units is None:
        return 1.0
    epsilon = units.next_step()
    if epsilon is None:
        return float(units.rows)
    weight = 1 << (FINE_BITS - 4)
    score = BelowScore((value, math.nextafter(value, math.inf)), weight // 2, round(quantile * weight))
    variance = float(quantile * (1 - quantile)) * weight**2
    most = units.rows * round(max(quantile, 1 - quantile) * weight)
    total = noisy_squares(units, score, math.sqrt(variance), epsilon, rng, most=most, is_share=True)
    return NoisyUnits(total, units.rows).stretch(max(noisy_rows, FEWEST_ROWS) * variance)


def several_stretch(
    column: Column, quantiles: Sequence[Fraction], value: Callable[[Fraction], float], noisy_rows: float, rng: RandomSource
) -> float:
    """The largest `rank_stretch` among the first, the middle and the last of some quantiles, whose released values are told."""
    if units_of(column) is None:
        return 1.0
    chosen = looked_at(quantiles)
    return max(rank_stretch(column, quantile, value(quantile), noisy_rows, rng) for quantile in chosen)


def looked_at(quantiles: Sequence[Fraction]) -> list[Fraction]:
    """The first, the middle and the last of some quantiles; fewer where there are fewer."""
    ordered = sorted(set(quantiles))
    return sorted({ordered[0], ordered[len(ordered) // 2], ordered[-1]})


def one_step(question: Question) -> int:
    """One step by unit where there is an interval."""
    return 0 if question.interval is None else 1


def no_step(question: Question) -> int:
    """No step by unit, because what is told is the table's own, without an error of sampling."""
    return 0


def as_alike(question: Question) -> int:
    """No step by unit: errors are those of rows that are all alike within a unit, the most that there can be.

    Released counts are divided by the most rows of a unit, and so is their noise.
    """
    return 0


def share_stretch(column: Column, share: float, noisy_rows: float, rng: RandomSource) -> float:
    """The variance of the number of ones among zeros and ones, of a released share, over that of independent rows.

    With counts divided by it, and with their noise, intervals for the share are those of such units. It is 1 where each row is a
    unit.
    """
    return rank_stretch(column, Fraction(1 - min(max(share, 0.0), 1.0)), math.nextafter(1.0, 0.0), noisy_rows, rng)


def noisy_squares(
    units: Units,
    score: UnitScore,
    deviation: float,
    epsilon: Fraction,
    rng: RandomSource,
    *,
    most: int,
    is_share: bool = False,
) -> float:
    """About the sum of the squares of all units' sums of scores, rather too large than too small.

    `deviation` is about a row's, and `most` is what a unit's sum can be at most. Where that is near, or of a share, all places up
    to it count; otherwise they do as far as they show units, and the sum is infinite where none does.
    """
    typical = max(deviation, 0.5)
    spread = max(math.frexp(typical * typical)[1], 1)
    low = max(spread - BELOW, 0)
    alike = spread + 2 * (units.rows - 1).bit_length()
    end = (most * most - 1).bit_length()
    high = min(max(min(alike + ABOVE, end), low), MOST_SUMMED)
    noisy = release_shares(units.squares(score), low, high, epsilon, rng)
    return upper_total(noisy, low, float(epsilon), whole=is_share or end <= alike + WHOLE)


def release_shares(raw_octaves: SquareOctaves, low: int, high: int, epsilon: Fraction, rng: RandomSource) -> list[float]:
    """Noisy shares of the units at 2**low to 2**high, for one unit added or removed."""
    raw_shares = raw_shares_of(raw_octaves, low, high)
    noise = sample_discrete_laplace((1 << high) / epsilon, len(raw_shares), rng).tolist()
    return [float(Fraction(raw + drawn, 1 << high)) for raw, drawn in zip(raw_shares, noise, strict=True)]


def raw_shares_of(raw_octaves: SquareOctaves, low: int, high: int) -> list[int]:
    """The shares of all units at 2**low to 2**high, in units of 2**-high.

    A square below 2**low has the part of it that it reaches there; one beyond 2**high counts as that.
    """
    raw_shares = [0] * (high - low + 1)
    for octave, (count, total) in enumerate(zip(*raw_octaves, strict=True)):
        if octave <= low:
            raw_shares[0] += total << (high - low)
        elif octave > high:
            raw_shares[-1] += count << high
        else:  # from 2**(octave - 1) to below 2**octave
            fine = high - octave + 1
            raw_shares[octave - 1 - low] += ((count << octave) - total) << fine
            raw_shares[octave - low] += (total - (count << (octave - 1))) << fine
    return raw_shares


def upper_total(noisy: Sequence[float], low: int, epsilon: float, *, whole: bool = False) -> float:
    """What noisy shares at 2**low and its doubles are worth: all of them, or up to one beyond the last that shows units.

    Some noise is added.
    """
    seen = [place for place, share in enumerate(noisy) if share * epsilon >= SEEN]
    if not whole and not seen:
        return math.inf
    taken = range(len(noisy) if whole else min(seen[-1] + 2, len(noisy)))
    total = math.fsum(math.ldexp(noisy[place], low + place) for place in taken)
    noise = math.sqrt(2 * math.fsum(math.ldexp(1.0, 2 * (low + place)) for place in taken)) / epsilon
    return max(total, 0.0) + CAUTION * noise
