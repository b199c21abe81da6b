"""A moment has one label, whatever container holds it, and whether a function or a session is asked."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpstats as dp
from dpstats.testing import seeded

UTC, BERLIN = datetime.UTC, ZoneInfo("Europe/Berlin")
MOMENTS: dict[str, tuple[datetime.date, str]] = {
    "day": (datetime.date(2024, 1, 1), "2024-01-01"),
    "midnight": (datetime.datetime(2024, 1, 1), "2024-01-01"),
    "noon": (datetime.datetime(2024, 1, 1, 12), "2024-01-01T12:00:00"),
    "fraction": (datetime.datetime(2024, 1, 1, 0, 0, 0, 250_000), "2024-01-01T00:00:00.25"),
    "midnight in UTC": (datetime.datetime(2024, 1, 1, tzinfo=UTC), "2024-01-01T00:00:00+00:00"),
    "midnight in Berlin": (datetime.datetime(2024, 1, 1, tzinfo=BERLIN), "2023-12-31T23:00:00+00:00"),
    "noon in UTC": (datetime.datetime(2024, 1, 1, 12, tzinfo=UTC), "2024-01-01T12:00:00+00:00"),
}
"""By name: the moment, and its label. A day is the midnight that it begins with; a moment of a zone is written in UTC."""
ROWS = 200
SPENT = {"epsilon": 5, "delta": 1e-3}
TOLD = {"mode": {}, "histogram": {"kind": "labels"}}
"""What a statistic must be told where a container declares no type."""


def object_array(rows: list[Any]) -> Any:
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    return array


def arrow_of(rows: list[Any]) -> Any:
    zone = getattr(rows[0], "tzinfo", None)
    if not isinstance(rows[0], datetime.datetime):
        return pa.array(rows, type=pa.date32())
    return pa.array(rows, type=pa.timestamp("us", tz=None if zone is None else str(zone)))


def numpy_of(unit: str) -> Callable[[list[Any]], Any]:
    return lambda rows: np.array(rows, dtype=f"datetime64[{unit}]")


UNZONED: dict[str, Callable[[list[Any]], Any]] = {
    "numpy in microseconds": numpy_of("us"),
    "numpy in nanoseconds": numpy_of("ns"),
    "list of numpy's": lambda rows: [np.datetime64(row) for row in rows],
}
"""Containers that know no zones."""
CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "object array": object_array,
    "object Series": lambda rows: pd.Series(rows, dtype=object),
    "list of pandas's": lambda rows: [pd.Timestamp(row) for row in rows],
    "pandas Series": lambda rows: pd.Series(pd.to_datetime(pd.Series(rows))),
    "pandas Series of arrow": lambda rows: pd.Series(rows, dtype=pd.ArrowDtype(arrow_of(rows).type)),
    "pandas category": lambda rows: pd.Series(rows).astype("category"),
    "polars Series": pl.Series,
    "arrow array": arrow_of,
    "arrow dictionary": lambda rows: arrow_of(rows).dictionary_encode(),
    **UNZONED,
}
CASES = [
    (moment, container)
    for moment, (value, _) in MOMENTS.items()
    for container in CONTAINERS
    if container not in UNZONED or getattr(value, "tzinfo", None) is None
]


def by_function(name: str, data: Any) -> list[str]:
    return labels_in(getattr(dp, name)(data, **TOLD[name], **SPENT, rng=seeded(1)))


def by_session(name: str, data: Any) -> list[str]:
    table = {"x": data}
    session = dp.protect(table, unit="row", budget=dp.Budget(epsilon=100, delta=0.1), ledger=":memory:", allow_seeded=True)
    return labels_in(getattr(session, name)("x", **TOLD[name], **SPENT, rng=seeded(1)))


def labels_in(release: Any) -> list[str]:
    assert isinstance(release, dp.Release)
    return [str(label) for label in getattr(release.value, "labels", [release.value])]


@pytest.mark.parametrize("name", ["mode", "histogram"])
@pytest.mark.parametrize(("moment", "container"), CASES)
def test_a_session_gives_a_moment_its_label(moment: str, container: str, name: str) -> None:
    value, label = MOMENTS[moment]
    assert by_session(name, CONTAINERS[container]([value] * ROWS)) == [label]


@pytest.mark.parametrize("name", ["mode", "histogram"])
@pytest.mark.parametrize(("moment", "container"), CASES)
def test_a_function_gives_a_moment_its_label(moment: str, container: str, name: str) -> None:
    value, label = MOMENTS[moment]
    assert by_function(name, CONTAINERS[container]([value] * ROWS)) == [label]


@pytest.mark.parametrize("name", ["mode", "histogram"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_declared_date_in_a_csv_file_has_the_label_of_the_moment(moment: str, name: str, tmp_path: Path) -> None:
    value, label = MOMENTS[moment]
    path = tmp_path / "moments.csv"
    path.write_text("\n".join(["x,y", *[f"{value.isoformat()},1"] * ROWS]) + "\n", encoding="utf-8")
    session = dp.protect(
        path, unit="row", types={"x": "date"}, budget=dp.Budget(epsilon=100, delta=0.1), ledger=":memory:", allow_seeded=True
    )
    in_utc = label.removesuffix("+00:00").removesuffix("T00:00:00")  # texts of a file declare no zone: each is brought to UTC
    assert labels_in(getattr(session, name)("x", **SPENT, rng=seeded(1))) == [in_utc]
