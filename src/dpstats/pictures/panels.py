"""Panels: one release each, drawn by what its value is.

A histogram becomes bars with whiskers, a distribution function a line with a band, numbers and the parameters of a fitted model
become dots with their intervals, classifiers their effects or their tree; what cannot be drawn is written. Nothing but the
release is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from dpstats.foundations.results import Interval, NoReply, Release, value_text
from dpstats.foundations.text_tables import shortened
from dpstats.pictures.classifiers import effects_panel, tree_panel
from dpstats.pictures.degrees import degree_panel
from dpstats.pictures.densities import density_panel, neighbors_panel
from dpstats.pictures.dots import axis_words, dots_of, dots_of_groups, dots_panel, interval_ends
from dpstats.pictures.looks import COLORS, Panel, as_written
from dpstats.pictures.parameters import LONGEST_NAME, MOST_NAMED, coefficient_panel, likelihood_panel, loadings_panel, name_margin

_ROW = 0.22
_LEAST = 2.2
_SAME = 1e-6


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
    return dots_panel(dots, axis_words(value)) if dots else None


def panel_of_groups(replies: Mapping[Any, Release | NoReply]) -> Panel | None:
    """One panel for the replies of all groups, a dot for each; None where their values are not single numbers."""
    found = dots_of_groups(replies)
    if found is None:
        return None
    dots, silent = found
    panel = dots_panel(dots) if dots else _words("no group to show")
    if not silent:
        return panel
    words = f"no reply: {'; '.join(silent[:MOST_NAMED])}{'; ...' if len(silent) > MOST_NAMED else ''}"

    def draw(axes: Any) -> None:
        panel.draw(axes)
        axes.set_xlabel(as_written(words))

    return Panel(panel.height + _ROW, draw, panel.margin)


def _histogram_panel(histogram: Any) -> Panel:
    edges = histogram.edges
    if not histogram.noisy:
        return _words(str(histogram))
    if len(edges) > 1 and _are_even(edges):
        return Panel(2.6, lambda axes: _draw_even_bins(axes, histogram))
    height = max(_LEAST, 0.7 + _ROW * min(len(histogram.noisy), MOST_NAMED))
    return Panel(height, lambda axes: _draw_named_bins(axes, histogram), name_margin(histogram.names))


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
        low, high = interval_ends(axes, intervals)
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
    axes.set_xlabel("time")
    axes.grid(linewidth=0.4, alpha=0.5)


def _words(text: str) -> Panel:
    def draw(axes: Any) -> None:
        axes.set_axis_off()
        axes.text(0, 0.5, as_written(text), transform=axes.transAxes, fontsize=11, verticalalignment="center")

    return Panel(0.9, draw)


def _short(name: str) -> str:
    return as_written(shortened(name, LONGEST_NAME))
