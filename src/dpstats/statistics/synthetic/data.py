"""Synthetic data: what was measured of a table, the model that fits it, and rows that are drawn from the model.

A release holds the noisy tables and a public seed. The model and the rows follow from these, the same on every machine, so that
anybody can make them again; they cost nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError, UnknownNameError
from dpstats.foundations.randomness import RandomSource, seeded
from dpstats.foundations.results import Interval
from dpstats.statistics.coded.budget import NoisyTable
from dpstats.statistics.coded.columns import CodedColumn
from dpstats.statistics.contingency.tables import ContingencyTable
from dpstats.statistics.lazy_scipy import special
from dpstats.statistics.synthetic.columns import MeasuredColumn, orders_of, rows_of
from dpstats.statistics.synthetic.decoding import OTHER, draw_values
from dpstats.statistics.synthetic.fine_codes import FineColumn
from dpstats.statistics.synthetic.graphical_model import GraphicalModel
from dpstats.statistics.synthetic.redraws import Summary, imagined, remeasured, summary_of
from dpstats.statistics.synthetic.rounds import MeasuredPair

LAST_ITERATIONS = 300
REDRAWS = 20
PANDAS, POLARS, ARROW, COLUMNS = "pandas", "polars", "pyarrow", "columns"
_LARGEST_WHOLE = 2.0**63 - 1024
GUIDE = "a guide, not for conclusions"


@dataclass(frozen=True, eq=False)
class SyntheticData:
    """Rows that are like those of a table but none of them; with all that was measured to make them."""

    columns: tuple[MeasuredColumn, ...]
    pairs: tuple[MeasuredPair, ...]
    rows: int
    """How many synthetic rows there are."""
    seed: int
    """From which the rows are drawn; it is public, and says nothing about the table."""
    kind: str = COLUMNS
    """Of which kind `frame` is: that of the table that was measured."""
    guide: bool = False
    """Whether so little was spent that nothing should be concluded from it."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.fine.name for column in self.columns)

    @property
    def total(self) -> float:
        """About how many rows the table has."""
        return rows_of([column.noisy for column in self.columns])

    @cached_property
    def model(self) -> GraphicalModel:
        """The model that fits what was measured."""
        singles = [column.measured(place) for place, column in enumerate(self.columns)]
        measured = [*singles, *(pair.measured() for pair in self.pairs)]
        model = GraphicalModel([column.size for column in self.columns], ordered=orders_of(self.columns))
        return model.fitted(measured, self.total, LAST_ITERATIONS)

    @cached_property
    def values(self) -> dict[str, NDArray[Any]]:
        """The rows, column by column, in numpy arrays."""
        return _drawn(self.columns, self.model, self.rows, seeded(self.seed))

    @property
    def frame(self) -> Any:
        """The rows as a table of the kind that was measured; a dict of arrays where that kind is not known."""
        made: dict[str, Callable[[], Any]] = {PANDAS: self.to_pandas, POLARS: self.to_polars, ARROW: self.to_arrow}
        return made[self.kind]() if self.kind in made else dict(self.values)

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.values)

    def to_polars(self) -> Any:
        """The rows as a polars DataFrame."""
        import polars

        return polars.from_arrow(self.to_arrow())

    def to_arrow(self) -> Any:
        """The rows as an arrow table."""
        import pyarrow

        arrays = {name: pyarrow.array(values, from_pandas=True) for name, values in self.values.items()}
        return pyarrow.table(arrays)

    def table(self, *names: str) -> ContingencyTable:
        """About how many rows have each combination of the codes of some columns, by the model itself, without rows."""
        places = [self._place(name) for name in names]
        counts = self.model.marginal(places) * self.total if places else np.array(self.total)
        return ContingencyTable(tuple(_coded(self.columns[place]) for place in places), counts, counts, None, math.nan)

    def interval(self, statistic: str | Summary, level: float = 0.95, redraws: int = REDRAWS) -> Interval:
        """How far a statistic of synthetic rows may be off by noise: interval("mean(income)").

        `statistic` is "mean(income)", "median(income)", "std(income)" or "share(region = north)", or a function of a dict of
        arrays. Truths that fit what was released are imagined, measured with fresh noise, fitted and drawn from, `redraws` times.
        What the model itself cannot say, such as how three columns hang together, is not covered.
        """
        if not 0.5 <= level < 1 or redraws < 2:
            raise InvalidParameterError("level must be from 0.5 up to 1, and redraws 2 or more.")
        summary = summary_of(statistic, self.columns)
        value = summary(self.values)
        reach = _reach([self._error(summary, number) for number in range(redraws)], level)
        covers = (
            f"noise in what was measured, and where rows lie in codes and beyond them, by {redraws} redraws; "
            "not how rows were sampled, nor what the model leaves out"
        )
        return Interval(value - reach, value + reach, level, covers)

    def _error(self, summary: Summary, number: int) -> float:
        """By how much the statistic of data that are made of an imagined truth differs from that of this truth."""
        rng = seeded(self.seed + 1 + number)
        truth = imagined(self.columns, self.total, rng)
        columns, pairs = remeasured(truth, self.columns, self.pairs, self.model, self.total, rng)
        again = replace(self, columns=columns, pairs=pairs)
        return summary(again.values) - summary(_drawn(truth, self.model, self.rows, rng))

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise UnknownNameError(f"there is no column {name!r}; the columns are {', '.join(self.names)}.")
        return self.names.index(name)

    def __len__(self) -> int:
        return self.rows

    def __str__(self) -> str:
        measured = f"{len(self.pairs)} tables of two columns were measured" if self.pairs else "columns were measured one by one"
        return f"{self.rows:,} synthetic rows of {len(self.columns)} columns; {measured}{f'; {GUIDE}' if self.guide else ''}"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON: what was measured, from which all else follows."""
        return {
            "columns": [{**column.fine.to_dict(), **column.noisy.to_dict()} for column in self.columns],
            "pairs": [{"columns": list(pair.columns), **pair.noisy.to_dict()} for pair in self.pairs],
            "rows": self.rows,
            "seed": str(self.seed),
            "guide": self.guide,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> SyntheticData:
        """The data that `to_dict` made plain."""
        measured = [(FineColumn.from_dict(each), NoisyTable.from_dict(each)) for each in plain["columns"]]
        total = rows_of([noisy for _, noisy in measured])
        columns = tuple(MeasuredColumn.of(fine, noisy, total) for fine, noisy in measured)
        pairs = tuple(MeasuredPair(tuple(each["columns"]), NoisyTable.from_dict(each)) for each in plain["pairs"])
        return cls(columns, pairs, plain["rows"], int(plain["seed"]), guide=plain["guide"])

    def as_kind(self, kind: str) -> SyntheticData:
        """The same data, whose `frame` is of another kind."""
        return replace(self, kind=kind)


def _reach(errors: Sequence[float], level: float) -> float:
    """The distance from 0 within which an error like these lies with this probability, if they are normal."""
    spread = math.sqrt(math.fsum(error**2 for error in errors) / len(errors))
    return float(special.stdtrit(len(errors), (1 + level) / 2)) * spread


def _drawn(columns: Sequence[MeasuredColumn], model: GraphicalModel, rows: int, rng: RandomSource) -> dict[str, NDArray[Any]]:
    """Rows of a model, column by column."""
    drawn = draw_values(columns, model, rows, rng)
    return {column.fine.name: _typed(column.fine, drawn[column.fine.name]) for column in columns}


def _typed(column: FineColumn, values: NDArray[Any]) -> NDArray[Any]:
    """Values in the type that suits a column: whole numbers and truth values as such where none is missing."""
    if not column.is_labels:
        is_whole = column.whole and not np.isnan(values).any()
        return np.clip(values, -(2.0**63), _LARGEST_WHOLE).astype(np.int64) if is_whole else values
    kinds = {type(value) for value in values.tolist()}
    if kinds <= {bool}:
        return values.astype(np.bool_)
    return values.astype(np.int64) if kinds <= {int} else values


def _coded(column: MeasuredColumn) -> CodedColumn:
    """The coarse codes of a column in words."""
    fine = column.fine
    if fine.is_labels:
        names = [*map(str, fine.labels), OTHER, "missing"]
        held = [np.flatnonzero((column.merged == code) & (column.counts > 0)) for code in range(column.size)]
        return CodedColumn(fine.name, labels=tuple(names[each[0]] if len(each) == 1 else OTHER for each in held))
    starts = [edge for before, after, edge in zip(column.merged, column.merged[1:], fine.edges, strict=False) if before != after]
    words = CodedColumn(fine.name, edges=tuple(float(edge) for edge in starts), whole=fine.whole).names
    missing = () if len(words) == column.size else ("missing",)
    return CodedColumn(fine.name, labels=(*words, *missing))
