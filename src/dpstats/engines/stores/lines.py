"""Lines of CSV files, block by block: a line is a row, always.

Quotes count within their line only, so that no line can change how another is read. Short lines are filled with missing cells,
surplus cells are dropped, stray bytes are replaced, and a cell of nothing but spaces is missing. Such a line, and one whose
quotes do not close where they should, is broken: its cells may be those of another column, or a part of somebody else's note.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpstats.engines.complaints import shown
from dpstats.foundations.errors import DataFileError

if TYPE_CHECKING:
    import polars

BLOCK_BYTES = 1 << 24
"""Bytes read at a time; a block ends where a line does, and costs about ten times as much memory while it is split."""
SEPARATORS = {".csv": ",", ".tsv": "\t"}
_LONGEST_HEADER = 1 << 20
_A_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)*|[.,]\d+)([eE][+-]?\d+)?")
_OTHER_SEPARATORS = {";": "';': save it with commas", "\t": "tabs: name it .tsv"}


def read_header(file: Path, separator: str) -> tuple[str, ...]:
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


def read_blocks(file: Path, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """The lines after the first in blocks of about `size` bytes, none of them empty; only the last may lack its line end."""
    with file.open("rb") as octets:
        octets.readline()
        while block := octets.read(size):
            if not block.endswith(b"\n"):
                block += octets.readline()
            yield block


def count_lines(block: bytes) -> int:
    """The number of lines in a block; the last line end ends a line and begins none."""
    return block.count(b"\n") + (not block.endswith(b"\n"))


def split_block(block: bytes, separator: str, positions: Sequence[int]) -> list[polars.Series]:
    """The cells of some columns as text without spaces around it, null where there is none, from one split of the lines."""
    import polars as pl

    raw_lines = _lines_of(block)
    raw_split = raw_lines.str.split_exact(separator, max(positions)).struct.unnest()
    raw_columns = [raw_split.to_series(position) for position in positions]
    quoted = raw_lines.str.contains('"', literal=True).arg_true()
    if len(quoted):
        raw_quoted = _split_quoted(raw_lines.gather(quoted).to_list(), separator, positions)
        raw_columns = [
            raw_cells.scatter(quoted, pl.Series(cells, dtype=pl.String))
            for raw_cells, cells in zip(raw_columns, raw_quoted, strict=True)
        ]
    return [_filled(raw_cells.str.strip_chars()) for raw_cells in raw_columns]


def broken_lines(block: bytes, separator: str, width: int) -> polars.Series:
    """Which lines are not `width` cells, each of them without quotes or in a closed pair of them."""
    import polars as pl

    raw_lines = _lines_of(block)
    raw_broken = raw_lines.str.count_matches(separator, literal=True) != width - 1
    quoted = raw_lines.str.contains('"', literal=True).arg_true()
    if len(quoted):
        cell = rf'(?: *"(?:[^"]|"")*" *|[^"{separator}]*)'
        raw_quoted = raw_lines.gather(quoted)
        raw_closed = raw_quoted.str.contains(rf"\A{cell}(?:{separator}{cell})*\z").to_list()
        raw_rows = _quoted_rows(raw_quoted.to_list(), separator)
        raw_quoted_broken = [not closed or len(row) != width for closed, row in zip(raw_closed, raw_rows, strict=True)]
        raw_broken = raw_broken.scatter(quoted, pl.Series(raw_quoted_broken))
    return raw_broken


def _lines_of(block: bytes) -> polars.Series:
    import polars as pl

    text = block.decode("utf-8", errors="replace").removesuffix("\n")
    return pl.Series([text], dtype=pl.String).str.split("\n").explode().str.strip_suffix("\r")


def _filled(raw_cells: polars.Series) -> polars.Series:
    return raw_cells.set(raw_cells == "", None)


class _OneLineEach:
    """Lines for a CSV reader that asks for one line a record: when it asks for more, a quote is open, and there is no more."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = iter(lines)
        self.begins_record = True

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if not self.begins_record:
            raise StopIteration
        self.begins_record = False
        return next(self._lines)


def _quoted_rows(lines: Sequence[str], separator: str) -> Iterator[list[str]]:
    """The cells of lines with quotes in them; a quote left open reaches to the end of its line."""
    feed = _OneLineEach(lines)
    reader = csv.reader(feed, delimiter=separator, skipinitialspace=True)
    for _ in lines:
        feed.begins_record = True
        try:
            row = next(reader, [])
        except csv.Error:  # such as a cell beyond all measure: a line without cells
            row = []
        yield row


def _split_quoted(lines: Sequence[str], separator: str, positions: Sequence[int]) -> list[list[str | None]]:
    """The cells of some columns of lines with quotes in them."""
    raw_columns: list[list[str | None]] = [[] for _ in positions]
    for row in _quoted_rows(lines, separator):
        for raw_cells, position in zip(raw_columns, positions, strict=True):
            raw_cells.append(row[position] if position < len(row) else None)
    return raw_columns
