"""Simulated rows on which a plan tries a selection: nobody's data is in them."""

from __future__ import annotations

import numpy as np

from dpstats.foundations.registry import Question, Simulated
from dpstats.statistics.lazy_scipy import stats
from dpstats.statistics.selection.laws import LAWS

ACTIVE = (0.5, 0.75, 1.0)
"""Coefficients of the features that count, in standard deviations of the errors."""


def simulated_features(question: Question, rows: int, generator: np.random.Generator) -> Simulated:
    """Independent normal features of which the first three count."""
    raw_features = generator.normal(size=(rows, max(len(question.columns) - 1, 1)))
    some = min(len(ACTIVE), raw_features.shape[1])
    outcome = raw_features[:, :some] @ np.array(ACTIVE[:some]) + generator.normal(size=rows)
    return Simulated(np.column_stack([raw_features, outcome]), words=f"{some} features that count, by 0.5 to 1 error sd")


def simulated_model(question: Question, rows: int, generator: np.random.Generator) -> Simulated:
    """A linear dependence on all features."""
    features = generator.normal(size=(rows, max(len(question.columns) - 1, 1)))
    outcome = features.sum(axis=1) / np.sqrt(features.shape[1]) + generator.normal(size=rows)
    return Simulated(np.column_stack([features, outcome]), words="a linear dependence on all features")


def simulated_law(question: Question, rows: int, generator: np.random.Generator) -> Simulated:
    """Rows of the first law of the question, at plain parameters."""
    name = question.arguments["families"][0]
    shapes = {"lognormal": (1.0,), "gamma": (3.0,), "weibull": (2.0,), "inverse_gaussian": (1.0,), "student": (3.0,)}
    shaped = {"pareto": (3.0,), "beta": (2.0, 3.0)}
    counts = {"poisson": (4.0,), "geometric": (0.2,), "negative_binomial": (2.0, 0.3)}
    law = getattr(stats, LAWS[name].scipy_name)
    drawn = law.rvs(*{**shapes, **shaped, **counts}.get(name, ()), size=rows, random_state=generator)
    shifted = drawn - 1 if name == "geometric" else drawn
    return Simulated(np.asarray(shifted, dtype=np.float64)[:, None], words=f"rows of the {name} law")
