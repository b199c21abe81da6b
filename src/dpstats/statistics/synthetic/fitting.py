"""A model's factors fitted to released tables by mirror descent.

The loss is the sum, over tables, of squared differences between counts of the model and released counts, each divided by twice
the variance of its noise. A step lowers the logarithm of every factor by a multiple of the loss's derivative with respect to its
marginal, and goes on in the direction of the step before (Nesterov's momentum). Where a step does not lower the loss, it is
taken back, the momentum is dropped and steps become shorter, so the loss never rises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpstats.foundations.portable import Floats
from dpstats.statistics.synthetic.propagation import Propagation

FIRST_STEP = 20.0
"""The length of the first step, where each table's weight is its share of all weights and counts are shares of the total."""
_GROWTH = 1.02
_SHORTEST_STEP = 1e-9
_PATIENCE = 25
_LEAST_GAIN = 1e-3
"""A fit ends when `_PATIENCE` steps together lower the loss by less than this share of it."""


@dataclass(frozen=True)
class Fit:
    """Where a fit ended: the logarithms of factors, the length of the next step, the loss, and how many steps were tried."""

    exponents: Floats
    step: float
    loss: float
    tried: int


def fit(
    propagation: Propagation, start: Floats, shares: Floats, weights: Sequence[float], *, step: float, iterations: int
) -> Fit:
    """Fit factors to `shares`, which are counts over their total, one table of the propagation after another.

    `weights` has one number for each table. At most `iterations` steps are tried; the propagation is left at the result.
    """
    whole = sum(weights) or 1.0
    scaled = np.repeat(np.array([weight / whole for weight in weights]), propagation.lengths)
    exponents = _feasible(propagation, start)
    gradient, loss = _slope(propagation, shares, scaled)
    behind, pace, tried, losses = exponents, 0, 0, [loss]
    while tried < iterations and loss > 0.0 and step > _SHORTEST_STEP:
        reached = exponents - step * gradient
        ahead = reached + (reached - behind) * (pace / (pace + 3.0))
        tried += 1
        if propagation.run(ahead):
            next_gradient, next_loss = _slope(propagation, shares, scaled)
        else:
            next_loss = np.inf
        if next_loss > loss:
            step *= 0.5
            pace, behind = 0, exponents
            continue
        behind, exponents, gradient, loss = reached, ahead, next_gradient, next_loss
        pace, step = pace + 1, step * _GROWTH
        losses.append(loss)
        if len(losses) > _PATIENCE and losses[-1 - _PATIENCE] - loss < _LEAST_GAIN * loss:
            break
    propagation.run(exponents)
    return Fit(exponents, step, loss * whole, tried)


def _slope(propagation: Propagation, shares: Floats, weights: Floats) -> tuple[Floats, float]:
    """The loss's derivative with respect to marginals, and the loss."""
    differences = propagation.marginals - shares
    gradient = weights * differences
    differences *= gradient
    return gradient, 0.5 * float(np.add.reduce(differences))


def _feasible(propagation: Propagation, exponents: Floats) -> Floats:
    """The exponents, or as large a share of them (halved again and again) as has probabilities that are floats."""
    while not propagation.run(exponents):
        exponents = exponents * 0.5
    return exponents
