"""Families that have scores, rows that are hard on them, and public parameters from ordinary to absurd."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.likelihood.bounded_scores import BoundedScores, Stand
from dpstats.statistics.likelihood.coordinates import Coordinates
from dpstats.statistics.likelihood.families import KNOWN, Options, RowKind, family_for
from dpstats.statistics.likelihood.public_rows import plain_parameters
from dpstats.statistics.likelihood.scipy_family import scipy_family

UGLY = (math.inf, -math.inf, 1e308, -1e308, 5e-324, 0.0, -1.0, 0.5, 1.0, 3.0, 7.5, 1e16, 2.0**53, 2.0**53 - 1, 1e-300, 1e15, 1e9)
COLUMNS = 3
FREE = (-300.0, -40.0, -5.0, 5.0, 40.0, 300.0)
"""Free coordinates of absurd parameters."""


@dataclass(frozen=True)
class Case:
    """A family of rows with so many columns."""

    family: Any
    columns: int = 1

    def __str__(self) -> str:
        return str(self.family.name)

    @property
    def theta(self) -> Floats:
        return plain_parameters(self.family.space, self.columns)

    def absurd(self) -> Iterator[Floats]:
        """Parameters close to the limits of the space, or far from them."""
        coordinates = Coordinates(self.family.space)
        unlimited = [math.isinf(low) and math.isinf(high) for low, high in self.family.space]
        for free in FREE:
            far = math.copysign(10.0 ** (abs(free) / 3), free)
            yield coordinates.held(np.where(unlimited, far, free))

    def rows(self, count: int, seed: int = 1) -> Floats:
        """Rows of a plain law, where it can be simulated, or plain numbers."""
        generator = np.random.default_rng(seed)
        if hasattr(self.family, "sample"):
            return np.asarray(self.family.sample(self.theta, count, generator))
        return np.column_stack([generator.normal(size=(count, self.columns - 1)), generator.integers(0, 2, count)])

    def ugly_rows(self) -> Floats:
        """Every ugly number, alone or among others."""
        if self.columns == 1:
            return np.array(UGLY)[:, None]
        rows = np.tile(self.rows(len(UGLY)), (self.columns, 1))
        for place in range(self.columns):
            rows[place * len(UGLY) : (place + 1) * len(UGLY), place] = UGLY
        return np.vstack([rows, np.tile(np.array(UGLY)[:, None], self.columns)])

    def scores(self, theta: Floats, bound: float = 2.0) -> Iterator[BoundedScores]:
        """Scores there: turned as steps would turn them, where they can, and by a plain and an absurd matrix."""
        size = len(theta)
        try:
            with np.errstate(all="ignore"):
                turned = Stand(self.family, Coordinates(self.family.space), theta).scores(bound)
        except (np.linalg.LinAlgError, ValueError):
            pass  # no step is taken from there
        else:
            yield turned
        for turn in (np.eye(size), np.full((size, size), 1e150)):
            yield BoundedScores(self.family, tuple(theta.tolist()), tuple(map(tuple, turn.tolist())), bound)


def _known(name: str) -> Case:
    columns = 1 if KNOWN[name].rows is RowKind.LINE else COLUMNS
    options = {"binomial": Options(trials=10), "normal_mixture": Options(components=2)}
    return Case(family_for(name, options.get(name, Options(columns))), columns)


NAMED = [_known(name) for name in KNOWN]
SCIPY = [
    Case(scipy_family("gumbel_r", workers=0)),
    Case(scipy_family("genextreme", workers=0)),
    Case(scipy_family("genextreme", {"f0": 0.1}, workers=0)),
    Case(scipy_family("weibull_min", {"f0": 2, "floc": 0}, workers=0)),
]
WITH_SCORES = [case for case in [*NAMED, *SCIPY] if hasattr(case.family, "scores")]
WITH_STATISTICS = [case for case in NAMED if hasattr(case.family, "statistics")]


def engine_sheet(rows: Floats) -> Floats:
    """Rows as an engine shows them: every column in one piece of memory that cannot be written to."""
    sheet = np.array(rows, order="F")
    sheet.setflags(write=False)
    return sheet
