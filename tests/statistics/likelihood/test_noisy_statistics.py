"""Noisy sufficient statistics: columns of single rows' numbers, equal parts of epsilon, and estimates that are close."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from dpstats.statistics.likelihood import noisy_statistics
from dpstats.statistics.likelihood.noisy_statistics import Solved, solve_noisy
from dpstats.testing import seeded
from tests.statistics.likelihood.score_rows import WITH_STATISTICS, Case
from tests.statistics.likelihood.test_score_steps import table_of

every_case = pytest.mark.parametrize("case", WITH_STATISTICS, ids=str)


def bought(case: Case, rows: Any) -> list[tuple[Counter[float], Fraction]]:
    """Each column that a mean is bought of, and what it costs."""
    seen: list[tuple[Counter[float], Fraction]] = []
    real = noisy_statistics.clipped_for

    def watch(column: Any, epsilon: Fraction, rng: Any, *rest: Any) -> Any:
        tally = column.tally()
        seen.append((Counter(dict(zip(tally.raw_values.tolist(), tally.raw_counts.tolist(), strict=True))), epsilon))
        return real(column, epsilon, rng, *rest)

    with patch.object(noisy_statistics, "clipped_for", watch):
        solve_noisy(case.family, table_of(rows), Fraction(3), seeded(1))
    return seen


@every_case
def test_parts_of_epsilon_add_up_and_one_row_adds_one_number_to_each_column_at_most(case: Case) -> None:
    rows = case.rows(60)
    here = bought(case, rows)
    assert sum(epsilon for _, epsilon in here) == 3
    for row in (case.rows(1, seed=8)[0], *case.ugly_rows()[:4], np.full(case.columns, np.nan)):
        for (column, epsilon), (more, other_epsilon) in zip(here, bought(case, np.vstack([rows, row])), strict=True):
            assert epsilon == other_epsilon
            assert not column - more
            assert (more - column).total() <= 1


@every_case
def test_the_estimate_of_many_rows_is_about_that_without_noise(case: Case) -> None:
    rows = case.rows(4000)
    solved = solve_noisy(case.family, table_of(rows), Fraction(20), seeded(2))
    plain = case.family.solve(np.nanmean(case.family.statistics(rows), axis=0))
    errors = np.sqrt(np.diag(solved.covariance))
    assert np.all(np.abs(solved.theta - plain) < 6 * errors + 1e-9)
    assert np.all(errors < 0.5 * np.maximum(1, np.abs(plain)))
    assert solved.noisy_rows == pytest.approx(4000, rel=0.02)


@every_case
def test_absurd_rows_end_in_numbers(case: Case) -> None:
    for rows in (np.repeat(case.ugly_rows(), 5, axis=0), np.repeat(case.ugly_rows()[2:3], 50, axis=0), case.rows(50)[:1]):
        solved = solve_noisy(case.family, table_of(rows), Fraction(1), seeded(3))
        assert isinstance(solved, Solved)
        assert np.isfinite(solved.theta).all()
        assert solved.noisy_rows >= 1


def test_errors_are_about_those_that_are_told() -> None:
    case = next(case for case in WITH_STATISTICS if str(case) == "normal")
    offs = []
    for seed in range(15):
        solved = solve_noisy(case.family, table_of(case.rows(1000, seed)), Fraction(2), seeded(seed))
        offs.append((solved.theta - case.theta) / np.sqrt(np.diag(solved.covariance)))
    assert 0.6 < np.sqrt(np.mean(np.square(offs))) < 1.5
