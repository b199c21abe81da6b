"""The contents of a publication's folder: what was released, as JSON, CSV and Parquet."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpstats.curator.archive import Result
from dpstats.curator.publishing.cards import Lines
from dpstats.curator.publishing.csv_files import csv_bytes
from dpstats.curator.publishing.value_tables import ROWS, ends_of, grouped_tables, tables_of
from dpstats.foundations.errors import MissingExtraError
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.results import NoReply, Release, plain_value
from dpstats.statistics.synthetic.data import SyntheticData

Files = dict[str, bytes]
CSV, PARQUET = "csv", "parquet"


def chosen_row_files(wanted: str | None) -> str:
    """How synthetic rows are written: as the plan wants, else as Parquet where that can be written."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        if wanted == PARQUET:
            raise MissingExtraError.about("Parquet files need pyarrow", "files") from None
        return CSV
    return wanted or PARQUET


def answer_files(number: int, answer: Result, row_files: str) -> Files:
    """The files of one answer: its tables, or its synthetic rows; none for a number, which answers.csv has."""
    if isinstance(answer, NoReply):
        return {}
    if isinstance(answer, Release) and isinstance(answer.value, SyntheticData) and row_files == PARQUET:
        return {f"{number:02}-{ROWS}.{PARQUET}": parquet_rows(answer.value)}
    tables = grouped_tables(answer) if isinstance(answer, GroupedRelease) else tables_of(answer)
    return {f"{number:02}-{name}.csv": csv_bytes(table.heads, table.lines) for name, table in tables.items()}


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
        lines.append([number, title, answer.question, reply, value, *ends_of(interval), level, cost["epsilon"], cost["delta"]])
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
    return csv_bytes(data.names, data.lines())


def parquet_rows(data: SyntheticData) -> bytes:
    """Synthetic rows as a Parquet file."""
    import pyarrow.parquet

    target = io.BytesIO()
    pyarrow.parquet.write_table(data.to_arrow(), target)
    return target.getvalue()
