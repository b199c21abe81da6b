"""A maximum of a smooth function of a few parameters within their space, for functions of which nothing more is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.lazy_scipy import optimize
from dpstats.statistics.likelihood.coordinates import Coordinates

WORST = 1e30
"""Stands for a function that is no number, or minus infinity: line searches stumble over infinities."""
_STEP = 1e-3
_NEWTON_ROUNDS, _CLOSE = 8, 1e-6
_SIMPLEX, _TRIES = 0.05, 200

Function = Callable[[Floats], float]


@dataclass(frozen=True)
class Maximiser:
    """Takes Newton's steps from differences; where they do not settle, climbs by gradients, and ends by Newton's steps or by a
    simplex.

    The space is laid out in free coordinates, so that no step leaves it.
    """

    space: tuple[tuple[float, float], ...]
    minimize: Callable[..., Any]
    """scipy.optimize.minimize: a field, so that a process that is sent a maximiser has loaded it before its first block."""

    @cached_property
    def coordinates(self) -> Coordinates:
        """Free coordinates of the space."""
        return Coordinates(self.space)

    def maximum(self, function: Function, start: Floats) -> Floats:
        """Where the function, a mean over rows, is highest near the start; NaN where nothing was found."""

        def depth(free: Floats) -> float:
            value = -float(function(self.coordinates.held(free)))
            return value if value < WORST else WORST  # NaN is not below

        free = self.coordinates.free(np.asarray(start, dtype=np.float64))
        if not np.isfinite(free).all() or depth(free) >= WORST:
            return np.full(len(self.space), np.nan)
        settled = self._settled(depth, free)
        if settled is None:
            climbed = self._climbed(depth, self._climbed(depth, free))  # in units of where the first came to
            settled = self._settled(depth, climbed)
            if settled is None:  # at a kink a climb stops early, and says that it converged; how early depends on the processor
                settled = self._walked(depth, climbed)
        return self.coordinates.held(settled)

    def _units(self, free: Floats) -> Floats:
        """What a step is measured in: the size of a parameter without limits, else 1."""
        bounded = np.isfinite(np.array(self.space)).any(axis=1)
        return np.where(bounded | (free == 0), 1.0, np.abs(free))

    def _settled(self, depth: Function, free: Floats) -> Floats | None:
        """Where Newton's steps come to rest at a minimum that is not above the start; None where they do not."""
        first, units = depth(free), self._units(free)
        for _ in range(_NEWTON_ROUNDS):
            gradient, curvature = _differences(depth, free, _STEP * units)
            try:
                root = np.linalg.cholesky(curvature)
            except np.linalg.LinAlgError:
                return None
            step = -np.linalg.solve(root.T, np.linalg.solve(root, gradient))
            length = float(np.sqrt(np.square(root.T @ step).sum()))  # in standard deviations of one row
            if not length < 1.0:
                return None
            free, units = free + step, 1 / np.sqrt(np.diag(curvature))
            if length < _CLOSE:
                return free if depth(free) <= first else None
        return None

    def _climbed(self, depth: Function, free: Floats) -> Floats:
        """The point that gradient steps reach."""
        units = self._units(free)
        options = {"ftol": 1e-12, "gtol": 1e-7}
        climbed = self.minimize(lambda steps: depth(free + units * steps), 0 * free, method="L-BFGS-B", options=options)
        return free + units * climbed.x if climbed.fun <= depth(free) else free

    def _walked(self, depth: Function, free: Floats) -> Floats:
        """The point that a simplex search reaches, which needs no gradients."""
        simplex = free + _SIMPLEX * np.vstack([0 * free, np.diag(self._units(free))])
        options = {"initial_simplex": simplex, "xatol": 1e-6, "fatol": 1e-10, "maxiter": _TRIES * len(free)}
        return np.asarray(self.minimize(depth, free, method="Nelder-Mead", options=options).x)


def maximiser(space: tuple[tuple[float, float], ...]) -> Maximiser:
    """A maximiser in a space."""
    return Maximiser(space, optimize.minimize)


def _differences(depth: Function, free: Floats, steps: Floats) -> tuple[Floats, Floats]:
    """The gradient and the second derivatives by central differences."""
    size, here = len(free), depth(free)
    gradient, curvature = np.zeros(size), np.zeros((size, size))
    moves = np.diag(steps)
    ups, downs = [depth(free + move) for move in moves], [depth(free - move) for move in moves]
    for one in range(size):
        gradient[one] = (ups[one] - downs[one]) / (2 * steps[one])
        curvature[one, one] = (ups[one] - 2 * here + downs[one]) / steps[one] ** 2
        for other in range(one):
            both = depth(free + moves[one] + moves[other]) + depth(free - moves[one] - moves[other])
            mixed = both - ups[one] - downs[one] - ups[other] - downs[other] + 2 * here
            curvature[one, other] = curvature[other, one] = mixed / (2 * steps[one] * steps[other])
    return gradient, curvature
