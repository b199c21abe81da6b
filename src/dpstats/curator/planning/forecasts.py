"""A plan: what to expect of a question, line by line for each number of rows and each shape of data."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

from dpstats.curator.planning.plan_rows import BY_ERRORS, BY_INTERVAL, Found, PlanRow, Source, amount_text, percent_text
from dpstats.foundations.picture import Picture, picture_or_file
from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.text_tables import headed_lines, html_table, table_lines

Columns = Mapping[str, Callable[[PlanRow], str]]
"""What a table shows of a row, by headings."""
NOTHING_SPENT = "No data was read and nothing was spent."


@dataclass(frozen=True, repr=False)
class Plan:
    """What to expect of a question, for each number of rows and each shape. Made without reading data; nothing is spent."""

    question: str
    rows: tuple[PlanRow, ...]
    shapes: tuple[tuple[str, str], ...]
    """The shapes by name, and what they are."""
    error_unit: str
    """What errors are counted in."""
    scale: str = "of the IQR"
    """What relative half-widths are shares of."""
    wanted: str = ""
    """The half-width for which the smallest epsilon was searched; empty where epsilon was given."""
    differs: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Of lines from stored tables: by which share a figure was off at most, on nine of ten lines that were simulated again."""

    def __str__(self) -> str:
        table = indented(table_lines([list(self.columns), *self.cells(self.columns)], LEFT))
        return "\n".join([self.title, *self.in_words(), "", *table, "", *headed_lines(self.shapes), "", self.small_print])

    def __repr__(self) -> str:
        return f"Plan({self.title}, {len(self.rows)} lines: print it)"

    @property
    def title(self) -> str:
        """The question with its cost and method, on one line."""
        first = self.rows[0]
        price = f"for a half-width of {self.wanted}" if self.wanted else str(first.cost)
        return f"{self.question} by {first.method}, {price}, neighbours: {first.cost.neighbors.value}"

    @property
    def epsilon(self) -> Fraction | None:
        """The epsilon that is enough on every line; None where a half-width that is wanted cannot be reached on some of them."""
        if any(row.found is Found.NONE for row in self.rows):
            return None
        return max(row.cost.epsilon for row in self.rows)

    @property
    def columns(self) -> Columns:
        """The columns of the table, by their headings."""
        return SEARCH_COLUMNS if self.wanted else COLUMNS

    @property
    def small_print(self) -> str:
        """How to read the table."""
        return (
            f"{NOTHING_SPENT} {source_note(self.rows, [self.differs])}Errors are {self.error_unit}, among "
            "replies,\nfrom the value of the shape itself, so they hold what sampling does; the last column is the typical "
            f"{'half-width' if self.wanted else 'error'} without privacy.\n{width_note(self.rows)}"
        )

    def in_words(self) -> list[str]:
        """A sentence for each number of rows, over all shapes, and one for each line that cannot be reached."""
        sizes = dict.fromkeys(row.n for row in self.rows)
        reached = {size: [row for row in self.rows if row.n == size and row.found is not Found.NONE] for size in sizes}
        missed = [row for row in self.rows if row.found is Found.NONE]
        return [
            *(f"  {_summary(rows, self.scale)}" for rows in reached.values() if rows),
            *(f"  {row.shape}, {row}" for row in missed),
        ]

    def to_dict(self) -> dict[str, object]:
        """Everything as plain values, ready for JSON."""
        return {
            "question": self.question,
            "error_unit": self.error_unit,
            "relative_half_width_unit": self.scale,
            "wanted_half_width": self.wanted or None,
            "shapes": dict(self.shapes),
            "stored_tables_within": dict(self.differs),
            "rows": [row.to_dict() for row in self.rows],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Plan:
        """The plan that `to_dict` wrote, also after a way through JSON: it prints, and is drawn, as the first one."""
        rows = tuple(map(PlanRow.from_dict, plain["rows"]))
        return cls(
            plain["question"],
            rows,
            tuple((name, plain["shapes"][name]) for name in dict.fromkeys(row.shape for row in rows)),
            plain["error_unit"],
            plain["relative_half_width_unit"],
            plain["wanted_half_width"] or "",
            dict(plain["stored_tables_within"]),
        )

    def plot(self, path: str | Path | None = None) -> Picture | None:
        """Draw the plan against the number of rows into an .svg or .png file, or for a notebook; needs `dpstats[plots]`.

        Reply probability and half-width; or the epsilon that a wanted half-width takes, and reply probability.
        """
        pictures = import_module("dpstats.curator.planning.pictures")  # above this module, and loaded only to draw
        height = pictures.Height.EPSILON if self.wanted else pictures.Height.HALF_WIDTH
        return picture_or_file(path, lambda target: pictures.plot_plans(target, {"": self}, height))

    def _repr_html_(self) -> str:
        table = html_table(self.title, list(self.columns), self.cells(self.columns), LEFT)
        return f"{table}<p>{html.escape(self.small_print)}</p>"

    def cells(self, columns: Columns, *, marked: bool | None = None) -> list[list[str]]:
        """The texts of a table, row by row; where it is `marked`, a star tells simulated lines from those of stored tables."""
        star = " *" if (is_mixed(self.rows) if marked is None else marked) else ""
        return [
            [show(row) + (star if name == "shape" and row.source is Source.SIMULATED else "") for name, show in columns.items()]
            for row in self.rows
        ]


def indented(lines: Sequence[str]) -> list[str]:
    """The lines, a little to the right."""
    return [f"  {line}" for line in lines]


def is_mixed(rows: Sequence[PlanRow]) -> bool:
    """Whether some lines were simulated, and others read off stored tables."""
    return len({row.source for row in rows}) > 1


def source_note(rows: Sequence[PlanRow], differences: Sequence[Mapping[str, float]]) -> str:
    """Where the figures of these rows come from, and how far off stored ones may be; ends where a sentence may follow."""
    simulated = [row.repeats for row in rows if row.source is Source.SIMULATED]
    if len(simulated) == len(rows):
        return f"{simulated[0]:,} simulated tables for each line. "
    width, typical, large = (
        percent_text(max((each[name] for each in differences if each), default=0.0))
        for name in ("half_width", "error_median", "error_95")
    )
    new = f"; lines with * are new, from {simulated[0]:,} simulated tables each.\n" if simulated else ". "
    return (
        "Figures are from stored tables of simulations; nine times in ten, new ones are within\n"
        f"{width} (half-width), {typical} (typical error) and {large} (95% within) of them{new}"
    )


def width_note(rows: Sequence[PlanRow]) -> str:
    """What half-widths are, of these rows."""
    released = "Half-widths are of released intervals: half of the replies have one that is at most so wide to either side."
    sources = {row.half_width_of for row in rows if row.half_width is not None}
    if sources <= {BY_INTERVAL}:
        return released
    without = "No interval is released here: the half-width is what 95% of the errors do not exceed."
    return (
        without if sources == {BY_ERRORS} else f"{released}\nWhere nothing is said of coverage, it is 95% of the errors instead."
    )


def _summary(rows: Sequence[PlanRow], scale: str) -> str:
    """One sentence on all shapes at one number of rows."""
    first = rows[0]
    if len(rows) == 1:
        share = "" if first.relative_half_width is None else f" ({percent_text(first.relative_half_width)} {scale})"
        return str(first).replace(", no reply", f"{share}, no reply", 1)
    epsilons = _range([float(row.cost.epsilon) for row in rows], [decimal_text(row.cost.epsilon) for row in rows])
    relative = [row.relative_half_width for row in rows if row.relative_half_width is not None]
    absolute = [row.half_width for row in rows if row.half_width is not None]
    width = ""
    if relative and len(relative) == len(absolute):
        width = f"half-width about {_range(relative, [percent_text(share) for share in relative])} {scale}, "
    elif absolute:
        width = f"half-width about {_range(absolute, [amount_text(each) for each in absolute])}, "
    silent = [1 - row.reply_probability for row in rows]
    no_reply = f"no reply {_range(silent, [percent_text(share) for share in silent])}"
    return f"at epsilon {epsilons}, about {first.n:,} rows: {width}{no_reply}"


def _range(amounts: Sequence[float], texts: Sequence[str]) -> str:
    """The texts of the smallest and the largest amount."""
    low, high = (texts[amounts.index(pick(amounts))] for pick in (min, max))
    return low if low == high else f"{low} to {high}"


def _reply(row: PlanRow) -> str:
    interval = row.reply_interval
    return f"{percent_text(row.reply_probability)} ({percent_text(interval.low)} to {percent_text(interval.high)})"


def _epsilon(row: PlanRow) -> str:
    mark = {Found.OR_LESS: "up to ", Found.NONE: "over "}.get(row.found, "")
    return f"{mark}{decimal_text(row.cost.epsilon)}"


LEFT = {1, 2}
"""Columns that stand to the left: texts."""
COLUMNS: Columns = {
    "rows": lambda row: f"{row.n:,}",
    "shape": lambda row: row.shape,
    "reply (95% interval)": _reply,
    "half-width": lambda row: amount_text(row.half_width),
    "covers": lambda row: percent_text(row.coverage),
    "typical error": lambda row: amount_text(row.error_median),
    "95% within": lambda row: amount_text(row.error_95),
    "of the IQR": lambda row: percent_text(row.relative_error_95),
    "without privacy": lambda row: amount_text(row.sampling_error_median),
}
_OF_A_SEARCH = ("rows", "shape", "reply (95% interval)", "epsilon", "half-width", "covers", "typical error", "without privacy")
_OTHERWISE = {"epsilon": _epsilon, "without privacy": lambda row: amount_text(row.sampling_half_width)}
SEARCH_COLUMNS = {name: {**COLUMNS, **_OTHERWISE}[name] for name in _OF_A_SEARCH}
