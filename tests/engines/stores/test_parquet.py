"""Parquet files: one table, one type for a column, one version; nothing but footers is read before a pass."""

from __future__ import annotations

import os
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpstats.engines.cells import ColumnType
from dpstats.engines.stores.opening import open_store
from dpstats.engines.stores.parquet import ParquetStore
from dpstats.engines.units.contributions import Bound, MissingUnit
from dpstats.foundations.errors import DataFileError, DataTypeError
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


def typed(path: Path, values: list[Any], kind: pa.DataType) -> Path:
    pq.write_table(pa.table({"x": pa.array(values, kind)}), path)
    return path


JOINED: list[tuple[dict[str, pa.DataType], pa.DataType]] = [
    ({"a": pa.int32(), "b": pa.int64()}, pa.int64()),
    ({"a": pa.int8(), "b": pa.uint8(), "c": pa.null()}, pa.int16()),
    ({"a": pa.uint64(), "b": pa.int8()}, pa.decimal128(20, 0)),
    ({"a": pa.uint16(), "b": pa.uint32()}, pa.uint32()),
    ({"a": pa.int32(), "b": pa.float64()}, pa.float64()),
    ({"a": pa.float32(), "b": pa.int16(), "c": pa.int64()}, pa.float64()),
    ({"a": pa.float32(), "b": pa.float64()}, pa.float64()),
    ({"a": pa.decimal128(5, 2), "b": pa.int32()}, pa.decimal128(12, 2)),
    ({"a": pa.decimal128(5, 2), "b": pa.float32()}, pa.float64()),
]


@pytest.mark.parametrize(("kinds", "wanted"), JOINED)
def test_a_column_of_several_types_gets_one_that_holds_all_whichever_file_comes_first(
    tmp_path: Path, kinds: dict[str, pa.DataType], wanted: pa.DataType
) -> None:
    files = [
        typed(tmp_path / f"{name}.parquet", [None, None if pa.types.is_null(kind) else 3], kind) for name, kind in kinds.items()
    ]
    dtypes = set()
    for order in permutations(files):
        store = ParquetStore(order)
        assert store._types == {"x": wanted}
        assert set(numbers(list(order))) == {3, None}
        read: list[Any] = [batch.cells("x", ColumnType.NUMBER) for batch in store.batches(["x"])]
        dtypes |= {cells.raw_values.dtype for cells in read}
    assert len(dtypes) == 1


def test_a_column_that_a_file_lacks_is_missing_there(tmp_path: Path) -> None:
    files = [write(tmp_path / "a.parquet", x=[1.0], y=["a"]), write(tmp_path / "b.parquet", z=[True, False])]
    for order in permutations(files):
        store = ParquetStore(order)
        assert sorted(store.columns) == ["x", "y", "z"]
        assert sorted(map(str, numbers(list(order)))) == ["1.0", "None", "None"]
    texts = [cell for batch in ParquetStore(files).batches(["y"]) for cell in plain_cells(batch.cells("y", ColumnType.TEXT))]
    assert texts == ["a", None, None]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pl.Series(["Xanthippe"]), pl.Series([812])),
        (pl.Series([True]), pl.Series([812])),
        (pl.Series(["2020-01-01"]).str.to_datetime(), pl.Series(["2020-01-01"]).str.to_datetime(time_zone="UTC")),
        (pl.Series([b"Xanthippe"]), pl.Series(["Xanthippe"])),
        (pl.Series([["Xanthippe"]]), pl.Series([[812]])),
    ],
)
def test_types_that_no_type_holds_are_no_table_and_values_are_not_repeated(tmp_path: Path, one: Any, other: Any) -> None:
    files = [write(tmp_path / "a.parquet", x=one), write(tmp_path / "b.parquet", x=other)]
    said = set()
    for order in permutations(files):
        with pytest.raises(DataFileError, match=r"^column x is of types .* and no type holds all of them\.$") as complaint:
            open_store(list(order))
        said.add(str(complaint.value))
    assert len(said) == 1
    assert not {"Xanthippe", "812"} & set(said.pop().split())


def test_texts_and_categories_are_one_column(tmp_path: Path) -> None:
    kinds = [pl.String, pl.Enum(["Xanthippe"]), pl.Enum(["Xanthippe", "b"]), pl.Categorical]
    for number, kind in enumerate(kinds):
        write(tmp_path / f"{number}.parquet", x=pl.Series(["Xanthippe"], dtype=kind))
    store = ParquetStore(sorted(tmp_path.iterdir()))
    assert store.columns == {"x": ColumnType.TEXT}
    cells = [cell for batch in store.batches(["x"]) for cell in plain_cells(batch.cells("x", ColumnType.TEXT))]
    assert cells == ["Xanthippe"] * 4


