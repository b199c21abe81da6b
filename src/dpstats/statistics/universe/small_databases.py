"""The small database mechanism of Blum, Ligett and Roth, drawn exactly.

Claim      epsilon-DP, and epsilon**2/8 zCDP
Neighbors  ADD_REMOVE, the number of rows n is private; CHANGE_ONE at the same price
Why        A multiset y of `size` rows is drawn with probability proportional to exp(-epsilon * s / 2), where s is the most by
           which a query's count F(x) misses n(x) times its share f(y). A row added to x moves F - n f(y) by f(row) - f(y), which
           lies between -1 and 1; a changed row moves F by at most 1. So s moves by at most 1: the exponential mechanism
Numerics   Exact: size * s is a whole number. The score is drawn first, with weight (number of databases) * exp(-epsilon * s / 2),
           and then one of these databases uniformly. For tables below 2**42 rows
Time       Every database is scored, whatever the rows: the steps depend on the universe, the queries and the size
Source     Blum, Ligett & Roth 2008; the slides among the seeds, corrected: see docs/errata.md#small-database-rows;
           small_databases.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.randomness import RandomSource, random_below
from dpstats.foundations.results import value_text
from dpstats.foundations.rounding import exact_rational, log_bounds, round_up, sqrt_bounds
from dpstats.foundations.tabular import Tabular
from dpstats.foundations.text_tables import counted
from dpstats.mechanisms.exponential import choose
from dpstats.statistics.universe.loss_weights import loss_weights
from dpstats.statistics.universe.multisets import Multisets
from dpstats.statistics.universe.universe import Levels, Shares, Universe
from dpstats.statistics.universe.workload import Workload

MOST_DATABASES = 2_000_000
MOST_SCORES = 2_000_000_000
"""Databases times queries: some twenty seconds."""
MOST_MISSES = 20_000_000
"""Queries times how many rows of a database each may count."""
SURE = Fraction(95, 100)

_BLOCK = 1 << 14
_QUERIES_AT_ONCE = 64
_LANES_IN_A_WORD = 8
_SHOWN_ROWS = 5


@dataclass(frozen=True)
class SmallDatabase(Tabular):
    """A few rows whose shares come near those of the table, for all marginal tables of `ways` columns.

    The number of rows of the table is not in it: a share is all that it can say.
    """

    universe: Universe
    rows: tuple[Levels, ...]
    """The different rows, each as a level for every column."""
    counts: tuple[int, ...]
    """How often each of them is there."""
    ways: int
    alpha: float
    """Some database of this size misses no share by this much."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.universe.columns

    @property
    def size(self) -> int:
        """The number of rows."""
        return sum(self.counts)

    def marginal(self, columns: str | tuple[str, ...]) -> Shares:
        """The share of each combination of levels of these columns; the mechanism looked at `ways` columns at a time."""
        masses = np.zeros(self.universe.sizes, dtype=np.int64)
        for row, count in zip(self.rows, self.counts, strict=True):
            masses[tuple(levels.index(level) for levels, level in zip(self.universe.levels, row, strict=True))] = count
        return self.universe.shares(masses.ravel(), columns)

    def table_columns(self) -> dict[str, list[Any]]:
        """The columns of the rows, by name, each row as often as it is there."""
        rows = [row for row, count in zip(self.rows, self.counts, strict=True) for _ in range(count)]
        return {name: [row[place] for row in rows] for place, name in enumerate(self.columns)}

    def __str__(self) -> str:
        times = (f"{count} x ({value_text(row)})" for row, count in zip(self.rows, self.counts, strict=True))
        shown = [text for text, _ in zip(times, range(_SHOWN_ROWS), strict=False)]
        more = [f"{len(self.rows) - _SHOWN_ROWS} more"] if len(self.rows) > _SHOWN_ROWS else []
        return f"{counted(self.size, 'row')} of {value_text(self.columns)}: {'; '.join([*shown, *more])}"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {
            **self.universe.to_dict(),
            "rows": [list(row) for row in self.rows],
            "counts": list(self.counts),
            "ways": self.ways,
            "alpha": self.alpha,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> SmallDatabase:
        """The database that `to_dict` made plain."""
        rows, counts = tuple(tuple(row) for row in plain["rows"]), tuple(plain["counts"])
        return cls(Universe.from_dict(plain), rows, counts, plain["ways"], plain["alpha"])


@dataclass(frozen=True)
class SmallDatabasePlan:
    """All that is public about one draw; `small_database_plan` checks it."""

    workload: Workload
    size: int
    epsilon: Fraction

    @cached_property
    def databases(self) -> Multisets:
        """What there is to choose from."""
        return Multisets(self.workload.universe.cells, self.size)

    @cached_property
    def alpha(self) -> float:
        """What the size buys: sqrt(ln(2 queries) / (2 size)), rounded up."""
        return round_up(float(sqrt_bounds(log_bounds(Fraction(2 * self.workload.queries))[1] / (2 * self.size))[1]), 6)

    def excess(self, sure: Fraction = SURE) -> float:
        """Rows by which the worst query of the drawn database is worse than that of the best one, at most, so surely."""
        return 2 * (math.log(self.databases.number) - math.log(1 - sure)) / float(self.epsilon)

    def notes(self) -> tuple[tuple[str, str], ...]:
        """Lines for the card."""
        queries, number = self.workload.queries, self.databases.number
        within = f"{self.alpha:.3g} + {round_up(self.excess()):g} / n, n the rows of the table"
        return (
            ("queries", f"all {counted(queries, 'cell')} of marginal tables of {counted(self.workload.ways, 'column')}"),
            (
                "chosen from",
                f"all {number:,} databases of {counted(self.size, 'row')} over {self.workload.universe.cells:,} possible rows",
            ),
            ("accuracy", f"with probability {float(SURE):.0%} no share of these queries is off by more than {within}"),
            ("numerics", "drawn exactly, no rounding error"),
        )


def small_database_plan(
    universe: Universe, *, ways: int, epsilon: Fraction, size: int | None = None, alpha: object = None
) -> SmallDatabasePlan:
    """What will be drawn: a database of `size` rows, or of as many as `alpha` takes; complains where there are too many."""
    workload = Workload(universe, ways)
    if (size is None) == (alpha is None):
        raise InvalidParameterError("a small database needs either its size or alpha, the error of shares that it may have.")
    rows = size_for(workload.queries, alpha) if size is None else size
    if type(rows) is not int or rows < 1:
        raise InvalidParameterError(f"size must be a whole number of 1 or more, got {size}.")
    plan = SmallDatabasePlan(workload, rows, epsilon)
    _check_number(plan, size is None)
    return plan


def size_for(queries: int, alpha: object) -> int:
    """The least number of rows with which sampling shows that some database misses no share by `alpha`."""
    accuracy = exact_rational(alpha, "alpha")
    if not 0 < accuracy < 1:
        raise InvalidParameterError(f"alpha must lie between 0 and 1, such as 0.2, got {alpha}.")
    return math.floor(log_bounds(Fraction(2 * queries))[1] / (2 * accuracy**2)) + 1


def _check_number(plan: SmallDatabasePlan, by_alpha: bool) -> None:
    cells, size = plan.workload.universe.cells, plan.size
    fewest = min(size, cells - 1)  # C(n, m) >= (n / m)**m, so that nobody computes a binomial of millions of digits
    huge = fewest > 0 and fewest * math.log2((cells + size - 1) / fewest) > math.log2(MOST_DATABASES)
    queries = plan.workload.queries
    few = not huge and plan.databases.number <= MOST_DATABASES and plan.databases.number * queries <= MOST_SCORES
    if few and queries * (size + 1) <= MOST_MISSES:
        return
    smaller = "a larger alpha" if by_alpha else "a smaller size"
    raise InvalidParameterError(
        f"there are too many databases of {size:,} rows over {cells:,} possible rows to score each for {queries:,} queries; the "
        f"limits are {MOST_DATABASES:,} databases and {MOST_SCORES:,} scores. Take fewer columns or levels, or {smaller}; or use "
        "contingency_table, mwem or synthesize, which do not list databases."
    )


def draw_small_database(raw_counts: NDArray[np.int64], plan: SmallDatabasePlan, rng: RandomSource) -> SmallDatabase:
    """A small database, from the number of rows in each cell of the universe."""
    raw_scores, raw_places = raw_scored_databases(raw_counts, plan)
    raw_numbers = np.bincount(raw_places, minlength=len(raw_scores))
    raw_met = np.flatnonzero(raw_numbers)
    raw_losses = (raw_scores[raw_met] - raw_scores[raw_met[0]]).tolist()
    weights = loss_weights(raw_losses, plan.epsilon / (2 * plan.size), raw_numbers[raw_met].tolist())
    place = raw_met[choose(weights, rng)]
    raw_same = np.flatnonzero(raw_places == place)
    return _database(plan, int(raw_same[random_below(rng, len(raw_same))]))


def raw_scored_databases(raw_counts: NDArray[np.int64], plan: SmallDatabasePlan) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Whole scores size * s in ascending order, and for each database the place of its own among them.

    A query's miss is one of size + 1 numbers: |size * F - n * count|, by how many rows of the database it counts. The largest
    miss of a database is found among their places, which are small.
    """
    raw_answers = plan.workload.answers(plan.workload.universe.checked_counts(raw_counts))
    raw_rows = int(raw_counts.sum())
    raw_misses = np.abs(plan.size * raw_answers[:, None] - raw_rows * np.arange(plan.size + 1))
    raw_scores, flat = np.unique(raw_misses, return_inverse=True)
    raw_ranks = flat.reshape(raw_misses.shape).astype(np.int32)
    databases, queries = plan.databases, plan.workload.queries
    raw_places = np.zeros(databases.number, dtype=np.int32)
    for first in range(0, queries, _QUERIES_AT_ONCE):
        several = range(first, min(first + _QUERIES_AT_ONCE, queries))
        lanes = _lanes(plan, several)
        for start in range(0, databases.number, _BLOCK):
            numbers = np.arange(start, min(start + _BLOCK, databases.number))
            counts = databases.sums(numbers, lanes.view(np.uint64)).view(lanes.dtype)
            worst = raw_places[start : start + _BLOCK]
            for lane, query in enumerate(several):
                np.maximum(worst, raw_ranks[query][counts[:, lane]], out=worst)
    return raw_scores, raw_places


def _lanes(plan: SmallDatabasePlan, queries: range) -> NDArray[np.unsignedinteger[Any]]:
    """For each cell the queries that count it, as ones in lanes so wide that sums over a database stay in theirs."""
    width = -(-len(queries) // _LANES_IN_A_WORD) * _LANES_IN_A_WORD
    lanes = np.zeros((plan.workload.universe.cells, width), dtype=np.min_scalar_type(plan.size))
    for lane, query in enumerate(queries):
        lanes[:, lane] = plan.workload.inside(query)
    return lanes


def _database(plan: SmallDatabasePlan, number: int) -> SmallDatabase:
    counts = plan.databases.counts(number)
    cells = np.flatnonzero(counts).tolist()
    universe = plan.workload.universe
    rows = tuple(universe.row(cell) for cell in cells)
    return SmallDatabase(universe, rows, tuple(int(counts[cell]) for cell in cells), plan.workload.ways, plan.alpha)
