"""Association rules: of the rows with some items, the share that has one more; made of released counts.

Confidence is count(all items) / count(items before the arrow); lift is that over the share of all rows that have the last item.
Their intervals are Fieller's: the values of the ratio that numerator and denominator do not contradict, whose errors are the
noise, which is known, and the sampling of the rows. A rule is taken as if it had been fixed beforehand.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpstats.foundations.portable import rounded_ends
from dpstats.foundations.results import Interval, value_text
from dpstats.foundations.tabular import Tabular, columns_of
from dpstats.foundations.text_tables import counted, shortened, table_lines
from dpstats.statistics.clipped.margins import critical_value, laplace_kurtosis
from dpstats.statistics.coded.budget import LaplaceLaw
from dpstats.statistics.coded.columns import CodedColumn
from dpstats.statistics.contingency.tables import count_text
from dpstats.statistics.itemsets.candidates import Items
from dpstats.statistics.itemsets.measured_sets import MeasuredSets

COVERS = "sampling error and noise of the confidence of one rule, as if it had been fixed beforehand"
_MOST_LINES, _LONGEST = 20, 72


@dataclass(frozen=True)
class Ratio:
    """A ratio with its interval; ends are None where there is none."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Rule:
    """Rows that have the items before the arrow have the one after it."""

    before: str
    after: str
    count: int
    """About how many rows have all of them."""
    confidence: Ratio
    lift: Ratio

    @property
    def name(self) -> str:
        """The rule in words."""
        return f"{self.before} => {self.after}"


@dataclass(frozen=True)
class AssociationRules(Tabular):
    """Rules by their lift, the highest first."""

    rules: tuple[Rule, ...]
    rows: int
    """About how many rows there are in all."""
    level: float | None
    """The confidence level of intervals, each rule taken by itself."""

    def intervals(self) -> tuple[Interval, ...]:
        """The interval of each rule's confidence."""
        if self.level is None:
            return ()
        ends = [(rule.confidence.low, rule.confidence.high) for rule in self.rules]
        known = [(0.0 if low is None else low, 1.0 if high is None else high) for low, high in ends]
        return tuple(Interval(low, high, self.level, COVERS, "a rule's confidence") for low, high in known)

    def named_values(self) -> tuple[tuple[str, float], ...]:
        """Each rule in words with its confidence."""
        return tuple((rule.name, rule.confidence.value) for rule in self.rules)

    def lines(self) -> Iterator[dict[str, Any]]:
        """The rules one by one: before, after, count, confidence and lift, with the ends of their intervals."""
        for rule in self.rules:
            line: dict[str, Any] = {"before": rule.before, "after": rule.after, "count": rule.count}
            for name, ratio in (("confidence", rule.confidence), ("lift", rule.lift)):
                ends = {} if self.level is None else {f"{name}_low": ratio.low, f"{name}_high": ratio.high}
                line |= {name: ratio.value, **ends}
            yield line

    def table_columns(self) -> dict[str, list[Any]]:
        """The columns of the table, by name: a row for each rule."""
        return columns_of(self.lines())

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __str__(self) -> str:
        return f"{counted(len(self), 'rule')}, of about {counted(self.rows, 'row')}"

    def summary(self, intervals: Sequence[Interval] = ()) -> str:
        """The first rules as lines of text, with the intervals of confidence and lift."""
        lines: list[tuple[str, ...]] = [("rule", "rows", "confidence", "", "lift", "")]
        for rule in self.rules[:_MOST_LINES]:
            ratios = [text for ratio in (rule.confidence, rule.lift) for text in (f"{ratio.value:.3f}", _ends_text(ratio))]
            lines.append((shortened(rule.name, _LONGEST), count_text(rule.count), *ratios))
        level = "" if self.level is None else f"; {100 * self.level:.10g}% intervals"
        more = [f"... {counted(len(self), 'rule')} in all"] if len(self) > _MOST_LINES else []
        return "\n".join([f"{self}{level}", *(table_lines(lines, left={0, 3, 5}) if self.rules else []), *more])

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {
            "rules": [
                {
                    "before": rule.before,
                    "after": rule.after,
                    "count": rule.count,
                    "confidence": _plain(rule.confidence),
                    "lift": _plain(rule.lift),
                }
                for rule in self.rules
            ],
            "rows": self.rows,
            "level": self.level,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> AssociationRules:
        """The rules that `to_dict` made plain."""
        rules = [
            Rule(each["before"], each["after"], each["count"], Ratio(*each["confidence"]), Ratio(*each["lift"]))
            for each in plain["rules"]
        ]
        return cls(tuple(rules), plain["rows"], plain["level"])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.summary())}</pre>"


