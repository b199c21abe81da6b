"""Pictures as SVG text, to stand inside a page of HTML: nothing in them refers to anything outside."""

from __future__ import annotations

import html
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dpstats.foundations.errors import MissingExtraError
from dpstats.foundations.keys import labels_of
from dpstats.foundations.results import NoReply, Release, value_text
from dpstats.foundations.text_tables import shortened
from dpstats.pictures.looks import COLORS, Panel, as_written, figure_for
from dpstats.pictures.panels import drawn_panel, panel_of_groups
from dpstats.pictures.releases import MOST_PANELS, WIDTH, Answered

LONGEST_TITLE = 80
_TITLE = 0.2
_BEFORE = re.compile(r"^.*?(?=<svg\b)", re.DOTALL)
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_OWN_NAMES = re.compile(r'(\bid="|href="#|url\(#)')
_BAR, _GAP, _WIDTH, _NAMES, _NUMBERS = 13, 3, 460, 150, 70


def inline_svg(answer: Answered, name: str) -> str | None:
    """An answer as SVG text, without a title; None without matplotlib, or where there is nothing to draw, or too much.

    `name` is put before the ids in it, so that several pictures can stand on one page.
    """
    panels = _panels(answer)
    if not 0 < len(panels) <= MOST_PANELS:
        return None
    heights = [panel.height + (_TITLE if title else 0) for title, panel in panels]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "answer.svg"
        try:
            with figure_for(target, WIDTH, sum(heights)) as figure:
                every = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
                for axes, (title, panel) in zip(every, panels, strict=True):
                    panel.draw(axes)
                    axes.set_title(as_written(title), fontsize=8, loc="left")
        except MissingExtraError:
            return None
        text = target.read_text(encoding="utf-8")
    text = _METADATA.sub("", _BEFORE.sub("", text, count=1))
    return _OWN_NAMES.sub(rf"\g<1>{name}-", text).strip()


def _panels(answer: Answered) -> list[tuple[str, Panel]]:
    """What can be drawn of an answer; of groups one panel, or one for each, with its key, where values are more than a number."""
    if isinstance(answer, NoReply):
        return []
    if isinstance(answer, Release):
        panel = drawn_panel(answer)
        return [("", panel)] if panel else []
    if all(isinstance(reply, NoReply) for reply in answer.values()):
        return []
    if (together := panel_of_groups(answer)) is not None:
        return [("", together)]
    drawn = [(key, drawn_panel(reply)) for key, reply in answer.items() if isinstance(reply, Release)]
    return [(shortened(value_text(list(labels_of(key))), LONGEST_TITLE), panel) for key, panel in drawn if panel]


def bars_svg(title: str, names: Sequence[str], heights: Sequence[float]) -> str:
    """Named bars from top to bottom as SVG text, drawn without matplotlib; what is below 0 has no bar."""
    longest = max([*heights, 0]) or 1
    room = _WIDTH - _NAMES - _NUMBERS
    lines = []
    for place, (name, height) in enumerate(zip(names, heights, strict=True)):
        top = place * (_BAR + _GAP)
        width = room * max(height, 0) / longest
        middle = f"{top + _BAR - 3:d}"
        lines.append(f'<text x="{_NAMES - 6}" y="{middle}" text-anchor="end">{html.escape(shortened(name, 24))}</text>')
        lines.append(f'<rect x="{_NAMES}" y="{top}" width="{width:.1f}" height="{_BAR}" fill="{COLORS[0]}"/>')
        lines.append(f'<text x="{_NAMES + width + 4:.1f}" y="{middle}">{height:,.0f}</text>')
    tall = max(len(names) * (_BAR + _GAP), 1)
    shown = html.escape(title)
    head = (
        f'<svg viewBox="0 0 {_WIDTH} {tall}" width="{_WIDTH}" height="{tall}" role="img" font-size="11" font-family="sans-serif">'
    )
    return f"{head}<title>{shown}</title>{''.join(lines)}</svg>"
