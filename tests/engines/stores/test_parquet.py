"""Parquet files: one table, one schema, one version; nothing but footers is read before a pass."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpstats.engines.cells import ColumnType
from dpstats.engines.stores.opening import open_store
from dpstats.engines.stores.parquet import ParquetStore
from dpstats.foundations.errors import DataFileError
from tests.engines.stores.ugly import plain_cells


def write(path: Path, **columns: Any) -> Path:
    pl.DataFrame(columns).write_parquet(path)
    return path


def numbers(table: Any, name: str = "x") -> list[Any]:
    store = open_store(table)[0]
    return [cell for batch in store.batches([name]) for cell in plain_cells(batch.cells(name, ColumnType.NUMBER))]


def test_files_follow_each_other_as_they_are_listed_and_by_name_in_patterns_and_folders(tmp_path: Path) -> None:
    two, one = write(tmp_path / "b.parquet", x=[2.0]), write(tmp_path / "a.pq", x=[1.0, 0.0])
    ten = write(tmp_path / "a*.parquet", x=[10.0])
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".b.parquet.crc").touch()
    assert numbers([two, str(one)]) == [2, 1, 0]
    assert numbers([one, two]) == [1, 0, 2]
    assert numbers(tmp_path) == [10, 1, 0, 2]
    assert numbers(str(tmp_path / "*.parquet")) == [10, 2]
    assert numbers(ten) == [10]  # a star in a name that exists is a star


def test_columns_may_stand_in_another_order(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", x=[1.0], y=["a"])
    write(tmp_path / "b.parquet", y=["b"], x=[2.0])
    assert numbers(tmp_path) == [1, 2]


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"x": [1.0]}, r"b\.parquet has no column y, which \S*a\.parquet has: one table, one schema\.$"),
        ({"x": [1], "y": ["s"]}, r"^column x is of type Int64 in \S*b\.parquet and of type Float64 in \S*a\.parquet: "),
        ({"x": [1.0], "y": ["s"], "z": [812]}, r"b\.parquet has a column z, which \S*a\.parquet has not"),
        ({"x": [1.0], "y": pl.Series(["Xanthippe"], dtype=pl.Enum(["Xanthippe"]))}, r"column y is of type Enum \(of other"),
    ],
)
def test_files_of_different_schemas_are_no_table(tmp_path: Path, other: dict[str, Any], says: str) -> None:
    write(tmp_path / "a.parquet", x=[1.0], y=["a"])
    write(tmp_path / "b.parquet", **other)
    with pytest.raises(DataFileError, match=says) as complaint:
        open_store(tmp_path)
    assert "Xanthippe" not in str(complaint.value)
    assert "812" not in str(complaint.value)


def test_opening_reads_the_footer_only(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", x=[float(value) for value in range(1000)])
    octets = bytearray(path.read_bytes())
    rows_end = len(octets) - 8 - int.from_bytes(octets[-8:-4], "little")
    octets[4:rows_end] = b"\xff" * (rows_end - 4)
    path.write_bytes(octets)
    store = open_store(path)[0]
    assert dict(store.columns) == {"x": ColumnType.NUMBER}
    with pytest.raises(DataFileError, match=r"a\.parquet could not be read as Parquet\.$") as complaint:
        list(store.batches(["x"]))
    assert complaint.value.__suppress_context__


@pytest.mark.parametrize("content", [b"PAR1", b"Xanthippe" * 100, b"PAR1" + b"\xff" * 100 + b"PAR1"])
def test_a_broken_file_is_one_error_that_quotes_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.parquet").write_bytes(content)
    with pytest.raises(DataFileError, match=r"a\.parquet could not be read as Parquet\.$"):
        open_store(tmp_path / "a.parquet")


def replaced(path: Path) -> None:
    write(path.with_suffix(".new"), x=[5.0] * 40)
    os.replace(path.with_suffix(".new"), path)


def touched(path: Path) -> None:
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))


def removed(path: Path) -> None:
    path.unlink()


def cut_short(path: Path) -> None:
    os.truncate(path, 10)


@pytest.mark.parametrize("change", [replaced, touched, removed, cut_short])
@pytest.mark.parametrize("columns", [["x"], []], ids=["with a column", "rows only"])
def test_a_file_that_has_changed_since_it_was_opened_is_not_read(tmp_path: Path, change: Any, columns: list[str]) -> None:
    store = ParquetStore([write(tmp_path / "a.parquet", x=[1.0]), write(tmp_path / "b.parquet", x=[2.0])])
    assert sum(batch.rows for batch in store.batches(columns)) == 2
    change(tmp_path / "b.parquet")
    with pytest.raises(DataFileError, match=r"b\.parquet (has changed since it was opened|is not there any more)"):
        next(store.batches(columns))


@pytest.mark.parametrize("change", [replaced, touched, removed])
def test_a_file_that_changes_during_a_pass_makes_it_fail(tmp_path: Path, change: Any) -> None:
    path = write(tmp_path / "a.parquet", x=[float(row) for row in range(40)])
    batches = ParquetStore([path], batch_rows=7).batches(["x"])
    next(batches)
    change(path)
    with pytest.raises(DataFileError, match=r"a\.parquet (has changed since it was opened|is not there any more)"):
        list(batches)


def test_texts_that_are_repeated_often_are_the_same_texts(tmp_path: Path) -> None:
    octets = [b"north", b"", None, b"\xff", "süd".encode(), b"7"] * 200
    rare = [f"{place:08}".encode() for place in range(1200)]
    arrays = {name: pa.array(values, pa.binary()).view(pa.string()) for name, values in (("t", octets), ("rare", rare))}
    pq.write_table(pa.table(arrays), tmp_path / "texts.parquet", row_group_size=500)
    pq.write_table(pa.table(arrays), tmp_path / "plain.parquet", use_dictionary=False, compression="none")
    found = {}
    for file in ("texts", "plain"):
        store = open_store(tmp_path / f"{file}.parquet")[0]
        [batch, *_] = batches = list(store.batches(["t", "rare"]))
        found[file] = [[cell for each in batches for cell in plain_cells(each.cells(name, ColumnType.TEXT))] for name in arrays]
        assert [pa.types.is_dictionary(batch._raw_columns[name].type) for name in ("t", "rare")] == [file == "texts", False]
    assert found["texts"] == found["plain"]


def test_a_table_without_rows_still_shows_its_types(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", x=pl.Series([], dtype=pl.Int32))
    (batch,) = open_store(path)[0].batches(["x"])
    cells: Any = batch.cells("x", ColumnType.INTEGER)
    assert (batch.rows, cells.raw_values.dtype) == (0, "int32")


def test_folder_names_are_not_read_as_columns(tmp_path: Path) -> None:
    for year in ("2023", "2024"):
        (tmp_path / f"year={year}").mkdir()
        write(tmp_path / f"year={year}" / "a.parquet", x=[float(year)])
    with pytest.raises(DataFileError, match=r"has folders in it, .* by a pattern such as \S*/\*\*/\*\.parquet\.$"):
        open_store(tmp_path)
    assert numbers(str(tmp_path / "**" / "*.parquet")) == [2023, 2024]
    assert list(open_store(str(tmp_path / "**" / "*.parquet"))[0].columns) == ["x"]