def rules_of(
    columns: Sequence[CodedColumn], measured: MeasuredSets, sets: Iterable[Items], level: float | None, least: float
) -> AssociationRules:
    """The rules of some sets whose confidence is `least` or more, where all counts that they are made of are known."""
    rules = [
        rule
        for items in sets
        if len(items) > 1
        for place in range(len(items))
        if (rule := _rule(columns, measured, items, place, level)) is not None and rule.confidence.value >= least
    ]
    return AssociationRules(tuple(sorted(rules, key=lambda rule: (-rule.lift.value, rule.name))), measured.rows, level)


def _rule(columns: Sequence[CodedColumn], measured: MeasuredSets, items: Items, place: int, level: float | None) -> Rule | None:
    before, after = items[:place] + items[place + 1 :], (items[place],)
    counts = measured.counts
    if before not in counts or after not in counts or min(counts[before], counts[after], measured.rows) <= 0:
        return None
    both, first, last, rows = (float(count) for count in (counts[items], counts[before], counts[after], measured.rows))
    confidence = min(max(both / first, 0.0), 1.0)
    lift = max(both, 0.0) * rows / (first * last)
    sure, lifted = Ratio(confidence), Ratio(lift)
    if level is not None:
        variance = measured.noise.variance
        kurtosis = laplace_kurtosis([1.0]) if isinstance(measured.noise, LaplaceLaw) else 0.0
        sure = Ratio(confidence, *confidence_ends(both, first, variance, kurtosis, level))
        lifted = Ratio(lift, *lift_ends((both, first, last, rows), variance, kurtosis, level))
    return Rule(items_text(columns, before), items_text(columns, after), counts[items], sure, lifted)


def confidence_ends(both: float, first: float, noise: float, kurtosis: float, level: float) -> tuple[float, float]:
    """The shares p with (both - p first)**2 at most z**2 times its variance: noise (1 + p**2) and sampling first p (1 - p)."""
    part = noise / (noise + max(first, 0.0) / 4)
    square = critical_value(level, kurtosis * part**2) ** 2
    ends = fieller(both, first, square * noise, square * noise, square * max(first, 0.0))
    if ends is None:
        return 0.0, 1.0
    value = min(max(both / first, 0.0), 1.0)
    return rounded_ends(min(max(ends[0], 0.0), value), max(min(ends[1], 1.0), value))


def lift_ends(
    counts: tuple[float, float, float, float], noise: float, kurtosis: float, level: float
) -> tuple[float | None, float | None]:
    """Fieller's interval of both * rows over first * last; None where these may be 0."""
    both, first, last, rows = counts
    over, under = both * rows, first * last
    over_noise = noise * (both**2 + rows**2 + noise)
    under_noise = noise * (first**2 + last**2 + noise)
    lift = max(over, 0.0) / under
    shares = [max(count, 1.0) / rows for count in (both, first, last)]
    relative = max(1 / shares[0] - 1 / shares[1] - 1 / shares[2] + 2 * lift - 1, 0.0) / rows
    sampling = (lift * under) ** 2 * relative
    whole = over_noise + lift**2 * under_noise + sampling
    part = (over_noise + lift**2 * under_noise) / whole if whole else 0.0
    square = critical_value(level, kurtosis * part**2) ** 2
    ends = fieller(over, under, square * (over_noise + sampling), square * under_noise, 0.0)
    return (None, None) if ends is None else rounded_ends(min(max(ends[0], 0.0), lift), max(ends[1], lift))


def fieller(over: float, under: float, over_part: float, under_part: float, sampling: float) -> tuple[float, float] | None:
    """The ratios r with (over - r under)**2 <= over_part + r**2 under_part + r (1 - r) sampling.

    None where they are no interval, because `under` may be 0.
    """
    leading = under**2 - under_part + sampling
    middle = over * under + sampling / 2
    inside = middle**2 - leading * (over**2 - over_part)
    if under**2 <= under_part or inside < 0:
        return None
    half = math.sqrt(inside)
    return (middle - half) / leading, (middle + half) / leading


def items_text(columns: Sequence[CodedColumn], items: Items) -> str:
    """Items in words: region=north, age=30 to 45. One of a column that is only looked at for being 1 or True is its name."""
    return ", ".join(_item_text(columns[column], code) for column, code in items)


def _item_text(column: CodedColumn, code: int) -> str:
    name = value_text(column.name)
    return name if column.labels in ((1,), (True,)) else f"{name}={column.names[code]}"


def _ends_text(ratio: Ratio) -> str:
    return "" if ratio.low is None or ratio.high is None else f"{ratio.low:.3f} to {ratio.high:.3f}"


def _plain(ratio: Ratio) -> list[float | None]:
    return [ratio.value, ratio.low, ratio.high]
