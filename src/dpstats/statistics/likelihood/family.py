"""A family of laws: what maximum likelihood must know of it, with the skeleton that families on the line fill in.

Everything here is public but the rows. The estimate of a block of rows depends on that block's rows alone, to the last bit: loops
over blocks stop for each block by itself, or after a fixed number of rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.likelihood.block_groups import Truths, kept_rows

Space = tuple[tuple[float, float], ...]


class Family(Protocol):
    """A law with a few parameters, of rows with one column or several."""

    @property
    def name(self) -> str:
        """What it is asked for by, such as "gamma"; with its options where it has some: "binomial(trials=10)"."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters, one for each number: ("shape", "scale")."""

    @property
    def space(self) -> Space:
        """For each parameter the open range in which it makes sense: (0, inf)."""

    @property
    def bias_correction(self) -> str:
        """In a few words, how estimates of blocks are freed of bias, for the card."""

    def fit_blocks(self, raw_blocks: RowBlocks) -> Floats:
        """The bias-corrected maximum-likelihood estimate of each block: blocks by parameters; NaN in all where a block has
        none. Rows that cannot come from the family (a negative one of a gamma law) are left out of their block. Never raises and
        never warns, whatever the rows hold."""

    def shaped(self, values: Floats) -> Mapping[str, Any]:
        """The parameters as an analyst reads them, from one number for each: {"shape": 2.0, "scale": 3.0}; vectors and matrices
        as arrays."""


class SmoothFamily(Family, Protocol):
    """A family whose law can be worked with at any parameters: enough for scores, information and simulated rows."""

    def scores(self, raw_rows: Floats, theta: Floats) -> Floats:
        """The gradient of each row's log density by the parameters: rows by parameters; 0 for a row that cannot come from the
        family, or whose gradient is no number. What a row gets depends on that row alone."""

    def information(self, theta: Floats) -> Floats:
        """Fisher's information of one row: parameters by parameters."""

    def sample(self, theta: Floats, count: int, generator: np.random.Generator) -> Floats:
        """Simulated rows at public parameters: count by columns."""


class LineFamily(SmoothFamily, Protocol):
    """A smooth family of laws on the line, with a start from private quantiles."""

    def distribution(self, points: Floats, theta: Floats) -> Floats:
        """The share of rows at or below each point."""

    def guess(self, quantiles: Mapping[float, float]) -> Floats:
        """Rough parameters, always inside the space, from quantiles by their shares 0.25, 0.5 and 0.75, which may be absurd."""


class ExponentialFamily(Family, Protocol):
    """A family whose estimate follows from means of a few numbers of each row."""

    def statistics(self, raw_rows: Floats) -> Floats:
        """These numbers: rows by statistics; NaN for a row that cannot come from the family."""

    def solve(self, means: Floats) -> Floats:
        """The estimate at such means, which are noisy: the nearest parameters inside the space where none have these means."""


class NamedParameters:
    """A family whose parameters are read one by one, each by its name."""

    def shaped(self: Family, values: Floats) -> Mapping[str, Any]:
        """Each parameter by its name."""
        return dict(zip(self.parameters, np.asarray(values, dtype=np.float64).tolist(), strict=True))


class LineLaw(NamedParameters):
    """A `Family` on the line by what is its own: the rows that it can have, and the estimates that it makes of blocks of them."""

    parameters: tuple[str, ...]
    space: Space

    def fit_blocks(self, raw_blocks: RowBlocks) -> Floats:
        """The estimate of each block; NaN in all parameters where it has none, or has one that is not inside the space."""
        raw_kept = self._possible(raw_blocks)
        with np.errstate(all="ignore"):
            raw_has_one, *raw_parameters = self._estimates(raw_kept, column_of(raw_kept.raw_rows))
            raw_estimates = np.stack(raw_parameters, axis=1)
            lows, highs = np.array(self.space).T
            raw_good = np.all((raw_estimates > lows) & (raw_estimates < highs), axis=1) & raw_has_one
        return np.where(raw_good[:, None], raw_estimates, np.nan)

    def _possible(self, raw_blocks: RowBlocks) -> RowBlocks:
        """The blocks without the rows that cannot come from the family."""
        return kept_rows(raw_blocks, self._inside(column_of(raw_blocks.raw_rows)))

    def _inside(self, raw_values: Floats) -> Truths:
        """Which rows can come from the family; positive and finite ones where it does not say otherwise."""
        return (raw_values > 0) & (raw_values < np.inf)

    def _estimates(self, raw_blocks: RowBlocks, raw_values: Floats) -> tuple[Any, ...]:
        """Whether a block has an estimate, and the estimates of each parameter, from rows that can come from the family."""
        raise NotImplementedError


class SmoothLaw(LineLaw):
    """A `LineLaw` that is a `SmoothFamily`, by its gradients."""

    def scores(self, raw_rows: Floats, theta: Floats) -> Floats:
        """The gradient of each row's log density; 0 for a row that cannot come from the family, or has no finite one."""
        raw_values = column_of(raw_rows)
        with np.errstate(all="ignore"):
            raw_scores = np.stack(self._gradients(raw_values, theta), axis=1)
        raw_good = np.isfinite(raw_scores).all(axis=1) & self._inside(raw_values)
        return np.where(raw_good[:, None], raw_scores, 0.0)

    def _gradients(self, raw_values: Floats, theta: Floats) -> tuple[Floats, ...]:
        """For each parameter the derivative of the log density of every row, whatever it is for rows that cannot be."""
        raise NotImplementedError


class ExponentialLaw(SmoothLaw):
    """A `SmoothLaw` that is an `ExponentialFamily`, by the numbers of each row whose means its estimate follows from."""

    def statistics(self, raw_rows: Floats) -> Floats:
        """These numbers: rows by statistics; NaN for a row that cannot come from the family."""
        raw_values = column_of(raw_rows)
        with np.errstate(all="ignore"):
            raw_numbers = np.stack(self._numbers(raw_values), axis=1)
        return np.where(self._inside(raw_values)[:, None], raw_numbers, np.nan)

    def _numbers(self, raw_values: Floats) -> tuple[Floats, ...]:
        """The statistics of every row, one after the other."""
        raise NotImplementedError


def column_of(raw_rows: Floats) -> Floats:
    """The one number of each row."""
    return np.ascontiguousarray(raw_rows if raw_rows.ndim == 1 else raw_rows[:, 0])
