"""Pooling, denoising and the prior of independence: released numbers that say more together than each by itself."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpstats.statistics.coded.budget import GaussianLaw, LaplaceLaw, NoisyTable
from dpstats.statistics.synthetic.denoising import likely_counts
from dpstats.statistics.synthetic.fine_codes import number_column
from dpstats.statistics.synthetic.independence import independent_rows
from dpstats.statistics.synthetic.pooling import (
    CountedStretch,
    pooled,
    stretches_of_labels,
    stretches_of_look,
    stretches_of_values,
)

FINE = number_column("x", map(Fraction, (0, 1, 2, 5, 10)), Fraction(0), whole=False)


def noisy(counts: list[int], variance: float = 4.0) -> NoisyTable:
    return NoisyTable(np.array(counts, dtype=np.int64), GaussianLaw(variance))


def test_a_look_counts_for_stretches_between_common_edges() -> None:
    looked = number_column("x", map(Fraction, (0, 3, 5, 20)), Fraction(0), whole=False)
    stretches = stretches_of_look(FINE, looked, noisy([1, 20, 30, 40, 5, 7]))
    assert [(each.first, each.end, each.noisy_count, each.variance) for each in stretches] == [
        (0, 1, 1, 4.0),  # below 0
        (1, 4, 50, 8.0),  # from 0 to 5
        (4, 6, 45, 8.0),  # from 5 on
        (6, 7, 7, 4.0),  # missing
    ]


def test_values_count_where_their_code_is_there_and_labels_in_their_order() -> None:
    spans = [(Fraction(1), Fraction(2)), (Fraction(3), Fraction(4))]
    assert stretches_of_values(FINE, spans, [9, 8], 2.0) == [CountedStretch(2, 3, 9.0, 2.0)]
    assert stretches_of_labels(["a", "b"], [9, 8], 2.0) == [CountedStretch(0, 1, 9.0, 2.0), CountedStretch(1, 2, 8.0, 2.0)]


@pytest.mark.parametrize("law", [GaussianLaw(400.0), LaplaceLaw(14.0), LaplaceLaw(0.1)])
def test_pooled_counts_have_less_noise_and_say_how_much(law: GaussianLaw | LaplaceLaw) -> None:
    table = NoisyTable(np.array([100, 240]), law)
    both = pooled(table, [CountedStretch(0, 1, 120.0, law.variance), CountedStretch(1, 2, 200.0, law.variance)])
    assert both.noisy_counts.tolist() == [110, 220]
    assert type(both.law) is type(law)
    assert both.law.variance == pytest.approx(law.variance / 2)
    whole = pooled(table, [CountedStretch(0, 2, 300.0, 1e-9)])
    assert whole.noisy_counts.tolist() == [80, 220]
    assert pooled(table, []) is table


def test_counts_that_noise_does_not_tell_apart_are_denoised_and_others_stay() -> None:
    generator = np.random.default_rng(1)
    truth = np.array([40_000, 9_000, *[100] * 40])
    for law, noise in (
        (GaussianLaw(80.0**2), generator.normal(0, 80, 42)),
        (LaplaceLaw(60.0), generator.laplace(0, 60, 42)),
    ):
        table = NoisyTable(np.rint(truth + noise).astype(np.int64), law)
        likely = likely_counts(table, float(truth.sum()))
        assert likely.sum() == pytest.approx(truth.sum())
        assert np.abs(likely[:2] - table.noisy_counts[:2]).max() < 80
        assert np.abs(likely[2:] - 100).mean() < np.abs(np.maximum(table.noisy_counts[2:], 0) - 100).mean() / 2


@pytest.mark.parametrize("variance", [1e-3, 0.2186, 1.0, 400.0])
@pytest.mark.parametrize("counts", [[18, 0], [10_000, 3, 0, -2], [40, 0, 0, 0]])
def test_a_count_far_from_all_others_leaves_numbers(counts: list[int], variance: float) -> None:
    likely = likely_counts(noisy(counts, variance), float(sum(counts)) - 1.0)
    assert np.isfinite(likely).all()
    assert np.abs(likely - np.maximum(counts, 0)).max() <= 2 * math.sqrt(variance) + 4.0


def test_independence_is_believed_the_more_the_less_a_table_shows_beside_its_noise() -> None:
    noise = np.random.default_rng(2).normal(0, 10, (6, 6))
    related = 300 * np.eye(6) + 50
    rows = [independent_rows(table + noise, 100.0, float(table.sum())) for table in (related, np.full((6, 6), 100.0))]
    assert rows[0] < 100 < 3000 < rows[1]
    assert independent_rows(np.full(6, 100.0), 100.0, 600.0) == 0
