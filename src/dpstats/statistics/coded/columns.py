"""Coded columns: what each code of a column stands for, a label or a range of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from dpstats.foundations.results import value_text
from dpstats.statistics.universal.decimals import ordinal_of

Label = int | float | str


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
        between = (self._between(low, high) for low, high in pairwise(self.edges))
        return (f"below {value_text(self.edges[0])}", *between, f"{value_text(self.edges[-1])} and more")

    def _between(self, low: float, high: float) -> str:
        """What lies from an edge up to the next one."""
        if _follows(low, high) or (self.whole and high == low + 1):
            return value_text(low)
        return f"{value_text(low)} to {value_text(high - 1 if self.whole else high)}"

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
