"""Logistic and Poisson regression without bounds.

Claim      "steps": epsilon-DP; "gaussian_steps": (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added
Why        All steps are bought from one budget (regression/budget_split.py, regression/links.py)
Numerics   Exact from the rows to the noisy sums; floats after that
No reply   Where the noisy number of rows is too small for the number of features; costs the same as an answer
Source     links.proof.md
"""

from __future__ import annotations

from collections.abc import Callable

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcomes, Question, Refusal, Statistic, method, register
from dpstats.foundations.summaries import Table
from dpstats.statistics.linear_regression import FEATURES_AND_OUTCOME, GAUSSIAN, INTERCEPT, PURE, RETURNS, prefer_gaussian
from dpstats.statistics.regression.answers import STEPS_CLAIM, WHY_STEPS, answer_of, tools_for
from dpstats.statistics.regression.fit import LOGISTIC, POISSON, RegressionFit, revive_fit
from dpstats.statistics.regression.links import take_logistic_steps, take_poisson_steps
from dpstats.statistics.regression.walk import Estimate


def _register(model: str, summary: str, take: Callable[..., Estimate | None], outcomes: Outcomes, policy: str) -> Statistic:
    """The regression of a model, by noisy steps; `policy` says what becomes of outcomes that do not fit."""
    statistic = register(
        Statistic(
            f"{model}_regression",
            summary,
            (INTERCEPT,),
            reads=FEATURES_AND_OUTCOME,
            returns=RETURNS,
            value=RegressionFit,
            why_preferred=WHY_STEPS,
            revive=revive_fit,
            prefer=prefer_gaussian,
            outcomes=outcomes,
        )
    )

    @method(statistic, GAUSSIAN, claim=f"(epsilon, delta)-DP, {STEPS_CLAIM}", needs_delta=True)
    @method(statistic, PURE, claim=f"pure epsilon-DP, no delta, {STEPS_CLAIM}")
    def steps(table: Table, question: Question, rng: RandomSource) -> Answer | Refusal:
        context, intercept = tools_for(table, question, rng), question.arguments["intercept"]
        with context.progress:
            estimate = take(context, len(question.columns) - 1, intercept=intercept, interval=question.interval is not None)
        return answer_of(estimate, model, question, ("outcome", policy))

    return statistic


LOGISTIC_REGRESSION = _register(
    LOGISTIC,
    "A logistic regression: how the log odds of an outcome of 0 or 1 depend on features",
    take_logistic_steps,
    Outcomes.MARKS,
    "below 0 counts as 0 and above 1 as 1",
)
POISSON_REGRESSION = _register(
    POISSON,
    "A Poisson regression: how the log of the mean of counts depends on features",
    take_poisson_steps,
    Outcomes.COUNTS,
    "below 0 counts as 0; counts far from their mean are cut off",
)
