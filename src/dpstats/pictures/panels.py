"""Panels: one release each, drawn by what its value is.

A histogram becomes bars with whiskers, a distribution function a line with a band, numbers and the parameters of a fitted model
become dots with their intervals, classifiers their effects or their tree; what cannot be drawn is written. Nothing but the
release is looked at.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from dpstats.foundations.keys import labels_of
from dpstats.foundations.results import Interval, NoReply, Release, value_text
from dpstats.foundations.text_tables import shortened
from dpstats.pictures.classifiers import effects_panel, tree_panel
from dpstats.pictures.degrees import degree_panel
from dpstats.pictures.densities import density_panel, neighbors_panel
from dpstats.pictures.looks import COLORS, Panel, as_written
from dpstats.pictures.parameters import LONGEST_NAME, MOST_NAMED, coefficient_panel, likelihood_panel, loadings_panel

_ROW = 0.22
_LEAST, _LOW = 2.2, 1.1
_LIST = re.compile(r"\[([^\[\]]*)\]")
_SAME = 1e-6


@dataclass(frozen=True)
class Dot:
    """A number with its name and, where it has one, its interval."""

    name: str
    value: float
    interval: Interval | None = None


def panel_of(answer: Release | NoReply) -> Panel:
    """The panel of one answer; in words where it cannot be drawn."""
    if isinstance(answer, NoReply):
        return _words("no reply")
    text = value_text(answer.value)
    return drawn_panel(answer) or _words(text if len(text) <= 120 else str(answer.value)[:117] + "...")


def drawn_panel(answer: Release) -> Panel | None:
    """The panel of an answer; None where it could only be written."""
    value = answer.value
    if hasattr(value, "family") and hasattr(value, "distribution"):  # first, for its parameters may have any names
        return likelihood_panel(value, answer.intervals)
    if hasattr(value, "effects") and hasattr(value, "strengths"):
        return effects_panel(value)
    if hasattr(value, "leaf_text"):
        return tree_panel(value)
    if hasattr(value, "noisy") and hasattr(value, "names"):
        return _histogram_panel(value)
    if hasattr(value, "coefficients") and hasattr(value, "intercept"):
        return coefficient_panel(value, answer.intervals)
    if hasattr(value, "sorted_degrees") or hasattr(value, "at_most"):
        return degree_panel(value)
    if callable(value) and hasattr(value, "probabilities") and hasattr(value, "values"):
        return Panel(2.6, lambda axes: _draw_distribution(axes, value, answer.intervals))
    if hasattr(value, "tree") and hasattr(value, "window"):
        return neighbors_panel(value) if hasattr(value, "classes") else density_panel(value)
    if callable(getattr(value, "loadings", None)):
        return loadings_panel(value)
    if hasattr(value, "survival") and hasattr(value, "times"):
        return Panel(2.6, lambda axes: _draw_survival(axes, value))
    dots = dots_of(answer)
    return _dots_panel(dots) if dots else None


def panel_of_groups(replies: Mapping[Any, Release | NoReply]) -> Panel | None:
    """One panel for the replies of all groups, a dot for each; None where their values are not single numbers."""
    found = dots_of_groups(replies)
    if found is None:
        return None
    dots, silent = found
    panel = _dots_panel(dots) if dots else _words("no group to show")
    if not silent:
        return panel
    words = f"no reply: {'; '.join(silent[:MOST_NAMED])}{'; ...' if len(silent) > MOST_NAMED else ''}"

    def draw(axes: Any) -> None:
        panel.draw(axes)
        axes.set_xlabel(as_written(words))

    return Panel(panel.height + _ROW, draw)


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


def _dots_panel(dots: Sequence[Dot]) -> Panel:
    named = len(dots) <= MOST_NAMED
    return Panel(max(_LOW, 0.7 + _ROW * min(len(dots), MOST_NAMED)), lambda axes: _draw_dots(axes, dots, named))


def _draw_dots(axes: Any, dots: Sequence[Dot], named: bool) -> None:
    places = range(len(dots))
    axes.plot([dot.value for dot in dots], places, "o", color=COLORS[0], markersize=5, zorder=3)
    intervals = [Interval(dot.value, dot.value, 1.0, "") if dot.interval is None else dot.interval for dot in dots]
    low, high = _ends(axes, intervals)
    axes.hlines(list(places), low, high, color=COLORS[0], linewidth=1.5, zorder=2)
    named = named and any(dot.name for dot in dots)
    axes.set_yticks(list(places) if named else [], [_short(dot.name) for dot in dots] if named else [])
    axes.spines["left"].set_visible(named)
    axes.set_ylim(len(dots) - 0.5, -0.5)
    axes.grid(axis="x", linewidth=0.4, alpha=0.5)


def _histogram_panel(histogram: Any) -> Panel:
    edges = histogram.edges
    if not histogram.noisy:
        return _words(str(histogram))
    if len(edges) > 1 and _are_even(edges):
        return Panel(2.6, lambda axes: _draw_even_bins(axes, histogram))
    return Panel(max(_LEAST, 0.7 + _ROW * min(len(histogram.noisy), MOST_NAMED)), lambda axes: _draw_named_bins(axes, histogram))


def _are_even(edges: Sequence[float]) -> bool:
    widths = [after - before for before, after in pairwise(edges)]
    return math.isfinite(sum(widths)) and max(widths) - min(widths) <= _SAME * max(widths)


def _draw_even_bins(axes: Any, histogram: Any) -> None:
    """Bars between the edges; the two open bins stand beside them, fainter."""
    edges, width = histogram.edges, histogram.edges[1] - histogram.edges[0]
    middles = [edges[0] - width / 2, *(edge + width / 2 for edge in edges)]
    is_open = [place in (0, len(middles) - 1) for place in range(len(middles))]
    colors = [COLORS[4] if each else COLORS[0] for each in is_open]
    axes.bar(middles, histogram.counts, width=0.92 * width, color=colors, alpha=0.8, linewidth=0)
    _draw_whiskers(axes, middles, histogram, upright=True)
    axes.set_ylabel("rows")
    axes.set_xlabel("the fainter bars at the ends hold all rows beyond")


def _draw_named_bins(axes: Any, histogram: Any) -> None:
    """A bar for each bin, by its name, from top to bottom."""
    places = list(range(len(histogram.noisy)))
    axes.barh(places, histogram.counts, height=0.8, color=COLORS[0], alpha=0.8, linewidth=0)
    _draw_whiskers(axes, places, histogram, upright=False)
    named = len(places) <= MOST_NAMED
    axes.set_yticks(places if named else [], [_short(name) for name in histogram.names] if named else [])
    axes.set_ylim(len(places) - 0.5, -0.5)
    axes.set_xlabel("rows")


def _draw_whiskers(axes: Any, places: Sequence[float], histogram: Any, *, upright: bool) -> None:
    if histogram.level is None:
        return
    below = [count - low for count, low in zip(histogram.counts, histogram.low, strict=True)]
    above = [high - count for count, high in zip(histogram.counts, histogram.high, strict=True)]
    looks = {"fmt": "none", "ecolor": COLORS[6], "elinewidth": 1, "capsize": 2.5}
    if upright:
        axes.errorbar(places, histogram.counts, yerr=[below, above], **looks)
    else:
        axes.errorbar(histogram.counts, places, xerr=[below, above], **looks)


def _draw_distribution(axes: Any, distribution: Any, intervals: Sequence[Interval]) -> None:
    values, shares = distribution.values, distribution.probabilities
    axes.plot(values, shares, color=COLORS[0], linewidth=1.5)
    if len(intervals) == len(values):
        low, high = _ends(axes, intervals)
        axes.fill_betweenx(shares, low, high, color=COLORS[0], alpha=0.2, linewidth=0)
    axes.set_ylim(0, 1)
    axes.set_ylabel("part of the rows up to here")
    axes.grid(linewidth=0.4, alpha=0.5)


def _draw_survival(axes: Any, curve: Any) -> None:
    times = [0.0, *curve.times]
    axes.plot(times, [1.0, *curve.survival], color=COLORS[0], linewidth=1.5)
    if curve.level is not None:
        axes.fill_between(times, [1.0, *curve.low], [1.0, *curve.high], color=COLORS[0], alpha=0.2, linewidth=0)
    axes.axhline(0.5, color=COLORS[6], linewidth=0.6, linestyle="--")
    axes.set_ylim(0, 1)
    axes.set_xlim(left=0)
    axes.set_ylabel("part without the event")
    axes.grid(linewidth=0.4, alpha=0.5)


def _ends(axes: Any, intervals: Sequence[Interval]) -> tuple[list[float], list[float]]:
    """The lower and the upper ends of intervals; where they have none, that of the panel, which takes in all the others."""
    finite = [end for each in intervals for end in (each.low, each.high) if math.isfinite(end)]
    left, right = axes.get_xlim()
    left, right = min([left, *finite]), max([right, *finite])
    axes.set_xlim(left - 0.02 * (right - left), right + 0.02 * (right - left))
    left, right = axes.get_xlim()
    return [max(each.low, left) for each in intervals], [min(each.high, right) for each in intervals]


def _words(text: str) -> Panel:
    def draw(axes: Any) -> None:
        axes.set_axis_off()
        axes.text(0, 0.5, as_written(text), transform=axes.transAxes, fontsize=11, verticalalignment="center")

    return Panel(0.9, draw)


def _short(name: str) -> str:
    return as_written(shortened(name, LONGEST_NAME))
