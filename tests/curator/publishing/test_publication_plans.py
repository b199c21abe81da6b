"""Plans of publications: read exactly, written in one form, and complained about before anything is opened."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpstats as dp
from dpstats.curator.publishing.plan import plan_digest, read_plan

PLAN = """
title = "Incomes"
[table]
file = "people.parquet"
unit = "row"
keys = {region = ["north", "south"]}
[budget]
epsilon = 0.3
delta = 1e-6
ledger = "people.ledger"
[[question]]
statistic = "median"
columns = ["income"]
epsilon = 0.1
"""
MEDIAN: Mapping[str, Any] = {"statistic": "median", "columns": ["income"], "epsilon": "0.1"}
SECTIONS: Mapping[str, Any] = {
    "table": {"file": "people.csv", "unit": "row"},
    "budget": {"epsilon": 1, "ledger": ":memory:"},
}


def test_numbers_are_read_as_they_are_written_and_paths_lie_beside_the_plan(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    plan = read_plan(tmp_path / "plan.toml", needs_table=True)
    assert plan.questions[0].document.epsilon == Fraction(1, 10)
    assert dp.Budget(**plan.budget) == dp.Budget("0.3", "1e-6")
    assert plan.table["file"] == str(tmp_path / "people.parquet")
    assert plan.ledger == str(tmp_path / "people.ledger")


def test_the_canonical_plan_says_nothing_of_places(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    canonical = read_plan(tmp_path / "plan.toml", needs_table=True).to_dict()
    assert canonical == {
        "form": 1,
        "title": "Incomes",
        "table": {"unit": "row", "keys": {"region": ["north", "south"]}},
        "budget": {"epsilon": "0.3", "delta": "0.000001"},
        "question": [{"title": "Median of income", "statistic": "median", "columns": ["income"], "epsilon": "0.1"}],
    }
    assert len(plan_digest(canonical)) == 64


def test_plans_that_mean_the_same_are_written_the_same() -> None:
    asked = [{**MEDIAN, "epsilon": 0.1}, {**MEDIAN, "epsilon": "1/10", "delta": 0, "method": "auto"}]
    plans = [read_plan({"title": " A  title", "question": [each]}, needs_table=False).to_dict() for each in asked]
    assert plans[0] == plans[1]
    assert plans[0]["title"] == "A title"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"title": ""}, "title must be a text"),
        ({"titel": "x"}, "a plan has no 'titel'; did you mean 'title'?"),
        ({"question": []}, "a plan needs questions"),
        ({"question": ["median"]}, r"question 1 must be a table of its own"),
        ({"question": [MEDIAN, {**MEDIAN, "epsilon": "little"}]}, "question 2: epsilon must be a number"),
        ({"question": [{**MEDIAN, "statistic": "medain"}]}, "question 1: there is no statistic 'medain'; did you mean 'median'?"),
        ({"question": [{**MEDIAN, "colums": []}]}, "question 1: a question has no 'colums'; did you mean 'columns'?"),
        ({"question": [{**MEDIAN, "version": 2}]}, "question 1: version must be 1"),
        ({"question": [{**MEDIAN, "title": 3}]}, "question 1: title must be a text"),
        ({"row_files": "xlsx"}, "row_files must be 'parquet' or 'csv'"),
        ({"table": {"file": "people.csv"}}, "needs unit"),
        ({"table": {"unit": "row"}}, "needs file"),
        ({"table": {"file": "people.csv", "units": "row"}}, "has no 'units'; did you mean 'unit'?"),
        ({"table": None}, r"a plan needs \[table\]"),
        ({"budget": {"ledger": "x"}}, "needs epsilon"),
        ({"budget": {"epsilon": 1}}, "needs ledger"),
        ({"budget": {"epsilon": 1, "ledger": 3}}, r"\[budget\] ledger must be a text"),
    ],
)
def test_a_plan_that_is_wrong_is_told_how(changes: Mapping[str, Any], says: str) -> None:
    with pytest.raises(dp.DpstatsError, match=says):
        read_plan({"title": "A title", "question": [MEDIAN], **SECTIONS, **changes}, needs_table=True)


def test_a_session_says_itself_what_the_table_is() -> None:
    with pytest.raises(dp.InvalidParameterError, match="the session says that already"):
        read_plan({"title": "A title", "question": [MEDIAN], **SECTIONS}, needs_table=False)


def test_a_file_that_is_no_plan_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(dp.DataFileError, match=r"cannot read the plan 'plan\.toml'"):
        read_plan(tmp_path / "plan.toml", needs_table=True)
    (tmp_path / "plan.toml").write_text("title = ", encoding="utf-8")
    with pytest.raises(dp.InvalidParameterError, match="is no TOML"):
        read_plan(tmp_path / "plan.toml", needs_table=True)
