"""`dp.covariance(x, y)` and friends: functions of two arrays."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpstats as dp
from tests.two_columns import together_by_hand
from tests.two_columns import two_column_statistics as _two_column_statistics

pytestmark = pytest.mark.usefixtures("two_column_statistics")
two_column_statistics = _two_column_statistics

X, Y = [1.0, 2.0, None, 4.0, 5.0], [2.0, None, 3.0, 8.0, -1.0]
TRUTH = together_by_hand([(1, 2), (4, 8), (5, -1)])


@pytest.mark.parametrize("box", [list, np.array, pd.Series, pl.Series])
def test_two_arrays_are_read_row_by_row(box: Any) -> None:
    x, y = (box([float("nan") if row is None else row for row in side]) for side in (X, Y))
    assert dp.together(x, y, epsilon=1).value == TRUTH
    assert dp.together(X, y, epsilon=1).value == TRUTH
    assert dp.together(x, y=Y, epsilon=1).value == TRUTH
    assert dp.together(x=X, y=Y, epsilon=1).value == TRUTH


def test_parameters_come_after_both_arrays() -> None:
    by = ["a", "a", "a", "b", None]
    assert dp.sizes(X, by, epsilon=1).value == (2, 1)
    assert dp.sizes(X, by, ["b", "c"], epsilon=1).value == (1, 0)
    assert dp.sizes(X, by=by, labels=["b"], epsilon=1).value == (1,)
    assert dp.crossed(["p", "q", "p"], [True, False, None], epsilon=1).value == ("p/1: 1", "q/0: 1")


def test_names_of_series_reach_the_question() -> None:
    income, age = pd.Series(X, name="income"), pl.Series("age", Y)
    assert dp.together(income, age, epsilon=1).question == "together(income, age)"
    assert dp.together(X, age, epsilon=1).question == "together(age)"
    assert dp.together(X, Y, epsilon=1).question == "together"


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda data: dp.together(data, epsilon=1), dp.MissingParameterError, "needs y: it takes x and y"),
        (lambda data: dp.together(epsilon=1), dp.MissingParameterError, "needs x"),
        (lambda data: dp.median(epsilon=1), dp.MissingParameterError, "median needs data"),
        (lambda data: dp.together(data, data), dp.MissingParameterError, "needs epsilon"),
        (lambda data: dp.together(data, data, 3, epsilon=1), dp.InvalidParameterError, "takes nothing after the data"),
        (lambda data: dp.together(data, data, x=data, epsilon=1), dp.UnknownNameError, "no parameter 'x'"),
        (lambda data: dp.together(data, data, epsilon=1, interval=0.3), dp.InvalidParameterError, "from 0.5 to 0.999"),
        (lambda data: dp.median(data, epsilon=1, interval="most"), dp.InvalidParameterError, "interval"),
    ],
)
def test_a_wrong_question_is_refused_before_the_arrays_are_looked_at(call: Any, error: type[Exception], words: str) -> None:
    class Untouchable:
        name = ""

        def __getattribute__(self, name: str) -> object:
            if name in ("__class__", "name"):
                return object.__getattribute__(self, name)
            raise AssertionError("the data was read")

    with pytest.raises(error, match=words):
        call(Untouchable())


def test_arrays_of_different_lengths_are_refused_and_their_lengths_not_told() -> None:
    with pytest.raises(dp.DataTypeError, match="differ in their number of rows") as complaint:
        dp.together(X, [1.0] * 812, epsilon=1)
    assert not any(digit in str(complaint.value) for digit in "0123456789")


def test_a_type_that_does_not_fit_is_refused() -> None:
    with pytest.raises(dp.DataTypeError, match="got one of text"):
        dp.together(X, np.array(["a"] * 5), epsilon=1)


def test_either_goes_by_the_declared_type_and_never_by_the_rows() -> None:
    assert dp.look(np.array([1, 2]), epsilon=1).value == "numbers"
    assert dp.look(np.array(["1", "2"]), epsilon=1).value == "labels"
    assert dp.look_at_both(np.array([1, 2]), [1, 2], epsilon=1).value == "numbers"
    assert dp.look_at_both(np.array(["1", "b"]), [1, 2], epsilon=1).value == "labels"
    for rows in ([1, 2, 3], [1, 2, "a"], [1, "b", "a"]):
        with pytest.raises(dp.DataTypeError, match="declares no type: say kind='numbers' or kind='labels'"):
            dp.look(rows, epsilon=1)


def test_the_signature_and_the_help_name_the_arrays_and_the_interval() -> None:
    words = {"together": ["x", "y"], "sizes": ["values", "by", "labels"], "crossed": ["rows", "columns"], "look": ["data"]}
    common = ["epsilon", "delta", "neighbors", "method", "interval", "rough", "unit", "rng"]
    for name, own in words.items():
        function = getattr(dp, name)
        signature = inspect.signature(function)
        assert list(signature.parameters) == [*own, *common]
        assert signature.parameters["interval"].default == 0.95
        assert all(f"\n  {word}" in function.__doc__ for word in [*own, *common])
    assert "numbers: a list" in str(dp.together.__doc__)
    assert "values of any type, of the same rows in the same order" in str(dp.sizes.__doc__)
    assert "numbers, or values of any other type" in str(dp.look.__doc__)


def test_the_level_of_intervals_reaches_the_statistic_and_the_card() -> None:
    assert [each.level for each in dp.levels(X, epsilon=1).intervals] == [0.95, 0.95]
    release = dp.levels(X, epsilon=1, interval=0.9)
    assert [each.level for each in release.intervals] == [0.9, 0.9]
    assert release.question == "levels(interval=0.9)"
    assert "each covers nothing" in str(release.card())
    assert dp.levels(X, epsilon=1, interval=None).intervals == ()
