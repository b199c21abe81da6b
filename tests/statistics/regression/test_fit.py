"""A released regression: its numbers, its table, its plain form, and what it predicts."""

from __future__ import annotations

import copy
import json
import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpstats as dp
from dpstats.curator.archive import document_of, result_of
from dpstats.foundations.registry import Question, Statistic, ask
from dpstats.foundations.results import Interval, plain_value
from dpstats.statistics.regression.fit import RegressionFit, named, revive_fit
from dpstats.statistics.regression.parameter_table import ErrorParts, ParameterRow

FIT = RegressionFit(
    model="linear",
    outcome="income",
    features=("age", "region[T.south]"),
    intercept=1234.5,
    coefficients=(52.25, -0.5),
    covariance=((100.0, 0.0, 0.0), (0.0, 4.0, 0.0), (0.0, 0.0, math.inf)),
    noise=(6.0, 1.0, math.inf),
    rows=10_012,
    scale=310.2,
)
BARE = RegressionFit("logistic", "y", ("x1", "x2"), 0.0, (-2.0, 1.0), has_intercept=False)


def release(fit: RegressionFit, **fields: Any) -> dp.Release:
    return dp.Release("linear_regression(age, income)", fit, dp.PrivacyCost(1), "universal", "epsilon-DP", True, **fields)


def test_coefficients_are_arrays_that_cannot_be_written_to() -> None:
    assert FIT.coef.tolist() == [52.25, -0.5]
    assert FIT.params.tolist() == [1234.5, 52.25, -0.5]
    arrays: list[Any] = [FIT.coef, FIT.params, FIT.errors]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    assert FIT.errors.tolist() == [10.0, 2.0, math.inf]
    assert BARE.errors is None
    assert BARE.p_values() is None


def test_p_values_are_those_of_the_normal_law() -> None:
    from scipy import stats

    fit = RegressionFit("linear", "y", ("a", "b"), 1.0, (3.0, 0.0), ((1.0, 0, 0), (0, 4.0, 0), (0, 0, 1.0)))
    assert fit.p_values() == pytest.approx(2 * stats.norm.sf([1.0, 1.5, 0.0]))
    assert FIT.p_values().tolist()[2] == 1.0


def test_names_of_statsmodels_stand_for_what_there_is() -> None:
    assert FIT.bse.tolist() == FIT.errors.tolist()
    assert FIT.tvalues.tolist() == [123.45, 26.125, 0.0]
    assert FIT.pvalues.tolist() == FIT.p_values().tolist()
    assert FIT.cov_params().tolist() == [list(row) for row in FIT.covariance or ()]
    assert FIT.nobs == 10_012
    assert FIT.conf_int().shape == (3, 2)
    ends: Any = FIT.conf_int(level=0.9)
    assert ends[:2] == pytest.approx(np.array([[1218.05, 1250.95], [48.96, 55.54]]), abs=0.01)
    assert (BARE.bse, BARE.tvalues, BARE.pvalues, BARE.conf_int(), BARE.cov_params(), BARE.nobs) == (None,) * 6
    with pytest.raises(dp.InvalidParameterError, match="between 0 and 1"):
        FIT.conf_int(level=95)
    without = RegressionFit("linear", "y", ("a",), 0.0, (1.0,), ((4.0,),), has_intercept=False)
    assert without.cov_params().tolist() == [[4.0]]


@pytest.mark.parametrize("has_intercept", [True, False])
def test_names_stand_in_the_order_of_all_that_there_is_one_of_for_each_parameter(has_intercept: bool) -> None:
    size = 2 + has_intercept
    covariance = tuple(tuple(float(row == column) for column in range(size)) for row in range(size))
    fit = RegressionFit("linear", "y", ("a", "b"), 7.0, (1.0, 2.0), covariance, (0.5,) * size, has_intercept=has_intercept)
    assert fit.names == (("Intercept", "a", "b") if has_intercept else ("a", "b"))
    assert fit.features == ("a", "b")
    assert fit.named_values() == tuple(zip(fit.names, fit.params.tolist(), strict=True))
    arrays: list[Any] = [fit.params, fit.bse, fit.tvalues, fit.pvalues, fit.conf_int(), fit.cov_params(), fit.error_parts()]
    assert {len(each) for each in arrays} == {size}
    assert plain_value(fit)["names"] == list(fit.names)  # type: ignore[index]


def test_a_fit_that_was_archived_when_names_were_those_of_features_can_be_read() -> None:
    plain: Any = plain_value(FIT)
    old = {name: value for name, value in plain.items() if name not in ("features", "clipping")} | {"names": list(FIT.features)}
    assert revive_fit(old) == FIT


def test_the_parts_of_an_error_add_up() -> None:
    fit = replace(FIT, covariance=((100.0, 0, 0), (0, 4.0, 0), (0, 0, 1.0)), noise=(6.0, 1.0, 2.0), clipping=(7.0, 1.2, 0.0))
    assert [parts.percents for parts in fit.error_parts() if parts] == [(15, 36, 49), (39, 25, 36), (0, 100, 0)]
    lines = fit.summary().splitlines()
    heads = next(line for line in lines if "total err" in line)
    assert heads.split()[:7] == ["coef", "total", "err", "sampling", "noise", "cut", "off"]
    assert next(line for line in lines if line.startswith("age")).split()[2:6] == ["2", "39%", "25%", "36%"]
    assert lines[-1] == "Parts of the squared total error: sampling, privacy noise, and the allowance for rows that were cut off."
    thirds = ErrorParts(1 / 3, 1 / 3, 1 / 3)
    assert sum(thirds.percents) == 100


