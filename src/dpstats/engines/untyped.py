"""Untyped rows: lists and object arrays, whose elements may be anything.

Each element is read on its own: bool, int, float, numpy scalars, Decimal and Fraction are numbers; None, NaN, pd.NA, pd.NaT
and everything else is a missing row. No element can make this raise. Where all numbers are of a whole type and of 64 bits
they stay whole; otherwise each becomes a float64. The way there never moves a number's 15-digit decimal, so that one more
element cannot move the decimals of the others: wholes beyond 2**53 are rounded to 15 digits rather than to the nearest
float, and 32- and 16-bit floats are read as the decimal that they print.
"""

from __future__ import annotations

import cmath
import datetime
import math
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.exact.blocks import sort_present
from dpstats.engines.exact.tallies import common_numbers, common_texts, merged_labels, tally_texts
from dpstats.engines.kinds import Kind, kind_of_element, not_numbers
from dpstats.engines.typed import number_array
from dpstats.foundations.summaries import LabelCounts
from dpstats.foundations.units import LARGEST_EXACT, float_of_whole


class UntypedRows:
    """A sequence of Python objects as the rows of a column."""

    def __init__(self, rows: Sequence[Any], stored: int | None = None) -> None:
        """`stored` is the number of rows where missing ones have been taken out of the sequence."""
        self._rows = rows
        self._stored = len(rows) if stored is None else stored
        # classes go by their id: a hostile metaclass may not even be hashable
        self._classes = dict(zip(map(id, map(type, rows)), map(type, rows), strict=True))
        self._kinds = {key: kind_of_element(cls) for key, cls in self._classes.items()}

    def kind(self) -> Kind:
        """What more than half of the elements are."""
        if set(self._kinds.values()) <= {Kind.NUMBER, Kind.MISSING}:
            return Kind.NUMBER
        tally: Counter[Kind] = Counter()
        for key, count in Counter(map(id, map(type, self._rows))).items():
            tally[self._kinds[key]] += count
        kind, count = tally.most_common(1)[0]
        return kind if 2 * count > len(self._rows) else Kind.OTHER

    def numbers(self) -> list[NDArray[Any]]:
        """The rows that are numbers, as one chunk of one number type; an error if most elements are of another kind."""
        kind = self.kind()
        if kind not in (Kind.NUMBER, Kind.MISSING, Kind.OTHER):
            raise not_numbers(kind)
        return [self._numbers()]

    def present(self) -> int:
        """Rows that are not missing, whatever they hold."""
        absent = self._absent()
        return sum(not absent[id(type(row))](row) for row in self._rows)

    def stored(self) -> int:
        """Rows, missing or not."""
        return self._stored

    def most_common(self, how_many: int) -> LabelCounts:
        """The most common labels of all kinds together: numbers, and texts and dates by their text. Others are missing rows."""
        raw_numbers = common_numbers(sort_present([self._numbers()]), how_many)
        return merged_labels([raw_numbers, common_texts(self._texts(), how_many)], how_many)

    def _texts(self) -> Counter[str]:
        """The rows that are texts or dates, by their text."""
        raw_tally: Counter[str] = Counter()
        for kind in (Kind.TEXT, Kind.DATE):
            rows, classes = self._of_kind(kind)
            counted = Counter(rows).items() if _have_one_text_if_equal(rows, classes) else ((row, 1) for row in rows)
            raw_tally.update(tally_texts(counted))
        return raw_tally

    def _numbers(self) -> NDArray[Any]:
        rows, classes = self._of_kind(Kind.NUMBER)
        chunk = _alike(rows, classes)
        return _mixed(rows) if chunk is None else chunk

    def _of_kind(self, wanted: Kind) -> tuple[Sequence[Any], set[type]]:
        """The rows of one kind, and their classes."""
        classes = {self._classes[key] for key, kind in self._kinds.items() if kind is wanted}
        if len(classes) == len(self._kinds):
            return self._rows, classes
        return [row for row in self._rows if self._kinds[id(type(row))] is wanted], classes

    def _absent(self) -> dict[int, Callable[[Any], bool]]:
        """By the id of a class, how to tell whether an element of it is missing."""
        return {key: _ABSENT.get(kind, _never) for key, kind in self._kinds.items()}


