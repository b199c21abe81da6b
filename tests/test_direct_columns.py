"""`dp.mle("gamma", x)` and friends: functions of one column or several without an outcome, with a first parameter before them."""

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
from tests.columns import Law
from tests.columns import column_statistics as _column_statistics

pytestmark = pytest.mark.usefixtures("column_statistics")
column_statistics = _column_statistics

NAN = float("nan")
AGE, INCOME, HOURS = [30.0, 41.0, NAN, 27.0], [100.0, NAN, 300.0, 400.0], [1.0, 2.0, 3.0, 4.0]
ALONE = ((27.0,), (30.0,), (41.0,))
BOTH = ((27.0, 400.0), (30.0, 100.0))
ALL = ((27.0, 400.0, 4.0), (30.0, 100.0, 1.0))
COLUMNS = {"age": AGE, "income": INCOME}
SECRET = 98765.4321

SINGLE: dict[str, Callable[[], Any]] = {
    "list": lambda: AGE,
    "list with None": lambda: [None if cell != cell else cell for cell in AGE],
    "array": lambda: np.array(AGE),
    "array of one column": lambda: np.array(AGE).reshape(-1, 1),
    "masked": lambda: np.ma.masked_invalid(AGE),
    "pandas": lambda: pd.Series(AGE),
    "polars": lambda: pl.Series(AGE),
    "arrow": lambda: pa.array(AGE),
    "dict": lambda: {"": AGE},
}
SEVERAL: dict[str, Callable[[], Any]] = {
    "dict": lambda: COLUMNS,
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "arrow": lambda: pa.table(COLUMNS),
    "list of Series": lambda: [pd.Series(AGE, name="age"), pl.Series("income", INCOME)],
}


@pytest.mark.parametrize("make", SINGLE.values(), ids=SINGLE)
def test_one_column_is_a_table_of_one(make: Callable[[], Any]) -> None:
    release = dp.fitted("gamma", make(), epsilon=1)
    assert release.value.rows == ALONE
    assert release.question == "fitted(gamma)"


@pytest.mark.parametrize("make", SEVERAL.values(), ids=SEVERAL)
def test_several_columns_come_in_one_container_with_their_names(make: Callable[[], Any]) -> None:
    release = dp.fitted("normal", make(), epsilon=1)
    assert release.value.rows == BOTH
    assert release.question == "fitted(normal, [age, income])"
    assert dp.listed(make(), epsilon=1).question == "listed([age, income])"


def test_further_containers_are_further_columns() -> None:
    frame, hours = pd.DataFrame(COLUMNS), pd.Series(HOURS, name="hours")
    release = dp.fitted("linear", frame, hours, epsilon=1)
    assert release.value.rows == ALL
    assert release.question == "fitted(linear, [age, income, hours])"
    assert dp.fitted("linear", AGE, INCOME, np.array(HOURS), epsilon=1).value.rows == ALL
    assert dp.fitted("linear", frame, np.array(HOURS), epsilon=1).question == "fitted(linear, [age, income, x3])"
    assert dp.listed(np.array(AGE), np.array([INCOME, HOURS]).T, epsilon=1).value == ALL


def test_words_may_be_given_by_name_and_other_parameters_are() -> None:
    assert dp.fitted("gamma", data=AGE, epsilon=1).value.rows == ALONE
    assert dp.fitted(AGE, law="gamma", epsilon=1).value.rows == ALONE
    named = dp.fitted(law="gamma", data=pd.Series(AGE, name="age"), blocks=7, bounds={"scale": [0, 2.5]}, epsilon=1)
    assert named.question == "fitted(gamma, age, blocks=7, bounds={scale: [0, 2.5]})"
    assert dp.fitted(Law("own(trials=3)"), AGE, epsilon=1).question == "fitted(own(trials=3))"
    assert dp.fitted(sorted, AGE, epsilon=1).question == "fitted(sorted)"


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: dp.fitted(epsilon=1), dp.MissingParameterError, r"needs data after its law: fitted\(law, data\)"),
        (lambda: dp.fitted([SECRET], epsilon=1), dp.MissingParameterError, r"needs data after its law: fitted\(law, data\)"),
        (lambda: dp.fitted([SECRET], "gamma", epsilon=1), dp.DataTypeError, r"single str: call fitted\(law, data\)"),
        (lambda: dp.fitted("gamma", "income", epsilon=1), dp.DataTypeError, "such as df\\['wage'\\]"),
        (lambda: dp.fitted("gamma", [SECRET], 300, epsilon=1), dp.InvalidParameterError, "by name after the columns: blocks="),
        (lambda: dp.listed([SECRET], None, epsilon=1), dp.InvalidParameterError, "blocks=, epsilon="),
        (lambda: dp.listed(epsilon=1), dp.MissingParameterError, "listed needs data"),
        (lambda: dp.fitted("gamma", [SECRET]), dp.MissingParameterError, "needs epsilon"),
        (lambda: dp.fitted("gama", [SECRET], epsilon=1), dp.UnknownNameError, "no law 'gama'"),
        (lambda: dp.fitted("gamma", [SECRET], law="gamma", epsilon=1), dp.DataTypeError, "single str"),
        (lambda: dp.fitted("gamma", [SECRET], block=3, epsilon=1), dp.UnknownNameError, "did you mean blocks"),
        (
            lambda: dp.fitted("gamma", np.array(["a", "b"]), epsilon=1),
            dp.DataTypeError,
            "this needs a column of numbers and got one of text",
        ),
        (
            lambda: dp.fitted("gamma", {"a": [SECRET], "b": np.array(["x"])}, epsilon=1),
            dp.DataTypeError,
            "column 'b': this needs",
        ),
        (lambda: dp.fitted("gamma", [SECRET], np.array(["x"]), epsilon=1), dp.DataTypeError, "column number 2: this needs"),
        (lambda: dp.fitted("gamma", [SECRET], [1.0, 2.0], epsilon=1), dp.DataTypeError, "differ in their number of rows"),
        (lambda: dp.listed(np.ones((2, 5)), epsilon=1), dp.InvalidParameterError, "takes from 1 to 4 columns"),
        (lambda: dp.listed({}, epsilon=1), dp.InvalidParameterError, "takes from 1 to 4 columns"),
        (lambda: dp.fitted("gamma", COLUMNS, pd.Series(AGE, name="age"), epsilon=1), dp.InvalidParameterError, "'age' twice"),
    ],
)
def test_errors_say_what_to_do_and_show_no_data(ask: Callable[[], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as raised:
        ask()
    assert str(SECRET) not in str(raised.value)


def test_help_shows_the_first_parameter_first_and_the_others_by_name() -> None:
    parameters = inspect.signature(dp.fitted).parameters
    assert list(parameters)[:5] == ["law", "data", "more", "blocks", "bounds"]
    assert parameters["law"].default is inspect.Parameter.empty
    assert parameters["more"].kind is inspect.Parameter.VAR_POSITIONAL
    assert parameters["blocks"].kind is parameters["epsilon"].kind is inspect.Parameter.KEYWORD_ONLY
    lines = (inspect.getdoc(dp.fitted) or "").splitlines()
    words = [line.split()[0] for line in lines[3:8]]
    assert words == ["law", "data", "*more", "blocks", "bounds"]
    assert list(inspect.signature(dp.listed).parameters)[:3] == ["data", "more", "blocks"]
