"""Broken twins of spherical Laplace noise: weights of noise that privacy tests must refute.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tests.laws.mechanisms import exponential_of_minus
from tests.laws.spherical import Point, length, spherical_weight


def separate_coordinates(noise: Point, scale: Fraction) -> Fraction:
    """Mistake: every coordinate gets its own Laplace noise, with the scale of the Euclidean length of a move.

    A move along the diagonal of k coordinates then costs sqrt(k) times what was stated.
    """
    return exponential_of_minus(sum(abs(part) for part in noise) / scale)


def whole_length(noise: Point, scale: Fraction) -> Fraction:
    """Mistake: the length is rounded up to a whole number, which can make a move of sqrt(2) look like one of 2.

    Where the greatest length of a move is a whole number, this is no mistake.
    """
    squared = sum(part * part for part in noise)
    rounded = math.isqrt(squared - 1) + 1 if squared else 0
    return exponential_of_minus(rounded / scale)


def bare_length(noise: Point, scale: Fraction) -> Fraction:
    """Mistake: the length of the noise is geometric and its direction uniform, as if all spheres held equally many points.

    Short noise is then too likely, by length**(k - 1), and a move away from it costs more than was stated.
    """
    return spherical_weight(noise, scale) / max(Fraction(1), length(noise)) ** (len(noise) - 1)


def forgotten_rounding(sensitivity: Fraction, spacing: Fraction) -> Fraction:
    """Mistake: the length of a move in grid units as if rounding every coordinate could not lengthen it."""
    return sensitivity / spacing
