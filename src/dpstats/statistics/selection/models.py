"""Which model predicts a few rows best: the one with the least squared error on rows that it has not seen.

Every block is cut into the same number of folds by the place of its rows, each model is fitted without a fold and predicts it. A
model of marks ("logistic") predicts probabilities, so that its squared error is Brier's score and all models can be compared.
Whatever a model draws at random begins at the same seed in every block, so that a block's vote is a function of its rows.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpstats.foundations.errors import InvalidParameterError, MissingExtraError
from dpstats.foundations.registry import Question
from dpstats.statistics.aggregation.row_blocks import Floats

FOLDS = 5
LEAST_ROWS = 2 * FOLDS
SEED = 0
_ROUNDED = 1 + 1e-9
"""Far more than sums of errors can be off by rounding."""
MARK = 0.5
"""An outcome above this is a mark of 1, for models of marks."""

LONGEST_NAME = 60
_SETTLED = {"random_state": SEED, "n_jobs": 1}

Estimators = Mapping[str, Any]
Step = tuple[str, dict[str, Any]]
_LINEAR: Step = ("linear_model.LinearRegression", {})
_STANDARD: Step = ("preprocessing.StandardScaler", {})

MODELS: dict[str, tuple[Step, ...]] = {
    "constant": (("dummy.DummyRegressor", {}),),
    "linear": (_LINEAR,),
    "quadratic": (_STANDARD, ("preprocessing.PolynomialFeatures", {"degree": 2, "include_bias": False}), _LINEAR),
    "lasso": (_STANDARD, ("linear_model.LassoLarsIC", {"criterion": "bic"})),
    "ridge": (_STANDARD, ("linear_model.RidgeCV", {"alphas": np.logspace(-3, 3, 13)})),
    "tree": (("tree.DecisionTreeRegressor", {"min_samples_leaf": 5, "random_state": SEED}),),
    "forest": (("ensemble.RandomForestRegressor", {"n_estimators": 50, "min_samples_leaf": 3, **_SETTLED}),),
    "nearest": (_STANDARD, ("neighbors.KNeighborsRegressor", {"n_neighbors": 7})),
    "logistic": (_STANDARD, ("linear_model.LogisticRegression", {})),
}
"""The steps of each model: a class of scikit-learn, which is imported when a model is made, and its settings."""


def check_scikit_learn(question: Question) -> None:
    """Raise where scikit-learn, which fits blocks, is not installed."""
    if importlib.util.find_spec("sklearn") is None:
        raise MissingExtraError(
            f"{question.statistic.name} needs scikit-learn: pip install 'dpstats[models]', or in a clone of dpstats "
            "pip install -e '.[models]'."
        )


def estimators_of(names: tuple[str, ...]) -> Estimators:
    """The models by their names."""
    return {name: _made(MODELS[name]) for name in names}


def checked_estimators(given: object) -> Estimators:
    """An analyst's own models by name, each with a fixed seed wherever it draws at random, and in one thread."""
    if (
        not isinstance(given, Mapping)
        or len(given) < 2
        or not all(isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name.isprintable() for name in given)
    ):
        raise InvalidParameterError(
            f"models must be a dict of two or more scikit-learn estimators by name, of {LONGEST_NAME} letters at most."
        )
    return {name: _settled(name, estimator) for name, estimator in given.items()}


def best_model(raw_rows: Floats, estimators: Estimators) -> str | None:
    """The name of the model with the least error on unseen rows, the first of equals; None where no model can be fitted.

    Squared errors only add up: the model with the least sum so far predicts its next fold, until none that is left can win.
    """
    if len(raw_rows) < LEAST_ROWS or not np.isfinite(raw_rows).all():
        return None
    raw_misses: dict[str, list[Floats]] = {name: [] for name in estimators}
    sums, errors = dict.fromkeys(estimators, 0.0), dict.fromkeys(estimators, math.inf)
    least = math.inf
    while sums and sums[name := min(sums, key=lambda each: sums[each])] <= least * _ROUNDED:
        raw_misses[name].append(_fold_misses(raw_rows, len(raw_misses[name]), estimators[name]))
        total = sums.pop(name) + float(raw_misses[name][-1].sum())
        if math.isfinite(total) and len(raw_misses[name]) < FOLDS:
            sums[name] = total
        elif math.isfinite(total):
            errors[name], least = float(np.concatenate(raw_misses[name]).mean()), min(least, total)
    best = min(errors, key=lambda name: errors[name])
    return best if math.isfinite(errors[best]) else None


def _fold_misses(raw_rows: Floats, fold: int, estimator: Any) -> Floats:
    """The squared errors on a fold; infinite where the model fails on it."""
    unseen = np.arange(len(raw_rows)) % FOLDS == fold
    try:
        return _squared_errors(raw_rows[~unseen], raw_rows[unseen], estimator)
    except Exception:  # a model that cannot be fitted to these rows does not win them
        return np.array([math.inf])


def _squared_errors(raw_seen: Floats, raw_unseen: Floats, estimator: Any) -> Floats:
    from sklearn.base import clone, is_classifier

    model = clone(estimator)
    if is_classifier(model):
        raw_marks = raw_seen[:, -1] > MARK
        model.fit(raw_seen[:, :-1], raw_marks)
        predicted = model.predict_proba(raw_unseen[:, :-1])[:, list(model.classes_).index(True)]
    else:
        model.fit(raw_seen[:, :-1], raw_seen[:, -1])
        predicted = np.ravel(model.predict(raw_unseen[:, :-1]))
    return np.asarray((predicted - raw_unseen[:, -1]) ** 2)


def _made(steps: tuple[Step, ...]) -> Any:
    """The estimator of one step, or a pipeline of several."""
    from sklearn.pipeline import make_pipeline

    made = []
    for path, settings in steps:
        module, _, kind = path.rpartition(".")
        made.append(getattr(importlib.import_module(f"sklearn.{module}"), kind)(**settings))
    return make_pipeline(*made) if len(made) > 1 else made[0]


def _settled(name: str, estimator: Any) -> Any:
    """A copy that makes the same of the same rows: threads add up in the order in which they come."""
    from sklearn.base import clone

    try:
        own = clone(estimator)
        parameters = [(each, each.rpartition("__")[2]) for each in own.get_params(deep=True)]
        own.set_params(**{each: _SETTLED[last] for each, last in parameters if last in _SETTLED})
    except Exception:
        raise InvalidParameterError(f"the model {name!r} is no scikit-learn estimator: give one with fit and predict.") from None
    return own
