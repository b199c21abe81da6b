"""Columns of numbers that come as numerals, in a pyarrow array of texts: decimals, and whole numbers of any size."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpstats.engines.cells import ColumnType, Labels, Numbers
from dpstats.engines.columns.distinct import labels_of, number_labels
from dpstats.engines.columns.native import NativeColumn, numbers_of
from dpstats.engines.columns.texts import identity_of_text
from dpstats.engines.exact.wholes import floats_of_wholes
from dpstats.engines.kinds import Kind
from dpstats.foundations.units import float_of_whole

_MOST_DIGITS = 400  # whole numbers of more digits lie beyond the largest float, and Python reads no more than 4300


class NumeralColumn(NativeColumn):
    """Numbers as a database writes them: `type` is INTEGER where all are whole, else NUMBER. Other texts are missing."""

    holds = Kind.NUMBER
    is_exact = False

    def __init__(self, raw_texts: Any, type: ColumnType) -> None:
        from dpstats.engines.columns.arrow import ArrowColumn  # which loads pyarrow

        self._raw_texts = ArrowColumn(raw_texts)
        self.type = type

    def __len__(self) -> int:
        return len(self._raw_texts)

    def numbers(self) -> Numbers:
        """The rows as float64."""
        if self.type is ColumnType.NUMBER:
            return self._raw_texts.parsed(whole=False)
        cells = self._raw_texts.parsed(whole=True)
        raw_values = floats_of_wholes(cells.raw_values)
        if cells.raw_present is None:
            return Numbers(raw_values)
        raw_texts = self._raw_texts.labels()
        raw_floats = np.array([_float_of(text) for text in raw_texts.raw_labels] + [np.nan])
        raw_beyond = ~cells.raw_present
        raw_values[raw_beyond] = raw_floats[raw_texts.raw_codes[raw_beyond]]
        return numbers_of(raw_values)

    def labels(self, exact: bool = False) -> Labels:
        """The rows by their text."""
        if not exact:
            return number_labels(self.numbers())
        cells = self._raw_texts.labels()
        return labels_of(cells.raw_codes, [identity_of_text(text) for text in cells.raw_labels])

    def parsed(self, whole: bool) -> Numbers:
        """The rows as they are."""
        return self.numbers()


def _float_of(text: str) -> float:
    """A whole number of any size; NaN for a text that is none."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        return np.nan
    if len(digits) > _MOST_DIGITS:
        return -np.inf if text.startswith("-") else np.inf
    return float_of_whole(int(text))
