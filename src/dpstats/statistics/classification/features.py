"""Coded features: how each column that a classifier reads becomes a few codes, as it was released.

Numbers are cut at edges, labels are themselves or one of several rare ones that share a code; a missing cell has a code of its
own where many cells are missing, and else that of the commonest value. A row's code goes by that row alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.results import value_text
from dpstats.foundations.summaries import CutCoding, LabelCoding, MergedCoding
from dpstats.statistics.coded.columns import CodedColumn
from dpstats.statistics.synthetic.columns import MeasuredColumn
from dpstats.statistics.synthetic.fine_codes import decimal_of
from dpstats.statistics.universal.decimals import float_of, lowest_value_at, ordinal_of

Label = int | float | str
Codes = NDArray[np.int64]
_FLOAT = np.dtype(np.float64)
MISSING, OTHERS = "missing", "others"
_NEARBY = 3
"""Decimals of 15 digits that an edge may lie above the number that it was set after."""
_DIGITS_SAVED = 6


@dataclass(frozen=True)
class CodedFeature:
    """A column in codes."""

    name: str
    codes: tuple[int, ...]
    """Of numbers: the code of each range, in order, and last that of a missing cell. Of labels: the code of each label, then that
    of a label that is not listed, and last that of a missing cell."""
    edges: tuple[float, ...] = ()
    """Of numbers: where ranges meet; one goes from an edge up to, but not including, the next one."""
    labels: tuple[Label, ...] = ()
    is_labels: bool = False
    """Whether it is a column of labels, of which there may be none that many rows share."""
    whole: bool = False
    """Of numbers: whether the column's type is one of whole numbers."""

    @classmethod
    def of(cls, column: MeasuredColumn) -> CodedFeature:
        """The coarse codes of a measured column."""
        fine, merged = column.fine, column.merged.tolist()
        if fine.is_labels:
            return cls(fine.name, tuple(merged), labels=fine.labels, is_labels=True)
        inner = list(zip(fine.edges, merged, merged[1:], strict=False))
        edges = tuple(decimal_of(edge) for edge, below, above in inner if below != above)
        return cls(fine.name, (*range(len(edges) + 1), merged[-1]), edges, whole=fine.whole)

    @property
    def size(self) -> int:
        """How many codes there are."""
        return max(self.codes) + 1

    @property
    def ordered(self) -> int:
        """How many of the first codes stand in the order of the numbers they hold; none of labels."""
        return 0 if self.is_labels else len(self.edges) + 1

    @property
    def names(self) -> tuple[str, ...]:
        """The codes in words."""
        if not self.is_labels:
            ranges = CodedColumn(self.name, edges=tuple(map(_shown, self.edges)), whole=self.whole).names
            return ranges if self.codes[-1] < len(ranges) else (*ranges, MISSING)
        words = [*map(value_text, self.labels), OTHERS, MISSING]
        own = [[word for word, code in zip(words, self.codes, strict=True) if code == each] for each in range(self.size)]
        return tuple(_together(each) for each in own)

    def sides(self, edge: int) -> tuple[str, ...]:
        """What lies below one of the edges, and above it, in words."""
        return CodedColumn(self.name, edges=(_shown(self.edges[edge]),), whole=self.whole).names

    def coding(self, dtype: np.dtype[Any] | None) -> MergedCoding:
        """How rows get their codes; numbers of a column of this type."""
        if self.is_labels:
            count = len(self.labels)
            return MergedCoding(LabelCoding(self.labels, other=count, missing=count + 1), self.codes)
        assert dtype is not None
        return MergedCoding(CutCoding(self._cuts(dtype), missing=len(self.edges) + 1), self.codes)

    def codes_of(self, values: Sequence[Any] | NDArray[Any]) -> Codes:
        """The codes of new cells, which are the caller's."""
        codes = np.array(self.codes)
        if self.is_labels:
            return codes[_label_places(values, self.labels)]
        numbers = np.array([as_number(value) for value in _listed(values)]) if _is_untyped(values) else np.asarray(values, _FLOAT)
        places = np.searchsorted(np.array(self._cuts(_FLOAT)), numbers, side="right")
        return codes[np.where(np.isnan(numbers), len(self.edges) + 1, places)]

    def _cuts(self, dtype: np.dtype[Any]) -> tuple[float | int, ...]:
        return tuple(lowest_value_at(ordinal_of(edge), dtype) for edge in self.edges)

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        if self.is_labels:
            return {"name": self.name, "codes": list(self.codes), "labels": list(self.labels)}
        return {"name": self.name, "codes": list(self.codes), "edges": list(self.edges), "whole": self.whole}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> CodedFeature:
        """The feature that `to_dict` made plain."""
        edges, labels = tuple(plain.get("edges", ())), tuple(plain.get("labels", ()))
        return cls(plain["name"], tuple(plain["codes"]), edges, labels, "labels" in plain, plain.get("whole", False))


def _shown(edge: float) -> float:
    """An edge for people: one that was set a little above a shorter decimal as the next decimal after that."""
    for steps in range(2, _NEARBY + 1):
        before = ordinal_of(edge) - steps
        if len(value_text(float_of(before))) + _DIGITS_SAVED <= len(value_text(edge)):
            return float_of(before + 1)
    return edge


def _together(words: Sequence[str]) -> str:
    """What shares a code: the first that is named, and how many more; labels before what only stands for others."""
    labels = [word for word in words if word not in (OTHERS, MISSING)]
    if not labels:
        return words[0] if words else OTHERS
    return labels[0] if len(labels) == 1 else OTHERS


def _label_places(values: Sequence[Any] | NDArray[Any], labels: Sequence[Label]) -> Codes:
    """The place of each value among the labels; after them the place of others, and that of missing cells."""
    places = {label: place for place, label in enumerate(labels)}
    others, missing = len(labels), len(labels) + 1
    return np.array([missing if _is_missing(each) else places.get(each, others) for each in _listed(values)], dtype=np.int64)


def _listed(values: Any) -> list[Any]:
    plain = values.tolist() if hasattr(values, "tolist") else list(values)
    return [each if isinstance(each, (str, int, float)) or each is None else _plain(each) for each in plain]


def _plain(value: Any) -> Any:
    text = getattr(value, "isoformat", None)
    return text() if callable(text) else None


def _is_untyped(values: Any) -> bool:
    return getattr(getattr(values, "dtype", None), "kind", "O") not in "biuf"


def _is_missing(value: Any) -> bool:
    return value is None or value != value  # NaN is not itself


def as_number(value: Any) -> float:
    """A cell as a number, NaN where it is none, whatever its own methods raise."""
    try:
        return float(value)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # not only Exception: a panic of a library in Rust is none
        return float("nan")
