"""Typed rows: numpy arrays, whose type says what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.kinds import Kind, kind_of_array, not_numbers


class TypedRows:
    """A one-dimensional numpy array of a declared type as the rows of a column."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self._kind = kind_of_array(array.dtype.kind)

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
