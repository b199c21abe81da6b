"""A released mixture of normal laws with independent columns: components, and what it says of new rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.portable import exponential
from dpstats.foundations.results import Interval, value_text
from dpstats.foundations.tabular import Tabular
from dpstats.foundations.text_tables import counted, free_name, html_named_table, ruled_table, shortened
from dpstats.statistics.clusters.clusters import LONGEST_NAME, center_text, digits_text, places
from dpstats.statistics.clusters.component_sums import log_weighted
from dpstats.statistics.likelihood.logarithms import log_of
from dpstats.statistics.regression.parameter_table import nested_floats
from dpstats.statistics.regression.predictions import rows_by_name

Numbers = NDArray[np.float64]

_LOG_TWO_PI = 1.8378770664093453


@dataclass(frozen=True)
class MixtureFit(Tabular):
    """A mixture as it was released. Everything in it comes from noisy numbers.

    Components stand in the order of their sizes, the largest first; lists have an entry for each, and inside it one for each
    column.
    """

    names: tuple[str, ...]
    """The columns: their names, or x1, x2, ... where they have none."""
    weights: tuple[float, ...]
    """They add up to 1."""
    means: tuple[tuple[float, ...], ...]
    variances: tuple[tuple[float, ...], ...]
    """Within components, column by column."""
    errors: tuple[tuple[float, ...], ...]
    """Standard errors of the means, sampling and noise together, for rows divided as they are."""
    sizes: tuple[float, ...]
    """Noisy numbers of rows, at least 1."""
    size_noise: float
    """The standard deviation of the noise in each."""
    rows: float
    """About how many rows there are in all."""
    weak: tuple[int, ...] = ()
    """Components whose size is not more than noise, by their places from 0."""

    def log_parts(self, rows: Numbers) -> Numbers:
        """The log of each weight times the density of its component, rows by components."""
        logs = log_weighted(rows, self.weights, np.array(self.means), np.array(self.variances))
        return np.asarray(logs - len(self.names) * _LOG_TWO_PI / 2)

    def score_samples(self, data: Any) -> Numbers:
        """The log of the density at each of new rows."""
        return log_totals(self.log_parts(self._rows(data)))[0]

    def predict_proba(self, data: Any) -> Numbers:
        """How likely each of new rows comes from each component, rows by components."""
        return log_totals(self.log_parts(self._rows(data)))[1]

    def predict(self, data: Any) -> NDArray[np.int64]:
        """The likeliest component of each of new rows, the first of several; -1 for a row with a missing cell."""
        logs = self.log_parts(self._rows(data))
        missing = np.isnan(logs).any(axis=1)
        return np.where(missing, -1, np.argmax(np.where(np.isnan(logs), 0.0, logs), axis=1))

    def summary(self, intervals: Sequence[Interval] = ()) -> str:
        """The components as a table of text: means with the standard deviations of their rows."""
        heads = [
            "",
            "weight",
            "rows",
            *(["interval"] if intervals else []),
            *(shortened(name, LONGEST_NAME) for name in self.names),
        ]
        table = [heads]
        for place, mean in enumerate(self.means):
            within = [f"{intervals[place].low:,.0f} to {intervals[place].high:,.0f}"] if intervals else []
            cells = [
                f"{digits_text(value, 4)} ({digits_text(math.sqrt(spread), 2)})"
                for value, spread in zip(mean, self.variances[place], strict=True)
            ]
            table.append([f"component {place}", f"{self.weights[place]:.3f}", f"{self.sizes[place]:,.0f}", *within, *cells])
        below = ["Means, with standard deviations of rows in parentheses."]
        if self.weak:
            below.append(f"Not more than noise: {', '.join(f'component {place}' for place in self.weak)}.")
        top = [f"Private mixture of normal laws of {', '.join(self.names)}", f"about {counted(self.rows, 'row')}"]
        return "\n".join(ruled_table(top, table, below))

    def table_columns(self) -> dict[str, list[float]]:
        """The components as a table: a row for each, with its weight, its noisy number of rows and its means."""
        means = {name: [mean[place] for mean in self.means] for place, name in enumerate(self.names)}
        weight, rows = (free_name(word, self.names) for word in ("weight", "rows"))
        return {weight: list(self.weights), rows: list(self.sizes), **means}

    def place_text(self, place: int) -> str:
        """Where a component lies, in short."""
        return center_text(self.names, self.means[place])

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> MixtureFit:
        """The mixture that `to_dict` made plain."""
        kept = ("names", "weak")
        known: dict[str, Any] = {name: tuple(each) if name in kept else nested_floats(each) for name, each in plain.items()}
        return cls(**known)

    def __str__(self) -> str:
        return f"{counted(len(self.weights), 'component')} with weights {', '.join(f'{weight:.3f}' for weight in self.weights)}"

    def _repr_html_(self) -> str:
        heads = ["weight", *(value_text(name) for name in self.names)]
        pairs = zip(self.weights, self.means, strict=True)
        rows = [[f"{weight:.3f}", *(digits_text(value, 4) for value in mean)] for weight, mean in pairs]
        return html_named_table("Private mixture", heads, [f"component {place}" for place in range(len(rows))], rows)

    def _rows(self, data: Any) -> Numbers:
        return rows_by_name(data, self.names, are_places=self.names == places(len(self.names)))


def log_totals(logs: Numbers) -> tuple[Numbers, Numbers]:
    """The logs of sums of what `logs` are the logarithms of, and the share of each in its sum; added up one by one."""
    with np.errstate(invalid="ignore"):
        best = logs.max(axis=1)
        odds = exponential(np.where(np.isnan(logs), -np.inf, logs - np.where(np.isfinite(best), best, 0.0)[:, None]))
    totals = odds[:, 0].copy()
    for place in range(1, odds.shape[1]):
        totals += odds[:, place]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = odds / totals[:, None]
        shares[np.isnan(best)] = np.nan
        return best + log_of(totals), shares
