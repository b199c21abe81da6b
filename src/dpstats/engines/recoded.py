"""Recoded columns: numbers that are made of each row of a caller's column, and declared as such.

Claim      A recoded cell depends on its row alone, on the container's declared type and on public labels (reading.proof.md). Rows
           are read when the column is, so that whatever goes wrong with them is part of the answer to a question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from dpstats.engines.cells import ColumnType, Labels, Numbers
from dpstats.engines.columns.distinct import number_labels
from dpstats.engines.columns.elements import element_text
from dpstats.engines.columns.native import NativeColumn, numbers_of
from dpstats.engines.kinds import Kind
from dpstats.engines.reading import held_column, read_cells, read_identities
from dpstats.engines.stores.memory import slice_rows


class RecodedColumn(NativeColumn):
    """A column of float64 numbers, made of the rows of another one when it is first read; `_raw_numbers` says how."""

    type = ColumnType.NUMBER
    holds = Kind.NUMBER
    is_exact = True

    def __init__(self, raw_container: Any) -> None:
        """Raises where `raw_container` is no column, by its class and shape."""
        self._raw_container = held_column(raw_container)
        self._raw_made: Numbers | None = None

    def __len__(self) -> int:
        return len(self._raw_container)

    def slice(self, start: int, rows: int) -> Self:
        """Some of the rows."""
        return self._of(slice_rows(self._raw_container, start, start + rows))

    def numbers(self) -> Numbers:
        """The numbers, which are made once: a question may read them many times."""
        if self._raw_made is None:
            self._raw_made = self._raw_numbers()
        return self._raw_made

    def labels(self, exact: bool = False) -> Labels:
        """The numbers by their text."""
        return number_labels(self.numbers(), exact)

    def parsed(self, whole: bool) -> Numbers:
        """The numbers."""
        return self.numbers()

    def _raw_numbers(self) -> Numbers:
        raise NotImplementedError

    def _of(self, raw_container: Any) -> Self:
        return type(self)(raw_container)


class NumberColumn(RecodedColumn):
    """A column that is read as numbers whatever type it declares; missing where a row is none."""

    def _raw_numbers(self) -> Numbers:
        cells = read_cells(self._raw_container, ColumnType.NUMBER)
        assert isinstance(cells, Numbers)
        return numbers_of(cells.raw_values.astype(np.float64, copy=False), cells.raw_present)


class PlaceColumn(RecodedColumn):
    """The place of each row's label in a public list; missing where it is not on the list.

    Whole numbers are compared in full, however large, because labels of one column must not depend on what else it holds.
    """

    def __init__(self, raw_container: Any, labels: Sequence[Any]) -> None:
        """`labels` are numbers, texts or bytes, all different."""
        super().__init__(raw_container)
        self._labels = labels

    def _raw_numbers(self) -> Numbers:
        places = {element_text(label, exact=True): float(place) for place, label in enumerate(self._labels)}
        cells = read_identities(self._raw_container, ColumnType.TEXT)
        assert isinstance(cells, Labels)
        raw_places = [*(places.get(text, np.nan) for text in cells.raw_labels), np.nan]  # missing cells have the code -1
        return numbers_of(np.array(raw_places)[cells.raw_codes])

    def _of(self, raw_container: Any) -> Self:
        return type(self)(raw_container, self._labels)
