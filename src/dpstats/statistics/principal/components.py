"""Released principal components: directions in which columns vary together, from one noisy matrix of moments."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpstats.foundations.portable import OWN_DIGITS, rounded
from dpstats.foundations.results import Interval
from dpstats.foundations.tabular import Tabular
from dpstats.foundations.text_tables import counted, shortened
from dpstats.statistics.principal.decomposition import decompose
from dpstats.statistics.principal.noisy_moments import NoisyMoments
from dpstats.statistics.principal.shrinkage import Quality, quality_of, shrunk, strength
from dpstats.statistics.regression.points import Floats
from dpstats.statistics.regression.predictions import linear_predictors, rows_by_name

VARIES = 3.0
"""A column varies if its variance is more than so many deviations of its noise."""
DRAWN = 0.5
"""What rows that are drawn toward the middle may do to a correlation, over their part of all rows, as a standard deviation."""
_LONGEST_NAME = 24


@dataclass(frozen=True, eq=False)
class PrincipalComponents(Tabular):
    """The first principal components of some columns. All numbers but `quality` follow from `moments`."""

    names: tuple[str, ...]
    """The columns, as they were asked for."""
    components: tuple[tuple[float, ...], ...]
    """Each a direction of unit length: a loading for each column. The loading of largest magnitude is positive."""
    explained_variance: tuple[float, ...]
    """The variance of rows along each component, in standard units where columns were scaled."""
    explained_variance_ratio: tuple[float, ...]
    """The same as a share of the variance of all columns."""
    means: tuple[float, ...]
    scales: tuple[float, ...] | None
    """The standard deviation of each column, by which it was divided; None where columns were not scaled."""
    quality: Quality
    rows: int
    """About how many rows there are."""
    moments: NoisyMoments = field(repr=False)

    @property
    def has_names(self) -> bool:
        """Whether the columns have names of their own."""
        return all(self.names)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns, x1, x2, ... where they have none."""
        return tuple(name or f"x{place}" for place, name in enumerate(self.names, 1))

    def transform(self, data: Any) -> Floats:
        """The scores of rows, which are the caller's: how far they lie along each component. Nothing is spent."""
        return self.scores(rows_by_name(data, self.column_names, are_places=not self.has_names))

    def scores(self, rows: Floats) -> Floats:
        """The scores of rows by columns in the order of the fit."""
        with np.errstate(all="ignore"):
            standard = (rows - np.array(self.means)) / (1.0 if self.scales is None else np.array(self.scales))
        return np.column_stack([linear_predictors(standard, 0.0, component) for component in self.components])

    def inverse_transform(self, scores: Any) -> Floats:
        """The rows in the plane of the components that have these scores."""
        given = np.asarray(scores, dtype=np.float64)
        loadings = zip(*self.components, strict=True)
        standard = np.column_stack([linear_predictors(given, 0.0, column) for column in loadings])
        return np.asarray(standard * (1.0 if self.scales is None else np.array(self.scales)) + np.array(self.means))

    def __str__(self) -> str:
        count = len(self.components)
        explained = math.fsum(self.explained_variance_ratio)
        return f"{counted(count, 'component')} of {counted(len(self.names), 'column')} with {explained:.3g} of their variance"

    def loadings(self) -> tuple[tuple[str, float], ...]:
        """The loading of every column on every component, by name."""
        return tuple(
            (f"{name} on component {place}", loading)
            for place, component in enumerate(self.components, 1)
            for name, loading in zip(self.column_names, component, strict=True)
        )

    def table_columns(self) -> dict[str, list[Any]]:
        """The loadings as a table: a row for each column, with its loading on every component."""
        loadings = {f"component {place}": list(component) for place, component in enumerate(self.components, 1)}
        return {"column": list(self.column_names), **loadings}

    def named_values(self) -> tuple[tuple[str, float], ...]:
        """Shares of variance and loadings, by name."""
        shares = [(f"share of component {place}", share) for place, share in enumerate(self.explained_variance_ratio, 1)]
        return (*shares, *self.loadings())

    def summary(self, intervals: Sequence[Interval] = ()) -> str:
        """Loadings as a table of text, with the share of variance of each component. There are no intervals."""
        heads = ["", *(f"component {place}" for place in range(1, len(self.components) + 1))]
        columns = zip(self.column_names, zip(*self.components, strict=True), strict=True)
        lines = [heads, *([shortened(name, _LONGEST_NAME), *(f"{each:.3f}" for each in loadings)] for name, loadings in columns)]
        lines.append(["share of variance", *(f"{each:.3f}" for each in self.explained_variance_ratio)])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = [
            "  ".join(
                (str.rjust if place else str.ljust)(cell, width)
                for place, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([*table, quality_text(self.quality, len(self.components))])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "names": list(self.names),
            "components": [list(component) for component in self.components],
            "explained_variance": list(self.explained_variance),
            "explained_variance_ratio": list(self.explained_variance_ratio),
            "means": list(self.means),
            "scales": None if self.scales is None else list(self.scales),
            "quality": vars(self.quality),
            "rows": self.rows,
            "moments": self.moments.to_dict(),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> PrincipalComponents:
        """The components that `to_dict` made plain."""
        tuples = {name: tuple(plain[name]) for name in ("names", "explained_variance", "explained_variance_ratio", "means")}
        return cls(
            components=tuple(tuple(component) for component in plain["components"]),
            scales=None if plain["scales"] is None else tuple(plain["scales"]),
            quality=Quality(**plain["quality"]),
            rows=plain["rows"],
            moments=NoisyMoments.from_dict(plain["moments"]),
            **tuples,
        )

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.summary())}</pre>"


