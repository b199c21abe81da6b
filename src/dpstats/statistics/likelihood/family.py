"""A family of laws: what maximum likelihood must know of it.

Everything here is public but the rows. The estimate of a block of rows depends on that block's rows alone, to the last bit: loops
over blocks stop for each block by itself, or after a fixed number of rounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks


class Family(Protocol):
    """A law with a few parameters, of rows with one column or several."""

    @property
    def name(self) -> str:
        """What it is asked for by, such as "gamma"; with its options where it has some: "binomial(trials=10)"."""
        ...

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters, one for each number: ("shape", "scale")."""
        ...

    @property
    def space(self) -> tuple[tuple[float, float], ...]:
        """For each parameter the open range in which it makes sense: (0, inf)."""
        ...

    @property
    def bias_correction(self) -> str:
        """In a few words, how estimates of blocks are freed of bias, for the card."""
        ...

    def fit_blocks(self, raw_blocks: RowBlocks) -> Floats:
        """The bias-corrected maximum-likelihood estimate of each block: blocks by parameters; NaN in all where a block has
        none. Rows that cannot come from the family (a negative one of a gamma law) are left out of their block. Never raises and
        never warns, whatever the rows hold."""
        ...

    def shaped(self, values: Floats) -> Mapping[str, Any]:
        """The parameters as an analyst reads them, from one number for each: {"shape": 2.0, "scale": 3.0}; vectors and matrices
        as arrays."""
        ...


class SmoothFamily(Family, Protocol):
    """A family whose law can be worked with at any parameters: enough for scores, information and simulated rows."""

    def scores(self, raw_rows: Floats, theta: Floats) -> Floats:
        """The gradient of each row's log density by the parameters: rows by parameters; 0 for a row that cannot come from the
        family, or whose gradient is no number. What a row gets depends on that row alone."""
        ...

    def information(self, theta: Floats) -> Floats:
        """Fisher's information of one row: parameters by parameters."""
        ...

    def sample(self, theta: Floats, count: int, generator: np.random.Generator) -> Floats:
        """Simulated rows at public parameters: count by columns."""
        ...


class LineFamily(SmoothFamily, Protocol):
    """A smooth family of laws on the line, with a start from private quantiles."""

    def distribution(self, points: Floats, theta: Floats) -> Floats:
        """The share of rows at or below each point."""
        ...

    def guess(self, quantiles: Mapping[float, float]) -> Floats:
        """Rough parameters, always inside the space, from quantiles by their shares 0.25, 0.5 and 0.75, which may be absurd."""
        ...


class ExponentialFamily(Family, Protocol):
    """A family whose estimate follows from means of a few numbers of each row."""

    def statistics(self, raw_rows: Floats) -> Floats:
        """These numbers: rows by statistics; NaN for a row that cannot come from the family."""
        ...

    def solve(self, means: Floats) -> Floats:
        """The estimate at such means, which are noisy: the nearest parameters inside the space where none have these means."""
        ...
