"""Types for annotations: `def ask(income: dpstats.typing.Rows, epsilon: dpstats.typing.Number) -> ...`."""

from __future__ import annotations

from dpstats.foundations.accepted import Columns, Elements, NeighborsName, Number, Rows
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.results import Interval
from dpstats.statistics.binned.histogram import Histogram
from dpstats.statistics.distribution import Distribution
from dpstats.statistics.likelihood.fit import LikelihoodFit
from dpstats.statistics.regression.fit import RegressionFit
from dpstats.statistics.selection.values import PopularOption, SelectedFeatures
from dpstats.statistics.testing.results import CountsResult, TestResult

__all__ = [
    "Columns",
    "CountsResult",
    "Distribution",
    "Elements",
    "Histogram",
    "Interval",
    "LikelihoodFit",
    "NeighborsName",
    "Number",
    "PopularOption",
    "RandomSource",
    "RegressionFit",
    "Rows",
    "SelectedFeatures",
    "TestResult",
]
