"""Our noise beside OpenDP's, the most vetted sampler there is; skipped where it is not installed."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from scipy.stats import chi2_contingency

from dpstats.foundations.randomness import seeded
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.mechanisms.gaussian import sample_discrete_gaussian

pytestmark = pytest.mark.opendp

SIZE = 20_000


def theirs(make: str, scale: Fraction) -> list[int]:
    """Integer noise from OpenDP, which draws from the operating system: the bound on the p-value below is generous."""
    prelude = pytest.importorskip("opendp.prelude")
    prelude.enable_features("contrib")
    metric = prelude.l1_distance(T=int) if make == "laplace" else prelude.l2_distance(T=float)
    space = (prelude.vector_domain(prelude.atom_domain(T=int)), metric)
    measurement = (
        prelude.m.make_laplace(*space, scale=scale) if make == "laplace" else prelude.m.make_gaussian(*space, scale=scale)
    )
    return list(measurement([0] * SIZE))


def two_sample_p_value(first: list[Any], second: list[int]) -> float:
    """The chi-square p-value that both come from one law; rare values are pooled."""
    counts = [Counter(first), Counter(second)]
    common = [value for value in counts[0] if counts[0][value] + counts[1][value] >= 40]
    table = [[count[value] for value in common] for count in counts]
    table = [[*row, max(SIZE - sum(row), 1)] for row in table]
    return float(chi2_contingency(table).pvalue)


@pytest.mark.parametrize("scale", [0.5, 3.0, 20.0])
def test_discrete_laplace_agrees_and_a_fifth_more_does_not(scale: Fraction) -> None:
    vetted = theirs("laplace", scale)
    ours = sample_discrete_laplace(Fraction(scale), SIZE, seeded(7)).tolist()
    wide = sample_discrete_laplace(Fraction(scale) * Fraction(6, 5), SIZE, seeded(7)).tolist()
    assert two_sample_p_value(ours, vetted) > 1e-7
    assert two_sample_p_value(wide, vetted) < 1e-9


@pytest.mark.parametrize("deviation", [0.7, 3.0, 20.0])
def test_discrete_gaussian_agrees_and_a_fifth_more_does_not(deviation: Any) -> None:
    vetted = theirs("gaussian", deviation)
    ours = sample_discrete_gaussian(Fraction(deviation) ** 2, SIZE, seeded(7)).tolist()
    wide = sample_discrete_gaussian((Fraction(deviation) * Fraction(6, 5)) ** 2, SIZE, seeded(7)).tolist()
    assert two_sample_p_value(ours, vetted) > 1e-7
    assert two_sample_p_value(wide, vetted) < 1e-9
