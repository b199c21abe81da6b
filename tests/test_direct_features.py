"""`dp.linear_regression(X, y)` and friends: functions of several features and an outcome."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpstats as dp
from tests.features import feature_statistics as _feature_statistics

pytestmark = pytest.mark.usefixtures("feature_statistics")
feature_statistics = _feature_statistics

NAN = float("nan")
AGE, SCHOOLING, INCOME = [30.0, 41.0, NAN, 27.0], [9.0, 12.0, 13.0, 16.0], [100.0, NAN, 300.0, 400.0]
ROWS = ((27.0, 16.0, 400.0), (30.0, 9.0, 100.0))
ALONE = ((27.0, 400.0), (30.0, 100.0))
COLUMNS = {"age": AGE, "schooling": SCHOOLING}
MATRIX = np.array([AGE, SCHOOLING]).T

NAMED: dict[str, Callable[[], Any]] = {
    "dict of lists": lambda: COLUMNS,
    "dict of arrays": lambda: {name: np.array(rows) for name, rows in COLUMNS.items()},
    "pandas": lambda: pd.DataFrame(COLUMNS, index=[3, 1, 1, 0]),
    "polars": lambda: pl.DataFrame(COLUMNS, nan_to_null=True),
    "pyarrow": lambda: pa.table(COLUMNS),
    "record batch": lambda: pa.RecordBatch.from_pydict(COLUMNS),
    "structured array": lambda: np.array(list(zip(AGE, SCHOOLING, strict=True)), dtype=[("age", "f8"), ("schooling", "f4")]),
    "list of Series": lambda: [pd.Series(AGE, name="age"), pl.Series("schooling", SCHOOLING)],
}
UNNAMED: dict[str, Callable[[], Any]] = {
    "array": lambda: MATRIX,
    "array by columns": lambda: np.asfortranarray(MATRIX),
    "strided array": lambda: np.repeat(MATRIX, 2, axis=1)[:, ::2],
    "float32": lambda: MATRIX.astype(np.float32),
    "objects": lambda: np.array([[None if cell != cell else cell for cell in row] for row in MATRIX.tolist()], dtype=object),
    "np.matrix": lambda: MATRIX.view(np.matrix),
    "masked": lambda: np.ma.masked_invalid(MATRIX),
    "list of rows": lambda: MATRIX.tolist(),
    "rows with None": lambda: [tuple(None if cell != cell else cell for cell in row) for row in MATRIX.tolist()],
    "list of arrays": lambda: [np.array(AGE), np.array(SCHOOLING)],
    "tuple of arrays": lambda: (np.array(AGE), pa.array(SCHOOLING)),
    "numbered frame": lambda: pd.DataFrame(MATRIX),
}
SINGLE: dict[str, Callable[[], Any]] = {
    "list": lambda: AGE,
    "array": lambda: np.array(AGE),
    "Series": lambda: pl.Series(AGE),
    "arrow": lambda: pa.array(AGE),
    "index": lambda: pd.Index(AGE),
    "array of one column": lambda: MATRIX[:, :1],
    "dict": lambda: {"": AGE},
}


@pytest.mark.parametrize("make", NAMED.values(), ids=NAMED)
def test_columns_of_frames_and_dicts_are_features_with_their_names(make: Callable[[], Any]) -> None:
    release = dp.told(make(), pd.Series(INCOME, name="income"), epsilon=1)
    assert release.value == ROWS
    assert release.question == "told([age, schooling], income)"


@pytest.mark.parametrize("make", UNNAMED.values(), ids=UNNAMED)
def test_arrays_and_lists_are_features_without_names(make: Callable[[], Any]) -> None:
    release = dp.told(make(), INCOME, epsilon=1)
    assert release.value == ROWS
    assert release.question == "told"
    assert dp.told(X=make(), y=INCOME, power=2, epsilon=1).value == dp.told(make(), INCOME, 2, epsilon=1).value == ROWS


@pytest.mark.parametrize("make", SINGLE.values(), ids=SINGLE)
def test_one_column_is_one_feature(make: Callable[[], Any]) -> None:
    assert dp.told(make(), np.array(INCOME), epsilon=1).value == ALONE


def test_names_of_single_columns_reach_the_question_and_odd_names_do_not() -> None:
    assert dp.told(pd.Series(AGE, name="age"), pl.Series("income", INCOME), epsilon=1).question == "told(age, income)"
    assert (
        dp.told({"two\nlines": AGE, 7: SCHOOLING, "x" * 80: AGE}, INCOME, epsilon=1).question == f"told([x1, x2, {'x' * 80}], y)"
    )


def test_an_element_that_is_no_number_is_a_missing_row_and_no_other_row_changes() -> None:
    rows: list[Any] = [[1, 2], ["1", 2], [2**53, None], [4, True]]
    assert dp.told(rows, [5, 6, 7, 8], epsilon=1).value == ((1.0, 2.0, 5.0), (1.0, 2.0, 6.0), (4.0, 1.0, 8.0))
    uneven: list[Any] = [[1, 2], [3], 4, [5, 6, 7], [[8], 9], [10, 11]]
    assert dp.told(uneven, [1, 2, 3, 4, 5, 6], epsilon=1).value == ((1.0, 2.0, 1.0), (10.0, 11.0, 6.0))
    column: list[Any] = [1, [2, 3], None, 4]
    assert dp.told(column, [5, 6, 7, 8], epsilon=1).value == ((1.0, 5.0), (4.0, 8.0))


def test_no_rows_at_all_are_read_as_none() -> None:
    assert dp.told(np.empty((0, 3)), [], epsilon=1).value == ()
    assert dp.told([], [], epsilon=1).value == ()


@pytest.mark.parametrize(
    ("features", "outcome", "error", "words"),
    [
        ({}, INCOME, dp.InvalidParameterError, "takes from 1 to 40 features"),
        (np.empty((4, 0)), INCOME, dp.InvalidParameterError, "from 1 to 40 features"),
        (np.zeros((4, 41)), INCOME, dp.InvalidParameterError, "from 1 to 40 features"),
        (pd.DataFrame(MATRIX, columns=["a", "a"]), INCOME, dp.InvalidParameterError, "the feature 'a' twice"),
        (
            COLUMNS,
            pd.Series(INCOME, name="age"),
            dp.InvalidParameterError,
            r"'age' is the outcome of told and one of its features: leave one out, or rename one: y\.rename\('\.\.\.'\)",
        ),
        (MATRIX[:3], INCOME, dp.DataTypeError, "differ in their number of rows"),
        ({"age": AGE, "schooling": SCHOOLING[:3]}, INCOME, dp.DataTypeError, "differ in their number of rows"),
        ([np.zeros(2), [812, 2]], [1, 2], dp.DataTypeError, "list of columns must hold arrays or Series"),
        (np.zeros((2, 2, 2)), [1, 2], dp.DataTypeError, "has 3 dimensions"),
        (np.float64(812), [1, 2], dp.DataTypeError, "has 0 dimensions"),
        ("812", [1, 2], dp.DataTypeError, "got a single str"),
        (pl.LazyFrame(COLUMNS), INCOME, dp.DataTypeError, "collect it first"),
        (object(), INCOME, dp.DataTypeError, "got object"),
        (
            pd.DataFrame({"age": AGE, "name": ["Xanthippe"] * 4}),
            INCOME,
            dp.DataTypeError,
            "feature 'name' must be a column of numbers, and got one of text: for categories",
        ),
        (
            np.array([["1", "Xanthippe"]] * 4),
            INCOME,
            dp.DataTypeError,
            r"feature number 1 .* got one of text: .* C\(column\)",
        ),
        (
            {"day": pd.Series(pd.to_datetime(["2020-01-01"] * 4))},
            INCOME,
            dp.DataTypeError,
            "feature 'day' .* got one of dates or times: pass",
        ),
        (MATRIX, np.array(["Xanthippe"] * 4), dp.DataTypeError, "the outcome must be a column of numbers, and got one of text"),
        (MATRIX, pd.Series(["Xanthippe"] * 4, name="sex"), dp.DataTypeError, "outcome 'sex' .* pass y == \"yes\""),
        (COLUMNS, "Xanthippe", dp.DataTypeError, r"y must hold rows, got a single str: pass df\['wage'\]"),
        (["age"], "Xanthippe", dp.DataTypeError, "y must hold rows"),
        (MATRIX, MATRIX, dp.DataTypeError, "one dimension"),
    ],
)
def test_what_does_not_fit_is_refused_without_a_word_about_its_rows(
    features: Any, outcome: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words) as complaint:
        dp.told(features, outcome, epsilon=1)
    assert not any(secret in str(complaint.value) for secret in ("812", "Xanthippe"))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda data: dp.told(data, epsilon=1), dp.MissingParameterError, "needs y: it takes X and y"),
        (lambda data: dp.told(epsilon=1), dp.MissingParameterError, "needs X"),
        (lambda data: dp.told(data, data), dp.MissingParameterError, "needs epsilon"),
        (lambda data: dp.told(data, data, 1, 2, epsilon=1), dp.InvalidParameterError, "only power after the data"),
        (lambda data: dp.told(data, data, "a", epsilon=1), dp.InvalidParameterError, "power must be"),
    ],
)
def test_a_wrong_question_is_refused_before_the_data_is_looked_at(call: Any, error: type[Exception], words: str) -> None:
    class Untouchable:
        def __getattribute__(self, name: str) -> object:
            raise AssertionError("the data was read")

    with pytest.raises(error, match=words):
        call(Untouchable())


def test_the_help_says_what_features_may_be() -> None:
    common = ["epsilon", "delta", "neighbors", "method", "interval", "rough", "unit", "rng"]
    assert list(inspect.signature(dp.told).parameters) == ["X", "y", "power", *common]
    lines = {line.split()[0]: line for line in str(dp.told.__doc__).splitlines() if line.strip()}
    assert "the features: a two-dimensional array, a pandas or polars DataFrame" in lines["X"]
    assert "left out" in lines["X"]
    assert "the outcome, numbers: a list" in lines["y"]
