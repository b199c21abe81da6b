"""The bar of a budget: how much of it is spent, with a tick for each release."""

from __future__ import annotations

from collections.abc import Sequence

from dpstats.web.figures.svg import Drawing


def spent_bar(spent: float, ticks: Sequence[tuple[float, str]], words: str) -> str:
    """`spent` is a part of 1, and so is the place of each tick, which has a name."""
    drawing = Drawing()
    drawing.rectangle("rest", (0, 100), (6, 26), round=6)
    if spent > 0:
        drawing.rectangle("mark", (0, 100 * min(spent, 1.0)), (6, 26), round=6)
    for place, name in ticks:
        across = min(max(100 * place, 0.2), 99.8)
        drawing.rectangle("tick-mark", (across - 0.15, across + 0.15), (0, 32), about=name)
    return drawing.svg(32, words)
