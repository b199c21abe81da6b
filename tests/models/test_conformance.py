"""The estimators pass every check of scikit-learn's `check_estimator` but those that are listed, and fail each of these."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

import dpstats as dp
from dpstats.models.deviations import DEVIATIONS
from tests.models.stand_ins import stand_ins as _stand_ins

stand_ins = _stand_ins
DOCUMENT = Path(__file__).parents[2] / "docs" / "models.md"
NEEDS_SETTINGS = "check_array_api_input"  # of the process, and is skipped without them

REFUSES = {"KNeighborsClassifier": pytest.mark.floors}
"""Estimators of which only the floor refuses a single row."""


def name_of(check: Any) -> str:
    """The name of a check's function, however often it is wrapped."""
    while isinstance(check, partial):
        check = check.func
    return str(check.__name__)


def every_check(names: list[str]) -> list[Any]:
    """Each estimator of these names with each check, as parameters of a test."""
    models = [getattr(dp.models, name)(epsilon=1000, rng=dp.testing.seeded(1)) for name in names]
    return [
        pytest.param(
            each, check, id=f"{type(model).__name__}-{place}-{name_of(check)}", marks=REFUSES.get(type(model).__name__, ())
        )
        for model in models
        for place, (each, check) in enumerate(estimator_checks_generator(model))
        if name_of(check) != NEEDS_SETTINGS
    ]


def fails_only_where_listed(model: Any, check: Any) -> None:
    if name_of(check) not in DEVIATIONS[type(model).__name__]:
        check(model)
        return
    with pytest.raises((AssertionError, dp.NoReplyError, dp.DataTypeError, dp.MissingParameterError)):
        check(model)


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("model", "check"), every_check(dp.models.__all__))
def test_a_check_passes_or_is_a_listed_deviation(model: Any, check: Any) -> None:
    fails_only_where_listed(model, check)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("model", "check"), every_check(["LinearRegression"]))
def test_a_check_of_private_linear_fits_passes_or_is_a_listed_deviation(model: Any, check: Any) -> None:
    fails_only_where_listed(model, check)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("model", "check"), every_check(["LogisticRegression", "PoissonRegressor", "QuantileRegressor"]))
def test_a_check_of_other_private_fits_passes_or_is_a_listed_deviation(model: Any, check: Any) -> None:
    fails_only_where_listed(model, check)


def test_every_listed_deviation_is_a_check_that_is_run() -> None:
    for name in dp.models.__all__:
        run = {name_of(each.values[1]) for each in every_check([name])}
        assert set(DEVIATIONS[name]) <= run
    assert sorted(DEVIATIONS) == sorted(dp.models.__all__)


def deviation_table() -> str:
    """The deviations as a table in Markdown."""
    reasons = dict.fromkeys((check, reason) for listed in DEVIATIONS.values() for check, reason in listed.items())
    rows = [
        f"| `{check}` | {_estimators_with(check, reason)} | {reason} |"
        for check, reason in sorted(reasons, key=lambda row: (_estimators_with(*row), row[0]))
    ]
    return "\n".join(["| check | estimators | why it fails |", "| --- | --- | --- |", *rows, ""])


def _estimators_with(check: str, reason: str) -> str:
    those = [name for name, listed in DEVIATIONS.items() if listed.get(check) == reason]
    return "all" if len(those) == len(DEVIATIONS) else ", ".join(f"`{name}`" for name in those)


def test_the_document_lists_the_deviations() -> None:
    assert deviation_table() in DOCUMENT.read_text(encoding="utf-8")
