"""Rows that are printed as a table, and handed to pandas or polars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from dpstats.foundations.errors import MissingExtraError
from dpstats.foundations.results import value_text
from dpstats.foundations.text_tables import counted, html_table, shortened, table_lines

_LONGEST = 60
"""Letters of a cell that is printed."""


class FrameRows:
    """Rows with the same headings."""

    def __init__(self, title: str, headings: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
        self._title = title
        self._headings = list(headings)
        self._rows = [dict(row) for row in rows]

    def to_frame(self) -> Any:
        """A data frame of pandas, or where that is not installed, of polars."""
        columns = {name: [row[name] for row in self._rows] for name in self._headings}
        for library in ("pandas", "polars"):
            if find_spec(library) is not None:
                return import_module(library).DataFrame(columns)
        raise MissingExtraError.about("a data frame needs polars, or pandas", "files")

    def __len__(self) -> int:
        return len(self._rows)

    def __str__(self) -> str:
        return "\n".join([self._title, *(f"  {line}" for line in table_lines([self._headings, *self._cells()]))])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._title}, {counted(len(self), 'row')}: print it)"

    def _repr_html_(self) -> str:
        return html_table(self._title, self._headings, self._cells(), range(len(self._headings)))

    def _cells(self) -> list[list[str]]:
        return [[_shown(row[name]) for name in self._headings] for row in self._rows]


def _shown(value: object) -> str:
    return "" if value is None else shortened(value_text(value), _LONGEST)
