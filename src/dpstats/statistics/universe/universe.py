"""A universe: every row that listed levels of some columns can make.

A cell is one such row. Cells are counted from 0 in the order of `itertools.product`: the last column changes fastest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import DataTypeError, InvalidParameterError, UnknownNameError

MOST_CELLS = 1 << 20

Levels = tuple[Any, ...]
Shares = dict[Levels, float]
"""For each combination of levels its part of all rows."""


@dataclass(frozen=True)
class Universe:
    """The product of the listed levels of some columns."""

    columns: tuple[str, ...]
    levels: tuple[Levels, ...]
    """For each column its levels, in order."""

    def __post_init__(self) -> None:
        if not self.columns or len(set(self.columns)) < len(self.columns):
            raise InvalidParameterError("a universe needs at least one column, each with a name of its own.")
        if len(self.levels) != len(self.columns):
            raise InvalidParameterError("a universe needs a list of levels for each column.")
        for column, levels in zip(self.columns, self.levels, strict=True):
            if not levels or len(set(levels)) < len(levels):
                raise InvalidParameterError(f"the column {column} needs at least one level, each listed once.")
        if self.cells > MOST_CELLS:
            raise InvalidParameterError(
                f"these columns have {self.cells:,} combinations of levels, more than {MOST_CELLS:,}: "
                "take fewer columns or levels, or use contingency_table or synthesize."
            )

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of levels of each column."""
        return tuple(len(levels) for levels in self.levels)

    @cached_property
    def cells(self) -> int:
        """The number of cells."""
        return math.prod(self.sizes)

    def row(self, cell: int) -> Levels:
        """The levels of one cell."""
        places = np.unravel_index(cell, self.sizes)
        return tuple(levels[int(place)] for levels, place in zip(self.levels, places, strict=True))

    def inside(self, places: Sequence[int], codes: Sequence[int]) -> NDArray[np.bool_]:
        """For each cell whether the columns at `places` have the levels number `codes`."""
        found = np.zeros(self.sizes, dtype=np.bool_)
        wanted: list[slice | int] = [slice(None)] * len(self.sizes)
        for place, code in zip(places, codes, strict=True):
            wanted[place] = code
        found[tuple(wanted)] = True
        return found.ravel()

    def checked_counts(self, raw_counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of rows in each cell; complains of another shape than that of the universe."""
        counts = np.asarray(raw_counts)
        if counts.shape != (self.cells,) or counts.dtype != np.int64:
            raise DataTypeError(f"a universe of {self.cells:,} cells needs as many counts, of type int64.")
        return counts

    def shares(self, masses: NDArray[np.int64], columns: str | Sequence[str]) -> Shares:
        """Parts of the whole by combinations of levels of `columns`, in the order in which these are named."""
        named = (columns,) if isinstance(columns, str) else tuple(columns)
        places = [self._place(name) for name in named]
        if len(set(places)) < len(places):
            raise InvalidParameterError("each column of a marginal is named once.")
        others = tuple(place for place in range(len(self.sizes)) if place not in places)
        sums = masses.reshape(self.sizes).sum(axis=others)  # its axes are the columns in the order of the universe
        sums = sums.transpose([sorted(places).index(place) for place in places])
        total = int(masses.sum())
        combined = product(*(self.levels[place] for place in places))
        return {levels: mass / total for levels, mass in zip(combined, sums.ravel().tolist(), strict=True)}

    def _place(self, name: str) -> int:
        if name not in self.columns:
            raise UnknownNameError(f"there is no column {name!r} here; there are {', '.join(self.columns)}.")
        return self.columns.index(name)

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {"columns": list(self.columns), "levels": [list(levels) for levels in self.levels]}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Universe:
        """The universe that `to_dict` made plain."""
        return cls(tuple(plain["columns"]), tuple(tuple(levels) for levels in plain["levels"]))
