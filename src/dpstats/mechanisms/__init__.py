"""Mechanisms: the ways in which a raw number, score or category is randomised before it leaves."""

from __future__ import annotations

from dpstats.mechanisms.discrete_laplace import laplace
from dpstats.mechanisms.exponential import exponential
from dpstats.mechanisms.gaussian import gaussian
from dpstats.mechanisms.noisy_max import noisy_max
from dpstats.mechanisms.randomized_response import randomized_response, randomized_response_estimate
from dpstats.mechanisms.sparse_vector import AboveThreshold

__all__ = [
    "AboveThreshold",
    "exponential",
    "gaussian",
    "laplace",
    "noisy_max",
    "randomized_response",
    "randomized_response_estimate",
]


def __dir__() -> list[str]:
    return __all__