def test_times_of_other_units_are_one_column_and_those_beyond_it_are_missing(tmp_path: Path) -> None:
    typed(tmp_path / "a.parquet", [0, 9 * 10**15], pa.timestamp("ms", "UTC"))
    typed(tmp_path / "b.parquet", [1_000_000_000], pa.timestamp("ns", "Europe/Berlin"))
    for order in permutations([tmp_path / "a.parquet", tmp_path / "b.parquet"]):
        store = ParquetStore(order)
        found = [cell for batch in store.batches(["x"]) for cell in plain_cells(batch.cells("x", ColumnType.MOMENT))]
        assert set(found) == {(0, True), None, (1_000_000, True)}


def test_ids_that_might_fall_together_are_no_unit(tmp_path: Path) -> None:
    files = [typed(tmp_path / "a.parquet", [2**53 + 1], pa.int64()), typed(tmp_path / "b.parquet", [2.0**53], pa.float64())]
    bound = Bound("x", ColumnType.NUMBER, 1, (("x", ColumnType.NUMBER),), MissingUnit.DROP, bytes(32))
    with pytest.raises(DataTypeError, match="column x cannot be the unit"):
        ParquetStore(files).bounded(bound)
    ParquetStore(files[:1]).bounded(bound)


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


def partitioned(folder: Path, **columns: Any) -> Path:
    folder.mkdir(parents=True)
    return write(folder / "part.parquet", **columns)


def test_folders_name_columns(tmp_path: Path) -> None:
    root = tmp_path / "visits"
    partitioned(root / "region=north" / "day=2024-01-31", x=[1.0, 2.0])
    partitioned(root / "region=s%2Fo%20%C3%BC%3D" / "day=", x=[3.0])
    partitioned(root / "region=__HIVE_DEFAULT_PARTITION__" / "day=7", x=pl.Series([4], dtype=pl.Int8))
    expected = {1.0: ("north", "2024-01-31"), 2.0: ("north", "2024-01-31"), 3.0: ("s/o ü=", None), 4.0: (None, "7")}
    for table in (root, str(root / "*" / "*" / "*.parquet"), str(root / "**" / "*.parquet"), f"{root}/"):
        store = open_store(table)[0]
        assert dict(store.columns) == {"x": ColumnType.NUMBER, "region": ColumnType.TEXT, "day": ColumnType.TEXT}
        found = {}
        for batch in store.batches(["day", "x", "region"]):
            cells = [plain_cells(batch.cells(name, store.columns[name])) for name in ("x", "region", "day")]
            found.update({x: tuple(names) for x, *names in zip(*cells, strict=True)})
        assert found == expected
        assert sum(batch.rows for batch in store.batches(["region"])) == 4
    days = open_store(root, {"day": "date"})
    assert days[1]["day"] is ColumnType.MOMENT
    one = open_store(str(root / "region=north" / "*" / "*.parquet"))[0]  # what is named without a star is no column
    assert list(one.columns) == ["x", "day"]


def test_folders_that_do_not_name_the_same_columns_are_no_table(tmp_path: Path) -> None:
    partitioned(tmp_path / "region=Xanthippe", x=[1.0])
    partitioned(tmp_path / "town=812", x=[1.0])
    with pytest.raises(DataFileError, match="folders that name the same columns") as complaint:
        open_store(tmp_path)
    assert "Xanthippe" not in str(complaint.value)
    partitioned(tmp_path / "other" / "x=Xanthippe", x=[1.0])
    with pytest.raises(DataFileError, match="column x is in the files, and in the names of their folders"):
        open_store(tmp_path / "other")
    (tmp_path / "plain" / "2024").mkdir(parents=True)
    with pytest.raises(DataFileError, match=r"whose names are no columns, .* by a pattern such as \S*/\*\*/\*\.parquet\.$"):
        open_store(tmp_path / "plain")


def test_a_partition_that_cannot_be_reached_is_not_named(tmp_path: Path) -> None:
    partitioned(tmp_path / "region=north", x=[1.0])
    file = partitioned(tmp_path / "region=Xanthippe", x=[1.0])
    store: Any = open_store(tmp_path)[0]
    store.check_reachable()
    file.unlink()
    with pytest.raises(DataFileError, match=r"^a file of the table is not there any more") as complaint:
        store.check_reachable()
    assert "Xanthippe" not in str(complaint.value)
