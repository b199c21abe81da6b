"""What earlier simulations found, kept in the package: a plan of a usual question on a usual shape is read off at once.

`stored_tables.json` (written by `make plan-tables`) has cells for questions, shapes, numbers of rows and epsilons. Between cells
a figure follows a power law. Lines of two sizes are read where epsilon * sqrt(n) is the same, because noise and sampling have the
same shares in the error there; where that leaves the cells, where epsilon * n is, because noise is nearly all of it then.
`differs` says how far the tables were from simulations between their cells. What is not in them is None here, and is simulated.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from itertools import pairwise
from typing import Any

from dpstats.curator.planning.plan_rows import BY_INTERVAL, Figures, Source
from dpstats.curator.planning.samples import FEW_ROWS
from dpstats.curator.planning.shapes import SHAPES, Shape
from dpstats.curator.planning.yardsticks import Scale, Yardstick
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.registry import Question

FILE = "stored_tables.json"
MOST_ROWS = 2_000_000
"""Larger tables were not compared with simulations."""
MOST_EPSILON = 20.0
_SAME_AS = {"quantile(0.5)": "median"}
_NEIGHBOURS = 4
"""Cells that a figure is read from, along one line: two on either side."""
_STEEP, _UNKNOWN = {"half_width": 4.0, "error_median": 6.0, "error_95": 8.0}, 1e3
"""Factors between neighbouring cells: steep, and so steep that nothing is known between them."""
FEW_NATS = 100
"""Rows times epsilon, for a row, below which answers are refused or lean on the prior, and change steeply."""
_FINE = 20.0
"""Whole and half numbers from here on are as good as any other."""

Steps = Sequence[float]
"""Figures of the cells of one line, by ascending epsilon."""


@dataclass(frozen=True)
class StoredLine:
    """The cells of one number of rows."""

    rows: int
    repeats: int
    sampling: tuple[float, float]
    """Without privacy: the typical error, and what 95% of the errors do not exceed."""
    log_epsilons: Steps
    columns: Mapping[str, Steps]

    @classmethod
    def of(cls, rows: str, stored: Mapping[str, Any]) -> StoredLine:
        """From JSON; a number that is missing is infinite."""
        repeats = stored["repeats"]
        columns = {name: [_number(each) for each in stored[name]] for name in _COLUMNS}
        columns["reply_probability"] = [replies / repeats for replies in stored["replies"]]
        typical, large = stored["sampling"]
        log_epsilons = [math.log(each) for each in stored["epsilons"]]
        return cls(int(rows), repeats, (_number(typical), _number(large)), log_epsilons, columns)

    def has(self, log_epsilon: float) -> bool:
        """Whether an epsilon is not below the cells; above them nothing changes any more."""
        return bool(self.log_epsilons) and log_epsilon >= self.log_epsilons[0] - 1e-9

    def near(self, log_epsilon: float) -> tuple[float, range]:
        """An epsilon within the cells, and the places of the cells around it."""
        places = self.log_epsilons
        held = min(max(log_epsilon, places[0]), places[-1])
        right = next((place for place, each in enumerate(places) if each >= held - 1e-9), len(places) - 1)
        if abs(places[right] - held) < 1e-9:
            return held, range(right, right + 1)
        return held, range(right - 1, right + 1)

    def read(self, name: str, log_epsilon: float) -> float:
        """A figure at an epsilon: a cubic through the logarithms of four cells, between its two neighbours."""
        values, places = self.columns[name], self.log_epsilons
        held, beside = self.near(log_epsilon)
        nearest = [values[place] for place in beside]
        if len(nearest) == 1 or math.inf in nearest:
            return max(nearest)
        share = (held - places[beside[0]]) / (places[beside[1]] - places[beside[0]])
        if name in _SHARES or 0 in nearest:
            return nearest[0] + share * (nearest[1] - nearest[0])
        around = [
            place
            for place in range(beside[0] - 1, beside[0] + _NEIGHBOURS - 1)
            if 0 <= place < len(places) and 0 < values[place] < math.inf
        ]
        cubic = _polynomial([places[each] for each in around], [math.log(values[each]) for each in around], held)
        low, high = sorted(map(math.log, nearest))
        return math.exp(min(max(cubic, low), high))


@dataclass(frozen=True)
class StoredShape:
    """The cells of one question on one shape."""

    yardstick: Yardstick
    lines: tuple[StoredLine, ...]

    def at(self, rows: int, epsilon: float, *, roughly: bool = False) -> Figures | None:
        """The figures for a number of rows and an epsilon, which need not be in a cell; None where they are too far from any.

        Where figures fall steeply from one cell to the next, figures between them are rough, and None too unless `roughly` is
        enough: an epsilon for a half-width is well known there. Noise is nearly all of the error there, and replies go by
        epsilon * n, so they are read where that is the same. Of large tables rough figures are better than to wait.
        """
        if not self.lines[0].rows <= rows <= MOST_ROWS or not 0 < epsilon <= MOST_EPSILON:
            return None
        places = self._places(rows, math.log(epsilon))
        if not places or not self._is_smooth(places, rows, epsilon):
            places = self._same_noise(rows, math.log(epsilon)) if roughly else []
        if not places:
            return None
        figures = {name: self._figure(name, places) for name in (*_COLUMNS, "reply_probability")}
        typical, large = (self._sampling(rows, part) for part in range(2))
        if places[0].only_noise:
            for name in _ERRORS:
                figures[name] = self._with_sampling(name, figures[name], places[0], typical if name == "error_median" else large)
        figures["error_95"] = max(figures["error_median"], figures["error_95"])
        repeats = sum(each.line.repeats * len(each.cells) for each in places)
        return Figures(
            repeats=repeats,
            half_width_of=BY_INTERVAL,
            sampling_error_median=typical,
            sampling_half_width=large,
            source=Source.STORED,
            **figures,
        )

    def _is_smooth(self, places: Sequence[_CellPlace], rows: int, epsilon: float) -> bool:
        """Whether figures differ little between the cells from which they are read, apart from what the number of rows does."""
        if places[0].line.rows == rows and len(places[0].cells) == 1:
            return True  # a cell itself
        if rows <= FEW_ROWS and rows * epsilon < FEW_NATS - 0.1:
            return False
        power = -0.5 if self.yardstick.grows else 0.5
        for name, steep in _STEEP.items():
            cells = [each.line.columns[name][place] * each.line.rows**power for each in places for place in each.cells]
            low, high = min(cells), max(cells)
            if low > 0 and (high == math.inf or high > low * (steep if rows <= FEW_ROWS else _UNKNOWN)):
                return False
        return True

    def _places(self, rows: int, log_epsilon: float) -> list[_CellPlace]:
        """Where figures are read: on the lines of fewer and of more rows, or on one of them alone."""
        lower = [line for line in self.lines if line.rows <= rows]
        upper = [line for line in self.lines if line.rows > rows]
        pair = [lower[-1], *upper[:1]] if lower[-1].rows < rows else [lower[-1]]
        same_shares = [_CellPlace(line, log_epsilon + math.log(rows / line.rows) / 2) for line in pair]
        if len(pair) == 2 and all(each.line.has(each.log_epsilon) for each in same_shares):
            first, last = same_shares
            return [first, replace(last, weight=math.log(rows / first.line.rows) / math.log(last.line.rows / first.line.rows))]
        for each in reversed(same_shares):
            if each.line.has(each.log_epsilon):
                return [replace(each, factor=self._sampling_ratio(rows, each.line.rows))]
        return self._same_noise(rows, log_epsilon, lower)

    def _same_noise(self, rows: int, log_epsilon: float, among: Sequence[StoredLine] | None = None) -> list[_CellPlace]:
        """Where epsilon * n is the same, on the line of the nearest number of rows that has it."""
        for line in sorted(self.lines if among is None else among, key=lambda each: abs(math.log(rows / each.rows))):
            place = log_epsilon + math.log(rows / line.rows)
            if line.has(place):
                return [_CellPlace(line, place, factor=rows / line.rows if self.yardstick.grows else 1.0, only_noise=True)]
        return []

    def _with_sampling(self, name: str, figure: float, place: _CellPlace, sampling: float) -> float:
        """A figure with the error of sampling as it is, in place of that on the line where it was read."""
        there = place.factor * place.line.sampling[0 if name == "error_median" else 1]
        noise = math.sqrt(max(figure - there, 0.0)) * math.sqrt(figure + there)  # a square might be too large for a float
        return math.hypot(noise, sampling) if 0 < figure < math.inf else figure

    def _sampling_ratio(self, rows: int, known: int) -> float:
        """How errors grow or shrink from one number of rows to another where noise keeps its share."""
        if rows == known:
            return 1.0
        before, after = self._sampling(known, 0), self._sampling(rows, 0)
        if before and after:
            return after / before
        return float((rows / known) ** (0.5 if self.yardstick.grows else -0.5))

    def _sampling(self, rows: int, part: int) -> float:
        """An error without privacy, by a power law between the nearest lines, or beyond the last two."""
        low, high = next(((low, high) for low, high in pairwise(self.lines) if rows <= high.rows), self.lines[-2:])
        first, last = low.sampling[part], high.sampling[part]
        share = math.log(rows / low.rows) / math.log(high.rows / low.rows)
        if first and last and math.inf not in (first, last):
            return math.exp(math.log(first) + share * (math.log(last) - math.log(first)))
        return _in_steps(first + min(share, 1.0) * (last - first), [first, last])

    def _figure(self, name: str, places: Sequence[_CellPlace]) -> float:
        """A figure from one line, or between two."""
        read = [each.line.read(name, each.log_epsilon) for each in places]
        if name in _SHARES:
            return _between(read, places[-1].weight)
        cells = [each.line.columns[name][place] for each in places for place in each.cells]
        if math.inf in read:
            return math.inf
        if 0 in read:
            return _in_steps(_between(read, places[-1].weight), cells)
        scaled = [math.log(each * place.factor) for each, place in zip(read, places, strict=True)]
        return _in_steps(math.exp(_between(scaled, places[-1].weight)), cells)


@dataclass(frozen=True)
class _CellPlace:
    """Where on a line a figure is read, and what is made of it."""

    line: StoredLine
    log_epsilon: float
    weight: float = 1.0
    """What the second of two lines counts."""
    factor: float = 1.0
    """What errors there are multiplied by."""
    only_noise: bool = False
    """Whether noise alone is the same there, and sampling is not."""

    @cached_property
    def cells(self) -> range:
        """The places of the cells around it."""
        return self.line.near(self.log_epsilon)[1]


@dataclass(frozen=True)
class StoredQuestion:
    """The tables of one question."""

    method: str
    scale: Scale
    differs: Mapping[str, float]
    """By which share a figure was off at most, on nine of ten lines that were simulated between the cells."""
    shapes: Mapping[str, StoredShape]

    def on(self, shape: Shape) -> StoredShape | None:
        """The tables on a shape; a shape of the caller's own has none, whatever its name."""
        return self.shapes.get(shape.name) if SHAPES.get(shape.name) is shape else None


