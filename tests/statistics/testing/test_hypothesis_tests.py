"""Hypothesis tests as they are asked: scipy's numbers without noise, their results, their parameters, their edges."""

from __future__ import annotations

import datetime
import json
import math
from typing import Any

import numpy as np
import pytest
import scipy.stats

import dpstats as dp
from dpstats.curator.archive import document_of, result_of
from dpstats.foundations.registry import find_statistic
from dpstats.statistics.testing.results import CountsResult, TestResult, p_text
from dpstats.testing import seeded
from tests.statistics.testing.columns import GROUPS, two_groups

HUGE = 1e6
LITTLE = 20
"""An epsilon at which the limits of the t tests still are what they are at usual ones."""
GENERATOR = np.random.default_rng(12)
ROWS = GENERATOR.normal(0.1, 1.0, 3000)
BY = two_groups(GENERATOR, 3000, 0.4)
MOVED = ROWS + 0.1 * (BY == "a")
COLOURS = np.where(GENERATOR.random(3000) < 0.3 + 0.04 * (BY == "a"), "red", "blue")
TESTS: dict[str, tuple[Any, ...]] = {
    "t_test": (ROWS,),
    "two_sample_t_test": (MOVED, BY, GROUPS),
    "sign_test": (ROWS,),
    "median_test": (MOVED, BY, GROUPS),
    "chi_square_test": (BY, COLOURS, GROUPS, ["red", "blue"]),
    "association_test": (BY, COLOURS),
    "goodness_of_fit_test": (BY, {"a": 0.4, "b": 0.6}),
    "ks_test": (ROWS,),
    "two_sample_ks_test": (MOVED, BY, GROUPS),
}


def ask(name: str, *data: Any, epsilon: float = 1.0, **keywords: Any) -> Any:
    if name == "association_test":
        keywords.setdefault("delta", 1e-6)
    return getattr(dp, name)(*(data or TESTS[name]), epsilon=epsilon, rng=seeded(3), **keywords)


def test_with_little_noise_the_t_statistic_and_its_estimate_are_scipys() -> None:
    known = scipy.stats.ttest_1samp(ROWS, 0.08)
    values = [dp.t_test(ROWS, 0.08, epsilon=LITTLE, rng=seeded(seed)).value for seed in range(5)]
    assert np.median([value.statistic for value in values]) == pytest.approx(known.statistic, abs=0.1)
    assert np.median([value.estimate for value in values]) == pytest.approx(np.mean(ROWS), abs=0.002)
    assert np.median([value.df for value in values]) == pytest.approx(2999, abs=1)
    assert 0.9 * known.pvalue < np.median([value.p_value for value in values]) < 1.6 * known.pvalue  # the clip is allowed for


def test_with_little_noise_welchs_statistic_is_scipys() -> None:
    first, second = MOVED[BY == "a"], MOVED[BY == "b"]
    known = scipy.stats.ttest_ind(first, second, equal_var=False)
    values = [dp.two_sample_t_test(MOVED, BY, GROUPS, epsilon=LITTLE, rng=seeded(seed)).value for seed in range(5)]
    assert np.median([value.statistic for value in values]) == pytest.approx(known.statistic, abs=0.1)
    assert np.median([value.estimate for value in values]) == pytest.approx(first.mean() - second.mean(), abs=0.004)
    assert np.median([value.df for value in values]) == pytest.approx(known.df, rel=0.05)
    assert values[0].rows == pytest.approx((len(first), len(second)), abs=3)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("median", [0, "0.1", 0.3])
def test_without_noise_the_sign_test_is_the_binomial_one(median: Any, alternative: str) -> None:
    above = int(np.sum(float(median) < ROWS))
    known = scipy.stats.binomtest(above, 3000, 0.5, alternative=alternative)
    value = ask("sign_test", ROWS, median, epsilon=HUGE, alternative=alternative).value
    assert value.p_value == pytest.approx(known.pvalue, rel=1e-6, abs=1e-15)
    assert value.statistic == above - 1500
    assert value.estimate == above / 3000


def test_without_noise_the_median_test_is_moods() -> None:
    known = scipy.stats.median_test(MOVED[BY == "a"], MOVED[BY == "b"], correction=False)
    value = ask("median_test", epsilon=HUGE).value
    assert value.statistic == pytest.approx(known.statistic, rel=0.05)
    assert value.p_value == pytest.approx(known.pvalue, abs=0.02)
    assert value.df == 1
    assert np.sum(value.counts) == 3000


