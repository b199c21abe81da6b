"""Predict before spending: what to expect of a question, from simulated tables of public shapes.

`plan` reads no data, so nothing here has to be private, and floats and numpy's generator do. It prices a question as the
statistic's own function does, answers it on random tables of a shape, and counts replies, errors and the widths of intervals.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np

import dpstats.statistics  # noqa: F401  (announces them to the registry)
from dpstats.curator.planning.bundles import asked_in, planned_columns, priced, refuse_data, refuse_words_of_ask
from dpstats.curator.planning.forecasts import Plan
from dpstats.curator.planning.joint import JointPlan
from dpstats.curator.planning.planned_questions import PlannedQuestion, plans_at_epsilon, plans_for_width
from dpstats.curator.planning.samples import first_simulated
from dpstats.curator.planning.searches import AsRow
from dpstats.curator.planning.shapes import Shape, checked_shapes, told_apart, usual_shapes
from dpstats.curator.planning.widths import WantedWidth, checked_width
from dpstats.foundations.accepted import Elements, NeighborsName, Number
from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.randomness import RandomSource, random_bits, source_or_system
from dpstats.foundations.registry import AUTO, INTERVAL, Question, ask
from dpstats.foundations.working import own_state

RowCounts = Number | Elements
"""About how many rows a table has, or several such numbers."""
PLANNED_ROWS = (1_000, 10_000, 100_000)
"""Sizes for which a plan about a protected table is made where the asker names none; the true one is private."""
MOST_ROWS = 10**10
MOST_REPEATS = 10**6
REPEATS = 60
SEARCH_REPEATS = 40
"""A search tries many epsilons, small ones among them, which take longest."""
REGRESSION_REPEATS = 12
"""A regression, or a fit, takes as long as many medians."""


@overload
def plan(
    statistic: str,
    *parameters: object,
    epsilon: Number | None = None,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: str = AUTO,
    interval: Number | None = INTERVAL,
    rough: bool = False,
    unit: str = "row",
    n: RowCounts | None = None,
    half_width: Number | None = None,
    shape: object = None,
    features: int | None = None,
    repeats: int | None = None,
    rng: RandomSource | None = None,
    **keywords: object,
) -> Plan: ...


@overload
def plan(
    statistic: list[Any] | tuple[Any, ...],
    *,
    epsilon: Number | None = None,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    interval: Number | None = INTERVAL,
    rough: bool = False,
    unit: str = "row",
    n: RowCounts | None = None,
    half_width: Number | None = None,
    shape: object = None,
    features: int | None = None,
    repeats: int | None = None,
    rng: RandomSource | None = None,
) -> JointPlan: ...


def plan(
    statistic: Any,
    *parameters: object,
    epsilon: Number | None = None,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    method: str = AUTO,
    interval: Number | None = INTERVAL,
    rough: bool = False,
    unit: str = "row",
    n: RowCounts | None = None,
    half_width: Number | None = None,
    shape: object = None,
    features: int | None = None,
    repeats: int | None = None,
    rng: RandomSource | None = None,
    **keywords: Any,
) -> Plan | JointPlan:
    """What to expect of a question before it is asked: how likely a reply is, how wide its interval, how large its error.

    No data is read and nothing is spent: the question is answered on simulated tables of public shapes.

    Parameters
      statistic   the statistic by name, such as 'median'; its own parameters follow: plan('quantile', 0.9, ...).
                  A list of questions shares epsilon and delta: plan(['median', ('quantile', 0.9, {'epsilon': 0.3})], ...)
      epsilon, delta, neighbors, method, interval, rough, unit   as in dp.median
      n           how many rows the table has, about; or a list of such numbers
      half_width  in place of epsilon: how wide the interval may be to either side, in the unit of the answer, or as a share:
                  '5%' of the shape's interquartile range (of the value itself, where it is not in the unit of the data).
                  The plan then says the smallest epsilon that reaches it, up to 10
      shape       how the data may look: 'normal', 'lognormal', 'heavy_tailed', 'delays', 'ratings', 'uniform', 'constant',
                  'share_1', 'share_10', 'share_50' (true in that many percent of the rows);
                  known quantiles, such as {0.1: 12_000, 0.5: 30_000, 0.9: 85_000}; a function from q in (0, 1) to the value
                  below which a fraction q of the rows lies (on numpy arrays); or a list of these; left out: the first four,
                  or for a share the last three
      features    for a regression: how many features it has, such as 3; left out: one. For other statistics of several columns:
                  how many columns, an outcome among them
      repeats     how many tables are simulated for each line: 60; 40 in a search, 12 for a regression
      rng         dpstats.testing.seeded(7) simulates the same plan again

    Usual questions on the first four shapes are read off stored tables of earlier simulations: median, common quantiles, iqr,
    mean, sum, std, variance and count, of 100 to 2,000,000 rows. Others are simulated, and all where repeats or rng is given.

    Errors are distances from the value of the shape itself, so they hold the error of sampling too; of several values the
    largest counts, and of a distribution function the largest difference of probabilities. Values that are no numbers have
    no error, only a probability of a reply. Where a statistic releases no interval, 95% of the errors take its place. Tables of
    any size are simulated without drawing all of their rows, except where a statistic needs every row (a mean, a sum, a most
    common value, anything of several columns): those can be planned for up to 2,000,000 rows.

    Each feature of a regression has the shape, and they go together (correlation 0.5); the outcome is their sum and noise of the
    same shape that varies as much, so that all coefficients are 1. Of an outcome of 0 or 1 the log odds are such a sum, and of
    counts the log of the mean, in another unit. Half-widths and errors are those of coefficients. Columns without an outcome go
    together in the same way. Some statistics simulate rows of their own, such as those of the law that they fit; they take no
    shape, and the widest interval of a parameter counts.

    Returns a Plan: print it, or take its rows, or .plot("plan.svg") it. Of a list of questions a JointPlan, which holds a Plan
    for each.
    """
    common = {"neighbors": neighbors, "interval": interval, "rough": rough, "unit": unit, **keywords}
    if isinstance(statistic, str):
        refuse_words_of_ask(statistic, keywords)
        refuse_data(statistic, parameters)
        price = 1 if epsilon is None else epsilon
        columns = planned_columns(statistic, features)
        questions = [ask(statistic, *parameters, epsilon=price, delta=delta, method=method, column=columns, **common)]
        wanted = checked_wish(epsilon, half_width)
    elif isinstance(statistic, (list, tuple)):
        if parameters or method != AUTO:
            raise InvalidParameterError(
                "in a list each question brings its own parameters: ('quantile', 0.9, {'method': 'ptr'})."
            )
        asked = asked_in(statistic)
        wanted = checked_wish(epsilon, half_width)
        questions = priced(asked, epsilon, delta, features, **common)
    else:
        raise InvalidParameterError(
            f"plan takes a statistic by name, such as plan('median', ...), or a list; got {type(statistic).__name__}."
        )
    plans = plan_questions(questions, n=n, wanted=wanted, shape=shape, repeats=repeats, rng=rng)
    return plans[0] if isinstance(statistic, str) else JointPlan(tuple(plans))


def plan_questions(
    questions: Sequence[Question],
    *,
    n: object,
    wanted: WantedWidth | None,
    shape: object = None,
    repeats: object = None,
    rng: object = None,
    as_row: AsRow = lambda question: question,
) -> list[Plan]:
    """A plan for each question that is checked and priced already; where a half-width is wanted, at the epsilon that it takes.

    `as_row` makes of a question, priced for a unit, what is asked of the rows.
    """
    sizes, shapes = checked_sizes(n), _shapes_for(questions, shape)
    tables = checked_repeats(questions, wanted, repeats)
    seed = random_bits(source_or_system(rng), 128)
    from_tables = repeats is None and rng is None
    planned = [
        PlannedQuestion(question, sizes, own, as_row, seed, from_tables) for question, own in zip(questions, shapes, strict=True)
    ]
    with own_state(private=False):
        return plans_at_epsilon(planned, tables) if wanted is None else plans_for_width(planned, tables, wanted)


def plan_priced(question: Question, text: str, *, as_row: AsRow, wanted: WantedWidth | None, **words: Any) -> Plan:
    """The plan of one question about a protected table, called `text` for people; the words are those of `plan_questions`."""
    [found] = plan_questions([question], wanted=wanted, as_row=as_row, **words)
    return replace(found, question=f"{text}{row_price(question, as_row) if wanted is None else ''}")


def row_price(question: Question, as_row: AsRow) -> str:
    """What the price of a unit is for a row, in words; nothing where it is the same."""
    row = as_row(question)
    if row.epsilon == question.epsilon:
        return ""
    return f" ({question.cost} for a {question.cost.unit} is {row.cost} for a row)"


def checked_repeats(questions: Sequence[Question], wanted: WantedWidth | None, repeats: object) -> int:
    """What was given as `repeats=`, or how many tables are usual."""
    if repeats is not None:
        return _checked_whole(repeats, "repeats", 1, MOST_REPEATS)
    if any(question.statistic.takes_features or question.statistic.simulate for question in questions):
        return REGRESSION_REPEATS
    return REPEATS if wanted is None else SEARCH_REPEATS


def _shapes_for(questions: Sequence[Question], shape: object) -> list[tuple[Shape, ...]]:
    """The shapes on which each question is tried; where a statistic simulates rows of its own, what stands for them."""
    simulating = [question for question in questions if question.statistic.simulate is not None]
    if simulating and shape is not None:
        raise InvalidParameterError(f"{simulating[0].statistic.name} is planned on rows that it simulates: leave shape out.")
    own = iter(told_apart(Shape("simulated", first_simulated(each).words, np.zeros_like) for each in simulating))
    return [
        checked_shapes(shape, usual_shapes(question)) if question.statistic.simulate is None else (next(own),)
        for question in questions
    ]


def checked_wish(epsilon: object, half_width: object) -> WantedWidth | None:
    """The half-width that is wanted, or None where epsilon is given; exactly one of them must be."""
    if epsilon is None and half_width is None:
        raise MissingParameterError(
            "plan needs epsilon, the privacy that may be spent (epsilon=0.5), or half_width, how wide the interval may be to "
            'either side (half_width="5%").'
        )
    if epsilon is not None and half_width is not None:
        raise InvalidParameterError("plan takes epsilon or half_width, not both: one is what the other takes.")
    return None if half_width is None else checked_width(half_width)


def checked_sizes(given: object) -> list[int]:
    """What was given as `n=`: a number of rows, or several."""
    if given is None:
        raise MissingParameterError(
            "plan needs n, about how many rows the table has: for example n=10_000, or a list of numbers."
        )
    several: Iterable[Any] = given if isinstance(given, Iterable) and not isinstance(given, (str, bytes)) else [given]
    sizes = [_checked_whole(item, "n", 0, MOST_ROWS) for item in several]
    if not sizes:
        raise InvalidParameterError("n must hold at least one number of rows, such as 10_000.")
    return sizes


def _checked_whole(value: Any, name: str, least: int, most: int) -> int:
    """A whole number; 1e4 is one too."""
    try:
        number = int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, (bool, np.bool_)) or not least <= number <= most:
        raise InvalidParameterError(
            f"{name} must be a whole number from {least} to {most:,}, such as {max(least, 200)}; got {value!r}."
        )
    return number
