"""Mechanisms: the ways in which a raw number, score or category is randomised before it leaves."""

from __future__ import annotations

from dpstats.mechanisms.cube_laplace import cube_laplace
from dpstats.mechanisms.discrete_laplace import laplace
from dpstats.mechanisms.exponential import exponential
from dpstats.mechanisms.gaussian import gaussian
from dpstats.mechanisms.noisy_max import noisy_max
from dpstats.mechanisms.pipelines.pipeline import Step
from dpstats.mechanisms.pipelines.together import Blocks, Cascade, Levels, Parallel, Partition, Subsample, View
from dpstats.mechanisms.propose_test_release import Exact, propose_test_release
from dpstats.mechanisms.randomized_response import randomized_response, randomized_response_estimate
from dpstats.mechanisms.sparse_vector import AboveThreshold
from dpstats.mechanisms.spherical_laplace import spherical_laplace
from dpstats.mechanisms.stability import stable_release
from dpstats.mechanisms.statistical_queries import statistical_queries
from dpstats.mechanisms.thresholding import choose_keys

cascade, levels, parallel = Cascade, Levels, Parallel  # they read, and print, as the functions they stand for
blocks, partition, subsample, view = Blocks, Partition, Subsample, View

__all__ = [
    "AboveThreshold",
    "Exact",
    "Step",
    "blocks",
    "cascade",
    "choose_keys",
    "cube_laplace",
    "exponential",
    "gaussian",
    "laplace",
    "levels",
    "noisy_max",
    "parallel",
    "partition",
    "propose_test_release",
    "randomized_response",
    "randomized_response_estimate",
    "spherical_laplace",
    "stable_release",
    "statistical_queries",
    "subsample",
    "view",
]


def __dir__() -> list[str]:
    return __all__
