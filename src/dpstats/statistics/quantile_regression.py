"""Quantile regression without bounds: the median of the outcome, or another quantile, by features.

Claim      "steps": epsilon-DP; "gaussian_steps": (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added
Why        As linear regression; the last steps follow the score of a smoothed check function, which no row moves by much
Numerics   Exact from the rows to the noisy sums; floats after that
No reply   Where the noisy number of rows is too small for the number of features; costs the same as an answer
Source     links.proof.md, steps.proof.md; Koenker & Bassett 1978
"""

from __future__ import annotations

from fractions import Fraction

from dpstats.foundations.accepted import Number
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Parameter, Question, Refusal, Statistic, method, register
from dpstats.foundations.rounding import exact_rational
from dpstats.foundations.summaries import Table
from dpstats.statistics.linear_regression import FEATURES_AND_OUTCOME, GAUSSIAN, INTERCEPT, PURE, RETURNS, prefer_gaussian
from dpstats.statistics.regression.answers import STEPS_CLAIM, WHY_STEPS, answer_of, tools_for
from dpstats.statistics.regression.fit import QUANTILE, RegressionFit, revive_fit
from dpstats.statistics.regression.steps import take_steps

OUTERMOST = Fraction(5, 100)
OUTER_ROWS = 1000
"""Rows beyond the quantile, times epsilon, from which on answers are reliable."""


def checked_quantile(value: object) -> Fraction:
    """A quantile that is not too far out."""
    quantile = exact_rational(value, "quantile")
    if not OUTERMOST <= quantile <= 1 - OUTERMOST:
        raise InvalidParameterError(f"quantile must be from 0.05 to 0.95, such as 0.5 for the median, got {value}.")
    return quantile


QUANTILE_REGRESSION = register(
    Statistic(
        "quantile_regression",
        "A quantile regression: how the median of the outcome, or another quantile, depends on features",
        (
            Parameter("quantile", "which quantile, from 0.05 to 0.95; 0.5 is the median", checked_quantile, 0.5, takes=Number),
            INTERCEPT,
        ),
        reads=FEATURES_AND_OUTCOME,
        returns=RETURNS,
        value=RegressionFit,
        why_preferred=WHY_STEPS,
        revive=revive_fit,
        prefer=prefer_gaussian,
    )
)


@method(QUANTILE_REGRESSION, GAUSSIAN, claim=f"(epsilon, delta)-DP, {STEPS_CLAIM}", needs_delta=True)
@method(QUANTILE_REGRESSION, PURE, claim=f"pure epsilon-DP, no delta, {STEPS_CLAIM}")
def quantile_steps(table: Table, question: Question, rng: RandomSource) -> Answer | Refusal:
    """A smoothed quantile regression with bounded points, by noisy steps."""
    context, quantile = tools_for(table, question, rng), question.arguments["quantile"]
    with context.progress:
        estimate = take_steps(
            context,
            len(question.columns) - 1,
            intercept=question.arguments["intercept"],
            interval=question.interval is not None,
            quantile=quantile,
        )
    least_rows = OUTER_ROWS / float(question.epsilon * min(quantile, 1 - quantile))
    return answer_of(estimate, f"{QUANTILE} {float(quantile):g}", question, least_rows=least_rows)
