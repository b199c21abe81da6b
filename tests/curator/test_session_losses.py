"""A session charges what the method of a question loses, for the unit, where its accountant looks at that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.curator.session import Session
from dpstats.foundations.registry import find_statistic

EIGHTH, HALF = Fraction(1, 8), Fraction(1, 2)
ROWS = 600


@pytest.fixture(autouse=True)
def exponential_medians() -> Iterator[None]:
    """Every method of the median is taken for an exponential mechanism; others for no more than pure."""
    losses = {"median": EIGHTH, "count": HALF, "iqr": EIGHTH}
    kept = {name: dict(find_statistic(name).methods) for name in losses}
    for name, methods in kept.items():
        for each, method in methods.items():
            find_statistic(name).methods[each] = replace(method, loss=losses[name])
    yield
    for name, methods in kept.items():
        find_statistic(name).methods.update(methods)


def session(**changes: Any) -> Session:
    generator = np.random.default_rng(3)
    table = {
        "person": np.arange(ROWS) // 3,
        "income": generator.lognormal(10, 0.7, ROWS),
        "region": np.array(["north", "south"])[generator.integers(0, 2, ROWS)],
    }
    settings = {"unit": "row", "budget": dp.Budget(3, 1e-4, "zcdp"), "ledger": ":memory:", **changes}
    return dp.protect(table, **settings)


def last_loss(survey: Session) -> Fraction:
    last = survey.ledger.last_question
    assert last is not None
    return last[2]


@pytest.mark.parametrize("accountant", ["zcdp", "advanced"])
def test_an_exponential_mechanism_is_charged_less_than_laplace_noise(accountant: str) -> None:
    survey = session(budget=dp.Budget(3, 1e-4, accountant))
    survey.median("income", epsilon=0.1)
    after_median = survey.ledger.total.loss
    survey.count(epsilon=0.1)
    assert after_median < (survey.ledger.total.loss - after_median) * Fraction(1, 2)
    assert survey.ledger.how_many(dp.PrivacyCost(0.1), EIGHTH) == survey.remaining.more("median", epsilon=0.1)
    assert survey.remaining.more("median", epsilon=0.1) > 2 * survey.remaining.more("count", epsilon=0.1)


@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
def test_a_unit_of_several_rows_is_charged_by_the_same_factor(neighbors: str) -> None:
    survey = session(unit="person", max_rows_per_unit=3, neighbors=neighbors)
    survey.where("income > 0").median("income", epsilon=0.3)
    assert last_loss(survey) == EIGHTH
    assert survey.ledger.total.loss == Fraction(9, 100) / 8


def test_a_delta_on_several_rows_is_charged_as_pure_and_on_one_row_as_the_method_says() -> None:
    tested = next(name for name, method in find_statistic("iqr").methods.items() if method.needs_delta)
    one, three = session(), session(unit="person", max_rows_per_unit=3)
    for survey, loss in ((one, EIGHTH), (three, HALF)):
        survey.iqr("income", epsilon=0.3, delta=1e-6, method=tested)
        assert last_loss(survey) == loss


def test_groups_with_public_keys_are_charged_as_one_question_and_private_ones_as_pure() -> None:
    survey = session()
    survey.group_by("region", keys=["north", "south"]).median("income", epsilon=0.2)
    assert last_loss(survey) == EIGHTH
    survey.group_by("region").median("income", epsilon=0.2, delta=1e-6)
    assert last_loss(survey) == HALF


def test_epsilons_that_add_up_are_charged_as_before() -> None:
    survey = session(budget=dp.Budget(3))
    survey.median("income", epsilon="0.1")
    assert survey.ledger.total.loss == Fraction(1, 10)
    assert survey.remaining.more("median", epsilon="0.1") == survey.remaining.more("count", epsilon="0.1") == 29
