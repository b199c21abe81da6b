"""Coded columns: what each code of a column stands for, a label or a range of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from dpstats.foundations.results import value_text
from dpstats.statistics.universal.decimals import float_of, ordinal_of

Label = int | float | str
_DIGITS_SAVED = 4
"""Letters less that a number takes than the one after it, if it is a round one."""


@dataclass(frozen=True)
class CodedColumn:
    """A column whose rows have one of finitely many codes."""

    name: str
    labels: tuple[Label, ...] = ()
    """Of a column of labels: one for each code."""
    edges: tuple[float, ...] = ()
    """Of a column of numbers: where the codes meet. A code goes from an edge up to, but not including, the next one; the first
    and the last one are open."""
    whole: bool = False
    """Whether the numbers are whole ones, by the declared type of the column."""

    @property
    def size(self) -> int:
        """How many codes there are."""
        return len(self.labels) if self.labels else len(self.edges) + 1

    @property
    def names(self) -> tuple[str, ...]:
        """The codes in words."""
        if self.labels:
            return tuple(value_text(label) for label in self.labels)
        if not self.edges:
            return ("all",)
        first, last = self.edges[0], self.edges[-1]
        up_to, above = _just_below(first), _just_below(last)
        return (
            f"below {value_text(first)}" if up_to is None else f"up to {value_text(up_to)}",
            *(self._between(low, high) for low, high in pairwise(self.edges)),
            f"{value_text(last)} and more" if above is None else f"above {value_text(above)}",
        )

    @property
    def values(self) -> tuple[str, ...]:
        """The codes in words for programs: texts as they are, whatever signs are in them."""
        if not self.labels:
            return self.names
        return tuple(label if isinstance(label, str) else value_text(label) for label in self.labels)

    def _between(self, low: float, high: float) -> str:
        """What lies from an edge up to the next one."""
        if _follows(low, high) or (self.whole and high == low + 1):
            return value_text(low)
        above, end = _just_below(low), _just_below(high)
        start = value_text(low) if above is None else f"above {value_text(above)}"
        return f"{start} to {value_text((high - 1 if self.whole else high) if end is None else end)}"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        if self.labels:
            return {"name": self.name, "labels": list(self.labels)}
        return {"name": self.name, "edges": list(self.edges), "whole": self.whole}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> CodedColumn:
        """The column that `to_dict` made plain."""
        return cls(plain["name"], tuple(plain.get("labels", ())), tuple(plain.get("edges", ())), plain.get("whole", False))


def _follows(low: float, high: float) -> bool:
    """Whether one number is the next decimal of 15 digits after another, so that it is the one value between them."""
    return ordinal_of(high) == ordinal_of(low) + 1


def _just_below(edge: float) -> float | None:
    """The number that an edge was set just above, so that it lies below it; None for any other edge."""
    before = float_of(ordinal_of(edge) - 1)
    return before if len(value_text(before)) + _DIGITS_SAVED <= len(value_text(edge)) else None