def test_without_noise_the_chi_square_test_is_pearsons() -> None:
    table = [[np.sum((row == BY) & (column == COLOURS)) for column in ("red", "blue")] for row in GROUPS]
    known = scipy.stats.chi2_contingency(table, correction=False)
    value = ask("chi_square_test", epsilon=HUGE).value
    assert value.statistic == pytest.approx(known.statistic)
    assert value.p_value == pytest.approx(known.pvalue, abs=0.02)
    assert value.df == known.dof
    assert np.array(value.counts) == pytest.approx(np.array(table))
    assert np.array(value.expected) == pytest.approx(known.expected_freq)
    assert value.estimate == pytest.approx(math.sqrt(max(known.statistic - 1, 0) / 3000), abs=0.003)


def test_without_noise_labels_that_are_found_give_the_same_test_as_those_that_are_named() -> None:
    found, named = ask("association_test", epsilon=HUGE).value, ask("chi_square_test", epsilon=HUGE).value
    assert found.row_labels == ("a", "b")
    assert found.column_labels == ("blue", "red")
    assert found.statistic == pytest.approx(named.statistic)


def test_without_noise_goodness_of_fit_is_scipys() -> None:
    counts = [int(np.sum(group == BY)) for group in GROUPS]
    known = scipy.stats.chisquare(counts, [1200, 1800])
    value = ask("goodness_of_fit_test", epsilon=HUGE).value
    assert value.statistic == pytest.approx(known.statistic)
    assert value.p_value == pytest.approx(known.pvalue, abs=0.02)


@pytest.mark.parametrize(("name", "law"), [("normal", "norm"), ("logistic", "logistic"), ("uniform", "uniform")])
def test_without_noise_kolmogorovs_test_is_scipys(name: str, law: str) -> None:
    known = scipy.stats.kstest(ROWS, getattr(scipy.stats, law)(0.05, 0.9).cdf)
    value = ask("ks_test", ROWS, name, "0.05", "0.9", epsilon=HUGE).value
    assert value.statistic == pytest.approx(known.statistic, abs=1e-5)
    assert value.p_value == pytest.approx(known.pvalue, abs=0.01)


def test_without_noise_smirnovs_test_is_scipys() -> None:
    known = scipy.stats.ks_2samp(MOVED[BY == "a"], MOVED[BY == "b"])
    value = ask("two_sample_ks_test", epsilon=HUGE).value
    assert value.statistic == pytest.approx(known.statistic, abs=1e-5)
    assert value.p_value == pytest.approx(known.pvalue, abs=0.02)


@pytest.mark.parametrize("name", TESTS)
def test_a_result_reads_well_and_survives_the_archive(name: str) -> None:
    release = ask(name)
    value = release.value
    assert isinstance(value, TestResult)
    assert 0 < value.p_value <= 1
    assert value.pvalue == value.p_value
    assert str(value).startswith(f"{value.symbol} = ")
    assert ", p " in str(value)
    assert release.interval.low <= value.estimate <= release.interval.high
    document = json.loads(json.dumps(document_of(release)))
    again = result_of(document, find_statistic(name)).value
    assert again == value
    assert type(again) is type(value)
    json.loads(release.to_json())
    assert "p-value" in str(release.card())


@pytest.mark.parametrize("name", TESTS)
def test_a_seeded_test_repeats_itself_with_its_simulation(name: str) -> None:
    assert ask(name).value == ask(name).value


@pytest.mark.parametrize("name", TESTS)
def test_without_an_interval_there_is_none_and_nothing_else_changes(name: str) -> None:
    plain = ask(name, interval=None)
    assert plain.interval is None
    assert plain.value == ask(name).value
    wide, narrow = ask(name, interval=0.99).interval, ask(name, interval=0.8).interval
    assert wide.low <= narrow.low <= narrow.high <= wide.high


@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 1, 1e4])
@pytest.mark.parametrize("name", [name for name in TESTS if name != "association_test"])
def test_no_column_is_too_odd(name: str, epsilon: float, neighbors: str) -> None:
    columns: list[Any] = [
        [],
        [1.0],
        [7.25] * 60,
        [math.inf] * 30 + [-math.inf] * 30,
        list(1e300 * ROWS[:60]),
        list(1e-300 * ROWS[:60]),
        np.arange(2**62, 2**62 + 60),
        np.arange(60, dtype=np.float32),
        [None, math.nan] * 30,
    ]
    for rows in columns:
        by = ["a", "b"] * 30
        numeric = name.split("_")[0] not in ("chi", "goodness")
        data: tuple[Any, ...] = (rows if numeric else by[: len(rows)],)
        if len(find_statistic(name).reads) > 1:
            data = (*data, by[: len(rows)])
        parameters = TESTS[name][len(data) :]
        release = ask(name, *data, *parameters, epsilon=epsilon, neighbors=neighbors, rough=True)
        assert isinstance(release, dp.Release)
        assert 0 < release.value.p_value <= 1
        assert math.isfinite(release.value.estimate)
        assert release.interval.low <= release.value.estimate <= release.interval.high