def test_a_parameter_is_found_by_its_name() -> None:
    assert (FIT["Intercept"], FIT["age"], FIT["region[T.south]"]) == (1234.5, 52.25, -0.5)
    with pytest.raises(dp.UnknownNameError, match="it has Intercept, age, region"):
        FIT["hours"]
    with pytest.raises(dp.UnknownNameError, match="it has x1, x2"):
        BARE["Intercept"]


@pytest.mark.parametrize("name", ["resid", "rsquared", "fittedvalues"])
def test_what_is_a_function_of_private_rows_is_missing_and_says_why(name: str) -> None:
    assert not hasattr(FIT, name)
    with pytest.raises(AttributeError, match=rf"no {name}: .* private rows\. predict works on public rows"):
        getattr(FIT, name)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        getattr(FIT, "nothing")  # noqa: B009  (a type checker knows that it does not exist)


def test_a_fit_can_be_copied_and_pickled() -> None:
    assert pickle.loads(pickle.dumps(FIT)) == copy.copy(FIT) == FIT


def test_the_summary_ends_with_its_weak_directions() -> None:
    assert "weak" not in FIT.summary()
    for weak, words in ((1, "1 weak direction: features hardly vary"), (3, "3 weak directions: features hardly vary")):
        lines = replace(FIT, weak=weak).summary().splitlines()
        assert lines[-1].startswith(words)
        assert lines[-1].endswith("More rows, or a larger epsilon, help.")


def test_plain_forms_from_before_weak_directions_were_counted_can_be_read() -> None:
    plain: Any = plain_value(FIT)
    old = {name: value for name, value in plain.items() if name != "weak"}
    assert revive_fit(old) == FIT
    assert revive_fit(plain | {"weak": 2}).weak == 2


def test_lists_that_do_not_fit_each_other_are_refused() -> None:
    with pytest.raises(dp.DpstatsError, match="a coefficient for each feature"):
        RegressionFit("linear", "y", ("a",), 0.0, (1.0, 2.0))
    with pytest.raises(dp.DpstatsError, match="errors for them and the intercept"):
        RegressionFit("linear", "y", ("a",), 0.0, (1.0,), noise=(1.0,))
    without = RegressionFit("linear", "y", ("a",), 0.0, (1.0,), ((4.0,),), has_intercept=False)
    assert without.errors.tolist() == [2.0]


def test_a_card_shows_the_coefficients_in_one_line() -> None:
    assert str(FIT) == "income = 1234.5 + 52.25 * age - 0.5 * region[T.south]"
    assert str(BARE) == "logit P(y) = -2 * x1 + 1 * x2"
    assert str(RegressionFit("quantile 0.9", "y", ("a",), -1.0, (2.0,))) == "quantile 0.9 of y = -1 + 2 * a"
    assert f"  value       {FIT}" in str(release(FIT).card())


def test_the_summary_has_the_lines_that_a_statistician_looks_for() -> None:
    lines = FIT.summary().splitlines()
    assert lines[0].strip() == "Private linear regression"
    text = "\n".join(lines)
    for fact in (
        "Dep. Variable: income",
        "No. Observations:   about 10,012",
        "Df Residuals:       about 10,009",
        "Median Abs. Resid.:",
    ):
        assert fact in text
    heads = next(line for line in lines if "coef" in line)
    assert heads.split() == ["coef", "total", "err", "sampling", "noise", "z", "P>|z|", "[0.025", "0.975]"]
    age = next(line for line in lines if line.startswith("age")).split()
    assert age == ["age", "52.25", "2", "75%", "25%", "26.125", "<0.001", "48.33", "56.17"]
    lost = next(line for line in lines if line.startswith("region")).split()
    assert lost == ["region[T.south]", "-0.5", "inf", "1.000", "-inf", "inf"]


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (1234.5678, 10.0, "1234.6"),
        (1234.5678, 256.0, "1235"),
        (12345.678, 2500.0, "12350"),
        (0.0123456, 0.5, "0.012"),
        (-0.0001, 3.0, "0"),
        (1.23456789, 1e-9, "1.2346"),
        (1.7e308, 1e308, "1.7e+308"),
        (1.25, 0.0, "1.25"),
        (1.25, math.inf, "1.25"),
    ],
)
def test_a_coefficient_has_no_digits_that_its_error_drowns(value: float, error: float, shown: str) -> None:
    assert ParameterRow("age", value, 0.95, error).shown_value == shown
    assert ParameterRow("age", value, 0.95).shown_value == f"{value:.5g}"


