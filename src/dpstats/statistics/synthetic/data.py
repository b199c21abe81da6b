"""Synthetic data: what was measured of a table, the model that fits it, and rows that are drawn from the model.

A release holds the noisy tables and a public seed. The model and the rows follow from these, the same on every machine, so that
anybody can make them again; they cost nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError, UnknownNameError
from dpstats.foundations.randomness import RandomSource, seeded
from dpstats.foundations.results import Interval
from dpstats.foundations.tabular import Tabular
from dpstats.foundations.text_tables import counted
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
from dpstats.statistics.synthetic.typed import arrow_table, typed_values, without_gaps

LAST_ITERATIONS = 300
REDRAWS = 20
BLOCK_ROWS = 1 << 17
"""Rows that are drawn together; more of them would sort more slowly."""
PANDAS, POLARS, ARROW, COLUMNS = "pandas", "polars", "pyarrow", "columns"
GUIDE = "a guide, not for conclusions"


@dataclass(frozen=True, eq=False)
class SyntheticData(Tabular):
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
        return _together(self.blocks())

    def blocks(self) -> Iterator[dict[str, NDArray[Any]]]:
        """The rows as in `values`, BLOCK_ROWS at a time, so that not all of them need be in memory."""
        return _drawn(self.columns, self.model, self.rows, seeded(self.seed))

    def arrow_blocks(self) -> Iterator[Any]:
        """The rows as arrow tables of BLOCK_ROWS rows."""
        return (arrow_table(self.columns, block) for block in self.blocks())

    @property
    def frame(self) -> Any:
        """The rows as a table of the kind that was measured; a dict of arrays where that kind is not known."""
        made: dict[str, Callable[[], Any]] = {PANDAS: self.to_pandas, POLARS: self.to_polars, ARROW: self.to_arrow}
        return made[self.kind]() if self.kind in made else dict(self.values)

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        import pandas

        held = {
            name: values if gaps is None else pandas.arrays.IntegerArray(values, gaps)
            for name, (values, gaps) in self._whole_values().items()
        }
        return pandas.DataFrame(held)

    def to_arrow(self) -> Any:
        """The rows as an arrow table."""
        return arrow_table(self.columns, self.values)

    def table_columns(self) -> dict[str, list[Any]]:
        """The columns of the rows, by name, None where a value is missing."""
        return {name: list(column) for name, column in zip(self.names, zip(*self.lines(), strict=True), strict=True)}

    def lines(self) -> Iterator[tuple[Any, ...]]:
        """The rows one by one, None where a value is missing."""
        held = [
            values.tolist()
            if gaps is None
            else [None if gap else value for value, gap in zip(values.tolist(), gaps, strict=True)]
            for values, gaps in self._whole_values().values()
        ]
        return zip(*held, strict=True)

    def _whole_values(self) -> dict[str, tuple[NDArray[Any], NDArray[np.bool_] | None]]:
        """The columns, those of whole numbers with gaps as whole numbers, and where the gaps are."""
        return {column.fine.name: without_gaps(column, self.values[column.fine.name]) for column in self.columns}

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
        if math.isnan(value) or math.isnan(reach):
            raise InvalidParameterError(f"{statistic} has no interval here, because nearly all of its rows are missing.")
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
        return summary(again.values) - summary(_together(_drawn(truth, self.model, self.rows, rng)))

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise UnknownNameError(f"there is no column {name!r}; the columns are {', '.join(self.names)}.")
        return self.names.index(name)

    def __len__(self) -> int:
        return self.rows

    def __str__(self) -> str:
        measured = "columns were measured one by one"
        if self.pairs:
            tables = f"{counted(len(self.pairs), 'table')} of two columns {'was' if len(self.pairs) == 1 else 'were'}"
            measured = f"{tables} measured"
        rows, columns = counted(self.rows, "synthetic row"), counted(len(self.columns), "column")
        return f"{rows} of {columns}; {measured}{f'; {GUIDE}' if self.guide else ''}"

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


def _drawn(
    columns: Sequence[MeasuredColumn], model: GraphicalModel, rows: int, rng: RandomSource
) -> Iterator[dict[str, NDArray[Any]]]:
    """Rows of a model, column by column, in blocks."""
    sizes = [min(BLOCK_ROWS, rows - start) for start in range(0, max(rows, 1), BLOCK_ROWS)]
    for drawn in draw_values(columns, model, sizes, rng):
        yield {column.fine.name: typed_values(column, drawn[column.fine.name]) for column in columns}


def _together(blocks: Iterable[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    held = list(blocks)
    return {name: np.concatenate([block[name] for block in held]) for name in held[0]}


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
