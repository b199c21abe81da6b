"""A released histogram: the bins, the noisy number of rows in each, and how far the noise may reach."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from dpstats.foundations.results import value_text
from dpstats.foundations.tabular import Tabular
from dpstats.foundations.text_tables import counted, shortened

OTHERS = "all others"
_LONGEST_NAME = 24
_SHADES, _ASCII = "█▓░", "#=-"
"""Surely rows, rows, perhaps rows."""


@dataclass(frozen=True)
class Histogram(Tabular):
    """Rows in bins. Of numbers the first and the last bin are open, so that every row is in one; of labels each has a bin.

    `edges` ascend, and a bin goes from an edge up to, but not including, the next one.
    """

    edges: tuple[float, ...]
    """Of numbers: where the bins meet; there is one bin more than edges."""
    labels: tuple[Any, ...]
    """Of labels: those that have a bin of their own."""
    noisy: tuple[int, ...]
    """Rows in each bin with the noise as it was drawn, perhaps negative; of listed labels the last one is for all others."""
    reach: int
    """How far the interval of each count goes to either side."""
    level: float | None
    """The confidence level of that, each bin taken by itself; None where no interval was asked for."""
    noise: float
    """The scale of the noise in each bin."""

    @property
    def counts(self) -> tuple[int, ...]:
        """Rows in each bin; a negative noisy count is shown as 0."""
        return tuple(max(0, count) for count in self.noisy)

    @property
    def low(self) -> tuple[int, ...]:
        """The lower ends of the intervals."""
        return tuple(max(0, count - self.reach) for count in self.noisy)

    @property
    def high(self) -> tuple[int, ...]:
        """The upper ends of the intervals."""
        return tuple(max(0, count + self.reach) for count in self.noisy)

    @property
    def rows(self) -> int:
        """Rows in all bins together, from the noise as it was drawn, which cancels out in part."""
        return max(0, sum(self.noisy))

    @property
    def shares(self) -> tuple[float, ...]:
        """Each bin's part of what is shown; zeros where nothing is."""
        shown = sum(self.counts)
        return tuple(count / shown if shown else 0.0 for count in self.counts)

    @property
    def names(self) -> tuple[str, ...]:
        """The bins in words."""
        if not self.edges:
            names = tuple(value_text(label) for label in self.labels)
            return names if len(names) == len(self.noisy) else (*names, OTHERS)
        texts = [value_text(edge) for edge in self.edges]
        between = (f"{low} to {high}" for low, high in pairwise(texts))
        return (f"below {texts[0]}", *between, f"{texts[-1]} and more")

    def table_columns(self) -> dict[str, list[Any]]:
        """The columns of the table, by name: a row for each bin, with its rows and the ends of their interval."""
        own = [label if isinstance(label, str) else name for label, name in zip(self.labels, self.names, strict=False)]
        ends = {} if self.level is None else {"low": list(self.low), "high": list(self.high)}
        return {"bin": [*own, *self.names[len(own) :]], "rows": list(self.counts), **ends}

    def __str__(self) -> str:
        bins = f"{counted(len(self.noisy), 'bin')}, about {counted(self.rows, 'row')}"
        if not self.noisy:
            return bins
        place = self.noisy.index(max(self.noisy))
        return f"{bins}; most in {self.names[place]}: {self.counts[place]:,}"

    def bars(self, width: int = 40, *, ascii_only: bool = False) -> str:
        """The histogram as lines of text: a bar for each bin, solid to the lower end of its interval, faint to the upper.

        With `ascii_only` it takes no character that an old terminal lacks.
        """
        names = [shortened(name, _LONGEST_NAME) for name in self.names]
        counts = [f"{count:,}" for count in self.counts]
        scale = width / (max(self.counts if self.level is None else self.high, default=0) or 1)
        left, right = max(map(len, names), default=0), max(map(len, counts), default=0)
        align, shades = str.rjust if self.edges else str.ljust, _ASCII if ascii_only else _SHADES
        lines = []
        for name, shown, count, low, high in zip(names, counts, self.counts, self.low, self.high, strict=True):
            ends = (count,) * 3 if self.level is None else (low, count, high)
            stretches = zip(shades, pairwise([0, *(round(end * scale) for end in ends)]), strict=True)
            bar = "".join(shade * (end - start) for shade, (start, end) in stretches)
            within = "" if self.level is None else f"  {low:,} to {high:,}"
            lines.append(f"{align(name, left)}  {shown.rjust(right)}  {bar.ljust(width)}{within}".rstrip())
        return "\n".join(lines)

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        names = ("edges", "labels", "names", "counts", "shares", "low", "high", "rows", "noisy", "reach", "level", "noise")
        values = {name: getattr(self, name) for name in names}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Histogram:
        """The histogram that `to_dict` made plain."""
        known = {name: tuple(plain[name]) for name in ("edges", "labels", "noisy")}
        return cls(**known, reach=plain["reach"], level=plain["level"], noise=plain["noise"])

    def _repr_html_(self) -> str:
        longest = max(self.counts, default=0) or 1
        rows = "".join(
            f'<tr><td style="text-align:left">{html.escape(name)}</td><td style="text-align:right">{count:,}</td>'
            f"<td>{'' if self.level is None else f'{low:,} to {high:,}'}</td>"
            f'<td style="text-align:left;min-width:12em"><div style="background:#0072B2;height:0.8em;'
            f'width:{100 * count / longest:.1f}%"></div></td></tr>'
            for name, count, low, high in zip(self.names, self.counts, self.low, self.high, strict=True)
        )
        within = "" if self.level is None else f"{100 * self.level:.10g}% interval"
        heads = "".join(f'<th scope="col">{head}</th>' for head in ("bin", "rows", within))
        return f"<table><thead><tr>{heads}<td></td></tr></thead><tbody>{rows}</tbody></table>"
