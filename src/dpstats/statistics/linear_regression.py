"""Linear regression without bounds.

Claim      "steps": epsilon-DP; "gaussian_steps": (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added, at half of epsilon or a
           quarter of rho
Why        All steps are bought from one budget (regression/budget_split.py, regression/steps.py)
Numerics   Exact from the rows to the noisy sums; floats after that
No reply   Where the noisy number of rows is too small for the number of features; costs the same as an answer
Source     steps.proof.md
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Parameter, Question, Reads, Refusal, Statistic, method, register
from dpstats.foundations.summaries import Table
from dpstats.statistics.regression.answers import STEPS_CLAIM, WHY_STEPS, answer_of, tools_for
from dpstats.statistics.regression.fit import LINEAR, RegressionFit, revive_fit
from dpstats.statistics.regression.steps import take_steps
from dpstats.statistics.regression.walk import Estimate

MOST_FEATURES = 40
"""Coefficients share one epsilon; beyond this many nothing useful is left of it at any size of table that is common."""
FEATURES_AND_OUTCOME = (Reads.FEATURES, Reads.NUMBERS)
RETURNS = "a RegressionFit with intercept, coef, names, predict and summary"
PURE, GAUSSIAN = "steps", "gaussian_steps"


def checked_intercept(value: object) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise InvalidParameterError(f"intercept must be True or False, got {value!r}.")
    return value


def prefer_gaussian(arguments: Mapping[str, Any], delta: Fraction) -> str:
    """The method for "auto": Gaussian noise where there is a delta, because many coefficients then get less noise."""
    return GAUSSIAN if delta else PURE


INTERCEPT = Parameter("intercept", "whether an intercept is fitted", checked_intercept, True, takes=bool)
LINEAR_REGRESSION = register(
    Statistic(
        "linear_regression",
        "A linear regression: how the mean of the outcome depends on features",
        (INTERCEPT,),
        reads=FEATURES_AND_OUTCOME,
        returns=RETURNS,
        value=RegressionFit,
        why_preferred=WHY_STEPS,
        revive=revive_fit,
        prefer=prefer_gaussian,
    )
)


@method(LINEAR_REGRESSION, GAUSSIAN, claim=f"(epsilon, delta)-DP, {STEPS_CLAIM}", needs_delta=True)
@method(LINEAR_REGRESSION, PURE, claim=f"pure epsilon-DP, no delta, {STEPS_CLAIM}")
def linear_steps(table: Table, question: Question, rng: RandomSource) -> Answer | Refusal:
    """Huber's regression with bounded points, by noisy steps."""
    context, intercept = tools_for(table, question, rng), question.arguments["intercept"]
    features = len(question.columns) - 1
    with context.progress:
        estimate = take_steps(context, features, intercept=intercept, interval=question.interval is not None)
    return answer_of(estimate, LINEAR, question, *(() if estimate is None else _notes(estimate, intercept)))


def _notes(estimate: Estimate, intercept: bool) -> tuple[tuple[str, str], ...]:
    """What is fitted: no row pulls harder than one whose residual is at the cut, and the intercept is moved to the mean."""
    robust = "a robust middle of the outcome, because its mean would be mostly noise"
    target = (("target", "the mean of the outcome" if estimate.mean else robust),) if intercept else ()
    far = f"rows further than {estimate.cut:.3g} off the line pull no harder than rows at that distance"
    return (*target, ("far rows", f"{far}; where errors are skewed and spread with a feature, least squares would differ"))
