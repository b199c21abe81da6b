"""Keys of groups: a label, or a tuple of labels for several columns, and the order in which they are shown.

The order is that of the labels themselves. The order of the rows would tell which row came first, so nothing that leaves the
library may follow it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np

from dpstats.foundations.summaries import label_order
from dpstats.foundations.units import LARGEST_EXACT, float_of_whole

Label = str | int | float | bool
Key = Label | tuple[Label, ...]
AnyKey = TypeVar("AnyKey", bound=Hashable)
"""A key as the caller has it; `plain_key` says whether it is one."""

_PLAIN = {str, int, bool}


def in_key_order(keys: Iterable[AnyKey]) -> list[AnyKey]:
    """Keys in the order of `key_order`; none of them may be NaN."""
    listed = list(keys)
    try:  # Python compares like with like as key_order does, only faster, and complains where a number would meet a text
        if set(map(type, listed)) == {tuple} and set(map(len, listed)) == {1}:  # type: ignore[arg-type]
            return sorted(listed, key=itemgetter(0))  # type: ignore[arg-type]
        return sorted(listed)  # type: ignore[type-var]
    except TypeError:
        return sorted(listed, key=key_order)


def key_order(key: object) -> tuple[bool, tuple[tuple[bool, Any], ...]]:
    """The place of a key among all keys: label by label, numbers by size and then texts by code points; tuples come last."""
    return isinstance(key, tuple), tuple(label_order(label) for label in labels_of(key))


def labels_of(key: object) -> tuple[Any, ...]:
    """The labels of a key, one for each column."""
    return key if isinstance(key, tuple) else (key,)


def are_plain(keys: Iterable[object]) -> bool:
    """Whether all labels are texts, whole numbers and bools of Python itself, so that `plain_key` leaves every key as it is."""
    listed = list(keys)
    tuples = set(map(type, listed)) == {tuple}
    return set(map(type, chain.from_iterable(listed if tuples else map(labels_of, listed)))) <= _PLAIN  # type: ignore[arg-type]


def plain_key(key: object) -> Key | None:
    """A key without the types of numpy and without a sign on 0.0; None where a label is NaN or none of those that `Key` names."""
    labels = tuple(_plain_label(label) for label in labels_of(key))
    known = tuple(label for label in labels if label is not None)
    if len(known) < len(labels):
        return None
    return known if isinstance(key, tuple) else known[0]


def number_text(number: int | float) -> str:
    """A number that is not NaN as labels show it: whole ones as 7, others as the nearest float64 prints.

    Whole numbers beyond 2**53 are shown as the 15-digit float that they are among floats.
    """
    shown = number if isinstance(number, float) else float_of_whole(number)
    return str(int(shown)) if abs(shown) <= LARGEST_EXACT and shown.is_integer() else repr(shown)


def label_text(label: Label) -> str:
    """A label as text, so that a number, and the same number in a column without a type, are one label."""
    return label if isinstance(label, str) else number_text(label)


def are_distinct(labels: Sequence[Label]) -> bool:
    """Whether no row can have two of some labels."""
    return len(set(map(label_text, labels))) == len(labels)


def counts_of(raw_counts: Mapping[Label, int], labels: Sequence[Label]) -> list[int]:
    """The rows that have each label, by all labels of a column with their counts."""
    raw_by_text = {label_text(label): count for label, count in raw_counts.items()}
    return [raw_by_text.get(label_text(label), 0) for label in labels]


def _plain_label(label: object) -> Label | None:
    plain = label.item() if isinstance(label, np.generic) else label
    if isinstance(plain, float):
        return plain + 0.0 if plain == plain else None
    return plain if isinstance(plain, (str, int)) else None
