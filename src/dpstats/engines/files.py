"""Tables in files: CSV and Parquet, read by polars, a column at a time.

Public are the column names and the column types. Parquet declares its types; a CSV column has the type that the caller
declares, or else it is text when more than half of its non-empty cells are not numbers. Everything else is read cell by cell
and row by row: a cell that does not fit its column's type is a missing value and nothing more, short lines are filled with
missing values, surplus cells are dropped, stray bytes are replaced. A line of a CSV file is a row, always: quotes count within
their line only, so that no line can swallow another. No message of the reader is passed on: they quote data.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dpstats.engines.arrays import as_column, as_labelled
from dpstats.engines.kinds import Kind, kind_of_type
from dpstats.foundations.errors import (
    DataFileError,
    DataTypeError,
    InvalidParameterError,
    MissingExtraError,
    UnknownNameError,
)
from dpstats.foundations.summaries import Column

if TYPE_CHECKING:
    import polars

NUMBER, INTEGER, TEXT = "number", "integer", "text"
COLUMN_TYPES = (NUMBER, INTEGER, TEXT)
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")
_LISTED_COLUMNS = 30
_LONGEST_HEADER = 1 << 20
_LARGEST_EXACT = 2**53
_A_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)*|[.,]\d+)([eE][+-]?\d+)?")
_OTHER_SEPARATORS = {";": "';': save it with commas", "\t": "tabs: name it .tsv"}
_ADVICE = {
    Kind.TEXT: "Write plain numbers such as 12345.5",
    Kind.DATE: "Store numbers instead, such as days since a fixed day",
    Kind.CATEGORY: "Store the numbers behind the categories",
}


class Table(Protocol):
    """A file's columns by name."""

    @property
    def columns(self) -> Sequence[str]:
        """The names of the columns, which are public."""
        ...

    def column(self, name: str, *, numeric: bool) -> Column:
        """One column; with `numeric` it must be of a number type."""
        ...


def open_table(path: str | Path, types: Mapping[str, str] | None = None) -> Table:
    """The table in the file at `path`; `types` declares columns of a CSV file as number, integer or text."""
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in (*_SEPARATORS, *_PARQUET):
        raise DataFileError(f"{shown(file)} must end in .csv, .tsv or .parquet, so that it is clear how to read it.")
    with _one_error_for(file, "could not be opened: check its name and that it may be read"):
        if not file.exists():
            raise DataFileError(f"there is no file {shown(file)}.")
        if not file.is_file():
            raise DataFileError(f"{shown(file)} is not a file.")
        if file.stat().st_size == 0:
            raise DataFileError(f"{shown(file)} is empty.")
    if suffix in _PARQUET:
        if types:
            raise InvalidParameterError("types are for CSV files; a Parquet file declares its own.")
        return ParquetTable(file)
    return CsvTable(file, _SEPARATORS[suffix], types or {})


class ParquetTable:
    """A Parquet file; only the columns that are asked for are read."""

    def __init__(self, file: Path) -> None:
        self._file = file
        _require_polars()
        import polars as pl

        with _one_error_for(file, "could not be read as Parquet"):
            self._types = dict(pl.read_parquet_schema(file))
        self.columns = tuple(self._types)

    def column(self, name: str, *, numeric: bool) -> Column:
        """One column of the file."""
        import polars as pl

        check_column_name(name, self.columns)
        declared = self._types[name]
        if numeric and not (declared.is_numeric() or declared in (pl.Boolean, pl.Null)):
            raise _not_numbers(name, kind_of_type(declared.base_type().__name__))
        with _one_error_for(self._file, "could not be read as Parquet"):
            values = pl.read_parquet(self._file, columns=[name], glob=False)[name]
            if declared == pl.Null:
                values = values.cast(pl.Float64)
        return as_column(values, numeric=numeric)


