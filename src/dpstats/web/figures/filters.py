"""Figures for templates: each takes the plain values of a page, and gives SVG that stands in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup

from dpstats.web.figures.burn_down import burn_down_figure
from dpstats.web.figures.rows_per_unit import rows_per_unit_figure
from dpstats.web.figures.spent_bar import spent_bar


def _bar(standing: dict[str, Any]) -> Markup:
    """How much of a budget is spent."""
    return Markup(spent_bar(standing["share"], [], f"{standing['spent']} spent of {standing['budget']}"))


FIGURES: Mapping[str, Callable[..., Markup]] = {
    "burn_down": lambda values: Markup(burn_down_figure(values)),
    "rows_per_unit": lambda values: Markup(rows_per_unit_figure(values)),
    "spent_bar": _bar,
}
"""By the names that templates have for them; all texts in them are escaped by `Drawing`."""