def quality_text(quality: Quality, components: int) -> str:
    """What the components are worth, in words."""
    which = "component" if components == 1 else counted(components, "component")
    return (
        f"{quality.share:.3f} of the variance that the best {which} would have; {quality.low:.3f} or more in 19 of 20 redraws of "
        f"noise and sampling; random ones: {quality.chance:.3f}"
    )


def still_columns(moments: NoisyMoments) -> list[int]:
    """The places of columns that vary no more than noise."""
    variances, noise = np.diag(moments.covariance), np.sqrt(np.diag(moments.noise))
    return np.flatnonzero(~(variances > VARIES * noise)).tolist()


@dataclass(frozen=True)
class FoundComponents:
    """Components, and what tells whether they are more than noise."""

    value: PrincipalComponents
    strength: float
    """How far correlations stand out of noise, in standard deviations."""
    gain: float
    """How far the components are on the way from random ones to the best, as noise alone leaves them."""


def components_of(names: Sequence[str], moments: NoisyMoments, components: int, scaled: bool) -> FoundComponents:
    """The first components of noisy moments, all of whose columns vary."""
    covariance, noise, diagonal = moments.covariance, moments.noise, np.eye(len(names)) > 0
    variances = np.diag(covariance)
    products = variances[:, None] * variances
    noisy = np.where(diagonal, 1.0, np.clip(covariance / np.sqrt(products), -1.0, 1.0))
    correlations, factors = shrunk(noisy, noise / products)
    own = np.diag(noise) / np.square(variances)
    of_noise = noise / products + np.square(correlations) / 4 * (own[:, None] + own)  # of noise in variances as well
    of_noise = np.where(diagonal, 0.0 if scaled else own, of_noise)
    others = np.square(1 - np.square(correlations)) * (1 / moments.noisy_rows + (DRAWN * moments.larger) ** 2)
    others = np.where(diagonal, 0.0 if scaled else 2 / moments.noisy_rows, others)
    spreads = np.sqrt(variances) * np.array(moments.scales)
    unit = 1.0 if scaled else float(np.max(spreads))
    stretch = np.ones(len(names)) if scaled else spreads / unit
    stretches = stretch[:, None] * stretch
    matrix = correlations * stretches
    values, vectors = decompose(matrix)
    held = np.maximum(values[:components], 0.0)
    told = min(components, len(names) - 1)  # all components together have all variance, whichever they are
    quality, by_noise = (
        quality_of(matrix, errors * np.square(stretches), factors, told) for errors in (of_noise + others, of_noise)
    )
    total = math.fsum(np.diag(matrix).tolist())
    means = np.array(moments.middles) + moments.means * np.array(moments.scales)
    found = PrincipalComponents(
        tuple(names),
        tuple(tuple(rounded(float(each), 1.0, OWN_DIGITS) for each in vector) for vector in vectors[:components]),
        _digits(held * unit**2),
        _digits(held / total),
        _digits(means),
        _digits(spreads) if scaled else None,
        quality,
        moments.noisy_rows,
        moments,
    )
    return FoundComponents(found, strength(noisy, noise / products), by_noise.gain)


def _digits(values: Floats) -> tuple[float, ...]:
    return tuple(rounded(float(value), float(value), OWN_DIGITS) for value in values)
