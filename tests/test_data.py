"""The bundled table is what its README says it is."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import numpy as np

from benchmarks.make_survey import COLUMNS, PERSONS, write_survey
from dpstats.data import survey
from dpstats.engines.passes.columns import open_column
from dpstats.engines.stores.opening import open_store
from dpstats.engines.views import TableView


def test_the_table_comes_from_its_script_byte_for_byte(tmp_path: Path) -> None:
    write_survey(tmp_path / "survey.csv")
    assert resources.files("dpstats.data").joinpath("survey.csv").read_bytes() == (tmp_path / "survey.csv").read_bytes()


def test_the_columns_have_the_declared_names_and_types() -> None:
    table = survey()
    assert tuple(table) == COLUMNS
    assert {len(column) for column in table.values()} == {PERSONS}
    assert {name: column.dtype.kind for name, column in table.items()} == {
        "person": "i",
        "age": "i",
        "region": "U",
        "schooling": "i",
        "hours": "i",
        "income": "f",
        "rent": "f",
        "commute": "f",
    }


def test_the_table_is_as_ugly_as_its_readme_says() -> None:
    table = survey()
    income = table["income"]
    assert set(np.unique(table["person"])) == set(range(1, PERSONS + 1))
    assert table["age"].min() == 18
    assert table["age"].max() == 90
    assert len(np.unique(table["region"])) == 6
    assert 0.10 < np.mean(income == 0) < 0.14
    assert 0.02 < np.isnan(income).mean() < 0.04
    assert np.nanmin(income) < 0
    assert np.nanmax(income) > 20 * np.nanmedian(income)
    assert 0.3 < np.isnan(table["rent"]).mean() < 0.6
    assert np.isnan(table["commute"][table["hours"] == 0]).all()


def test_the_file_engine_reads_the_same_table() -> None:
    with resources.as_file(resources.files("dpstats.data").joinpath("survey.csv")) as path:
        store, schema = open_store(path)
        for name, column in survey().items():
            numeric = column.dtype.kind in "if"
            present = len(column) - (np.isnan(column).sum() if numeric else 0)
            assert open_column(store, TableView(schema), name, numeric).count() == present
