"""A model's factors fitted to released tables by mirror descent.

The loss is the sum, over tables, of squared differences between counts of the model and released counts, each divided by twice
the variance of its noise. A step lowers the coefficients of every factor (see `smoothness`) by a multiple of the loss's
derivative with respect to its marginal, and goes on in the direction of the step before (Nesterov's momentum). A step that
raises the loss is taken back; then the momentum is dropped and steps become shorter.

Coefficients of tables of several columns are drawn towards 0, which means independence, as strongly as `prior_rows` rows would
draw them: cells about which the released tables say little do not follow the noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpstats.foundations.portable import Floats
from dpstats.statistics.synthetic.junction_tree import Columns
from dpstats.statistics.synthetic.propagation import Propagation
from dpstats.statistics.synthetic.smoothness import Smoothness

FIRST_STEP = 20.0
"""The length of the first step, where each table's weight is its share of all weights and counts are shares of the total."""
_GROWTH = 1.02
_SHORTEST_STEP = 1e-9
_PATIENCE = 25
_LEAST_GAIN = 1e-3
"""A fit ends when `_PATIENCE` steps together change the loss by less than this share of it."""


@dataclass(frozen=True)
class Fit:
    """Where a fit ended: the logarithms of factors, the length of the next step, the loss, and how many steps were tried."""

    exponents: Floats
    step: float
    loss: float
    tried: int


class Fitting:
    """The loss of factors on the tables of a propagation, which were measured as `shares` of the total with `weights`.

    `shares` holds all tables one after another, `weights` has one number for each: how much a squared share counts.
    """

    def __init__(
        self,
        propagation: Propagation,
        smoothness: Smoothness,
        shares: Floats,
        weights: Sequence[float],
        prior_rows: float = 0.0,
    ) -> None:
        self.propagation, self.smoothness, self.shares = propagation, smoothness, shares
        self._whole = sum(weights) or 1.0
        self._weights = np.repeat([weight / self._whole for weight in weights], propagation.lengths)
        pulls = [prior_rows / self._whole if len(table) > 1 else 0.0 for table in propagation.tables]
        self._pulls = np.repeat(pulls, propagation.lengths)

    def run(self, exponents: Floats, *, step: float, iterations: int) -> Fit:
        """Fit, beginning where the logarithms of factors are `exponents`; at most `iterations` steps are tried.

        The propagation is left at the result.
        """
        propagation = self.propagation
        coefficients = self._each_table(self.smoothness.gathered, exponents)
        while not propagation.run(self._spread(coefficients)):
            coefficients = coefficients * 0.5
        gradient, loss = self._slope(coefficients)
        marginals = propagation.marginals.copy()
        behind, pace, tried, losses = coefficients, 0, 0, [loss]
        while tried < iterations and step > _SHORTEST_STEP:
            reached = coefficients - step * gradient
            ahead = reached + (reached - behind) * (pace / (pace + 3.0))
            tried += 1
            downhill = propagation.run(self._spread(ahead))
            if downhill:
                next_gradient, next_loss = self._slope(ahead)
                moved = propagation.marginals - marginals
                moved *= next_gradient
                downhill = float(np.add.reduce(moved)) <= 0.0  # the loss is convex: it falls where its slope ahead points down
            if not downhill:
                step *= 0.5
                pace, behind = 0, coefficients
                continue
            behind, coefficients, gradient, loss = reached, ahead, next_gradient, next_loss
            marginals[:] = propagation.marginals
            pace, step = pace + 1, step * _GROWTH
            losses.append(loss)
            if len(losses) > _PATIENCE and abs(losses[-1 - _PATIENCE] - loss) <= _LEAST_GAIN * loss:
                break
        exponents = self._spread(coefficients)
        propagation.run(exponents)
        return Fit(exponents, step, loss * self._whole, tried)

    def _slope(self, coefficients: Floats) -> tuple[Floats, float]:
        """The derivative, with respect to marginals, of the loss with what draws coefficients to 0, and the loss alone."""
        differences = self.propagation.marginals - self.shares
        gradient = self._weights * differences
        differences *= gradient
        return gradient + self._pulls * coefficients, 0.5 * float(np.add.reduce(differences))

    def _spread(self, coefficients: Floats) -> Floats:
        return self._each_table(self.smoothness.spread, coefficients)

    def _each_table(self, function: Callable[[Columns, Floats], Floats], vector: Floats) -> Floats:
        """The function of each table in a vector that holds all, in another such vector."""
        result, sizes = np.empty_like(vector), self.propagation.tree.sizes
        for axes, place in zip(self.propagation.tables, self.propagation.places, strict=True):
            result[place] = function(axes, vector[place].reshape([sizes[column] for column in axes])).ravel()
        return result
