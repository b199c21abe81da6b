"""Makers of stores for the shared suite: each puts a table of ugly columns into one kind of store.

A new kind of store is one more entry in `MAKERS`; the suite in test_every_store.py then runs on it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpstats.engines.stores.csv import CsvStore
from dpstats.engines.stores.lazy import LazyStore
from dpstats.engines.stores.memory import MemoryStore, columns_in_memory
from dpstats.engines.stores.objects import find_objects
from dpstats.engines.stores.opening import open_store
from dpstats.engines.stores.parquet import ParquetStore
from dpstats.engines.stores.paths import find_files
from dpstats.engines.stores.store import Store
from tests.engines.stores.makers_duckdb import duckdb_arrow, duckdb_file, duckdb_query, duckdb_table
from tests.engines.stores.makers_iceberg import NOT_IN_ICEBERG, iceberg_table
from tests.engines.stores.makers_postgres import NOT_IN_POSTGRES, postgres_partitions, postgres_table
from tests.engines.stores.makers_spark import NOT_IN_SPARK, spark_frame
from tests.engines.stores.ugly import ROW, UGLY
from tests.object_store import ObjectServer

NONE: frozenset[str] = frozenset()
ALL = frozenset({ROW, *UGLY})
PIECES = (0, 11, 11, 30)
"""Where tables in pieces are cut; one of the pieces is empty."""


@dataclass(frozen=True)
class Maker:
    """How one kind of store is made of a table of ugly columns."""

    make: Callable[[pl.DataFrame, Path, pytest.FixtureRequest], Store]
    """From the table, an empty folder, and the test's request (for fixtures of the whole session: a server, a Spark session)."""
    lacks: frozenset[str] = NONE
    """Ugly columns that such a table cannot hold as they are; they are left out."""
    undeclared: frozenset[str] = NONE
    """Columns that have no declared type there."""
    batches: int = 2
    """How many batches there must be at least for the whole table; files are read in small ones."""
    is_local: bool = True
    """Whether its rows come through this process, as those of a `LocalStore` do."""


def _cut(frame: pl.DataFrame) -> list[pl.DataFrame]:
    ends = [*PIECES[1:], frame.height]
    return [frame[start:end] for start, end in zip(PIECES, ends, strict=True)]


def _in_memory(table: Any) -> MemoryStore:
    columns = columns_in_memory(table)
    assert columns is not None
    return MemoryStore(columns, smallest_piece=1)


def _opened(table: Any) -> Store:
    return open_store(table, None)[0]


def _numpy_column(column: pl.Series) -> Any:
    """A numpy array of the column's type, with a mask where there is no other way to have missing rows."""
    if column.dtype.is_float():
        return column.to_numpy()
    if column.dtype.is_integer() or column.dtype == pl.Boolean:
        return np.ma.array(
            column.fill_null(0 if column.dtype.is_integer() else False).to_numpy(), mask=column.is_null().to_numpy()
        )
    if column.dtype == pl.Date:
        return column.to_numpy().astype("M8[D]")
    if column.dtype == pl.Datetime:
        return column.to_numpy().astype("M8[us]")
    return np.fromiter(column.to_list(), dtype=object, count=len(column))


def _structured(frame: pl.DataFrame) -> Any:
    """The columns without missing rows as the fields of one array."""
    arrays = {column.name: np.ma.getdata(_numpy_column(column)) for column in frame if column.name in STRUCTURED}
    table = np.empty(frame.height, dtype=[(name, array.dtype) for name, array in arrays.items()])
    for name, array in arrays.items():
        table[name] = array
    return table


STRUCTURED = frozenset({ROW, "floats", "short floats", "constant", "no floats", "ties", "days", "times"})
_NULLABLE = {
    pa.int64(): pd.Int64Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
    pa.large_string(): pd.StringDtype("python"),
}


def _parquet(frame: pl.DataFrame, folder: Path, _: pytest.FixtureRequest) -> Store:
    frame.write_parquet(folder / "table.parquet", row_group_size=16)
    return ParquetStore(find_files(folder / "table.parquet"), batch_rows=7)


def _parquet_files(frame: pl.DataFrame, folder: Path, _: pytest.FixtureRequest) -> Store:
    for number, piece in enumerate(_cut(frame)):
        names = piece.columns[::-1] if number % 2 else piece.columns
        piece.select(names).write_parquet(folder / f"part-{number}.parquet")
    return ParquetStore(find_files(folder), batch_rows=7)


