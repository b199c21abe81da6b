"""Curves: the half-width to expect of a question over many epsilons, from the stored tables, for a slider."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

from dpstats.curator.planning.plan_rows import Figures, amount_text, percent_text
from dpstats.curator.planning.planned_questions import PlannedQuestion
from dpstats.curator.planning.searches import CANDIDATES, repriced
from dpstats.curator.planning.simulations import SimulatedLine
from dpstats.curator.planning.stored_tables import StoredQuestion, StoredShape
from dpstats.foundations.picture import Picture, picture_or_file
from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.text_tables import headed_lines, table_lines

POINTS = 40
LEAST_EPSILON, LARGEST_PLANNED = Fraction(1, 100), Fraction(10)
"""From where to where a curve goes, where nothing else is said."""
_DIGITS = 3
_SHOWN = 9
"""Epsilons of which a printed curve has a column."""


@dataclass(frozen=True)
class CurveLine:
    """What to expect on tables of n rows of one shape, at each epsilon of a curve."""

    n: int
    shape: str
    half_widths: tuple[float | None, ...]
    """As in a plan, and rough where figures fall steeply; None where the stored tables have none, below the floor, and where the
    interval has no end."""
    reply_probabilities: tuple[float | None, ...]
    without_privacy: float | None
    """The half-width that is left where epsilon does not matter any more."""
    whole: float | None
    """What relative half-widths are shares of, on this shape; None where there is nothing to take shares of."""
    floor: float
    """The epsilon below which n rows are too few: fewer than half of the tables get a reply. 0 where there is no such epsilon in
    the stored tables."""


@dataclass(frozen=True, repr=False)
class EpsilonCurve:
    """The half-width to expect of a question over a grid of epsilons. Made without reading data; nothing is spent."""

    question: str
    method: str
    epsilons: tuple[Fraction, ...]
    """Ascending; what the asker pays."""
    lines: tuple[CurveLine, ...]
    shapes: tuple[tuple[str, str], ...]
    """The shapes by name, and what they are."""
    scale: str = "of the IQR"
    """What relative half-widths are shares of."""
    differs: Mapping[str, float] = field(default_factory=dict, hash=False)
    """By which share a figure was off at most, on nine of ten lines that were simulated again."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; the exact epsilons are texts."""
        return {
            "question": self.question,
            "method": self.method,
            "epsilons": list(map(float, self.epsilons)),
            "epsilons_exact": list(map(str, self.epsilons)),
            "lines": [{name: _listed(each) for name, each in asdict(line).items()} for line in self.lines],
            "shapes": [list(each) for each in self.shapes],
            "relative_half_width_unit": self.scale,
            "stored_tables_within": dict(self.differs),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> EpsilonCurve:
        """The curve that `to_dict` wrote, also after a way through JSON."""
        several = ("half_widths", "reply_probabilities")
        lines = [CurveLine(**{**line, **{name: tuple(line[name]) for name in several}}) for line in plain["lines"]]
        return cls(
            plain["question"],
            plain["method"],
            tuple(map(Fraction, plain["epsilons_exact"])),
            tuple(lines),
            tuple((name, summary) for name, summary in plain["shapes"]),
            plain["relative_half_width_unit"],
            dict(plain["stored_tables_within"]),
        )

    def __str__(self) -> str:
        step = max(1, math.ceil((len(self.epsilons) - 1) / (_SHOWN - 1)))
        places = sorted({*range(len(self.epsilons) - 1, -1, -step)})
        heading = [
            "rows",
            "shape",
            "too few below",
            *(f"at {decimal_text(self.epsilons[each])}" for each in places),
            "without privacy",
        ]
        cells = [
            [
                f"{line.n:,}",
                line.shape,
                amount_text(line.floor or None),
                *(self._width_text(line, line.half_widths[each]) for each in places),
                self._width_text(line, line.without_privacy),
            ]
            for line in self.lines
        ]
        unit = self.scale if self.is_relative else "in the unit of the answer"
        return "\n".join(
            [
                f"{self.question} by {self.method}: half-width {unit}, by epsilon",
                *(f"  {each}" for each in table_lines([heading, *cells], {1})),
                "",
                *headed_lines(self.shapes),
            ]
        )

    def __repr__(self) -> str:
        return f"EpsilonCurve({self.question}, {len(self.epsilons)} epsilons, {len(self.lines)} lines: print it)"

    @property
    def is_relative(self) -> bool:
        """Whether half-widths can be shown as shares on all lines."""
        return all(line.whole is not None for line in self.lines)

    def shown_width(self, line: CurveLine, width: float | None) -> float | None:
        """A half-width of a line as it is shown: as a share, or in the unit of the answer."""
        return width / line.whole if self.is_relative and width is not None and line.whole is not None else width

    def plot(self, path: str | Path | None = None) -> Picture | None:
        """Draw the curve into an .svg or .png file, or for a notebook; needs `dpstats[plots]`."""
        pictures = import_module("dpstats.curator.planning.curve_pictures")  # above this module, and loaded only to draw
        return picture_or_file(path, lambda target: pictures.plot_curve(target, self))

    def _width_text(self, line: CurveLine, width: float | None) -> str:
        shown = self.shown_width(line, width)
        return percent_text(shown) if self.is_relative else amount_text(shown)


def epsilon_grid(most: Fraction, points: int = POINTS) -> tuple[Fraction, ...]:
    """Epsilons of three digits in equal ratios from 0.01, or from a tenth of `most` where that is less, up to `most`."""
    last = _three_digits(most)
    first = LEAST_EPSILON if last >= 10 * LEAST_EPSILON else last / 10
    ratio = float(last / first)
    between = (Fraction(float(first) * ratio ** (place / (points - 1))) for place in range(1, points - 1))
    return tuple(sorted({_three_digits(first), *map(_three_digits, between), last}))


def stored_curve(planned: PlannedQuestion, text: str, epsilons: Sequence[Fraction]) -> EpsilonCurve | None:
    """The curve of a question by the stored tables; None where they do not have it, or a shape."""
    stored = planned.stored
    if stored is None or any(stored.on(shape) is None for shape in planned.shapes):
        return None
    row_epsilons = [float(planned.as_row(repriced(planned.question, each)).epsilon) for each in epsilons]
    ratio = float(epsilons[-1]) / row_epsilons[-1]
    return EpsilonCurve(
        text,
        stored.method,
        tuple(epsilons),
        tuple(_curve_line(stored, line, row_epsilons, ratio) for line in planned.lines),
        tuple((each.name, each.summary) for each in planned.shapes),
        stored.scale.value,
        dict(stored.differs),
    )


def _curve_line(stored: StoredQuestion, line: SimulatedLine, row_epsilons: Sequence[float], ratio: float) -> CurveLine:
    tables = stored.on(line.shape)
    assert tables is not None
    figures = [tables.at(line.rows, each, roughly=True) for each in row_epsilons]
    known = next((each for each in figures if each is not None), None)
    floor = _floor(tables, line.rows)
    return CurveLine(
        line.rows,
        line.shape.name,
        tuple(
            _finite(each.half_width) if each is not None and _mostly_replies(each) and epsilon >= floor else None
            for each, epsilon in zip(figures, row_epsilons, strict=True)
        ),
        tuple(None if each is None else each.reply_probability for each in figures),
        _without_privacy(known),
        stored.scale.amount(line.shape, line.truth),
        ratio * floor,
    )


def _floor(tables: StoredShape, rows: int) -> float:
    """The smallest epsilon of two digits, for a row, from which on half of the tables get a reply.

    0 where even the smallest that is known has that, or none.
    """
    missed, reached, is_known = -1, len(CANDIDATES), False
    while reached - missed > 1:
        tried = (missed + reached) // 2
        figures = tables.at(rows, float(CANDIDATES[tried]), roughly=True)
        if figures is not None and _mostly_replies(figures):
            reached = tried
        else:
            missed, is_known = tried, figures is not None
    return float(CANDIDATES[reached]) if is_known and reached < len(CANDIDATES) else 0.0


def _mostly_replies(figures: Figures) -> bool:
    return 2 * figures.reply_probability >= 1


def _without_privacy(known: Figures | None) -> float | None:
    return None if known is None else _finite(known.sampling_half_width)


def _finite(amount: float | None) -> float | None:
    return amount if amount is not None and math.isfinite(amount) else None


def _three_digits(amount: Fraction) -> Fraction:
    """Rounded down to three significant digits."""
    unit = Fraction(10) ** (math.floor(math.log10(amount)) - _DIGITS + 1)
    return amount // unit * unit


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
