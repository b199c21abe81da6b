"""Tables in files: CSV and Parquet, read by polars, a column at a time.

Public are the column names and the column types. Parquet declares its types; a CSV column has the type that the caller
declares, or else it is text when more than half of its non-empty cells are not numbers; where a question takes numbers or labels,
the same rule decides which. Everything else is read cell by cell and row by row: a cell that does not fit its column's type is a
missing value and nothing more, short lines are filled with missing values, surplus cells are dropped, stray bytes are replaced. A
line of a CSV file is a row, always: quotes count within their line only, so that no line can swallow another. No message of the
reader is passed on: they quote data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dpstats.engines.arrays import as_column, as_labelled
from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import check_column_name, one_error_for, require_polars, shown
from dpstats.engines.kinds import Kind, kind_of_type
from dpstats.engines.reading import type_of
from dpstats.engines.stores.lines import SEPARATORS, read_blocks, read_header, split_block
from dpstats.engines.stores.paths import PARQUET, check_file
from dpstats.engines.tables.given import GivenColumn, as_table
from dpstats.foundations.errors import DataFileError, DataTypeError, InvalidParameterError
from dpstats.foundations.summaries import Column, Table

if TYPE_CHECKING:
    import polars

__all__ = ["COLUMN_TYPES", "CsvTable", "FileTable", "ParquetTable", "check_column_name", "open_table", "shown"]

NUMBER, INTEGER, TEXT = "number", "integer", "text"
COLUMN_TYPES = (NUMBER, INTEGER, TEXT)
_LARGEST_EXACT = 2**53
_ADVICE = {
    Kind.TEXT: "Write plain numbers such as 12345.5",
    Kind.DATE: "Store numbers instead, such as days since a fixed day",
    Kind.CATEGORY: "Store the numbers behind the categories",
}


class FileTable(Protocol):
    """A file's columns by name."""

    @property
    def columns(self) -> Sequence[str]:
        """The names of the columns, which are public."""
        ...

    def column(self, name: str, *, numeric: bool | None) -> Column:
        """One column; with `numeric` it must be of a number type, and with None it has numbers where it is."""
        ...

    def together(self, names: Sequence[str], *, numeric: Sequence[bool | None]) -> Table:
        """Several columns of the same rows."""
        ...


def open_table(path: str | Path, types: Mapping[str, str] | None = None) -> FileTable:
    """The table in the file at `path`; `types` declares columns of a CSV file as number, integer or text."""
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in (*SEPARATORS, *PARQUET):
        raise DataFileError(f"{shown(file)} must end in .csv, .tsv or .parquet, so that it is clear how to read it.")
    check_file(file)
    if suffix in PARQUET:
        if types:
            raise InvalidParameterError("types are for CSV files; a Parquet file declares its own.")
        return ParquetTable(file)
    return CsvTable(file, SEPARATORS[suffix], types or {})


class ParquetTable:
    """A Parquet file; only the columns that are asked for are read."""

    def __init__(self, file: Path) -> None:
        self._file = file
        require_polars()
        import polars as pl

        with one_error_for(file, "could not be read as Parquet"):
            self._types = dict(pl.read_parquet_schema(file))
        self.columns = tuple(self._types)

    def column(self, name: str, *, numeric: bool | None) -> Column:
        """One column of the file."""
        raw_values, numeric = self._read(name, numeric)
        return as_column(raw_values, numeric=numeric)

    def together(self, names: Sequence[str], *, numeric: Sequence[bool | None]) -> Table:
        """Several columns of the file."""
        read = [self._read(name, wanted) for name, wanted in zip(names, numeric, strict=True)]
        return as_table([GivenColumn(raw_values, type_of(raw_values), wanted) for raw_values, wanted in read])

    def _read(self, name: str, numeric: bool | None) -> tuple[polars.Series, bool]:
        """The values of a column, and whether they are read as numbers."""
        import polars as pl

        check_column_name(name, self.columns)
        declared = self._types[name]
        has_numbers = declared.is_numeric() or declared in (pl.Boolean, pl.Null)
        if numeric and not has_numbers:
            raise _not_numbers(name, kind_of_type(declared.base_type().__name__))
        with one_error_for(self._file, "could not be read as Parquet"):
            raw_values = pl.read_parquet(self._file, columns=[name], glob=False)[name]
            if declared == pl.Null:
                raw_values = raw_values.cast(pl.Float64)
        return raw_values, has_numbers if numeric is None else numeric