def _parquet_objects(frame: pl.DataFrame, folder: Path, request: pytest.FixtureRequest) -> Store:
    server: ObjectServer = request.getfixturevalue("object_store")
    for number, piece in enumerate(_cut(frame)):
        held = io.BytesIO()
        piece.write_parquet(held, row_group_size=16)
        server.put("ugly", f"{folder.name}/part-{number}.parquet", held.getvalue())
    return ParquetStore([each for each, _ in find_objects([f"s3://ugly/{folder.name}"])[0]], batch_rows=7)


def _cell_text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    return cell.isoformat() if isinstance(cell, date) else str(cell)


def write_csv(frame: pl.DataFrame, file: Path, separator: str = ",", line_end: str = "\n") -> None:
    """A table as a CSV file, each cell as Python writes it."""
    with file.open("w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text, delimiter=separator, lineterminator=line_end)
        writer.writerow(frame.columns)
        writer.writerows([_cell_text(cell) for cell in row] for row in frame.rows())


def _csv(frame: pl.DataFrame, folder: Path, _: pytest.FixtureRequest) -> Store:
    write_csv(frame, folder / "table.csv")
    return CsvStore(find_files(folder / "table.csv"), block_bytes=500)


def _csv_files(frame: pl.DataFrame, folder: Path, _: pytest.FixtureRequest) -> Store:
    for number, piece in enumerate(_cut(frame)):
        write_csv(piece, folder / f"part-{number}.tsv", "\t", "\r\n" if number % 2 else "\n")
    return CsvStore(find_files(str(folder / "part-*.tsv")), block_bytes=500)


_NOT_IN_CSV = frozenset({"unsigned", "zoned times", "blanks", "controls", "clocks", "lists", "bytes"})
_OBJECTS = frozenset({"decimals", "words", "blanks", "controls", "zero bytes", "no words", "written", "sizes", "clocks"})
_OTHER_OBJECTS = frozenset({"zoned times", "nothing", "lists", "bytes"})

MAKERS: dict[str, Maker] = {
    "lists": Maker(
        lambda frame, *_: _in_memory({column.name: column.to_list() for column in frame}),
        lacks=frozenset({"unsigned", "zoned times", "lists", "bytes"}),
        undeclared=ALL,
        batches=1,
    ),
    "numpy": Maker(
        lambda frame, *_: _in_memory({column.name: _numpy_column(column) for column in frame}),
        lacks=_OTHER_OBJECTS,
        undeclared=_OBJECTS,
        batches=1,
    ),
    "structured array": Maker(lambda frame, *_: _opened(_structured(frame)), lacks=ALL - STRUCTURED, batches=1),
    "pandas": Maker(
        lambda frame, *_: _opened(frame.to_arrow().to_pandas(types_mapper=_NULLABLE.get)),
        undeclared=frozenset({"days", "decimals", "clocks", "nothing", "lists", "bytes"}),
        batches=1,
    ),
    "pandas arrow": Maker(lambda frame, *_: _opened(frame.to_pandas(use_pyarrow_extension_array=True)), batches=1),
    "polars": Maker(lambda frame, *_: _opened(frame), batches=1),
    "polars in pieces": Maker(lambda frame, *_: _in_memory(pl.concat(_cut(frame), rechunk=False)), batches=3),
    "pyarrow": Maker(lambda frame, *_: _opened(frame.to_arrow()), batches=1),
    "pyarrow in pieces": Maker(
        lambda frame, *_: _in_memory(pa.concat_tables(map(pl.DataFrame.to_arrow, _cut(frame)))), batches=3
    ),
    "lazy": Maker(lambda frame, *_: LazyStore(frame.lazy(), batch_rows=7)),
    "lazy, collected": Maker(lambda frame, *_: LazyStore(frame.lazy(), batch_rows=7).repeatable(), batches=1),
    "parquet": Maker(_parquet),
    "parquet files": Maker(_parquet_files),
    "parquet objects": Maker(_parquet_objects),
    "iceberg": Maker(lambda frame, folder, _: iceberg_table(_cut(frame), folder), lacks=NOT_IN_ICEBERG, batches=3),
    "csv": Maker(_csv, lacks=_NOT_IN_CSV, undeclared=ALL),
    "tsv files": Maker(_csv_files, lacks=_NOT_IN_CSV, undeclared=ALL),
    "duckdb table": Maker(duckdb_table),
    "duckdb query": Maker(duckdb_query),
    "duckdb over arrow": Maker(duckdb_arrow),
    "duckdb file": Maker(duckdb_file, batches=1),
    "postgres table": Maker(postgres_table, lacks=NOT_IN_POSTGRES),
    "postgres partitions": Maker(postgres_partitions, lacks=NOT_IN_POSTGRES, batches=1),
    "spark": Maker(spark_frame, lacks=NOT_IN_SPARK, is_local=False),
}
