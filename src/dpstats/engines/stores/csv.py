"""Tables in CSV files, one or many of one header: read a block of lines at a time, a line a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, ColumnType
from dpstats.engines.complaints import one_error_along, one_error_for, require, shown
from dpstats.engines.reading import read_identities
from dpstats.engines.stores.lines import BLOCK_BYTES, SEPARATORS, broken_lines, count_lines, read_blocks, read_header, split_block
from dpstats.engines.stores.store import Batch
from dpstats.engines.stores.versions import FilesStore, FileVersion
from dpstats.foundations.errors import DataFileError

if TYPE_CHECKING:
    import polars

_FAILED = "could not be read as CSV"
_FIRST_BYTES = 1 << 16


class CsvStore(FilesStore):
    """CSV files whose first lines name the same columns in the same order; rows follow each other in the order of the files.

    No column has a type of its own: the question, or whoever opens the table, says how its texts are read. Nothing but the first
    lines is read when the table is opened. A file that has changed since then makes a pass fail.
    """

    slow = True

    def __init__(self, files: Sequence[Path], block_bytes: int = BLOCK_BYTES) -> None:
        require("reading files needs", "files", "polars")
        self._block_bytes = block_bytes
        super().__init__([FileVersion.of(file) for file in files])
        self._names = _names_in(files[0])
        for file in files[1:]:
            _check_same_names(file, _names_in(file), files[0], self._names)
        self.check_versions()
        self.columns: Mapping[str, ColumnType] = dict.fromkeys(self._names, ColumnType.UNDECLARED)

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """All rows in the order of the files, and of the lines in them; fails where a file has changed on the way."""
        is_empty = True
        for version in self._versions:
            version.check()
            for batch in one_error_along(self._batches_in(version.file, columns), version.file, _FAILED):
                is_empty = False
                yield batch
            version.check()
        if is_empty:
            import polars as pl

            yield Batch({name: pl.Series(dtype=pl.String) for name in columns}, 0)

    def expected_rows(self) -> int | None:
        """As many lines as the first ones suggest that there are."""
        with one_error_for(self._versions[0].file, _FAILED):
            block = next(read_blocks(self._versions[0].file, _FIRST_BYTES), b"")
        return sum(version.size for version in self._versions) * count_lines(block) // len(block) if block else None

    def _batches_in(self, file: Path, columns: Sequence[str]) -> Iterator[Batch]:
        separator = SEPARATORS[file.suffix.lower()]
        positions = [self._names.index(name) for name in columns]
        for block in read_blocks(file, self._block_bytes):
            cells = split_block(block, separator, positions) if columns else []
            yield LineBatch(dict(zip(columns, cells, strict=True)), block, separator, len(self._names))


class LineBatch(Batch):
    """The rows that are the lines of a block."""

    def __init__(self, raw_columns: Mapping[str, Any], block: bytes, separator: str, width: int) -> None:
        """`width` is the number of cells that a line ought to have."""
        super().__init__(raw_columns, count_lines(block))
        self._line_form = block, separator, width

    def identities(self, name: str, kind: ColumnType) -> Cells:
        """One column of ids; those of broken lines are missing, because they may be anything."""
        return read_identities(self._raw_columns[name].set(self._raw_broken, None), kind)

    def broken(self) -> NDArray[np.bool_]:
        """Which lines are broken."""
        return self._raw_broken.to_numpy()

    @cached_property
    def _raw_broken(self) -> polars.Series:
        return broken_lines(*self._line_form)


def _names_in(file: Path) -> tuple[str, ...]:
    with one_error_for(file, _FAILED):
        return read_header(file, SEPARATORS[file.suffix.lower()])


def _check_same_names(file: Path, names: Sequence[str], first: Path, expected: Sequence[str]) -> None:
    if names == expected:
        return
    for name in expected:
        if name not in names:  # its own names are not repeated: they may be a row of a file without a header
            raise DataFileError(f"{shown(file)} has no column {shown(name)}, which {shown(first)} has: one table, one header.")
    raise DataFileError(
        f"{shown(file)} must name the same columns as {shown(first)} in its first line, in the same order and no others."
    )
