"""Broken twins: each makes one known mistake, so that a privacy test which passes the real mechanism must refute it.

Never use anything from here on data. Each docstring names the mistake and, where it has one, its origin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.rounding import log_bounds
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.mechanisms.grid import Grid
from dpstats.mechanisms.noisy_max import UNITS
from dpstats.mechanisms.sparse_vector import noise_scales


def float_coin(probability: float, word: int) -> bool:
    """A coin from a 53-bit word, as `random() < p` tosses it. Mistake: probabilities below 2**-53 become 2**-53."""
    return word / 2**53 < probability


def float_laplace(value: float, scale: float, uniform: float) -> float:
    """Textbook Laplace in floats, from a uniform in (-1/2, 1/2). Mistake: the floats it can reach depend on the value.

    Mironov 2012: many outputs are possible under one neighbour only, so one look can tell the two apart.
    """
    return value - scale * math.copysign(1.0, uniform) * math.log1p(-2 * abs(uniform))


def thin_laplace_scale(units: Fraction, epsilon: Fraction) -> Fraction:
    """Mistake: nine tenths of the noise that the claim needs."""
    return Fraction(9, 10) * units / epsilon


def unrounded_l1_units(sensitivity: Fraction, grid: Grid, coordinates: int) -> Fraction:
    """Mistake: the sensitivity in grid units as if rounding every coordinate could not lengthen the move."""
    return Fraction(max(1, sensitivity // grid.spacing))


def half_even_units(raw: Fraction, spacing: Fraction) -> int:
    """Mistake: halves go to the even neighbour, so a move of exactly one unit can become two (0.5 -> 0, 1.5 -> 2)."""
    return round(raw / spacing)


def half_noise_max_scale(epsilon: Fraction, monotonic: bool) -> Fraction:
    """Mistake: noise for one moving score, although the winner's score and its rivals' can move apart."""
    return UNITS / epsilon


def short_gaussian_variance(squared_units: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Mistake: sigma = sensitivity * sqrt(ln(1/delta)) / epsilon, the textbook formula without its factor 2."""
    return squared_units * -log_bounds(delta)[1] / epsilon**2


def borrowed_odds(epsilon: float, categories: int) -> list[float]:
    """Mistake: the truth with probability e**epsilon / (1 + e**epsilon), right for two categories, whatever their number.

    The law of the response of somebody in category 0.
    """
    truth = 1 / (1 + math.exp(-epsilon))
    return [truth] + [(1 - truth) / (categories - 1)] * (categories - 1)


class QuietThreshold:
    """AboveThreshold, in grid units. Mistake: the threshold gets no noise, so that every "below" costs something.

    Its answers' noise has the right scale; `noise_scales` says what the laws need: a threshold scale of 0.
    """

    threshold_is_noisy = False

    def __init__(self, threshold: int, epsilon: Fraction, rng: RandomSource) -> None:
        threshold_scale, self._answer_scale = noise_scales(epsilon, False)
        noise = int(sample_discrete_laplace(threshold_scale, 1, rng)[0]) if self.threshold_is_noisy else 0
        self._noisy_threshold = threshold + noise
        self._rng = rng

    def ask(self, raw_answer: int) -> bool:
        """Whether the noisy answer reaches the threshold."""
        return raw_answer + self._noise() >= self._noisy_threshold

    def _noise(self) -> int:
        return int(sample_discrete_laplace(self._answer_scale, 1, self._rng)[0])


class EndlessThreshold(QuietThreshold):
    """AboveThreshold, in grid units. Mistake: it goes on after "above" with the same noisy threshold, at no further cost.

    Lyu, Su & Li 2017 find it in a published variant (their Algorithm 6).
    """

    threshold_is_noisy = True


class StaleThreshold(QuietThreshold):
    """AboveThreshold, in grid units. Mistake: one noise for all answers instead of a fresh one each time.

    The order of the answers shows through: of two answers the larger can never be "below" when the smaller is "above".
    """

    threshold_is_noisy = True

    def __init__(self, threshold: int, epsilon: Fraction, rng: RandomSource) -> None:
        super().__init__(threshold, epsilon, rng)
        self._only_noise = super()._noise()

    def _noise(self) -> int:
        return self._only_noise


class TellingThreshold(EndlessThreshold):
    """AboveThreshold, in grid units. Mistake: with "above" it also hands out the noisy answer that it compared.

    The number bounds the noisy threshold from above, so the earlier "below" replies stop being free; in early lecture notes.
    """

    def tell(self, raw_answer: int) -> int | None:
        """The noisy answer when it reaches the threshold, None otherwise."""
        noisy_answer = raw_answer + self._noise()
        return noisy_answer if noisy_answer >= self._noisy_threshold else None


def forgotten_half_rate(epsilon: Fraction, sensitivity: Fraction) -> Fraction:
    """The exponential mechanism's rate. Mistake: no factor 2, as if the total weight could not move against the winner's."""
    return epsilon / sensitivity


def float_odds(lengths: Sequence[float], scores: Sequence[float], rate: float) -> list[float]:
    """The exponential mechanism over stretches of a line, in floats, relative to the best score. Mistake: weights underflow.

    A candidate far behind becomes impossible. On tied data the best stretch has no length, so that every weight can be 0 and
    the division fails; diffprivlib 0.6 crashes so, and one more tied row is enough to tell neighbours apart.
    """
    best = max(scores)
    weights = [length * math.exp(rate * (score - best)) for length, score in zip(lengths, scores, strict=True)]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def float_gaps(scores: Sequence[int]) -> list[Fraction]:
    """How far each score lies below the best. Mistake: scores become floats first; beyond 2**53 a move of 1 can become 2."""
    rounded = [Fraction(float(score)) for score in scores]
    return [max(rounded) - score for score in rounded]
