"""Opening: anything that holds a table becomes a store, with the column types that count."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import check_column_name, shown
from dpstats.engines.passes.columns import open_column
from dpstats.engines.stores.objects import find_objects, is_object_address
from dpstats.engines.stores.partitions import partition_of
from dpstats.engines.stores.paths import PARQUET, find_table, is_delta, is_iceberg
from dpstats.engines.stores.store import Store
from dpstats.engines.views import TableView
from dpstats.foundations.addresses import looks_like_postgres
from dpstats.foundations.errors import DataFileError, DataTypeError, InvalidParameterError
from dpstats.foundations.working import one_question

_WHAT_TO_PASS = (
    "a dict of columns, a numpy structured array, a pandas or polars DataFrame, a polars LazyFrame, a pyarrow Table, the path of "
    "a .csv, .tsv or .parquet file, a list or a pattern of such paths, the same of objects (s3://bucket/visits/*.parquet), a "
    "DuckDB relation, a Spark DataFrame or the URL of a Postgres table"
)
_DECLARABLE = {
    kind.value: kind for kind in (ColumnType.NUMBER, ColumnType.INTEGER, ColumnType.BOOLEAN, ColumnType.TEXT, ColumnType.MOMENT)
}
_OPEN_TO_ALL = (ColumnType.TEXT, ColumnType.UNDECLARED)
INFER = "infer"
"""In the place of declared types: the rows decide, by the data holder's wish."""
Types = Mapping[str, str] | Literal["infer"]
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def open_store(table: Any, types: Types | None = None) -> tuple[Store, Mapping[str, ColumnType]]:
    """The store that holds a table, and the type of each of its columns; names and types are read, rows are not.

    `types` declares how columns are to be read. A column of text, or of no type (in CSV files, in lists), may be declared as
    number, integer, boolean, text or date, and any column as text. Cells that do not fit are missing. With types="infer" the rows
    of columns without a type are read, and decide: that is not private, and up to whoever opens the table.
    """
    store = _find_store(table)
    if types == INFER:
        with one_question():
            return store, {**store.columns, **inferred_types(store)}
    return store, _effective_types(store.columns, types or {})


def inferred_types(store: Store) -> dict[str, ColumnType]:
    """What the rows say of columns without a type: number, date or else text, by more than half of those that are not missing."""
    open_columns = [name for name, kind in store.columns.items() if kind is ColumnType.UNDECLARED]

    def majority(name: str) -> ColumnType:
        raw_counts = {
            kind: open_column(store, TableView({**store.columns, name: kind}), name, kind is ColumnType.NUMBER).count()
            for kind in (ColumnType.TEXT, ColumnType.NUMBER, ColumnType.MOMENT)
        }
        most = max((ColumnType.NUMBER, ColumnType.MOMENT), key=lambda kind: raw_counts[kind])
        return most if 2 * raw_counts[most] > raw_counts[ColumnType.TEXT] else ColumnType.TEXT

    return {name: majority(name) for name in open_columns}


def check_stored(store: Store, way_out: str = "") -> None:
    """Raise where rows are computed while they are read: one of them could make every answer fail, which no epsilon covers.

    `way_out` is another sentence of advice.
    """
    doubt = getattr(store, "doubt", None)
    if doubt is not None:
        raise DataTypeError(
            f"{doubt}. What is computed while it is read can fail on a single row, or give other rows at every run, and "
            f"answers would show that row.{way_out}"
        )


def _effective_types(columns: Mapping[str, ColumnType], types: Types) -> dict[str, ColumnType]:
    if not isinstance(types, Mapping) or not all(isinstance(name, str) for name in types):
        raise InvalidParameterError("types must be a dict from columns to their types, such as {'income': 'number'}.")
    effective = dict(columns)
    for name, wanted in types.items():
        check_column_name(name, list(columns))
        effective[name] = _declared(name, columns[name], wanted)
    return effective


def _declared(name: str, stored: ColumnType, wanted: object) -> ColumnType:
    declared = _DECLARABLE.get(wanted) if isinstance(wanted, str) else None
    if declared is None:
        raise InvalidParameterError(f"the type of column {shown(name)} must be one of {', '.join(_DECLARABLE)}, got {wanted!r}.")
    if declared is not stored and declared is not ColumnType.TEXT and stored not in _OPEN_TO_ALL:
        raise InvalidParameterError(
            f"column {shown(name)} cannot be declared as {declared.value}: the table itself has it as {stored.value}, "
            "which may be declared as text only. Convert the column in the table instead."
        )
    return declared


