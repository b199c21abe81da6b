"""Pictures as SVG text, to stand inside a page of HTML: nothing in them refers to anything outside."""

from __future__ import annotations

import html
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dpstats.foundations.errors import InvalidParameterError, MissingExtraError
from dpstats.foundations.text_tables import shortened
from dpstats.pictures.looks import COLORS
from dpstats.pictures.releases import Answered, plot_answers

_BEFORE = re.compile(r"^.*?(?=<svg\b)", re.DOTALL)
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_OWN_NAMES = re.compile(r'(\bid="|href="#|url\(#)')
_BAR, _GAP, _WIDTH, _NAMES, _NUMBERS = 13, 3, 460, 150, 70


def inline_svg(answer: Answered, name: str) -> str | None:
    """An answer as SVG text; None without matplotlib, or where it has too many parts for one picture.

    `name` is put before the ids in it, so that several pictures can stand on one page.
    """
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "answer.svg"
        try:
            plot_answers(target, [answer])
        except (MissingExtraError, InvalidParameterError):
            return None
        text = target.read_text(encoding="utf-8")
    text = _METADATA.sub("", _BEFORE.sub("", text, count=1))
    return _OWN_NAMES.sub(rf"\g<1>{name}-", text).strip()


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
