"""Opening: the right store for whatever holds a table, and declared types where they are allowed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from dpstats.engines.cells import ColumnType
from dpstats.engines.stores.csv import CsvStore
from dpstats.engines.stores.lazy import LazyStore
from dpstats.engines.stores.memory import MemoryStore
from dpstats.engines.stores.opening import open_store
from dpstats.engines.stores.parquet import ParquetStore
from dpstats.foundations.errors import DataFileError, DataTypeError, DpstatsError, InvalidParameterError, UnknownNameError

NUMBER, INTEGER, BOOLEAN = ColumnType.NUMBER, ColumnType.INTEGER, ColumnType.BOOLEAN
TEXT, MOMENT, UNDECLARED = ColumnType.TEXT, ColumnType.MOMENT, ColumnType.UNDECLARED
TABLE = {
    "listed": [1, 2],
    "text": np.array(["1", "2"]),
    "real": np.zeros(2),
    "whole": np.zeros(2, dtype=int),
    "flag": np.zeros(2, dtype=bool),
    "day": np.zeros(2, dtype="M8[D]"),
}


def test_the_store_fits_what_holds_the_table(tmp_path: Path) -> None:
    (tmp_path / "t.CSV").write_text("a,b\n1,2\n")
    (tmp_path / "t.tsv").write_text("a\tb\n1\t2\n")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "t.parquet")
    assert isinstance(open_store(tmp_path / "t.CSV")[0], CsvStore)
    assert list(open_store(str(tmp_path / "t.tsv"))[0].columns) == ["a", "b"]
    assert isinstance(open_store(str(tmp_path / "*.parquet"))[0], ParquetStore)
    assert isinstance(open_store((tmp_path / "t.parquet",))[0], ParquetStore)
    assert isinstance(open_store(pl.LazyFrame({"a": [1]}))[0], LazyStore)
    store, schema = open_store({"a": [1]})
    assert isinstance(store, MemoryStore)
    assert open_store(store, {"a": "text"}) == (store, {"a": TEXT})
    assert schema == {"a": UNDECLARED}


def test_a_frame_with_columns_named_like_a_store_is_a_frame() -> None:
    import pandas as pd

    frame = pd.DataFrame({"run": [1], "in_memory": [2], "columns": [3]})
    assert isinstance(open_store(frame)[0], MemoryStore)


@pytest.mark.parametrize("name", ["listed", "text"])
@pytest.mark.parametrize(
    ("word", "kind"), [("number", NUMBER), ("integer", INTEGER), ("boolean", BOOLEAN), ("text", TEXT), ("date", MOMENT)]
)
def test_columns_of_text_and_of_no_type_may_be_declared(name: str, word: str, kind: ColumnType) -> None:
    store, schema = open_store(TABLE, {name: word})
    assert schema == {**store.columns, name: kind}
    assert list(schema) == list(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_any_column_may_be_declared_as_text(name: str) -> None:
    assert open_store(TABLE, {name: "text"})[1][name] is TEXT


@pytest.mark.parametrize(("name", "word"), [("real", "number"), ("whole", "integer"), ("flag", "boolean"), ("day", "date")])
def test_a_column_may_be_declared_as_what_it_is(name: str, word: str) -> None:
    assert open_store(TABLE, {name: word})[1] == open_store(TABLE)[1]


@pytest.mark.parametrize(("name", "word"), [("real", "integer"), ("whole", "number"), ("flag", "number"), ("day", "number")])
def test_other_types_are_the_tables_own(name: str, word: str) -> None:
    says = rf"column {name} cannot be declared as {word}: the table itself has it as \w+, which may be declared as text only\."
    with pytest.raises(InvalidParameterError, match=says):
        open_store(TABLE, {name: word})


@pytest.mark.parametrize("word", ["float", "moment", "undeclared", "other", "", None, 7, ["number"]])
def test_unknown_types_are_answered_with_the_known_ones(word: Any) -> None:
    with pytest.raises(InvalidParameterError, match="column text must be one of number, integer, boolean, text, date, got"):
        open_store(TABLE, {"text": word})


def test_types_must_be_of_columns_that_are_there() -> None:
    with pytest.raises(UnknownNameError, match=r"there is no column txt; the columns are listed, text, .* Did you mean text\?"):
        open_store(TABLE, {"txt": "number"})
    for types in ([("text", "number")], {7: "number"}, "number"):
        with pytest.raises(InvalidParameterError, match=r"types must be a dict from columns to their types, such as"):
            open_store(TABLE, types)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "error", "says"),
    [
        ("nowhere.csv", DataFileError, r"there is no file nowhere\.csv"),
        ("nowhere/*.csv", DataFileError, r"no file matches nowhere/\*\.csv"),
        ("survey.xlsx", DataFileError, r"survey\.xlsx must end in \.csv, \.tsv or \.parquet"),
        ("", DataFileError, "the path is empty"),
        ("nul\x00.csv", DataFileError, "there is no file"),
        (["Xanthippe", "Sokrates"], DataFileError, r"^every file of a list must end in \.csv, \.tsv or \.parquet"),
        (["nowhere.csv", 7], DataTypeError, "a list of rows is no table"),
        ("s3://Xanthippe:secret@bucket/x.parquet", DataFileError, r"^objects are named by"),
        ("visits.duckdb", DataFileError, r"pass one, such as connection\.table"),
    ],
)
def test_a_path_to_nothing_is_a_clear_error(path: Any, error: type[DpstatsError], says: str) -> None:
    with pytest.raises(error, match=says) as complaint:
        open_store(path)
    assert "Xanthippe" not in str(complaint.value)


def test_files_of_one_table_are_of_one_kind_and_named_once(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    (tmp_path / "a.tsv").write_text("a\n1\n")
    (tmp_path / "empty.csv").touch()
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataFileError, match=r"must all end in \.csv, all in \.tsv or all in \.parquet"):
        open_store([tmp_path / "a.csv", tmp_path / "a.tsv"])
    with pytest.raises(DataFileError, match=r"a\.csv is named twice: its rows would count twice"):
        open_store([tmp_path / "a.csv", tmp_path / "." / "folder.csv" / ".." / "a.csv"])
    with pytest.raises(DataFileError, match=r"empty\.csv is empty"):
        open_store(tmp_path / "empty.csv")
    with pytest.raises(DataFileError, match=r"folder\.csv has no Parquet files in it"):
        open_store(tmp_path / "folder.csv")


def test_a_library_is_known_by_its_module_and_its_connections_are_explained() -> None:
    import duckdb

    with duckdb.connect() as connection, pytest.raises(DataTypeError, match=r"pass one, such as connection\.table"):
        open_store(connection)


def test_opening_plain_columns_loads_no_library_of_tables() -> None:
    program = (
        "import sys, numpy\nfrom dpstats.engines.stores.opening import open_store\n"
        "open_store({'x': numpy.zeros(2), 'y': [1, 2]})\n"
        "print(sorted({'pandas', 'polars', 'pyarrow', 'duckdb', 'pyspark', 'psycopg'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip() == "[]"