class CsvTable:
    """A CSV file whose first line names its columns."""

    def __init__(self, file: Path, separator: str, types: Mapping[str, str]) -> None:
        self._file = file
        self._separator = separator
        _require_polars()
        with _one_error_for(file, "could not be read as CSV"):
            self.columns = _read_header(file, separator)
        for name, kind in types.items():
            check_column_name(name, self.columns)
            if kind not in COLUMN_TYPES:
                raise InvalidParameterError(f"the type of column {shown(name)} must be number, integer or text, got {kind!r}.")
        self._types = types

    def column(self, name: str, *, numeric: bool) -> Column:
        """One column of the file."""
        import polars as pl

        check_column_name(name, self.columns)
        with _one_error_for(self._file, "could not be read as CSV"):
            raw_cells = self._read_cells(self.columns.index(name)).str.strip_chars()
            raw_cells = raw_cells.set(raw_cells == "", None)
            raw_numbers = raw_cells.cast(pl.Float64, strict=False)
            kind = self._types.get(name)
            if kind == INTEGER:
                raw_numbers = _whole_numbers(raw_cells, raw_numbers)
            is_text = kind == TEXT or (kind is None and 2 * raw_numbers.count() < raw_cells.count())
        if not numeric and kind is None:  # every cell that is not empty counts, as a number where it is one and as text if not
            return as_labelled(raw_cells, raw_numbers, raw_cells.set(raw_numbers.is_not_null(), None))
        if not numeric:
            return as_column(raw_cells if kind == TEXT else raw_numbers, numeric=False)
        if is_text:
            raise _not_numbers(name, Kind.TEXT, "" if name in self._types else ", as most of its cells are")
        return as_column(raw_numbers)

    def _read_cells(self, position: int) -> polars.Series:
        """The cells of one column as text: a line is a row, whatever the other lines hold."""
        import polars as pl

        text = self._file.read_bytes().decode("utf-8-sig", errors="replace")
        lines = text.removesuffix("\n").split("\n")[1:]  # the last line end ends a line and begins none
        raw_lines = pl.Series(lines, dtype=pl.String).str.strip_suffix("\r")
        raw_cells = raw_lines.str.split(self._separator).list.get(position, null_on_oob=True)
        quoted = raw_lines.str.contains('"', literal=True).arg_true()
        if not len(quoted):
            return raw_cells
        return raw_cells.scatter(quoted, [self._cell_of_quoted(line, position) for line in raw_lines.gather(quoted)])

    def _cell_of_quoted(self, line: str, position: int) -> str | None:
        """A cell of a line with quotes in it; a quote left open reaches to the end of its line."""
        try:
            cells = next(csv.reader((line,), delimiter=self._separator, skipinitialspace=True), [])
        except csv.Error:
            cells = []
        return cells[position] if position < len(cells) else None


def check_column_name(name: str, columns: Sequence[str]) -> None:
    """Raise unless `name` is one of the columns; the error lists them."""
    if name in columns:
        return
    near = get_close_matches(name, columns, n=1)
    hint = f" Did you mean {shown(near[0])}?" if near else ""
    listed = ", ".join(shown(column) for column in columns[:_LISTED_COLUMNS])
    more = f" and {len(columns) - _LISTED_COLUMNS} more" if len(columns) > _LISTED_COLUMNS else ""
    raise UnknownNameError(f"there is no column {shown(name)}; the columns are {listed}{more}.{hint}")


def shown(name: object) -> str:
    """A name from outside for a message: as it is, or escaped when a terminal could take offence at it."""
    text = str(name)
    return text if text and text.isprintable() else ascii(text)


def _read_header(file: Path, separator: str) -> tuple[str, ...]:
    """The names in the first line, which must be whole by itself: a quote left open would make names of the data."""
    with file.open("rb") as octets:
        line = octets.readline(_LONGEST_HEADER)
    if line.startswith(b"PAR1"):
        raise DataFileError(f"{shown(file)} looks like Parquet: rename it to .parquet.")
    if line.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataFileError(f"{shown(file)} is in UTF-16: save it as UTF-8.")
    if line.startswith((b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd")):
        raise DataFileError(f"{shown(file)} is compressed: unpack it first.")
    line = line.rstrip(b"\r\n")
    if b"\r" in line:
        raise DataFileError(f"{shown(file)} ends its lines with a bare carriage return: save it with ordinary line ends.")
    if line.count(b'"') % 2 or len(line) >= _LONGEST_HEADER:
        raise DataFileError(f"{shown(file)} must name its columns in the first line, with every quote closed there.")
    try:
        header = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        header = line.decode("latin-1")
    unquoted = re.sub(r'"[^"]*"', "", header)
    for other, advice in _OTHER_SEPARATORS.items():
        if other in unquoted and separator not in unquoted:
            raise DataFileError(f"{shown(file)}: its columns seem to be separated by {advice}.")
    names = tuple(name.strip() for name in next(csv.reader([header], delimiter=separator, skipinitialspace=True), []))
    if not any(names):
        raise DataFileError(f"{shown(file)} must name its columns in the first line.")
    if any(_A_NUMBER.fullmatch(name) for name in names):  # then it may be somebody's row, of which no cell is repeated
        raise DataFileError(
            f"{shown(file)} seems to have no header: its first line holds numbers. Add a first line with the column names."
        )
    for name, times in Counter(names).items():
        if times > 1:
            raise DataFileError(f"{shown(file)} has more than one column named {shown(name)}: names must differ.")
    return names


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


@contextmanager
def _one_error_for(file: Path, what_happened: str) -> Iterator[None]:
    """Lets our own errors pass and turns all others into one that says nothing about the data."""
    try:
        yield
    except (DataFileError, MissingExtraError):
        raise
    except KeyboardInterrupt:
        raise
    except BaseException:  # a panic of the reader is not an Exception
        raise DataFileError(f"{shown(file)} {what_happened}.") from None


def _require_polars() -> None:
    if find_spec("polars") is None:
        raise MissingExtraError(
            "reading files needs polars: pip install 'dpstats[files]', or in a clone of dpstats pip install -e '.[files]'."
        )
