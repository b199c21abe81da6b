"""Pictures of releases: a panel for each answer, with its question, its cost and what its intervals cover."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.grouped import GroupedRelease
from dpstats.foundations.results import NOT_PRIVATE, NoReply, Release
from dpstats.pictures.looks import Panel, as_written, figure_for
from dpstats.pictures.panels import panel_of, panel_of_groups

WIDTH = 6.4
MOST_PANELS = 48
_LOUD = "#c00000"
_LETTERS = 96
_WIDER = 9 / 8
"""Letters of a title beside each other, and how much wider those of names are."""

Answered = Release | NoReply | GroupedRelease


def plot_answers(path: str | Path, answers: Sequence[Answered]) -> None:
    """Draw answers into one .svg or .png file, one below the other.

    Needs matplotlib: pip install 'dpstats[plots]'.
    """
    panels = [(_wrapped(title, panel.margin), panel) for answer in answers for title, panel in _panels(answer)]
    if not panels:
        raise InvalidParameterError("there is nothing to draw.")
    if len(panels) > MOST_PANELS:
        raise InvalidParameterError(f"one picture holds {MOST_PANELS} answers at most, got {len(panels)}: draw some of them.")
    heights = [panel.height + 0.2 * title.count("\n") for title, panel in panels]
    with figure_for(path, WIDTH, sum(heights) + 0.4) as figure:
        every = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
        for axes, (title, panel) in zip(every, panels, strict=True):
            panel.draw(axes)
            axes.set_title(as_written(title), fontsize=8, loc="left")
        if not all(answer.private for answer in answers):
            figure.suptitle(NOT_PRIVATE, fontsize=9, color=_LOUD, x=0.01, horizontalalignment="left")


def _panels(answer: Answered) -> list[tuple[str, Panel]]:
    """The panels of an answer with their titles; of groups one for all, or one for each where values are more than a number."""
    if not isinstance(answer, GroupedRelease):
        return [(_title(answer), panel_of(answer))]
    together = panel_of_groups(answer)
    if together is not None:
        replies = [reply for reply in answer.values() if isinstance(reply, Release) and reply.interval]
        level = f"; lines: {100 * replies[0].interval.level:.10g}% intervals" if replies and replies[0].interval else ""
        return [(f"{answer.question}\ncost {answer.cost}, for all groups together{level}", together)]
    return [(_title(reply), panel_of(reply)) for reply in answer.values()]


def _title(answer: Release | NoReply) -> str:
    lines = [answer.question, f"cost {answer.cost}"]
    if isinstance(answer, Release) and (first := answer.interval or next(iter(answer.intervals), None)):
        lines.append(f"{100 * first.level:.10g}% interval covers {first.covers}")
    return "\n".join(lines)


def _wrapped(title: str, margin: int) -> str:
    """A title in lines that end with the picture, where names take `margin` letters before it begins."""
    letters = _LETTERS - math.ceil(_WIDER * margin)
    return "\n".join(part for line in title.split("\n") for part in textwrap.wrap(line, letters))