class _CsvCells(NamedTuple):
    """A column of a CSV file."""

    raw_texts: polars.Series
    raw_numbers: polars.Series
    """The cells that are numbers, each in its row."""
    declared: str | None
    numeric: bool
    """Whether it is read as numbers."""


class CsvTable:
    """A CSV file whose first line names its columns."""

    def __init__(self, file: Path, separator: str, types: Mapping[str, str]) -> None:
        self._file = file
        self._separator = separator
        require_polars()
        with one_error_for(file, "could not be read as CSV"):
            self.columns = read_header(file, separator)
        for name, kind in types.items():
            check_column_name(name, self.columns)
            if kind not in COLUMN_TYPES:
                raise InvalidParameterError(f"the type of column {shown(name)} must be number, integer or text, got {kind!r}.")
        self._types = types

    def column(self, name: str, *, numeric: bool | None) -> Column:
        """One column of the file."""
        cells = self._read(name, numeric)
        if cells.numeric or cells.declared in (NUMBER, INTEGER):
            return as_column(cells.raw_numbers, numeric=cells.numeric)
        if cells.declared == TEXT:
            return as_column(cells.raw_texts, numeric=False)
        # every cell that is not empty counts, as a number where it is one and as text if not
        return as_labelled(cells.raw_texts, cells.raw_numbers, cells.raw_texts.set(cells.raw_numbers.is_not_null(), None))

    def together(self, names: Sequence[str], *, numeric: Sequence[bool | None]) -> Table:
        """Several columns of the file."""
        return as_table([_given(self._read(name, wanted)) for name, wanted in zip(names, numeric, strict=True)])

    def _read(self, name: str, numeric: bool | None) -> _CsvCells:
        """The cells of a column, by their texts and as numbers."""
        import polars as pl

        check_column_name(name, self.columns)
        with one_error_for(self._file, "could not be read as CSV"):
            raw_cells = self._read_cells(self.columns.index(name))
            raw_numbers = raw_cells.cast(pl.Float64, strict=False)
            declared = self._types.get(name)
            if declared == INTEGER:
                raw_numbers = _whole_numbers(raw_cells, raw_numbers)
            is_text = declared == TEXT or (declared is None and 2 * raw_numbers.count() < raw_cells.count())
        if numeric and is_text:
            raise _not_numbers(name, Kind.TEXT, "" if name in self._types else ", as most of its cells are")
        return _CsvCells(raw_cells, raw_numbers, declared, not is_text if numeric is None else numeric)

    def _read_cells(self, position: int) -> polars.Series:
        """The cells of one column as text."""
        import polars as pl

        blocks = [split_block(block, self._separator, [position])[0] for block in read_blocks(self._file)]
        return pl.concat(blocks) if blocks else pl.Series(dtype=pl.String)


def _given(cells: _CsvCells) -> GivenColumn:
    if cells.numeric or cells.declared in (NUMBER, INTEGER):
        return GivenColumn(cells.raw_numbers, type_of(cells.raw_numbers), cells.numeric)
    return GivenColumn(cells.raw_texts, ColumnType.TEXT if cells.declared == TEXT else ColumnType.UNDECLARED, False)


def _whole_numbers(raw_cells: polars.Series, raw_numbers: polars.Series) -> polars.Series:
    """The cells that are whole numbers: exact as they are written, or written as decimals (27102.0, 5e3) within 2**53."""
    import polars as pl

    raw_decimals = raw_numbers.set(~((raw_numbers.abs() < _LARGEST_EXACT) & (raw_numbers == raw_numbers.floor())), None)
    return raw_cells.cast(pl.Int64, strict=False).zip_with(raw_decimals.is_null(), raw_decimals.cast(pl.Int64, strict=False))


def _not_numbers(name: str, kind: Kind, why: str = "") -> DataTypeError:
    advice = _ADVICE.get(kind, "Store plain numbers")
    return DataTypeError(
        f"column {shown(name)} holds no numbers, which this question needs: its type is {kind.value}{why}. "
        f"{advice}, or ask count({shown(name)})."
    )