def _find_store(table: Any) -> Store:
    kind = type(table)  # not the table itself, because data frames show their columns as attributes
    if callable(getattr(kind, "run", None)) and hasattr(kind, "in_memory"):
        return table  # type: ignore[no-any-return]
    if isinstance(table, str) and table.startswith(("postgresql://", "postgres://")):
        from dpstats.engines.stores.postgres import PostgresStore

        return PostgresStore.from_url(table)
    if isinstance(table, (str, os.PathLike)):
        return _file_store(table)
    if isinstance(table, (list, tuple)):
        if not table or not all(isinstance(path, (str, os.PathLike)) for path in table):
            raise DataTypeError("a list of rows is no table: pass columns by name, such as {'income': [...], 'age': [...]}.")
        return _file_store(table)
    return _foreign_store(table)


def _file_store(paths: Any) -> Store:
    if isinstance(paths, str) and looks_like_postgres(paths):
        raise DataFileError("a table in Postgres is given by a URL that begins with postgresql:// and ends in # and its name.")
    names = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if any(map(is_object_address, names)):
        return _object_store(names)
    url = _URL.match(paths.strip()) if isinstance(paths, str) else None
    if url is not None:  # it may hold a password, and is not repeated
        raise DataFileError(
            f"tables at {shown(url[1])}:// cannot be opened: copy the files here, or pass an s3:// or a postgresql:// URL."
        )
    if isinstance(paths, (str, os.PathLike)) and os.fsdecode(paths).lower().endswith((".duckdb", ".ddb")):
        raise DataFileError("a DuckDB file holds many tables: connect to it and pass one, such as connection.table('visits').")
    root = Path(paths) if isinstance(paths, (str, os.PathLike)) and os.path.isdir(paths) else None
    if root is not None and is_delta(root):
        from dpstats.engines.stores.delta import delta_store

        return delta_store(root)
    if isinstance(paths, (str, os.PathLike)) and is_iceberg(Path(paths)):
        from dpstats.engines.stores.iceberg import iceberg_store

        return iceberg_store(Path(paths))
    found = find_table(paths)
    files = [file for file, _ in found]
    if files[0].suffix.lower() in PARQUET:
        from dpstats.engines.stores.parquet import ParquetStore

        return ParquetStore(files, partitions=[partition_of(folders) for _, folders in found], root=root)
    from dpstats.engines.stores.csv import CsvStore

    return CsvStore(files)


def _object_store(names: Sequence[Any]) -> Store:
    from dpstats.engines.stores.parquet import ParquetStore

    if not all(map(is_object_address, names)):
        raise DataFileError("the files of one table must all lie on this machine, or all in an object store.")
    found, root = find_objects(names)
    return ParquetStore([each for each, _ in found], partitions=[partition_of(folders) for _, folders in found], root=root)


def _foreign_store(table: Any) -> Store:
    """The store for an object of some library, which is known by its class's module: nothing is imported to find out."""
    libraries = {cls.__module__.partition(".")[0].lstrip("_") for cls in type(table).__mro__}
    name = type(table).__name__
    if "duckdb" in libraries and name == "DuckDBPyRelation":
        from dpstats.engines.stores.duckdb import DuckDBStore

        return DuckDBStore(table)
    if "duckdb" in libraries:
        raise DataTypeError("a DuckDB connection holds many tables: pass one, such as connection.table('visits').")
    if "pyspark" in libraries and name == "DataFrame":
        from dpstats.engines.stores.spark import SparkStore

        return SparkStore(table)
    if "polars" in libraries and name == "LazyFrame":
        from dpstats.engines.stores.lazy import LazyStore

        return LazyStore(table)
    from dpstats.engines.stores.memory import MemoryStore, columns_in_memory

    raw_columns = columns_in_memory(table)
    if raw_columns is None:
        raise DataTypeError(f"a {name} cannot be protected: pass {_WHAT_TO_PASS}.")
    return MemoryStore(raw_columns)
