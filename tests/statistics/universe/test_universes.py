"""Small databases and multiplicative weights as they are asked for: functions, sessions and documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpstats as dp
from dpstats.data import survey
from dpstats.testing import seeded

COLUMNS = ["old", "hours"]
HOURS = {"bins": {"hours": [1, 35]}}


def people() -> pd.DataFrame:
    table = pd.DataFrame(survey())
    return table.assign(old=table["age"] > 60)


def shares(table: pd.DataFrame) -> dict[tuple[Any, ...], float]:
    coded = pd.cut(table["hours"], [-1, 0, 34, 1000], labels=["below 1", "1 to 35", "35 and more"])
    counted = table.assign(hours=coded).groupby(COLUMNS, observed=False).size() / len(table)
    return {(bool(old), str(hours)): float(share) for (old, hours), share in counted.items()}


def test_a_small_database_comes_near_the_shares_of_the_table() -> None:
    found = dp.small_database(people(), columns=COLUMNS, size=12, epsilon=10, rng=seeded(1), **HOURS).value
    assert found.size == len(found.to_pandas()) == 12
    assert found.marginal(("old", "hours")) == pytest.approx(shares(people()), abs=0.08)


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_weights_come_near_the_shares_of_the_table(delta: float) -> None:
    found = dp.mwem(people(), columns=COLUMNS, epsilon=5, delta=delta, rng=seeded(1), **HOURS).value
    assert found.marginal(("old", "hours")) == pytest.approx(shares(people()), abs=0.02)
    assert found.to_pandas()["count"].sum() == pytest.approx(found.total)


def test_a_session_archives_both(tmp_path: Path) -> None:
    session = dp.protect(people(), unit="row", budget=dp.Budget(epsilon=3), ledger=tmp_path / "l", name="people")
    for name, words in (("small_database", {"size": 5}), ("mwem", {"rounds": 3})):
        asked = {"epsilon": 1, **HOURS, **words}
        first = getattr(session, name)("old", "hours", **asked).value.to_dict()
        assert session.ask(session.document(name, "old", "hours", **asked)).value.to_dict() == first
    assert session.remaining.epsilon == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"columns": ["region", "old"], "bins": None}, "'region' has no listed values: levels"),
        ({"columns": ["age", "old"], "bins": None}, "'age' has no listed values: bins"),
        ({"columns": ["region"], "bins": {"region": [1, 2]}}, "list its labels in levels"),
        ({"alpha": 0.1}, "either its size or alpha"),
        ({"size": None}, "either its size or alpha"),
        ({"size": 500}, "too many databases"),
        ({"size": None, "alpha": "many"}, "alpha must be a number"),
        ({"bins": 3}, "edges of columns of numbers by name"),
        ({"bins": {"hours": 3}}, "must list ascending edges"),
        ({"delta": 1e-6, "method": "exponential"}, "spends no delta"),
    ],
)
def test_a_question_that_cannot_be_asked_says_why(words: dict[str, Any], says: str) -> None:
    asked = {"columns": COLUMNS, "size": 5, "epsilon": 1, **HOURS, **words}
    with pytest.raises(dp.DpstatsError, match=says):
        dp.small_database(people(), **asked)
