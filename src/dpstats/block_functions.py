"""`dp.sample_and_aggregate`: any function of a block of rows, and one private answer of what it says of all blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from dpstats.curator.session import Session
from dpstats.engines.cells import ColumnType
from dpstats.engines.kinds import not_numbers
from dpstats.engines.reading import native_column
from dpstats.engines.tables.features import Feature, features_of
from dpstats.engines.taking import rows_taker
from dpstats.foundations.accepted import Blocks, Columns, Elements, Ends, NeighborsName, Number
from dpstats.foundations.errors import DataTypeError, InvalidParameterError
from dpstats.foundations.privacy import Neighbors, PrivacyCost, spendable_delta, spendable_epsilon
from dpstats.foundations.progress import Progress
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.registry import INTERVAL, Outcome, checked_level, checked_rough, outcome_of, reply_to
from dpstats.foundations.results import NoReply, Release
from dpstats.foundations.text_tables import counted
from dpstats.foundations.words import with_known_words
from dpstats.statistics.aggregation.evaluation import SECONDS, MadePieces, evaluate, ship
from dpstats.statistics.aggregation.named_functions import NAMED, named_function
from dpstats.statistics.aggregation.plans import plan_for

MOST_SECONDS = 86_400.0
MOST_WORKERS = 1024
ISOLATED = "runs once for each block, in a process of its own"
NOT_ISOLATED = "runs in this process: NOT ISOLATED, so that what it does in one block may show in another"
OWN = "one of dpstats, asked for by name; it looks at its block alone"
AggregateName = Literal["mean", "trimmed", "winsorized", "median", "universal", "centred", "clipped", "argmax", "stable"]
FunctionName = Literal[
    "mean",
    "median",
    "std",
    "variance",
    "minimum",
    "maximum",
    "iqr",
    "mad",
    "skewness",
    "kurtosis",
    "correlation",
    "least_squares",
]
BlockFunction = Callable[..., Any] | FunctionName


@with_known_words(f="function")
def sample_and_aggregate(
    function: BlockFunction | Sequence[BlockFunction],
    data: Columns,
    *,
    blocks: Blocks = "auto",
    aggregate: AggregateName | Callable[..., Any] = "universal",
    range: Ends = None,
    trim: Number | None = None,
    outputs: int | None = None,
    default: Any = None,
    options: Elements | None = None,
    overlap: int = 1,
    popularity: bool = False,
    seconds: float = SECONDS,
    workers: int | None = None,
    epsilon: Number,
    delta: Number = 0,
    neighbors: NeighborsName = "add_remove",
    interval: Number | None = INTERVAL,
    rough: bool = False,
    unit: str = "row",
    rng: RandomSource | None = None,
) -> Release | NoReply:
    """One private answer of what a function says of random blocks of rows.

        dp.sample_and_aggregate(np.median, income, blocks=300, epsilon=1)
        dp.sample_and_aggregate(slopes, (X, y), outputs=3, epsilon=1)
        dp.sample_and_aggregate(best_model, frame, aggregate="argmax", options=["linear", "tree"], epsilon=1)

    Parameters
      function    of a block: of rows in a container like `data`, or for a tuple of containers one argument for each; a name such
                  as "median", "correlation" or "least_squares", which runs here and knows its outputs; or a list of functions of
                  several analysts, who get a block each in turn
      data        rows: a list, an array, a frame or column of pandas, polars or pyarrow, a dict of columns, or a tuple of these
      blocks      into how many blocks rows are put; public. More make a better aggregate, fewer make better blocks
      aggregate   "universal" (a median, no range needed), "centred" and "clipped" (means, no range needed), "mean" (needs range),
                  "trimmed", "winsorized" (with range or without), "median" (by a test, needs delta), "argmax" (needs options),
                  "stable" (the most frequent label, needs delta), or a function such as dp.winsorized_mean
      range       for "mean", "trimmed", "winsorized": public ends of the answer such as (0, 10), or a list of them
      trim        for "trimmed" and "winsorized": the part cut off at either end, 0.1 where it is left out
      outputs     how many numbers the function returns; left out: one number. Whatever else it returns is no answer
      default     what a block without an answer counts as; left out: the middle of the range, or far up or down by its place
      options     for "argmax": the public list of labels
      overlap     for labels: in how many blocks each row is
      popularity  for labels: whether to buy the share of blocks that chose the answer, for a quarter of epsilon
      seconds     what a block may take; one that takes longer has no answer
      workers     processes, one for each core where it is left out; 0 runs the function in this process, for finding faults on
                  made-up rows. A script that starts them needs no `if __name__ == "__main__"`
      epsilon     the privacy that the answer spends; required, for example 0.5
      delta       for aggregate="median" and "stable", for example 1e-6
      rough       as everywhere; it changes nothing here: what blocks an answer takes is checked before it is asked for
      neighbors, interval, unit, rng  as everywhere

    Every row is in one block, by its own coin, so one row changes one reply. The function runs once for each block, in a process
    of its own. A block on which it raises, hangs, or returns NaN or another shape keeps its place without an answer; which one is
    never told.
    """
    source = source_or_system(rng)
    checked_rough(rough)
    if isinstance(data, Session):
        raise DataTypeError(
            "a protected table keeps count, and runs functions by name only: table.sample_and_aggregate('median', 'income', ...)."
        )
    functions = _functions(function)
    limit, hands = checked_limits(seconds, workers)
    rows = rows_taker(data)
    if any(isinstance(each, str) for each in (function if isinstance(function, (list, tuple)) else [function])):
        _refuse_other_kinds(data)
    if isinstance(function, str):
        named = named_function(function).check_container(*rows.take(np.zeros(0, dtype=np.int64)))
        outputs, hands = (named if outputs is None and named > 1 else outputs), 0
    plan = plan_for(
        aggregate,
        epsilon=spendable_epsilon(epsilon),
        delta=spendable_delta(delta),
        level=checked_level(interval),
        blocks=blocks,
        outputs=outputs,
        range=range,
        trim=trim,
        default=default,
        options=options,
        overlap=overlap,
        popularity=popularity,
    )
    cost = PrivacyCost(plan.epsilon, plan.delta, Neighbors.named(neighbors), unit)
    if hands != 0:
        ship(functions)

    def answer() -> Outcome:
        raw_pieces = plan.pieces(rows.count, source)
        with Progress(plan.blocks, work="sample_and_aggregate", pieces="blocks") as progress:
            raw_replies = evaluate(
                functions,
                MadePieces(plan.blocks, lambda place: rows.take(raw_pieces[place])),
                plan.form,
                seconds=limit,
                workers=hands,
                progress=progress,
            )
        return plan.answer(raw_replies, source)

    return reply_to(
        f"sample_and_aggregate({shown_function(function)}, blocks={plan.blocks}, aggregate={plan.aggregate})",
        outcome_of(answer, source),
        cost=cost,
        method=plan.aggregate,
        claim=plan.claim,
        private=source.private,
        last=(("function", OWN if isinstance(function, str) else NOT_ISOLATED if hands == 0 else ISOLATED),),
    )


def _functions(function: Any) -> list[Callable[..., Any]]:
    several = function if isinstance(function, (list, tuple)) else [function]
    given = [named_function(each).of_container if isinstance(each, str) else each for each in several]
    if not given or not all(callable(each) for each in given):
        known = ", ".join(NAMED)
        raise InvalidParameterError(
            f"function must be a function of a block of rows, a list of such functions, or one of {known}."
        )
    return given


def _refuse_other_kinds(data: Any) -> None:
    """Raise where a column's declared type is none of numbers, which functions by name cannot do with."""
    for container in data if isinstance(data, tuple) else (data,):
        for feature in _columns(container):
            column = native_column(feature.raw_values)
            if not column.type.is_numeric and column.type is not ColumnType.UNDECLARED:
                raise not_numbers(column.holds)


def _columns(container: Any) -> list[Feature]:
    """The columns of a container; of a list itself, and of what has more dimensions, and is refused as such, none."""
    if isinstance(container, list):
        return [Feature(None, container)]
    return features_of(container) if getattr(container, "ndim", 1) <= 2 else []


def checked_limits(seconds: Any, workers: Any) -> tuple[float, int | None]:
    """Seconds for a block, and how many processes there are; an error where they make no sense."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds <= MOST_SECONDS:
        raise InvalidParameterError(f"seconds must be a number above 0, up to {MOST_SECONDS:,.0f}.")
    if workers is not None and (type(workers) is not int or not 0 <= workers <= MOST_WORKERS):
        raise InvalidParameterError(f"workers must be a whole number from 0 to {MOST_WORKERS:,}, or None for one on each core.")
    return float(seconds), workers


def shown_function(function: Any) -> str:
    """The function's name, as far as it is plain."""
    if isinstance(function, (list, tuple)):
        return counted(len(function), "function")
    name = function if isinstance(function, str) else getattr(function, "__name__", type(function).__name__)
    return name if isinstance(name, str) and name.isprintable() and len(name) <= 60 else "f"