@cache
def stored_tables() -> Mapping[str, StoredQuestion]:
    """The tables of this version by the text of their questions, read once."""
    read = json.loads(files(__package__).joinpath(FILE).read_text(encoding="utf-8"))
    return {text: _question(each) for text, each in read["questions"].items()}


def tables_for(question: Question) -> StoredQuestion | None:
    """The tables of a question about the rows; None where there are none: another method, level, relation, or a delta."""
    if question.neighbors is not Neighbors.ADD_REMOVE or question.delta:
        return None
    text = str(replace(question, columns=()))
    found = stored_tables().get(_SAME_AS.get(text, text))
    return found if found is not None and found.method == question.method.name else None


_COLUMNS = ("half_width", "coverage", "error_median", "error_95")
_ERRORS = ("half_width", "error_median", "error_95")
_SHARES = ("coverage", "reply_probability")


def _question(stored: Mapping[str, Any]) -> StoredQuestion:
    shapes = {name: _shape(each) for name, each in stored["shapes"].items()}
    return StoredQuestion(stored["method"], Scale(stored["scale"]), stored["differs"], shapes)


def _shape(stored: Mapping[str, Any]) -> StoredShape:
    value, rows = stored["value"], stored["rows"]
    lines = tuple(StoredLine.of(count, each) for count, each in stored["lines"].items())
    return StoredShape(Yardstick(tuple(value) if isinstance(value, list) else value, rows is not None, rows or 0), lines)


def _number(stored: float | None) -> float:
    return math.inf if stored is None else float(stored)


def _in_steps(figure: float, cells: Sequence[float]) -> float:
    """A figure between cells that are all small whole numbers, or halves of them, is one too: those of values with ties."""
    for step in (1.0, 0.5):
        if all(each <= _FINE and (each / step).is_integer() for each in cells):
            return math.floor(figure / step + 0.5) * step
    return figure


def _between(figures: Sequence[float], weight: float) -> float:
    """Between two figures, or the only one; the last has the weight."""
    return figures[0] + weight * (figures[-1] - figures[0])


def _polynomial(places: Sequence[float], values: Sequence[float], place: float) -> float:
    """The polynomial through some points, at a place."""
    return sum(
        value * math.prod((place - other) / (own - other) for other in places if other != own)
        for own, value in zip(places, values, strict=True)
    )
