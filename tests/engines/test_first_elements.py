"""Columns that declare no type and begin with elements that a statistic cannot read are an error, and nothing is spent."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpstats as dp
from dpstats.curator.session import Session
from dpstats.engines.kinds import unreadable_element
from dpstats.engines.stores.memory import MemoryStore
from dpstats.foundations.errors import DataTypeError
from dpstats.foundations.registry import Reads
from tests.refuted.every_method import Asked, every_method

ROWS = 40


class Thing:
    """Something that is no number, text or date."""


NO_LABELS: dict[str, Any] = {
    "list": [1.0],
    "tuple": (1.0, 2.0),
    "dict": {"x": 1.0},
    "set": {1.0},
    "complex": 1j,
    "object": Thing(),
}
NO_NUMBERS: dict[str, Any] = {
    "date": datetime.date(2024, 1, 31),
    "datetime": datetime.datetime(2024, 1, 31, 12),
    "datetime64": np.datetime64("2024-01-31"),
    "timestamp": pd.Timestamp("2024-01-31"),
    "timedelta": datetime.timedelta(days=1),
    "time": datetime.time(12),
    "uuid": uuid.UUID(int=7),
    **NO_LABELS,
}
SAY_NOTHING: dict[str, Any] = {"none": None, "nan": float("nan"), "NaT": pd.NaT, "NA": pd.NA, "text": "a name", "octets": b"a"}
CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "array": lambda rows: np.fromiter(rows, dtype=object, count=len(rows)),
    "pandas": lambda rows: pd.Series(np.fromiter(rows, dtype=object, count=len(rows)), dtype=object),
    "polars": lambda rows: pl.Series(rows, dtype=pl.Object),
}
EVERY = list({each.statistic.name: each for each in every_method()}.values())
"""A question of each statistic: how columns are read does not depend on the method."""
NUMBERS, LABELS = np.arange(ROWS, dtype=float), np.array(["a", "b"] * (ROWS // 2))


def reads(asked: Asked, numeric: bool) -> bool:
    """Whether a question reads a column that declares no type as numbers, or as labels."""
    statistic = asked.statistic
    if statistic.only_counts or statistic.name == "sample_and_aggregate":  # a function of blocks takes rows of any kind
        return False
    if statistic.name == "histogram":
        return True
    if statistic.reads_codes:
        return not numeric and asked.table_columns == ["x", "l"]
    return (Reads.NUMBERS if numeric else Reads.LABELS) in statistic.reads_of(len(statistic.reads))


def refused(ask: Callable[[], Any]) -> str:
    with pytest.raises(DataTypeError) as complaint:
        ask()
    return str(complaint.value)


def words_of(asked: Asked, numeric: bool) -> dict[str, Any]:
    """Epsilon, and whether a histogram reads numbers."""
    kind = {"kind": "numbers" if numeric else "labels"} if asked.statistic.name == "histogram" else {}
    return {"epsilon": 1, **kind}


@pytest.mark.parametrize("numeric", [True, False], ids=["numbers", "labels"])
@pytest.mark.parametrize("asked", EVERY, ids=str)
def test_every_statistic_refuses_elements_that_it_cannot_read(asked: Asked, numeric: bool) -> None:
    if not reads(asked, numeric):
        return
    words = words_of(asked, numeric)
    for element in (NO_NUMBERS if numeric else NO_LABELS).values():
        odd = [element, *([1.0] * (ROWS - 1))]
        table = {"x": odd, "y": odd, "l": LABELS, "m": LABELS} if numeric else {"x": NUMBERS, "y": NUMBERS, "l": odd, "m": odd}
        if asked.statistic.name == "histogram":
            table = dict.fromkeys(table, odd)
        if not asked.statistic.takes_features:  # a list is a list of features there, which has errors of its own
            assert "begins with" in refused(lambda table=table: asked.of(table["x"], table["l"], **words))  # type: ignore[misc]
        survey = session(table)
        assert "begins with" in refused(lambda survey=survey: asked.by(survey, **words))  # type: ignore[misc]
        assert survey.ledger.spent.epsilon == 0


def session(table: dict[str, Any] | None = None, **words: Any) -> Session:
    rows = {"d": [NO_NUMBERS["date"]] * ROWS, "x": NUMBERS} if table is None else table
    return dp.protect(rows, unit="row", budget=dp.Budget(99, "0.1"), ledger=":memory:", **words)


@pytest.mark.parametrize("make", CONTAINERS.values(), ids=CONTAINERS)
def test_the_first_element_decides_in_every_container_without_a_type(make: Callable[[list[Any]], Any]) -> None:
    for element in NO_NUMBERS.values():
        assert "begins with" in refused(lambda element=element: dp.mean(make([element, *NUMBERS.tolist()]), epsilon=1))  # type: ignore[misc]
        assert isinstance(dp.count(make([element, *NUMBERS.tolist()]), epsilon=1), dp.Release)
        assert dp.mean(make([1.0, element, *NUMBERS.tolist()]), epsilon=1, rng=dp.testing.seeded(1)).cost.epsilon == 1


@pytest.mark.parametrize("element", SAY_NOTHING.values(), ids=SAY_NOTHING)
def test_a_first_element_that_is_missing_or_a_text_says_nothing(element: Any) -> None:
    days = [element, *[NO_NUMBERS["date"]] * ROWS]
    assert dp.mean(days, epsilon=1).cost.epsilon == 1
    assert unreadable_element(type(element), numeric=True) is None


def test_a_declared_type_is_not_for_the_first_element_to_contradict() -> None:
    assert session(types={"d": "number"}).mean("d", epsilon=1).cost.epsilon == 1
    assert "d is of type date" in refused(lambda: session(types={"d": "date"}).mean("d", epsilon=1))
    assert session({"d": []}).mean("d", epsilon=1).cost.epsilon == 1


EXPRESSIONS: dict[str, Callable[[Session], Any]] = {
    "a derived column": lambda table: table.with_columns(z="d * 2").mean("z", epsilon=1),
    "a condition": lambda table: table.where("d > 3").count(epsilon=1),
    "a formula": lambda table: table.regression("x ~ d", epsilon=1),
    "groups": lambda table: table.where("d > 3").group_by("x", keys=[1]).count(epsilon=1),
    "a question in groups": lambda table: table.group_by("x", keys=[1]).mean("d", epsilon=1),
    "a formula in groups": lambda table: table.group_by("x", keys=[1]).regression("x ~ d", epsilon=1),
    "keys of groups": lambda table: table.with_columns(z="d + 1").group_by("z", keys=[1]).count(epsilon=1),
    "a document": lambda table: table.ask({"version": 1, "statistic": "mean", "columns": ["d"], "epsilon": 1}),
}


@pytest.mark.parametrize("ask", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_expressions_formulas_and_groups_refuse_them_too(ask: Callable[[Session], Any]) -> None:
    table = session()
    assert "column d begins with dates or times" in refused(lambda: ask(table))
    assert table.ledger.spent.epsilon == 0
    nested = session({"d": [[1], [2]], "x": [1.0, 2.0]})
    assert "column d begins with nested rows" in refused(lambda: nested.group_by("d", keys=["1"]).count(epsilon=1))
    with pytest.raises(DataTypeError, match="begins with"):
        dp.regression("x ~ d", {"d": [NO_NUMBERS["date"]] * ROWS, "x": NUMBERS}, epsilon=1)


def test_dates_are_read_where_dates_are_meant() -> None:
    table = session()
    assert isinstance(table.where("d >= '2024-01-01'").count(epsilon=1), dp.Release)
    assert table.with_columns(year="year(d)").median("year", epsilon=1).cost.epsilon == 1
    assert table.mode("d", epsilon=1, delta="1e-4").cost.epsilon == 1


def test_bounded_rows_keep_what_their_columns_begin_with() -> None:
    table = dp.protect(
        {"who": np.arange(ROWS), "d": [NO_NUMBERS["date"]] * ROWS},
        unit="who",
        max_rows_per_unit=1,
        budget=dp.Budget(9),
        ledger=":memory:",
    )
    assert "begins with" in refused(lambda: table.mean("d", epsilon=1))
    assert MemoryStore({"x": np.arange(3), "d": [1], "n": [None]} | {"x": [1.0]}).first_classes == {
        "x": float,
        "d": int,
        "n": type(None),
    }
