"""Distinct values: columns of many rows as places in a list of few texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Labels, Moments, Numbers, present_cells
from dpstats.engines.columns.digits import exact_text
from dpstats.engines.columns.native import NOT_A_TIME
from dpstats.engines.moments import label_texts
from dpstats.foundations.keys import number_text


def labels_of(raw_codes: NDArray[Any], raw_texts: Sequence[str | None]) -> Labels:
    """Cells by their place in a list of texts, some of which may be alike; missing at -1 and where the text is None."""
    places: dict[str, int] = {}
    raw_places = [-1 if text is None else places.setdefault(text, len(places)) for text in raw_texts]
    if len(places) == len(raw_texts):
        return Labels(raw_codes.astype(np.int64, copy=False), list(places))
    return Labels(np.array([*raw_places, -1], dtype=np.int64)[raw_codes], list(places))  # place -1 is the last


def texts_at(cells: Labels) -> list[str | None]:
    """The text of every cell; None where it is missing."""
    slots: list[str | None] = [*cells.raw_labels, None]
    return [slots[code] for code in cells.raw_codes.tolist()]


def joined_labels(parts: Sequence[Labels]) -> Labels:
    """The cells of several columns, one after the other, with one list of texts."""
    if len(parts) == 1:
        return parts[0]
    places: dict[str, int] = {}
    pieces = [np.zeros(0, dtype=np.int64)]
    for part in parts:
        raw_places = [places.setdefault(text, len(places)) for text in part.raw_labels]
        pieces.append(np.array([*raw_places, -1], dtype=np.int64)[part.raw_codes])
    return Labels(np.concatenate(pieces), list(places))


def number_labels(cells: Numbers, exact: bool = False) -> Labels:
    """Numbers by their text; a 32-bit one by the decimal that it prints."""
    write = exact_text if exact else number_text

    def texts(raw_distinct: NDArray[Any]) -> list[str]:
        if raw_distinct.dtype == np.float32:
            return [write(float(str(number))) for number in raw_distinct]
        return [write(number) for number in raw_distinct.tolist()]

    raw_present = present_cells(cells)
    return _by_distinct(cells.raw_values[raw_present], raw_present, texts)


def moment_labels(cells: Moments) -> Labels:
    """Dates and times by their text."""
    return tick_labels(cells.raw_values, partial(label_texts, zoned=cells.zoned))


def tick_labels(raw_ticks: NDArray[Any], write: Callable[[NDArray[Any]], list[str]]) -> Labels:
    """Dates, times or durations of numpy's types by the text that `write` gives them."""
    raw_wholes = raw_ticks.view(np.int64)
    raw_present = raw_wholes != NOT_A_TIME
    return _by_distinct(raw_wholes[raw_present], raw_present, lambda raw_distinct: write(raw_distinct.view(raw_ticks.dtype)))


def _by_distinct(raw_values: NDArray[Any], raw_present: NDArray[np.bool_], write: Callable[[NDArray[Any]], list[str]]) -> Labels:
    """The values at the rows that are present, each distinct one written once."""
    raw_distinct, raw_inverse = np.unique(raw_values, return_inverse=True)
    raw_codes = np.full(raw_present.size, -1, dtype=np.int64)
    raw_codes[raw_present] = raw_inverse.reshape(-1)
    return labels_of(raw_codes, write(raw_distinct))
