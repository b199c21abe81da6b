"""The laws of noise that p-values are computed with, in floats: they judge released numbers, and no claim depends on them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource, random_bits

Floats = NDArray[np.float64]


def laplace_variance(epsilon: float) -> float:
    """The variance of whole-number Laplace noise of scale 1 / epsilon."""
    ratio = math.exp(-epsilon)
    return 2 * ratio / math.expm1(-epsilon) ** 2


def difference_tail(least: Floats, epsilon: float) -> Floats:
    """P(W >= least) for the difference W of two whole-number Laplace variables of scale 1 / epsilon; `least` is whole.

    With r = exp(-epsilon), P(W = k) is ((1 - r) / (1 + r))**2 r**|k| (|k| + (1 + r**2) / (1 - r**2)).
    """
    ratio = math.exp(-epsilon)
    beside, apart = -math.expm1(-epsilon), -math.expm1(-2 * epsilon)
    far = np.where(least > 0, least, 1 - least)
    summed = np.exp(-epsilon * far) * ((far + (1 + ratio**2) / apart) / beside + ratio / beside**2)
    tail = (beside / (1 + ratio)) ** 2 * summed
    return np.where(least > 0, tail, 1 - tail)


def laplace_points(scale: float, count: int) -> Floats:
    """Equally likely values of Laplace noise, for means over it."""
    shares = (np.arange(count) + 0.5) / count
    return scale * np.where(shares < 0.5, np.log(2 * shares), -np.log(2 * (1 - shares)))


def simulator(rng: RandomSource) -> np.random.Generator:
    """Random numbers for null laws, which protect nobody; of a seeded source they repeat themselves."""
    return np.random.Generator(np.random.PCG64(random_bits(rng, 128)))


def simulated_noise(generator: np.random.Generator, epsilon: float, shape: tuple[int, ...]) -> Floats:
    """Whole-number Laplace noise of scale 1 / epsilon, for simulations alone."""
    success = -math.expm1(-epsilon)
    return (generator.geometric(success, shape) - generator.geometric(success, shape)).astype(np.float64)
