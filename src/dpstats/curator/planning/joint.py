"""Several plans out of one budget: what each question gets of it, and what to expect of it then."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpstats.curator.planning.forecasts import (
    COLUMNS,
    NOTHING_SPENT,
    SEARCH_COLUMNS,
    Columns,
    Plan,
    indented,
    is_mixed,
    source_note,
    width_note,
)
from dpstats.curator.planning.plan_rows import Found, PlanRow, percent_text
from dpstats.foundations.picture import Picture, picture_or_file
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.text_tables import headed_lines, html_table, table_lines

_SHOWN = ("rows", "shape", "epsilon", "no reply", "half-width", "covers", "typical error", "without privacy")
_NO_REPLY: Columns = {"no reply": lambda row: percent_text(1 - row.reply_probability)}
_COLUMNS = {name: {**SEARCH_COLUMNS, **COLUMNS, **_NO_REPLY}[name] for name in _SHOWN}
_LEFT = {0, 2}


@dataclass(frozen=True, repr=False)
class JointPlan:
    """Plans for questions that are paid from one budget, in the order in which they were named."""

    plans: tuple[Plan, ...]

    def __iter__(self) -> Iterator[Plan]:
        return iter(self.plans)

    def __len__(self) -> int:
        return len(self.plans)

    def __getitem__(self, place: int) -> Plan:
        return self.plans[place]

    @property
    def total(self) -> PrivacyCost | None:
        """What all questions cost together, each on the line where it costs most; None where a half-width cannot be reached."""
        rows = [max(plan.rows, key=lambda row: row.cost.epsilon) for plan in self.plans]
        if any(row.found is Found.NONE for row in rows):
            return None
        first, *others = (row.cost for row in rows)
        return sum(others, first)

    @property
    def title(self) -> str:
        """How many questions there are, and what they cost together."""
        total, wanted = self.total, self.plans[0].wanted
        if wanted and total is None:
            return f"{len(self.plans)} questions: a half-width that is wanted cannot be reached at any epsilon that was tried"
        return f"{len(self.plans)} questions, {'together' if wanted else 'sharing'} {total}"

    def shares(self) -> list[str]:
        """For each question what it gets, and below it what to expect then."""
        lines = []
        for plan in self.plans:
            first, total, share = plan.rows[0], self.total, plan.title
            if total is not None and not plan.wanted:
                part = percent_text(float(first.cost.epsilon / total.epsilon))
                share = f"{plan.question} by {first.method}: {first.cost}, {part} of the total epsilon"
            lines += [share, *plan.in_words()]
        return lines

    def _cells(self) -> list[list[str]]:
        marked = is_mixed(self._rows())
        return [[plan.question, *cells] for plan in self.plans for cells in plan.cells(_COLUMNS, marked=marked)]

    def _rows(self) -> list[PlanRow]:
        return [row for plan in self.plans for row in plan.rows]

    def __str__(self) -> str:
        table = table_lines([["question", *_COLUMNS], *self._cells()], _LEFT)
        shapes = dict(shape for plan in self.plans for shape in plan.shapes)
        lines = [self.title, "", *indented(self.shares()), "", *indented(table), ""]
        return "\n".join([*lines, *headed_lines(shapes), "", self.small_print])

    def __repr__(self) -> str:
        return f"JointPlan({self.title}: print it)"

    @property
    def small_print(self) -> str:
        """How to read the table."""
        rows = self._rows()
        return (
            f"{NOTHING_SPENT} {source_note(rows, [plan.differs for plan in self.plans])}Errors and half-widths are in the unit\n"
            f"of each answer, among replies; the last column is the typical error without privacy.\n{width_note(rows)}"
        )

    def to_dict(self) -> dict[str, object]:
        """Everything as plain values, ready for JSON."""
        total = self.total
        return {"plans": [plan.to_dict() for plan in self.plans], "total": total.to_dict() if total else None}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> JointPlan:
        """The plans that `to_dict` wrote, also after a way through JSON."""
        return cls(tuple(map(Plan.from_dict, plain["plans"])))

    def plot(self, path: str | Path | None = None) -> Picture | None:
        """Draw all plans into one .svg or .png file, or for a notebook, as `Plan.plot` does one; needs `dpstats[plots]`."""
        from dpstats.curator.planning.pictures import Height, plot_plans

        labels = [plan.question for plan in self.plans]
        told_apart = [label if labels.count(label) == 1 else f"{label} ({place})" for place, label in enumerate(labels, start=1)]
        height = Height.EPSILON if self.plans[0].wanted else Height.HALF_WIDTH
        plans = dict(zip(told_apart, self.plans, strict=True))
        return picture_or_file(path, lambda target: plot_plans(target, plans, height))

    def _repr_html_(self) -> str:
        table = html_table(self.title, ["question", *_COLUMNS], self._cells(), _LEFT)
        return f"{table}<p>{html.escape(self.small_print)}</p>"
