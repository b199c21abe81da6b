"""Thinning: how rows become fewer with their distance from the middle, as noisy numbers of rows in octaves of distance tell it.

By a law of thinning, the rows beyond r times a place are

    rows * exp(-index * (r**growth - 1) / growth),    rows * r**-index where growth is 0:

a power of the distance; or one that gets steeper with it, as an exponential tail does (growth 1) and a normal one (2); or less
steep (below 0), as where a few rows are of another kind. A grid of such laws is weighed by how well they fit the noisy
numbers. What rows may lose beyond a cut is a quantile over the weights: tails that the numbers cannot tell apart are allowed for.
Everything here is arithmetic on released numbers: no claim depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.portable import Floats, inner_product

OCTAVES = (-3, -2, -1, 0, 1, 2, 3)
"""Where the octaves of distance begin, as powers of 2 of the place."""
MISFIT = (0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1)
"""The part by which the rows in them may differ from the best law: no table follows one, least of all near its middle."""
ROWS = tuple(2.0 ** (step / 1.5) for step in range(-10, 11))
"""Rows beyond the place, in scales of the noise of one number."""
INDICES = tuple(2.0 ** (step / 6 - 1) for step in range(33))
GROWTHS = {-0.25: 0.5, 0.0: 1.0, 0.15: 1.0, 0.35: 1.0, 0.7: 1.0, 1.2: 1.0, 2.0: 1.0}
"""Growths, and the weight that each has beforehand."""
LEAST_INDEX = 1.0
"""Rows that thin out more slowly than by this power have no mean, which whoever asks for one supposes; where the index falls with
the distance, it is to be larger at the place."""
LAST_OCTAVE = 6
"""Laws are followed so many octaves beyond the place. Nobody can know what lies further out."""
ENDS = tuple(range(-4, 11))
"""The cuts that may be asked about: at 2**(end / 2) times the place."""
UNLIKELY = 12.0
"""Laws that miss the numbers by so many nats more than the best one are left out."""
_FINE = 8
_FIRST_INSIDE = OCTAVES.index(-1)


def place_of(end: int) -> float:
    """How far out a cut of `ENDS` lies, over the place."""
    return math.ldexp(1.0 if end % 2 == 0 else math.sqrt(2), end // 2)


@dataclass(frozen=True)
class Thinning:
    """The likely laws of a grid."""

    weights: Floats
    rows: Floats
    laws: NDArray[np.intp]

    def rows_in(self, octave: int) -> float:
        """About how many rows the laws expect in one of `OCTAVES`."""
        expected = self.rows * _shares()[self.laws, octave]
        return inner_product(self.weights, expected) / math.fsum(self.weights)

    def lost(self, end: int, power: int, quantile: float, apart: int = 0) -> float:
        """A quantile of what rows lose at a cut of `ENDS`, of a power of their distance; the place is the unit of distance.

        Rows from `apart` half octaves beyond the cut on, if any, lose the cut itself as well.
        """
        lost = self.rows * _lost_table(power)[self.laws, ENDS.index(end)]
        if apart:
            lost = lost + self.rows * place_of(end) ** power * _beyond_table(place_of(end + apart))[self.laws]
        order = np.argsort(lost, kind="stable")
        passed = np.cumsum(self.weights[order])
        return float(lost[order[int(np.searchsorted(passed, quantile * passed[-1]))]])


def thinning_of(noisy_rows: Sequence[float], scale: float) -> Thinning:
    """The laws that fit noisy numbers of rows in `OCTAVES`, which have Laplace noise of that scale."""
    shares, rows = _shares(), np.array(ROWS) * scale
    misses = np.zeros((len(rows), len(shares)))
    weights = np.tile(_law_weights(), (len(rows), 1))
    for octave in range(_first_octave(noisy_rows, scale), len(OCTAVES)):
        expected = rows[:, None] * shares[:, octave]
        deviation = np.sqrt(scale**2 + expected / 2 + (MISFIT[octave] * expected) ** 2)  # of noise, of sampling, and of the law
        misses += np.abs(noisy_rows[octave] - expected) / deviation
        weights *= scale / deviation
    least = float(misses.min())
    likely = np.flatnonzero(misses <= least + UNLIKELY)
    fits = [math.exp(least - miss) for miss in misses.ravel()[likely].tolist()]
    return Thinning(weights.ravel()[likely] * np.array(fits), rows[likely // len(shares)], likely % len(shares))


def _first_octave(noisy_rows: Sequence[float], scale: float) -> int:
    """The first octave that tells of the tail.

    Rows get sparser outward, so that an octave has at least half of the rows of the next one. Where it has fewer, rows keep to a
    few values, and the octaves further inside are as good as empty.
    """
    first = _FIRST_INSIDE
    while first > 0 and noisy_rows[first - 1] + scale >= noisy_rows[first] / 2:
        first -= 1
    return first


def _beyond(index: float, growth: float, place: float) -> float:
    """The rows beyond a place, over those beyond 1."""
    nats = math.log(place) if growth == 0 else (math.pow(place, growth) - 1) / growth
    return math.exp(-min(index * nats, 700.0))


@lru_cache
def _laws() -> list[tuple[float, float]]:
    """The indices and growths of the grid."""
    return [(index, growth) for growth in GROWTHS for index in INDICES if growth > 0 or index >= LEAST_INDEX - 2 * growth]


@lru_cache
def _law_weights() -> Floats:
    """What the laws weigh beforehand."""
    return np.array([GROWTHS[growth] for _, growth in _laws()])


@lru_cache
def _shares() -> Floats:
    """For each law the rows in each of `OCTAVES`, over those beyond the place."""
    return np.array([[_beyond(*law, 2.0**octave) - _beyond(*law, 2.0 ** (octave + 1)) for octave in OCTAVES] for law in _laws()])


@lru_cache
def _beyond_table(place: float) -> Floats:
    """For each law the rows beyond a place, over those beyond 1."""
    return np.array([_beyond(*law, place) for law in _laws()])


@lru_cache
def _lost_table(power: int) -> Floats:
    """For each law and each of `ENDS` what is lost at that cut, over the number of rows beyond the place."""
    steps = 2 * _FINE
    places = [2.0 ** (step / steps) for step in range(ENDS[0] * _FINE, LAST_OCTAVE * steps + 1)]
    widths = [far**power - near**power for near, far in pairwise(places)]
    table = []
    for law in _laws():
        beyond = [_beyond(*law, place) for place in places]
        lost = [(near + far) / 2 * width for (near, far), width in zip(pairwise(beyond), widths, strict=True)]
        table.append([math.fsum(lost[(end - ENDS[0]) * _FINE :]) for end in ENDS])
    return np.array(table)
