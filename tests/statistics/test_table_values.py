"""Released values that are tables go to pandas, polars, pyarrow and DuckDB as they are."""

from __future__ import annotations

import functools
import sys
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpstats as dp
from dpstats.curator.publishing.value_tables import tables_of
from dpstats.foundations.tabular import Tabular
from tests.questions import session
from tests.seeded_releases import cases

TABLES = {
    "additive_classifier/boosting/0": ["feature", "value", "class", "effect"],
    "association_rules/laplace/0": [
        *("before", "after", "count"),
        *("confidence", "confidence_low", "confidence_high"),
        *("lift", "lift_low", "lift_high"),
    ],
    "cdf/universal/0": ["probability", "value", "low", "high"],
    "decision_tree/agreement/0": ["leaf", "class", "rows of 0", "rows of 1"],
    "density/tree/1": ["x1 from", "x1 to", "x2 from", "x2 to", "rows"],
    "frequent_itemsets/laplace/0": ["items", "size", "count", "low", "high", "support"],
    "gaussian_mixture/steps/0": ["weight", "rows", "x1", "x2"],
    "histogram/laplace/0": ["bin", "rows", "low", "high"],
    "kmeans/steps/0": ["rows", "x1", "x2"],
    "linear_regression/steps/0": ["name", "value", "error"],
    "mle/scores/gamma": ["name", "value", "error"],
    "mwem/laplace/0": ["label", "side", "count"],
    "nearest_neighbors/tree/0": ["x1 from", "x1 to", "x2 from", "x2 to", "a", "b", "c"],
    "pca/laplace_moments/0": ["column", "component 1", "component 2"],
    "small_database/exponential/0": ["label", "side"],
    "survival_curve/life_table/0": ["time", "survival", "low", "high", "at_risk", "events"],
    "synthesize/rounds/0": ["pay", "size", "label", "side"],
}
"""A release of each kind whose value is a table, and the names of its columns."""
ITERATES_OTHERWISE = ("association_rules", "mle")
"""Values that were iterable before, over rules and over numbers; pandas takes them by `DataFrame.from_arrow`."""


@functools.cache
def values() -> dict[str, Any]:
    found = {name: ask() for name, ask in cases() if name in TABLES}
    assert all(isinstance(each, dp.Release) for each in found.values())
    return {name: each.value for name, each in found.items()}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_goes_to_every_library_with_its_names_and_rows(name: str) -> None:
    value, names = values()[name], TABLES[name]
    arrow = pa.table(value)
    assert arrow.column_names == pa.schema(value).names == names
    assert arrow.num_rows > 0
    taken = [value.to_pandas(), pd.DataFrame.from_arrow(value), pl.DataFrame(value), value.to_polars(), pl.from_dataframe(value)]
    if not name.startswith(ITERATES_OTHERWISE):
        taken.append(pd.DataFrame(value))
        assert next(iter(value)) == {column: arrow.column(column)[0].as_py() for column in names}
    for frame in taken:
        assert list(frame.columns) == names
        assert len(frame) == arrow.num_rows
    assert duckdb.sql("select * from value").columns == names
    for column, kind in zip(names, arrow.schema.types, strict=True):
        assert pl.DataFrame(value)[column].dtype == pl.from_arrow(arrow)[column].dtype  # type: ignore[index]
        assert pa.types.is_string(kind) == (taken[0][column].dtype == "str"), column


def test_every_value_that_is_published_as_a_table_is_one() -> None:
    seen = set()
    for name, ask in cases():
        if (
            not name.startswith("mle/")
            and name.endswith("/0")
            and isinstance(release := ask(), dp.Release)
            and tables_of(release)
        ):
            seen.add(type(release.value).__name__)
            assert isinstance(release.value, Tabular) or name.startswith("contingency_table"), name
            if name.startswith("contingency_table"):  # several tables
                assert list(pl.DataFrame(release.value["label", "side"]).columns) == ["label", "side", "count", "low", "high"]
    assert len(seen) >= 10


def test_missing_cells_texts_and_truths_keep_their_types() -> None:
    draws = np.random.default_rng(1)
    ages = [None if place % 7 == 0 else int(age) for place, age in enumerate(draws.integers(18, 90, 3000))]
    regions = [None if place % 11 == 0 else region for place, region in enumerate(draws.choice(["north", "süd"], 3000))]
    table = pa.table({"age": pa.array(ages), "region": pa.array(regions, pa.string()), "works": draws.random(3000) < 0.3})
    value = dp.synthesize(table, epsilon=5, delta=1e-6, rng=dp.testing.seeded(3)).value
    arrow = pa.table(value)
    assert arrow.schema.types == [pa.int64(), pa.string(), pa.bool_()]
    gaps = {name: arrow.column(name).null_count for name in arrow.column_names}
    assert gaps["age"] > 100
    assert gaps["region"] > 100
    frame, polars = pd.DataFrame(value), pl.DataFrame(value)
    assert [str(kind) for kind in frame.dtypes] == ["float64", "str", "bool"]
    assert [str(kind) for kind in value.to_pandas().dtypes] == ["Int64", "str", "bool"]
    assert polars.dtypes == [pl.Int64(), pl.String(), pl.Boolean()]
    assert frame.isna().sum().to_dict() == dict(zip(polars.columns, polars.null_count().row(0), strict=True)) == gaps
    (counts,) = duckdb.sql("select count(*), count(age), count(region) from value").fetchall()
    assert counts == (len(value), len(value) - gaps["age"], len(value) - gaps["region"])
    assert polars["age"].drop_nulls().to_list() == [age for age in frame["age"] if age == age]


def test_groups_are_a_table_of_their_values() -> None:
    grouped = session().group_by("region", keys=["north", "south"]).median("income", epsilon=1)
    frame = grouped.to_polars()
    assert frame.columns == pa.table(grouped).column_names == ["region", "value", "low", "high"]
    assert frame.rows(named=True) == grouped.rows()
    assert list(grouped) == ["north", "south"]
    assert list(grouped.to_pandas().columns) == list(pd.DataFrame.from_arrow(grouped).columns) == frame.columns
    assert duckdb.sql("select * from grouped").columns == frame.columns


class Mixed(Tabular):
    """A table with a column of several types."""

    def table_columns(self) -> dict[str, list[Any]]:
        return {"label": [1, "one", None], "rows": [1, 2, 3]}


def test_a_column_of_several_types_becomes_one_of_texts() -> None:
    assert pa.table(Mixed()).to_pydict() == {"label": ["1", "one", None], "rows": [1, 2, 3]}
    assert list(pd.DataFrame(Mixed())["label"])[:2] == [1, "one"]


@pytest.mark.parametrize("package", ["pyarrow", "polars"])
def test_without_a_library_the_error_names_the_extra(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(dp.MissingExtraError, match=rf"needs {package}: pip install 'dpstats\[files\]'"):
        Mixed().to_polars()
