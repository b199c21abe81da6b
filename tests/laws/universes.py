"""The law of the small database mechanism, from its definition and apart from the code that draws."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from fractions import Fraction

from tests.laws.mechanisms import exponential_of_minus

Query = tuple[int, ...]
"""For each cell 0 or 1."""


def marginal_queries(sizes: Sequence[int], ways: int) -> list[Query]:
    """All cells of all marginal tables of so many columns."""
    rows = list(itertools.product(*map(range, sizes)))
    queries = []
    for places in itertools.combinations(range(len(sizes)), ways):
        for codes in itertools.product(*(range(sizes[place]) for place in places)):
            queries.append(tuple(int(all(row[p] == c for p, c in zip(places, codes, strict=True))) for row in rows))
    return queries


def miss(raw_counts: Sequence[int], queries: Sequence[Query], database: Sequence[int]) -> Fraction:
    """The most by which a count of the table is off its number of rows times the database's share."""
    rows, size = sum(raw_counts), sum(database)
    return max(abs(counted(query, raw_counts) - rows * Fraction(counted(query, database), size)) for query in queries)


def counted(query: Query, counts: Sequence[int]) -> int:
    """The rows that a query counts."""
    return sum(count for one, count in zip(query, counts, strict=True) if one)


def databases(cells: int, size: int) -> list[tuple[int, ...]]:
    """All databases of a size, as how often each cell is in them."""
    members = itertools.combinations_with_replacement(range(cells), size)
    return [tuple(chosen.count(cell) for cell in range(cells)) for chosen in members]


def database_law(raw_counts: Sequence[int], queries: Sequence[Query], size: int, epsilon: Fraction) -> dict[Hashable, Fraction]:
    """Databases by their probabilities."""
    candidates = databases(len(raw_counts), size)
    return normalised({each: exponential_of_minus(epsilon / 2 * miss(raw_counts, queries, each)) for each in candidates})


def normalised(weights: dict[Hashable, Fraction]) -> dict[Hashable, Fraction]:
    """Weights over their sum."""
    total = sum(weights.values(), Fraction(0))
    return {outcome: weight / total for outcome, weight in weights.items()}
