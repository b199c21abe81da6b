"""Families of laws on the line: estimates of blocks have no bias, and depend on their own block to the last bit."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.likelihood.beta import Beta, roots
from dpstats.statistics.likelihood.family import ExponentialFamily, Family, LineFamily
from dpstats.statistics.likelihood.gamma import Exponential, Gamma, shape_at_gap
from dpstats.statistics.likelihood.logarithms import log_of
from dpstats.statistics.likelihood.normal import Lognormal, Normal
from dpstats.statistics.likelihood.pareto import Pareto
from dpstats.statistics.likelihood.weibull import Weibull, likeliest

SHARES = (0.25, 0.5, 0.75)
NASTY = [0.0, -0.0, 1.0, 0.5, 0.5, -3.0, 1e-300, 5e-324, 1e300, -1e308, 1.7e308, math.inf, -math.inf, 1 - 2**-53, 2**-60]


@dataclass(frozen=True)
class Case:
    """A family at parameters, and the same law in scipy."""

    family: LineFamily
    theta: tuple[float, ...]
    scipys: Callable[..., Any]

    @property
    def at(self) -> Floats:
        return np.array(self.theta)

    def __str__(self) -> str:
        return f"{self.family.name}{self.theta}"


CASES = [
    Case(Normal(), (1.0, 2.0), lambda mean, std: stats.norm(mean, std)),
    Case(Lognormal(), (0.5, 0.8), lambda mu, sigma: stats.lognorm(sigma, scale=math.exp(mu))),
    Case(Exponential(), (3.0,), lambda scale: stats.expon(scale=scale)),
    Case(Gamma(), (0.4, 2.0), lambda shape, scale: stats.gamma(shape, scale=scale)),
    Case(Gamma(), (3.0, 0.5), lambda shape, scale: stats.gamma(shape, scale=scale)),
    Case(Weibull(), (0.7, 2.0), lambda shape, scale: stats.weibull_min(shape, scale=scale)),
    Case(Weibull(), (2.5, 1.5), lambda shape, scale: stats.weibull_min(shape, scale=scale)),
    Case(Beta(), (0.5, 2.0), lambda alpha, beta: stats.beta(alpha, beta)),
    Case(Beta(), (4.0, 3.0), lambda alpha, beta: stats.beta(alpha, beta)),
]
EXPONENTIAL: list[ExponentialFamily] = [Normal(), Lognormal(), Exponential(), Gamma(), Beta()]
ALL: list[Family] = [Normal(), Lognormal(), Exponential(), Gamma(), Weibull(), Beta(), Pareto()]

every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_family = pytest.mark.parametrize("family", ALL, ids=lambda family: family.name)


def one_block(values: Floats) -> RowBlocks:
    return RowBlocks(values.reshape(-1, 1), np.zeros(len(values), dtype=np.int64), 1)


def equal_blocks(rows: Floats, size: int) -> RowBlocks:
    return RowBlocks(rows, np.repeat(np.arange(len(rows) // size), size), len(rows) // size)


def rows_of(family: Family, count: int, seed: int) -> Floats:
    """Rows that every family here can have: between 0 and 1."""
    return np.random.default_rng([seed, len(family.name)]).beta(2.0, 3.0, (count, 1))


def bias_in_units(case: Case, raw_estimates: Floats, rows: Floats) -> Floats:
    """The bias of estimates of blocks, in standard deviations of what 100,000 rows together can know.

    Mean scores of the same rows, which are 0 on average, take most of the chance out of it.
    """
    covariance = np.linalg.inv(case.family.information(case.at))
    scores = case.family.scores(rows, case.at).reshape(len(raw_estimates), -1, len(case.theta)).mean(axis=1)
    gaps = (raw_estimates - case.at - scores @ covariance).mean(axis=0)
    units: Floats = gaps / np.sqrt(np.diag(covariance) / 1e5)
    return units


def test_the_logarithm_is_right_and_the_same_in_every_place() -> None:
    generator = np.random.default_rng(1)
    numbers = np.concatenate(
        [10.0 ** generator.uniform(-307, 308, 40_000), generator.normal(1, 0.01, 40_000), [5e-324, 1e-310, 1.0]]
    )
    logs = log_of(numbers)
    assert np.abs(logs - np.log(numbers)).max() <= 4e-16 * np.abs(logs).max()
    assert np.all(np.abs(logs - np.log(numbers)) <= 4 * np.spacing(np.abs(np.log(numbers))))
    order = generator.permutation(len(numbers))
    assert np.array_equal(log_of(numbers[order]), logs[order])
    assert np.array_equal(log_of(np.array([0.0, -0.0, math.inf, 1.0])), [-math.inf, -math.inf, math.inf, 0.0])
    assert np.isnan(log_of(np.array([-1.0, -math.inf, math.nan]))).all()


def test_normal_estimates_are_the_mean_and_the_deviation_over_its_expectation() -> None:
    values = np.random.default_rng(2).normal(5, 3, 7)
    expected_at_1 = math.sqrt(2 / 6) * math.gamma(7 / 2) / math.gamma(6 / 2)
    mean, std = Normal().fit_blocks(one_block(values))[0]
    assert mean == pytest.approx(values.mean(), rel=1e-14)
    assert std == pytest.approx(values.std(ddof=1) / expected_at_1, rel=1e-12)
    assert Lognormal().fit_blocks(one_block(np.exp(values)))[0] == pytest.approx([mean, std], rel=1e-12)


def test_the_expected_deviation_has_no_seam_where_the_series_takes_over() -> None:
    few, many = (Normal().fit_blocks(one_block(np.resize([-1.0, 1.0], count)))[0, 1] for count in (10_000, 10_002))
    assert few - many == pytest.approx(0.75 / 10_000 - 0.75 / 10_002, rel=0.05)


@pytest.mark.parametrize("shape", [0.05, 0.7, 3.0, 1000.0])
def test_gamma_and_weibull_and_beta_roots_are_where_scipy_finds_them(shape: float) -> None:
    generator = np.random.default_rng(3)
    values = generator.gamma(shape, 2.0, 60)
    gap = np.log(values.mean()) - np.log(values).mean()
    assert shape_at_gap(np.array([gap]), None)[0] == pytest.approx(stats.gamma.fit(values, floc=0)[0], rel=1e-4)

    powers = generator.weibull(shape, 60)
    found, place = likeliest(one_block(powers), np.log(powers))
    theirs = stats.weibull_min.fit(powers, shape, floc=0)
    assert (found[0], math.exp(place[0])) == pytest.approx((theirs[0], theirs[2]), rel=1e-3)

    parts = generator.beta(shape, 2 * shape, 60)
    parts = parts[(parts > 0) & (parts < 1)]
    alpha, beta = roots(np.log(parts).mean(keepdims=True), np.log1p(-parts).mean(keepdims=True))
    own = stats.beta.logpdf(parts, alpha[0], beta[0]).sum()
    for factors in itertools.product((0.999, 1.0, 1.001), repeat=2):
        assert stats.beta.logpdf(parts, alpha[0] * factors[0], beta[0] * factors[1]).sum() <= own + 1e-9


@every_case
@pytest.mark.parametrize("size", [20, 50])
def test_estimates_of_blocks_have_no_bias_that_all_rows_could_show(case: Case, size: int) -> None:
    rows = case.family.sample(case.at, 400_000, np.random.default_rng([4, size]))
    units = bias_in_units(case, case.family.fit_blocks(equal_blocks(rows, size)), rows)
    assert np.all(np.abs(units) < 1.2 if size == 20 else np.abs(units) < 0.7)


def test_the_test_for_bias_sees_that_of_uncorrected_estimates() -> None:
    case = CASES[4]
    rows = case.family.sample(case.at, 400_000, np.random.default_rng(4))
    blocks = equal_blocks(rows, 50)
    means, log_means = blocks.means(rows[:, 0]), blocks.means(np.log(rows[:, 0]))
    shapes = shape_at_gap(np.log(means) - log_means, None)
    units = bias_in_units(case, np.stack([shapes, means / shapes], axis=1), rows)
    assert np.all(np.abs(units) > 3)


def test_estimates_of_pareto_blocks_have_no_bias() -> None:
    theta = np.array([1.5, 2.0])
    raw_estimates = Pareto().fit_blocks(equal_blocks(Pareto().sample(theta, 400_000, np.random.default_rng(5)), 10))
    errors = raw_estimates.std(axis=0) / math.sqrt(len(raw_estimates))
    assert np.all(np.abs(raw_estimates.mean(axis=0) - theta) < 4 * errors)
    assert np.all(errors < [0.005, 0.001])


@every_family
def test_the_estimate_of_a_block_is_the_same_to_the_last_bit_whatever_other_blocks_hold(family: Family) -> None:
    generator = np.random.default_rng(6)
    own = rows_of(family, 37, 7)
    alone = family.fit_blocks(RowBlocks(own, np.full(37, 3), 8))[3]
    assert np.isfinite(alone).all()
    for extra in (1, 2, 3, 50, 1000):
        others = generator.choice([*NASTY, 0.3, 0.7], (extra, 1))
        places = generator.integers(0, 7, extra)
        rows, at = np.concatenate([own, others]), np.concatenate([np.full(37, 3), np.where(places == 3, 7, places)])
        order = np.argsort(np.concatenate([np.linspace(0, 1, 37), generator.uniform(0, 1, extra)]), kind="stable")
        assert np.array_equal(family.fit_blocks(RowBlocks(rows[order], at[order], 8))[3], alone)


@every_family
def test_rows_that_a_law_cannot_have_are_left_out(family: Family) -> None:
    own = rows_of(family, 30, 8)
    impossible = [math.inf, -math.inf] if family.name == "normal" else [math.inf, -math.inf, -1.0]
    with_them = np.insert(own, [0, 7, 30][: len(impossible)], np.array(impossible)[:, None], axis=0)
    assert np.array_equal(family.fit_blocks(one_block(with_them)), family.fit_blocks(one_block(own)))


@every_family
def test_blocks_without_an_estimate_have_none_for_any_parameter(family: Family) -> None:
    values = np.array([0.1, *[0.3] * 20, *rows_of(family, 30, 9)[:, 0]])
    places = np.repeat([1, 2, 3], [1, 20, 30])
    raw_estimates = family.fit_blocks(RowBlocks(values[:, None], places, 5))
    empty = [0, 4] if family.name == "exponential" else [0, 1, 2, 4]  # its mean is an estimate of one row, too
    assert np.isnan(raw_estimates[empty]).all()
    assert np.isfinite(raw_estimates[3]).all()


@every_family
def test_whatever_rows_hold_nothing_warns_and_estimates_lie_in_the_space(family: Family) -> None:
    generator = np.random.default_rng(10)
    for count, blocks in ((0, 3), (1, 3), (40, 9), (500, 60)):
        rows = generator.choice(NASTY, (count, 1))
        raw_estimates = family.fit_blocks(RowBlocks(rows, generator.integers(0, blocks, count), blocks))
        assert raw_estimates.shape == (blocks, len(family.parameters))
        missing = np.isnan(raw_estimates)
        assert np.array_equal(missing.any(axis=1), missing.all(axis=1))
        for values, (low, high) in zip(raw_estimates.T, family.space, strict=True):
            assert np.all(np.isnan(values) | ((values > low) & (values < high)))


@every_case
def test_scores_are_the_gradient_of_the_log_density(case: Case) -> None:
    rows = case.family.sample(case.at, 50, np.random.default_rng(11))
    scores = case.family.scores(rows, case.at)
    for place, step in enumerate(np.eye(len(case.theta)) * 1e-5):
        up, down = (case.scipys(*(case.at + sign * step)).logpdf(rows[:, 0]) for sign in (1, -1))
        np.testing.assert_allclose(scores[:, place], (up - down) / 2e-5, rtol=1e-5, atol=1e-6)


@every_case
def test_information_is_the_covariance_of_scores(case: Case) -> None:
    scores = case.family.scores(case.family.sample(case.at, 200_000, np.random.default_rng(12)), case.at)
    information = case.family.information(case.at)
    roots_of = np.sqrt(np.diag(information))
    assert np.all(np.abs(scores.mean(axis=0)) < 5 * roots_of / math.sqrt(len(scores)))
    np.testing.assert_allclose(
        np.cov(scores.T).reshape(information.shape) / np.outer(roots_of, roots_of),
        information / np.outer(roots_of, roots_of),
        atol=0.04,
    )


@every_case
def test_scores_of_rows_that_a_law_cannot_have_are_zero(case: Case) -> None:
    scores = case.family.scores(np.array(NASTY)[:, None], case.at)
    assert np.isfinite(scores).all()
    assert not scores[np.isinf(NASTY)].any()


@every_case
def test_distributions_are_those_of_scipy_and_of_simulated_rows(case: Case) -> None:
    points = np.array([-math.inf, -1.0, 0.0, 1e-300, 0.1, 0.5, 0.9, 1.0, 2.0, 30.0, math.inf])
    law = case.scipys(*case.theta)
    np.testing.assert_allclose(case.family.distribution(points, case.at), law.cdf(points), rtol=1e-12, atol=1e-15)
    rows = case.family.sample(case.at, 20_000, np.random.default_rng(13))
    assert rows.shape == (20_000, 1)
    assert stats.kstest(rows[:, 0], law.cdf).pvalue > 1e-4


@every_case
def test_a_guess_from_true_quartiles_is_close(case: Case) -> None:
    quartiles = case.scipys(*case.theta).ppf(SHARES)
    assert case.family.guess(dict(zip(SHARES, quartiles.tolist(), strict=True))) == pytest.approx(case.theta, rel=0.05)


@pytest.mark.parametrize("family", {case.family.name: case.family for case in CASES}.values(), ids=lambda family: family.name)
def test_a_guess_from_absurd_quartiles_is_inside_the_space_and_can_be_worked_with(family: LineFamily) -> None:
    absurd = [-math.inf, -1e300, -1.0, 0.0, 1e-308, 0.5, 1e300, math.inf]
    triples = [*itertools.product(absurd[::3], repeat=3), *((value,) * 3 for value in absurd), (math.inf, 0.5, -math.inf)]
    for triple in triples:
        guess = family.guess(dict(zip(SHARES, triple, strict=True)))
        assert all(low < value < high for value, (low, high) in zip(guess, family.space, strict=True))
        assert np.isfinite(family.information(guess)).all()


@pytest.mark.parametrize("family", EXPONENTIAL, ids=lambda family: family.name)
def test_the_solution_at_means_of_statistics_has_these_means(family: ExponentialFamily) -> None:
    rows = rows_of(family, 500, 14)
    means = family.statistics(rows).mean(axis=0)
    case = next(case for case in CASES if case.family.name == family.name)
    scores = case.family.scores(rows, family.solve(means))
    assert np.all(np.abs(scores.mean(axis=0)) < 1e-9 * np.abs(scores).max(axis=0))
    assert np.isnan(family.statistics(np.array([[math.inf], [-math.inf]]))).all()


@pytest.mark.parametrize("family", EXPONENTIAL, ids=lambda family: family.name)
def test_solutions_at_noisy_means_that_no_law_has_are_inside_the_space(family: ExponentialFamily) -> None:
    for means in itertools.product(
        [-1e200, -50.0, -0.1, 0.0, 1e-200, 0.3, 40.0, 1e200], repeat=family.statistics(np.ones((1, 1))).shape[1]
    ):
        solution = family.solve(np.array(means))
        assert all(low < value < high for value, (low, high) in zip(solution, family.space, strict=True))


@every_family
def test_parameters_are_shaped_by_their_names(family: Family) -> None:
    values = np.arange(1.0, len(family.parameters) + 1)
    assert list(family.shaped(values)) == list(family.parameters)
    assert list(family.shaped(values).values()) == values.tolist()
