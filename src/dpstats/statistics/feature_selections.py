"""Significant features: those that LASSO finds in noisy correlations, or in random blocks of rows, as a set or one by one.

Claim      "products" and "each": epsilon-DP; "gaussian_products" and "stable": (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private) or CHANGE_ONE
Why        By products: noisy correlations (selection/noisy_correlations.py), and arithmetic on them. By blocks: one row
           changes one block's vote (selection/votes.py), and what is made of the votes is private for that: the most
           frequent set by a test of its lead (aggregation/choices.py), or the features of a majority (selection/majorities.py),
           by noisy counts or with `at_most` by a draw among sets, whichever needs fewer blocks by public numbers
Numerics   Sets are found in floats and counted as they are; from there on exact
No reply   By products where noise leaves too little to see, by released numbers; "stable" where the lead of the first set
           does not pass its test; "each" where too few blocks have an answer, by a
           noisy count of them. Costs the same as an answer
Source     noisy_correlations.proof.md, feature_selections.proof.md; Dwork & Roth 2014, Example 7.2, and Algorithm 14 in the
           form that can be run
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.json_types import NOTHING, WHOLE, either
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import AUTO, Answer, Parameter, Question, Reads, Refusal, Statistic, method, register
from dpstats.foundations.summaries import MISSING_POLICY, Table
from dpstats.foundations.text_tables import counted
from dpstats.statistics.aggregation.choices import choose_stable
from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.cards import public_line
from dpstats.statistics.regression.budget_split import budget_split_for
from dpstats.statistics.selection.block_counts import BLOCKS, blocks_for_bounded_sets, blocks_for_marks, blocks_for_stable
from dpstats.statistics.selection.lasso_sets import (
    EXTRA_OF_FEATURES,
    EXTRA_OF_NOISY,
    EXTRA_OF_SETS,
    FeatureSet,
    lasso_set,
    noisy_set_of,
)
from dpstats.statistics.selection.majorities import majority_by_counts, majority_by_sets
from dpstats.statistics.selection.models import check_scikit_learn
from dpstats.statistics.selection.noisy_correlations import (
    MOST_COLUMNS,
    ROWS,
    likely_informative_rows,
    noisy_correlations,
    noisy_row_count,
)
from dpstats.statistics.selection.simulations import simulated_features
from dpstats.statistics.selection.values import SelectedFeatures
from dpstats.statistics.selection.votes import blocks_of, notes_on_votes, votes_of

PRODUCTS, GAUSSIAN, STABLE, EACH = "products", "gaussian_products", "stable", "each"
MOST_FEATURES = 200
WORK = "selecting features"
PRODUCTS_CLAIM = (
    "may refuse: the features that LASSO finds in noisy correlations of all rows, which private medians and scales standardise "
    "and bound; by votes of blocks where these will say more"
)
LEAST_INFORMATIVE = 40
"""Rows without noise that would say as much as the noisy correlations; with fewer there is no reply."""


def too_few(question: Question) -> Refusal:
    """The refusal where noisy correlations tell nothing; it advises a delta where the question has none."""
    delta = "" if question.delta else "; so does a delta, such as delta=1e-6"
    return Refusal(
        "There are too few rows for this number of features at this epsilon, or the outcome hardly varies.",
        f"The cost is spent. More rows, fewer features or a larger epsilon help{delta}.",
    )


def checked_at_most(value: object) -> int | None:
    """The most features that a block may take, or None for any number."""
    if value is None:
        return None
    if type(value) is not int or not 1 <= value <= MOST_FEATURES:
        raise InvalidParameterError(f"at_most must be None, or a whole number from 1 to {MOST_FEATURES}, got {value!r}.")
    return value


def _preferred(arguments: Mapping[str, Any], delta: Fraction) -> str:
    """By products, or by votes where a number of blocks is given."""
    if arguments["blocks"] != AUTO:
        return STABLE if delta else EACH
    return GAUSSIAN if delta else PRODUCTS


SELECT_FEATURES = register(
    Statistic(
        "select_features",
        "The features that LASSO finds significant for the outcome",
        (
            Parameter(
                "at_most",
                "the most features that LASSO may take, or None; 'each' is sharper with it",
                checked_at_most,
                None,
                either(WHOLE, NOTHING),
                takes=int | None,
            ),
            BLOCKS,
        ),
        reads=(Reads.FEATURES, Reads.NUMBERS),
        returns="SelectedFeatures with names and indices",
        value=SelectedFeatures,
        why_preferred="it looks at all rows at once, where blocks are small; blocks are by name",
        revive=lambda plain: SelectedFeatures(**plain),
        prefer=_preferred,
        most_features=MOST_FEATURES,
        simulate=simulated_features,
    )
)


@method(
    SELECT_FEATURES,
    GAUSSIAN,
    claim=f"(epsilon, delta)-DP, {PRODUCTS_CLAIM}",
    needs_delta=True,
    version=2,
    check=check_scikit_learn,
)
@method(SELECT_FEATURES, PRODUCTS, claim=f"pure epsilon-DP, no delta, {PRODUCTS_CLAIM}", version=2, check=check_scikit_learn)
def features_by_products(table: Table, question: Question, rng: RandomSource) -> Answer | Refusal:
    """The features that LASSO finds in noisy correlations.

    By votes of blocks where there are more features than these can hold, or without a delta where blocks will say more.
    """
    features, at_most = len(question.columns) - 1, question.arguments["at_most"]
    if features >= MOST_COLUMNS:
        return features_stable(table, question, rng) if question.delta else features_each(table, question, rng)
    budget = budget_split_for(question, rng)
    rows = noisy_row_count(table, budget)
    left = question.epsilon * (1 - ROWS)
    if not question.delta and likely_informative_rows(rows, features + 1, budget) < rows / _blocks_for_each(question, left):
        return _each(table, question, left, rng)
    found = noisy_correlations(table, features + 1, rows, budget, rng)
    if found is None or found.informative_rows < LEAST_INFORMATIVE:
        return too_few(question)
    notes = (
        ("information", f"noise and sampling together are as the sampling of about {counted(found.informative_rows, 'row')}"),
        ("missing values", f"{MISSING_POLICY}; a row that is missing in one column is left out of all"),
        public_line(question),
        ("numerics", "exact whole numbers up to the noise; then floats"),
    )
    return Answer(_features(question, noisy_set_of(found.known, features, at_most, EXTRA_OF_NOISY)), notes=notes)


@method(
    SELECT_FEATURES,
    STABLE,
    claim="(epsilon, delta)-DP, may refuse: the set that LASSO finds in most blocks, without noise, if its lead passes a test",
    needs_delta=True,
    check=check_scikit_learn,
)
def features_stable(table: Table, question: Question, rng: RandomSource) -> Answer | Refusal:
    """The most frequent set of all blocks, if its lead over the next one passes the test."""
    blocks = blocks_of(question, lambda: blocks_for_stable(question.epsilon, question.delta))
    raw_sets = votes_of(table.matrix(), blocks, _lasso(question, EXTRA_OF_SETS), WORK, rng)
    chosen = choose_stable(raw_sets, 1, question.epsilon, question.delta, rng)
    if isinstance(chosen, Refusal):
        return chosen
    places = tuple(int(place) for place in chosen) if isinstance(chosen, tuple) else ()
    notes = (("no reply", "would have cost the same"), *notes_on_votes(question, blocks))
    return Answer(_features(question, places), notes=notes)


@method(
    SELECT_FEATURES,
    EACH,
    claim="pure epsilon-DP, no delta: the features that LASSO finds in more than half of the blocks, by noisy counts, or with "
    "at_most by a draw among all sets of at most that size",
    check=check_scikit_learn,
)
def features_each(table: Table, question: Question, rng: RandomSource) -> Answer | Refusal:
    """The features that more than half of the blocks take."""
    return _each(table, question, question.epsilon, rng)


def _each(table: Table, question: Question, epsilon: Fraction, rng: RandomSource) -> Answer | Refusal:
    """The same at an epsilon."""
    features, at_most = len(question.columns) - 1, question.arguments["at_most"]
    by_counts, by_sets = _blocks_by(question, epsilon)
    blocks = blocks_of(question, lambda: _blocks_for_each(question, epsilon))
    raw_sets = votes_of(table.matrix(), blocks, _lasso(question, EXTRA_OF_FEATURES), WORK, rng)
    if by_counts <= by_sets:
        found = majority_by_counts(raw_sets, features, epsilon, rng)
    else:
        found = majority_by_sets(raw_sets, features, at_most, epsilon, rng)
    if isinstance(found, Refusal):
        return found
    return Answer(_features(question, found.chosen, found.shares), notes=notes_on_votes(question, blocks))


def _blocks_by(question: Question, epsilon: Fraction) -> tuple[float, float]:
    """The blocks that noisy counts take, and those that a draw among sets takes."""
    features, at_most = len(question.columns) - 1, question.arguments["at_most"]
    by_sets = math.inf if at_most is None else blocks_for_bounded_sets(epsilon, features, at_most)
    return blocks_for_marks(epsilon, features), by_sets


def _blocks_for_each(question: Question, epsilon: Fraction) -> int:
    return int(min(_blocks_by(question, epsilon)))


def _lasso(question: Question, extra: float) -> Callable[[Floats], FeatureSet | None]:
    return partial(lasso_set, at_most=question.arguments["at_most"], extra=extra)


def _features(question: Question, places: tuple[int, ...], shares: tuple[float, ...] | None = None) -> SelectedFeatures:
    names = [name or f"x{place}" for place, name in enumerate(question.columns[:-1], 1)]
    return SelectedFeatures(tuple(names[place] for place in places), places, len(names), shares)
