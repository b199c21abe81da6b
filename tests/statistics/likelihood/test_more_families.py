"""Counts, several columns, mixtures and regressions: estimates of blocks are what others find, and come of their block alone."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.likelihood import block_groups
from dpstats.statistics.likelihood.counts import Binomial, Poisson
from dpstats.statistics.likelihood.family import ExponentialFamily, Family, LineFamily, SmoothFamily
from dpstats.statistics.likelihood.mixtures import NormalMixture
from dpstats.statistics.likelihood.multivariate import MultivariateNormal, nearest_covariance
from dpstats.statistics.likelihood.overdispersed import NegativeBinomial
from dpstats.statistics.likelihood.regressions import Linear, Logistic, PoissonRegression

COVARIANCE = (2.0, 0.5, -0.3, 1.0, 0.2, 3.0)
COUNTS: list[tuple[LineFamily, tuple[float, ...]]] = [
    (Poisson(), (3.5,)),
    (Binomial(12), (0.3,)),
    (NegativeBinomial(), (4.0, 0.6)),
]
SMOOTH: list[tuple[SmoothFamily, tuple[float, ...]]] = [
    *COUNTS,
    (MultivariateNormal(3), (1.0, -2.0, 0.5, *COVARIANCE)),
    (NormalMixture(2), (0.3, 0.0, 4.0, 1.0, 1.5)),
    (NormalMixture(3), (0.3, 0.5, -4.0, 0.0, 6.0, 1.0, 0.7, 2.0)),
]
LINE = np.array([0.4, 0.8, -0.5])


def generator(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def blocks_of(rows: Floats, size: int) -> RowBlocks:
    """Rows in blocks of one size, mixed up."""
    blocks = len(rows) // size
    return RowBlocks(rows, generator(3).permutation(np.repeat(np.arange(blocks), size)), blocks)


def features(count: int, seed: int = 2) -> Floats:
    return generator(seed).standard_normal((count, 2)) * [1.0, 2.0] + [0.0, 1.0]


def regression_rows(family: Family, count: int, seed: int = 2) -> Floats:
    """Rows of a regression at the line above, with a sigma of 2 where it has one."""
    columns, source = features(count, seed), generator(seed + 100)
    places = LINE[0] + columns @ LINE[1:]
    outcomes = {
        "linear": lambda: places + 2 * source.standard_normal(count),
        "logistic": lambda: (source.random(count) < 1 / (1 + np.exp(-places))).astype(float),
        "poisson_regression": lambda: source.poisson(np.exp(places / 2)).astype(float),
    }
    return np.column_stack([columns, outcomes[family.name]()])


REGRESSIONS: list[Family] = [Linear(2), Logistic(2), PoissonRegression(2)]
EVERY: list[tuple[Family, Floats]] = [
    *((family, family.sample(np.array(theta), 3000, generator(9))) for family, theta in SMOOTH),
    *((family, regression_rows(family, 3000)) for family in REGRESSIONS),
]


def named(case: Any) -> str | None:
    return getattr(case, "name", None)


# every family


@pytest.mark.parametrize(("family", "rows"), EVERY, ids=named)
def test_one_row_moves_the_estimate_of_its_own_block_alone_to_the_last_bit(
    family: Family, rows: Floats, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = blocks_of(rows, 100)
    before = family.fit_blocks(blocks)
    monkeypatch.setattr(block_groups, "GROUP_ROWS", 350)  # other blocks side by side
    changed, places = np.delete(rows, 3, axis=0), np.delete(blocks.raw_places, 3)
    changed[7] += 2.0
    after = family.fit_blocks(RowBlocks(changed, places, blocks.blocks))
    untouched = ~np.isin(np.arange(blocks.blocks), [blocks.raw_places[3], places[7]])
    assert np.array_equal(before[untouched], after[untouched])
    assert (before != after)[~untouched].any(axis=1).all()
    assert np.isfinite(before).all()


@pytest.mark.parametrize(("family", "rows"), EVERY, ids=named)
def test_absurd_rows_neither_raise_nor_warn(family: Family, rows: Floats) -> None:
    nasty = np.array([np.inf, -np.inf, 1e308, -1e308, 1e-308, 0.0, -0.0, 1.0, 0.5, -3.0, 2.0**60])
    pairs = itertools.product(nasty, repeat=rows.shape[1])
    absurd = np.array(list(itertools.islice(pairs, 0, 2000)))
    shuffled = generator().permutation(np.concatenate([absurd, rows[:50]]))
    for blocks in (1, 7, 300, 4000):
        estimates = family.fit_blocks(RowBlocks(shuffled, generator().integers(blocks, size=len(shuffled)), blocks))
        assert estimates.shape == (blocks, len(family.parameters))
        assert np.array_equal(np.isnan(estimates).any(axis=1), np.isnan(estimates).all(axis=1))
        assert not np.isinf(estimates).any()


@pytest.mark.parametrize(("family", "rows"), EVERY, ids=named)
def test_blocks_without_rows_have_no_estimate(family: Family, rows: Floats) -> None:
    assert np.isnan(family.fit_blocks(RowBlocks(rows[:0], np.zeros(0, dtype=np.int64), 3))).all()
    estimates = family.fit_blocks(RowBlocks(rows, np.ones(len(rows), dtype=np.int64), 3))
    assert np.isnan(estimates[[0, 2]]).all()
    assert np.isfinite(estimates[1]).all()


@pytest.mark.parametrize(("family", "rows"), EVERY, ids=named)
def test_rows_with_infinities_are_left_out(family: Family, rows: Floats) -> None:
    spoiled = np.insert(rows, [5, 17], np.inf, axis=0)
    spoiled[5] = -np.inf
    places = np.arange(len(rows)) % 10
    more = np.insert(places, [5, 17], [3, 4])
    assert np.array_equal(family.fit_blocks(RowBlocks(rows, places, 10)), family.fit_blocks(RowBlocks(spoiled, more, 10)))


@pytest.mark.parametrize(("family", "rows"), EVERY, ids=named)
def test_names_and_ranges_go_with_the_parameters(family: Family, rows: Floats) -> None:
    estimate = family.fit_blocks(RowBlocks(rows, np.zeros(len(rows), dtype=np.int64), 1))[0]
    assert len(set(family.parameters)) == len(family.parameters) == len(family.space) == len(estimate)
    assert all(low < value < high for value, (low, high) in zip(estimate, family.space, strict=True))
    assert family.shaped(estimate)


# smooth families


@pytest.mark.parametrize(("family", "theta"), SMOOTH, ids=named)
def test_scores_have_mean_zero_and_the_information_as_covariance(family: SmoothFamily, theta: tuple[float, ...]) -> None:
    place = np.array(theta)
    scores = family.scores(family.sample(place, 200_000, generator(4)), place)
    information = family.information(place)
    deviations = np.sqrt(np.diag(information))
    assert np.abs(scores.mean(axis=0) / deviations).max() < 5 / np.sqrt(200_000)
    assert np.abs((scores.T @ scores / 200_000 - information) / np.outer(deviations, deviations)).max() < 0.03
    assert np.linalg.eigvalsh(information).min() > 0


def log_density(family: Family, row: Floats, theta: Floats) -> float:
    """The log density of one row, as scipy has it."""
    shaped = family.shaped(theta)
    match family:
        case Poisson():
            return float(stats.poisson.logpmf(row[0], *theta))
        case Binomial():
            return float(stats.binom.logpmf(row[0], family.trials, *theta))
        case NegativeBinomial():
            return float(stats.nbinom.logpmf(row[0], shaped["r"], shaped["p"]))
        case MultivariateNormal():
            return float(stats.multivariate_normal.logpdf(row, shaped["mean"], shaped["cov"]))
    return float(np.log(np.sum(shaped["weights"] * stats.norm.pdf(row[0], shaped["means"], shaped["stds"]))))


@pytest.mark.parametrize(("family", "theta"), SMOOTH, ids=named)
def test_scores_are_gradients_of_the_log_density(family: SmoothFamily, theta: tuple[float, ...]) -> None:
    place = np.array(theta)
    for row in family.sample(place, 6, generator(5)):
        gradient = optimize.approx_fprime(place, lambda at, row=row: log_density(family, row, at), 1e-6)
        assert family.scores(row[None, :], place)[0] == pytest.approx(gradient, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize(("family", "theta"), SMOOTH, ids=named)
def test_rows_that_cannot_be_have_no_score(family: SmoothFamily, theta: tuple[float, ...]) -> None:
    columns = family.sample(np.array(theta), 1, generator()).shape[1]
    assert (family.scores(np.full((1, columns), np.inf), np.array(theta)) == 0).all()
    if family.name.startswith(("poisson", "binomial", "negative")):
        assert (family.scores(np.array([[0.5], [-1.0], [1e300]]), np.array(theta)) == 0).all()


@pytest.mark.parametrize(("family", "theta"), SMOOTH, ids=named)
def test_averages_of_blocks_come_close(family: SmoothFamily, theta: tuple[float, ...]) -> None:
    place, size = np.array(theta), 300 if isinstance(family, NormalMixture) else 40
    estimates = family.fit_blocks(blocks_of(family.sample(place, 60_000, generator(6)), size))
    deviations = np.sqrt(np.diag(np.linalg.inv(family.information(place))) / 60_000)
    assert np.abs((estimates.mean(axis=0) - place) / deviations).max() < 6


# counts


@pytest.mark.parametrize(("family", "theta"), COUNTS, ids=named)
def test_the_distribution_is_the_one_of_scipy(family: LineFamily, theta: tuple[float, ...]) -> None:
    points = np.array([-np.inf, -1.0, -1e-9, 0.0, 0.5, 1.0, 4.0, 11.0, 12.0, 13.0, 40.0, 1e300, np.inf])
    laws = {"poisson": stats.poisson(3.5), "binomial(trials=12)": stats.binom(12, 0.3)}
    law = laws.get(family.name, stats.nbinom(1 / 0.6, 1 / (1 + 0.6 * 4.0)))
    assert family.distribution(points, np.array(theta)) == pytest.approx(law.cdf(points), abs=1e-12)


@pytest.mark.parametrize(("family", "theta"), COUNTS, ids=named)
@pytest.mark.parametrize("shrink", [0.05, 0.3, 1.0])
def test_guesses_from_quartiles_are_within_reach(family: LineFamily, theta: tuple[float, ...], shrink: float) -> None:
    place = np.array([theta[0] * shrink, *theta[1:]])
    rows = family.sample(place, 4001, generator(7))[:, 0]
    guess = family.guess({share: float(np.quantile(rows, share)) for share in (0.25, 0.5, 0.75)})
    assert place[0] / 3 - 0.1 < guess[0] < place[0] * 3 + 0.1
    assert place[1:] == pytest.approx(guess[1:], rel=3.0)


@pytest.mark.parametrize(("family", "theta"), COUNTS, ids=named)
def test_guesses_from_absurd_quartiles_lie_in_the_space(family: LineFamily, theta: tuple[float, ...]) -> None:
    for quartiles in itertools.product([np.nan, -np.inf, 0.0, 3.3, 1e300], repeat=3):
        guess = family.guess(dict(zip((0.25, 0.5, 0.75), quartiles, strict=True)))
        assert all(low < value < high for value, (low, high) in zip(guess, family.space, strict=True))


def test_counts_that_cannot_be_are_left_out() -> None:
    rows = np.array([[1.0], [2.0], [0.5], [-1.0], [7.0], [np.inf]])
    places = np.zeros(6, dtype=np.int64)
    assert Poisson().fit_blocks(RowBlocks(rows, places, 1))[0, 0] == pytest.approx(10 / 3)
    assert Binomial(4).fit_blocks(RowBlocks(rows, places, 1))[0, 0] == pytest.approx(1.5 / 4)
    assert Poisson().fit_blocks(RowBlocks(np.zeros((6, 1)), places, 1))[0, 0] == 0


@pytest.mark.parametrize("theta", [(4.0, 0.6), (0.7, 2.0), (300.0, 0.01), (2000.0, 1.0)])
def test_dispersions_maximise_the_adjusted_likelihood(theta: tuple[float, float]) -> None:
    rows = NegativeBinomial().sample(np.array(theta), 400, generator(11))
    mean, dispersion = NegativeBinomial().fit_blocks(RowBlocks(rows, np.zeros(400, dtype=np.int64), 1))[0]
    assert mean == pytest.approx(rows.mean())

    def loss(log_dispersion: float) -> float:
        c = np.exp(log_dispersion)
        likelihood = stats.nbinom.logpmf(rows[:, 0], 1 / c, 1 / (1 + c * mean)).sum()
        return float(-likelihood - np.log1p(c * mean) / 2)

    best = optimize.minimize_scalar(loss, bounds=(np.log(theta[1]) - 3, np.log(theta[1]) + 3), method="bounded")
    assert dispersion == pytest.approx(np.exp(best.x), rel=1e-3)


def test_counts_that_spread_like_poisson_ones_have_dispersions_around_zero() -> None:
    rows = Poisson().sample(np.array([6.0]), 30_000, generator(12))
    dispersions = NegativeBinomial().fit_blocks(blocks_of(rows, 30))[:, 1]
    assert (dispersions < 0).mean() > 0.3
    assert abs(dispersions.mean()) < 4 * dispersions.std() / np.sqrt(len(dispersions))


def test_dispersions_far_below_zero_are_held() -> None:
    estimates = NegativeBinomial().fit_blocks(RowBlocks(np.full((20, 1), 5.0), np.zeros(20, dtype=np.int64), 1))
    assert estimates[0, 0] == 5.0
    assert -0.2 < estimates[0, 1] < 0


# several columns


def test_covariances_are_those_of_numpy() -> None:
    family = MultivariateNormal(3)
    rows = family.sample(np.array(SMOOTH[3][1]), 500, generator(13)) + 1e6
    shaped = family.shaped(family.fit_blocks(RowBlocks(rows, np.zeros(500, dtype=np.int64), 1))[0])
    assert shaped["mean"] == pytest.approx(rows.mean(axis=0), rel=1e-14)
    assert shaped["cov"] == pytest.approx(np.cov(rows.T), rel=1e-9)


def test_noisy_products_are_solved_by_a_covariance_matrix() -> None:
    family = MultivariateNormal(2)
    solved = family.shaped(family.solve(np.array([1.0, 2.0, 2.0, 5.0, 5.0])))
    assert solved["mean"] == pytest.approx([1.0, 2.0])
    assert np.linalg.eigvalsh(solved["cov"]).min() > 0
    assert np.linalg.eigvalsh(nearest_covariance(np.zeros((2, 2)))).min() > 0


@pytest.mark.parametrize(
    ("family", "rows"),
    [case for case in EVERY if isinstance(case[0], Poisson | Binomial | MultivariateNormal | Linear)],
    ids=named,
)
def test_means_of_statistics_solve_to_the_estimate(family: ExponentialFamily, rows: Floats) -> None:
    estimate = family.fit_blocks(RowBlocks(rows, np.zeros(len(rows), dtype=np.int64), 1))[0]
    assert family.solve(family.statistics(rows).mean(axis=0)) == pytest.approx(estimate, rel=2e-3, abs=2e-3)
    assert np.isnan(family.statistics(np.full((1, rows.shape[1]), np.inf))).all()


# mixtures


def test_mixtures_agree_with_scikit_learn() -> None:
    family = NormalMixture(3)
    rows = family.sample(np.array([0.2, 0.5, -5.0, 1.0, 9.0, 1.0, 0.7, 2.0]), 2000, generator(14))
    shaped = family.shaped(family.fit_blocks(RowBlocks(rows, np.zeros(2000, dtype=np.int64), 1))[0])
    theirs = GaussianMixture(3, tol=1e-9, max_iter=2000, random_state=0).fit(rows)
    order = np.argsort(theirs.means_[:, 0])
    assert shaped["weights"] == pytest.approx(theirs.weights_[order], abs=1e-3)
    assert shaped["means"] == pytest.approx(theirs.means_[order, 0], abs=3e-3)
    assert shaped["stds"] == pytest.approx(np.sqrt(theirs.covariances_[order, 0, 0]), abs=3e-3)


def test_a_component_does_not_close_in_on_one_value() -> None:
    rows = np.concatenate([np.zeros(40), generator(15).standard_normal(60)])[:, None]
    estimate = NormalMixture(2).fit_blocks(RowBlocks(rows, np.zeros(100, dtype=np.int64), 1))[0]
    assert estimate[-2:].min() > 0.005


def test_weights_of_a_mixture_sum_to_one() -> None:
    shaped = NormalMixture(3).shaped(np.array([0.7, 0.6, 0.0, 1.0, 2.0, 1.0, 1.0, 1.0]))
    assert shaped["weights"].sum() == pytest.approx(1.0)
    assert shaped["weights"].min() > 0


# regressions


def test_lines_are_those_of_least_squares() -> None:
    rows = regression_rows(Linear(2), 200)
    design = np.column_stack([np.ones(200), rows[:, :2]])
    coefficients, squares, _, _ = np.linalg.lstsq(design, rows[:, 2])
    estimate = Linear(2).fit_blocks(RowBlocks(rows, np.zeros(200, dtype=np.int64), 1))[0]
    assert estimate[:3] == pytest.approx(coefficients, rel=1e-10)
    assert estimate[3] == pytest.approx(np.sqrt(squares[0] / 197) * (1 + 1 / (4 * 197)), rel=1e-4)


def firth_losses(family: Family, rows: Floats, coefficients: Floats) -> float:
    """The negative log likelihood less half the log determinant of the information."""
    design = np.column_stack([np.ones(len(rows)), rows[:, :-1]])
    places = design @ coefficients
    if family.name == "logistic":
        fitted = 1 / (1 + np.exp(-places))
        weights, likelihood = fitted * (1 - fitted), rows[:, -1] @ places - np.logaddexp(0, places).sum()
    else:
        weights, likelihood = np.exp(places), rows[:, -1] @ places - np.exp(places).sum()
    return float(-likelihood - np.linalg.slogdet(design.T @ (design * weights[:, None]))[1] / 2)


@pytest.mark.parametrize("family", REGRESSIONS[1:], ids=named)
def test_coefficients_maximise_the_penalised_likelihood(family: Family) -> None:
    rows = regression_rows(family, 60)
    best = optimize.minimize(lambda at: firth_losses(family, rows, at), np.zeros(3), method="BFGS", options={"gtol": 1e-6})
    estimate = family.fit_blocks(RowBlocks(rows, np.zeros(60, dtype=np.int64), 1))[0]
    assert estimate == pytest.approx(best.x, abs=1e-4)


def test_logistic_coefficients_of_many_rows_agree_with_scikit_learn() -> None:
    rows = regression_rows(Logistic(2), 20_000)
    theirs = LogisticRegression(penalty=None, solver="newton-cholesky").fit(rows[:, :2], rows[:, 2])
    shaped = Logistic(2).shaped(Logistic(2).fit_blocks(RowBlocks(rows, np.zeros(20_000, dtype=np.int64), 1))[0])
    assert shaped["intercept"] == pytest.approx(theirs.intercept_[0], abs=2e-3)
    assert shaped["coef"] == pytest.approx(theirs.coef_[0], abs=2e-3)


@pytest.mark.parametrize("family", REGRESSIONS, ids=named)
def test_averages_of_small_blocks_lie_on_the_line(family: Family) -> None:
    estimates = family.fit_blocks(blocks_of(regression_rows(family, 60_000), 40))
    line = np.array([*LINE, 2.0][: len(family.parameters)]) / (2 if family.name == "poisson_regression" else 1)
    assert np.abs((estimates.mean(axis=0) - line) / estimates.std(axis=0)).max() * np.sqrt(len(estimates)) < 5


def test_separated_outcomes_have_finite_coefficients() -> None:
    columns = features(50)
    rows = np.column_stack([columns, columns[:, 0] > 0]).astype(float)
    estimate = Logistic(2).fit_blocks(RowBlocks(rows, np.zeros(50, dtype=np.int64), 1))[0]
    assert np.isfinite(estimate).all()
    assert estimate[1] > 2


@pytest.mark.parametrize("family", REGRESSIONS, ids=named)
def test_collinear_features_have_no_coefficients(family: Family) -> None:
    rows = regression_rows(family, 50)
    rows[:, 1] = 3 - 2 * rows[:, 0]
    constant = np.where([True, False, False], 4.0, regression_rows(family, 50))
    both = RowBlocks(np.concatenate([rows, constant]), np.repeat([0, 1], 50), 2)
    assert np.isnan(family.fit_blocks(both)).all()