def _have_one_text_if_equal(rows: Sequence[Any], classes: set[type]) -> bool:
    """Whether labels can be counted before they become text: no code but Python's own runs, and equal ones look alike."""
    if classes == {datetime.datetime}:
        return all(row.tzinfo is None for row in rows)
    return classes in ({str}, {bytes}, {datetime.date})


def nearest_floats(rows: Sequence[Any]) -> NDArray[np.float64]:
    """Numbers of any size as the nearest float64, one by one; beyond the largest they are infinite."""
    numbers = (plain_number(row) for row in rows)
    return np.array([nearest_float(number) for number in numbers if number is not None], dtype=np.float64)


def _alike(rows: Sequence[Any], classes: set[type]) -> NDArray[Any] | None:
    """The array of numbers that are all of one well-known class, in one step; None where that is not so simple."""
    if classes <= {float}:
        return np.array(rows, dtype=np.float64)
    try:
        if classes == {int}:
            return np.array(rows, dtype=np.int64)
        if classes == {int, float} and any(type(row) is float and row == row for row in rows):
            array = np.array(rows, dtype=np.float64)
            return array if np.nanmax(np.abs(array)) <= LARGEST_EXACT else None
    except OverflowError:
        return None
    only = next(iter(classes))
    if len(classes) == 1 and (only is bool or issubclass(only, (np.bool_, np.integer, np.float64))):
        return number_array(np.array(rows, dtype=only))
    return None


def _mixed(rows: Sequence[Any]) -> NDArray[Any]:
    numbers = [number for row in rows if (number := plain_number(row)) is not None]
    if not numbers or any(isinstance(number, float) for number in numbers):
        return np.array([nearest_float(number) for number in numbers], dtype=np.float64)
    smallest, largest = min(numbers), max(numbers)
    for whole in (np.int64, np.uint64):
        limits = np.iinfo(whole)
        if limits.min <= smallest and largest <= limits.max:
            return np.array(numbers, dtype=whole)
    return np.array([nearest_float(number) for number in numbers], dtype=np.float64)


def plain_number(row: Any) -> int | float | None:
    """One element of a number class as a plain int or float; None where it is NaN or turns out to be no number."""
    try:
        number = _plain(row)
        return None if number != number else number
    except Exception:  # an element that misbehaves is a missing row
        return None


def _plain(row: Any) -> int | float:
    cls = type(row)
    if issubclass(cls, int):
        return int.__int__(row)  # not int(row): a subclass may have put anything there
    if issubclass(cls, float):
        return float.__float__(row)
    if issubclass(cls, (np.bool_, np.integer)):
        return int(row)
    if issubclass(cls, Fraction):
        return nearest_float(row)
    if issubclass(cls, (np.float16, np.float32)):
        return float(str(row))
    if issubclass(cls, Decimal):
        row = Decimal(row)  # a plain one: a subclass may have put anything into its methods
    return math.nan if isinstance(row, Decimal) and row.is_nan() else float(row)


def nearest_float(number: Any) -> float:
    """The nearest float64; Python's own conversion rounds correctly, and raises only beyond the largest float."""
    try:
        return float_of_whole(number) if isinstance(number, int) else float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _never(row: Any) -> bool:
    return False


def _always(row: Any) -> bool:
    return True


def _not_a_number(row: Any) -> bool:
    return plain_number(row) is None


def _not_a_time(row: Any) -> bool:
    return isinstance(row, (np.datetime64, np.timedelta64)) and bool(np.isnat(row))


def _not_complex(row: Any) -> bool:
    try:
        return cmath.isnan(row)
    except Exception:
        return False


_ABSENT: dict[Kind, Callable[[Any], bool]] = {
    Kind.MISSING: _always,
    Kind.NUMBER: _not_a_number,
    Kind.DATE: _not_a_time,
    Kind.COMPLEX: _not_complex,
}
