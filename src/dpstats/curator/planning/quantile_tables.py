"""A shape from a few quantiles that are public: {0.1: 12_000, 0.5: 30_000, 0.9: 85_000}, as official tables print them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.rounding import exact_rational

_EXAMPLE = "such as {0.1: 12, 0.5: 30, 0.9: 95}"


@dataclass(frozen=True)
class QuantileTable:
    """A quantile function through known points: straight between them, and beyond the outermost ones as straight on."""

    places: tuple[float, ...]
    """Ascending, from 0 to 1; at least two."""
    values: tuple[float, ...]

    @classmethod
    def of(cls, given: Mapping[Any, Any]) -> QuantileTable:
        """From a mapping of quantiles to values, which may be numbers or text."""
        known = sorted(
            (_number(place, "a quantile"), _number(value, "the value at a quantile")) for place, value in given.items()
        )
        places, values = tuple(place for place, _ in known), tuple(value for _, value in known)
        if len(set(places)) < 2 or len(set(places)) < len(places):
            raise InvalidParameterError(f"a shape by its quantiles needs two different ones at least, each once, {_EXAMPLE}.")
        if places[0] < 0 or places[-1] > 1:
            raise InvalidParameterError(f"the quantiles of a shape lie between 0 and 1, {_EXAMPLE}.")
        if any(later < earlier for earlier, later in pairwise(values)):
            raise InvalidParameterError(f"the values of a shape never fall from one quantile to the next, {_EXAMPLE}.")
        return cls(places, values)

    def __call__(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values at places in (0, 1)."""
        places, values = np.array(self.places), np.array(self.values)
        segment = np.clip(np.searchsorted(places, q) - 1, 0, places.size - 2)
        share = (q - places[segment]) / (places[segment + 1] - places[segment])
        return np.asarray(values[segment] + share * (values[segment + 1] - values[segment]), dtype=np.float64)


def _number(given: object, name: str) -> float:
    try:
        return float(exact_rational(given, name))
    except OverflowError:
        raise InvalidParameterError(f"{name} of a shape must be a number of ordinary size.") from None
