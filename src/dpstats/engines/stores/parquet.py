"""Tables in Parquet files, one or many of one schema: read a batch at a time, only the columns that are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import one_error_along, one_error_for, require_polars, shown
from dpstats.engines.stores.lazy import BATCH_ROWS, frame_batches, stream_frames, types_of_schema
from dpstats.engines.stores.store import Batch, LocalStore
from dpstats.engines.stores.versions import FileVersion
from dpstats.foundations.errors import DataFileError

if TYPE_CHECKING:
    import polars

_FAILED = "could not be read as Parquet"


class ParquetStore(LocalStore):
    """Parquet files whose rows follow each other in the order of the files.

    The columns may stand in any order, but names and types must be the same in all files. Nothing but the footers is read when
    the table is opened. A file that has changed since then makes a pass fail. Memory is bounded by the largest row group of the
    columns that are read, which polars decodes whole.
    """

    def __init__(self, files: Sequence[Path], batch_rows: int = BATCH_ROWS) -> None:
        require_polars()
        self._batch_rows = batch_rows
        self._files = tuple(files)
        self._versions = [FileVersion.of(file) for file in files]
        self._schema = _read_schema(files[0])
        for file in files[1:]:
            _check_same_schema(file, _read_schema(file), files[0], self._schema)
        self._check_versions()
        self.columns: Mapping[str, ColumnType] = types_of_schema(self._schema)

    @property
    def state(self) -> str:
        """Tells one state of the files from another."""
        return "\n".join(map(str, self._versions))

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """All rows in the order of the files; fails at the end where a file has changed on the way."""
        self._check_versions()
        frames = one_error_along(self._frames(columns), self._name(), _FAILED)
        yield from frame_batches(frames, self._schema, columns)
        self._check_versions()

    def _frames(self, columns: Sequence[str]) -> Iterator[polars.DataFrame]:
        if columns:
            yield from stream_frames(_scan(self._files), columns, self._batch_rows, in_order=True)
        else:
            for file in self._files:
                yield from stream_frames(_scan([file]), columns, self._batch_rows, in_order=True)

    def _check_versions(self) -> None:
        for version in self._versions:
            version.check()

    def _name(self) -> str:
        first = shown(self._files[0])
        return first if len(self._files) == 1 else f"{first}, or another file of the same table,"


def _scan(files: Sequence[Path]) -> polars.LazyFrame:
    import polars as pl

    return pl.scan_parquet(list(files), glob=False, hive_partitioning=False)


def _read_schema(file: Path) -> dict[str, Any]:
    import polars as pl

    with one_error_for(file, _FAILED), file.open("rb") as octets:
        return dict(pl.read_parquet_schema(octets))


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
