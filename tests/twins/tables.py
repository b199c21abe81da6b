"""Broken twins of tables of counts: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations


def residual_price(epsilon: float, levels: int) -> float:
    """What the residual of a column costs. Mistake: the price that is proved for continuous Gaussian noise, 1 - 1/levels of that
    of the whole table, is taken for discrete Laplace noise."""
    return epsilon * (1 - 1 / levels)
