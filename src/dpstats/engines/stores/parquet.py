"""Tables in Parquet files, one or many of one schema: read a batch at a time, only the columns that are asked for.

Texts are read as the bytes that they are, by pyarrow, which does not look whether they are UTF-8; what is not is mended, cell by
cell, when they become cells. polars, which reads the schema, would give up a whole column for one such cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import one_error_along, one_error_for, require, shown
from dpstats.engines.reading import type_of
from dpstats.engines.stores.store import Batch, Store
from dpstats.engines.stores.versions import FilesStore
from dpstats.engines.units.contributions import Bound, BoundedStore
from dpstats.foundations.errors import DataFileError, DataTypeError

if TYPE_CHECKING:
    import pyarrow
    from pyarrow.parquet import ParquetFile


BATCH_ROWS = 1 << 18
"""Rows in a batch of a few columns: enough that batches cost nothing."""
BATCH_CELLS = 1 << 20
"""Cells in a batch of many columns, so that a wide table takes no more memory than a narrow one."""
FEWEST_ROWS = 1 << 14
REPEATED_BYTES = 4
"""Bytes of a text, as the file stores it, up to which texts must be repeated often."""
_WIDE = ("Int128", "UInt128")
_FAILED = "could not be read as Parquet"


class ParquetStore(FilesStore):
    """Parquet files whose rows follow each other in the order of the files.

    The columns may stand in any order, but names and types must be the same in all files. Nothing but the footers is read when
    the table is opened. A file that has changed since then makes a pass fail. Times of 96 bits are cut off at the microsecond.
    """

    def __init__(self, files: Sequence[Path], batch_rows: int = BATCH_ROWS) -> None:
        require("reading Parquet files needs", "files", "polars", "pyarrow")
        self._batch_rows = batch_rows
        self._files = tuple(files)
        super().__init__(files)
        schema = _read_schema(files[0])
        for file in files[1:]:
            _check_same_schema(file, _read_schema(file), files[0], schema)
        self._no_rows = _without_rows(files[0], schema)
        self._cut_off = {name for file in files for name in _times_of_96_bits(file)}
        self._check_versions()
        self.columns: Mapping[str, ColumnType] = {name: type_of(self._no_rows.column(name)) for name in schema}

    def bounded(self, bound: Bound) -> Store:
        """The same table with at most `bound.rows` rows of each unit; an error where different ids might be read as one."""
        if bound.unit in self._cut_off:
            raise DataTypeError(
                f"column {shown(bound.unit)} cannot be the unit: it has times of 96 bits, which are cut off. Save them as text."
            )
        return BoundedStore(self, bound)

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """All rows in the order of the files; fails at the end where a file has changed on the way."""
        self._check_versions()
        yield from one_error_along(self._batches(list(dict.fromkeys(columns))), self._name(), _FAILED)
        self._check_versions()

    def expected_rows(self) -> int:
        """The number of rows that the footers tell."""
        with one_error_for(self._files[0], _FAILED):
            return sum(_rows_of(file) for file in self._files)

    def _batches(self, columns: list[str]) -> Iterator[Batch]:
        """All rows; one batch at least, so that the types are seen even where there are none."""
        is_empty = True
        for file in self._files:
            if not columns:
                yield Batch({}, _rows_of(file))
                continue
            with _open(file, columns) as reader:
                for raw_rows in reader.iter_batches(self._rows_at_once(len(columns)), columns=columns):
                    is_empty = False
                    yield Batch({name: raw_rows.column(name) for name in columns}, raw_rows.num_rows)
        if columns and is_empty:
            yield Batch({name: self._no_rows.column(name) for name in columns}, 0)

    def _rows_at_once(self, columns: int) -> int:
        return min(self._batch_rows, max(BATCH_CELLS // columns, FEWEST_ROWS))

    def _name(self) -> str:
        first = shown(self._files[0])
        return first if len(self._files) == 1 else f"{first}, or another file of the same table,"


def _read_schema(file: Path) -> dict[str, Any]:
    import polars as pl

    with one_error_for(file, _FAILED), file.open("rb") as octets:
        return dict(pl.read_parquet_schema(octets))


def _without_rows(file: Path, schema: Mapping[str, Any]) -> pyarrow.Table:
    """A table of the file's columns as pyarrow has them, which it cannot where whole numbers have more than 64 bits."""
    for name, declared in schema.items():
        if declared.base_type().__name__ in _WIDE:
            raise DataFileError(f"column {shown(name)} of {shown(file)} has whole numbers of 128 bits: save them as decimals.")
    with one_error_for(file, _FAILED), _open(file) as reader:
        return reader.schema_arrow.empty_table()


def _times_of_96_bits(file: Path) -> list[str]:
    """The columns of an old type of times, which has nanoseconds and more years than 64 bits of them."""
    with one_error_for(file, _FAILED), _open(file) as reader:
        leaves = [reader.schema.column(place) for place in range(len(reader.schema))]
        return [leaf.path for leaf in leaves if leaf.physical_type == "INT96"]


def _rows_of(file: Path) -> int:
    with _open(file) as reader:
        return int(reader.metadata.num_rows)


def _open(file: Path, columns: Sequence[str] = ()) -> ParquetFile:
    """The file; texts of `columns` that are stored as places in a list of a few texts are read as such, which is far quicker."""
    from pyarrow.parquet import ParquetFile

    words: dict[str, Any] = {"coerce_int96_timestamp_unit": "us", "pre_buffer": False}  # which would hold all of it in memory
    plain = ParquetFile(file, **words)
    repeated = _repeated_texts(plain, columns) if columns else []
    if not repeated:
        return plain
    with plain:
        return ParquetFile(file, **words, metadata=plain.metadata, read_dictionary=repeated)


def _repeated_texts(reader: ParquetFile, columns: Sequence[str]) -> list[str]:
    """Those of some columns of texts whose cells take so few bytes in the file that most of them must be alike."""
    import pyarrow as pa

    types = {field.name: field.type for field in reader.schema_arrow}
    texts = {name for name in columns if types[name] in (pa.string(), pa.large_string()) and "." not in name}
    sizes, cells = dict.fromkeys(texts, 0), dict.fromkeys(texts, 0)
    for group in range(reader.metadata.num_row_groups if texts else 0):
        row_group = reader.metadata.row_group(group)
        for place in range(row_group.num_columns):
            part = row_group.column(place)
            if part.path_in_schema in texts:
                sizes[part.path_in_schema] += part.total_uncompressed_size
                cells[part.path_in_schema] += part.num_values
    return [name for name in columns if name in texts and sizes[name] <= REPEATED_BYTES * cells[name]]


def _check_same_schema(file: Path, schema: Mapping[str, Any], first: Path, expected: Mapping[str, Any]) -> None:
    for name, declared in expected.items():
        if name not in schema:
            raise DataFileError(f"{shown(file)} has no column {shown(name)}, which {shown(first)} has: one table, one schema.")
        if schema[name] != declared:
            raise DataFileError(
                f"column {shown(name)} is of type {_type_name(schema[name])} in {shown(file)} and of type "
                f"{_type_name(declared)} in {shown(first)}: one table, one schema."
            )
    for name in schema:
        if name not in expected:
            raise DataFileError(f"{shown(file)} has a column {shown(name)}, which {shown(first)} has not: one table, one schema.")


def _type_name(declared: Any) -> str:
    """The name of a type; of categories without them, because they were values once."""
    name = str(declared.base_type().__name__)
    return f"{name} (of other categories)" if name == "Enum" else str(declared)
