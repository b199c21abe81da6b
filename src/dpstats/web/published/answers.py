"""An answer as values for a page: the number with its interval, a sentence, a figure, tables, and files for programs."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np

from dpstats.curator.archive import Result
from dpstats.curator.publishing.contents import CSV, Files, answer_files, reply_json, summary_csv
from dpstats.curator.publishing.value_tables import PublishedTable, ends_of, grouped_tables, tables_of
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.keys import labels_of
from dpstats.foundations.results import Interval, NoReply, Release, plain_value, value_text
from dpstats.foundations.text_tables import counted, free_name, shortened
from dpstats.pictures.dots import dots_of
from dpstats.statistics.binned.histogram import Histogram
from dpstats.statistics.contingency.tables import ContingencyTable, ContingencyTables, count_text
from dpstats.web.figures.answers import figure_of, shown_number, with_interval
from dpstats.web.figures.scales import number_text
from dpstats.web.published.reading import PublishedAnswer
from dpstats.web.routes import Plain

MOST_LINES, MOST_TABLES, MOST_CELLS = 60, 12, 2_000
"""Of tables that are shown; their files have all of them."""
SHADES = 9
VALUES = "values"
_MOST_KEPT = 32
_HEADS = ("name", "value", "low", "high")
SHORT = 3
"""Numbers that stand in a list."""


def answer_values(answer: Result) -> Plain:
    """One answer for a page and for programs."""
    figure = figure_of(answer)
    shaded = _shaded_tables(answer.value) if isinstance(answer, Release) and isinstance(answer.value, ContingencyTables) else []
    has_reply, number = not isinstance(answer, NoReply), headline(answer)
    tables = [] if shaded else [_table(name, each) for name, each in _tables(answer).items()]
    is_words = has_reply and number is None and figure is None and not (shaded or tables)
    return {
        "question": answer.question,
        "has_reply": has_reply,
        "headline": number,
        "words": in_short(answer) if is_words else None,
        "sentence": sentence(answer),
        "figure": None if figure is None else {"svg": figure.svg, "legend": figure.legend},
        "tables": tables,
        "counts": shaded,
        "cost": answer.cost.to_dict(),
        "reply": reply_json(answer),
    }


def headline(answer: Result) -> Plain | None:
    """The number that an answer is, with its interval; None where it is more than a number."""
    if not isinstance(answer, Release):
        return None
    value = getattr(answer.value, "estimate", answer.value)
    if isinstance(value, str):
        return {"value": value_text(value), "of": "", "low": None, "high": None, "level": None, "rough": answer.rough}
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, np.number)) or not math.isfinite(float(value)):
        return None
    interval = answer.interval
    ends = (None, None) if interval is None else (_end(interval.low, interval), _end(interval.high, interval))
    return {
        "value": shown_number(float(value), interval),
        "of": _quantity(answer),
        "low": ends[0],
        "high": ends[1],
        "level": None if interval is None else _percent(interval),
        "rough": answer.rough,
    }


def in_short(answer: Result) -> str:
    """An answer in a few words, for lists; a number in it has its interval beside it."""
    if isinstance(answer, NoReply):
        return "no reply"
    if isinstance(answer, GroupedRelease):
        return f"{counted(len(answer), 'group')} by {', '.join(map(value_text, answer.by))}"
    value = answer.value
    if (said := headline(answer)) is not None:
        number = said["value"] if said["level"] is None else f"{said['value']} ({said['low']} to {said['high']})"
        return f"{answer.shown_value()}; {said['of']} {number}" if hasattr(value, "estimate") else number
    if isinstance(value, Histogram) and value.noisy:
        place = value.noisy.index(max(value.noisy))
        within = "" if value.level is None else f" ({value.low[place]:,} to {value.high[place]:,})"
        return f"{counted(len(value.noisy), 'bin')}; most in {value.names[place]}: {value.counts[place]:,}{within}"
    named = _named_values(answer)
    if hasattr(value, "probabilities"):
        return f"{counted(len(named), 'point')} of a distribution function"
    if named:
        more = ", ..." if len(named) > SHORT else ""
        return f"{', '.join(f'{name}: {with_interval(number, each)}' for name, number, each in named[:SHORT])}{more}"
    return shortened(answer.shown_value(), 100)


def _named_values(answer: Release) -> list[tuple[str, float, Interval]]:
    """The numbers of an answer by name, if it has several, and an interval for each."""
    value: Any = answer.value
    if hasattr(value, "named_values"):
        named = list(value.named_values())
    elif isinstance(getattr(value, "probabilities", None), tuple):
        named = list(zip(map(number_text, value.probabilities), value.values, strict=True))
    elif hasattr(value, "family") and hasattr(value, "values"):
        named = list(zip(value.names, value.values, strict=True))
    else:
        named = [(dot.name, dot.value) for dot in dots_of(answer)]
    if len(named) != len(answer.intervals):
        return []
    return [(value_text(name), float(number), each) for (name, number), each in zip(named, answer.intervals, strict=True)]


def sentence(answer: Result) -> str:
    """An answer in a sentence or two."""
    if isinstance(answer, NoReply):
        return f"There is no reply. {answer.reason} {answer.advice}".strip()
    if isinstance(answer, GroupedRelease):
        replied = sum(isinstance(reply, Release) for reply in answer.values())
        have = "has" if len(answer) == 1 else "have"
        return f"{replied:,} of {counted(len(answer), 'group')} {have} an answer, each with its own interval.{_covered(answer)}"
    rough = " It is rough: there are too few rows at this epsilon for a good answer." if answer.rough else ""
    said = headline(answer)
    if said is None:
        return f"In short: {in_short(answer)}.{_covered(answer)}{rough}"
    if answer.interval is None:
        unknown = f" Its interval is unknown: {answer.unknown}." if answer.unknown else ""
        about = "" if isinstance(answer.value, str) else "about "
        return f"The answer is {about}{said['value']}.{unknown}{rough}"
    quantity = str(said["of"])
    gives = "The test gives" if hasattr(answer.value, "p_value") else "The answer is"
    estimated = f"{gives} {answer.shown_value()}. {quantity[:1].upper()}{quantity[1:]}" if quantity else "The answer"
    covers = f"The {said['level']} interval from {said['low']} to {said['high']} covers {answer.interval.covers}."
    return f"{estimated} is about {said['value']}. {covers}{rough}"


def _quantity(answer: Release) -> str:
    """What the number of an answer is of, where its value is more than that number: the estimate of a test."""
    if not hasattr(answer.value, "estimate"):
        return ""
    return answer.interval.of if answer.interval is not None else str(getattr(answer.value, "estimates", "the estimate"))


def _covered(answer: Release | GroupedRelease) -> str:
    """What the intervals of several numbers cover."""
    replies = [each for each in answer.values() if isinstance(each, Release)] if isinstance(answer, GroupedRelease) else [answer]
    intervals = (each for reply in replies for each in (reply.interval, *reply.intervals) if each is not None)
    first = next(intervals, None)
    if first is None:
        return ""
    return f" Each {_percent(first)} interval{f' of {first.of}' if first.of else ''} covers {first.covers}."


@lru_cache(_MOST_KEPT)
def published_values(published: PublishedAnswer) -> list[Plain]:
    """All answers of a release; made once, because everybody may ask for them, and not to be changed."""
    return [answer_values(each) for each in published.results]


@lru_cache(_MOST_KEPT)
def published_files(published: PublishedAnswer) -> Files:
    """CSV files by name: a line for each answer, and the tables that answers hold."""
    answers = published.results
    files = {name: content for number, each in enumerate(answers, 1) for name, content in answer_files(number, each, CSV).items()}
    return {"answers.csv": summary_csv([published.title] * len(answers), answers), **files}


def _tables(answer: Result) -> Mapping[str, PublishedTable]:
    """The tables of an answer; numbers of which there are several make one, with their intervals."""
    if isinstance(answer, NoReply):
        return {}
    if isinstance(answer, Release):
        lines = [(name, number, *ends_of(each)) for name, number, each in _named_values(answer)]
        return tables_of(answer) or ({VALUES: PublishedTable(_HEADS, lines)} if lines else {})
    named = {key: _named_values(reply) for key, reply in answer.items() if isinstance(reply, Release)}
    if not any(named.values()):
        return grouped_tables(answer)
    every = [(*labels_of(key), name, number, *ends_of(each)) for key, listed in named.items() for name, number, each in listed]
    return {VALUES: PublishedTable((*(free_name(name, _HEADS) for name in answer.by), *_HEADS), every)}


def _table(name: str, table: PublishedTable) -> Plain:
    shown = [[_cell(value) for value in line] for line in islice(table.lines, MOST_LINES)]
    first = next(iter(table.lines), ())
    return {
        "name": name,
        "heads": [value_text(head) for head in table.heads],
        "is_number": [not isinstance(value, str) for value in first] or [False] * len(table.heads),
        "lines": shown,
        "more": max(0, len(table.lines) - len(shown)),
    }


def _cell(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, (bool, str)):
        return value_text(value)
    if isinstance(value, (numbers.Integral, np.integer)):
        return f"{int(value):,}"
    if isinstance(value, (float, np.floating)):
        return number_text(float(value))
    return value_text(plain_value(value))


def _shaded_tables(value: ContingencyTables) -> list[Plain]:
    """The tables of most columns among those that are not too large to be read."""
    fitting = [each for each in value if each.columns and each.counts.size <= MOST_CELLS]
    ways = max((len(each.columns) for each in fitting), default=0)
    return [_shaded(each, value.level) for each in fitting if len(each.columns) == ways][:MOST_TABLES]


def _shaded(counted: ContingencyTable, level: float | None) -> Plain:
    """A table of counts, the codes of its last column side by side; each cell has a shade from 0 to `SHADES`."""
    *before, last = counted.columns
    most = max(float(counted.counts.max(initial=0.0)), 1.0)
    lines = []
    for place in np.ndindex(*counted.counts.shape[:-1]):
        names = [column.names[code] for column, code in zip(before, place, strict=True)] or ["rows"]
        cells = [
            {"count": count_text(count), "shade": round(SHADES * max(float(count), 0.0) / most)}
            for count in counted.counts[place]
        ]
        lines.append({"names": names, "cells": cells})
    return {
        "caption": " by ".join(value_text(name) for name in counted.names),
        "reach": counted.reach_text(level).strip(),
        "corners": [value_text(column.name) for column in before] or [""],
        "heads": list(last.names),
        "lines": lines,
    }


def _end(end: float, interval: Interval) -> str:
    return shown_number(end, interval)


def _percent(interval: Interval) -> str:
    return f"{100 * interval.level:.10g}%"
