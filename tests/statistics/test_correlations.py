"""Covariance and correlation: near the exact ones, with intervals that cover, whatever the columns hold."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import dpstats as dp
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.registry import PURE_LOSS, ask, find_statistic
from dpstats.statistics import correlations
from dpstats.statistics.paired.associations import Association
from dpstats.statistics.paired.cuts import NOISE, QUIET, cut_for_products, cuts_for_products
from dpstats.statistics.universal import limits
from dpstats.statistics.universal.limits import Limits, Side
from dpstats.testing import seeded
from tests.statistics.tables import ugly_columns

KINDS = correlations.KINDS
PEERS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
RELATIONS = [relation.value for relation in Neighbors]
Floats = NDArray[np.float64]


def normal_pairs(rho: float, rows: int, seed: int) -> tuple[Floats, Floats]:
    first, second = np.random.default_rng(seed).standard_normal((2, rows))
    return first, rho * first + math.sqrt(1 - rho**2) * second


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("shape", ["normal", "uniform", "whole", "tied", "opposite"])
def test_at_a_huge_epsilon_they_are_those_of_scipy_and_numpy(shape: str, relation: str) -> None:
    x, y = normal_pairs(0.6, 3000, 4)
    if shape == "uniform":
        x, y = stats.norm.cdf(x), stats.norm.cdf(y)
    elif shape == "whole":
        x, y = np.round(2 * x + 30), np.round(9 * y)
    elif shape == "tied":
        x, y = np.round(x), (y > 0.5).astype(float)
    elif shape == "opposite":
        y = -np.exp(x / 2)
    for kind in KINDS:
        release = dp.correlation(x, y, kind, epsilon=10**6, neighbors=relation, rng=seeded(1))
        near = 0.02 if kind == "pearson" else 1e-5  # one row or so of either side is cut off
        assert release.value == pytest.approx(PEERS[kind](x, y).statistic, abs=near)
    release = dp.covariance(x, y, epsilon=10**6, neighbors=relation, rng=seeded(1))
    assert release.value == pytest.approx(np.cov(x, y)[0, 1], rel=0.05)


def test_cuts_go_further_out_only_where_noise_stays_small_beside_sampling_error() -> None:
    chance = np.random.default_rng(3)
    side = Side(250, Fraction(7, 10), Fraction(2), Fraction(10))
    for rows in (500, 5000):
        found = Limits(
            Fraction(0), replace(side, noisy_rows=rows // 2), replace(side, noisy_rows=rows // 2), rows, Fraction(1, 5)
        )
        for epsilon, widens in ((1, False), (100, True)):
            plain = cut_for_products(found, Fraction(epsilon))
            wide, other = cuts_for_products((found, found), Fraction(epsilon))
            assert wide == other
            assert (wide.high > plain.high, wide.low < plain.low) == (widens, widens)
            noise = float(wide.high - wide.low) ** 2 / 4 * NOISE / (rows * (epsilon - 0.4))
            assert not widens or noise <= 1.01 * QUIET * 0.49 / math.sqrt(rows)
    x = chance.lognormal(0, 0.9, 600)
    y = x * chance.lognormal(0, 0.5, 600)
    release = dp.covariance(x, y, epsilon=100, rng=seeded(2))
    assert abs(release.value - np.cov(x, y)[0, 1]) < (release.interval.high - release.interval.low) / 8


@pytest.mark.parametrize("rho", [-0.8, 0.3])
@pytest.mark.parametrize("kind", [*KINDS, "covariance"])
def test_at_an_ordinary_epsilon_they_are_near_the_truth_and_their_intervals_hold_it(kind: str, rho: float) -> None:
    truth = {"kendall": 2 / math.pi * math.asin(rho), "spearman": 6 / math.pi * math.asin(rho / 2)}.get(kind, rho)
    held, widths, errors = 0, [], []
    for seed in range(5):
        x, y = normal_pairs(rho, 5000, seed)
        if kind == "covariance":
            release = dp.covariance(10 * x, 100 + y, epsilon=1, rng=seeded(seed))
            value, low, high = (each / 10 for each in (release.value, release.interval.low, release.interval.high))
        else:
            release = dp.correlation(10 * x, 100 + y, kind, epsilon=1, rng=seeded(seed))
            value, low, high = release.value, release.interval.low, release.interval.high
        errors.append(abs(value - truth))
        assert low <= value <= high
        widths.append(high - low)
        held += low <= truth <= high
    assert held >= 4
    assert np.median(errors) < 0.06
    assert np.median(widths) < 0.3  # a single one may be wide: limits are sometimes drawn far out


@pytest.mark.parametrize("relation", RELATIONS)
def test_every_pair_of_ugly_columns_gets_a_finite_answer_inside_its_interval(relation: str) -> None:
    columns = ugly_columns()
    names = list(columns)
    for first, second in zip(names, names[3:] + names[:3], strict=True):
        rows = min(len(columns[first]), len(columns[second]), 400)
        x, y = columns[first][:rows], columns[second][:rows]
        answers = [dp.covariance(x, y, epsilon=1, neighbors=relation, rough=True, rng=seeded(2))]
        answers += [dp.correlation(x, y, kind, epsilon=1, neighbors=relation, rough=True, rng=seeded(2)) for kind in KINDS]
        for answer in answers:
            assert isinstance(answer, dp.Release)
            assert answer.interval is not None
            assert answer.interval.low <= answer.value <= answer.interval.high
            assert math.isfinite(answer.interval.low)
            assert math.isfinite(answer.interval.high)
        assert all(-1 <= answer.interval.low <= answer.interval.high <= 1 for answer in answers[1:])


def test_numbers_whose_scale_is_not_known_are_refused_and_products_that_no_float_holds_are_cut_off() -> None:
    x, y = normal_pairs(0.6, 4000, 1)
    for factor in (1e120, 1e200, 1e300):
        for ask_of in (dp.covariance, dp.correlation):
            assert "1e117" in ask_of(factor * (5 + x), factor * (5 + y), epsilon=1, rng=seeded(1)).reason
    release = dp.covariance(1e200 * (5 + x), 1e200 * (5 + x), method="clipped", epsilon=1, rng=seeded(1))
    assert 1e300 < release.value < math.inf
    assert math.isfinite(release.interval.high)


def test_columns_of_two_numbers_of_many_digits_have_a_covariance() -> None:
    held = answered = 0
    for seed in range(12):
        chance = np.random.default_rng(seed)
        first = chance.random(3000) < 0.8
        second = chance.random(3000) < np.where(first, 0.3, 0.7)
        x, y = np.where(first, 1 / 3, 1 / 7), np.where(second, math.log(2), math.log(3))
        size, truth = (1 / 3 - 1 / 7) * math.log(1.5), 0.16 * 0.4 * (1 / 3 - 1 / 7) * math.log(1.5)
        release = dp.covariance(x, y, epsilon=1, rng=seeded(seed))
        if isinstance(release, dp.Release):
            answered += 1
            assert release.interval.high - release.interval.low < size
            held += release.interval.low <= truth <= release.interval.high
    assert answered >= 11
    assert held >= answered - 1


def test_a_constant_column_has_no_covariance_and_any_correlation() -> None:
    x, _ = normal_pairs(0, 2000, 1)
    constant = np.full(2000, 12.5)
    release = dp.covariance(x, constant, method="clipped", epsilon=1, rng=seeded(1))
    assert (release.value, release.interval.low, release.interval.high) == (0, 0, 0)
    assert "constant" in dict(release.notes)
    assert "Noise hides how much" in dp.covariance(x, constant, epsilon=1, rng=seeded(1)).reason
    rough = dp.covariance(x, constant, epsilon=1, rough=True, rng=seeded(1))
    assert rough.interval.low <= rough.value == 0 <= rough.interval.high
    for kind in KINDS:
        answer = dp.correlation(x, constant, kind, epsilon=1, rough=True, rng=seeded(1))
        assert answer.interval.low < -0.9
        assert answer.interval.high > 0.9


def test_a_row_that_is_missing_in_one_column_is_left_out_of_both() -> None:
    x, y = normal_pairs(0.7, 2000, 3)
    holes_x = np.where(np.arange(2000) % 3 == 0, np.nan, x)
    holes_y = np.where(np.arange(2000) % 5 == 0, np.nan, 1000 * (np.arange(2000) % 3 == 0) + y)
    kept = ~(np.isnan(holes_x) | np.isnan(holes_y))
    for kind in KINDS:
        with_holes = dp.correlation(holes_x, holes_y, kind, epsilon=2, rng=seeded(4))
        assert with_holes.value == dp.correlation(x[kept], y[kept], kind, epsilon=2, rng=seeded(4)).value


def test_the_order_of_the_rows_does_not_matter() -> None:
    x, y = normal_pairs(0.4, 1500, 5)
    shuffled = np.random.default_rng(1).permutation(1500)
    for kind in KINDS:
        one = dp.correlation(x, y, kind, epsilon=1, rng=seeded(6))
        assert dp.correlation(x[shuffled], y[shuffled], kind, epsilon=1, rng=seeded(6)).value == one.value


def test_rank_correlations_do_not_ask_how_far_apart_rows_are() -> None:
    x, y = normal_pairs(0.4, 1000, 5)
    for kind in ("spearman", "kendall"):
        one = dp.correlation(x, y, kind, epsilon=1, rng=seeded(6))
        assert dp.correlation(np.exp(20 * x), y**3, kind, epsilon=1, rng=seeded(6)).value == one.value


@pytest.mark.parametrize("kind", ["Pearson", "tau", 3, None, ["pearson"]])
def test_a_kind_that_is_none_is_an_error_before_any_row_is_read(kind: object) -> None:
    with pytest.raises(dp.InvalidParameterError, match="kind must be 'pearson', 'spearman' or 'kendall'"):
        ask("correlation", kind, epsilon=1)


def test_the_question_names_the_kind_unless_it_is_the_usual_one() -> None:
    assert str(ask("correlation", epsilon=1, column=("income", "age"))) == "correlation(income, age)"
    assert str(ask("correlation", "kendall", epsilon=1, column=("income", "age"))) == "correlation(income, age, kendall)"


@pytest.mark.parametrize("kind", KINDS)
def test_the_level_of_the_interval_is_the_askers_and_none_is_made_where_none_is_wanted(kind: str) -> None:
    x, y = normal_pairs(0.3, 3000, 7)
    widths = []
    for level in (0.5, 0.9, 0.99):
        interval = dp.correlation(x, y, kind, epsilon=1, interval=level, rng=seeded(8)).interval
        assert interval.level == level
        widths.append(interval.high - interval.low)
    assert widths == sorted(widths)
    assert dp.correlation(x, y, kind, epsilon=1, interval=None, rng=seeded(8)).interval is None
    assert dp.covariance(x, y, epsilon=1, interval=None, rng=seeded(8)).interval is None


def test_what_limits_can_spend_leaves_something_for_the_cells() -> None:
    most = limits.ROWS_SHARE + limits.RECOUNT_SHARE
    most += sum(share.most for share in (limits.MIDDLE, limits.SIDE, limits.SCALE, limits.REACH))
    assert 0 < 2 * correlations.LIMITS_SHARE * most < 1


def test_the_loss_of_a_covariance_is_the_largest_over_what_limits_may_spend() -> None:
    least = correlations._LEAST_LIMITS * correlations.LIMITS_SHARE
    corners = [((1 - p - q) ** 2 + p**2 + q**2) / 2 for p, q in itertools.product((least, correlations.LIMITS_SHARE), repeat=2)]
    assert max(corners) == correlations.COVARIANCE_LOSS < PURE_LOSS
    assert find_statistic("covariance").method_for("clipped").loss == correlations.COVARIANCE_LOSS
    assert all(find_statistic(name).method_for("auto").loss == PURE_LOSS for name in ("covariance", "correlation"))


@pytest.mark.parametrize("relation", RELATIONS)
def test_limits_and_cells_together_spend_epsilon_and_half_of_it_where_a_row_may_change(
    relation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent: list[Fraction] = []

    def spying(name: str, price: Any) -> None:
        plain = getattr(correlations, name)

        def spy(*arguments: Any) -> Any:
            result = plain(*arguments)
            spent.append(price(arguments, result))
            return result

        monkeypatch.setattr(correlations, name, spy)

    spying("draw_limits", lambda arguments, found: found.spent)
    spying("release_products", lambda arguments, found: arguments[3])
    x, y = normal_pairs(0.3, 500, 9)
    for columns in ((x, y), (np.round(x), np.where(y > 2, y, 0.0)), (x[:30], y[:30])):
        spent.clear()
        dp.covariance(*columns, epsilon=2, neighbors=relation, rng=seeded(1))
        allowed = 2 if relation == Neighbors.ADD_REMOVE.value else 1
        assert sum(spent) == allowed if len(spent) == 3 else sum(spent) < allowed


def test_the_ends_of_an_interval_stop_at_one_and_are_nearer_on_that_side() -> None:
    association = Association(0.8, 200.0, lambda truth: (1 - truth**2) ** 2 / 200, 1e-4, 0.0)
    low, high = association.ends(0.95)
    assert high - 0.8 < 0.8 - low
    fisher = [math.tanh(math.atanh(0.8) + sign * 1.96 / math.sqrt(197)) for sign in (-1, 1)]
    assert (low, high) == pytest.approx(fisher, abs=0.02)
    assert Association(1.0, 20.0, lambda truth: 0.0, 0.01, 0.0).ends(0.95)[1] == 1.0
    assert Association(0.0, 5.0, lambda truth: 1.0, 1.0, 0.0).ends(0.95) == (-1.0, 1.0)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_cover_about_as_often_as_they_say(kind: str) -> None:
    covered, tries = 0, 150
    truth = {"kendall": 1 / 3, "spearman": 6 / math.pi * math.asin(1 / 4)}.get(kind, 0.5)
    for seed in range(tries):
        x, y = normal_pairs(0.5, 2000, seed)
        reply = dp.correlation(x, y, kind, epsilon=1, rng=seeded(seed))
        covered += isinstance(reply, dp.Release) and reply.interval.low <= truth <= reply.interval.high
    assert 0.9 * tries <= covered
