"""Families: what they make of a row is within bounds, the same in any company, and what the model says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.statistics.regression.families import (
    ROOM,
    STEEPEST_PREDICTOR,
    LogisticOutcomes,
    OutcomeFamily,
    PoissonOutcomes,
    exp_of,
)
from dpstats.statistics.regression.octaves import CELLS, magnitude_of
from dpstats.statistics.regression.points import LARGEST, Floats
from tests.statistics.regression.link_rows import CUTS, LEVELS, exp_by_hand, family_by_hand
from tests.statistics.regression.step_rows import UGLY

FAMILIES: list[OutcomeFamily] = [LogisticOutcomes(), *(PoissonOutcomes(level, cut) for level in LEVELS for cut in CUTS)]
PREDICTORS = (0.0, 1.0, -1.0, 0.3, -7.7, 29.9, -30.0, 31.0, 5e-324, -1e-17, 745.0, -1e3, LARGEST * 2**30, -LARGEST * 2**30)
ANY = st.floats(allow_nan=False)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def crossed() -> tuple[Floats, Floats]:
    """Every ugly predictor with every ugly outcome."""
    outcomes = (*UGLY, 0.5, 2.0, 3.0, 1e9)
    predictors, found = np.meshgrid(PREDICTORS, outcomes)
    return predictors.ravel(), found.ravel()


@pytest.mark.parametrize("family", FAMILIES)
def test_pulls_and_curvatures_are_numbers_within_their_bounds_whatever_a_row_holds(family: OutcomeFamily) -> None:
    pulls = family.of(*crossed())
    assert np.all(np.abs(pulls.raw_pulls) <= 1)
    assert np.all((pulls.raw_curves >= 0) & (np.sqrt(pulls.raw_curves) <= 1 / family.most_curved))
    if pulls.raw_roots is not None:
        assert np.all((pulls.raw_roots > 0) & np.isfinite(pulls.raw_roots))
    if isinstance(family, PoissonOutcomes):
        assert np.all(family.magnitudes(*crossed()) >= 0)


@given(st.sampled_from(FAMILIES), FINITE, ANY)
def test_and_for_any_row_that_anybody_can_think_of(family: OutcomeFamily, predictor: float, outcome: float) -> None:
    pulls = family.of(np.array([predictor]), np.array([outcome]))
    assert -1 <= pulls.raw_pulls[0] <= 1
    assert 0 <= math.sqrt(pulls.raw_curves[0]) <= 1 / family.most_curved
    root, pull, curve = family_by_hand(family, predictor, outcome)
    assert (pull, curve) == (pulls.raw_pulls[0], pulls.raw_curves[0])
    assert pulls.raw_roots is None or pulls.raw_roots[0] == root


@pytest.mark.parametrize("family", [LogisticOutcomes(), PoissonOutcomes(2.5, 3.0)])
def test_a_row_means_the_same_wherever_it_stands_and_in_whatever_array(family: OutcomeFamily) -> None:
    generator = np.random.default_rng(1)
    predictors, outcomes = generator.normal(0, 9, 1003), generator.poisson(2.0, 1003).astype(float)
    together = family.of(predictors, outcomes)
    wide_predictors, wide_outcomes = np.repeat(predictors, 3)[::3], np.repeat(outcomes, 5)[::5]
    apart = family.of(wide_predictors[::-1], wide_outcomes[::-1])
    for place in range(0, 1003, 17):
        alone = family.of(predictors[place : place + 1], outcomes[place : place + 1])
        for whole, one, turned in zip(together, alone, apart, strict=True):
            if whole is not None and one is not None and turned is not None:
                assert whole[place] == one[0] == turned[::-1][place]


def test_the_exponential_function_is_right_to_fourteen_digits() -> None:
    exponents = np.concatenate([np.linspace(-30, 30, 20_001), np.log(2) * np.arange(-43, 44) / 2, [1e-300, -1e-9, 0.0]])
    exact = np.array([math.exp(each) for each in exponents])
    assert np.max(np.abs(exp_of(exponents) / exact - 1)) < 1e-14
    assert exp_of(np.zeros(1))[0] == 1.0


def test_it_rises_and_stays_where_predictors_are_cut_off() -> None:
    assert np.all(np.diff(exp_of(np.linspace(-30, 30, 100_001))) > 0)
    ends = exp_of(np.array([-STEEPEST_PREDICTOR, STEEPEST_PREDICTOR]))
    assert exp_of(np.array([-31.0, -1e300, 31.0, 1e300])).tolist() == [ends[0], ends[0], ends[1], ends[1]]


@given(st.lists(FINITE, min_size=1, max_size=40))
def test_it_is_the_same_number_by_itself_and_among_others(exponents: list[float]) -> None:
    assert exp_of(np.array(exponents)).tolist() == [exp_by_hand(each) for each in exponents]


def test_multiples_of_the_leading_bits_of_the_logarithm_of_two_are_exact() -> None:
    mantissa, _ = (0.693147180369123816490).as_integer_ratio()
    assert mantissa.bit_length() + math.ceil(STEEPEST_PREDICTOR / math.log(2)).bit_length() <= 53


def test_logistic_pulls_are_outcomes_less_probabilities_and_curve_by_their_slope() -> None:
    predictors = np.linspace(-8, 8, 33)
    for outcome in (0.0, 1.0, 0.25):
        pulls = LogisticOutcomes().of(predictors, np.full(33, outcome))
        probabilities = 1 / (1 + np.exp(-predictors))
        assert pulls.raw_pulls == pytest.approx(outcome - probabilities, abs=1e-13)
        assert pulls.raw_curves == pytest.approx(probabilities * (1 - probabilities), abs=1e-13)
        assert pulls.raw_roots is None


def test_poisson_scores_are_outcomes_less_means_where_none_is_cut_off() -> None:
    family = PoissonOutcomes(4.0, 3.0)
    predictors, outcomes = np.linspace(-1, 1, 9), np.array([2.0, 3, 1, 4, 5, 3, 6, 5, 9])
    means = 4 * np.exp(predictors)
    pulls = family.of(predictors, outcomes)
    assert pulls.raw_roots is not None
    assert pulls.raw_pulls * pulls.raw_roots * family.pull == pytest.approx((outcomes - means) / (4 + ROOM))
    assert pulls.raw_curves * pulls.raw_roots**2 == pytest.approx(means / (4 + ROOM))
    assert family.magnitudes(predictors, outcomes) == pytest.approx(np.abs(outcomes - means) / np.sqrt(means + ROOM))


def test_counts_beyond_the_cut_all_pull_alike() -> None:
    pulls = PoissonOutcomes(1.0, 3.0).of(np.zeros(4), np.array([100.0, 1e9, 1e308, math.inf]))
    assert pulls.raw_pulls.tolist() == [1.0, 1.0, 1.0, 1.0]


def test_outcomes_below_the_possible_count_as_the_least_possible() -> None:
    for family in (LogisticOutcomes(), PoissonOutcomes(2.0, 3.0)):
        zero, below, far = family.of(np.full(3, 0.4), np.array([0.0, -3.0, -math.inf])).raw_pulls
        assert zero == below == far


def test_the_levels_and_cuts_of_these_tests_are_the_furthest_that_are_released() -> None:
    assert min(LEVELS) <= magnitude_of(0) * 1e-4
    assert max(LEVELS) >= magnitude_of(CELLS - 1)
    assert max(CUTS) >= 5 * magnitude_of(CELLS - 1)
