"""Answers: what a regression by noisy steps releases, with intervals and the lines of its card."""

from __future__ import annotations

import math

import numpy as np

from dpstats.foundations.portable import rounded_covariance, rounded_ends, rounded_errors, rounded_values
from dpstats.foundations.progress import Progress
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Question, Refusal
from dpstats.foundations.results import Interval
from dpstats.foundations.summaries import MISSING_POLICY, Table
from dpstats.statistics.cards import public_line
from dpstats.statistics.clipped.margins import critical_value
from dpstats.statistics.regression.budget_split import budget_split_for
from dpstats.statistics.regression.fit import RegressionFit, named
from dpstats.statistics.regression.shares import MOST_STEPS
from dpstats.statistics.regression.walk import Estimate, FitContext

TOTAL_ERROR = "sampling error and noise"
TOO_FEW = "There are too few rows for so many features at this epsilon."
MORE = "More rows, fewer features or a larger epsilon help"
NO_NUMBERS = "Rows count whose cells are all numbers: where a column holds texts, write C(column) in a formula."
PASSES = 5 + MOST_STEPS
PURE_ROWS, GAUSSIAN_ROWS = 150, 300
"""Answers are reliable from about PURE_ROWS k^2 / epsilon rows for k coefficients, or with a delta GAUSSIAN_ROWS k / epsilon."""
STEPS_CLAIM = (
    "no bounds asked: noisy steps on scores in which no row counts for much; refuses where there are too few rows for so many "
    "features"
)
WHY_STEPS = "it needs no bounds and errs least; with a delta its noise is Gaussian, which costs many coefficients less"


def tools_for(table: Table, question: Question, rng: RandomSource) -> FitContext:
    """What the walk of a question works with."""
    return FitContext(table, budget_split_for(question, rng), rng, Progress(PASSES, work=question.statistic.name, pieces="steps"))


def answer_of(
    estimate: Estimate | None, model: str, question: Question, *notes: tuple[str, str], least_rows: float = 0.0
) -> Answer | Refusal:
    """The answer of a walk, or the refusal where there were too few rows; it is reliable from `least_rows` on, or from more."""
    if estimate is None:
        return Refusal(TOO_FEW, f"{MORE}{'' if question.delta else '; so does a delta, such as delta=1e-6'}. {NO_NUMBERS}")
    names, outcome = named(question)
    has_intercept, covariance = question.arguments["intercept"], estimate.covariance
    errors = estimate.noise if covariance is None else np.sqrt(np.maximum(np.diag(covariance), 0.0))
    values = rounded_values([*([estimate.intercept] if has_intercept else []), *estimate.coefficients], errors)
    fit = RegressionFit(
        model,
        outcome,
        names,
        values[0] if has_intercept else 0.0,
        values[1:] if has_intercept else values,
        None if covariance is None else rounded_covariance(covariance),
        rounded_errors(estimate.noise),
        estimate.noisy_rows,
        estimate.scale,
        has_intercept,
        weak=estimate.weak,
    )
    return Answer(fit, None, (*notes, *_notes(estimate, question, least_rows)), _intervals(fit, question))


def _intervals(fit: RegressionFit, question: Question) -> tuple[Interval, ...]:
    if fit.covariance is None or question.interval is None:
        return ()
    level = float(question.interval)
    values = [*([fit.intercept] if fit.has_intercept else []), *fit.coefficients]
    reach = critical_value(level, 0.0)
    halves = [reach * math.sqrt(max(0.0, fit.covariance[place][place])) for place in range(len(values))]
    ends = [rounded_ends(value - half, value + half) for value, half in zip(values, halves, strict=True)]
    return tuple(Interval(low, high, level, TOTAL_ERROR) for low, high in ends)


def _notes(estimate: Estimate, question: Question, least_rows: float) -> tuple[tuple[str, str], ...]:
    size = len(estimate.noise)
    reliable = max(least_rows, float((GAUSSIAN_ROWS * size if question.delta else PURE_ROWS * size**2) / question.epsilon))
    weak = f"{estimate.weak}: features hardly vary there, or follow from others; intervals are wide for it"
    return (
        ("steps", str(estimate.taken)),
        *((("weak directions", weak),) if estimate.weak else ()),
        ("reliable from", f"about {math.ceil(reliable):,} rows at this epsilon"),
        ("missing values", f"{MISSING_POLICY}; a row that is missing in one column is left out"),
        public_line(question),
        ("numerics", "exact whole numbers up to the noise; then floats"),
    )
