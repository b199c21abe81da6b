"""Negative binomial laws: counts that spread more than Poisson ones.

The parameters are the mean and the dispersion, with the variance mean + dispersion * mean^2; scipy's nbinom(r, p) has
r = 1 / dispersion and p = 1 / (1 + dispersion * mean), and `shaped` names these too. Blocks are averaged, and r is nothing to
average: in every block that happens to spread less than a Poisson law its estimate is infinite. The dispersion of such a block is
a little below 0, where the likelihood goes on being one of counts up to a limit, and averages are not pushed up by cutting off.
Rows that are no whole numbers from 0 on are left out.

Each block has few distinct counts, so the work goes by these. The score by the dispersion c sums j / (1 + c j) over all j below
each count: by differences of polygamma functions, and by power sums where these would cancel.

The likelihood of the dispersion is adjusted for the mean being an estimate, which takes most of the bias away.

Source     Saha & Paul 2005 for dispersions below 0; Cox & Reid 1987 for the adjustment
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.lazy_scipy import special
from dpstats.statistics.likelihood.block_groups import Truths, fit_in_groups
from dpstats.statistics.likelihood.counts import LARGEST_COUNT, LEAST, at_counts, best_of, count_quartiles, whole_numbers
from dpstats.statistics.likelihood.family import SmoothLaw

ROUNDS = 60
STILL = 1e-10
"""A block is done when its dispersion moved by no more than this share of it."""
_CANCELS = 0.02
"""Where c times a count is smaller, power sums are used."""
_SUPPORT = 1 << 15
"""The most counts at which the information is worked out."""


@dataclass(frozen=True)
class NegativeBinomial(SmoothLaw):
    """Counts with a mean and a dispersion."""

    bias_correction = "mean: none needed; dispersion: likelihood adjusted for the mean (Cox and Reid)"
    name = "negative_binomial"
    least_rows = 100
    """In smaller blocks the dispersion keeps a bias that counts."""
    parameters = ("mean", "dispersion")
    space = ((0.0, np.inf), (0.0, np.inf))

    def fit_blocks(self, raw_blocks: RowBlocks) -> Floats:
        """The mean, and the dispersion freed of bias; none where all counts are 0 or there are fewer than three."""
        return fit_in_groups(self._possible(raw_blocks), len(self.parameters), _fit_group)

    def shaped(self, values: Floats) -> Mapping[str, Any]:
        """Mean and dispersion, and scipy's r and p."""
        mean, dispersion = float(values[0]), float(values[1])
        r = 1 / dispersion if dispersion > 0 else np.inf
        p = 1 / (1 + max(dispersion, 0.0) * mean)
        return {"mean": mean, "dispersion": dispersion, "r": r, "p": p}

    def _inside(self, raw_values: Floats) -> Truths:
        return whole_numbers(raw_values)

    def _gradients(self, raw_values: Floats, theta: Floats) -> tuple[Floats, ...]:
        """In closed form, by polygamma functions of the count."""
        raw_counts = np.where(whole_numbers(raw_values), raw_values, 0.0)
        mean, dispersion = theta
        raw_off = (raw_counts - mean) / (1 + dispersion * mean)
        raw_chain, _ = _chain(raw_counts, np.full(len(raw_counts), dispersion))
        raw_by_dispersion = raw_chain - mean**2 * _log_gap(dispersion * mean)[0]
        return raw_off / mean, raw_by_dispersion - raw_off * mean

    def information(self, theta: Floats) -> Floats:
        """The Fisher information: of the mean in closed form, of the dispersion by its mean squared score; orthogonal."""
        mean, dispersion = theta
        top = mean + 60 * (1 + dispersion * mean) + 12 * np.sqrt(mean * (1 + dispersion * mean))
        step = max(1.0, np.ceil(top / _SUPPORT))
        ends = np.arange(-1.0, top + step, step)
        shares = np.diff(self.distribution(ends, theta))
        by_dispersion = self.scores(np.rint((ends[1:] + ends[:-1] + 1) / 2)[:, None], theta)[:, 1]
        return np.diag([1 / (mean * (1 + dispersion * mean)), float(np.sum(shares * by_dispersion**2))])

    def sample(self, theta: Floats, count: int, generator: np.random.Generator) -> Floats:
        """Poisson counts whose rates have a gamma law."""
        rates = generator.gamma(1 / theta[1], theta[1] * theta[0], (count, 1))
        return generator.poisson(np.minimum(rates, LARGEST_COUNT)).astype(np.float64)

    def distribution(self, points: Floats, theta: Floats) -> Floats:
        """By the incomplete beta function."""
        return at_counts(points, lambda counts: special.betainc(1 / theta[1], counts + 1, 1 / (1 + theta[1] * theta[0])))

    def guess(self, quantiles: Mapping[float, float]) -> Floats:
        """The parameters on a coarse grid whose quartiles are nearest to these."""
        _, middle, upper = count_quartiles(quantiles)
        typical = max(float(middle + upper) / 2, 0.25)
        means = typical * np.geomspace(1 / 8, 8, 49)
        dispersions = np.geomspace(max(0.1 / max(typical, 0.5), 1e-4), 20, 40)  # smaller ones would hardly show
        grid = np.column_stack([np.repeat(means, len(dispersions)), np.tile(dispersions, len(means))])
        return np.maximum(best_of(self.distribution, grid, quantiles), LEAST)


