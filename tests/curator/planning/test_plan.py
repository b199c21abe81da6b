"""`dp.plan`: what it predicts is what happens, for every statistic, without data."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.curator.planning import yardsticks
from dpstats.curator.planning.bundles import planned_columns
from dpstats.curator.planning.forecasts import Plan
from dpstats.curator.planning.plan_rows import PlanRow, wilson_interval
from dpstats.curator.planning.shapes import SHAPES
from dpstats.curator.planning.yardsticks import error_of, measured, plain_numbers
from dpstats.foundations import registry
from dpstats.foundations.registry import REQUIRED, Answer, Question, Refusal, Statistic, ask, find_statistic, statistic_names
from dpstats.foundations.summaries import Column, WindowRequest
from dpstats.statistics.distribution import Distribution

REFUSED = Refusal("The test failed.", "Ask with more epsilon.")


def seeded_plan(*arguments: Any, **keywords: Any) -> Any:  # errors may be None, and a test that meets one there may fail
    return dp.plan(*arguments, **{"rng": dp.testing.seeded(7), **keywords})


def median_of(column: Column) -> float:
    (window,) = column.order_windows([WindowRequest(Fraction(1, 2), 0)])
    return float(window.raw_values[0])


Register = Callable[..., Statistic]


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Register:
    """A statistic `toy` whose methods are given by name, the first one preferred."""

    def add(*, needs_delta: bool = False, **methods: Callable[[Column, Question, Any], Answer | Refusal]) -> Statistic:
        statistic = Statistic("toy", "Only for tests.")
        for name, run in methods.items():
            registry.method(statistic, name, claim="none", needs_delta=needs_delta)(run)
        monkeypatch.setitem(registry._STATISTICS, "toy", statistic)
        return statistic

    return add


def test_a_median_is_always_answered_and_its_error_shrinks_with_n() -> None:
    plan = seeded_plan("median", epsilon=0.5, n=[200, 5_000], shape=["normal", "delays"], repeats=12)
    small, large = (row for row in plan.rows if row.shape == "normal")
    assert small.reply_probability == large.reply_probability == 1
    assert small.reply_interval.high == 1
    assert 0.7 < small.reply_interval.low < 1  # of 12 tables
    assert small.error_95 > 2 * large.error_95
    assert small.error_median <= small.error_95
    assert small.relative_error_95 == pytest.approx(small.error_95 / SHAPES["normal"].iqr)


@pytest.mark.long
def test_a_billion_rows_are_planned_without_drawing_them() -> None:
    plan = seeded_plan("median", epsilon=0.5, n=[5_000, 10**9], repeats=25)
    for shape in ("normal", "lognormal", "heavy_tailed"):
        large, huge = (row for row in plan.rows if row.shape == shape)
        assert large.error_95 > 50 * huge.error_95
    minutes = [row.error_95 for row in plan.rows if row.shape == "delays"]
    assert minutes in ([0, 0], [1, 0])


def test_the_default_plan_has_one_line_for_each_default_shape() -> None:
    plan = seeded_plan("count", epsilon=1, n=1_000)
    assert [row.shape for row in plan.rows] == ["normal", "lognormal", "heavy_tailed", "delays"]
    assert {row.repeats for row in plan.rows} == {60}
    assert {row.cost for row in plan.rows} == {dp.PrivacyCost(1)}
    assert {row.method for row in plan.rows} == {"laplace"}


def test_a_seeded_plan_repeats_itself_line_by_line_whatever_else_is_planned() -> None:
    first, again = (seeded_plan("iqr", epsilon=1, n=300, repeats=2) for _ in range(2))
    assert first == again
    assert seeded_plan("iqr", epsilon=1, n=[50, 300], shape="delays", repeats=2).rows[1] == first.rows[3]
    assert seeded_plan("iqr", epsilon=1, n=300, repeats=2, rng=dp.testing.seeded(8)) != first
    assert dp.plan("iqr", epsilon=1, n=300, repeats=2) != dp.plan("iqr", epsilon=1, n=300, repeats=2)


@pytest.mark.long
def test_errors_are_those_of_real_rows() -> None:
    repeats, rows = 1_000, 500
    row = seeded_plan("median", epsilon=0.5, n=rows, shape="normal", repeats=repeats).rows[0]
    generator = np.random.default_rng(3)
    releases = [
        float(dp.median(math.pi + generator.standard_normal(rows), epsilon=0.5, rng=dp.testing.seeded(seed)))
        for seed in range(repeats)
    ]
    errors = np.sort(np.abs(np.array(releases) - math.pi))
    spread = 3 * np.sqrt(2 * 0.25 * repeats)  # of the rank of a median among so many, in both samples
    low, high = errors[int(repeats / 2 - spread)], errors[int(repeats / 2 + spread)]
    assert low < row.error_median < high
    assert high < 2 * low  # so that the line above can fail


def test_the_reply_probability_is_that_of_real_rows(register: Register) -> None:
    register(careful=lambda column, question, rng: Answer(median_of(column)) if median_of(column) > math.pi - 0.03 else REFUSED)
    row = seeded_plan("toy", epsilon=1, n=501, shape="normal", repeats=1000).rows[0]
    generator = np.random.default_rng(4)
    replies = np.mean([np.median(generator.standard_normal(501)) > -0.03 for _ in range(4000)])
    assert row.reply_interval.low - 0.03 < replies < row.reply_interval.high + 0.03
    assert 0.6 < row.reply_probability < 0.8
    assert 0.01 < row.error_median < 0.1


QUICK: dict[str, dict[str, object]] = {"select_model": {"models": ["linear", "quadratic"], "blocks": 10}}
"""What makes slow statistics quick enough for this test."""


def example_arguments(statistic: Statistic) -> dict[str, object]:
    """Some value that each required parameter accepts."""
    arguments = dict(QUICK.get(statistic.name, {}))
    for parameter in statistic.parameters:
        if parameter.default is not REQUIRED:
            continue
        for candidate in (0.5, 1, 0.1, 2, 0, 100, [0.25, 0.75], "normal", "median", "a", ["a", "b"], {"a": 0.5, "b": 0.5}):
            try:
                parameter.check(candidate)
            except (dp.DpstatsError, TypeError, ValueError):
                continue
            arguments[parameter.name] = candidate
            break
    return arguments


METHODS = [(name, method) for name in statistic_names() for method in find_statistic(name).methods]
FIRST = [(name, next(iter(find_statistic(name).methods))) for name in statistic_names()]
PLANNED = [
    *((*each, relation) for each in FIRST for relation in ("add_remove", "change_one")),
    *(pytest.param(*each, "add_remove", marks=pytest.mark.long) for each in METHODS if each not in FIRST),
]
"""Of every statistic one method under both relations; the others are for `make long`."""
NEEDED: dict[tuple[str, str], dict[str, Any]] = {("anova", "clipped"): {"groups": ["a", "b"]}}
"""What a method needs beside what its statistic requires."""


@pytest.mark.parametrize(("name", "method", "neighbors"), PLANNED)
def test_every_method_of_every_statistic_can_be_planned(
    name: str, method: str, neighbors: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yardsticks, "EVEN_ROWS", 9_999)  # values of shapes are tested elsewhere
    statistic = find_statistic(name)
    delta = 1e-6 if statistic.methods[method].needs_delta else 0
    columns = planned_columns(name, None)
    arguments = {**example_arguments(statistic), **NEEDED.get((name, method), {})}
    try:
        ask(name, epsilon=1, delta=delta, method=method, neighbors=neighbors, column=columns, **arguments)  # type: ignore[arg-type]
    except dp.InvalidParameterError:
        pytest.skip("the method does not serve this relation")
    shapes = ["normal", "ratings", "constant"] if statistic.simulate is None else None
    if statistic.is_share:  # which columns of other numbers have none of
        shapes = ["share_1", "share_10", "share_50"]
    plan = seeded_plan(
        name,
        epsilon=1,
        delta=delta,
        method=method,
        neighbors=neighbors,
        n=[0, 400],
        shape=shapes,
        repeats=1,
        **arguments,
    )
    assert [row.n for row in plan.rows] == [rows for rows in (0, 400) for _ in shapes or ["its own"]]
    for row in plan.rows:
        assert row.method == method
        assert 0 <= row.reply_interval.low <= row.reply_probability <= row.reply_interval.high <= 1
        has_error = row.error_95 is not None
        has_distance = not (
            name in ("histogram", "association_test", "anova", "survival_curve")
            or statistic.reads_codes
            or (statistic.simulate and row.shape_value is None)
        )
        assert row.reply_probability == 0 or has_error or not has_distance
    assert f"{name}" in str(plan)
    again = Plan.from_dict(json.loads(json.dumps(plan.to_dict(), allow_nan=False, sort_keys=True)))
    assert again == plan
    assert str(again) == str(plan)


@pytest.mark.parametrize("name", [name for name in statistic_names() if find_statistic(name).takes_tables])
def test_a_plan_of_a_whole_table_is_tried_on_rows_with_codes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yardsticks, "EVEN_ROWS", 999)  # of such answers there are no values of shapes
    listed: dict[str, Any] = {"levels": {"x1": ["a", "b"], "x2": ["a", "b"]}} | ({"size": 8} if name == "small_database" else {})
    plan = seeded_plan(name, epsilon=20, n=500, features=2, shape="normal", repeats=1, **listed)
    assert plan.rows[0].reply_probability == 1


@pytest.mark.parametrize(
    ("shape", "name", "parameters", "value"),
    [
        ("normal", "median", (), math.pi),
        ("lognormal", "median", (), np.exp(10)),
        ("delays", "median", (), 9),
        ("normal", "quantile", (0.975,), math.pi + 1.959964),
        ("normal", "iqr", (), 1.3489795),
        ("ratings", "iqr", (), 1),
        ("constant", "median", (), 7.25),
    ],
)
def test_the_value_of_a_shape_is_its_population_value(shape: str, name: str, parameters: tuple[float, ...], value: float) -> None:
    yardstick = measured(ask(name, *parameters, epsilon=0.01), SHAPES[shape])
    assert yardstick.value == pytest.approx(value, rel=1e-5, abs=1e-5)
    assert not yardstick.grows


def test_a_count_is_measured_against_the_rows_that_are_planned() -> None:
    zero, some = seeded_plan("count", epsilon=1, n=[0, 123_456_789], shape="normal", repeats=30).rows
    assert (zero.shape_value, some.shape_value) == (0, 123_456_789)
    assert 0 < some.error_95 < 20
    assert some.relative_error_95 is None
    assert some.sampling_error_median == 0


def test_of_several_values_the_largest_error_counts() -> None:
    pair = seeded_plan("quantile", [0.25, 0.75], epsilon=5, n=2_000, shape="normal", repeats=5).rows[0]
    assert pair.shape_value == pytest.approx((math.pi - 0.67449, math.pi + 0.67449), abs=1e-4)
    assert error_of((1.0, 5.0), (1.5, 3.0)) == 2
    assert error_of((1.0, 5.0), (1.5,)) is None
    assert error_of(float("inf"), float("inf")) == 0
    assert error_of("a", "b") is None
    assert plain_numbers(np.array([1, 2])) == (1.0, 2.0)
    assert plain_numbers(Fraction(1, 2)) == (0.5,)
    assert plain_numbers(None) is None


def test_a_distribution_function_is_off_by_a_probability() -> None:
    truth = Distribution((0.25, 0.75), (0.0, 1.0))
    for values, error in (((0.0, 2.0), 0.25), ((0.0, 0.5), 0.25), ((5.0, 6.0), 0.5), ((0.0, 1.0), 0), ((0.25, 1.0), 0.125)):
        assert error_of(Distribution((0.25, 0.75), values), truth) == error
    plan = seeded_plan("cdf", 3, epsilon=1, n=2_000, shape="normal", repeats=3)
    assert 0 < plan.rows[0].error_95 < 0.2
    assert plan.rows[0].relative_error_95 is None
    assert "Errors are probabilities" in str(plan)


def test_a_value_that_is_no_number_has_a_reply_probability_only(register: Register) -> None:
    register(plain=lambda *_: Answer("green"))
    row = seeded_plan("toy", epsilon=1, n=10, shape="normal", repeats=3).rows[0]
    assert (row.reply_probability, row.error_median, row.error_95, row.relative_error_95) == (1, None, None, None)


def test_a_method_that_always_refuses_has_no_errors_but_the_shape_still_has_a_value(register: Register) -> None:
    register(stern=lambda *_: REFUSED, plain=lambda column, *_: Answer(median_of(column)))
    row = seeded_plan("toy", epsilon=1, n=100, shape="lognormal", repeats=20, method="stern").rows[0]
    assert (row.reply_probability, row.reply_interval.low) == (0, 0)
    assert 0.1 < row.reply_interval.high < 0.3
    assert row.error_median is row.error_95 is None
    assert row.shape_value == pytest.approx(np.exp(10), rel=1e-5)
    assert row.sampling_error_median > 0


def test_a_method_that_fails_is_no_reply_as_it_is_for_the_asker(register: Register) -> None:
    register(fragile=lambda column, *_: Answer(1.0 / (median_of(column) > math.pi)))
    row = seeded_plan("toy", epsilon=1, n=11, shape="normal", repeats=100).rows[0]
    assert 0.3 < row.reply_probability < 0.7


def test_a_coarse_method_is_measured_against_the_preferred_one(register: Register) -> None:
    register(fine=lambda column, *_: Answer(median_of(column)), coarse=lambda *_: Answer(1000.0))
    row = seeded_plan("toy", epsilon=1, n=100, shape="normal", repeats=3, method="coarse").rows[0]
    assert row.error_median == pytest.approx(1000 - math.pi)


def test_a_statistic_that_needs_every_row_is_planned_up_to_the_limit(register: Register) -> None:
    register(total=lambda column, *_: Answer(column.sum_between(-10, 10, Fraction(1, 1024)) / 1024))
    small = seeded_plan("toy", epsilon=1, n=1_000, shape="uniform", repeats=20).rows[0]
    assert small.shape_value == pytest.approx(500 * math.pi, rel=1e-3)
    assert 0 < small.error_95 < 150
    with pytest.raises(dp.InvalidParameterError, match="n up to 2,000,000"):
        seeded_plan("toy", epsilon=1, n=10**8, shape="uniform", repeats=1)


def test_a_delta_is_passed_on(register: Register) -> None:
    register(needs_delta=True, spender=lambda column, question, rng: Answer(float(question.cost.delta)))
    row = seeded_plan("toy", epsilon=1, delta=1e-5, n=10, shape="normal", repeats=1).rows[0]
    assert row.cost == dp.PrivacyCost(1, 1e-5)
    with pytest.raises(dp.MissingParameterError, match="needs delta"):
        seeded_plan("toy", epsilon=1, n=10)


def test_data_are_not_taken() -> None:
    with pytest.raises(dp.InvalidParameterError, match="plan reads no data"):
        dp.plan("median", [1.0, 2.0], epsilon=1, n=10)


@pytest.mark.parametrize(
    ("arguments", "keywords", "error"),
    [
        (("median",), {"eps": 1}, dp.UnknownNameError),
        (("median",), {"epsilon": 0}, dp.InvalidParameterError),
        (("median",), {"epsilon": 1, "delta": 0.7}, dp.InvalidParameterError),
        (("median",), {"epsilon": 1, "method": "magic"}, dp.UnknownNameError),
        (("median",), {"epsilon": 1, "neighbors": "friends"}, dp.InvalidParameterError),
        (("median",), {"epsilon": 1, "column": "a"}, dp.UnknownNameError),
        (("quantile",), {"epsilon": 1}, dp.MissingParameterError),
        (("quantile", 1.5), {"epsilon": 1}, dp.InvalidParameterError),
        (("quantile", 0.5), {"epsilon": 1, "q": 0.5}, dp.InvalidParameterError),
        (("median",), {"epsilon": 1, "rng": 7}, dp.InvalidParameterError),
    ],
)
def test_a_wrong_question_is_refused_as_the_statistic_itself_refuses_it(
    arguments: tuple[Any, ...], keywords: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error) as planned:
        dp.plan(*arguments, n=10, repeats=1, **keywords)
    with pytest.raises(error) as asked:
        getattr(dp, arguments[0])([1.0], *arguments[1:], **keywords)
    assert str(planned.value) == str(asked.value)


@pytest.mark.parametrize(
    ("keywords", "error", "words"),
    [
        ({"n": None}, dp.MissingParameterError, "n=10_000"),
        ({"n": -1}, dp.InvalidParameterError, "n must be a whole number from 0"),
        ({"n": 2.5}, dp.InvalidParameterError, "got 2.5"),
        ({"n": float("nan")}, dp.InvalidParameterError, "whole number"),
        ({"n": True}, dp.InvalidParameterError, "whole number"),
        ({"n": "many"}, dp.InvalidParameterError, "got 'many'"),
        ({"n": 10**11}, dp.InvalidParameterError, "whole number"),
        ({"n": []}, dp.InvalidParameterError, "at least one"),
        ({"n": [10, -1]}, dp.InvalidParameterError, "got -1"),
        ({"repeats": 0}, dp.InvalidParameterError, "repeats must be a whole number from 1"),
        ({"repeats": 1.5}, dp.InvalidParameterError, "repeats"),
        ({"shape": "norml"}, dp.UnknownNameError, "there are normal, lognormal"),
        ({"shape": lambda q: -q}, dp.InvalidParameterError, "falls"),
    ],
)
def test_bad_input_is_refused_in_words(keywords: dict[str, object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        dp.plan("median", **{"epsilon": 1, "n": 10, "repeats": 1, **keywords})


def test_a_statistic_is_given_by_name() -> None:
    with pytest.raises(dp.UnknownNameError, match="there is no statistic 'medain'; did you mean median"):
        dp.plan("medain", epsilon=1, n=10)
    with pytest.raises(dp.InvalidParameterError, match="by name"):
        dp.plan(dp.median, epsilon=1, n=10)  # type: ignore[call-overload]


def test_numbers_of_rows_may_be_written_in_many_ways() -> None:
    for n in (100, 100.0, np.int64(100), [100], np.array([100]), range(100, 101)):
        assert [row.n for row in seeded_plan("count", epsilon=1, n=n, shape="normal", repeats=1).rows] == [100]


def test_an_own_shape_is_planned_under_its_name() -> None:
    def commute(q: Any) -> Any:
        return 20 + 10 * q

    plan = seeded_plan("median", epsilon=1, n=1_000, shape=commute, repeats=5)
    assert plan.rows[0].shape == "commute"
    assert plan.rows[0].shape_value == pytest.approx(25)


def test_the_table_says_what_was_asked_what_to_expect_and_that_nothing_was_spent() -> None:
    plan = seeded_plan("quantile", 0.9, epsilon=0.5, n=[100, 10_000], shape=["normal", "delays"], repeats=10, unit="person")
    text = str(plan)
    assert text.startswith("quantile(0.9) by universal, epsilon = 0.5, neighbours: add_remove\n")
    assert "No data was read and nothing was spent." in text
    lines = [line for line in text.splitlines() if line.strip().startswith("10,000")]
    assert len(lines) == 2
    assert "100% (72.2% to 100%)" in lines[0]
    assert all(len(line) <= 130 for line in text.splitlines())
    assert "  delays  whole minutes" in text
    assert repr(plan) == "Plan(quantile(0.9) by universal, epsilon = 0.5, neighbours: add_remove, 4 lines: print it)"
    assert plan._repr_html_().count("<tr>") == 5
    assert "nothing was spent" in plan._repr_html_()


def test_absurd_errors_are_shortened_and_unknown_ones_are_dashes() -> None:
    row = seeded_plan("median", epsilon=0.01, n=10, shape="normal", repeats=30)
    assert "over 1000%" in str(row)
    constant = seeded_plan("median", epsilon=1, n=500, shape="constant", repeats=3)
    assert constant.columns["of the IQR"](constant.rows[0]) == "-"


def test_a_plan_becomes_json() -> None:
    plan = seeded_plan("median", epsilon=0.5, n=100, shape="normal", repeats=3)
    read = json.loads(json.dumps(plan.to_dict(), allow_nan=False))
    assert read["question"] == "median"
    assert set(read["rows"][0]) == set(PlanRow.__dataclass_fields__)
    assert read["rows"][0]["cost"]["epsilon"] == 0.5
    assert read["rows"][0]["reply_interval"]["level"] == 0.95


def test_wilsons_interval_is_the_published_one() -> None:
    for successes, trials, low, high in (
        (0, 10, 0, 0.2775),
        (5, 10, 0.2366, 0.7634),
        (81, 263, 0.2553, 0.3662),
        (10, 10, 0.7225, 1),
    ):
        interval = wilson_interval(successes, trials)
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-5)
