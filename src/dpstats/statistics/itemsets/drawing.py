"""Drawing sets and measuring them, out of one budget.

Claim      What is taken from the budget is all that is spent: a share for each draw, the rest for counts
Neighbors  ADD_REMOVE of one row
Why        A draw at a rate costs that rate, because counts are monotone (picking.py). Sets of the same columns share a part of
           what is left, because a row has the items of one of them at most (measured_sets.py)
Numerics   Exact; from how many rows on a set can be told from chance is a float made of public numbers
Source     picking.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import CodedTable
from dpstats.statistics.coded.budget import PureTableBudget, TableBudget, table_budget
from dpstats.statistics.coded.finding import FoundCodes
from dpstats.statistics.contingency.reaches import reach_of
from dpstats.statistics.itemsets.candidates import CandidateSets, Items, RawSetCounts
from dpstats.statistics.itemsets.measured_sets import MeasuredSets, measure_sets, with_parts
from dpstats.statistics.itemsets.picking import draw_highest

DRAW_SHARE = Fraction(2, 3)
"""What drawing the sets takes; their counts get what is left."""
ALL_NOISE = 0.05
"""How likely it is at most that the noise alone lifts one of the drawn sets to where it counts as told from chance."""


@dataclass(frozen=True)
class DrawnSets:
    """The sets that were drawn, with all that was measured, and below how many rows a set may be there by chance."""

    sets: tuple[Items, ...]
    measured: MeasuredSets
    least: float


def draw_sets(
    table: CodedTable,
    found: FoundCodes,
    candidates: CandidateSets,
    how_many: int,
    budget: TableBudget,
    rng: RandomSource,
    *,
    parts: bool,
) -> DrawnSets:
    """Draw sets and measure them, with `parts` all their parts too, out of a whole budget."""
    every = CandidateSets(candidates.sizes, 0, candidates.most).tables
    raw = RawSetCounts.of(table, found.codings, every)
    places, by_chance = list(range(how_many)), 0.0
    if how_many < candidates.how_many:  # otherwise there is nothing to choose
        rate = min(budget.draw_epsilon(DRAW_SHARE / how_many) for _ in range(how_many))
        places = draw_highest(raw.flat(candidates.tables), rate, how_many, rng)
        by_chance = math.log(candidates.how_many / how_many) / float(rate)
    sets = tuple(candidates.items(place) for place in places)
    measured = measure_sets(raw, with_parts(sets) if parts else sets, budget)
    of_noise = reach_of(((1.0, 1, measured.noise),), 1 - 2 * ALL_NOISE / how_many)
    return DrawnSets(sets, measured, max(by_chance, of_noise))


def cheapest_budget(epsilon: Fraction, delta: Fraction, neighbors: Neighbors, how_many: int, rng: RandomSource) -> TableBudget:
    """The budget whose noise on so many counts is less, with or without delta."""
    budgets = [table_budget(epsilon, each, neighbors, rng) for each in sorted({Fraction(0), delta})]
    share = (1 - DRAW_SHARE) / (how_many + 1)
    return min(budgets, key=lambda budget: (budget.law(share).variance, isinstance(budget, PureTableBudget)))
