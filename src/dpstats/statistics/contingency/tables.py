"""Released contingency tables: counts by the codes of several columns, and how far the noise may reach."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import UnknownNameError
from dpstats.foundations.results import value_text
from dpstats.foundations.tabular import Tabular, columns_of
from dpstats.foundations.text_tables import counted, free_name, shortened
from dpstats.statistics.coded.columns import CodedColumn

Floats = NDArray[np.float64]
_LONGEST_NAME = 24
_MOST_CELLS = 2_000
"""Cells of a table that is shown whole."""


@dataclass(frozen=True, eq=False)
class ContingencyTable(Tabular):
    """Rows by the codes of some columns: an array with an axis for each of them."""

    columns: tuple[CodedColumn, ...]
    counts: Floats
    """About how many rows each cell has; noise may make it negative, and it need not be whole unless that was asked for."""
    noisy: Floats
    """Counts as they were measured, around which intervals lie; those above where nothing else was asked for."""
    reach: float | None
    """How far the interval of each cell goes to either side; None where no interval was asked for."""
    error: float
    """The standard deviation of the noise in each cell."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def low(self) -> Floats:
        """The lower ends of the intervals."""
        return np.maximum(self.noisy - (self.reach or 0.0), 0.0)

    @property
    def high(self) -> Floats:
        """The upper ends of the intervals."""
        return np.maximum(self.noisy + (self.reach or 0.0), 0.0)

    @property
    def shares(self) -> Floats:
        """Each cell's part of all rows; negative counts are 0, and zeros where nothing is left."""
        shown = np.maximum(self.counts, 0.0)
        total = float(shown.sum())
        return shown / total if total else shown

    def cells(self) -> Iterator[dict[str, Any]]:
        """The cells one by one: their codes in words, count, low and high.

        A column that is called "count", "low" or "high" keeps its name, and the other one gets an underscore.
        """
        low, high = self.low, self.high
        heads = [free_name(word, self.names) for word in ("count", "low", "high")][: 1 if self.reach is None else None]
        for place in np.ndindex(*self.counts.shape):
            codes = {column.name: column.values[code] for column, code in zip(self.columns, place, strict=True)}
            numbers = [self.counts[place], low[place], high[place]]
            yield codes | {head: float(number) for head, number in zip(heads, numbers, strict=False)}

    def table_columns(self) -> dict[str, list[Any]]:
        """The columns of the table, by name: a row for each cell, with count, low and high."""
        return columns_of(self.cells())

    def __str__(self) -> str:
        if not self.columns:
            return f"about {counted(self.counts.item(), 'row')}"
        if self.counts.size > _MOST_CELLS:
            return f"{' by '.join(self.names)}: {counted(self.counts.size, 'cell')}"
        *before, last = self.columns
        last_name = value_text(last.name)
        heads = [value_text(column.name) for column in before]
        heads += [f"{last_name}={name}" if before else name for name in last.names]
        lines = [heads]
        for place in np.ndindex(*self.counts.shape[:-1]):
            codes = [column.names[code] for column, code in zip(before, place, strict=True)]
            lines.append([*codes, *map(count_text, self.counts[place])])
        shown = [[shortened(cell, _LONGEST_NAME) for cell in line] for line in lines]
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        texts = len(before)
        return "\n".join(
            "  ".join(
                (str.ljust if place < texts else str.rjust)(cell, width)
                for place, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in shown
        )

    def reach_text(self, level: float | None) -> str:
        """How far the noise in each cell reaches, on a line of its own; empty where no interval was asked for."""
        return "" if self.reach is None or level is None else f"\neach +- {value_text(self.reach)} ({100 * level:.10g}%)"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


@dataclass(frozen=True, eq=False)
class ContingencyTables:
    """All tables of some columns, of at most `ways` columns each, which agree on what they share."""

    columns: tuple[CodedColumn, ...]
    tables: tuple[ContingencyTable, ...]
    """Smaller ones first; the first one is the number of rows."""
    level: float | None
    """The confidence level of intervals, each cell taken by itself."""

    def __getitem__(self, names: str | tuple[str, ...]) -> ContingencyTable:
        """The table of some columns, in any order: tables["sex", "region"]; tables[()] is the number of rows."""
        wanted = (names,) if isinstance(names, str) else tuple(names)
        for table in self.tables:
            if sorted(table.names) == sorted(wanted):
                return _in_order(table, wanted)
        known = ", ".join(column.name for column in self.columns)
        raise UnknownNameError(
            f"there is no table of {', '.join(map(repr, wanted))}: the columns are {known}, at most {self.ways} at once."
        )

    @property
    def ways(self) -> int:
        """How many columns a table has at most."""
        return max(len(table.columns) for table in self.tables)

    @property
    def rows(self) -> float:
        """About how many rows there are in all."""
        return float(self.tables[0].counts.item())

    def __iter__(self) -> Iterator[ContingencyTable]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def __str__(self) -> str:
        largest = [table for table in self.tables if len(table.columns) == self.ways]
        several = f"{len(largest):,} tables" if len(largest) > 1 else "a table"
        cells = sum(table.counts.size for table in largest)
        columns = counted(self.ways, "column")
        return f"{several} of {columns}, {counted(cells, 'cell')}, about {counted(max(self.rows, 0), 'row')}"

    def text(self) -> str:
        """The tables of most columns as lines of text, each with how far its noise reaches."""
        shown = [table for table in self.tables if len(table.columns) == self.ways]
        return "\n".join(f"{table}{table.reach_text(self.level)}" for table in shown)

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {
            "columns": [column.to_dict() for column in self.columns],
            "level": self.level,
            "tables": [
                {
                    "columns": list(table.names),
                    "counts": table.counts.tolist(),
                    "noisy": table.noisy.tolist(),
                    "reach": table.reach,
                    "error": table.error,
                }
                for table in self.tables
            ],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ContingencyTables:
        """The tables that `to_dict` made plain."""
        columns = {each["name"]: CodedColumn.from_dict(each) for each in plain["columns"]}
        tables = [
            ContingencyTable(
                tuple(columns[name] for name in each["columns"]),
                np.array(each["counts"], dtype=np.float64),
                np.array(each["noisy"], dtype=np.float64),
                each["reach"],
                each["error"],
            )
            for each in plain["tables"]
        ]
        return cls(tuple(columns.values()), tuple(tables), plain["level"])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def count_text(count: float) -> str:
    """A count for people, without the minus that a little less than nothing would have."""
    return f"{round(float(count)):,}"


def _in_order(table: ContingencyTable, names: tuple[str, ...]) -> ContingencyTable:
    """A table with its axes in the order of `names`."""
    axes = [table.names.index(name) for name in names]
    counts, noisy = (np.transpose(array, axes) for array in (table.counts, table.noisy))
    return ContingencyTable(tuple(table.columns[axis] for axis in axes), counts, noisy, table.reach, table.error)
