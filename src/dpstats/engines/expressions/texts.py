"""Texts: what is done to cells of text, once for each distinct text and not for each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Labels


def gathered(labels: Labels, of_label: Callable[[str], Any], missing: Any, dtype: type[np.generic]) -> NDArray[Any]:
    """For each row what a function says of its text."""
    table = np.array([*map(of_label, labels.raw_labels), missing], dtype=dtype)  # the code -1 finds the last
    return np.asarray(table[labels.raw_codes])


def mapped(labels: Labels, of_label: Callable[[str], str]) -> Labels:
    """For each row another text."""
    places: dict[str, int] = {}
    codes = gathered(labels, lambda label: places.setdefault(of_label(label), len(places)), -1, np.int64)
    return Labels(codes, list(places))


def united(parts: Sequence[Labels]) -> list[Labels]:
    """The same cells, all with one list of distinct texts, which is in the order of code points."""
    ordered = sorted({label for part in parts for label in part.raw_labels})
    places = {label: place for place, label in enumerate(ordered)}
    return [Labels(gathered(part, places.__getitem__, -1, np.int64), ordered) for part in parts]
