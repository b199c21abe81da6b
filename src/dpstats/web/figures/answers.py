"""The figure of an answer: by what its value is, dots with intervals, bars or a curve; none where it is best read as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpstats.curator.archive import Result
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.results import Interval, NoReply, Release
from dpstats.pictures.dots import Dot, dots_of, dots_of_groups
from dpstats.pictures.parameters import coefficient_lines
from dpstats.statistics.binned.histogram import Histogram
from dpstats.web.figures.bars import histogram_bars
from dpstats.web.figures.curves import distribution_curve
from dpstats.web.figures.dots import MOST_ROWS, DrawnDot, rows_of_dots, single_dot
from dpstats.web.figures.scales import number_text


@dataclass(frozen=True)
class Figure:
    """A figure, and how to read it."""

    svg: str
    legend: str


def figure_of(answer: Result) -> Figure | None:
    """What is drawn of an answer; None where nothing is."""
    if isinstance(answer, NoReply):
        return None
    if isinstance(answer, GroupedRelease):
        found = dots_of_groups(answer)
        return _rows(answer.question, *found) if found is not None and found[0] else None
    value = answer.value
    if isinstance(value, Histogram):
        return _histogram(answer.question, value) if value.noisy else None
    if hasattr(value, "coefficients") and hasattr(value, "intercept"):
        return _coefficients(answer)
    if callable(value) and hasattr(value, "probabilities") and hasattr(value, "values"):
        legend = f"The line is the part of the rows up to each value{_band(answer.intervals)}."
        return Figure(distribution_curve(value, answer.intervals, f"{answer.question}. {legend}"), legend)
    dots = dots_of(answer)
    if len(dots) == 1:
        named = answer.interval.of if answer.interval is not None else ""
        legend = f"The dot is {named or 'the answer'}{_of_interval(answer.interval)}."
        low, high = ("", "") if dots[0].interval is None else (shown_number(end, dots[0].interval) for end in dots[0].interval)
        return Figure(single_dot(drawn(dots[0]), f"{answer.question}. {legend}", (low, high)), legend)
    return _rows(answer.question, dots, []) if dots else None


def drawn(dot: Dot) -> DrawnDot:
    """A number as a figure has it."""
    interval = dot.interval
    if interval is None:
        return DrawnDot(dot.name, dot.value, None, None, number_text(dot.value))
    return DrawnDot(dot.name, dot.value, interval.low, interval.high, with_interval(dot.value, interval))


def with_interval(value: float, interval: Interval) -> str:
    """A number with its interval: 17,441 (16,051 to 18,863)."""
    low, high = (shown_number(end, interval) for end in interval)
    return f"{shown_number(value, interval)} ({low} to {high})"


def shown_number(number: float, interval: Interval | None) -> str:
    """A number for people; beside an interval with the digits that its width makes meaningful."""
    if interval is None or not math.isfinite(number) or not interval.has_both_ends or not interval.high > interval.low:
        return number_text(number)
    places = max(0, 2 - math.floor(math.log10(interval.high - interval.low)))
    text = f"{number:,.{places}f}"
    return text.rstrip("0").rstrip(".") if places else text


def _rows(question: str, dots: Sequence[Dot], silent: Sequence[str]) -> Figure:
    level = next((dot.interval for dot in dots if dot.interval is not None), None)
    legend = f"Dots are the answers{_of_interval(level, several=True)}."
    if len(dots) > MOST_ROWS:
        legend += f" The first {MOST_ROWS} of {len(dots):,} are drawn."
    if silent:
        legend += f" No reply: {', '.join(silent[:10])}{', ...' if len(silent) > 10 else ''}."
    return Figure(rows_of_dots([drawn(dot) for dot in dots], f"{question}. {legend}"), legend)


def coefficient_dots(answer: Release) -> tuple[bool, list[DrawnDot]]:
    """Coefficients in units of their errors, which is the same axis for all of them; whether they are, or in their own."""
    is_scaled, (_, *lines) = coefficient_lines(answer.value, answer.intervals)
    dots = []
    for line in lines:
        if line.scale is not None and math.isfinite(line.place) and math.isfinite(line.scale):
            low, high = (None, None) if line.ends is None else (line.ends[0] / line.scale, line.ends[1] / line.scale)
            dots.append(DrawnDot(line.name, line.place, low, high, line.words))
    return is_scaled, dots


def _coefficients(answer: Release) -> Figure | None:
    """The coefficients of a regression; the table has the intercept, too."""
    is_scaled, dots = coefficient_dots(answer)
    if not dots:
        return None
    of = "errors from 0" if is_scaled else "units from 0"
    legend = f"Dots are coefficients, by how many {of} they lie{_of_interval(next(iter(answer.intervals), None), several=True)}."
    return Figure(rows_of_dots(dots, f"{answer.question}. {legend}", zero=True), legend)


def _histogram(question: str, value: Histogram) -> Figure:
    within = "" if value.level is None else f"; lines upon them are {_percent(value.level)} intervals"
    legend = f"Bars are rows in each bin{within}."
    if len(value.edges) > 1:
        legend += " The fainter bars at the ends hold all rows beyond."
    return Figure(histogram_bars(value, f"{question}. {legend}"), legend)


def _of_interval(interval: Interval | None, *, several: bool = False) -> str:
    if interval is None:
        return ""
    return f"; {'lines are their' if several else 'the bar is its'} {_percent(interval.level)} interval{'s' if several else ''}"


def _band(intervals: Sequence[Interval]) -> str:
    return f"; the band is its {_percent(intervals[0].level)} interval at each value" if intervals else ""


def _percent(level: float) -> str:
    return f"{100 * level:.10g}%"
