"""Dots: named numbers with their intervals on one axis, for values that are one number or several alike."""

from __future__ import annotations

import math
import numbers
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpstats.foundations.keys import labels_of
from dpstats.foundations.results import Interval, NoReply, Release, value_text
from dpstats.pictures.looks import COLORS, Panel, as_written
from dpstats.pictures.parameters import MOST_NAMED

_ROW, _LINE = 0.22, 0.16
_LOW = 1.1
_WIDEST, _MOST_LINES = 34, 3
"""Letters in a line of a name, and lines."""
_LONGEST_AXIS = 90
_LIST = re.compile(r"\[([^\[\]]*)\]")


@dataclass(frozen=True)
class Dot:
    """A number with its name and, where it has one, its interval."""

    name: str
    value: float
    interval: Interval | None = None


def dots_of_groups(replies: Mapping[Any, Release | NoReply]) -> tuple[list[Dot], list[str]] | None:
    """A dot for each group, and the names of those without a reply; None where their values are not single numbers."""
    dots, silent = [], []
    for key, reply in replies.items():
        name = value_text(list(labels_of(key)))
        if isinstance(reply, NoReply):
            silent.append(name)
        elif (value := _number(reply.value)) is None:
            return None
        else:
            dots.append(Dot(name, value, reply.interval))
    return dots, silent


def dots_of(answer: Release) -> list[Dot]:
    """The numbers of a release; of a result with an estimate that estimate."""
    value = answer.value
    single = _number(getattr(value, "estimate", value))
    if single is not None:
        return [Dot("", single, answer.interval)]
    if hasattr(value, "size_noise"):  # clusters, or components of a mixture
        ends = answer.intervals or [None] * len(value.sizes)
        return [Dot(value.place_text(place), *each) for place, each in enumerate(zip(value.sizes, ends, strict=True))]
    if callable(getattr(value, "loadings", None)):  # principal components
        return [Dot(name, loading) for name, loading in value.loadings()]
    if hasattr(value, "named_values") and hasattr(value, "lines"):  # sets of items, rules
        named = value.named_values()
        ends = answer.intervals if len(answer.intervals) == len(named) else [None] * len(named)
        return [Dot(name, number, each) for (name, number), each in zip(named, ends, strict=True)]
    several = [_number(item) for item in value] if isinstance(value, (tuple, list)) else []
    if not several or any(item is None for item in several):
        return []
    intervals = answer.intervals if len(answer.intervals) == len(several) else [None] * len(several)
    names = _names_in(answer.question, len(several))
    return [Dot(name, item, each) for name, item, each in zip(names, several, intervals, strict=True) if item is not None]


def _names_in(question: str, how_many: int) -> list[str]:
    """What several values belong to: the items of the list in the question, if it has one of that length; else their places."""
    for listed in reversed(_LIST.findall(question)):
        items = [item.strip() for item in listed.split(",")]
        if len(items) == how_many:
            return items
    return [str(place + 1) for place in range(how_many)]


def _number(value: object) -> float | None:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number else None  # type: ignore[arg-type]


def axis_words(value: object) -> str:
    """What the axis of a release's dots shows; nothing where the question says it."""
    if hasattr(value, "size_noise"):
        return "rows"
    if hasattr(value, "named_values") and hasattr(value, "lines"):
        return "confidence" if hasattr(value, "rules") and not callable(value.rules) else "rows"
    return str(getattr(value, "estimates", ""))


def dots_panel(dots: Sequence[Dot], axis: str = "") -> Panel:
    """The panel of some dots; `axis` says what they are."""
    named = len(dots) <= MOST_NAMED and any(dot.name for dot in dots)
    names = [_lines(dot.name) for dot in dots] if named else []
    row = max(_ROW, _LINE * max(map(len, names), default=0))
    below = textwrap.wrap(axis, _LONGEST_AXIS)
    height = max(_LOW, 0.7 + row * min(len(dots), MOST_NAMED)) + _ROW * len(below)
    margin = max((len(line) for name in names for line in name), default=0)
    written = [as_written("\n".join(name)) for name in names]
    return Panel(height, lambda axes: _draw_dots(axes, dots, written, as_written("\n".join(below))), margin)


def _draw_dots(axes: Any, dots: Sequence[Dot], names: Sequence[str], axis: str) -> None:
    places = list(range(len(dots)))
    axes.plot([dot.value for dot in dots], places, "o", color=COLORS[0], markersize=5, zorder=3)
    intervals = [Interval(dot.value, dot.value, 1.0, "") if dot.interval is None else dot.interval for dot in dots]
    low, high = interval_ends(axes, intervals)
    axes.hlines(places, low, high, color=COLORS[0], linewidth=1.5, zorder=2)
    axes.set_yticks(places if names else [], names)
    axes.spines["left"].set_visible(bool(names))
    axes.set_ylim(len(dots) - 0.5, -0.5)
    axes.set_xlabel(axis)
    axes.grid(axis="x", linewidth=0.4, alpha=0.5)


def _lines(name: str) -> list[str]:
    """A name in lines, as many as there is room for."""
    return textwrap.wrap(name, _WIDEST, max_lines=_MOST_LINES, placeholder=" ...") or [""]


def interval_ends(axes: Any, intervals: Sequence[Interval]) -> tuple[list[float], list[float]]:
    """The lower and the upper ends of intervals; where they have none, that of the panel, which takes in all the others."""
    finite = [end for each in intervals for end in (each.low, each.high) if math.isfinite(end)]
    left, right = axes.get_xlim()
    left, right = min([left, *finite]), max([right, *finite])
    axes.set_xlim(left - 0.02 * (right - left), right + 0.02 * (right - left))
    left, right = axes.get_xlim()
    return [max(each.low, left) for each in intervals], [min(each.high, right) for each in intervals]
