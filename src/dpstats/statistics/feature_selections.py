"""Significant features: those that LASSO finds in random blocks of rows, as a set or one by one.

Claim      "each": epsilon-DP; "stable": (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private) or CHANGE_ONE
Why        One row changes one block's vote (selection/votes.py), and what is made of the votes is private for that: the most
           frequent set by a test of its lead (aggregation/choices.py), or the features of a majority (selection/majorities.py),
           by noisy counts or with `at_most` by a draw among sets, whichever needs fewer blocks by public numbers
Numerics   Sets are found in floats and counted as they are; from there on exact
No reply   "stable" where the lead of the first set does not pass its test; "each" where too few blocks have an answer, by a
           noisy count of them. Costs the same as an answer
Source     feature_selections.proof.md; Dwork & Roth 2014, Example 7.2, and Algorithm 14 in the form that can be run
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.json_types import NOTHING, WHOLE, either
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Parameter, Question, Reads, Refusal, Statistic, method, register
from dpstats.foundations.summaries import Table
from dpstats.statistics.aggregation.choices import choose_stable
from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.selection.block_counts import BLOCKS, blocks_for_bounded_sets, blocks_for_marks, blocks_for_stable
from dpstats.statistics.selection.lasso_sets import EXTRA_OF_FEATURES, EXTRA_OF_SETS, FeatureSet, lasso_set
from dpstats.statistics.selection.majorities import majority_by_counts, majority_by_sets
from dpstats.statistics.selection.models import check_scikit_learn
from dpstats.statistics.selection.simulations import simulated_features
from dpstats.statistics.selection.values import SelectedFeatures
from dpstats.statistics.selection.votes import blocks_of, notes_on_votes, votes_of

STABLE, EACH = "stable", "each"
MOST_FEATURES = 200
WORK = "selecting features"


def checked_at_most(value: object) -> int | None:
    """The most features that a block may take, or None for any number."""
    if value is None:
        return None
    if type(value) is not int or not 1 <= value <= MOST_FEATURES:
        raise InvalidParameterError(f"at_most must be None, or a whole number from 1 to {MOST_FEATURES}, got {value!r}.")
    return value


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
        why_preferred="with a delta a test of whole sets takes the fewest blocks; without one features are counted one by one",
        revive=lambda plain: SelectedFeatures(**plain),
        prefer=lambda arguments, delta: STABLE if delta else EACH,
        most_features=MOST_FEATURES,
        simulate=simulated_features,
    )
)


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
    features, at_most, epsilon = len(question.columns) - 1, question.arguments["at_most"], question.epsilon
    by_counts = blocks_for_marks(epsilon, features)
    by_sets = math.inf if at_most is None else blocks_for_bounded_sets(epsilon, features, at_most)
    blocks = blocks_of(question, lambda: int(min(by_counts, by_sets)))
    raw_sets = votes_of(table.matrix(), blocks, _lasso(question, EXTRA_OF_FEATURES), WORK, rng)
    if by_counts <= by_sets:
        found = majority_by_counts(raw_sets, features, epsilon, rng)
    else:
        found = majority_by_sets(raw_sets, features, at_most, epsilon, rng)
    if isinstance(found, Refusal):
        return found
    return Answer(_features(question, found.chosen, found.shares), notes=notes_on_votes(question, blocks))


def _lasso(question: Question, extra: float) -> Callable[[Floats], FeatureSet | None]:
    return partial(lasso_set, at_most=question.arguments["at_most"], extra=extra)


def _features(question: Question, places: tuple[int, ...], shares: tuple[float, ...] | None = None) -> SelectedFeatures:
    names = [name or f"x{place}" for place, name in enumerate(question.columns[:-1], 1)]
    return SelectedFeatures(tuple(names[place] for place in places), places, len(names), shares)