def _fit_group(raw_group: RowBlocks) -> Floats:
    raw_estimates = np.column_stack([raw_group.means(raw_group.raw_rows[:, 0]), _Tally(raw_group).dispersions()])
    raw_estimates[(raw_group.raw_counts < 3) | (raw_estimates[:, 0] == 0)] = np.nan
    return raw_estimates


class _Tally:
    """For every block its distinct counts, and how often each occurs."""

    def __init__(self, raw_counts: RowBlocks) -> None:
        order = np.lexsort((raw_counts.raw_rows[:, 0], raw_counts.raw_places))
        raw_sorted, raw_places = raw_counts.raw_rows[order, 0], raw_counts.raw_places[order]
        raw_begins = np.flatnonzero((np.diff(raw_sorted, prepend=-1.0) != 0) | (np.diff(raw_places, prepend=-1) != 0))
        self._raw_often = np.diff(raw_begins, append=len(raw_sorted)).astype(np.float64)
        self._raw_counts = raw_sorted[raw_begins]
        self._raw = RowBlocks(self._raw_counts[:, None], raw_places[raw_begins], raw_counts.blocks)
        self._raw_rows = raw_counts.raw_counts
        self._raw_means = self._sums(self._raw_counts) / self._raw_rows

    def dispersions(self) -> Floats:
        """Where the adjusted scores are 0, by Newton's steps held between known sides; each block stops by itself."""
        raw_most = np.zeros(self._raw.blocks)
        np.maximum.at(raw_most, self._raw.raw_places, self._raw_counts)
        raw_low = -0.5 / np.maximum(raw_most, 1.0)
        raw_high = np.full(self._raw.blocks, 1e6)
        raw_spread = self._sums((self._raw_counts - self._raw.of_rows(self._raw_means)) ** 2) / self._raw_rows
        raw_now = np.clip((raw_spread - self._raw_means) / self._raw_means**2, raw_low / 2, raw_high / 2)
        raw_moving = np.ones(self._raw.blocks, dtype=np.bool_)
        for _ in range(ROUNDS):
            raw_score, raw_slope = self._score(raw_now)
            raw_low = np.where(raw_score > 0, raw_now, raw_low)
            raw_high = np.where(raw_score > 0, raw_high, raw_now)
            raw_step = np.where(raw_slope < 0, raw_now - raw_score / raw_slope, np.nan)
            raw_up = np.minimum((raw_now + raw_high) / 2, 4 * np.abs(raw_now) + 1)
            raw_else = np.where(raw_score > 0, raw_up, (raw_now + raw_low) / 2)
            raw_next = np.where((raw_step > raw_low) & (raw_step < raw_high), raw_step, raw_else)
            raw_moved = np.abs(raw_next - raw_now)
            raw_now = np.where(raw_moving, raw_next, raw_now)
            raw_moving &= raw_moved > STILL * (np.abs(raw_now) + 1 / self._raw_means)
            if not raw_moving.any():
                break
        return raw_now

    def _score(self, raw_dispersions: Floats) -> tuple[Floats, Floats]:
        """The derivative of each block's adjusted log likelihood by the dispersion, with the mean put in, and its slope."""
        raw_chain, raw_chain_slope = _chain(self._raw_counts, self._raw.of_rows(raw_dispersions))
        raw_gap, raw_gap_slope = _log_gap(raw_dispersions * self._raw_means)
        raw_adjusted = self._raw_means / (1 + raw_dispersions * self._raw_means)
        raw_score = self._sums(raw_chain) - self._raw_rows * self._raw_means**2 * raw_gap + raw_adjusted / 2
        raw_slope = self._sums(raw_chain_slope) - self._raw_rows * self._raw_means**3 * raw_gap_slope - raw_adjusted**2 / 2
        return raw_score, raw_slope

    def _sums(self, raw_values: Floats) -> Floats:
        return self._raw.sums(raw_values * self._raw_often)


