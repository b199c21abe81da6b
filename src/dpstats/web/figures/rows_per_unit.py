"""What rows per unit do to the error: one dot for each number of rows, and the chosen one with its number."""

from __future__ import annotations

from typing import Any

from dpstats.web.figures.scales import AxisScale, number_text
from dpstats.web.figures.svg import Drawing

TOP, BOTTOM, HEIGHT = 14.0, 180.0, 222.0
LEFT, RIGHT = 12.0, 96.0


def rows_per_unit_figure(values: dict[str, Any]) -> str:
    """The points of `error_by_rows`: half-widths in per cent over rows per unit, which stand equally far apart."""
    points = values["points"]
    shares = AxisScale(0.0, 108 * max(each["share"] for each in points))

    def across(place: int) -> float:
        return LEFT + 4 + (RIGHT - LEFT - 8) * place / max(1, len(points) - 1)

    def down(share: float) -> float:
        return 1 - 100 * share / shares.high

    drawing = Drawing()
    for tick in shares.ticks():
        height = TOP + (BOTTOM - TOP) * (1 - tick / shares.high)
        drawing.line("grid", (LEFT, RIGHT), (height, height))
        drawing.text(f"{number_text(tick)}%", LEFT - 1.5, height + 4, look="quiet", anchor="end")
    line = [(across(place), down(each["share"])) for place, each in enumerate(points)]
    drawing.shape("polyline", "curve", line, (TOP, BOTTOM))
    for place, each in enumerate(points):
        chosen, height = each["rows"] == values["chosen"], TOP + (BOTTOM - TOP) * down(each["share"])
        drawing.dot(across(place), height, 7.5 if chosen else 4)
        drawing.text(number_text(each["rows"]), across(place), BOTTOM + 18, look="strong" if chosen else "quiet", anchor="middle")
        if chosen:
            anchor = "start" if place < len(points) / 2 else "end"
            drawing.text(f"{100 * each['share']:.2g}%", across(place), height - 13, look="strong", anchor=anchor)
    drawing.text(values["axis"], (LEFT + RIGHT) / 2, HEIGHT - 4, look="quiet", anchor="middle")
    return drawing.svg(HEIGHT, values["sentence"])