def test_too_few_rows_or_no_spread_get_no_verdict_from_a_t_test() -> None:
    for rows in (ROWS[:50], np.full(5000, 3.0)):
        release = ask("t_test", rows, epsilon=1, rough=True)
        assert release.value.p_value == 1
        assert "allow no verdict" in str(release.card())


@pytest.mark.floors
def test_below_the_floor_a_t_test_gives_no_reply_and_says_what_one_takes() -> None:
    few = np.where(np.arange(len(ROWS)) < 12, "few", "many")
    replies = [ask("t_test", ROWS[:50], epsilon=1), ask("two_sample_t_test", ROWS, few, ["few", "many"], epsilon=1)]
    for reply in replies:
        assert isinstance(reply, dp.NoReply)
        assert "It takes about" in reply.advice


def test_one_sided_p_values_add_up_to_one_and_halve_the_two_sided_one() -> None:
    less, greater, both = (ask("t_test", ROWS, 0.12, alternative=side).value for side in ("less", "greater", "two-sided"))
    assert less.p_value + greater.p_value == pytest.approx(1)
    assert 2 * min(less.p_value, greater.p_value) == pytest.approx(both.p_value)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("name", ["t_test", "two_sample_t_test"])
def test_a_t_test_rejects_just_what_its_interval_leaves_out(name: str, level: float) -> None:
    release = ask(name, interval=level)
    outside = not release.interval.low <= 0 <= release.interval.high
    assert outside == (release.value.p_value < 1 - level)


def test_rows_at_the_median_count_for_neither_side_whatever_the_type() -> None:
    for rows in (np.array([1, 2, 2, 3, 3]), np.array([1, 2, 2, 3, 3.0]), np.array([1, 2, 2, 3, 3], dtype=np.float32)):
        assert ask("sign_test", rows, 2, epsilon=HUGE).value.rows == (1, 2)
    prices = np.full(9, 12.99, dtype=np.float32)
    assert ask("sign_test", prices, 12.99, epsilon=HUGE).value.rows == (0, 0)
    assert ask("sign_test", np.array([1, 2, 3]), 2.5, epsilon=HUGE).value.rows == (2, 1)


def test_rows_of_other_groups_and_labels_are_left_out() -> None:
    by = np.where(np.arange(3000) % 3 == 0, "c", BY)
    kept = by != "c"
    value = ask("two_sample_ks_test", MOVED, by, GROUPS, epsilon=HUGE).value
    known = scipy.stats.ks_2samp(MOVED[kept & (by == "a")], MOVED[kept & (by == "b")])
    assert value.statistic == pytest.approx(known.statistic, abs=1e-5)
    assert np.sum(ask("chi_square_test", by, COLOURS, GROUPS, ["red", "blue"], epsilon=HUGE).value.counts) == kept.sum()


def test_labels_may_be_numbers_bools_and_dates() -> None:
    numbers = np.array([1, 2, 1, 2.5])
    assert ask("goodness_of_fit_test", numbers, {1: 0.5, 2.5: 0.5}, epsilon=HUGE).value.counts == ((2, 1),)
    assert ask("goodness_of_fit_test", np.array([True, False, True]), [True, False], epsilon=HUGE).value.counts == ((2, 1),)
    dates = np.array(["2020-01-01", "2020-01-02", "2020-01-01"], dtype="datetime64[D]")
    labels = [dates[0].item(), dates[1].item()]
    assert ask("goodness_of_fit_test", dates, labels, epsilon=HUGE).value.counts == ((2, 1),)
    pairs = ask("chi_square_test", dates, np.array([0, 1, 1]), labels, [0, 1], epsilon=HUGE).value
    assert pairs.counts == ((1, 1), (0, 1))


