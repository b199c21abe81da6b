"""The contents of a publication's folder: what was released, as JSON, CSV and Parquet."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpstats.curator.archive import Result
from dpstats.curator.publishing.cards import Lines
from dpstats.curator.publishing.csv_files import csv_bytes
from dpstats.foundations.errors import MissingExtraError
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.results import Interval, NoReply, Release, plain_value
from dpstats.foundations.text_tables import free_name
from dpstats.statistics.binned.histogram import Histogram
from dpstats.statistics.contingency.tables import ContingencyTable, ContingencyTables
from dpstats.statistics.synthetic.data import SyntheticData
from dpstats.statistics.universe.small_databases import SmallDatabase
from dpstats.statistics.universe.weighted_universe import WeightedUniverse

Files = dict[str, bytes]
_LONGEST_NAME = 60


def chosen_row_files(wanted: str | None) -> str:
    """How synthetic rows are written: as the plan wants, else as Parquet where that can be written."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        if wanted == "parquet":
            raise MissingExtraError.about("Parquet files need pyarrow", "files") from None
        return "csv"
    return wanted or "parquet"


def answer_files(number: int, answer: Result, row_files: str) -> Files:
    """The files of one answer: its tables, or its synthetic rows; none for a number, which answers.csv has."""
    start = f"{number:02}"
    if isinstance(answer, GroupedRelease):
        rows = answer.rows()
        heads = list(dict.fromkeys(name for row in rows for name in row)) or [*answer.by, "value"]
        return {f"{start}-groups.csv": csv_bytes(heads, ([row.get(name) for name in heads] for row in rows))}
    if isinstance(answer, NoReply):
        return {}
    value = answer.value
    if isinstance(value, SyntheticData):
        return {f"{start}-rows.{row_files}": parquet_rows(value) if row_files == "parquet" else csv_rows(value)}
    if isinstance(value, ContingencyTables):
        several = [table for table in value if table.columns]
        digits = len(str(len(several)))  # of all places, so that files are listed in the order of the tables
        return {
            f"{start}-{place:0{digits}}-{_file_name(table.names)}.csv": _table_csv(table)
            for place, table in enumerate(several, 1)
        }
    if isinstance(value, SmallDatabase):
        every = (row for row, count in zip(value.rows, value.counts, strict=True) for _ in range(count))
        return {f"{start}-rows.csv": csv_bytes(value.columns, every)}
    if isinstance(value, WeightedUniverse):
        heads = [*value.columns, free_name("count", value.columns)]
        return {f"{start}-weights.csv": csv_bytes(heads, ([*levels, count] for levels, count in value.cells()))}
    if isinstance(value, Histogram):
        ends = value.level is not None
        own = [label if isinstance(label, str) else name for label, name in zip(value.labels, value.names, strict=False)]
        names = [*own, *value.names[len(own) :]]  # texts as they are, and not as people are shown them
        bins = zip(names, value.counts, *((value.low, value.high) if ends else ()), strict=True)
        return {f"{start}-histogram.csv": csv_bytes(["bin", "rows", *(["low", "high"] if ends else [])], bins)}
    if hasattr(value, "named_values"):
        named = value.named_values()
        intervals = answer.intervals if len(answer.intervals) == len(named) else [None] * len(named)
        lines = ([name, number, *_ends(each)] for (name, number), each in zip(named, intervals, strict=True))
        return {f"{start}-values.csv": csv_bytes(["name", "value", "low", "high"], lines)}
    return {}


def summary_csv(titles: Sequence[str], answers: Sequence[Result]) -> bytes:
    """One line for each answer: the number that it is, where it is one, with its interval, and what it cost."""
    heads = ["number", "title", "question", "reply", "value", "low", "high", "level", "epsilon", "delta"]
    lines = []
    for number, (title, answer) in enumerate(zip(titles, answers, strict=True), 1):
        value, interval = None, None
        if isinstance(answer, Release):
            number_or_text = getattr(answer.value, "estimate", answer.value)
            value = number_or_text if isinstance(number_or_text, (int, float, str, np.number)) else None
            interval = answer.interval
        cost = answer.cost.to_dict()
        reply = "no" if isinstance(answer, NoReply) else "yes"
        level = "" if interval is None else interval.level
        lines.append(
            [number, title, answer.question, reply, value, *_ends(interval), level, cost["epsilon_exact"], cost["delta_exact"]]
        )
    return csv_bytes(heads, lines)


def answers_json(
    title: str, documents: Sequence[dict[str, Any]], answers: Sequence[Result], cards: Sequence[Lines], files: Sequence[Files]
) -> bytes:
    """All answers for programs; `documents` are the questions of the canonical plan."""
    listed = [
        {"number": number, **document, "reply": reply_json(answer), "card": dict(card), "files": sorted(own)}
        for number, (document, answer, card, own) in enumerate(zip(documents, answers, cards, files, strict=True), 1)
    ]
    return json_bytes({"title": title, "answers": listed})


def reply_json(answer: Result) -> Any:
    """An answer as JSON has it."""
    return json.loads(json.dumps(plain_value(answer.to_dict())))


def json_bytes(value: object) -> bytes:
    """A value as the text of a JSON file."""
    return f"{json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)}\n".encode()


def csv_rows(data: SyntheticData) -> bytes:
    """Synthetic rows as a CSV file."""
    return csv_bytes(data.names, zip(*(values.tolist() for values in data.values.values()), strict=True))


def parquet_rows(data: SyntheticData) -> bytes:
    """Synthetic rows as a Parquet file."""
    import pyarrow.parquet

    target = io.BytesIO()
    pyarrow.parquet.write_table(data.to_arrow(), target)
    return target.getvalue()


def _table_csv(table: ContingencyTable) -> bytes:
    cells = list(table.cells())
    return csv_bytes(list(cells[0]), (list(cell.values()) for cell in cells))


def _ends(interval: Interval | None) -> tuple[Any, ...]:
    """Both ends of an interval as CSV has them; an unknown one is an empty cell."""
    ends = (None, None) if interval is None else (interval.low, interval.high)
    return tuple("" if end is None or math.isinf(end) else end for end in ends)


def _file_name(names: Sequence[str]) -> str:
    """A part of a file's name that every system takes: small letters, digits and hyphens."""
    words = [re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "column" for name in names]
    return "-by-".join(words)[:_LONGEST_NAME].strip("-")
