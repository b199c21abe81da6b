"""A released survival curve: the share of subjects to whom the event has not happened by some times."""

from __future__ import annotations

import html
import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from dpstats.foundations.results import Interval
from dpstats.foundations.tabular import Tabular, columns_of
from dpstats.foundations.text_tables import counted, table_lines

COVERS = "sampling error and noise of the curve at one time"


@dataclass(frozen=True)
class SurvivalCurve(Tabular):
    """Kaplan and Meier's curve at released times; from 1 at time 0 it is joined by straight lines."""

    times: tuple[float, ...]
    survival: tuple[float, ...]
    """The share that survives each time: P(T > time)."""
    low: tuple[float, ...]
    high: tuple[float, ...]
    at_risk: tuple[float, ...]
    """About how many subjects were still watched, without an event, right before the interval that ends at each time."""
    events: tuple[float, ...]
    """About how many events there were in that interval; noise may make it negative."""
    median: float | None
    """When half of all subjects have had the event; None where the curve does not come down to one half."""
    median_low: float | None
    median_high: float | None
    """The ends of its interval; None for an end that the curve does not tell."""
    rows: float
    """About how many subjects there are in all."""
    level: float | None

    def __call__(self, time: float) -> float:
        """The share that survives a time; NaN beyond the last time that was released."""
        if math.isnan(time) or not self.times or time > self.times[-1]:
            return math.nan
        return value_at(self.times, self.survival, time)

    def intervals(self) -> tuple[Interval, ...]:
        """The interval of the curve at each time."""
        if self.level is None:
            return ()
        ends = zip(self.low, self.high, strict=True)
        return tuple(Interval(low, high, self.level, COVERS, "the curve at a time") for low, high in ends)

    def named_values(self) -> tuple[tuple[str, float], ...]:
        """Each time with the share that survives it."""
        return tuple((f"after {time:.6g}", share) for time, share in zip(self.times, self.survival, strict=True))

    def lines(self) -> Iterator[dict[str, float]]:
        """The curve time by time."""
        columns = [self.times, self.survival, self.low, self.high, self.at_risk, self.events]
        names = ("time", "survival", "low", "high", "at_risk", "events")
        for values in zip(*columns, strict=True):
            kept = zip(names, values, strict=True)
            yield {name: value for name, value in kept if self.level is not None or name not in ("low", "high")}

    def table_columns(self) -> dict[str, list[Any]]:
        """The columns of the table, by name: a row for each time."""
        return columns_of(self.lines())

    def __str__(self) -> str:
        times, rows = counted(len(self.times), "time"), counted(self.rows, "row")
        if self.median is None:
            return f"{times}, of about {rows}; fewer than half had the event by the last one"
        within = ""
        if self.level is not None:
            low, high = (("unknown" if end is None else f"{end:.6g}") for end in (self.median_low, self.median_high))
            within = f" ({low} to {high}, {100 * self.level:.10g}%)"
        return f"median {self.median:.6g}{within}; {times}, of about {rows}"

    def summary(self, intervals: Sequence[Interval] = ()) -> str:
        """The curve as lines of text."""
        heads = ("time", "survives", "" if self.level is None else f"{100 * self.level:.10g}% interval", "at risk", "events")
        lines = [heads]
        for time, share, low, high, at_risk, events in zip(
            self.times, self.survival, self.low, self.high, self.at_risk, self.events, strict=True
        ):
            within = "" if self.level is None else f"{low:.3f} to {high:.3f}"
            lines.append((f"{time:.6g}", f"{share:.3f}", within, f"{max(at_risk, 0):,.0f}", f"{max(events, 0):,.0f}"))
        return "\n".join([str(self), *table_lines(lines, left=set())])

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> SurvivalCurve:
        """The curve that `to_dict` made plain."""
        found: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}
        return cls(**found)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.summary())}</pre>"


def value_at(times: Sequence[float], shares: Sequence[float], time: float) -> float:
    """A curve that is 1 at time 0, straight between the times."""
    before = bisect_right(times, time)
    start, end = (0.0, 1.0) if before == 0 else (times[before - 1], shares[before - 1])
    if before == len(times) or time <= start:
        return end
    return end + (shares[before] - end) * (time - start) / (times[before] - start)
