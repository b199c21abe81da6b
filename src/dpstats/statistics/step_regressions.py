"""Regressions without bounds, by noisy steps: linear, quantile, logistic and Poisson regression.

Linear regression is least squares and the regressions with a link are maximum likelihood, of the population that the rows come
from, whether or not the model fits; "huber" is a robust fit, in which no row counts for much.

Claim      "steps", "huber": epsilon-DP; "gaussian_steps", "gaussian_huber": (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added, at half of epsilon or a
           quarter of rho
Why        All steps are bought from one budget (regression/budget_split.py, regression/steps.py, regression/links.py). The last
           steps follow full scores within a private reach (regression/full_steps.py); those of a quantile regression the score of
           a hardly smoothed check function, of points within one (regression/quantile_steps.py)
Numerics   Exact from the rows to the noisy sums; floats after that
No reply   Where the noisy number of rows is too small for the number of features; costs the same as an answer
Source     steps.proof.md, links.proof.md, reach.proof.md, quantile_sums.proof.md; quantiles: Koenker & Bassett 1978
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from dpstats.foundations.accepted import Number
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.portable import rounded_covariance, rounded_ends, rounded_errors, rounded_values
from dpstats.foundations.progress import Progress
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import (
    Answer,
    Outcome,
    Outcomes,
    Parameter,
    Question,
    Reads,
    Refusal,
    Statistic,
    method,
    register,
)
from dpstats.foundations.results import Interval
from dpstats.foundations.rounding import exact_rational
from dpstats.foundations.summaries import MISSING_POLICY, Table
from dpstats.statistics.cards import public_line, switch_parameter
from dpstats.statistics.clipped.margins import critical_value
from dpstats.statistics.floors import Floor
from dpstats.statistics.regression.budget_split import budget_split_for
from dpstats.statistics.regression.fit import LINEAR, LOGISTIC, POISSON, QUANTILE, RegressionFit, fit_of, revive_fit
from dpstats.statistics.regression.links import take_logistic_steps, take_poisson_steps
from dpstats.statistics.regression.octaves import TOO_LARGE
from dpstats.statistics.regression.parameter_table import error_notes
from dpstats.statistics.regression.quantile_steps import take_quantile_steps
from dpstats.statistics.regression.shares import MOST_STEPS
from dpstats.statistics.regression.steps import take_steps
from dpstats.statistics.regression.walk import Estimate, FitContext

MOST_FEATURES = 40
"""Coefficients share one epsilon; beyond this many nothing useful is left of it at any size of table that is common."""
PURE, GAUSSIAN = "steps", "gaussian_steps"
PURE_HUBER, GAUSSIAN_HUBER = "huber", "gaussian_huber"
FULL_NATS, FULL_SQUARE_NATS, FULL_DELTA_NATS = 1200, 250, 600
BOUNDED_NATS, BOUNDED_SQUARE_NATS, BOUNDED_DELTA_NATS = 300, 150, 300
"""Rows times epsilon that k coefficients take: so many times k, and at least so many times the square of it, as the noise of a
matrix grows; with a delta so many times k. Full scores take more than bounded ones."""
SEPARATED = (
    "none: the features nearly determine the outcome, so the likelihood grows with ever longer coefficients; these say which "
    "outcome is likelier, and lie on the way"
)
SAMPLING_AND_NOISE = "sampling error and noise"


class Aim(NamedTuple):
    """What coefficients are, in one line, what their intervals cover, and what rows times epsilon they take."""

    what: str
    covers: str = SAMPLING_AND_NOISE
    nats: float = BOUNDED_NATS
    square_nats: float = BOUNDED_SQUARE_NATS
    delta_nats: float = BOUNDED_DELTA_NATS
    least_nats: float = 0.0

    def floor(self, question: Question) -> Floor:
        """What an answer to a question takes."""
        size = len(question.columns) - 1 + question.arguments["intercept"]
        nats = self.delta_nats * size if question.delta else max(self.nats * size, self.square_nats * size**2)
        return Floor(max(self.least_nats, nats))


_CUT_TOO = "sampling error, noise, and what the cut at a private reach may leave out"
FULL = (_CUT_TOO, FULL_NATS, FULL_SQUARE_NATS, FULL_DELTA_NATS)
LEAST_SQUARES = Aim("least squares of the population, whether or not a line fits; errors are sandwich errors", *FULL)
LIKELIHOOD = Aim("maximum likelihood of the population, whether or not the model fits; errors are sandwich errors", *FULL)
ROBUST = "a robust fit: rows far off, or far out, pull no harder than others; not {} where the model does not fit"
HUBER, LINKED_HUBER = (Aim(ROBUST.format(other)) for other in ("least squares", "maximum likelihood"))
OUTERMOST = Fraction(5, 100)
QUANTILE_NATS, OUTER_NATS = 2500, 1000
"""Rows times epsilon that each coefficient of a quantile regression takes; and rows beyond the quantile, times epsilon."""
PASSES = 5 + MOST_STEPS
REFUSES = "refuses where there are too few rows for so many features"
STEPS_CLAIM = f"no bounds asked: noisy steps on scores that are cut off at a private reach; {REFUSES}"
BOUNDED_CLAIM = f"no bounds asked: noisy steps on scores in which no row counts for much; {REFUSES}"
WHY_STEPS = "it needs no bounds and errs least; with a delta its noise is Gaussian, which costs many coefficients less"

Notes = tuple[tuple[str, str], ...]


def checked_quantile(value: object) -> Fraction:
    """A quantile that is not too far out."""
    quantile = exact_rational(value, "quantile")
    if not OUTERMOST <= quantile <= 1 - OUTERMOST:
        raise InvalidParameterError(f"quantile must be from 0.05 to 0.95, such as 0.5 for the median, got {value}.")
    return quantile


INTERCEPT = switch_parameter("intercept", "whether an intercept is fitted", True)
WHICH = Parameter("quantile", "which quantile, from 0.05 to 0.95; 0.5 is the median", checked_quantile, 0.5, takes=Number)


def _register(model: str, summary: str, parameters: tuple[Parameter, ...], outcomes: Outcomes = Outcomes.NUMBERS) -> Statistic:
    """The regression of a model."""
    return register(
        Statistic(
            f"{model}_regression",
            summary,
            parameters,
            reads=(Reads.FEATURES, Reads.NUMBERS),
            returns="a RegressionFit with intercept, coef, names, predict and summary",
            value=RegressionFit,
            why_preferred=WHY_STEPS,
            revive=revive_fit,
            prefer=lambda arguments, delta: GAUSSIAN if delta else PURE,
            outcomes=outcomes,
        )
    )


def _method(
    statistic: Statistic,
    names: tuple[str, str],
    claim: str,
    take: Callable[..., Estimate | None],
    answer: Callable[[Estimate, Question], Outcome],
    floor: Callable[[Question], Floor],
    version: int = 1,
) -> None:
    """A method by the steps that `take` takes, without a delta and with one; `answer` says where they led, `floor` what an answer
    takes."""

    @method(statistic, names[1], claim=f"(epsilon, delta)-DP, {claim}", needs_delta=True, version=version)
    @method(statistic, names[0], claim=f"pure epsilon-DP, no delta, {claim}", version=version)
    def steps(table: Table, question: Question, rng: RandomSource) -> Outcome:
        progress = Progress(PASSES, work=statistic.name, pieces="steps")
        context, features = FitContext(table, budget_split_for(question, rng), rng, progress), len(question.columns) - 1
        with progress:
            estimate = take(context, features, interval=question.interval is not None, **question.arguments)
        if estimate is not None:
            return answer(estimate, question)
        with_delta = replace(question, cost=replace(question.cost, delta=Fraction(1, 10**6)))
        is_fewer = not question.delta and floor(with_delta).rows_at(with_delta) < floor(question).rows_at(question)
        delta = " or with a delta, such as delta=1e-6" if is_fewer else ""
        return Refusal(
            "There are too few rows for so many features at this epsilon, or the steps led nowhere.",
            f"It takes {floor(question).rows_text(question)}, fewer with fewer features{delta}. Only rows whose cells are "
            "all numbers count.",
        )


def _answer(estimate: Estimate, model: str, question: Question, aim: Aim, *notes: tuple[str, str]) -> Outcome:
    """Where the steps led, `aim` being what the coefficients are; a refusal where that takes more rows."""
    if estimate.is_too_large:
        return TOO_LARGE
    covariance = estimate.covariance
    errors = estimate.noise if covariance is None else np.sqrt(np.maximum(np.diag(covariance), 0.0))
    intercept = [estimate.intercept] if question.arguments["intercept"] else []
    fit = fit_of(
        question,
        model,
        rounded_values([*intercept, *estimate.coefficients], errors),
        covariance=None if covariance is None else rounded_covariance(covariance),
        noise=rounded_errors(estimate.noise),
        clipping=None if estimate.clipping is None else rounded_errors(estimate.clipping),
        rows=estimate.noisy_rows,
        scale=estimate.scale,
        weak=estimate.weak,
        aim=aim.what,
    )
    floor = aim.floor(question)
    helps = "more rows or a larger epsilon help" if question.delta else "more rows, a larger epsilon or a delta help"
    weak = f"{estimate.weak}: features hardly vary there, or follow from others; intervals are wide for it; {helps}"
    common = (
        ("coefficients", aim.what),
        *error_notes(fit),
        ("steps", str(estimate.taken)),
        *((("weak directions", weak),) if estimate.weak else ()),
        *((("intervals", SEPARATED),) if estimate.going_on else ()),
        floor.note(question),
        ("missing values", f"{MISSING_POLICY}; a row that is missing in one column is left out"),
        public_line(question),
        ("numerics", "exact whole numbers up to the noise; then floats"),
    )
    answer = Answer(fit, None, (*notes, *common), _intervals(fit, question, aim.covers))
    return floor.judge(question, estimate.noisy_rows, answer)


def _intervals(fit: RegressionFit, question: Question, covers: str) -> tuple[Interval, ...]:
    if fit.covariance is None or question.interval is None:
        return ()
    level = float(question.interval)
    reach = critical_value(level, 0.0)
    halves = [reach * math.sqrt(max(0.0, row[place])) for place, row in enumerate(fit.covariance)]
    ends = [rounded_ends(value - half, value + half) for (_, value), half in zip(fit.named_values(), halves, strict=True)]
    return tuple(Interval(low, high, level, covers) for low, high in ends)


def _huber_notes(estimate: Estimate, intercept: bool) -> Notes:
    """What is fitted: no row pulls harder than one whose residual is at the cut, and the intercept is moved to the mean."""
    robust = "a robust middle of the outcome, because its mean would be mostly noise"
    target = (("target", "the mean of the outcome" if estimate.mean else robust),) if intercept else ()
    return (*target, ("far rows", f"rows further than {estimate.cut:.3g} off the line pull no harder than rows at that distance"))


def _quantile_aim(question: Question) -> Aim:
    quantile = question.arguments["quantile"]
    least_nats = float(OUTER_NATS / min(quantile, 1 - quantile))
    what = f"of the line below which the share {float(quantile):g} of the outcomes lies"
    return Aim(what, _CUT_TOO, nats=QUANTILE_NATS, delta_nats=QUANTILE_NATS, least_nats=least_nats)


def _quantile_answer(estimate: Estimate, question: Question) -> Outcome:
    model = f"{QUANTILE} {float(question.arguments['quantile']):g}"
    return _answer(estimate, model, question, _quantile_aim(question))


def _answers(model: str, aim: Aim, *notes: tuple[str, str]) -> Callable[[Estimate, Question], Outcome]:
    """How a model's estimates become answers."""
    return lambda estimate, question: _answer(estimate, model, question, aim, *notes)


