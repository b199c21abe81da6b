"""Classifiers as estimators of scikit-learn: what they take, keep and predict."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import dpstats as dp

CHANCE = np.random.default_rng(4)
ROWS = 600
FRAME = pd.DataFrame({"age": CHANCE.normal(40, 10, ROWS), "region": np.array(["n", "s"])[CHANCE.integers(0, 2, ROWS)]})
BUYS = np.where(FRAME["age"] + np.where(FRAME["region"] == "s", 8, 0) > 44, "yes", "no")
NAMES = ["AdditiveClassifier", "NaiveBayes", "DecisionTree"]


def unfitted(name: str, **words: Any) -> Any:
    return getattr(dp.models, name)(**{"epsilon": 8, "delta": 1e-6, "rng": dp.testing.seeded(2), **words})


@pytest.mark.parametrize("name", NAMES)
def test_a_frame_with_columns_of_text_is_fitted_and_predicted(name: str) -> None:
    model = unfitted(name, classes=["yes", "no"], levels={"region": ["n", "s"]}).fit(FRAME, BUYS)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.feature_names_in_.tolist() == ["age", "region"]
    assert model.score(FRAME, BUYS) > 0.7
    assert np.array_equal(model.predict(FRAME), model.classes_[model.predict_proba(FRAME).argmax(axis=1)])
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(FRAME), model.predict(FRAME))
    assert model.release_.value.outcome == "y"


@pytest.mark.parametrize("name", NAMES)
def test_labels_and_classes_are_found_with_delta(name: str) -> None:
    model = unfitted(name, epsilon=20).fit(FRAME, BUYS)
    assert model.classes_.tolist() == ["no", "yes"]


def test_lists_have_numbers_and_texts_in_them_are_missing() -> None:
    rows = [[float(age), "?"] for age in FRAME["age"]]
    model = unfitted("AdditiveClassifier", delta=0).fit(rows, (FRAME["age"] > 40).astype(int).tolist())
    assert model.score(rows, FRAME["age"] > 40) > 0.9
    assert model.decision_function(rows).shape == (ROWS,)


class Raising:
    """A cell whose methods fail, and tell why."""

    def __init__(self, failure: type[BaseException]) -> None:
        self.failure = failure

    def __float__(self) -> float:
        raise self.failure("Ann's income")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise self.failure("Ann's income")

    def __len__(self) -> int:
        raise self.failure("Ann's income")


class PanicError(BaseException):
    """As libraries in Rust raise it."""


@pytest.mark.parametrize("cell", [Raising(ZeroDivisionError), Raising(PanicError), [1.0, 2.0], np.ones((2, 2)), 10**400])
@pytest.mark.parametrize("name", ["NaiveBayes", "DecisionTree", "AdditiveClassifier", "KMeans", "PCA", "LinearRegression"])
def test_no_cell_of_a_list_tells_by_an_error_or_changes_what_the_list_is(name: str, cell: Any) -> None:
    rows: list[Any] = [[float(age), float(place % 7)] for place, age in enumerate(FRAME["age"])]
    outcome = (FRAME["age"] > 40).astype(int).tolist()
    for odd in ([*rows, [cell, 1.0]], [rows[0], [1.0, cell], *rows[1:]]):  # of the first row the classes of cells are looked at
        model = unfitted(name, epsilon=50, delta=0, rng=None)
        assert model.fit(odd, [*outcome, 1]).n_features_in_ == 2


def test_three_classes_have_a_score_each() -> None:
    outcome = np.digitize(FRAME["age"], [35, 45])
    model = unfitted("AdditiveClassifier", classes=[0, 1, 2], epsilon=20).fit(FRAME[["age"]], outcome)
    assert model.decision_function(FRAME[["age"]]).shape == (ROWS, 3)
    assert model.score(FRAME[["age"]], outcome) > 0.8


def test_a_refusal_and_what_is_not_fitted_are_errors() -> None:
    model = unfitted("DecisionTree", epsilon=None)
    with pytest.raises(dp.MissingParameterError, match="needs epsilon"):
        model.fit(FRAME, BUYS)
    with pytest.raises(NotFittedError):
        clone(model).predict(FRAME)


@pytest.mark.floors
def test_too_few_rows_are_a_refusal() -> None:
    with pytest.raises(dp.NoReplyError, match="too few"):
        unfitted("NaiveBayes", epsilon=0.2, classes=["no", "yes"]).fit(FRAME[:30], BUYS[:30])
