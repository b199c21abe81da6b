"""Released values as tables for programs: heads and lines, by the name that their file gets."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.keys import labels_of
from dpstats.foundations.results import Interval, Release
from dpstats.foundations.text_tables import free_name
from dpstats.statistics.binned.histogram import Histogram
from dpstats.statistics.classification.model import AdditiveModel
from dpstats.statistics.classification.tree import DecisionTreeModel
from dpstats.statistics.contingency.tables import ContingencyTables
from dpstats.statistics.itemsets.found_sets import Itemsets
from dpstats.statistics.itemsets.rules import AssociationRules
from dpstats.statistics.survival.curve import SurvivalCurve
from dpstats.statistics.synthetic.data import SyntheticData
from dpstats.statistics.universe.small_databases import SmallDatabase
from dpstats.statistics.universe.weighted_universe import WeightedUniverse

ROWS = "rows"
"""The name of what synthetic rows are in."""
_LONGEST_NAME = 60


@dataclass(frozen=True)
class PublishedTable:
    """Heads and lines."""

    heads: tuple[str, ...]
    lines: Sequence[Sequence[Any]]


def tables_of(answer: Release) -> dict[str, PublishedTable]:
    """The tables that an answer holds, by name; none where it is a number, a text or a list of such."""
    value = answer.value
    if isinstance(value, SyntheticData):
        return {ROWS: PublishedTable(value.names, list(value.lines()))}
    if isinstance(value, ContingencyTables):
        return _contingency(value)
    if isinstance(value, SmallDatabase):
        every = [row for row, count in zip(value.rows, value.counts, strict=True) for _ in range(count)]
        return {ROWS: PublishedTable(value.columns, every)}
    if isinstance(value, WeightedUniverse):
        heads = (*value.columns, free_name("count", value.columns))
        return {"weights": PublishedTable(heads, [(*levels, count) for levels, count in value.cells()])}
    if isinstance(value, (Itemsets, AssociationRules, SurvivalCurve)):
        name = {Itemsets: "sets", AssociationRules: "rules", SurvivalCurve: "curve"}[type(value)]
        listed = [*value.lines()]
        return {name: PublishedTable(tuple(listed[0]) if listed else (name,), [tuple(each.values()) for each in listed])}
    if isinstance(value, (AdditiveModel, DecisionTreeModel)):
        rows = list(value.rows())
        name = "effects" if isinstance(value, AdditiveModel) else "leaves"
        return {name: PublishedTable(tuple(rows[0]), [tuple(row.values()) for row in rows])}
    if isinstance(value, Histogram):
        columns = value.table_columns()
        return {"histogram": PublishedTable(tuple(columns), list(zip(*columns.values(), strict=True)))}
    if hasattr(value, "named_values"):
        named = value.named_values()
        intervals = answer.intervals if len(answer.intervals) == len(named) else [None] * len(named)
        lines = [(name, number, *ends_of(each)) for (name, number), each in zip(named, intervals, strict=True)]
        return {"values": PublishedTable(("name", "value", "low", "high"), lines)}
    return {}


def grouped_tables(answer: GroupedRelease) -> dict[str, PublishedTable]:
    """The tables of all groups: a line for each group, or where a group has tables itself, these with its key in front."""
    released = {key: tables_of(reply) for key, reply in answer.items() if isinstance(reply, Release)}
    names = dict.fromkeys(name for tables in released.values() for name in tables)
    if not names or "values" in names:
        rows = answer.rows()
        heads = list(dict.fromkeys(name for row in rows for name in row)) or [*answer.by, "value"]
        return {"groups": PublishedTable(tuple(heads), [[row.get(name) for name in heads] for row in rows])}
    return {name: _with_keys(answer.by, {key: tables[name] for key, tables in released.items()}) for name in names}


def ends_of(interval: Interval | None) -> tuple[Any, ...]:
    """Both ends of an interval; None for an unknown one."""
    ends = (None, None) if interval is None else (interval.low, interval.high)
    return tuple(None if end is None or math.isinf(end) else end for end in ends)


def _with_keys(by: Sequence[str], tables: dict[Any, PublishedTable]) -> PublishedTable:
    heads = next(iter(tables.values())).heads
    lines = [(*labels_of(key), *line) for key, table in tables.items() for line in table.lines]
    return PublishedTable((*(free_name(name, heads) for name in by), *heads), lines)


def _contingency(value: ContingencyTables) -> dict[str, PublishedTable]:
    several = [table for table in value if table.columns]
    digits = len(str(len(several)))  # of all places, so that files are listed in the order of the tables
    tables = {}
    for place, table in enumerate(several, 1):
        cells = list(table.cells())
        tables[f"{place:0{digits}}-{_file_name(table.names)}"] = PublishedTable(
            tuple(cells[0]), [tuple(cell.values()) for cell in cells]
        )
    return tables


def _file_name(names: Sequence[str]) -> str:
    """A part of a file's name that every system takes: small letters without accents, digits and hyphens."""
    plain = [unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower() for name in names]
    words = [re.sub(r"[^a-z0-9]+", "-", name).strip("-") or "column" for name in plain]
    return "-by-".join(words)[:_LONGEST_NAME].strip("-")
