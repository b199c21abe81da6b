"""Typed rows: numpy arrays, whose type says what they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.exact.blocks import Chunks, sort_present, walk_blocks
from dpstats.engines.exact.tallies import common_numbers, common_texts, tally_sorted, tally_texts
from dpstats.engines.kinds import Kind, kind_of_array, not_labels, not_numbers
from dpstats.engines.moments import moment_texts
from dpstats.foundations.summaries import LabelCounts

_NOT_A_TIME = np.iinfo(np.int64).min


class TypedRows:
    """A one-dimensional numpy array of a declared type as the rows of a column."""

    def __init__(self, array: NDArray[Any], stored: int | None = None) -> None:
        """`stored` is the number of rows where missing ones have been taken out of the array."""
        self._array = array
        self._stored = array.size if stored is None else stored
        self._kind = kind_of_array(array.dtype.kind)

    def kind(self) -> Kind:
        """What the array's type says that it holds."""
        return self._kind

    def numbers(self) -> list[NDArray[Any]]:
        """The array as one chunk, without a copy where its type allows."""
        if self._kind is not Kind.NUMBER:
            raise not_numbers(self._kind)
        return [number_array(self._array)]

    def present(self) -> int:
        """Rows that are not missing."""
        if self._kind is Kind.DATE:
            return int(np.count_nonzero(~np.isnat(self._array)))
        if self._kind in (Kind.NUMBER, Kind.COMPLEX):
            return int(np.count_nonzero(self._array == self._array))
        if self._array.dtype.kind == "T":  # numpy's own string type may have missing rows
            return sum(isinstance(row, str) for row in self._array.tolist())
        return self._array.size

    def stored(self) -> int:
        """Rows, missing or not."""
        return self._stored

    def most_common(self, how_many: int) -> LabelCounts:
        """The most common labels; an error when the declared type has none in order."""
        if self._kind is Kind.NUMBER:
            return common_numbers(sort_present(self.numbers()), how_many)
        if self._kind is Kind.DATE:
            return common_moments([self._array], how_many)
        if self._kind is not Kind.TEXT:
            raise not_labels(self._kind)
        raw_counts: Counter[Any] = Counter()
        for block in walk_blocks([self._array]):
            raw_counts.update(block.tolist())
        return common_texts(tally_texts((label, count) for label, count in raw_counts.items() if _is_text(label)), how_many)


def common_moments(chunks: Chunks, how_many: int, write: Callable[[NDArray[Any]], list[str]] = moment_texts) -> LabelCounts:
    """The most common dates, times or durations of numpy's types, as `write` puts them into text."""
    dtype = chunks[0].dtype.newbyteorder("=")
    wholes = [chunk.astype(dtype, copy=False).view(np.int64) for chunk in chunks]
    runs = tally_sorted(sort_present([whole[whole != _NOT_A_TIME] for whole in wholes]))
    raw_labels = zip(write(runs.values.view(dtype)), runs.counts.tolist(), strict=True)
    return common_texts(tally_texts(raw_labels), how_many)


def number_array(array: NDArray[Any]) -> NDArray[Any]:
    """An array of numbers in a type that columns have: native byte order, float32, float64 or whole; bool is uint8.

    float16 widens to float32 and longdouble is rounded to float64, row by row.
    """
    if array.dtype.kind == "b":
        return array.view(np.uint8)
    if array.dtype.kind in "iu":
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    with np.errstate(all="ignore"):
        return array.astype(np.float32 if array.dtype.itemsize <= 4 else np.float64, copy=False)


def _is_text(label: Any) -> bool:
    """Whether a row of a text type holds text: numpy's own string type may have missing rows."""
    return isinstance(label, (str, bytes))
