"""Families of outcomes: what a row's outcome says about its linear predictor, with bounded pulls.

Claim      What a family makes of a row depends on that row's predictor and outcome alone, to the last bit; pulls lie within
           [-1, 1], curvatures within [0, `most_curved`]
Why        Pulls and curvatures are cut off last. Only sums, products, quotients, roots and powers of two are computed, which are
           exact to the last bit; the exponential function of a machine's library may not be, so there is one here
Numerics   Floats, cut off at the stated bounds; sums.py makes whole numbers of them
Source     links.proof.md; McCullagh & Nelder 1989; bounded pulls: Cantoni & Ronchetti 2001
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

STEEPEST_PREDICTOR = 30.0
ROOM = 0.25
"""Added to the mean of a count where it stands for its variance: a rare count has bounded pulls."""
_TERMS = [1 / math.factorial(power) for power in range(14, -1, -1)]
_LOG2 = 0.6931471805599453  # written out, so that it is the same wherever rows are
_LOG2_HIGH = 0.693147180369123816490  # its leading bits: their multiples are exact
_LOG2_LOW = _LOG2 - _LOG2_HIGH


class Pulls(NamedTuple):
    """What rows say."""

    raw_roots: Floats | None
    """By how much points are stretched; None where they are left as they are."""
    raw_pulls: Floats
    raw_curves: Floats
    """How much a pull gives way as the predictor follows it."""


@dataclass(frozen=True)
class StraightOutcomes:
    """Outcomes of any size, whose mean is linear: their likelihood is that of least squares."""

    centre: float
    """What is subtracted from every outcome."""

    def residuals(self, raw_predictors: Floats, raw_outcomes: Floats) -> Floats:
        """Outcomes less predictors."""
        with np.errstate(over="ignore"):
            return np.asarray(raw_outcomes - self.centre - raw_predictors)

    def curves(self, raw_predictors: Floats) -> Floats:
        """One for every row."""
        return np.ones_like(raw_predictors)


@dataclass(frozen=True)
class LogisticOutcomes:
    """Outcomes from 0 to 1; the log odds of 1 are linear."""

    most_curved: int = 2
    """One over the square root of the largest curvature."""
    pull: float = 1.0
    """What a pull of 1 is, where the curvature is 1."""
    unit: float = 1.0
    """Curvatures of the likelihood over those of bounded pulls."""

    def of(self, raw_predictors: Floats, raw_outcomes: Floats) -> Pulls:
        """Pulls are outcomes less probabilities."""
        raw_means = _chances(raw_predictors)
        return Pulls(None, _less_chances(raw_outcomes, raw_means), _chance_variances(raw_means))

    def residuals(self, raw_predictors: Floats, raw_outcomes: Floats) -> Floats:
        """Outcomes less probabilities."""
        return _less_chances(raw_outcomes, _chances(raw_predictors))

    def curves(self, raw_predictors: Floats) -> Floats:
        """The variances of the outcomes."""
        return _chance_variances(_chances(raw_predictors))


@dataclass(frozen=True)
class PoissonOutcomes:
    """Counts; the log of their mean is linear. Pulls are cut off at a number of standard deviations."""

    level: float
    """A typical mean."""
    cut: float
    most_curved: int = 1

    @property
    def pull(self) -> float:
        """What a pull of 1 is."""
        return self.cut / math.sqrt(self.unit)

    @property
    def unit(self) -> float:
        """Curvatures of the likelihood over those of bounded pulls."""
        return self.level + ROOM

    def of(self, raw_predictors: Floats, raw_outcomes: Floats) -> Pulls:
        """Pulls are outcomes less means, over about their standard deviations."""
        raw_means = exp_of(raw_predictors) * self.level
        raw_variances = raw_means + ROOM
        raw_deviations = np.sqrt(raw_variances)
        raw_pulls = (np.maximum(raw_outcomes, 0.0) - raw_means) / (raw_deviations * self.cut)
        raw_roots = raw_deviations / math.sqrt(self.unit)
        return Pulls(raw_roots, np.clip(raw_pulls, -1.0, 1.0), np.clip(raw_means / raw_variances, 0.0, 1.0))

    def residuals(self, raw_predictors: Floats, raw_outcomes: Floats) -> Floats:
        """Outcomes less means."""
        return np.asarray(np.maximum(raw_outcomes, 0.0) - self.curves(raw_predictors))

    def curves(self, raw_predictors: Floats) -> Floats:
        """The means, which are the variances too."""
        return exp_of(raw_predictors) * self.level

    def magnitudes(self, raw_predictors: Floats, raw_outcomes: Floats) -> Floats:
        """How many standard deviations outcomes are away from their means."""
        raw_means = exp_of(raw_predictors) * self.level
        with np.errstate(over="ignore"):  # a quotient beyond the largest float is infinite
            return np.asarray(np.abs(np.maximum(raw_outcomes, 0.0) - raw_means) / np.sqrt(raw_means + ROOM))


OutcomeFamily = LogisticOutcomes | PoissonOutcomes


def _chances(raw_predictors: Floats) -> Floats:
    """The probabilities whose log odds these are."""
    raw_likelier = 1.0 / (1.0 + exp_of(-np.abs(raw_predictors)))
    return np.where(raw_predictors >= 0, raw_likelier, 1.0 - raw_likelier)


def _less_chances(raw_outcomes: Floats, raw_means: Floats) -> Floats:
    return np.asarray(np.clip(np.clip(raw_outcomes, 0.0, 1.0) - raw_means, -1.0, 1.0))


def _chance_variances(raw_means: Floats) -> Floats:
    return np.asarray(np.clip(raw_means * (1.0 - raw_means), 0.0, 0.25))


def exp_of(raw_exponents: Floats, steepest: float = STEEPEST_PREDICTOR) -> Floats:
    """The exponential function by itself: the same number has the same result in every place of every array, on every machine.

    Exponents are clamped to [-steepest, steepest].
    """
    raw_held = np.clip(raw_exponents, -steepest, steepest)
    raw_twos = np.rint(raw_held * (1 / _LOG2))
    raw_rest = (raw_held - raw_twos * _LOG2_HIGH) - raw_twos * _LOG2_LOW
    raw_sums = np.full_like(raw_rest, _TERMS[0])
    for term in _TERMS[1:]:
        np.multiply(raw_sums, raw_rest, out=raw_sums)
        np.add(raw_sums, term, out=raw_sums)
    return np.asarray(np.ldexp(raw_sums, raw_twos.astype(np.int64)))
