"""Released itemsets: sets of items, with about how many rows have each."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpstats.foundations.results import Interval
from dpstats.foundations.tabular import Tabular, columns_of
from dpstats.foundations.text_tables import counted, shortened, table_lines
from dpstats.statistics.coded.columns import CodedColumn
from dpstats.statistics.contingency.reaches import reach_of
from dpstats.statistics.contingency.tables import count_text
from dpstats.statistics.itemsets.candidates import Items
from dpstats.statistics.itemsets.measured_sets import MeasuredSets
from dpstats.statistics.itemsets.rules import AssociationRules, items_text, rules_of

COVERS = "the noise in the count of one set: rows of this table, and nothing beyond it"
_MOST_LINES, _LONGEST = 20, 72


@dataclass(frozen=True, eq=False)
class Itemsets(Tabular):
    """Sets of items by their counts, the highest first."""

    columns: tuple[CodedColumn, ...]
    measured: MeasuredSets
    level: float | None
    """The confidence level of intervals, each set taken by itself."""

    @property
    def rows(self) -> int:
        """About how many rows there are in all."""
        return self.measured.rows

    @property
    def sets(self) -> tuple[Items, ...]:
        """The sets, each of (place of a column, code) pairs."""
        return tuple(self.measured.counts)

    @property
    def counts(self) -> tuple[int, ...]:
        """About how many rows have all items of each set."""
        return tuple(self.measured.counts.values())

    @property
    def error(self) -> float:
        """The standard deviation of the noise in each count."""
        return math.sqrt(self.measured.noise.variance)

    @cached_property
    def reach(self) -> float | None:
        """How far the interval of each count goes to either side; None where no interval was asked for."""
        return None if self.level is None else reach_of(((1.0, 1, self.measured.noise),), self.level)

    @property
    def names(self) -> tuple[str, ...]:
        """Each set in words."""
        return tuple(items_text(self.columns, items) for items in self.sets)

    def intervals(self) -> tuple[Interval, ...]:
        """The interval of each count."""
        if self.reach is None or self.level is None:
            return ()
        ends = ((max(count - self.reach, 0.0), max(count + self.reach, 0.0)) for count in self.counts)
        return tuple(Interval(low, high, self.level, COVERS, "a set's rows") for low, high in ends)

    def named_values(self) -> tuple[tuple[str, float], ...]:
        """Each set in words with its count."""
        return tuple(zip(self.names, map(float, self.counts), strict=True))

    def rules(self, confidence: float = 0.5) -> AssociationRules:
        """Rules "rows with these items have that one", of sets whose parts were found, too; at no further cost."""
        return rules_of(self.columns, self.measured, self.sets, self.level, confidence)

    def lines(self) -> Iterator[dict[str, Any]]:
        """The sets one by one: items, size, count, low, high and support, which is the share of all rows."""
        intervals: Sequence[Interval | None] = self.intervals() or [None] * len(self.sets)
        rows = max(self.rows, 1)
        for name, items, count, within in zip(self.names, self.sets, self.counts, intervals, strict=True):
            ends = {} if within is None else {"low": within.low, "high": within.high}
            yield {"items": name, "size": len(items), "count": count, **ends, "support": min(max(count / rows, 0.0), 1.0)}

    def table_columns(self) -> dict[str, list[Any]]:
        """The columns of the table, by name: a row for each set."""
        return columns_of(self.lines())

    def __len__(self) -> int:
        return len(self.sets)

    def __str__(self) -> str:
        return f"{counted(len(self), 'set')} of items, of about {counted(self.rows, 'row')}"

    def summary(self, intervals: Sequence[Interval] = ()) -> str:
        """The first sets as lines of text, with their intervals."""
        shown = list(self.lines())[:_MOST_LINES]
        within = [f"{count_text(each['low'])} to {count_text(each['high'])}" if "low" in each else "" for each in shown]
        lines = [("items", "rows", "share", f"{100 * (self.level or 0):.10g}% interval")]
        for each, ends in zip(shown, within, strict=True):
            lines.append((shortened(each["items"], _LONGEST), count_text(each["count"]), f"{100 * each['support']:.1f}%", ends))
        kept = lines if self.level is not None else [line[:3] for line in lines]
        more = [f"... {counted(len(self), 'set')} in all"] if len(self) > _MOST_LINES else []
        return "\n".join([str(self), *table_lines(kept, left={0}), *more])

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        columns = [column.to_dict() for column in self.columns]
        return {"columns": columns, "measured": self.measured.to_dict(), "level": self.level, "names": list(self.names)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Itemsets:
        """The sets that `to_dict` made plain."""
        columns = tuple(CodedColumn.from_dict(each) for each in plain["columns"])
        return cls(columns, MeasuredSets.from_dict(plain["measured"]), plain["level"])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.summary())}</pre>"
