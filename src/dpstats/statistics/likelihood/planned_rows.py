"""Rows of a family at plain parameters, on which a plan tries a fit: nobody's data is in them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.registry import Simulated
from dpstats.statistics.aggregation.row_blocks import Floats

POSITIVE = 2.0
APART = 10.0
"""Between unlimited parameters of a law on the line, such as the means of a mixture."""


def simulated_rows(family: Any, columns: int, rows: int, generator: np.random.Generator) -> Simulated:
    """Simulate `rows` rows of a family at plain parameters; an error where it cannot make rows."""
    if not hasattr(family, "sample"):
        raise InvalidParameterError(f"{family.name} cannot be planned, because no rows of it can be made up by themselves.")
    theta = plain_parameters(family.space, columns)
    shown = ", ".join(f"{name} {value:g}" for name, value in zip(family.parameters, theta.tolist(), strict=True))
    return Simulated(family.sample(theta, rows, generator), tuple(theta.tolist()), f"rows of {family.name} with {shown}")


def plain_parameters(space: tuple[tuple[float, float], ...], columns: int) -> Floats:
    """Parameters well inside their ranges: 0 where there is no limit, 2 away from a single one, and equal shares between two."""
    between = sum(math.isfinite(low) and math.isfinite(high) for low, high in space)
    theta, unlimited = [], 0
    for low, high in space:
        if math.isfinite(low) and math.isfinite(high):
            theta.append(low + (high - low) / (1 + between))
        elif math.isfinite(low) or math.isfinite(high):
            theta.append(low + POSITIVE if math.isfinite(low) else high - POSITIVE)
        else:
            theta.append(APART * unlimited if columns == 1 else 0.0)
            unlimited += 1
    return np.array(theta)
