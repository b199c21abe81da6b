"""Any distribution of scipy, and any model with a log-likelihood: parameters, fits, scores, guesses, the jackknife."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import polygamma

import dpstats as dp
from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.likelihood.fit import fit_of
from dpstats.statistics.likelihood.maximiser import maximiser
from dpstats.statistics.likelihood.scipy_family import ScipyFamily, SmoothScipyFamily, scipy_family
from dpstats.statistics.likelihood.single_blocks import jackknifed
from dpstats.statistics.likelihood.user_model import LikelihoodModel

LINE = ((-math.inf, math.inf),)
POSITIVE = ((0.0, math.inf),)
CASES: list[tuple[str, dict[str, float], dict[str, float]]] = [
    ("weibull_min", {"floc": 0}, {"c": 1.7, "loc": 0, "scale": 3}),
    ("gumbel_r", {}, {"loc": 5, "scale": 2}),
    ("genextreme", {}, {"c": -0.1, "loc": 5, "scale": 2}),
    ("beta", {"floc": 0, "fscale": 1}, {"a": 2, "b": 3, "loc": 0, "scale": 1}),
    ("geom", {}, {"p": 0.3}),
    ("nbinom", {}, {"n": 3.3, "p": 0.3}),
]


def smooth(name: Any, fixed: dict[str, float] | None = None) -> SmoothScipyFamily:
    family = scipy_family(name, fixed, workers=0)
    assert isinstance(family, SmoothScipyFamily)
    return family


def blocks_of(rows: Any, blocks: int) -> RowBlocks:
    table = np.asarray(rows, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    return RowBlocks(table, np.arange(len(table)) % blocks, blocks)


def laplace(x: Floats, mean: float, scale: float) -> Floats:
    logs: Floats = -np.log(2 * scale) - abs(x - mean) / scale
    return logs


def laplace_start(x: Floats) -> tuple[float, float]:
    return float(np.median(x)), float(x.std())


LAPLACE = LikelihoodModel(("mean", "scale"), laplace, laplace_start, {"scale": (0, None)}, workers=0)


# the jackknife


def test_the_jackknife_takes_a_bias_of_one_over_t_off_exactly() -> None:
    rows = np.random.default_rng(1).normal(size=20)

    def biased(part: Floats) -> Floats:
        return np.array([part.mean() + 7 / len(part)])

    assert jackknifed(biased, rows, LINE)[0] == pytest.approx(rows.mean())


@pytest.mark.parametrize("groups", [2, 3, 4])
def test_a_bias_of_the_second_order_turns_round_as_it_is_said(groups: int) -> None:
    rows = np.zeros(12)
    freed = jackknifed(lambda part: np.array([5 / len(part) ** 2]), rows, LINE, groups)
    assert freed[0] == pytest.approx(-5 / 144 * groups / (groups - 1))


def test_with_as_many_groups_as_rows_the_variance_is_unbiased() -> None:
    rows = np.random.default_rng(2).normal(size=7)
    assert jackknifed(lambda part: np.array([part.var()]), rows, POSITIVE, 100)[0] == pytest.approx(rows.var(ddof=1))


def test_rows_in_ascending_order_are_spread_over_the_groups() -> None:
    rows = np.arange(400.0)
    freed = jackknifed(lambda part: np.array([part.std()]), rows, POSITIVE)
    assert freed[0] == pytest.approx(rows.std(), rel=0.01)


def test_the_plain_estimate_stands_where_a_part_fails_or_the_freed_one_leaves_the_space() -> None:
    rows = np.arange(8.0)

    def needs_all(part: Floats) -> Floats:
        if len(part) < 8:
            raise ArithmeticError
        return np.array([3.0])

    assert jackknifed(needs_all, rows, LINE)[0] == 3.0
    assert jackknifed(lambda part: np.array([3.0 if len(part) == 8 else np.nan]), rows, LINE)[0] == 3.0
    assert jackknifed(lambda part: np.array([3.0 if len(part) == 8 else 10.0]), rows, POSITIVE)[0] == 3.0
    assert jackknifed(lambda part: np.array([3.0]), rows[:1], LINE)[0] == 3.0


# the maximiser


@pytest.mark.parametrize("start", [(1.0, 1.0), (900.0, 3.0), (-5e4, 1e-3)])
def test_a_smooth_maximum_is_found_from_near_and_from_far(start: tuple[float, float]) -> None:
    climber = maximiser(((-math.inf, math.inf), (0.0, math.inf)))

    def normal(theta: Floats) -> float:
        return float(-np.log(theta[1]) - ((1000 - theta[0]) ** 2 + 25) / (2 * theta[1] ** 2))

    assert climber.maximum(normal, np.array(start)) == pytest.approx([1000, 5], rel=1e-4)


@pytest.mark.parametrize("seed", [130, 180])  # climbs stopped early on these
def test_a_maximum_at_a_kink_is_found_to_digits_that_every_machine_gives(seed: int) -> None:
    rows = np.random.default_rng(seed).laplace(3, 2, 101)

    def laplace(theta: Floats) -> float:
        return float(np.mean(-np.log(2 * theta[1]) - abs(rows - theta[0]) / theta[1]))

    climber = maximiser(((-math.inf, math.inf), (0.0, math.inf)))
    _, scale = climber.maximum(laplace, np.array([np.median(rows), rows.std()]))
    assert scale == pytest.approx(np.mean(abs(rows - np.median(rows))), abs=5e-6)


def test_a_function_that_is_no_number_at_the_start_has_no_maximum() -> None:
    assert np.isnan(maximiser(LINE).maximum(lambda theta: math.nan, np.array([1.0]))).all()


# which parameters there are


def test_parameters_are_those_of_scipy_without_fixed_ones() -> None:
    assert scipy_family("weibull_min").parameters == ("c", "loc", "scale")
    family = scipy_family(stats.weibull_min, {"floc": 0, "f0": 2})
    assert (family.parameters, family.name) == (("scale",), "scipy.weibull_min(fc=2, floc=0)")
    assert scipy_family("scipy.gamma", {"fix_a": 2, "fscale": 1}).parameters == ("loc",)
    assert (scipy_family("geom").parameters, scipy_family("geom").name) == (("p",), "scipy.geom")
    assert scipy_family("norm").shaped(np.array([1.0, 2.0])) == {"loc": 1.0, "scale": 2.0}


def test_the_space_is_found_by_trying_public_numbers() -> None:
    assert scipy_family("nbinom").space == ((0, math.inf), (0, 1))
    assert scipy_family("genextreme").space == ((-math.inf, math.inf), (-math.inf, math.inf), (0, math.inf))
    assert scipy_family("truncnorm", {"floc": 0, "fscale": 1}).space == ((-math.inf, math.inf),) * 2  # which hang on each other


def test_laws_whose_support_moves_have_no_scores() -> None:
    for name in ("uniform", "weibull_min", "expon", "pareto"):
        assert not hasattr(scipy_family(name), "scores"), name
    for name in ("weibull_min", "expon", "genpareto"):
        assert hasattr(scipy_family(name, {"floc": 0}), "scores"), name
    assert hasattr(scipy_family("genextreme"), "scores")


def test_complaints_say_what_to_do() -> None:
    with pytest.raises(dp.UnknownNameError, match="no distribution of the name 'gama'"):
        scipy_family("gama")
    with pytest.raises(dp.UnknownNameError, match="no distribution"):
        scipy_family("describe")
    with pytest.raises(dp.InvalidParameterError, match="without brackets"):
        scipy_family(stats.gumbel_r())
    with pytest.raises(dp.UnknownNameError, match="it has fc, floc, fscale"):
        scipy_family("weibull_min", {"loc": 0})
    with pytest.raises(dp.InvalidParameterError, match="nothing to estimate"):
        scipy_family("norm", {"floc": 0, "fscale": 1})
    with pytest.raises(dp.InvalidParameterError, match="above 0"):
        scipy_family("norm", {"fscale": -1})
    with pytest.raises(dp.InvalidParameterError, match=r"whole numbers for n.*fn=10"):
        scipy_family("binom")
    with pytest.raises(dp.InvalidParameterError, match="no law of weibull_min"):
        scipy_family("weibull_min", {"fc": -1})
    assert scipy_family("binom", {"fn": 10}).parameters == ("p",)


@pytest.mark.parametrize(
    ("name", "fixed"),
    [
        ("zipf", {}),
        ("logser", {}),
        ("betanbinom", {"fn": 10}),
        ("betabinom", {"fn": 1e6}),
        ("zipfian", {"fn": 1e9}),
        ("nchypergeom_fisher", {"fM": 5000, "fn": 2500, "fN": 1000}),
    ],
)
def test_laws_that_scipy_adds_up_without_end_are_refused(name: str, fixed: dict[str, float]) -> None:
    with pytest.raises(dp.InvalidParameterError, match=f"adds up {name} number by number.*at most 10"):
        scipy_family(name, fixed)


def test_laws_that_scipy_adds_up_over_few_numbers_are_not_refused() -> None:
    assert scipy_family("betabinom", {"fn": 20}).parameters == ("a", "b")
    assert scipy_family("zipfian", {"fn": 100}).parameters == ("a",)


# fits of blocks


@pytest.mark.parametrize(("name", "fixed", "true"), CASES)
def test_estimates_of_blocks_are_about_right(name: str, fixed: dict[str, float], true: dict[str, float]) -> None:
    family = smooth(name, fixed)
    theta = np.array([true[parameter] for parameter in family.parameters])
    blocks, each = 10, 300
    rows = family.sample(theta, blocks * each, np.random.default_rng(3))
    raw_estimates = family.fit_blocks(blocks_of(rows, blocks))
    errors = np.sqrt(np.diag(np.linalg.inv(family.information(theta))) / (blocks * each))
    assert (np.abs(raw_estimates.mean(axis=0) - theta) < 5 * errors).all()
    assert (raw_estimates.std(axis=0) < 3 * errors * math.sqrt(blocks)).all()


def test_before_the_jackknife_an_estimate_is_that_of_scipy() -> None:
    rows = stats.weibull_min.rvs(1.7, scale=3, size=80, random_state=4)
    family = smooth("weibull_min", {"floc": 0})
    raw_whole, *raw_parts = (
        np.array(stats.weibull_min.fit(part, floc=0))[[0, 2]]
        for part in (rows, *(rows[np.arange(80) % 4 != place] for place in range(4)))
    )
    raw_freed = 4 * raw_whole - 3 * np.mean(raw_parts, axis=0)
    assert family.fit_blocks(blocks_of(rows, 1))[0] == pytest.approx(raw_freed, rel=2e-3)


def test_the_jackknife_takes_off_the_bias_that_cox_and_snell_have() -> None:
    family = smooth("gamma", {"floc": 0, "fscale": 1})
    blocks, each = 80, 20
    rows = family.sample(np.array([0.5]), blocks * each, np.random.default_rng(5))[:, 0]
    raw_plain = [stats.gamma.fit(rows[place::blocks], floc=0, fscale=1)[0] for place in range(blocks)]
    raw_taken = np.array(raw_plain) - family.fit_blocks(blocks_of(rows, blocks))[:, 0]
    bias = -polygamma(2, 0.5) / (2 * each * polygamma(1, 0.5) ** 2)
    assert raw_taken.mean() == pytest.approx(bias, rel=0.35)


def test_rows_that_cannot_come_from_the_law_are_left_out() -> None:
    good = stats.geom.rvs(0.3, size=50, random_state=6).astype(float)
    family = smooth("geom")
    bad = np.array([-1.0, 0.0, 2.5, math.inf, -math.inf])
    assert family.fit_blocks(blocks_of(np.r_[good, bad], 1)).tolist() == family.fit_blocks(blocks_of(good, 1)).tolist()
    weibull = smooth("weibull_min", {"floc": 0})
    assert weibull.fit_blocks(blocks_of(np.r_[good, bad[:2]], 1)).tolist() == weibull.fit_blocks(blocks_of(good, 1)).tolist()


@pytest.mark.parametrize("name", ["gumbel_r", "uniform", "geom", "t"])
def test_blocks_without_an_estimate_are_nan_and_nothing_warns(name: str) -> None:
    family = scipy_family(name, workers=0)
    rows = np.r_[1.0, 2.0, 3.0, 3.0, 3.0, 3.0, 3.0, math.inf, -math.inf]
    places = np.array([1, 2, 2, 3, 3, 3, 3, 4, 4])
    raw_estimates = family.fit_blocks(RowBlocks(rows[:, None], places, 5))
    empty = [0, 1, 4] if name == "geom" else [0, 1, 3, 4]
    assert np.isnan(raw_estimates[empty]).all()
    assert (np.isnan(raw_estimates).any(axis=1) == np.isnan(raw_estimates).all(axis=1)).all()


def test_the_same_estimates_come_from_worker_processes_and_no_block_knows_another() -> None:
    rows = stats.gumbel_r.rvs(5, 2, size=120, random_state=7)
    here = scipy_family("gumbel_r", workers=0)
    raw_estimates = here.fit_blocks(blocks_of(rows, 4))
    assert replace(here, workers=1).fit_blocks(blocks_of(rows, 4)).tolist() == raw_estimates.tolist()
    changed = rows.copy()
    changed[2::4] = 1e9 * np.arange(30)
    raw_others = here.fit_blocks(blocks_of(changed, 4))
    assert raw_others[[0, 1, 3]].tolist() == raw_estimates[[0, 1, 3]].tolist()
    assert raw_others[2].tolist() != raw_estimates[2].tolist()


# scores, information, guesses


@pytest.mark.parametrize(("name", "fixed", "true"), CASES)
def test_scores_are_0_in_the_mean_and_information_is_their_covariance(
    name: str, fixed: dict[str, float], true: dict[str, float]
) -> None:
    family = smooth(name, fixed)
    theta = np.array([true[parameter] for parameter in family.parameters])
    scores = family.scores(family.sample(theta, 40_000, np.random.default_rng(8)), theta)
    deviations = scores.std(axis=0)
    assert (np.abs(scores.mean(axis=0)) < 5 * deviations / 200).all()
    scaled = family.information(theta) / np.outer(deviations, deviations)
    assert scaled == pytest.approx(np.corrcoef(scores.T).reshape(scaled.shape), abs=0.1)


def test_scores_of_a_normal_law_are_those_of_the_book() -> None:
    rows = np.array([[1.0], [5.0], [9.5]])
    z = (rows[:, 0] - 5) / 2
    assert smooth("norm").scores(rows, np.array([5.0, 2.0])) == pytest.approx(np.stack([z / 2, (z**2 - 1) / 2], axis=1), abs=1e-6)
    assert smooth("norm").information(np.array([5.0, 2.0])) == pytest.approx(np.diag([0.25, 0.5]), abs=1e-5)


def test_a_row_that_cannot_come_from_the_law_has_no_score() -> None:
    rows = np.array([[-1.0], [math.inf], [math.nan], [2.0]])
    scores = smooth("weibull_min", {"floc": 0}).scores(rows, np.array([2.0, 3.0]))
    assert (scores[:3] == 0).all()
    assert (scores[3] != 0).all()


def test_a_row_that_scipy_raises_for_costs_no_other_row_its_score() -> None:
    family, theta = smooth("nct", {"floc": 0, "fscale": 1}), np.array([0.8, 0.5])
    rows, bad = family.sample(theta, 101, np.random.default_rng(11)), np.array([[1e308], [-1e308]])
    with pytest.raises(OverflowError):
        family.law.law.logpdf(bad[:, 0], **family.law.arguments(theta))
    alone = family.scores(rows, theta)
    beside = family.scores(np.vstack([rows[:40], bad, rows[40:]]), theta)
    assert np.delete(beside, [40, 41], axis=0).tobytes() == alone.tobytes()
    assert (beside[40:42] == 0).all()
    assert (alone != 0).all()


@pytest.mark.parametrize(("name", "fixed", "true"), CASES)
def test_a_guess_has_about_the_quartiles_that_it_is_made_of(name: str, fixed: dict[str, float], true: dict[str, float]) -> None:
    family = smooth(name, fixed)
    law = getattr(stats, name)(**true)
    theta = family.guess({share: float(law.ppf(share)) for share in (0.25, 0.5, 0.75)})
    reached = family.distribution(law.ppf([0.25, 0.5, 0.75]), theta)
    assert reached == pytest.approx(law.cdf(law.ppf([0.25, 0.5, 0.75])), abs=0.12 if family.law.is_discrete else 0.02)


ABSURD = [
    (0.0, 0.0, 0.0),
    (math.inf, -math.inf, 0.0),
    (math.nan,) * 3,
    (3.0, 2.0, 1.0),
    (-1e308, 1e-300, 1e308),
    (-5.0, -4.0, -3.0),
]


@pytest.mark.parametrize("quantiles", ABSURD)
@pytest.mark.parametrize(("name", "fixed"), [(name, fixed) for name, fixed, _ in CASES])
def test_absurd_quantiles_give_something_in_the_space(name: str, fixed: dict[str, float], quantiles: tuple[float, ...]) -> None:
    family = smooth(name, fixed)
    theta = family.guess(dict(zip((0.25, 0.5, 0.75), quantiles, strict=True)))
    low, high = np.array(family.space).T
    assert (np.isfinite(theta) & (theta > low) & (theta < high)).all()


# models of one's own


def test_a_model_is_fitted_to_every_block() -> None:
    rows = np.random.default_rng(9).laplace(1000, 20, size=402)
    raw_plain = replace(LAPLACE, groups=1).fit_blocks(blocks_of(rows, 2))
    raw_parts = [rows[place::2] for place in range(2)]
    assert raw_plain[:, 0] == pytest.approx([np.median(part) for part in raw_parts], abs=0.01)
    assert raw_plain[:, 1] == pytest.approx([abs(part - np.median(part)).mean() for part in raw_parts], rel=1e-4)
    assert LAPLACE.fit_blocks(blocks_of(raw_parts[0], 1))[0] == pytest.approx(raw_plain[0], abs=3)
    released = fit_of(LAPLACE, raw_plain[0])
    assert released.parameters["scale"] == pytest.approx(raw_plain[0, 1], rel=1e-9)  # to ten digits


def test_a_model_may_return_the_sum_and_have_several_columns_and_a_fixed_start() -> None:
    generator = np.random.default_rng(10)
    x = generator.normal(size=400)
    table = np.stack([x, 3 * x - 1 + generator.normal(size=400)], axis=1)

    def line(rows: Floats, slope: float, intercept: float) -> float:
        return float(-np.square(rows[:, 1] - slope * rows[:, 0] - intercept).sum() / 2)

    model = LikelihoodModel(("slope", "intercept"), line, start=(0, 0), workers=1)
    raw_estimates = model.fit_blocks(blocks_of(table, 2))
    exact = [np.polyfit(table[place::2, 0], table[place::2, 1], 1) for place in range(2)]
    assert raw_estimates == pytest.approx(np.array(exact), abs=0.01)  # the jackknife shifts them a little
    assert raw_estimates.mean(axis=0) == pytest.approx([3, -1], abs=0.2)


@pytest.mark.parametrize("logs", [lambda x, a: x[:2], lambda x, a: "no", lambda x, a: math.nan, lambda x, a: 1 / 0])
def test_a_model_that_goes_wrong_costs_its_blocks_the_answer(logs: Any) -> None:
    model = LikelihoodModel(("a",), logs, start=[1.0], workers=0)
    assert np.isnan(model.fit_blocks(blocks_of(np.arange(9.0), 2))).all()


def test_starts_outside_the_space_and_empty_blocks_have_no_estimate() -> None:
    assert np.isnan(LAPLACE.fit_blocks(blocks_of(np.full(9, 2.0), 2))).all()  # their deviation is 0
    assert np.isnan(LAPLACE.fit_blocks(RowBlocks(np.zeros((0, 1)), np.zeros(0, dtype=np.int64), 2))).all()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"parameters": ()}, "different names"),
        ({"parameters": ("a", "a")}, "different names"),
        ({"log_likelihood": 3}, "must be a function"),
        ({"start": (1.0,)}, "a number for each parameter"),
        ({"start": (1.0, -1.0)}, "strictly inside its bounds"),
        ({"start": "ab"}, "a number for each parameter"),
        ({"bounds": [(0, 1)]}, "a pair for each of mean, scale"),
        ({"bounds": {"sd": (0, 1)}}, "'sd', which is no parameter: mean, scale"),
        ({"bounds": {"scale": (1, 0)}}, "bounds of scale"),
        ({"bounds": {"scale": 3}}, "bounds of scale"),
        ({"groups": 0}, "whole number"),
    ],
)
def test_a_wrong_model_is_refused_at_once(fields: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"parameters": ("mean", "scale"), "log_likelihood": laplace, "start": laplace_start, **fields}
    with pytest.raises(dp.InvalidParameterError, match=words):
        LikelihoodModel(**{"bounds": {"scale": (0, None)}, "workers": 0, **given})


def test_families_say_how_they_are_freed_of_bias() -> None:
    assert LAPLACE.bias_correction == scipy_family("norm").bias_correction == "jackknife by 4 groups of rows"
    assert replace(LAPLACE, groups=1).bias_correction == "none"
    assert isinstance(scipy_family("norm"), ScipyFamily)
