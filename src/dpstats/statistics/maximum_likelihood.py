"""Maximum likelihood without bounds.

Claim      "scores", "bounded_scores", "blocks", "t_star": epsilon-DP; "gaussian_scores" and
           "gaussian_bounded_scores": (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private) or CHANGE_ONE
Why        "scores": private quartiles, then noisy sums of scores of rows that are cut off at private reaches, from one budget
           (likelihood/reach_steps.py); "bounded_scores": the same with bounds of public lengths (likelihood/score_steps.py).
           "t_star": one row touches one block, so one estimate in the average changes, and by no more than the width of the space
           that estimates are projected onto; "blocks": the same with a mean of the estimates that needs no space
           (likelihood/block_estimates.py, aggregation/)
Numerics   Exact from what rows or blocks say to the noisy numbers; floats after that
No reply   Where there are too few rows, or too few blocks have an estimate, by noisy counts; costs the same as an answer
Source     maximum_likelihood.proof.md, likelihood/score_steps.proof.md; Smith 2008; Dwork & Smith 2009, section 3.1
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np

from dpstats.foundations.accepted import Blocks, Bounds, FrozenLaw, Model
from dpstats.foundations.errors import InvalidParameterError, UnknownNameError
from dpstats.foundations.json_types import AUTO_OR_WHOLE, NOTHING, TEXT, WHOLE, either, list_of, object_of
from dpstats.foundations.portable import rounded_ends
from dpstats.foundations.progress import Progress
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Parameter, Question, Reads, Refusal, Statistic, method, register
from dpstats.foundations.results import Interval
from dpstats.foundations.summaries import MISSING_POLICY, Table
from dpstats.mechanisms.discrete_laplace import noisy_count
from dpstats.statistics.aggregation.aggregators import aggregate_numbers, aggregator_for
from dpstats.statistics.aggregation.centred_means import fewest_blocks
from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.cards import public_line
from dpstats.statistics.floors import Floor
from dpstats.statistics.likelihood.block_estimates import (
    MOST_BLOCKS,
    ROWS_SHARE,
    blocks_within,
    blocks_without_bounds,
    middle_of,
    votes_of,
)
from dpstats.statistics.likelihood.coordinates import Coordinates
from dpstats.statistics.likelihood.families import Options, check_columns, checked_family, family_for
from dpstats.statistics.likelihood.family import Family
from dpstats.statistics.likelihood.fit import LikelihoodFit, fit_of, revive_fit
from dpstats.statistics.likelihood.public_rows import simulated_rows
from dpstats.statistics.likelihood.reach_steps import ReachWalk, is_exponential
from dpstats.statistics.likelihood.score_steps import MOST_EARLY, ScoreWalk
from dpstats.statistics.regression.budget_split import budget_split_for
from dpstats.statistics.regression.parameter_table import error_notes
from dpstats.statistics.regression.walk import FitContext

MODEL_ERROR = "sampling error if rows follow the family, and noise"
SANDWICH_ERROR = "sampling error whether or not the family fits, noise, and what cutting off long scores may leave out"
VOTES_ERROR = "sampling error and noise"
FEW_ROWS = Refusal(
    "There are too few rows for this family at this epsilon, or their law is far from all of it, by noisy numbers.",
    "More rows or a larger epsilon help, or another family; so do parameters that are known (fixed=). Regressions by their own "
    "names, such as linear_regression, need fewer rows.",
)
PURE, GAUSSIAN, BLOCKS, T_STAR = "scores", "gaussian_scores", "blocks", "t_star"
BOUNDED, GAUSSIAN_BOUNDED = "bounded_scores", "gaussian_bounded_scores"
BY_SCORES = (PURE, GAUSSIAN, BOUNDED, GAUSSIAN_BOUNDED)
FLOOR_NATS, MORE_FLOOR_NATS = 1500, 2500
"""Rows times epsilon, for each parameter, below which scores do not reply; more where slopes of scores are bought, too, and for
normal laws, whose scores go with squares and have longer tails."""
MEASURED_FLOORS = {
    "gamma": 700,
    "lognormal": 700,
    "exponential": 1000,
    "poisson": 1000,
    "negative_binomial": 1000,
    "weibull": 2000,
}
"""The same without a delta, as measured on tables that these families do not fit (docs/likelihood.md#where-it-falls-short)."""
OF_POPULATION = "the maximum likelihood estimate of the population, whether or not the family fits; errors are sandwich errors"
OF_BULK = "those of the family that fits the bulk of the rows: where rows do not follow it, maximum likelihood would differ"
FEW_ESTIMATES = Refusal(
    "Fewer than half of the blocks of rows have an estimate, by a noisy count of them.",
    "Larger blocks (fewer of them) help, more rows, or a family that can have made the rows.",
)
RANGE = list_of({"type": "number"}, 2, 2)
KEPT = Fraction(9, 10)
"""At least so much of epsilon is left when rows and answers have been counted."""
SCORES_CLAIM = "no bounds asked: private quartiles, then noisy means of scores cut off at a private reach; refuses few rows"
BOUNDED_CLAIM = (
    "no bounds asked: private quartiles, then noisy means of bounded scores of all rows; refuses where rows are too few"
)


def _checked_bounds(value: object) -> Any:
    """Ranges of parameters: by name, or a pair for each in their order."""
    if value is None:
        return None
    value = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(value, Mapping):
        return tuple((str(name), _checked_pair(pair)) for name, pair in value.items())
    if isinstance(value, (list, tuple)) and len(value) == 2 and all(isinstance(end, (int, float)) for end in value):
        return (_checked_pair(value),)
    if isinstance(value, (list, tuple)):
        return tuple(_checked_pair(pair) for pair in value)
    raise InvalidParameterError("bounds must give a range for each parameter: {'shape': (0.1, 10), 'scale': (0.1, 100)}.")


def _checked_pair(pair: object) -> tuple[float, float]:
    ends = pair if isinstance(pair, (list, tuple)) else ()
    numbers = [float(end) for end in ends if isinstance(end, (int, float, np.number)) and not isinstance(end, bool)]
    if not len(ends) == len(numbers) == 2 or not -math.inf < numbers[0] < numbers[1] < math.inf:
        raise InvalidParameterError("a range of bounds must be two finite numbers, the lower one first: (0.1, 10).")
    return numbers[0], numbers[1]


def checked_blocks(value: object) -> int | str:
    """A number of blocks, or "auto"."""
    if value == "auto":
        return "auto"
    if type(value) is not int or not 2 <= value <= MOST_BLOCKS:
        raise InvalidParameterError(f"blocks must be a whole number from 2 to {MOST_BLOCKS:,}, or 'auto'.")
    return value


def _whole_parameter(name: str, help: str, least: int, most: int) -> Parameter:
    """A whole number within [least, most], or None."""

    def check(value: object) -> int | None:
        if value is not None and (type(value) is not int or not least <= value <= most):
            raise InvalidParameterError(f"{name} must be a whole number from {least} to {most:,}.")
        return value

    return Parameter(name, help, check, None, either(WHOLE, NOTHING), takes=int | None)


def _checked_fixed(value: object) -> tuple[tuple[str, float], ...]:
    """Parameters of a scipy distribution that are known, by the names of its `fit`: {"floc": 0}."""
    if value is None:
        return ()
    if not isinstance(value, Mapping):
        raise InvalidParameterError("fixed must name parameters and their values as scipy does: {'floc': 0}.")
    return tuple(sorted((str(name), number) for name, number in value.items()))


def options_of(arguments: Mapping[str, Any], columns: int) -> Options:
    """What the family of a question must know."""
    return Options(columns, arguments["trials"], arguments["components"], dict(arguments["fixed"]))


def family_of(question: Question) -> Family:
    """The family of a question about its columns."""
    return family_for(question.arguments["family"], options_of(question.arguments, max(1, len(question.columns))))


def has_scores(family: Family) -> bool:
    """Whether its scores, information and simulated rows are known."""
    return all(hasattr(family, name) for name in ("scores", "information", "sample"))


def _prefer(arguments: Mapping[str, Any], delta: Fraction) -> str:
    """T* where bounds are given; scores where the family has some; else blocks."""
    if arguments["bounds"] is not None:
        return T_STAR
    if has_scores(family_for(arguments["family"], options_of(arguments, 2))):
        return GAUSSIAN if delta else PURE
    return BLOCKS


MLE = register(
    Statistic(
        "mle",
        "The parameters of a family of laws that rows follow, by maximum likelihood",
        (
            Parameter(
                "family",
                "normal, lognormal, exponential, gamma, weibull, beta, pareto, poisson, binomial, negative_binomial, "
                "normal_mixture, multivariate_normal, linear, logistic, poisson_regression, or a distribution of scipy.stats",
                checked_family,
                json_type=TEXT,
                takes=str | FrozenLaw | Model,
                takes_by_name=str,
            ),
            Parameter(
                "bounds",
                "public ranges of the parameters, for t_star: {'shape': (0.1, 10), ...}",
                _checked_bounds,
                None,
                either(object_of(RANGE), list_of(RANGE), RANGE, NOTHING),
                takes=Bounds,
            ),
            Parameter(
                "blocks",
                "into how many blocks rows are put, for t_star and blocks",
                checked_blocks,
                "auto",
                AUTO_OR_WHOLE,
                takes=Blocks,
            ),
            _whole_parameter("trials", "of a binomial family: the public number of trials", 1, 10**9),
            _whole_parameter("components", "of a mixture: how many laws it has", 2, 5),
            Parameter(
                "fixed",
                "of a scipy distribution: parameters that are known, such as {'floc': 0}",
                _checked_fixed,
                None,
                either(object_of({"type": "number"}), NOTHING),
                takes=Mapping[str, float] | None,
            ),
        ),
        reads=(Reads.FEATURES,),
        parameter_first=True,
        returns="a LikelihoodFit with the parameters by name",
        value=LikelihoodFit,
        why_preferred="it errs least where it can be had: scores of all rows where the family has them, T* within given bounds, "
        "estimates of blocks for other models",
        revive=revive_fit,
        prefer=_prefer,
        simulate=lambda question, *how: simulated_rows(family_of(question), max(1, len(question.columns)), *how),
    )
)


def _check(question: Question) -> None:
    """Raise where the family has no such rows or options, or the method does not suit it."""
    if question.columns:
        check_columns(question.arguments["family"], len(question.columns))
    family, name = family_of(question), question.method.name
    bounds = question.arguments["bounds"]
    if name == T_STAR:
        bounds_of(question, family)
    elif bounds is not None:
        raise InvalidParameterError(f"bounds are for the method 't_star'; {name!r} needs none.")
    if name in BY_SCORES and not has_scores(family):
        raise InvalidParameterError(f"{family.name} has no scores that are known: use method='blocks'.")
    blocks = question.arguments["blocks"]
    if name not in (T_STAR, BLOCKS) and blocks != "auto":
        raise InvalidParameterError(f"blocks are for the methods 't_star' and 'blocks', not for {name!r}.")
    if name == BLOCKS and blocks != "auto":
        aggregator_for("centred").check_blocks(blocks, len(family.parameters), question.epsilon)


def bounds_of(question: Question, family: Family) -> tuple[tuple[float, float], ...]:
    """The public range of each parameter, in their order."""
    given: Any = question.arguments["bounds"]
    example = ", ".join(f"{name!r}: (low, high)" for name in family.parameters[:3])
    if given is None:
        raise InvalidParameterError(f"t_star needs bounds for {', '.join(family.parameters)}: bounds={{{example}}}.")
    if given and isinstance(given[0][0], str):
        by_name = dict(given)
        for name in by_name.keys() - set(family.parameters):
            raise UnknownNameError(f"{family.name} has no parameter {name!r}: it has {', '.join(family.parameters)}.")
        missing = [name for name in family.parameters if name not in by_name]
        given = None if missing else tuple(by_name[name] for name in family.parameters)
    if given is None or len(given) != len(family.parameters):
        raise InvalidParameterError(f"bounds must give a range for each of {', '.join(family.parameters)}: {{{example}}}.")
    for name, (low, high), (least, most) in zip(family.parameters, given, family.space, strict=True):
        if low < least or high > most:
            raise InvalidParameterError(f"{name} of {family.name} lies between {least:g} and {most:g}, and so must its bounds.")
    return tuple(given)


@method(MLE, GAUSSIAN, claim=f"(epsilon, delta)-DP, {SCORES_CLAIM}", needs_delta=True, version=2, check=_check)
@method(MLE, PURE, claim=f"pure epsilon-DP, no delta, {SCORES_CLAIM}", version=2, check=_check)
def mle_by_scores(table: Table, question: Question, rng: RandomSource) -> Outcome:
    """The maximum of the likelihood, whether or not the family fits: where the mean of all rows' scores is 0."""
    return _by_scores(table, question, rng, ReachWalk, OF_POPULATION, SANDWICH_ERROR)


@method(MLE, GAUSSIAN_BOUNDED, claim=f"(epsilon, delta)-DP, {BOUNDED_CLAIM}", needs_delta=True, check=_check)
@method(MLE, BOUNDED, claim=f"pure epsilon-DP, no delta, {BOUNDED_CLAIM}", check=_check)
def mle_by_bounded_scores(table: Table, question: Question, rng: RandomSource) -> Outcome:
    """The parameters that fit the bulk of the rows, as efficient as maximum likelihood where these follow the family."""
    return _by_scores(table, question, rng, ScoreWalk, OF_BULK, MODEL_ERROR)


def _by_scores(
    table: Table, question: Question, rng: RandomSource, walker: type[ScoreWalk], estimates: str, covers: str
) -> Outcome:
    """From private quartiles to an estimate, by noisy means of scores."""
    family: Any = family_of(question)
    columns = max(1, len(question.columns))
    progress = Progress(columns + MOST_EARLY + 1, work="mle", pieces="steps")
    with progress:
        walk = walker(family, FitContext(table, budget_split_for(question, rng), rng, progress))
        estimate = walk.walk(columns)
    floor = floor_of(question, family)
    if estimate is None:
        refusal = floor.refusal(question, walk.noisy_rows) if floor and not question.rough else None
        return refusal or FEW_ROWS
    coordinates = Coordinates(family.space)
    slopes = coordinates.slopes(estimate.theta)
    fit = fit_of(
        family,
        estimate.theta,
        covariance=estimate.covariance * np.outer(slopes, slopes),
        noise=estimate.noise,
        clipping=estimate.clipping,
        noisy_rows=estimate.noisy_rows,
        estimates=estimates,
    )
    free = coordinates.free(estimate.theta)
    intervals = _intervals(question, np.sqrt(np.diag(estimate.covariance)), lambda step: coordinates.held(free + step), covers)
    notes = (("parameters", estimates), *error_notes(fit), *_notes(question, family))
    answer = Answer(fit, None, notes, intervals)
    return floor.judge(question, walk.noisy_rows, answer) if floor else answer


def floor_of(question: Question, family: Family) -> Floor | None:
    """What rows an answer for the population takes; None for one of the bulk of the rows, whose steps tell by themselves."""
    if question.method.name not in (PURE, GAUSSIAN):
        return None
    usual = FLOOR_NATS if is_exponential(family) and family.name != "normal" else MORE_FLOOR_NATS
    nats = MEASURED_FLOORS.get(family.name, usual) if question.method.name == PURE else usual
    return Floor(nats * len(family.parameters))


@method(MLE, BLOCKS, claim="pure epsilon-DP, no bounds asked, no delta: a bound-free mean of estimates of blocks", check=_check)
def mle_by_blocks(table: Table, question: Question, rng: RandomSource) -> Answer | Refusal:
    """A bound-free mean of bias-corrected estimates of blocks: T* without its bounds."""
    family = family_of(question)
    size = len(family.parameters)
    least = fewest_blocks(size, question.epsilon * KEPT)
    blocks, epsilon, noisy_rows = _blocks(
        table, question, rng, lambda rows, rest: blocks_without_bounds(family, rows, rest, least)
    )
    how = aggregator_for("centred")
    if blocks < how.fewest_blocks(blocks, size, epsilon):
        return FEW_ROWS
    return _put_together(table, question, family, blocks, epsilon, noisy_rows, how, rng)


@method(MLE, T_STAR, claim="pure epsilon-DP, no delta: the average of estimates of blocks within public bounds", check=_check)
def mle_t_star(table: Table, question: Question, rng: RandomSource) -> Answer | Refusal:
    """Smith's estimator: the average of bias-corrected estimates of blocks, each projected onto the space, plus noise."""
    family = family_of(question)
    bounds = bounds_of(question, family)
    blocks, epsilon, noisy_rows = _blocks(table, question, rng, lambda rows, rest: blocks_within(family, bounds, rows, rest))
    how = aggregator_for("mean", range=bounds, default=middle_of(bounds))
    return _put_together(table, question, family, blocks, epsilon, noisy_rows, how, rng)


def _blocks(table: Table, question: Question, rng: RandomSource, choose: Any) -> tuple[int, Fraction, int | None]:
    """How many blocks, what epsilon is left, and the noisy number of rows where one was bought."""
    asked = question.arguments["blocks"]
    if asked != "auto":
        return asked, question.epsilon, None
    rest = question.epsilon * (1 - ROWS_SHARE)
    noisy_rows = max(1, noisy_count(table.column(0).count(), question.epsilon * ROWS_SHARE, rng))
    return choose(noisy_rows, rest), rest, noisy_rows


def _put_together(
    table: Table,
    question: Question,
    family: Family,
    blocks: int,
    epsilon: Fraction,
    noisy_rows: int | None,
    how: Any,
    rng: RandomSource,
) -> Answer | Refusal:
    """One estimate from those of blocks."""
    raw_votes = votes_of(family, table, blocks, rng)
    outcome = aggregate_numbers(raw_votes, how, epsilon=epsilon, delta=Fraction(0), level=question.interval, rng=rng)
    if isinstance(outcome, Refusal):
        return FEW_ESTIMATES
    theta = Coordinates(family.space).inside(outcome.values)
    covariance = None
    if outcome.intervals:
        reach = NormalDist().inv_cdf((1 + outcome.intervals[0].level) / 2)
        covariance = np.diag([((each.high - each.low) / 2 / reach) ** 2 for each in outcome.intervals])
    fit = fit_of(family, theta, covariance=covariance, noisy_rows=noisy_rows)
    intervals = tuple(Interval(*rounded_ends(each.low, each.high), each.level, VOTES_ERROR) for each in outcome.intervals)
    notes = (*outcome.notes, ("bias correction", family.bias_correction))
    return Answer(fit, None, (*notes, *_notes(question, family)), intervals)


def _intervals(
    question: Question, deviations: Floats, at: Callable[[Floats], Floats], covers: str = MODEL_ERROR
) -> tuple[Interval, ...]:
    """Normal intervals, where the question wants them; `at` gives the parameters at a step from the estimate."""
    if question.interval is None:
        return ()
    level = float(question.interval)
    reach = NormalDist().inv_cdf((1 + level) / 2) * deviations
    ends = zip(at(-reach).tolist(), at(reach).tolist(), strict=True)
    return tuple(Interval(*rounded_ends(low, high), level, covers) for low, high in ends)


def _notes(question: Question, family: Family) -> tuple[tuple[str, str], ...]:
    model = question.arguments["family"]
    where = "in this process: NOT ISOLATED" if getattr(model, "workers", None) == 0 else "in processes of their own"
    own = f"the asker's own, run {where}; the claim supposes that it looks at nothing but its arguments"
    return (
        *((("model", own),) if hasattr(model, "fit_blocks") else ()),
        ("family", family.name),
        ("missing values", f"{MISSING_POLICY}; rows that cannot come from the family count for nothing"),
        public_line(question),
        ("numerics", "exact whole numbers up to the noise; then floats"),
    )
