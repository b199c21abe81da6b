"""A universe whose cells have weights: what multiplicative weights make of noisy counts.

Everything here is a function of released numbers. It is the same on every processor: single floats are added, multiplied and
divided in a fixed order, sums go one by one, and exponentials are of one number at a time, by `decimal`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.results import value_text
from dpstats.foundations.rounding import exp_float
from dpstats.foundations.tabular import Tabular
from dpstats.foundations.text_tables import counted, free_name, table_lines
from dpstats.statistics.universe.universe import Levels, Shares, Universe

Floats = NDArray[np.float64]

PASSES = 20
"""After each measurement all of them are gone through so often."""

MOST_SHOWN = 60
_MASS_BITS = 52


@dataclass(frozen=True)
class Measurement:
    """A query that was chosen, and its noisy answer."""

    columns: tuple[str, ...]
    levels: Levels
    noisy: int
    """Rows, with the noise as it was drawn, perhaps negative."""

    def __str__(self) -> str:
        which = ", ".join(f"{name} = {value_text(level)}" for name, level in zip(self.columns, self.levels, strict=True))
        return f"{which}: {self.noisy:,}"


@dataclass(frozen=True)
class WeightedUniverse(Tabular):
    """Weights of all possible rows that agree with noisy counts; with them any marginal table."""

    universe: Universe
    total: int
    """Rows in all, noisy, at least 1."""
    measurements: tuple[Measurement, ...]
    """In the order in which they were chosen."""
    noise: float
    """The standard deviation of the noise in each of them, in rows."""
    total_noise: float
    """The standard deviation of the noise in the total."""
    average: bool = False
    """Whether the weights are the average over the rounds, as printed, or those after the last one."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.universe.columns

    @cached_property
    def masses(self) -> NDArray[np.int64]:
        """The weight of each cell in whole units of about 2**-52 of all."""
        weights, summed = MultiplicativeWeights(self.universe.cells), np.zeros(self.universe.cells)
        for measured in self.measurements:
            weights.learn(self._inside(measured), share_of(measured.noisy, self.total))
            if self.average:
                summed += weights.cell_weights()
        averaged = self.average and self.measurements
        return mass_units(summed / len(self.measurements) if averaged else weights.cell_weights())

    def _inside(self, measured: Measurement) -> NDArray[np.bool_]:
        places = [self.columns.index(name) for name in measured.columns]
        codes = [self.universe.levels[place].index(level) for place, level in zip(places, measured.levels, strict=True)]
        return self.universe.inside(places, codes)

    def marginal(self, columns: str | Sequence[str]) -> Shares:
        """The share of each combination of levels of these columns; times `total` it is a number of rows."""
        return self.universe.shares(self.masses, columns)

    def cells(self, *columns: str) -> list[tuple[Levels, float]]:
        """The combinations of levels of some columns, or of all, and about how many rows have each."""
        return [(levels, self.total * share) for levels, share in self.marginal(columns or self.columns).items()]

    def table_columns(self, *columns: str) -> dict[str, list[Any]]:
        """The levels of some columns, or of all, and about how many rows have each combination, by name."""
        named, cells = columns or self.columns, self.cells(*columns)
        levels: dict[str, list[Any]] = {name: [levels[place] for levels, _ in cells] for place, name in enumerate(named)}
        return levels | {free_name("count", named): [count for _, count in cells]}

    def to_pandas(self, *columns: str) -> Any:
        """About how many rows have each combination of levels of some columns, or of all, as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.table_columns(*columns))

    def text(self) -> str:
        """About how many rows have each combination of levels, a line for each of the first ones."""
        cells = self.cells()[:MOST_SHOWN]
        lines = [[*map(value_text, levels), f"{round(count):,}"] for levels, count in cells]
        more = [f"... {self.universe.cells:,} in all"] if self.universe.cells > MOST_SHOWN else []
        heads = [*map(value_text, self.columns), "rows"]
        return "\n".join([*table_lines([heads, *lines], left=range(len(self.columns))), *more])

    def __str__(self) -> str:
        rows = counted(self.total, "row")
        of = f"{counted(self.universe.cells, 'weight')} of {value_text(self.columns)}, about {rows}"
        if not self.measurements:
            return of
        return f"{of}; {counted(len(self.measurements), 'count')} measured, first {self.measurements[0]}"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON; weights follow from them."""
        measured = [[list(each.columns), list(each.levels), each.noisy] for each in self.measurements]
        known = {name: getattr(self, name) for name in ("total", "noise", "total_noise", "average")}
        return {**self.universe.to_dict(), "measurements": measured, **known}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> WeightedUniverse:
        """The weights that `to_dict` made plain."""
        measured = tuple(Measurement(tuple(names), tuple(levels), noisy) for names, levels, noisy in plain["measurements"])
        known = {name: plain[name] for name in ("total", "noise", "total_noise", "average")}
        return cls(Universe.from_dict(plain), measurements=measured, **known)


class MultiplicativeWeights:
    """Weights of cells, even at first, that measured shares pull up and down.

    Cells that the same measured queries count have the same weight, so there is one weight for each such group of cells.
    """

    def __init__(self, cells: int) -> None:
        self._group = np.zeros(cells, dtype=np.int64)
        self._sizes = np.array([cells])
        self._weights = np.array([1.0])
        self._members: list[NDArray[np.bool_]] = []
        self._shares: list[float] = []

    def learn(self, inside: NDArray[np.bool_], share: float) -> None:
        """Take in that the cells `inside` hold about this share, and go through all that is known PASSES times."""
        self._split(inside)
        self._shares.append(share)
        places = [np.flatnonzero(members) for members in self._members]
        for _ in range(PASSES):
            self._weights /= summed_in_order(self._weights)
            total = 1.0
            for groups, wanted in zip(places, self._shares, strict=True):
                weights = self._weights[groups]
                held = summed_in_order(weights)
                factor = _exp((wanted - held / total) / 2)
                self._weights[groups] = weights * factor
                total += held * (factor - 1)

    def _split(self, inside: NDArray[np.bool_]) -> None:
        """Tell cells inside a query from those of the same group outside it; they share its weight by their numbers."""
        halves = 2 * self._group + inside
        sizes = np.bincount(halves, minlength=2 * len(self._sizes))
        kept = np.flatnonzero(sizes)
        renamed = np.zeros(len(sizes), dtype=np.int64)
        renamed[kept] = np.arange(len(kept))
        before = kept >> 1
        self._weights = self._weights[before] * (sizes[kept] / self._sizes[before])
        self._group, self._sizes = renamed[halves], sizes[kept]
        self._members = [members[before] for members in self._members] + [(kept & 1).astype(np.bool_)]

    def cell_weights(self) -> Floats:
        """A weight for each cell; together about 1."""
        each: Floats = self._weights / summed_in_order(self._weights) / self._sizes
        return each[self._group]


def share_of(noisy: int, total: int) -> float:
    """A noisy count as a part of the noisy total, between 0 and 1."""
    return float(Fraction(min(max(noisy, 0), total), total))


def mass_units(weights: Floats) -> NDArray[np.int64]:
    """Weights that add up to about 1 as whole numbers, whose sums do not hang on an order; never all of them 0."""
    return np.rint(weights * 2.0**_MASS_BITS).astype(np.int64)


def summed_in_order(values: Floats) -> float:
    """A sum of floats, added one by one, as `cumsum` does; 0 for none."""
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def _exp(exponent: float) -> float:
    """exp of a number of ordinary size."""
    return exp_float(-Fraction(exponent)) if exponent <= 0 else 1 / exp_float(Fraction(exponent))
