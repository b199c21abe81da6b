"""Small databases and multiplicative weights: tables over a universe of listed levels, from the seeds.

Claim      small_database: epsilon-DP. mwem: epsilon-DP, or with delta (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private), and CHANGE_ONE at the same price
Why        A row lies in one cell of a public universe, or in none where a value is missing or not listed; the rest is in
           universe/small_databases.py and universe/multiplicative_weights.py
Numerics   Exact
Source     universe/small_databases.proof.md, universe/multiplicative_weights.proof.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpstats.foundations.accepted import Elements, Number
from dpstats.foundations.errors import DataTypeError, InvalidParameterError, MissingParameterError
from dpstats.foundations.json_types import NOTHING, NUMBER, WHOLE, either, list_of, object_of
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Parameter, Question, Reads, Statistic, method, register
from dpstats.foundations.rounding import exact_rational
from dpstats.foundations.summaries import CodedTable, Coding, LabelCoding
from dpstats.statistics.coded.columns import CodedColumn
from dpstats.statistics.coded.finding import cut_coding
from dpstats.statistics.coded.parameters import LEVELS, NUMERIC, known_levels, levels_of, with_levels
from dpstats.statistics.histograms import checked_bins
from dpstats.statistics.universal.decimals import float_of, ordinal_of
from dpstats.statistics.universe.multiplicative_weights import MOST_ROUNDS, WeightsPlan, release_weights, weights_plan
from dpstats.statistics.universe.small_databases import (
    SmallDatabase,
    SmallDatabasePlan,
    draw_small_database,
    small_database_plan,
)
from dpstats.statistics.universe.universe import Universe
from dpstats.statistics.universe.weighted_universe import WeightedUniverse

MOST_WAYS = 4
LEFT_OUT = ("left out", "rows that are missing in one of the columns, or have a label that is not listed")


def _checked_edges(value: object) -> tuple[tuple[str, tuple[Fraction, ...]], ...]:
    if value is None:
        return ()
    if not isinstance(value, Mapping):
        raise InvalidParameterError("bins must give the edges of columns of numbers by name: {'age': [18, 30, 65]}.")
    found = {str(name): checked_bins(edges) for name, edges in value.items()}
    for name, edges in found.items():
        if isinstance(edges, int) or not all(isinstance(edge, Fraction) for edge in edges):
            raise InvalidParameterError(f"bins[{name!r}] must list ascending edges, such as [18, 30, 65].")
    return tuple(found.items())  # type: ignore[arg-type]


def _whole_or_none(name: str, help: str, most: int) -> Parameter:
    def check(value: object) -> int | None:
        if value is not None and (type(value) is not int or not 1 <= value <= most):
            raise InvalidParameterError(f"{name} must be a whole number from 1 to {most:,}, or be left out.")
        return value

    return Parameter(name, help, check, None, either(WHOLE, NOTHING), by_name=True, takes=int | None)


def _checked_ways(value: object) -> int:
    if type(value) is not int or not 1 <= value <= MOST_WAYS:
        raise InvalidParameterError(f"ways must be a whole number from 1 to {MOST_WAYS}, got {value!r}.")
    return value


def _checked_average(value: object) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidParameterError(f"average must be True or False, got {value!r}.")
    return bool(value)


WAYS = Parameter(
    "ways", "how many columns the tables have whose cells are to come out right", _checked_ways, 2, by_name=True, takes=int
)
EDGES = Parameter(
    "bins",
    "the edges of columns of numbers, by column: {'age': [18, 30, 65]}",
    _checked_edges,
    None,
    either(object_of(list_of(NUMBER)), NOTHING),
    by_name=True,
    takes=Mapping[str, Elements] | None,
)


def settle_universe(question: Question, kinds: Mapping[str, str], keys: Mapping[str, Sequence[Any]]) -> Question:
    """The question about columns of these types, all of whose levels or edges must be known; raises where they are not."""
    known, edges = known_levels(question, kinds, keys), dict(question.arguments["bins"])
    for name, kind in kinds.items():
        if name in known or (name in edges and kind in NUMERIC):
            continue
        if name in edges:
            raise DataTypeError(f"bins lists edges of column {name!r}, which is of type {kind}: list its labels in levels.")
        way = f"bins={{{name!r}: [18, 30, 65]}}" if kind in NUMERIC else f"levels={{{name!r}: [...]}}"
        raise MissingParameterError(
            f"{question.statistic.name} needs every possible row to be public, and column {name!r} has no listed values: "
            f"{way}. contingency_table and synthesize find values privately."
        )
    settled = with_levels(question, known)
    plan_of(settled)  # complains where there are too many rows or databases
    return settled


SMALL_DATABASE = register(
    Statistic(
        "small_database",
        "A few rows whose shares are like those of the table: the mechanism of Blum, Ligett and Roth",
        (
            WAYS,
            _whole_or_none("size", "how many rows the small database has; or give alpha", 1_000_000),
            Parameter(
                "alpha",
                "in place of size: by how much some database of the size may miss a share, such as 0.2",
                lambda value: None if value is None else exact_rational(value, "alpha"),
                None,
                either(NUMBER, NOTHING),
                by_name=True,
                takes=Number | None,
            ),
            LEVELS,
            EDGES,
        ),
        reads=(Reads.COLUMNS,),
        returns="a SmallDatabase with .rows, .counts, .marginal(...) and .to_pandas()",
        value=SmallDatabase,
        revive=SmallDatabase.from_dict,
        settle_columns=settle_universe,
        labelled=lambda arguments: dict(arguments["levels"]),
    )
)
MWEM = register(
    Statistic(
        "mwem",
        "Weights of all possible rows that learn, round by round, the counts that they miss most",
        (
            WAYS,
            _whole_or_none("rounds", "how many counts are measured; left out: by the number of columns", MOST_ROUNDS),
            Parameter(
                "average",
                "True averages the weights over all rounds, as printed; the last ones are better",
                _checked_average,
                False,
                by_name=True,
                takes=bool,
            ),
            LEVELS,
            EDGES,
        ),
        reads=(Reads.COLUMNS,),
        returns="a WeightedUniverse with .total, .measurements, .marginal(...) and .to_pandas()",
        value=WeightedUniverse,
        revive=WeightedUniverse.from_dict,
        prefer=lambda arguments, delta: "gaussian" if delta else "laplace",
        settle_columns=settle_universe,
        labelled=lambda arguments: dict(arguments["levels"]),
    )
)


def plan_of(question: Question) -> SmallDatabasePlan | WeightsPlan:
    """What will be drawn or measured, from public things alone."""
    universe = Universe(question.columns, tuple(_coded(question, name).labels for name in question.columns))
    asked, epsilon = question.arguments, question.epsilon
    ways = min(asked["ways"], len(question.columns))
    if question.statistic is SMALL_DATABASE:
        return small_database_plan(universe, ways=ways, epsilon=epsilon, size=asked["size"], alpha=asked["alpha"])
    return weights_plan(
        universe, ways=ways, epsilon=epsilon, delta=question.delta, rounds=asked["rounds"], average=asked["average"]
    )


@method(
    SMALL_DATABASE,
    "exponential",
    claim="pure epsilon-DP: one exact draw of the exponential mechanism over all databases of that size",
    loss=Fraction(1, 8),
)
def small_database_exponential(table: CodedTable, question: Question, rng: RandomSource) -> Answer:
    """A database, drawn exactly."""
    plan = plan_of(question)
    assert isinstance(plan, SmallDatabasePlan)
    return Answer(draw_small_database(_raw_cells(table, question), plan, rng), notes=(*plan.notes(), LEFT_OUT))


@method(MWEM, "laplace", claim="pure epsilon-DP: exact draws of queries, and whole-number Laplace noise on their counts")
def mwem_laplace(table: CodedTable, question: Question, rng: RandomSource) -> Answer:
    """Weights from counts with Laplace noise."""
    return _weights(table, question, rng)


@method(
    MWEM,
    "gaussian",
    claim="(epsilon, delta)-DP: exact draws of queries, and whole-number Gaussian noise on their counts",
    needs_delta=True,
)
def mwem_gaussian(table: CodedTable, question: Question, rng: RandomSource) -> Answer:
    """Weights from counts with Gaussian noise."""
    return _weights(table, question, rng)


def _weights(table: CodedTable, question: Question, rng: RandomSource) -> Answer:
    plan = plan_of(question)
    assert isinstance(plan, WeightsPlan)
    return Answer(release_weights(_raw_cells(table, question), plan, rng), notes=(*plan.notes(), LEFT_OUT))


def _coded(question: Question, name: str) -> CodedColumn:
    """A column as labels: those that are listed, or ranges between edges in words."""
    levels = levels_of(question)
    if name in levels:
        return CodedColumn(name, labels=levels[name])
    return CodedColumn(name, labels=CodedColumn(name, edges=tuple(map(float_of, _ordinals(question, name)))).names)


def _ordinals(question: Question, name: str) -> list[int]:
    return [ordinal_of(float(edge)) for edge in dict(question.arguments["bins"])[name]]


def _raw_cells(table: CodedTable, question: Question) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The number of rows in each cell of the universe."""
    levels = levels_of(question)
    codings: list[Coding] = [
        LabelCoding(levels[name]) if name in levels else cut_coding(table.column(place), _ordinals(question, name))
        for place, name in enumerate(question.columns)
    ]
    (raw_counts,) = table.code_counts(codings, [tuple(range(len(codings)))])
    return np.asarray(raw_counts.ravel(), dtype=np.int64)
