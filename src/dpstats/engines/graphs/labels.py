"""Labels of nodes as places: 0, 1, ... in an order that no other label changes.

All numbers ascend first, then texts, then all other labels as they are listed: these have no order of their own, and neither an
address in memory nor a representation is one. So removing a node from a list never changes the order of the others; projections
rest on that. None, NaN, and what cannot be hashed or compared is missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

MISSING = -1
_EXACT = 2**53
_ORDERED = (int, float, bool, str)
"""Types whose labels have an order of their own; subclasses may have another one."""


def whole_numbers(values: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]] | None:
    """A column as whole numbers, and which of them are there; None where it is no numpy column that holds only such."""
    if not isinstance(values, np.ndarray) or values.ndim != 1:
        return None
    if values.dtype.kind == "i" or (values.dtype.kind == "u" and values.dtype.itemsize < 8):
        return values.astype(np.int64), np.ones(len(values), dtype=bool)
    if values.dtype.kind != "f":
        return None
    there = ~np.isnan(values)
    found = values[there]
    if not np.all((np.abs(found) <= _EXACT) & (found == np.floor(found))):
        return None
    return np.where(there, values, 0).astype(np.int64), there


def places_of_numbers(values: NDArray[np.int64], there: NDArray[np.bool_], known: NDArray[np.int64] | int) -> NDArray[np.int64]:
    """The place of each number among the `known` ones, which ascend, or are 0 ... known - 1."""
    if isinstance(known, int):
        return np.where(there & (values >= 0) & (values < known), values, MISSING)
    if not len(known):
        return np.full(len(values), MISSING, dtype=np.int64)
    places = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.where(there & (known[places] == values), places, MISSING).astype(np.int64)


def distinct_labels(values: Iterable[Any]) -> dict[Any, int]:
    """Every label once, with its place: numbers ascend, then texts, then the others in the order of `values`."""
    there = [label for label in map(_plain, values) if not is_missing(label)]
    found = dict.fromkeys(label for label in there if type(label) in _ORDERED)
    for label in there:
        if type(label) not in _ORDERED:
            with suppress(Exception):  # it may refuse to be compared with another one
                found.setdefault(label)
    texts = sorted(label for label in found if type(label) is str)
    numbers = sorted(label for label in found if type(label) in _ORDERED and type(label) is not str)
    others = (label for label in found if type(label) not in _ORDERED)
    return {label: place for place, label in enumerate((*numbers, *texts, *others))}


def places_of_labels(values: Iterable[Any], known: dict[Any, int] | int) -> NDArray[np.int64]:
    """The place of each label among the known ones, or among 0 ... known - 1."""
    return np.fromiter((_place(_plain(label), known) for label in values), dtype=np.int64)


def is_missing(label: Any) -> bool:
    """Whether a label names nobody."""
    try:
        hash(label)
        return label is None or not bool(label == label)
    except Exception:  # an element's own method may raise, and must not be able to say anything
        return True


def _place(label: Any, known: dict[Any, int] | int) -> int:
    if is_missing(label):
        return MISSING
    try:
        if not isinstance(known, int):
            return known.get(label, MISSING)
        place = hash(label)  # whatever equals a whole number below 2**61 - 1 has that number for its hash
        return place if 0 <= place < known and bool(label == place) else MISSING
    except Exception:
        return MISSING


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
