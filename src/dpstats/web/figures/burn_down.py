"""The burn-down of a budget: what was spent over time, one step for each question, stacked by who asked."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from dpstats.web.figures.scales import AxisScale, number_text
from dpstats.web.figures.svg import Drawing

TOP, BOTTOM, HEIGHT = 12.0, 270.0, 300.0
LEFT, RIGHT = 9.0, 82.0
"""Per cent: room for numbers, and for names."""
SERIES = 6
"""Areas that look different; the last one is for all others."""
_LAST = 1.5
"""Per cent: how wide a step that was taken right now is."""
_LABEL = 17.0
_LONGEST = 12
Points = list[tuple[float, float]]


def burn_down_figure(values: dict[str, Any]) -> str:
    """The steps of `burn_down_values`: areas by person, below the line of the budget."""
    begin, end = (datetime.fromisoformat(values[each]) for each in ("begin", "end"))
    span = max((end - begin).total_seconds(), 1.0)
    most = max([each["limit"] for each in values["caps"]] + [values["spent"]]) or 1.0
    amounts = AxisScale(0.0, most * 1.04)

    def across(time: str) -> float:
        share = (datetime.fromisoformat(time) - begin).total_seconds() / span
        return LEFT + (RIGHT - _LAST - LEFT) * min(1.0, max(0.0, share))

    def down(amount: float) -> float:
        return 1 - amount / amounts.high

    drawing, frame = Drawing(), (TOP, BOTTOM)
    for tick in amounts.ticks():
        height = TOP + (BOTTOM - TOP) * down(tick)
        drawing.line("grid", (LEFT, RIGHT), (height, height))
        drawing.text(number_text(tick), LEFT - 1, height + 4, look="quiet", anchor="end")
    for place, (text, anchor) in enumerate(_times(begin, end)):
        drawing.text(text, LEFT + (RIGHT - LEFT) * place / 2, HEIGHT - 10, look="quiet", anchor=anchor)
    for place in reversed(range(len(values["people"]))):
        line = _steps([(across(each["time"]), down(sum(each["spent"][: place + 1]))) for each in values["points"]])
        if line:
            area = [(line[0][0], 1.0), *line, (RIGHT, line[-1][1]), (RIGHT, 1.0)]
            drawing.shape("polygon", f"series-{place}", area, frame)
    caps = _steps([(across(each["time"]), down(each["limit"])) for each in values["caps"]])
    drawing.shape("polyline", "cap", [*caps, (RIGHT, caps[-1][1])], frame)
    _name(drawing, values, down)
    return drawing.svg(HEIGHT, f"Spent over time: {values['spent_words']} of {values['budget_words']}, by who asked.")


def _steps(points: Points) -> Points:
    """A line that stays on its height until the next point."""
    steps: Points = []
    for x, y in points:
        if steps:
            steps.append((x, steps[-1][1]))
        steps.append((x, y))
    return steps


def _name(drawing: Drawing, values: dict[str, Any], down: Callable[[float], float]) -> None:
    """Names beside the ends of areas, with a patch of their colour; moved apart where they would cover each other."""
    wanted = [(down(values["caps"][-1]["limit"]), "budget", "")]
    if values["points"]:
        spent = values["points"][-1]["spent"]
        for place, name in enumerate(values["people"]):
            wanted.append((down(sum(spent[:place]) + spent[place] / 2), name, f"series-{place}"))
    places: list[float] = []
    for share, _, _ in (ordered := sorted(wanted)):
        places.append(max(TOP + (BOTTOM - TOP) * share, places[-1] + _LABEL if places else TOP))
    for number in reversed(range(len(places))):  # and up again from the bottom, where there is no more room
        lowest = BOTTOM if number == len(places) - 1 else places[number + 1] - _LABEL
        places[number] = min(places[number], lowest)
    for height, (_, name, look) in zip(places, ordered, strict=True):
        if look:
            drawing.rectangle(look, (RIGHT + 1.2, RIGHT + 2.6), (height - 4, height + 5), round=2)
        text = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"
        drawing.text(text, RIGHT + (3.4 if look else 1.2), height + 5, look="words" if look else "strong")


def _times(begin: datetime, end: datetime) -> list[tuple[str, str]]:
    """What stands below the beginning, the middle and the end."""
    form = "{0.day} {0:%b}" if end.year == begin.year else "{0:%b %Y}"
    if end - begin < timedelta(days=2):
        form = "{0:%H:%M}" if end - begin > timedelta(minutes=5) else "{0:%H:%M:%S}"
    middle = begin + (end - begin) / 2
    return [(form.format(each), anchor) for each, anchor in ((begin, "start"), (middle, "middle"), (end, "end"))]
