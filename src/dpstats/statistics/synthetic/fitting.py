"""A model's factors fitted to released tables by mirror descent.

The loss is the sum, over tables, of squared differences between counts of the model and released counts, each divided by twice
the variance of its noise. A step lowers the coefficients of every factor (see `smoothness`) by a multiple of the loss's
derivative with respect to its marginal, and goes on in the direction of the step before (Nesterov's momentum). A step that
raises the loss is taken back; then the momentum is dropped and steps become shorter.

Where columns interact, coefficients are drawn towards 0, which means independence, as strongly as `prior_rows` rows of their
table would draw them (see `independence`): tables that say little do not make the model follow their noise.
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

    `shares` holds all tables one after another, `weights` has one number for each: how much a squared share counts; so does
    `prior_rows`, unless it is empty.
    """

    def __init__(
        self,
        propagation: Propagation,
        smoothness: Smoothness,
        shares: Floats,
        weights: Sequence[float],
        prior_rows: Sequence[float] = (),
    ) -> None:
        self.propagation, self.smoothness, self.shares = propagation, smoothness, shares
        self._whole = sum(weights) or 1.0
        self._weights = np.repeat([weight / self._whole for weight in weights], propagation.lengths)
        self._pull = np.repeat([rows / self._whole for rows in prior_rows], propagation.lengths) if any(prior_rows) else None
        self._interactions = Interactions(propagation)

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
        if self._pull is not None:
            gradient += self._pull * self._interactions.of(coefficients)
        return gradient, 0.5 * float(np.add.reduce(differences))

    def _spread(self, coefficients: Floats) -> Floats:
        return self._each_table(self.smoothness.spread, coefficients)

    def _each_table(self, function: Callable[[Columns, Floats], Floats], vector: Floats) -> Floats:
        """The function of each table in a vector that holds all, in another such vector."""
        result, sizes = np.empty_like(vector), self.propagation.tree.sizes
        for axes, place in zip(self.propagation.tables, self.propagation.places, strict=True):
            result[place] = function(axes, vector[place].reshape([sizes[column] for column in axes])).ravel()
        return result


class Interactions:
    """What is left of tables of several columns without a mean for each level of each column; nothing of tables of one."""

    def __init__(self, propagation: Propagation) -> None:
        sizes, cells = propagation.tree.sizes, propagation.cells
        most = max(map(len, propagation.tables), default=0)
        self._several = np.zeros(cells)
        self._levels = [np.zeros(cells, dtype=np.int64) for _ in range(most)]  # 0 for cells of tables without such an axis
        number = 1
        for axes, place in zip(propagation.tables, propagation.places, strict=True):
            if len(axes) < 2:
                continue
            self._several[place] = 1.0
            for levels, places in zip(self._levels, np.indices([sizes[column] for column in axes]), strict=False):
                levels[place] = number + places.ravel()
                number += int(places.max()) + 1
        self._counts = [np.maximum(np.bincount(levels), 1) for levels in self._levels]

    def of(self, coefficients: Floats) -> Floats:
        """The coefficients without means of levels, taken off one axis after another."""
        left = coefficients * self._several
        for levels, counts in zip(self._levels, self._counts, strict=True):
            means = np.bincount(levels, weights=left) / counts
            means[0] = 0.0
            left -= means.take(levels)
        return left
