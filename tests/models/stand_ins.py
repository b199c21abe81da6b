"""Ordinary fits in the place of private regressions, for tests of what estimators do around them. They protect nobody."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn import linear_model

from dpstats.foundations import registry
from dpstats.foundations.registry import Answer, Parameter, Question, Reads, Refusal, Statistic
from dpstats.statistics.regression.fit import RegressionFit, named
from dpstats.statistics.step_regressions import INTERCEPT

ASKED: list[Question] = []
REFUSES = "refuses"
DIGITS = 9
"""Decimals of ordinary fits: the last digits of BLAS depend on the processor and on how rows lie in memory."""
REFUSAL = Refusal("It was refused.", "Ask for less.")


def _as_given(value: Any) -> Any:
    return value


def _ordinary(model: str, features: Any, outcome: Any, intercept: bool, quantile: float) -> tuple[float, list[float]]:
    """An intercept and coefficients by scikit-learn; of a single class an intercept far out."""
    if model == "logistic" and len(set(outcome)) < 2:
        return (10.0 if outcome[0] else -10.0), [0.0] * features.shape[1]
    models = {
        "linear": linear_model.LinearRegression(fit_intercept=intercept),
        "quantile": linear_model.QuantileRegressor(quantile=quantile, alpha=0.0, fit_intercept=intercept, solver="highs"),
        "logistic": linear_model.LogisticRegression(fit_intercept=intercept, solver="newton-cholesky"),
        "poisson": linear_model.PoissonRegressor(fit_intercept=intercept, alpha=0.1, solver="newton-cholesky"),
    }
    found = models[model].fit(features, outcome)
    return round(float(np.ravel(found.intercept_)[0]), DIGITS), np.round(np.ravel(found.coef_), DIGITS).tolist()


def stand_in(model: str) -> Statistic:
    """A statistic with the name and the parameters of a regression, by an ordinary fit."""
    parameters = (INTERCEPT, *([Parameter("quantile", "between 0 and 1", _as_given, 0.5)] if model == "quantile" else []))
    statistic = Statistic(f"{model}_regression", f"Only for tests: {model}.", parameters, (Reads.FEATURES, Reads.NUMBERS))

    def fitted(table: Any, question: Question, rng: Any) -> Answer | Refusal:
        ASKED.append(question)
        raw_rows = table.matrix()
        if len(raw_rows) < raw_rows.shape[1]:
            return REFUSAL
        has_intercept = question.arguments["intercept"]
        quantile = question.arguments.get("quantile", 0.5)
        intercept, found = _ordinary(model, raw_rows[:, :-1], raw_rows[:, -1], has_intercept, quantile)
        names, outcome = named(question)
        intercept = intercept if has_intercept else 0.0
        return Answer(RegressionFit(model, outcome, names, intercept, tuple(found), has_intercept=has_intercept))

    registry.method(statistic, "plain", claim="none")(fitted)
    registry.method(statistic, "spends", claim="none", needs_delta=True)(fitted)
    registry.method(statistic, REFUSES, claim="none")(lambda table, question, rng: REFUSAL)
    return statistic


@pytest.fixture
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Question]]:
    """They take the places of the regressions while a test runs; gives the questions that were asked."""
    for model in ("linear", "quantile", "logistic", "poisson"):
        replaced = registry.find_statistic(f"{model}_regression")
        monkeypatch.setitem(registry._STATISTICS, replaced.name, stand_in(model))
    ASKED.clear()
    yield ASKED
    ASKED.clear()
