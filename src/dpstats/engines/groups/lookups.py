"""A lookup: from cells to places in a public list of labels.

Labels have the form that `most_common` gives them: plain numbers, of which 7 and 7.0 are the same, and texts; dates and times in
ISO form. The list is translated into the type of the cells, so that no cell has to become a label.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, Labels, Moments, Numbers
from dpstats.engines.exact.tallies import number_labels
from dpstats.engines.exact.wholes import are_exact, floats_of_wholes
from dpstats.engines.moments import label_texts, moment_texts
from dpstats.foundations.keys import number_text
from dpstats.foundations.units import LARGEST_EXACT, float_of_whole

Label = int | float | str
Codes = NDArray[np.int64]

LONGEST_TABLE = 1 << 20
"""Whole numbers that span at most this many are looked up in a table rather than searched."""

_MOMENT = re.compile(r"-?\d{4,}(-\d\d(-\d\d(T\d\d:\d\d:\d\d(\.\d{1,18})?)?)?)?", re.ASCII)
_UTC_OFFSET = "+00:00"


def canonical_label(label: Any) -> Label:
    """A label in the form that labels of cells have; one that equals no label of a cell stays as it is."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, str):
        return str(label)
    if isinstance(label, int):
        return int(label) if abs(label) <= LARGEST_EXACT else float_of_whole(int(label))
    return float(label) + 0.0  # -0.0 is 0.0


class _ValueTable:
    """Distinct values of a type, each with its place in the list."""

    def __init__(self, raw_type: np.dtype[Any], found: Sequence[tuple[Any, int]]) -> None:
        values = np.array([value for value, _ in found], dtype=raw_type)
        places = np.array([place for _, place in found], dtype=np.int64)
        order = np.argsort(values)
        self._values, self._places = values[order], places[order]
        self._offsets: Codes | None = None
        if values.size and raw_type.kind in "iu":
            self._first = int(self._values[0])
            span = int(self._values[-1]) - self._first + 1
            if span <= LONGEST_TABLE:
                self._offsets = np.full(span + 1, -1, dtype=np.int64)
                self._offsets[self._values.astype(np.int64) - self._first] = self._places

    def places(self, raw_values: NDArray[Any]) -> Codes:
        """The place of each value; -1 where it is not on the list."""
        if not self._values.size:
            return np.full(raw_values.size, -1, dtype=np.int64)
        if self._offsets is not None:
            offsets = (raw_values.astype(np.int64) - self._first).view(np.uint64)  # modulo 2**64: what lies below is far above
            return self._offsets[np.minimum(offsets, np.uint64(self._offsets.size - 1))]
        nearest = np.minimum(np.searchsorted(self._values, raw_values), self._values.size - 1)
        return np.where(self._values[nearest] == raw_values, self._places[nearest], -1)


class Lookup:
    """A list of labels to look cells up in; all of them in canonical form and different."""

    def __init__(self, labels: Sequence[Label]) -> None:
        self._labels = labels
        self._texts = {label: place for place, label in enumerate(labels) if isinstance(label, str)}
        numbers = {place: label for place, label in enumerate(labels) if not isinstance(label, str) and label == label}
        self._written = {**{number_text(label): place for place, label in numbers.items()}, **self._texts}
        """Places by what labels are in a column without a type, where a number is its text."""
        self._tables: dict[tuple[np.dtype[Any], bool], _ValueTable] = {}

    def places(self, cells: Cells) -> Codes:
        """The place of each cell's label in the list; -1 where it is not on it, or the cell is missing."""
        if isinstance(cells, Labels):
            codes = [self._written.get(label, -1) for label in cells.raw_labels]
            return np.array([*codes, -1], dtype=np.int64)[cells.raw_codes]  # missing cells have the code -1
        if isinstance(cells, Moments):
            return self._table(cells.raw_values.dtype, cells.zoned).places(cells.raw_values.view(np.int64))
        if not isinstance(cells, Numbers):
            return np.full(len(cells), -1, dtype=np.int64)
        raw_values = cells.raw_values
        if raw_values.dtype.kind in "iu" and not are_exact(raw_values):
            raw_values = floats_of_wholes(raw_values)
        places = self._table(raw_values.dtype).places(raw_values)
        return places if cells.raw_present is None else np.where(cells.raw_present, places, -1)

    def _table(self, dtype: np.dtype[Any], zoned: bool = False) -> _ValueTable:
        if (dtype, zoned) not in self._tables:
            self._tables[dtype, zoned] = self._moments(dtype, zoned) if dtype.kind == "M" else self._numbers(dtype)
        return self._tables[dtype, zoned]

    def _numbers(self, dtype: np.dtype[Any]) -> _ValueTable:
        """The labels that are numbers of a type."""
        found = []
        for place, label in enumerate(self._labels):
            if isinstance(label, str) or label != label:
                continue
            if dtype.kind == "f":
                with np.errstate(all="ignore"):
                    value = dtype.type(label)
                if number_labels(np.array([value])) == [label]:  # a 32-bit 12.99 is the label 12.99
                    found.append((value, place))
            elif math.isfinite(label) and label == int(label) and abs(label) <= LARGEST_EXACT:
                limits = np.iinfo(dtype)
                if limits.min <= label <= limits.max:
                    found.append((int(label), place))
        return _ValueTable(dtype, found)

    def _moments(self, dtype: np.dtype[Any], zoned: bool) -> _ValueTable:
        """The labels that are dates or times of a type, as the whole numbers behind them."""
        found = []
        for text, place in self._texts.items():
            bare = text.removesuffix(_UTC_OFFSET) if zoned else text
            if not _MOMENT.fullmatch(bare):
                continue
            try:
                moment = np.array([np.datetime64(bare)]).astype(dtype)
            except (ValueError, OverflowError):
                continue
            written = [*label_texts(moment, zoned=zoned), *(() if zoned else moment_texts(moment))]  # midnight, or not
            if not np.isnat(moment[0]) and text in written:
                found.append((int(moment.view(np.int64)[0]), place))
        return _ValueTable(np.dtype(np.int64), found)
