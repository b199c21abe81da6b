"""Released clusters: centres, sizes, how far off they may be, and to which of them new rows belong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.results import Interval, value_text
from dpstats.foundations.tabular import Tabular
from dpstats.foundations.text_tables import counted, free_name, html_named_table, ruled_table, shortened
from dpstats.statistics.regression.parameter_table import nested_floats
from dpstats.statistics.regression.predictions import rows_by_name

Numbers = NDArray[np.float64]

LONGEST_NAME = 16
_MOST_WRITTEN = 1e7
"""Larger numbers are written with an exponent."""
_OF_PRIVATE_ROWS = ("labels", "labels_", "inertia_of_rows")


@dataclass(frozen=True)
class Clusters(Tabular):
    """Clusters of rows as they were released. Everything in it comes from noisy numbers.

    Clusters stand in the order of their sizes, the largest first; lists have an entry for each cluster, and inside it one for
    each column.
    """

    names: tuple[str, ...]
    """The columns: their names, or x1, x2, ... where they have none."""
    centers: tuple[tuple[float, ...], ...]
    errors: tuple[tuple[float, ...], ...]
    """Standard errors of the centres, sampling and noise together."""
    sizes: tuple[float, ...]
    """Noisy numbers of rows, at least 1."""
    size_noise: float
    """The standard deviation of the noise in each."""
    rows: float
    """About how many rows there are in all."""
    scales: tuple[float, ...]
    """What distances are counted in, column by column."""
    inertia: float
    """The mean squared distance of rows from their centres, in these scales, of rows that are cut off far out."""
    explained: float
    """The share of the rows' variance that lies between clusters."""
    explained_error: float
    """The standard deviation of the noise in it."""
    weak: tuple[int, ...] = ()
    """Clusters whose size is not more than noise, by their places from 0: where these lie means nothing."""

    if not TYPE_CHECKING:  # a type checker is to know that these do not exist

        def __getattr__(self, name: str) -> Any:
            """Says why there is no such thing, where people look for it."""
            if name in _OF_PRIVATE_ROWS:
                raise AttributeError(
                    f"clusters have no {name}: that is a function of private rows. predict works on public rows."
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def distances(self, data: Any) -> Numbers:
        """How far new rows lie from each centre, rows by clusters, in the scales of the columns."""
        rows = rows_by_name(data, self.names, are_places=self.names == places(len(self.names)))
        return distances_from(rows, self.centers, self.scales)

    def predict(self, data: Any) -> NDArray[np.int64]:
        """To which cluster each of new rows belongs: the nearest, the first of several; -1 for a row with a missing cell."""
        distances = self.distances(data)
        missing = np.isnan(distances).any(axis=1)
        return np.where(missing, -1, np.argmin(np.where(np.isnan(distances), 0.0, distances), axis=1))

    def summary(self, intervals: Sequence[Interval] = ()) -> str:
        """The clusters as a table of text, with the intervals of their sizes where a release has them."""
        heads = ["", "rows", *(["interval"] if intervals else []), *(shortened(name, LONGEST_NAME) for name in self.names)]
        rows = [heads]
        for place, center in enumerate(self.centers):
            within = [f"{intervals[place].low:,.0f} to {intervals[place].high:,.0f}"] if intervals else []
            cells = [
                f"{digits_text(value, 4)} ({digits_text(error, 2)})"
                for value, error in zip(center, self.errors[place], strict=True)
            ]
            rows.append([self._name(place), f"{self.sizes[place]:,.0f}", *within, *cells])
        top = [f"Private clusters of {', '.join(self.names)}", *self._facts()]
        below = ["Centers, with standard errors in parentheses."]
        if self.weak:
            below.append(f"Not more than noise: {', '.join(self._name(place) for place in self.weak)}.")
        return "\n".join(ruled_table(top, rows, below))

    def table_columns(self) -> dict[str, list[float]]:
        """The clusters as a table: a row for each, with its noisy number of rows and its center."""
        centers = {name: [center[place] for center in self.centers] for place, name in enumerate(self.names)}
        return {free_name("rows", self.names): list(self.sizes), **centers}

    def place_text(self, place: int) -> str:
        """Where a cluster lies, in short."""
        return center_text(self.names, self.centers[place])

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Clusters:
        """The clusters that `to_dict` made plain."""
        kept = ("names", "weak")
        known: dict[str, Any] = {name: tuple(each) if name in kept else nested_floats(each) for name, each in plain.items()}
        return cls(**known)

    def __str__(self) -> str:
        sizes = ", ".join(f"{size:,.0f}" for size in self.sizes)
        return f"{counted(len(self.sizes), 'cluster')} of about {sizes} rows"

    def _repr_html_(self) -> str:
        heads = ["rows", *(value_text(name) for name in self.names)]
        rows = [
            [f"{size:,.0f}", *(digits_text(value, 4) for value in center)]
            for size, center in zip(self.sizes, self.centers, strict=True)
        ]
        names = [self._name(place) for place in range(len(rows))]
        return html_named_table("Private clusters", heads, names, rows)

    def _name(self, place: int) -> str:
        return f"cluster {place}"

    def _facts(self) -> list[str]:
        noise = f"{100 * self.explained:.1f}% of the variance lies between clusters (noise {100 * self.explained_error:.1f}%)"
        return [f"about {counted(self.rows, 'row')}; {noise}"]


def distances_from(rows: Numbers, centers: Sequence[Sequence[float]], scales: Sequence[float]) -> Numbers:
    """Distances of rows from centres, added up column by column, so that they are the same on every machine."""
    squares = np.zeros((len(rows), len(centers)))
    with np.errstate(over="ignore", invalid="ignore"):
        for place, scale in enumerate(scales):
            middle = np.array([center[place] for center in centers])
            squares += np.square((rows[:, [place]] - middle) / scale)
        return np.sqrt(squares)


def center_text(names: Sequence[str], center: Sequence[float]) -> str:
    """A centre for people, in short."""
    return ", ".join(f"{name} {digits_text(value, 3)}" for name, value in zip(names, center, strict=True))


def digits_text(value: float, digits: int) -> str:
    """A number to so many digits, with all of those before the point where these are few."""
    return f"{value:.0f}" if 10**digits <= abs(value) < _MOST_WRITTEN else f"{value:.{digits}g}"


def places(how_many: int) -> tuple[str, ...]:
    """Names of columns that have none."""
    return tuple(f"x{place + 1}" for place in range(how_many))


def names_of(columns: Sequence[str]) -> tuple[str, ...]:
    """The names of a question's columns; x1, x2, ... where they have none."""
    return tuple(name or place for name, place in zip(columns, places(len(columns)), strict=True))
