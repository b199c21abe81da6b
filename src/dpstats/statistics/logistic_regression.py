"""Logistic regression without bounds.

Claim      "steps": epsilon-DP; "gaussian_steps": (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added
Why        All steps are bought from one purse (regression/purse.py, regression/links.py)
Numerics   Exact from the rows to the noisy sums; floats after that
No reply   Where there are too few rows for so many features, by their noisy number; costs the same as an answer
Source     links.proof.md, steps.proof.md
"""

from __future__ import annotations

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcomes, Question, Refusal, Statistic, method, register
from dpstats.foundations.summaries import Table
from dpstats.statistics.linear_regression import FEATURES_AND_OUTCOME, GAUSSIAN, INTERCEPT, PURE, RETURNS, prefer_gaussian
from dpstats.statistics.regression.answers import STEPS_CLAIM, WHY_STEPS, answer_of, tools_for
from dpstats.statistics.regression.fit import LOGISTIC, revive_fit
from dpstats.statistics.regression.links import take_logistic_steps

LOGISTIC_REGRESSION = register(
    Statistic(
        "logistic_regression",
        "A logistic regression: how the log odds of an outcome of 0 or 1 depend on features",
        (INTERCEPT,),
        reads=FEATURES_AND_OUTCOME,
        returns=RETURNS,
        why_preferred=WHY_STEPS,
        revive=revive_fit,
        prefer=prefer_gaussian,
        outcomes=Outcomes.MARKS,
    )
)


@method(LOGISTIC_REGRESSION, GAUSSIAN, claim=f"(epsilon, delta)-DP, {STEPS_CLAIM}", needs_delta=True)
@method(LOGISTIC_REGRESSION, PURE, claim=f"pure epsilon-DP, no delta, {STEPS_CLAIM}")
def logistic_steps(table: Table, question: Question, rng: RandomSource) -> Answer | Refusal:
    """A logistic regression with bounded points, by noisy steps."""
    tools = tools_for(table, question, rng)
    with tools.progress:
        arrival = take_logistic_steps(
            tools,
            len(question.columns) - 1,
            intercept=question.arguments["intercept"],
            interval=question.interval is not None,
        )
    return answer_of(arrival, LOGISTIC, question, ("outcome", "below 0 counts as 0 and above 1 as 1"))