def test_too_few_labels_are_a_refusal_that_says_how_many_rows_a_label_needs() -> None:
    reply = ask("association_test", ["a"] * 500, ["u", "v"] * 250)
    assert isinstance(reply, dp.NoReply)
    assert "found from about 99 rows on" in reply.advice


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("t_test", {"mean": "x"}, "mean must be a number"),
        ("t_test", {"alternative": "larger"}, "alternative must be one of 'two-sided'"),
        ("sign_test", {"median": None}, "median must be a number"),
        ("two_sample_t_test", {"groups": "ab"}, "list of labels"),
        ("two_sample_t_test", {"groups": ["a", "b", "c"]}, "groups must hold 2 labels, got 3"),
        ("median_test", {"groups": ["a", "a"]}, "different labels"),
        ("median_test", {"groups": [["a"], "b"]}, "texts, numbers, bools or dates"),
        ("chi_square_test", {"row_labels": ["a"], "column_labels": ["u", "v"]}, "2 to 100 labels, got 1"),
        ("goodness_of_fit_test", {"probabilities": {"a": 0.5, "b": 0.6}}, "add up to 1"),
        ("goodness_of_fit_test", {"probabilities": {"a": 1.5, "b": -0.5}}, "must be positive"),
        ("goodness_of_fit_test", {"probabilities": [0.2, 0.8]}, "must be a dict"),
        ("goodness_of_fit_test", {"probabilities": 3}, "must be a dict"),
        ("ks_test", {"distribution": "gauss"}, "distribution must be one of 'normal'"),
        ("ks_test", {"scale": 0}, "scale must be a positive number"),
        ("ks_test", {"scale": "1e-400"}, "scale must be a positive number"),
        ("ks_test", {"loc": "1e400"}, "loc must be a number of ordinary size"),
        ("t_test", {"mean": 10**400}, "mean must be a number of ordinary size"),
        ("sign_test", {"median": -(10**400)}, "median must be a number of ordinary size"),
    ],
)
def test_complaints_are_about_parameters_and_say_what_to_give(name: str, arguments: dict[str, Any], words: str) -> None:
    data = TESTS[name][: len(find_statistic(name).reads)]
    with pytest.raises(dp.InvalidParameterError, match=words):
        getattr(dp, name)(*data, epsilon=1, **arguments)


@pytest.mark.parametrize(
    "groups",
    [
        [1, 1.0],
        [True, 1],
        [0.0, -0.0],
        [2**60, 2**60 + 1],
        [datetime.date(2020, 1, 1), "2020-01-01"],
        [np.int8(3), 3],
        [0, "0"],
    ],
)
def test_labels_that_could_have_the_same_rows_are_refused(groups: list[Any]) -> None:
    with pytest.raises(dp.InvalidParameterError, match="different labels"):
        dp.two_sample_t_test(MOVED, BY, groups, epsilon=1)


def test_no_row_is_in_two_groups() -> None:
    by = np.array(["2020-01-01", "2020-01-02"] * 50, dtype="datetime64[s]")
    value = ask("two_sample_ks_test", np.arange(100.0), by, ["2020-01-01", "2020-01-01T00:00:00"], epsilon=HUGE).value
    assert sum(value.rows) <= 50


def test_groups_are_required() -> None:
    with pytest.raises(dp.MissingParameterError, match="needs groups"):
        dp.two_sample_t_test(MOVED, BY, epsilon=1)


def test_probabilities_may_be_pairs_or_equally_likely_labels() -> None:
    pairs, listed, named = (
        ask("goodness_of_fit_test", BY, given).value for given in ([["a", 0.5], ["b", "1/2"]], ["a", "b"], {"a": 0.5, "b": 0.5})
    )
    assert pairs == listed == named


def test_small_p_values_are_shown_as_small() -> None:
    assert p_text(3e-7) == "p < 0.0001"
    assert p_text(0.0213) == "p = 0.021"
    assert str(CountsResult("chi2", 7.25, 0.0213, 0.1, "V", 1, (10.0,))) == "chi2 = 7.25, p = 0.021"


def test_tests_are_asked_of_protected_tables_too() -> None:
    import polars as pl

    frame = pl.DataFrame({"income": MOVED, "group": BY, "colour": COLOURS})
    survey = dp.protect(frame, unit="row", budget=dp.Budget(epsilon=20), ledger=":memory:")
    assert survey.t_test("income", epsilon=2).value.symbol == "t"
    assert survey.two_sample_t_test("income", "group", ["a", "b"], epsilon=2).value.symbol == "t"
    first = survey.chi_square_test("group", "colour", ["a", "b"], ["red", "blue"], epsilon=2)
    again = survey.chi_square_test("group", "colour", ["a", "b"], ["red", "blue"], epsilon=2)
    assert first.value == again.value
    assert survey.ledger.spent.epsilon == 6
