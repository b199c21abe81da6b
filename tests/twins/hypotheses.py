"""Broken twins of hypothesis tests: each makes one known mistake, and the tests of privacy or of the level must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.clipped.margins import Spread
from dpstats.statistics.sign_tests import sign_p_value
from dpstats.statistics.testing.between_groups import spread_between
from dpstats.statistics.testing.kolmogorov_law import gap_tail
from dpstats.statistics.testing.rank_leads import NoisyLead
from dpstats.statistics.testing.tables import independent
from tests.laws.hypotheses import counts_law
from tests.laws.tested_statistics import Cuts, noisy_law


def half_noise_law(below: int, above: int, epsilon: Fraction, low: int, high: int) -> dict[Hashable, Fraction]:
    """Mistake: half the noise on both counts of a sign test, as if a row moved each of them by a half."""
    return counts_law([below, above], 1 / (2 * epsilon), low, high)


def lead_and_rows_law(below: int, above: int, epsilon: Fraction, low: int, high: int) -> dict[Hashable, Fraction]:
    """Mistake: the lead and the number of rows, each with noise of the whole of epsilon; a row moves both."""
    return counts_law([above - below, above + below], 1 / epsilon, low, high)


def share_law(gap: Fraction, rows: int, epsilon: Fraction, cuts: Cuts) -> dict[Hashable, Fraction]:
    """Mistake: D itself with noise for 1 / n, where n is taken to be public: another row changes both D and the noise."""
    held = max(rows, 1)
    return noisy_law(gap / held, Fraction(1, held), epsilon, cuts)


def delta_for_each_column(delta: Fraction) -> Fraction:
    """Mistake: labels of both columns are found with the whole of delta, although one row can bring a new label to each."""
    return delta


def noiseless_chi_square_p(noisy: NDArray[np.float64]) -> float:
    """Mistake of the level: Pearson's statistic of the noisy table against the law that it has without noise."""
    from scipy.special import chdtrc

    expected = np.maximum(independent(noisy), 1.0)
    return float(chdtrc((noisy.shape[0] - 1) * (noisy.shape[1] - 1), ((noisy - expected) ** 2 / expected).sum()))


def noiseless_sign_p(below: int, above: int) -> float:
    """Mistake of the level: the binomial law at the noisy counts, without the noise."""
    return sign_p_value(above - below, max(above + below, 0), 1e6, "two-sided")


def noiseless_gap_p(gap: float, rows: float) -> float:
    """Mistake of the level: Kolmogorov's law at the noisy gap, without the noise."""
    return gap_tail(gap, max(rows, 1.0), np.zeros(1))


def rank_sum_law(lead: Fraction, rows: int, epsilon: Fraction, cuts: Cuts) -> dict[Hashable, Fraction]:
    """Mistake: pairs won less pairs lost, with noise for 1; another row adds as many pairs as the other group has rows."""
    return noisy_law(lead * rows, Fraction(1), epsilon, cuts)


def noiseless_lead_p(lead: NoisyLead) -> float:
    """Mistake of the level: the normal law of rank sums at the noisy lead, without the noise."""
    return NoisyLead(lead.lead, lead.rows, 1e6, 1e6).p_value("two-sided")


def noiseless_groups_p(groups: Sequence[Spread]) -> float:
    """Mistake of the level: the chi-square law of groups' means, weighted as if they had no noise."""
    from scipy.special import chdtrc

    means, variances = np.array([[each.mean for each in groups]]), np.array([[each.sampling for each in groups]])
    return float(chdtrc(len(groups) - 1, spread_between(means, variances)[0]))


def at_risk_law(cells: Sequence[int], epsilon: Fraction, low: int, high: int) -> dict[Hashable, Fraction]:
    """Mistake: numbers at risk, each with noise for 1; a row is at risk in every interval up to its exit."""
    half = len(cells) // 2
    exits = [event + other for event, other in zip(cells[:half], cells[half:], strict=True)]
    return counts_law([sum(exits[place:]) for place in range(half)], 1 / epsilon, low, high)
