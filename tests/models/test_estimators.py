"""Regressions as estimators of scikit-learn: what they ask, keep, predict and refuse."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import dpstats as dp
from dpstats.foundations.randomness import SeededSource, SystemSource
from dpstats.foundations.registry import Question
from dpstats.models.private_estimator import PrivateEstimator
from tests.models.stand_ins import REFUSES
from tests.models.stand_ins import stand_ins as _stand_ins

stand_ins = _stand_ins
with_stand_ins = pytest.mark.usefixtures("stand_ins")

ROWS = 200
CHANCE = np.random.default_rng(5)
X = CHANCE.normal(size=(ROWS, 2))
LINE = 0.5 + X @ np.array([1.0, -2.0])
OUTCOMES: dict[str, NDArray[Any]] = {
    "LinearRegression": LINE,
    "QuantileRegressor": LINE,
    "PoissonRegressor": CHANCE.poisson(np.exp(LINE)),
    "LogisticRegression": (LINE + CHANCE.logistic(size=ROWS) > 0).astype(int),
}
FRAME = pd.DataFrame(X, columns=["age", "schooling"])
every_model = pytest.mark.parametrize("name", OUTCOMES)


def unfitted(name: str, **changes: Any) -> Any:
    return getattr(dp.models, name)(**{"epsilon": 1, "rng": dp.testing.seeded(1), **changes})


def fitted(name: str, features: Any = X, **changes: Any) -> Any:
    return unfitted(name, **changes).fit(features, OUTCOMES[name])


@with_stand_ins
@every_model
def test_a_fit_keeps_what_was_released(name: str) -> None:
    model = fitted(name)
    fit = model.release_.value
    assert np.ravel(model.coef_).tolist() == list(fit.coefficients)
    assert float(np.ravel(model.intercept_)[0]) == fit.intercept
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
    assert model.release_.cost.epsilon == 1
    assert not model.release_.private
    predicted = model.predict_proba(X)[:, 1] if name == "LogisticRegression" else model.predict(X)
    np.testing.assert_allclose(predicted, fit.predict(X), rtol=1e-12)


@every_model
def test_every_parameter_reaches_the_question(name: str, stand_ins: list[Question]) -> None:
    own = {"quantile": 0.9} if name == "QuantileRegressor" else {}
    asked = {"epsilon": 0.5, "delta": 1e-6, "method": "spends", "neighbors": "change_one", "interval": None}
    model = fitted(name, fit_intercept=False, **asked, **own)
    (question,) = stand_ins
    assert question.cost == dp.PrivacyCost(Fraction(1, 2), Fraction(1, 10**6), "change_one", "row")
    assert question.arguments == {"intercept": False, **own}
    assert question.interval is None
    assert np.ravel(model.intercept_).tolist() == [0.0]


@with_stand_ins
@every_model
def test_names_of_columns_are_kept_and_asked_for(name: str) -> None:
    model = fitted(name, FRAME)
    assert model.feature_names_in_.tolist() == ["age", "schooling"]
    np.testing.assert_array_equal(model.predict(FRAME), fitted(name).predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(FRAME[["schooling", "age"]])


@with_stand_ins
@every_model
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_a_release_names_the_columns_of_a_frame(name: str, make: Any) -> None:
    table = make({"age": X[:, 0], "schooling": X[:, 1]})
    model = fitted(name, table)
    assert model.release_.value.features == ("age", "schooling")
    np.testing.assert_array_equal(model.predict(table), fitted(name).predict(X))


@with_stand_ins
@every_model
def test_a_list_of_rows_is_read_as_an_array_is(name: str) -> None:
    model = unfitted(name).fit(X.tolist(), OUTCOMES[name].tolist())
    np.testing.assert_array_equal(model.predict(X.tolist()), fitted(name).predict(X))


def test_epsilon_has_no_default_that_spends_and_is_asked_for_before_data_is_read() -> None:
    for name in dp.models.__all__:
        model = getattr(dp.models, name)()
        assert model.get_params()["epsilon"] is None
        with pytest.raises(dp.MissingParameterError, match=f"{name} needs epsilon"):
            model.fit(object(), object())


@with_stand_ins
@every_model
def test_parameters_can_be_read_set_and_cloned(name: str) -> None:
    model = unfitted(name, delta=1e-6)
    assert set(model.get_params()) >= {"epsilon", "delta", "fit_intercept", "method", "neighbors", "interval", "rng"}
    assert model.set_params(epsilon=3).fit(X, OUTCOMES[name]).release_.cost.epsilon == 3
    copy = clone(model)
    assert copy.get_params() | {"rng": None} == model.get_params() | {"rng": None}
    with pytest.raises(NotFittedError):
        copy.predict(X)


@with_stand_ins
@every_model
def test_a_fitted_model_can_be_pickled_with_its_release(name: str) -> None:
    model = fitted(name, FRAME)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(FRAME), model.predict(FRAME))
    assert again.release_ == model.release_


@with_stand_ins
@every_model
def test_a_refused_fit_raises_keeps_the_refusal_and_forgets_the_fit_before(name: str) -> None:
    model = fitted(name).set_params(method=REFUSES)
    with pytest.raises(dp.NoReplyError, match=f"{name} was not fitted.*cost epsilon = 1.*Ask for less"):
        model.fit(X, OUTCOMES[name])
    assert isinstance(model.release_, dp.NoReply)
    assert model.release_.cost.epsilon == 1
    with pytest.raises(NotFittedError):
        model.predict(X)


@every_model
def test_models_work_in_pipelines_and_every_fit_of_a_search_is_paid_for(name: str, stand_ins: list[Question]) -> None:
    pipeline = make_pipeline(FunctionTransformer(np.tanh), unfitted(name))
    assert len(cross_val_score(pipeline, X, OUTCOMES[name], cv=4)) == 4
    assert [question.epsilon for question in stand_ins] == [1] * 4
    search = GridSearchCV(unfitted(name), {"fit_intercept": [True, False]}, cv=3).fit(X, OUTCOMES[name])
    assert len(stand_ins) == 4 + 2 * 3 + 1
    assert search.best_estimator_.release_.cost.epsilon == 1


NOTHING = np.full(ROWS, np.nan)
HUGE = np.where(np.arange(ROWS) % 2, np.inf, -np.inf)
ODD: list[Any] = [None, "812", [812], {"a": 812}, np.nan, 10**400, object(), np.array([812, 2])] * (ROWS // 8)
ONE_ODD: list[Any] = [*LINE[1:].tolist(), {}]


@with_stand_ins
@every_model
@pytest.mark.parametrize(
    ("features", "outcome"),
    [
        (np.empty((0, 2)), np.empty(0)),
        (X[:1], LINE[:1]),
        (np.full_like(X, np.nan), LINE),
        (np.column_stack([HUGE, HUGE]), LINE),
        (np.zeros_like(X), LINE),
        (np.where(X > 0, np.array({}), 1), LINE),
        (X, NOTHING),
        (X, HUGE),
        (X, np.ones(ROWS)),
        (X, np.zeros(ROWS)),
        (X, ODD),
        (X, ONE_ODD),
        (X, np.array(ONE_ODD, dtype=object)),
        (X, np.ma.masked_array(LINE, mask=True)),
        (X, pd.Series(LINE).mask(LINE > 0)),
    ],
)
def test_no_rows_can_raise_anything_but_a_refusal(name: str, features: Any, outcome: Any) -> None:
    model = unfitted(name, rng=None)
    try:
        model.fit(features, outcome)
    except dp.NoReplyError:
        assert isinstance(model.release_, dp.NoReply)
    else:
        assert isinstance(model.release_, dp.Release)


@with_stand_ins
@every_model
@pytest.mark.parametrize(
    ("features", "outcome", "words"),
    [
        (X[:, 0], LINE, "Reshape your data"),
        (X[:-1], LINE, "differ in their number of rows"),
        (X.astype(complex), LINE, "Complex data not supported"),
        ([812, 1], [1, 2], "Reshape your data"),
        ({"age": LINE}, LINE, "got dict"),
        (object(), LINE, "got object"),
        (X, object(), "y must be a column of rows"),
        (X, None, "requires y"),
        (X, X, "one dimension"),
        (np.empty((ROWS, 0)), LINE, "from 1 to 40 features"),
        (FRAME.assign(age="Xanthippe"), LINE, "got one of text"),
    ],
)
def test_what_does_not_fit_by_its_type_or_shape_is_a_value_error(name: str, features: Any, outcome: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words) as complaint:
        unfitted(name, rng=None).fit(features, outcome)
    assert not any(secret in str(complaint.value) for secret in ("812", "Xanthippe"))


@with_stand_ins
def test_a_row_with_a_missing_cell_is_left_out_of_a_fit_and_has_no_prediction() -> None:
    holed = X.copy()
    holed[0, 0] = np.nan
    model = unfitted("LinearRegression").fit(holed, LINE)
    np.testing.assert_allclose(model.coef_, [1.0, -2.0])
    assert np.isnan(model.predict(holed)).tolist() == [True] + [False] * (ROWS - 1)
    with pytest.raises(ValueError, match="contains NaN"):
        fitted("LogisticRegression", holed).predict(holed)


@with_stand_ins
def test_a_classifier_knows_two_classes_that_are_0_and_1_or_are_listed() -> None:
    zeros_and_ones = OUTCOMES["LogisticRegression"]
    model = fitted("LogisticRegression")
    assert model.classes_.tolist() == [0, 1]
    assert model.coef_.shape == (1, 2)
    assert model.score(X, zeros_and_ones) > 0.7
    np.testing.assert_allclose(np.log(model.predict_proba(X)), model.predict_log_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X) == 1, model.decision_function(X) > 0)
    words = np.where(zeros_and_ones == 1, "yes", "no")
    for labels in (words, words.tolist(), words.astype(object), pd.Series(words), pl.Series(words), pd.Categorical(words)):
        named = unfitted("LogisticRegression", classes=["yes", "no"]).fit(X, labels)
        assert named.classes_.tolist() == ["no", "yes"]
        np.testing.assert_array_equal(named.coef_, model.coef_)
        np.testing.assert_array_equal(named.predict(X) == "yes", model.predict(X) == 1)
    for declared in (words, pd.Series(words, dtype="string"), pl.Series(words), pd.Categorical(words)):  # as text
        with pytest.raises(ValueError, match="list its two labels, such as classes="):
            unfitted("LogisticRegression").fit(X, declared)
    np.testing.assert_array_equal(unfitted("LogisticRegression").fit(X, zeros_and_ones > 0).coef_, model.coef_)


@with_stand_ins
@pytest.mark.parametrize("classes", [None, [0, 1]])
def test_rows_with_another_label_are_left_out(classes: Any) -> None:
    labels = OUTCOMES["LogisticRegression"]
    kept = np.arange(ROWS) % 3 > 0
    wanted = unfitted("LogisticRegression").fit(X[kept], labels[kept]).coef_
    masked = np.ma.masked_array(labels, mask=~kept)
    for others in (np.where(kept, labels, 2), [each if keep else {} for each, keep in zip(labels, kept, strict=True)], masked):
        np.testing.assert_array_equal(unfitted("LogisticRegression", classes=classes).fit(X, others).coef_, wanted)


@with_stand_ins
@pytest.mark.parametrize("classes", [["no"], ["no", "no"], ["a", "b", "c"], ["no", 1], [None, None], 7, [{}, {}]])
def test_classes_are_two_labels_of_one_type(classes: Any) -> None:
    with pytest.raises(dp.InvalidParameterError, match="two different labels"):
        fitted("LogisticRegression", classes=classes)


@with_stand_ins
def test_predicted_counts_are_scored_by_deviance() -> None:
    model = fitted("PoissonRegressor")
    assert 0.5 < model.score(X, OUTCOMES["PoissonRegressor"]) < 1
    assert (model.predict(X) > 0).all()
    assert model.predict([[1e300, -1e300]]).tolist() == [np.inf]


def test_a_seeded_fit_repeats_itself_and_leaves_its_source_alone() -> None:
    model = unfitted("LinearRegression", epsilon=100)
    first = model.fit(X, LINE).coef_
    np.testing.assert_array_equal(model.fit(X, LINE).coef_, first)
    np.testing.assert_array_equal(clone(model).fit(X, LINE).coef_, first)
    assert (fitted("LinearRegression", epsilon=100, rng=dp.testing.seeded(2)).coef_ != first).all()


def test_two_private_fits_differ() -> None:
    first, second = (fitted("LinearRegression", epsilon=100, rng=None) for _ in range(2))
    assert first.release_.private
    assert (first.coef_ != second.coef_).all()


def test_a_private_source_that_copies_would_repeat_is_refused() -> None:
    class Buffered(SeededSource):
        private = True

    with pytest.raises(dp.InvalidParameterError, match="copies repeat it"):
        fitted("LinearRegression", rng=Buffered(1))
    with pytest.raises(dp.InvalidParameterError, match="must come from"):
        fitted("LinearRegression", rng=7)
    assert fitted("LinearRegression", epsilon=100, rng=SystemSource()).release_.private


def test_scores_of_held_out_rows_by_a_private_fit_are_high_at_a_large_epsilon() -> None:
    model = unfitted("LinearRegression", epsilon=100)
    assert cross_val_score(model, FRAME, LINE, cv=2).min() > 0.9
    assert cross_val_predict(model, FRAME, LINE, cv=2).shape == (ROWS,)


@pytest.mark.parametrize("name", dp.models.__all__)
def test_every_estimator_is_documented_and_takes_what_all_take(name: str) -> None:
    model = getattr(dp.models, name)
    assert "private" in (inspect.getdoc(model) or "").splitlines()[0]
    shared = list(inspect.signature(PrivateEstimator).parameters)
    parameters = inspect.signature(model).parameters
    assert [each for each in parameters if each in shared] == shared
    assert all(parameters[each].default == inspect.signature(PrivateEstimator).parameters[each].default for each in shared)


def test_the_names_are_listed_and_an_unknown_one_is_an_attribute_error() -> None:
    assert sorted(dp.models.__all__) == dir(dp.models)
    with pytest.raises(AttributeError, match="LinearRegression"):
        _ = dp.models.Ridge


def test_without_scikit_learn_everything_else_works_and_the_error_names_the_extra() -> None:
    program = (
        "import sys\nsys.modules['sklearn'] = None\nfrom dpstats import *\nimport dpstats\ndir(dpstats.models)\n"
        "try:\n    dpstats.models.LinearRegression\nexcept dpstats.MissingExtraError as error:\n    print(error)\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "dpstats[models]" in result.stdout