def test_the_summary_of_a_rough_fit_says_so() -> None:
    assert "ough" not in release(FIT).summary()
    rough = release(FIT, rough=True, notes=(("rough", "About 9 rows are too few."),))
    assert rough.summary() == f"{release(FIT).summary()}\nRough: About 9 rows are too few."


def test_the_summary_leaves_out_what_is_not_known() -> None:
    text = BARE.summary()
    assert "Intercept" not in text
    assert "err" not in text
    assert "Observations" not in text
    assert "x2" in text


def test_the_summary_takes_the_intervals_of_the_release() -> None:
    intervals = tuple(Interval(low, low + 1.0, 0.9, "all") for low in (1.0, 2.0))
    text = BARE.summary(intervals)
    assert "[0.05  0.95]" in text
    assert next(line for line in text.splitlines() if line.startswith("x2")).split() == ["x2", "1", "2", "3"]
    with pytest.raises(dp.InvalidParameterError, match=r"summary\(release\.intervals\)"):
        FIT.summary(intervals)
    with pytest.raises(dp.InvalidParameterError, match="between 0 and 1"):
        FIT.summary(level=1.0)


def test_html_escapes_names() -> None:
    fit = RegressionFit("linear", "y", ("<b>",), 0.0, (1.0,))
    assert "<b>" not in fit._repr_html_()
    assert "&lt;b&gt;" in fit._repr_html_()


@pytest.mark.parametrize("fit", [FIT, BARE])
def test_a_fit_survives_the_archive_and_json(fit: RegressionFit) -> None:
    statistic = Statistic("fit", "A fit", revive=revive_fit)
    intervals = tuple(Interval(0.0, math.inf, 0.95, "all") for _ in fit.names)
    again = result_of(json.loads(json.dumps(document_of(release(fit, intervals=intervals)))), statistic)
    assert isinstance(again, dp.Release)
    assert again.value == fit
    assert isinstance(again.value.names, tuple)
    assert revive_fit(json.loads(json.dumps(plain_value(fit)))) == fit
    json.loads(release(fit).to_json())


@pytest.mark.parametrize(
    "data",
    [
        [[30, 0], [40, 1]],
        np.array([[30.0, 0.0], [40.0, 1.0]]),
        {"region[T.south]": [0, 1], "age": [30, 40]},
        pd.DataFrame({"more": [9, 9], "age": [30, 40], "region[T.south]": [False, True]}),
        pl.DataFrame({"age": [30, 40], "region[T.south]": [0, 1]}),
        pa.table({"age": [30, 40], "region[T.south]": [0, 1]}),
    ],
)
def test_predictions_go_by_name_where_there_are_names(data: Any) -> None:
    assert FIT.predict(data) == pytest.approx([1234.5 + 30 * 52.25, 1234.5 + 40 * 52.25 - 0.5])


def test_predictions_of_single_columns_rows_and_missing_cells() -> None:
    one = RegressionFit("linear", "y", ("age",), 1.0, (2.0,))
    assert one.predict([1, 2]).tolist() == [3.0, 5.0]
    assert one.predict({"age": 4}).tolist() == [9.0]
    missing = one.predict({"age": [None, 1.0]})
    assert math.isnan(missing[0])
    assert missing[1] == 3.0
    unnamed = RegressionFit("linear", "y", ("x1", "x2"), 0.0, (1.0, 10.0))
    assert unnamed.predict(pd.DataFrame({"a": [1], "b": [2]})).tolist() == [21.0]


def test_predictions_pass_the_inverse_link_and_never_overflow() -> None:
    assert BARE.predict([[0, 0], [0, 2000], [2000, 0]]) == pytest.approx([0.5, 1.0, 0.0])
    assert BARE.predict([[1, 0]]) == pytest.approx([1 / (1 + math.exp(2))])
    poisson = RegressionFit("poisson", "y", ("a",), 1.0, (1.0,))
    assert poisson.predict([[1], [1e6]]) == pytest.approx([math.exp(2), math.inf])


def test_data_that_does_not_fit_is_an_error_about_public_things() -> None:
    with pytest.raises(dp.UnknownNameError, match="needs a column 'age'"):
        FIT.predict({"region[T.south]": [1]})
    with pytest.raises(dp.DataTypeError, match="has 2 features"):
        FIT.predict([[1, 2, 3]])
    with pytest.raises(dp.DataTypeError, match="has 2 features"):
        FIT.predict([1, 2])
    with pytest.raises(dp.DataTypeError, match="differ in their number"):
        FIT.predict({"age": [1, 2], "region[T.south]": [1]})
    with pytest.raises(dp.DataTypeError, match="need numbers") as caught:
        FIT.predict({"age": ["secret"], "region[T.south]": [1]})
    assert "secret" not in str(caught.value)
    with pytest.raises(dp.DataTypeError, match="one dimension"):
        FIT.predict({"age": [[1, 2]], "region[T.south]": [1]})


def test_a_question_names_features_and_outcome_or_numbers_them() -> None:
    question = ask("count", epsilon=1)

    def of(*columns: str) -> Question:
        return Question(question.statistic, question.method, {}, question.cost, columns)

    assert named(of("age", "hours", "income")) == (("age", "hours"), "income")
    assert named(of("", "hours", "")) == (("x1", "hours"), "y")
