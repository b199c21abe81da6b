"""Estimates of blocks: how many blocks there are, and that one row changes one vote."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpstats.statistics.likelihood.block_estimates import (
    FEWEST_WITHIN,
    MOST_BLOCKS,
    bare_rows,
    blocks_within,
    blocks_without_bounds,
    least_rows,
    votes_of,
)
from dpstats.statistics.likelihood.families import Options, family_for
from dpstats.statistics.likelihood.gamma import Gamma
from dpstats.statistics.likelihood.pareto import Pareto
from dpstats.testing import seeded
from tests.statistics.likelihood.score_rows import NAMED, Case
from tests.statistics.likelihood.test_score_bits import bits
from tests.statistics.likelihood.test_score_steps import table_of

BOUNDS = ((0.1, 10.0), (0.1, 10.0))
ONE = Fraction(1)


@pytest.mark.parametrize("case", NAMED, ids=str)
@pytest.mark.parametrize("blocks", [1, 7])
def test_one_row_changes_one_vote_and_the_number_of_votes_is_public(case: Case, blocks: int) -> None:
    rows = case.rows(200)
    votes = votes_of(case.family, table_of(rows), blocks, seeded(1))
    assert votes.shape == (blocks, len(case.family.parameters))
    assert np.isfinite(votes).any()
    for row in (case.rows(1, seed=9)[0], *case.ugly_rows()[::5], np.full(case.columns, np.nan)):
        more = votes_of(case.family, table_of(np.vstack([rows, row])), blocks, seeded(1))
        assert sum(bits(one) != bits(other) for one, other in zip(votes, more, strict=True)) <= 1
        changed = votes_of(case.family, table_of(np.vstack([rows[:-1], row])), blocks, seeded(1))
        assert sum(bits(one) != bits(other) for one, other in zip(votes, changed, strict=True)) <= 1


def test_a_vote_that_is_not_finite_in_one_parameter_is_none_in_all() -> None:
    class Halves(Gamma):
        def fit_blocks(self, raw_blocks: Any) -> Any:
            return np.array([[1.0, np.inf], [1.0, 2.0], [np.nan, 2.0]])

    votes = votes_of(Halves(), table_of(np.ones((9, 1))), 3, seeded(1))
    assert votes[1].tolist() == [1.0, 2.0]
    assert np.isnan(votes[[0, 2]]).all()


def test_numbers_of_blocks_are_public_and_leave_enough_rows_to_each() -> None:
    for rows in (1, 10, 1000, 10**5, 10**8, 10**12):
        for epsilon in (Fraction(1, 100), ONE, Fraction(50)):
            for blocks in (blocks_within(Gamma(), BOUNDS, rows, epsilon), blocks_without_bounds(Gamma(), rows, epsilon, 1)):
                assert 1 <= blocks <= MOST_BLOCKS
                assert blocks == 1 or rows / blocks >= least_rows(Gamma(), FEWEST_WITHIN)


def test_wider_bounds_and_smaller_epsilons_take_more_blocks() -> None:
    near, far = ((1.0, 3.0), (2.0, 4.0)), ((1e-3, 1e3), (1e-3, 1e3))
    assert blocks_within(Gamma(), near, 10**6, ONE) < blocks_within(Gamma(), far, 10**6, ONE)
    assert blocks_within(Gamma(), near, 10**6, ONE) < blocks_within(Gamma(), near, 10**6, Fraction(1, 10))
    assert blocks_without_bounds(Gamma(), 10**6, ONE, 1) < blocks_without_bounds(Gamma(), 10**6, Fraction(1, 10), 1)
    assert blocks_without_bounds(Gamma(), 10**4, ONE, 700) == 700  # as few rows as that takes
    assert blocks_without_bounds(Gamma(), 5000, ONE, 700) < 700


def test_few_blocks_do_with_fewer_rows_each_of_families_that_want_many() -> None:
    logistic = family_for("logistic", Options(3))
    rows = [bare_rows(logistic, blocks) for blocks in (1, 5, 11, 50, 100, 1000)]
    assert rows == sorted(rows)
    assert bare_rows(Gamma(), 1) < rows[0] < rows[-1] / 4
    assert rows[-2:] == [least_rows(logistic, FEWEST_WITHIN)] * 2
    assert bare_rows(Gamma(), 1) == bare_rows(Gamma(), 1000)
    assert blocks_without_bounds(logistic, 569, Fraction(99), 11) == 11
    assert blocks_without_bounds(logistic, 569, Fraction(99), 40) < 40


@pytest.mark.parametrize("bounds", [BOUNDS, ((0.0, 1e9), (0.0, 1e9)), ((1e-9, 1e-8), (1e8, 1e9))])
def test_families_without_information_and_absurd_bounds_have_a_number_of_blocks(bounds: Any) -> None:
    for family in (Gamma(), Pareto()):
        assert 1 <= blocks_within(family, bounds, 10**4, ONE) <= 10**4