def _chain(raw_counts: Floats, raw_dispersions: Floats) -> tuple[Floats, Floats]:
    """The sum of j / (1 + c j) over all whole j below the count, and its derivative by c."""
    raw_large = np.abs(raw_dispersions * raw_counts) >= _CANCELS
    raw_chain, raw_slope = _short_chain(raw_counts, raw_dispersions)
    raw_chain[raw_large], raw_slope[raw_large] = _closed_chain(raw_counts[raw_large], raw_dispersions[raw_large])
    return raw_chain, raw_slope


def _closed_chain(counts: Floats, c: Floats) -> tuple[Floats, Floats]:
    """By sums of powers of 1 / (j + r), where r = 1 / c; below 0 they are mirrored."""
    r = 1 / c
    low, high = np.where(r > 0, r, 1 - r - counts), np.where(r > 0, r + counts, 1 - r)
    one = np.where(r > 0, 1.0, -1.0) * (special.digamma(high) - special.digamma(low))
    two = special.zeta(2, low) - special.zeta(2, high)
    return r * counts - r**2 * one, -(r**2) * (counts - 2 * r * one + r**2 * two)


def _short_chain(counts: Floats, c: Floats) -> tuple[Floats, Floats]:
    """By power series in c, with sums of powers of all j below the count."""
    n = np.maximum(counts - 1, 0.0)
    one = n * (n + 1) / 2
    two = one * (2 * n + 1) / 3
    three = one**2
    four = two * (3 * n**2 + 3 * n - 1) / 5
    five = three * (2 * n**2 + 2 * n - 1) / 3
    six = two * (3 * n**4 + 6 * n**3 - 3 * n + 1) / 7
    return (
        one - c * two + c**2 * three - c**3 * four + c**4 * five,
        -(two - 2 * c * three + 3 * c**2 * four - 4 * c**3 * five + 5 * c**4 * six),
    )


def _log_gap(u: Floats) -> tuple[Floats, Floats]:
    """(u - log(1 + u)) / u^2 and its derivative, by their series near 0."""
    small = np.abs(u) < 0.05
    v, w = np.where(small, 1.0, u), np.where(small, u, 0.0)
    far = (v - np.log1p(v)) / v**2
    far_slope = 1 / (v * (1 + v)) - 2 * far / v
    near, near_slope = np.zeros_like(w), np.zeros_like(w)
    for power in reversed(range(12)):
        near = 1 / (power + 2) - w * near
        near_slope = -(power + 1) / (power + 3) - w * near_slope
    return np.where(small, near, far), np.where(small, near_slope, far_slope)
