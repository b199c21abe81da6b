"""Predict before spending: what to expect of a question, from simulated tables of public shapes.

`plan` reads no data and spends nothing, so nothing here has to be private, and floats and numpy's generator do. It checks and
prices a question exactly as the statistic's own function does, draws tables of a shape, answers the question on each of them
by the method that would answer it, and counts replies and errors. It knows no statistic by name.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import dpstats.statistics  # noqa: F401  (fills the registry)
from dpstats.curator.planning.forecasts import Plan, PlanRow, wilson_interval
from dpstats.curator.planning.progress import Progress
from dpstats.curator.planning.shapes import Shape, checked_shapes
from dpstats.curator.planning.tables import ShapeColumn
from dpstats.curator.planning.uniforms import DrawnUniforms
from dpstats.curator.planning.yardsticks import (
    Yardstick,
    error_of,
    is_distribution,
    measured,
    nearly_exact,
    plain_numbers,
    reply_to,
)
from dpstats.foundations.errors import InvalidParameterError, MissingParameterError, UnknownNameError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import random_bits, seeded, source_or_system
from dpstats.foundations.registry import AUTO, Question, ask, find_statistic

MOST_ROWS = 10**10
MOST_REPEATS = 10**6


def plan(
    statistic: str,
    *parameters: object,
    epsilon: object = None,
    n: object = None,
    delta: object = 0,
    neighbors: object = Neighbors.ADD_REMOVE,
    method: object = AUTO,
    shape: object = None,
    repeats: object = 200,
    rng: object = None,
    **keywords: object,
) -> Plan:
    """What to expect of a question before it is asked: how likely a reply is, and how large its error.

    No data is read and nothing is spent: the question is answered on simulated tables of public shapes.

    Parameters
      statistic   the statistic by name, such as 'median'; its own parameters follow: plan('quantile', 0.9, ...)
      epsilon, delta, neighbors, method   as in dp.median
      n           how many rows the table has, about; or a list of such numbers
      shape       how the data may look: 'normal', 'lognormal', 'heavy_tailed', 'delays', 'ratings', 'uniform', 'constant', or a
                  function from q in (0, 1) to the value below which a fraction q of the rows lies (on numpy arrays);
                  or a list of these; left out: the first four
      repeats     how many tables are simulated for each line
      rng         dpstats.testing.seeded(7) gives the same plan again

    Errors are distances from the value of the shape itself, so they hold the error of sampling too; of several values the
    largest counts, and of a distribution function the largest difference of probabilities. Values that are no numbers have
    no error, only a probability of a reply. Tables of any size are simulated without drawing all of their rows, except where
    a statistic needs every row (a sum, a most common value): those can be planned for up to 2,000,000 rows.

    Returns a Plan: print it, or take its rows, or .plot("plan.svg") it.
    """
    if not isinstance(statistic, str):
        raise InvalidParameterError(
            f"plan takes a statistic by name, such as plan('median', ...); got {type(statistic).__name__}."
        )
    for unknown in keywords.keys() & {"name", "column"}:  # words of `ask` that are no parameters
        raise UnknownNameError(f"{statistic} has no parameter {unknown!r}.")
    if len(parameters) > len(find_statistic(statistic).parameters):
        raise InvalidParameterError(f"plan reads no data and takes fewer parameters: plan({statistic!r}, epsilon=0.5, n=10_000).")
    question = ask(
        statistic,
        *parameters,
        epsilon=epsilon,
        delta=delta,
        neighbors=neighbors,
        method=method,
        **keywords,  # type: ignore[arg-type]
    )
    sizes, shapes = _checked_sizes(n), checked_shapes(shape)
    tables = _checked_whole(repeats, "repeats", 1, MOST_REPEATS)
    seed = random_bits(source_or_system(rng), 128)
    yardsticks = [measured(question, each) for each in shapes]
    progress = Progress(len(sizes) * len(shapes) * tables)
    rows = []
    try:
        for size in sizes:
            for each, yardstick in zip(shapes, yardsticks, strict=True):
                generator = np.random.default_rng([seed, size, *each.name.encode()])  # no line depends on the others
                rows.append(_forecast(question, each, size, yardstick, tables, generator, progress.step))
    finally:
        progress.close()
    return Plan(str(question), tuple(rows), tuple((each.name, each.summary) for each in shapes), _error_unit(yardsticks))


def _forecast(
    question: Question,
    shape: Shape,
    size: int,
    yardstick: Yardstick,
    repeats: int,
    generator: np.random.Generator,
    step: Callable[[], None],
) -> PlanRow:
    """One line of a plan."""
    truth = yardstick.value_at(size)
    replies = 0
    errors: list[float | None] = []
    sampling_errors: list[float | None] = []
    for _ in range(repeats):
        source = seeded(int(generator.integers(2**63)))
        column = ShapeColumn(shape, DrawnUniforms(size, generator))
        release = reply_to(question, column, source)
        if release is not None:
            replies += 1
            errors.append(error_of(release.value, truth))
        sampling_errors.append(error_of(nearly_exact(question, column, source), truth) if size else None)
        step()
    typical, large = _quantile(errors, 0.5), _quantile(errors, 0.95)
    has_scale = plain_numbers(truth) is not None and not yardstick.grows and shape.iqr > 0
    return PlanRow(
        n=size,
        shape=shape.name,
        method=question.method.name,
        cost=question.cost,
        repeats=repeats,
        reply_probability=replies / repeats,
        reply_interval=wilson_interval(replies, repeats),
        shape_value=truth,
        error_median=typical,
        error_95=large,
        relative_error_median=typical / shape.iqr if has_scale and typical is not None else None,
        relative_error_95=large / shape.iqr if has_scale and large is not None else None,
        sampling_error_median=_quantile(sampling_errors, 0.5),
    )


def _quantile(errors: Iterable[float | None], share: float) -> float | None:
    """The smallest error that so many do not exceed; None where there is none, or where one could not be measured."""
    known = [error for error in errors if error is not None]
    return float(np.quantile(known, share, method="inverted_cdf")) if known else None


def _error_unit(yardsticks: Iterable[Yardstick]) -> str:
    values = [yardstick.value for yardstick in yardsticks]
    if any(is_distribution(value) for value in values):
        return "probabilities"
    return "in the unit of the answer"


def _checked_sizes(given: object) -> list[int]:
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
