"""Tables and laws that the tests of hypothesis tests share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]

SHAPES: dict[str, tuple[Draw, float, float]] = {
    "normal": (lambda g, n: g.normal(size=n), 0.0, 0.0),
    "skewed": (lambda g, n: g.exponential(size=n), 1.0, float(np.log(2))),
    "heavy-tailed": (lambda g, n: g.standard_t(3, size=n), 0.0, 0.0),
    "discrete": (lambda g, n: g.choice([1.0, 2.0, 3.0, 4.0, 5.0], size=n, p=[0.1, 0.2, 0.4, 0.2, 0.1]), 3.0, 3.0),
}
"""Each with its mean and its median."""
GROUPS = ("a", "b")


def two_groups(generator: np.random.Generator, rows: int, share: float = 0.5) -> NDArray[np.str_]:
    return np.where(generator.random(rows) < share, *GROUPS)


def most_rejections(repeats: int, level: float = 0.05) -> float:
    """A share of rejections that a test of this level exceeds with a chance of about 1 in 2,000."""
    return level + 3.3 * float(np.sqrt(level * (1 - level) / repeats))
