"""Noisy counts: exact output laws on neighbours, what is drawn, and a broken twin that is refuted."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpstats.mechanisms import discrete_laplace
from dpstats.mechanisms.discrete_laplace import noisy_count, noisy_counts
from dpstats.testing import seeded
from tests.laws.hypotheses import counts_law
from tests.privacy_loss.exact import largest_log_ratio

EPSILON = Fraction(3, 4)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Fraction, int]]:
    """The scale and the number of variables of every draw, whose noise is 1, 2, 3 ..."""
    asked: list[tuple[Fraction, int]] = []

    def sample(scale: Fraction, size: int, rng: Any) -> Any:
        asked.append((scale, size))
        return np.arange(1, size + 1)

    monkeypatch.setattr(discrete_laplace, "sample_discrete_laplace", sample)
    return asked


def test_every_count_gets_noise_of_its_own_in_one_draw(drawn: list[tuple[Fraction, int]]) -> None:
    assert noisy_counts([10, 20, -5], EPSILON, seeded(1)) == [11, 22, -2]
    assert noisy_count(7, EPSILON, seeded(1)) == 8
    assert noisy_counts([], EPSILON, seeded(1)) == []
    assert drawn == [(1 / EPSILON, 3), (1 / EPSILON, 1), (1 / EPSILON, 0)]


def test_one_row_in_one_count_costs_epsilon_and_half_the_noise_would_not_hide_it(drawn: list[tuple[Fraction, int]]) -> None:
    noisy_counts([2, 0], EPSILON, seeded(1))
    scale = drawn[0][0]
    tables = [(2, 0), (1, 0), (2, 1)]
    laws, twins = ([counts_law(counts, each, -2, 5) for counts in tables] for each in (scale, scale / 2))
    assert max(largest_log_ratio(laws[0], law) for law in laws[1:]) == pytest.approx(float(EPSILON))
    assert min(largest_log_ratio(twins[0], law) for law in twins[1:]) > 1.9 * float(EPSILON)


def test_large_counts_stay_exact_whole_numbers() -> None:
    large = 2**80 + 1
    noisy = noisy_count(large, Fraction(1, 2**70), seeded(1))
    assert type(noisy) is int
    assert noisy != large
    assert abs(noisy - large) < 2**77
