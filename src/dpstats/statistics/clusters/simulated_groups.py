"""Simulated rows on which a plan tries clusters: nobody's data is in them."""

from __future__ import annotations

import numpy as np

from dpstats.foundations.registry import Question, Simulated
from dpstats.foundations.text_tables import counted

APART = 6.0
"""Neighbouring groups lie this many standard deviations of their rows apart."""


def simulated_groups(question: Question, rows: int, generator: np.random.Generator) -> Simulated:
    """As many groups as clusters are asked for, of about equal sizes, along the diagonal and off it by turns."""
    clusters, columns = next(iter(question.arguments.values())), max(1, len(question.columns))
    places = np.arange(clusters)[:, None] * APART / np.sqrt(columns)
    middles = places + np.where(np.arange(columns) % 2, 1.0, -1.0) * (np.arange(clusters) % 2)[:, None] * APART / 2
    found = middles[generator.integers(0, clusters, rows)] + generator.normal(size=(rows, columns))
    return Simulated(found, words=f"{counted(clusters, 'group')} of rows, {APART:g} standard deviations apart")