LINEAR_REGRESSION = _register(
    LINEAR, "A linear regression by least squares: how the mean of the outcome depends on features", (INTERCEPT,)
)
_method(
    LINEAR_REGRESSION,
    (PURE, GAUSSIAN),
    STEPS_CLAIM,
    partial(take_steps, full=True),
    _answers(LINEAR, LEAST_SQUARES),
    LEAST_SQUARES.floor,
    version=3,
)
_method(
    LINEAR_REGRESSION,
    (PURE_HUBER, GAUSSIAN_HUBER),
    BOUNDED_CLAIM,
    take_steps,
    lambda estimate, asked: _answer(estimate, LINEAR, asked, HUBER, *_huber_notes(estimate, asked.arguments["intercept"])),
    HUBER.floor,
)
QUANTILE_REGRESSION = _register(
    QUANTILE,
    "A quantile regression: how the median of the outcome, or another quantile, depends on features",
    (WHICH, INTERCEPT),
)
_method(
    QUANTILE_REGRESSION,
    (PURE, GAUSSIAN),
    STEPS_CLAIM,
    take_quantile_steps,
    _quantile_answer,
    lambda asked: _quantile_aim(asked).floor(asked),
    version=3,
)
LINKED: tuple[tuple[str, str, Callable[..., Estimate | None], Outcomes, str], ...] = (
    (
        LOGISTIC,
        "A logistic regression: how the log odds of an outcome of 0 or 1 depend on features",
        take_logistic_steps,
        Outcomes.MARKS,
        "below 0 counts as 0 and above 1 as 1",
    ),
    (
        POISSON,
        "A Poisson regression: how the log of the mean of counts depends on features",
        take_poisson_steps,
        Outcomes.COUNTS,
        "below 0 counts as 0",
    ),
)
for _model, _summary, _take, _outcomes, _outcome in LINKED:
    _linked = _register(_model, _summary, (INTERCEPT,), _outcomes)
    _note = ("outcome", _outcome)
    _full, _answered = partial(_take, full=True), _answers(_model, LIKELIHOOD, _note)
    _method(_linked, (PURE, GAUSSIAN), STEPS_CLAIM, _full, _answered, LIKELIHOOD.floor, version=3)
    _robust = _answers(_model, LINKED_HUBER, _note)
    _method(_linked, (PURE_HUBER, GAUSSIAN_HUBER), BOUNDED_CLAIM, _take, _robust, LINKED_HUBER.floor)
