"""Pictures of degrees: which part of the nodes has at most so many edges, as a staircase with its band."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from dpstats.pictures.looks import COLORS, Panel

_LINEAR_UP_TO = 10


def degree_panel(value: Any) -> Panel:
    """The panel of a distribution of degrees, or of a sequence of them."""
    return Panel(2.6, lambda axes: _draw(axes, value))


def _draw(axes: Any, value: Any) -> None:
    if hasattr(value, "runs"):
        total = max(len(value), 1)
        degrees, parts = _stairs(value.runs, total)
        band = [_stairs(runs, total) for runs in (value.low, value.high) if runs]
    else:
        total = value.nodes or 1
        degrees, parts = list(value.degrees), [count / total for count in value.at_most]
        band = [(degrees, [count / total for count in ends]) for ends in (value.low, value.high) if ends]
    for places, ends in band:
        axes.step(places, ends, where="post", color=COLORS[0], linewidth=0.7, alpha=0.6)
    axes.step(degrees, parts, where="post", color=COLORS[0], linewidth=1.5)
    axes.set_xscale("symlog", linthresh=_LINEAR_UP_TO)
    all_nodes = next((degree for degree, part in zip(degrees, parts, strict=True) if part >= 1), max([*degrees, 1]))
    axes.set_xlim(0, max(1, 1.3 * all_nodes))
    axes.set_ylim(0, 1)
    axes.set_ylabel("part of the nodes")
    axes.set_xlabel("edges at most" if not band else "edges at most; thin lines: the band")
    axes.grid(linewidth=0.4, alpha=0.5)


def _stairs(runs: Any, total: int) -> tuple[list[int], list[float]]:
    """Degrees, and the part of the nodes that have at most so many edges."""
    return [degree for degree, _ in runs], [count / total for count in accumulate(count for _, count in runs)]
