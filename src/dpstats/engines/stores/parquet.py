"""Tables in Parquet files, one or many: read a batch at a time, only the columns that are asked for.

Texts are read as the bytes that they are, by pyarrow, which does not look whether they are UTF-8; what is not is mended, cell by
cell, when they become cells. polars, which reads the schema, would give up a whole column for one such cell.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import one_error_along, one_error_for, require, shown
from dpstats.engines.reading import type_of
from dpstats.engines.stores.objects import ObjectVersion, StoredObject
from dpstats.engines.stores.partitions import common_columns
from dpstats.engines.stores.readings import FileReading
from dpstats.engines.stores.store import Batch, Store
from dpstats.engines.stores.versions import FilesStore, FileVersion, Version, at_once
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

TableFile = Path | StoredObject
"""One of the files of a table, on this machine or in an object store."""


class ParquetStore(FilesStore):
    """Parquet files whose rows follow each other in the order of the files.

    The columns may stand in any order. A column may have different types in different files where one of them holds all
    (`widening`), and is missing in the rows of files that lack it. Nothing but the footers is read when the table is opened. A
    file that has changed since then makes a pass fail. Times of 96 bits are cut off at the microsecond.
    """

    def __init__(
        self,
        files: Sequence[TableFile],
        batch_rows: int = BATCH_ROWS,
        partitions: Sequence[Mapping[str, Any]] = (),
        declared: pyarrow.Schema | None = None,
        partition_types: Mapping[str, pyarrow.DataType] | None = None,
        root: PurePath | None = None,
        readings: Sequence[FileReading] = (),
        name: str = "",
    ) -> None:
        """`partitions` are cells that all rows of a file have, for each file; they are text unless `partition_types` has a type.

        `declared` are all columns of the table and their least types, where somebody else knows them; `root` is the folder that
        is the table, where it is one; `readings` say how to read each file, where that takes more than its own names and rows;
        `name` is the table's own.
        """
        require("reading Parquet files needs", "files", "polars", "pyarrow")
        self.name = name
        self._batch_rows = batch_rows
        self._files = tuple(files)
        super().__init__(at_once(_version_of, self._files), root)
        footers = at_once(_read_footer, self._files)
        self._partitions = tuple(partitions) or ({},) * len(footers)
        folders = {name: pyarrow_text() for name in common_columns(self._partitions)} | dict(partition_types or {})
        self._readings: tuple[FileReading | None, ...] = tuple(readings) or (None,) * len(footers)
        schemas = [
            footer.schema if reading is None else reading.schema(footer.schema)
            for footer, reading in zip(footers, self._readings, strict=True)
        ]
        if declared is not None:
            known = pyarrow_schema([field for field in declared if field.name not in folders])
            schemas = [known, *(pyarrow_schema([field for field in each if field.name in known.names]) for each in schemas)]
        self._types, inexact = _common_types(schemas, folders)
        self._vague = set(inexact)
        for footer, reading in zip(footers, self._readings, strict=True):
            self._vague.update(footer.cut_off if reading is None else reading.ours(footer.cut_off))
        self.check_versions()
        self._no_rows = {name: pyarrow_array(kind) for name, kind in self._types.items()}
        self.columns: Mapping[str, ColumnType] = {name: type_of(cells) for name, cells in self._no_rows.items()}

    def bounded(self, bound: Bound) -> Store:
        """The same table with at most `bound.rows` rows of each unit; an error where different ids might be read as one."""
        if bound.unit in self._vague:
            raise DataTypeError(
                f"column {shown(bound.unit)} cannot be the unit: it has times of 96 bits, which are cut off, or types in several "
                "files that no type holds exactly. Save it as text."
            )
        return BoundedStore(self, bound)

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """All rows in the order of the files; fails at the end where a file has changed on the way."""
        self.check_versions()
        yield from one_error_along(self._batches(list(dict.fromkeys(columns))), self._name(), _FAILED)
        self.check_versions()

    def expected_rows(self) -> int:
        """The number of rows that the footers tell."""
        with one_error_for(self._name(), _FAILED):
            return sum(_rows_of(file) for file in self._files)

    def _batches(self, columns: list[str]) -> Iterator[Batch]:
        """All rows; one batch at least, so that the types are seen even where there are none."""
        is_empty = True
        for file, partition, reading in zip(self._files, self._partitions, self._readings, strict=True):
            if not columns:
                yield Batch({}, _rows_of(file) - (0 if reading is None else len(reading.raw_deleted)))
                continue
            named = {name: name for name in columns} if reading is None else reading.names
            sought = {name: named[name] for name in columns if name not in partition and name in named}
            with _open(file, list(sought.values())) as reader:
                stored = {name: theirs for name, theirs in sought.items() if theirs in reader.schema_arrow.names}
                start = 0
                for raw_read, read in _rows_in(reader, list(stored.values()), self._rows_at_once(len(columns))):
                    is_empty = False
                    raw_rows, rows = (raw_read, read) if reading is None else reading.kept(raw_read, start, read)
                    start += read
                    yield Batch({name: self._cells(name, raw_rows, stored.get(name), partition, rows) for name in columns}, rows)
        if columns and is_empty:
            yield Batch({name: self._no_rows[name] for name in columns}, 0)

    def _cells(self, name: str, raw_rows: Any, stored: str | None, partition: Mapping[str, Any], rows: int) -> Any:
        """A column of some rows: as the file has it under the name `stored`, as its folder says, or missing."""
        from dpstats.engines.stores.widening import repeated, widened

        if stored is None:
            return repeated(partition.get(name), self._types[name], rows)
        return widened(raw_rows.column(stored), self._types[name])

    def _beside(self, place: int) -> str:
        """The cells that the file's folders name, and how the file is read."""
        reading = self._readings[place]
        if reading is not None:
            return reading.digest()
        return json.dumps(self._partitions[place], sort_keys=True, default=str)

    def _rows_at_once(self, columns: int) -> int:
        return min(self._batch_rows, max(BATCH_CELLS // columns, FEWEST_ROWS))

    def _name(self) -> str:
        if not self._files:
            return "the table"
        first = shown(self._files[0])
        return first if len(self._files) == 1 else f"{first}, or another file of the same table,"


@dataclass(frozen=True)
class _Footer:
    """What the end of a file says of its columns."""

    schema: pyarrow.Schema
    cut_off: tuple[str, ...]
    """The columns of an old type of times, of 96 bits, which has nanoseconds and more years than 64 bits of them."""


def _version_of(file: TableFile) -> Version:
    return FileVersion.of(file) if isinstance(file, Path) else ObjectVersion.of(file)


def _read_footer(file: TableFile) -> _Footer:
    """The columns of a file as pyarrow has them, which it cannot where whole numbers have more than 64 bits."""
    import polars as pl

    with one_error_for(file, _FAILED):
        with file.open("rb") if isinstance(file, Path) else file.footer() as octets:
            wide = [name for name, kind in pl.read_parquet_schema(octets).items() if kind.base_type().__name__ in _WIDE]
        if wide:
            raise DataFileError(f"column {shown(wide[0])} of {shown(file)} has whole numbers of 128 bits: save them as decimals.")
        with _open(file) as reader:
            leaves = [reader.schema.column(place) for place in range(len(reader.schema))]
            return _Footer(reader.schema_arrow, tuple(leaf.path for leaf in leaves if leaf.physical_type == "INT96"))


def _rows_in(reader: ParquetFile, columns: list[str], batch_rows: int) -> Iterator[tuple[Any, int]]:
    """Some columns of a file in batches, with their numbers of rows; of no columns only these."""
    if columns:
        for raw_rows in reader.iter_batches(batch_rows, columns=columns):
            yield raw_rows, raw_rows.num_rows
        return
    left = reader.metadata.num_rows
    while left > 0:
        yield None, min(left, batch_rows)
        left -= batch_rows


def pyarrow_text() -> pyarrow.DataType:
    """The type of texts."""
    import pyarrow

    return pyarrow.large_string()


def pyarrow_schema(fields: Sequence[pyarrow.Field]) -> pyarrow.Schema:
    """Columns by name."""
    import pyarrow

    return pyarrow.schema(fields)


def pyarrow_array(kind: pyarrow.DataType) -> Any:
    """A column without rows."""
    import pyarrow

    return pyarrow.schema([("x", kind)]).empty_table().column(0)


def _rows_of(file: TableFile) -> int:
    with _open(file) as reader:
        return int(reader.metadata.num_rows)


def _open(file: TableFile, columns: Sequence[str] = ()) -> ParquetFile:
    """The file; texts of `columns` that are stored as places in a list of a few texts are read as such, which is far quicker."""
    from pyarrow.parquet import ParquetFile

    words: dict[str, Any] = {"coerce_int96_timestamp_unit": "us", "pre_buffer": False}  # which would hold all of it in memory
    source: Path | str
    if isinstance(file, Path):
        source = file
    else:
        source, words["filesystem"] = file.path, file.reader()
    plain = ParquetFile(source, **words)
    repeated = _repeated_texts(plain, columns) if columns else []
    if not repeated:
        return plain
    with plain:
        return ParquetFile(source, **words, metadata=plain.metadata, read_dictionary=repeated)


def _repeated_texts(reader: ParquetFile, columns: Sequence[str]) -> list[str]:
    """Those of some columns of texts whose cells take so few bytes in the file that most of them must be alike."""
    import pyarrow as pa

    types = {field.name: field.type for field in reader.schema_arrow}
    texts = {name for name in columns if types.get(name) in (pa.string(), pa.large_string()) and "." not in name}
    sizes, cells = dict.fromkeys(texts, 0), dict.fromkeys(texts, 0)
    for group in range(reader.metadata.num_row_groups if texts else 0):
        row_group = reader.metadata.row_group(group)
        for place in range(row_group.num_columns):
            part = row_group.column(place)
            if part.path_in_schema in texts:
                sizes[part.path_in_schema] += part.total_uncompressed_size
                cells[part.path_in_schema] += part.num_values
    return [name for name in columns if name in texts and sizes[name] <= REPEATED_BYTES * cells[name]]


def _common_types(schemas: Sequence[pyarrow.Schema], folders: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """The type of every column over all files, and the columns whose values it does not all keep apart."""
    from dpstats.engines.stores.widening import is_exact, widened_type

    found: dict[str, set[Any]] = {}
    for schema in schemas:
        for field in schema:
            found.setdefault(field.name, set()).add(field.type)
    for name, declared in folders.items():
        if name in found:
            raise DataFileError(f"column {shown(name)} is in the files, and in the names of their folders: one of them only.")
        found[name] = {declared}
    types = {name: widened_type(kinds) for name, kinds in found.items()}
    for name, kind in types.items():
        if kind is None:
            named = " and ".join(sorted({_type_name(each) for each in found[name]}))
            raise DataFileError(f"column {shown(name)} is of types {named} in different files, and no type holds all of them.")
    return types, {name for name, kinds in found.items() if not is_exact(kinds)}


def _type_name(kind: Any) -> str:
    """The name of a type, without what is in it."""
    return str(kind).partition("<")[0].partition("[")[0]
