"""Proposals from a private scale: a range without bounds, bought first, that bounds and bins are multiples of.

Claim      epsilon-DP: the scale is a difference of universal quantiles
Neighbors  ADD_REMOVE or CHANGE_ONE
Why        universal/many.py; which quantiles are drawn depends on parameters and on the public or noisy number of rows
No reply   Where so few rows are known to be there that the scale could be absurd, the method refuses rather than proposes it
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist

from dpstats.accounting.groups import row_epsilon
from dpstats.statistics.propose_test_release.setting import Setting
from dpstats.statistics.universal.decimals import fraction_of
from dpstats.statistics.universal.many import draw_quantiles

SCALE_SHARE = Fraction(1, 4)
"""Part of epsilon for the scale."""
_SAFE_NATS = 120
"""Rows times epsilon from which on two universal quartiles are hardly ever absurd."""
_SAFE_TAIL_NATS = 80
"""The same for the rows beyond a quantile."""
_HEAVIER = 1.25
"""Tails are often heavier than those of a normal table, and seldom lighter by much."""


def buy_scale(setting: Setting, lower: Fraction) -> tuple[Fraction | None, Setting]:
    """About the range between the quantiles `lower` and 1 - lower, and the setting with what is left.

    Where too few rows lie beyond `lower`, the range is drawn further in, and stretched somewhat more than that of a normal
    table. None where there are too few rows for any.
    """
    epsilon = setting.epsilon * SCALE_SHARE
    rest = replace(setting, epsilon=setting.epsilon - epsilon)
    nats = setting.rows * row_epsilon(epsilon, setting.neighbors)
    if nats < _SAFE_NATS:
        return None, rest
    inner = min(max(lower, Fraction(_SAFE_TAIL_NATS / nats)), Fraction(1, 4))
    drawn = draw_quantiles(setting.column, [inner, 1 - inner], epsilon, setting.neighbors, setting.rng)
    normal = NormalDist()
    stretch = _HEAVIER * normal.inv_cdf(float(lower)) / normal.inv_cdf(float(inner)) if inner > lower else 1.0
    return (fraction_of(drawn[1 - inner]) - fraction_of(drawn[inner])) * Fraction(stretch), rest
